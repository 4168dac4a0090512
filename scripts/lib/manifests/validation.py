"""Objects against the schemas of their kinds: Kubernetes' own, and those of the operators where they are there."""

import functools
import json
import re

import jsonschema
import kubernetes_validate

# Parsing the definitions for each object anew would take minutes.
kubernetes_validate.utils.schema_contents = functools.cache(kubernetes_validate.utils.schema_contents)

# The groups that Kubernetes itself serves; every other one is an operator's.
BUILT_IN = re.compile(r"^(?:v1|(?:apps|batch|autoscaling|policy)/\w+|[a-z.]+\.k8s\.io/\w+)$")
# The oldest that runs our manifests (preStop can sleep since then), and the newest whose schemas are known here.
OLDEST = "1.30"


def versions():
    return [OLDEST, ".".join(kubernetes_validate.latest_version().split(".")[:2])]


def is_built_in(item):
    return bool(BUILT_IN.match(item["apiVersion"]))


def _name(item):
    return f"{item['kind']} {item['metadata']['name']}"


def built_in_problems(item, version):
    try:
        kubernetes_validate.validate(item, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        yield f"{_name(item)}: {'.'.join(map(str, error.path))}: {error.message[:300]}"
    except (kubernetes_validate.SchemaNotFoundError, kubernetes_validate.InvalidSchemaError) as error:
        yield f"{_name(item)}: {error.message}"


def custom_problems(item, folder):
    """Of an object whose kind an operator has defined; `folder` holds <group>_<version>_<kind>.json."""
    file = folder / f"{item['apiVersion'].replace('/', '_')}_{item['kind']}.json"
    if not file.exists():
        yield f"{_name(item)}: there is no schema {file.name}"
        return
    # The API server sees to these itself.
    content = {name: value for name, value in item.items() if name not in ("apiVersion", "kind", "metadata", "status")}
    schema = json.loads(file.read_text())
    for name in ("apiVersion", "kind", "metadata"):
        schema.get("properties", {}).pop(name, None)
    schema["required"] = [name for name in schema.get("required", []) if name in schema.get("properties", {})]
    for error in jsonschema.Draft202012Validator(schema).iter_errors(content):
        yield f"{_name(item)}: {'.'.join(map(str, error.absolute_path))}: {error.message[:300]}"
