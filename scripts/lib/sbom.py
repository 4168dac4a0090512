#!/usr/bin/env python3
"""sbom.py <image>: what an image is made of, as an SPDX 2.3 document: Debian's packages as dpkg knows them, and the
Swift packages of the build."""

import datetime
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile

# Where distributions without a database of dpkg keep what it knew.
STATUS_FILES = ("/var/lib/dpkg/status", "/var/lib/dpkg/status.d")
RESOLVED = "/app/Package.resolved"


def docker(*arguments):
    return subprocess.run(("docker", *arguments), check=True, capture_output=True).stdout


def files(container, path):
    """The contents of a file or of all files in a folder of a container; none when it is not there."""
    copied = subprocess.run(("docker", "cp", f"{container}:{path}", "-"), capture_output=True)
    if copied.returncode != 0:
        return []
    with tarfile.open(fileobj=io.BytesIO(copied.stdout)) as archive:
        return [archive.extractfile(member).read().decode() for member in archive if member.isfile()]


def debian_packages(container):
    packages = {}
    for path in STATUS_FILES:
        for text in files(container, path):
            for paragraph in text.strip().split("\n\n"):
                fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", paragraph, re.MULTILINE))
                if fields.get("Status", "").endswith(" installed"):
                    packages[fields["Package"]] = fields
    return [debian_package(fields) for _, fields in sorted(packages.items())]


def debian_package(fields):
    name, version, architecture = fields["Package"], fields["Version"], fields["Architecture"]
    quoted = version.replace("+", "%2B").replace(":", "%3A").replace("~", "%7E")
    return package(
        f"Debian-{name}", name, version, f"Organization: {fields.get('Maintainer', 'Debian').split(' <')[0]}",
        f"pkg:deb/debian/{name.replace('+', '%2B')}@{quoted}?arch={architecture}&distro=debian-12",
    )


def swift_packages(container):
    found = []
    for text in files(container, RESOLVED):
        for pin in json.loads(text)["pins"]:
            state = pin["state"]
            version = state.get("version") or state["revision"]
            place = re.sub(r"^https://|\.git$", "", pin["location"])
            entry = package(
                f"Swift-{pin['identity']}", pin["identity"], version, "NOASSERTION", f"pkg:swift/{place}@{version}"
            )
            entry["downloadLocation"] = f"git+{pin['location']}@{state['revision']}"
            found.append(entry)
    return found


def package(id, name, version, supplier, url):
    return {
        "SPDXID": "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", id),
        "name": name,
        "versionInfo": version,
        "supplier": supplier,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}
        ],
    }


def document(image):
    inspected = json.loads(docker("image", "inspect", image))[0]
    labels = inspected["Config"].get("Labels") or {}
    container = docker("create", image).decode().strip()
    try:
        packages = debian_packages(container) + swift_packages(container)
    finally:
        docker("rm", container)
    if not packages:
        raise SystemExit(f"{image}: nothing is known of what it is made of")
    own = package("Image", image, labels.get("org.opencontainers.image.version", "unknown"), "Organization: Transfa",
                  f"pkg:oci/{image.split(':')[0].split('/')[-1]}@{inspected['Id'].replace(':', '%3A')}")
    own["checksums"] = [{"algorithm": "SHA256", "checksumValue": inspected["Id"].removeprefix("sha256:")}]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    relations += [(own["SPDXID"], "CONTAINS", entry["SPDXID"]) for entry in packages]
    name = hashlib.sha256((image + inspected["Id"]).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": image,
        "documentNamespace": f"https://transfa.app/sbom/{name}",
        "creationInfo": {
            "created": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: transfa-scripts-images"],
        },
        "packages": [own] + packages,
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
            for one, kind, other in relations
        ],
    }


if __name__ == "__main__":
    json.dump(document(sys.argv[1]), sys.stdout, indent=1)
    print()
