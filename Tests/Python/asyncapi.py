#!/usr/bin/env python3
"""Holds a document against AsyncAPI 3.0, and golden files against its schemas. Prints what is wrong; ends with 1 then.

usage: asyncapi.py <document> [<folder with golden files>]
"""
import json
import pathlib
import sys
import warnings

# Of the models themselves: names that hide names of their base.
warnings.simplefilter("ignore")

import asyncapi3
import jsonschema
import pydantic

ID = "01932f5e-0000-7000-8000-000000000001"
FORMATS = jsonschema.Draft7Validator.FORMAT_CHECKER


def resolve(document, reference):
    """What a reference within the document leads to; LookupError when it leads nowhere."""
    if not reference.startswith("#/"):
        raise LookupError(reference)
    place = document
    for name in reference[2:].split("/"):
        place = place[name.replace("~1", "/").replace("~0", "~")]
    return place


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def structure(document):
    try:
        asyncapi3.AsyncAPI3.model_validate(document)
    except pydantic.ValidationError as error:
        for problem in error.errors():
            yield f"{'/'.join(map(str, problem['loc']))}: {problem['msg']}"
    for reference in sorted(set(references(document))):
        try:
            resolve(document, reference)
        except (LookupError, TypeError):
            yield f"{reference} leads nowhere"
    for name, operation in document.get("operations", {}).items():
        prefix = operation["channel"]["$ref"] + "/messages/"
        if not all(message["$ref"].startswith(prefix) for message in operation["messages"]):
            yield f"{name}: a message that its channel does not have"
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        try:
            jsonschema.Draft7Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            yield f"schema {name}: {error.message}"


def envelope(type_, source, version, data):
    return {
        "id": ID, "source": source, "type": type_, "subject": ID, "time": "2026-11-21T01:07:05.123Z",
        "dataschema": f"transfa:{type_}:{version}", "sequence": 1, "specversion": "1.0",
        "datacontenttype": "application/json", "data": data,
    }


def spoilt(data, required):
    """What no reader takes: a member left out, a member of another kind."""
    for name in required:
        yield f"without {name}", {key: value for key, value in data.items() if key != name}
    for name, value in data.items():
        yield f"with another {name}", {**data, name: 5 if isinstance(value, str) else "five"}


def golden(document, folder):
    files = sorted(folder.glob("*.json"))
    if len(files) != len(document["channels"]):
        yield f"{len(files)} golden files, {len(document['channels'])} channels"
    for file in files:
        type_, version = file.stem.rsplit(".v", 1)
        # Names in the document have no dots.
        channel, name = type_.replace(".", "-"), file.stem.replace(".", "-")
        message = document["components"]["messages"].get(name)
        if message is None:
            yield f"{file.stem} is not described"
            continue
        # References lead into the document, so it stands around the schema.
        validator = jsonschema.Draft7Validator({**document, **message["payload"]}, format_checker=FORMATS)
        source = next(o["x-service"] for o in document["operations"].values()
                      if o["action"] == "send" and o["channel"]["$ref"] == f"#/channels/{channel}")
        data = json.loads(file.read_text())
        required = document["components"]["schemas"][name]["required"]
        for error in validator.iter_errors(envelope(type_, source, version, data)):
            yield f"{file.stem} is refused: {error.message}"
        for what, bad in spoilt(data, required):
            if validator.is_valid(envelope(type_, source, version, bad)):
                yield f"{file.stem} is taken {what}"
        if validator.is_valid(envelope("nothing.known", source, version, data)):
            yield f"{file.stem} is taken under another type"


def main():
    document = json.loads(pathlib.Path(sys.argv[1]).read_text())
    problems = list(structure(document))
    if not problems and len(sys.argv) > 2:
        problems = list(golden(document, pathlib.Path(sys.argv[2])))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


main()
