"""Writes the tag of one image into a kustomization.yaml, and its registry if one is given.

usage: overlay.py <kustomization.yaml> <service> <tag> [<registry>]
"""

import pathlib
import re
import sys


def main():
    path, service, tag, registry = pathlib.Path(sys.argv[1]), *sys.argv[2:4], (sys.argv + [""])[4]
    entry = re.compile(rf"(- name: transfa/{re.escape(service)}\n(?:    .*\n)*?    newTag: )[^\n]*")
    text, count = entry.subn(lambda found: found[1] + tag, path.read_text())
    if count != 1:
        sys.exit(f"{path} has {count} tags of transfa/{service}, not one")
    if registry:
        text = re.sub(rf"(newName: )\S*(/transfa/{re.escape(service)}\n)",
                      lambda found: found[1] + registry + found[2], text)
    path.write_text(text)


main()
