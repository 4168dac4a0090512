"""Checks every openapi.yaml of the repository and merges their public paths for the gateway; see scripts/openapi.

    openapi.py check     prints what is wrong, also that the merged document is out of date, or none for others
    openapi.py write     prints what is wrong; writes the merged document when nothing is
"""

import copy
import functools
import pathlib
import re
import sys
import urllib.parse

import jsonschema
import openapi_tools
import referencing
import referencing.jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MERGED = ROOT / "deploy/gateway/openapi.yaml"
METHODS = ("get", "put", "post", "delete", "patch", "options", "head", "trace")
INTERNAL = ("/internal/", "/health/", "/metrics")
# Their names reach nobody: merged under names of their own. Schemas and ways to sign in keep their names.
PRIVATE_KINDS = ("responses", "parameters", "headers", "requestBodies", "examples")
# What says something about a value; a schema without any of these takes whatever comes.
SAYING = {
    "$ref", "type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "properties", "required", "items", "pattern",
    "format",
}


# The one in C takes a tenth of the time, where it is there.
class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML as JSON has it: dates and words stay texts, and a name stands once."""

    def construct_mapping(self, node, deep=False):
        names = [key.value for key, _ in node.value]
        for name in {name for name in names if names.count(name) > 1}:
            raise yaml.constructor.ConstructorError(None, None, f"{name} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":bool"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


def load(path):
    return yaml.load(pathlib.Path(path).read_text(), Loader)


def sources(root=ROOT):
    return [*sorted(root.glob("Services/*/openapi.yaml")), root / "Shared/ServiceKit/openapi.yaml"]


def documents(root=ROOT):
    """Path from the root -> document, of every service and of what all services share; stubs have no paths."""
    loaded = {str(file.relative_to(root)): load(file) for file in sources(root)}
    return {name: document for name, document in loaded.items() if document.get("paths")}


# Walking


def operations(document):
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def pointer(*names):
    escaped = (str(name).replace("~", "~0").replace("/", "~1") for name in names)
    return "".join("/" + urllib.parse.quote(name, safe="~") for name in escaped)


def resolved(document, node):
    while isinstance(node, dict) and "$ref" in node:
        target = document
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[urllib.parse.unquote(name).replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def walk(node, place=()):
    """Every mapping of a document, with the names that lead to it; what is in examples is data and left out."""
    if isinstance(node, dict):
        yield place, node
        for name, value in node.items():
            if name not in ("example", "examples", "default", "const", "enum") or place[-1:] == ("properties",):
                yield from walk(value, (*place, name))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from walk(value, (*place, index))


def schemas(document):
    """Every schema with its place, those inside of others too."""
    for place, node in walk(document):
        if place[-1:] == ("schema",) or place[:-1] == ("components", "schemas"):
            yield from subschemas(node, place)


def subschemas(schema, place):
    yield place, schema
    if not isinstance(schema, dict):
        return
    for name in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(name), dict):
            yield from subschemas(schema[name], (*place, name))
    for name in ("allOf", "anyOf", "oneOf", "prefixItems"):
        for index, inner in enumerate(schema.get(name, [])):
            yield from subschemas(inner, (*place, name, index))
    for name, inner in schema.get("properties", {}).items():
        yield from subschemas(inner, (*place, "properties", name))


# Rules: each gives sentences about one document


def has_portable_patterns(document):
    for place, node in walk(document):
        pattern = node.get("pattern")
        if not isinstance(pattern, str) or place[-1:] == ("properties",):
            continue
        where = "/".join(map(str, place))
        try:
            re.compile(pattern)
        except re.error as error:
            yield f"{where} has a pattern that is none: {error}"
        if found := openapi_tools.unportable(pattern):
            yield f"{where} has a pattern with {found}, which not every tool knows"


def is_valid(document):
    yield from has_portable_patterns(document)
    yield from openapi_tools.not_openapi(document)


def names_operations(document):
    for path, method, operation in operations(document):
        if not operation.get("operationId"):
            yield f"{method} {path} has no operationId"


def parameters_of(document, path, operation):
    every = [*document["paths"][path].get("parameters", []), *operation.get("parameters", [])]
    return [resolved(document, parameter) for parameter in every]


def answers_it_must_describe(document, path, operation):
    """What any operation of its kind may be answered with, whatever it does."""
    takers = [list(choice) for choice in operation.get("security", document.get("security", []))]
    if takers:
        yield from ("401", "429") if ["session"] in takers else ("401",)
    # A probe of a process that does not answer is what it is for.
    if not path.startswith("/health/"):
        yield from ("500", "503")
    if "requestBody" in operation:
        yield from ("400", "413")
        # Who sends a webhook is known by its signature alone.
        if takers and "application/json" in operation["requestBody"]["content"]:
            yield "415"
    for parameter in parameters_of(document, path, operation):
        if parameter["in"] == "path":
            yield "404"
        if parameter["in"] == "query":
            yield "400"
        if parameter["name"] == "Idempotency-Key":
            yield from ("400", "422")


def says_what_it_answers(document):
    for path, method, operation in operations(document):
        described = {str(status) for status in operation["responses"]}
        if "default" in described:
            yield f"{method} {path} has a default response: name each status"
        if not any(status.startswith("2") for status in described):
            yield f"{method} {path} has no good answer"
        for status in sorted(set(answers_it_must_describe(document, path, operation)) - described):
            yield f"{method} {path} does not describe {status}"


def has_no_empty_schemas(document):
    for place, schema in schemas(document):
        where = "/".join(map(str, place))
        if not isinstance(schema, dict) or not SAYING & schema.keys():
            yield f"{where} is a schema that takes anything"
        elif schema.get("type") == "object" and not {"properties", "additionalProperties"} & schema.keys():
            yield f"{where} is an object that may be anything"
        elif schema.get("type") == "array" and not {"items", "prefixItems"} & schema.keys():
            yield f"{where} is a list of anything"
    for place, node in walk(document):
        if "content" in node and place[-1:] != ("properties",):
            for media, content in node["content"].items():
                if "schema" not in content:
                    yield f"{'/'.join(map(str, place))} has no schema for {media}"


def has_closed_bodies(document):
    """A body that takes any member would be refused by the services for the first that nobody knows."""
    for path, method, operation in operations(document):
        # Webhooks are sent by others, who may add to them.
        if path.startswith("/webhooks/") or "requestBody" not in operation:
            continue
        schema = operation["requestBody"]["content"].get("application/json", {}).get("schema")
        for place in open_objects(document, schema or {}, ()):
            yield f"the body of {method} {path} has an object that is open: /{'/'.join(map(str, place))}"


def open_objects(document, schema, place):
    schema = resolved(document, schema)
    if "properties" in schema and schema.get("additionalProperties") is not False:
        yield place
    for name, inner in schema.get("properties", {}).items():
        yield from open_objects(document, inner, (*place, name))
    if "items" in schema:
        yield from open_objects(document, schema["items"], (*place, "items"))


def examples_of(node):
    if "example" in node:
        yield node["example"]
    examples = node.get("examples", {})
    for example in examples.values() if isinstance(examples, dict) else examples:
        yield example["value"] if isinstance(examples, dict) else example


def keeps_its_examples(document):
    resource = referencing.Resource(document, referencing.jsonschema.DRAFT202012)
    registry = referencing.Registry().with_resource("urn:document", resource)

    def problems(place, example):
        schema = {"$ref": "urn:document#" + pointer(*place)}
        validator = jsonschema.Draft202012Validator(
            schema, registry=registry, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
        )
        for error in validator.iter_errors(example):
            inside = "/".join(map(str, error.absolute_path))
            yield f"{'/'.join(map(str, place[:-1]))}: an example breaks its schema at /{inside}: {error.message[:200]}"

    for place, node in walk(document):
        if "schema" in node and place[-1:] != ("properties",):
            for example in examples_of(node):
                yield from problems((*place, "schema"), copy.deepcopy(example))
    for place, schema in schemas(document):
        if isinstance(schema, dict):
            for example in schema.get("examples", []):
                yield from problems(place, example)


def _type_name(name):
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))


def has_names_for_generators(document):
    """What makers of clients stumble over: their names for what has none, and examples that look like one."""
    named = document.get("components", {}).get("schemas", {})
    for name, schema in named.items():
        for member, inner in schema.get("properties", {}).items() if isinstance(schema, dict) else ():
            made = _type_name(f"{name}_{member}")
            if made in named and isinstance(inner, dict) and inner.keys() & {"enum", "properties"}:
                yield f"components/schemas/{name}: makers of clients call the type of {member} {made}, as another"
    for place, node in walk(document):
        examples = node.get("examples")
        if isinstance(examples, dict) and place[-1:] != ("properties",):
            for name in sorted(examples.keys() & {"summary", "description", "value", "externalValue", "$ref"}):
                yield f"{'/'.join(map(str, place))}: the example {name} has the name of a member of examples"


RULES = (
    is_valid, names_operations, says_what_it_answers, has_no_empty_schemas, has_closed_bodies,
    keeps_its_examples, has_names_for_generators,
)


def check(document):
    first = list(is_valid(document))
    # The others rely on the form.
    return first or [problem for rule in RULES[1:] for problem in rule(document)]


# Merging


class Conflict(Exception):
    pass


def _private_name(service, name):
    return f"{service}.{name}"


def _renamed(node, service):
    """The same with its references to private kinds under the names of the merged document."""
    if isinstance(node, list):
        return [_renamed(value, service) for value in node]
    if not isinstance(node, dict):
        return node
    copied = {name: _renamed(value, service) for name, value in node.items()}
    parts = node["$ref"].split("/") if isinstance(node.get("$ref"), str) else []
    if len(parts) == 4 and parts[2] in PRIVATE_KINDS:
        copied["$ref"] = "/".join([*parts[:3], _private_name(service, parts[3])])
    return copied


def _references(node):
    if isinstance(node, list):
        for value in node:
            yield from _references(value)
    elif isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from _references(value)


class Merger:
    def __init__(self):
        self.paths = {}
        self.components = {}
        self.sources = {}
        self.tags = []

    def _claim(self, what, value, source):
        """Whether it is new; the same twice is fine, something else under the same name is not."""
        known = self.sources.get(what)
        if known is None:
            self.sources[what] = (value, source)
            return True
        if known[0] != value or what[0] in ("path", "operationId"):
            raise Conflict(f"{' '.join(what)} is in {known[1]} and, not the same, in {source}")
        return False

    def add(self, source, document):
        service = document["info"]["title"].removeprefix("Transfa ").replace(" ", "")
        public = {path: item for path, item in document["paths"].items() if not path.startswith(INTERNAL)}
        seen = set()
        for path, item in public.items():
            self._claim(("path", path), item, source)
            merged = _renamed(item, service)
            for method in METHODS:
                if method in item:
                    operation = merged[method]
                    self._claim(("operationId", operation["operationId"]), path, source)
                    operation.setdefault("tags", [service])
                    if "security" not in operation:
                        operation["security"] = document.get("security", [])
                    self._sign_in(source, document, operation)
            self.paths[path] = merged
            self._follow(source, document, service, item, seen)
        if public:
            self.tags.append({"name": service, "description": document["info"].get("description", "")})

    def _sign_in(self, source, document, operation):
        for name in {name for choice in operation["security"] for name in choice}:
            scheme = document["components"]["securitySchemes"][name]
            if self._claim(("securitySchemes", name), scheme, source):
                self.components.setdefault("securitySchemes", {})[name] = scheme

    def _follow(self, source, document, service, node, seen):
        """Takes over what a node refers to, however far away; `seen` is what this document has referred to before."""
        for reference in set(_references(node)) - seen:
            seen.add(reference)
            _, _, kind, name = reference.split("/")
            value = document["components"][kind][name]
            merged = _private_name(service, name) if kind in PRIVATE_KINDS else name
            if self._claim((kind, merged), value, source):
                self.components.setdefault(kind, {})[merged] = _renamed(value, service)
            self._follow(source, document, service, value, seen)

    def document(self):
        return {
            "openapi": "3.1.0",
            "info": {
                "title": "Transfa",
                "version": "1.0.0",
                "description": (
                    "Everything that apps may call, of all services. In a body, null is as good as absent where a"
                    " member is not required; a member that is not described is refused (400 `unknown_field`), and so"
                    " is a parameter of a query that is not described or there twice (400 `invalid_parameter`)."
                    " `HEAD` is answered wherever `GET` is, as it would be, without the body. Who sends `Expect:"
                    " 100-continue` hears 100 when the body is wanted; another expectation is 417 `expectation_failed`."
                    " Besides what stands at an operation, the gateway before the services answers by itself, with the"
                    " same kind of error: 400 `invalid_request`, 404 `unknown_route`, 405 `method_not_allowed` with"
                    " `Allow`, 408 `request_timeout`, 411 `length_required`, 413 `body_too_large`, 414 `uri_too_long`,"
                    " 429 `too_many_requests` with `Retry-After`, 431 `request_header_fields_too_large`, 502"
                    " `bad_gateway`, 503 `temporarily_unavailable` with `Retry-After`, and 504 `gateway_timeout`: after"
                    " 502 and 504 a change may have taken effect. Made by scripts/openapi: do not edit."
                ),
            },
            "servers": [{"url": "/"}],
            "tags": self.tags,
            "paths": dict(sorted(self.paths.items())),
            "components": {kind: dict(sorted(items.items())) for kind, items in sorted(self.components.items())},
        }


def merge(named):
    merger = Merger()
    for source, document in named.items():
        merger.add(source, document)
    return merger.document()


def text(document):
    header = "# Made by scripts/openapi from the services' openapi.yaml. Do not edit.\n"
    return header + yaml.dump(document, Dumper=openapi_tools.Dumper, sort_keys=False, allow_unicode=True, width=120)


@functools.cache
def everything(root=ROOT):
    """The merged document, and what is wrong with any of them."""
    named = documents(root)
    problems = [f"{source}: {problem}" for source, document in named.items() for problem in check(document)]
    if problems:
        return None, problems
    try:
        merged = merge(named)
    except Conflict as conflict:
        return None, [str(conflict)]
    return merged, [f"merged: {problem}" for problem in check(merged)]


def is_current(merged, path=MERGED):
    # What it says counts, not how: another version of the library may break lines elsewhere.
    return path.exists() and load(path) == merged


def published_problems(path=MERGED):
    return openapi_tools.problems_of_file(path, Loader)


def misread_sources(root=ROOT):
    """What others read differently in the documents that people write: they are read as they stand, too."""
    for path in sources(root):
        for problem in openapi_tools.misread(path.read_text(), Loader):
            yield f"{path.relative_to(root)}: {problem}"


def main(order):
    merged, problems = everything()
    if not problems and order == "write":
        MERGED.parent.mkdir(parents=True, exist_ok=True)
        MERGED.write_text(text(merged))
        count = len(list(operations(merged)))
        print(f"{MERGED.relative_to(ROOT)}: {count} operations of {len(merged['tags'])} services")
    elif not problems and not is_current(merged):
        problems = [f"{MERGED.relative_to(ROOT)} is out of date: run scripts/openapi"]
    problems = problems or [*misread_sources(), *published_problems()]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["check"], ["write"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
