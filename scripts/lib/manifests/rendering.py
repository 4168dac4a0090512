"""Overlays as kubectl renders them, and the objects in them."""

import re
import subprocess

import yaml

HASH = re.compile(r"^(.+)-[0-9a-z]{10}$")


class Unrenderable(Exception):
    """kubectl does not understand an overlay."""


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A name stands once."""

    def construct_mapping(self, node, deep=False):
        names = [key.value for key, _ in node.value]
        for name in {name for name in names if names.count(name) > 1}:
            raise yaml.constructor.ConstructorError(None, None, f"{name} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


def render(kubectl, overlay):
    """The objects of an overlay."""
    try:
        done = subprocess.run([kubectl, "kustomize", str(overlay)], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired as error:
        raise Unrenderable("no answer within 120 seconds") from error
    if done.returncode:
        raise Unrenderable(done.stderr.strip())
    try:
        objects = [item for item in yaml.load_all(done.stdout, Loader) if item]
    except yaml.YAMLError as error:
        raise Unrenderable(str(error)) from error
    return objects


def version(kubectl):
    """Such as 1.20."""
    done = subprocess.run([kubectl, "version", "--client"], capture_output=True, text=True, timeout=60)
    match = re.search(r"v(\d+\.\d+)", done.stdout)
    return match.group(1) if match else "unknown"


def without_hashes(objects):
    """The same with the names of generated objects as they were given: each version of kustomize hashes differently."""
    generated = {
        item["metadata"]["name"]
        for item in objects
        if item["kind"] == "ConfigMap" and HASH.match(item["metadata"]["name"])
    }

    def plain(node):
        if isinstance(node, dict):
            # An empty mapping says nothing, and only some versions write it.
            return {name: plain(value) for name, value in node.items() if value not in ({}, None)}
        if isinstance(node, list):
            return [plain(value) for value in node]
        return HASH.match(node).group(1) if node in generated else node

    return sorted((plain(item) for item in objects), key=lambda item: (item["kind"], item["metadata"]["name"]))


def differences(first, second):
    """What one rendering has otherwise than another."""
    named = [
        {(item["kind"], item["metadata"]["name"]): item for item in without_hashes(those)} for those in (first, second)
    ]
    for key in sorted(named[0].keys() | named[1].keys()):
        if named[0].get(key) != named[1].get(key):
            yield f"{key[0]} {key[1]} is not the same"
