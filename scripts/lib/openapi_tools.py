"""What tools of others make of a description of the API: readers of YAML, of patterns, and openapi-spec-validator."""

import pathlib
import re

import openapi_spec_validator
import openapi_spec_validator.readers
import yaml

# YAML -----------------------------------------------------------------------------------------------------------------

# What the core schema of YAML 1.2 takes for something other than a text, such as 0123456789, which is one for YAML 1.1.
CORE = [
    (f"tag:yaml.org,2002:{kind}", re.compile(f"^(?:{form})$"), list(first))
    for kind, form, first in (
        ("null", "null|Null|NULL|~", "nN~"),
        ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"),
        ("int", "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
        ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
        ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
    )
]


class Dumper(yaml.SafeDumper):
    """Quotes what a reader of YAML 1.1 or of 1.2 would take for something other than a text."""

    def ignore_aliases(self, data):
        return True


for tag, form, first in CORE:
    Dumper.add_implicit_resolver(tag, form, first)


def _plain(node):
    """Every scalar without quotes, names of members too."""
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            yield from (scalar for part in pair for scalar in _plain(part))
    elif isinstance(node, yaml.SequenceNode):
        yield from (scalar for part in node.value for scalar in _plain(part))
    elif not node.style:
        yield node


def _kind(value, forms):
    return next((tag for tag, form, *_ in forms if form.match(value)), "tag:yaml.org,2002:str")


def misread(text, loader):
    """What readers of YAML 1.1 or of 1.2 take for something else than `loader` does: dates, numbers, yes and no."""
    former = yaml.SafeLoader.yaml_implicit_resolvers
    for node in _plain(yaml.compose(text, loader)):
        for version, kind in (
            ("1.1", _kind(node.value, former.get(node.value[:1], []))), ("1.2", _kind(node.value, CORE))
        ):
            if kind != node.tag:
                said = kind.rsplit(":", 1)[-1]
                yield f"line {node.start_mark.line + 1}: {node.value} is of type {said} for YAML {version}: quote it"


# Patterns -------------------------------------------------------------------------------------------------------------

# Escapes that mean the same in Python, in ECMAScript without flags, in Java and in ICU: \p{...} wants a flag, \d and \w
# are of ASCII here and of Unicode there.
ESCAPE = re.compile(r"\\(?:[stnrfv]|x[0-9a-f]{2}|u[0-9a-f]{4}|[^A-Za-z0-9])")
SET = re.compile(r"\[\^?[^\]]*\]")
# What only looks around, names of groups, flags, and what gives nothing back.
SPECIAL = re.compile(r"\(\?(?!:)..?|[*+?}]\+")


def unportable(pattern):
    """The first thing in a pattern that not every tool knows; None if there is none."""
    plain = ESCAPE.sub("x", pattern)
    found = re.search(r"\\.?", plain) or SPECIAL.search(SET.sub("x", plain))
    return found and found[0]


# The validator --------------------------------------------------------------------------------------------------------


def not_openapi(document):
    """What openapi-spec-validator objects to, all of it."""
    try:
        errors = list(openapi_spec_validator.OpenAPIV31SpecValidator(document).iter_errors())
    except Exception as error:  # Each version of the library has its own, for references that lead nowhere.
        errors = [error]
    for error in errors:
        place = "/".join(map(str, getattr(error, "absolute_path", [])))
        yield f"not OpenAPI 3.1: {getattr(error, 'message', error)} at {place}"


def problems_of_file(path, loader):
    """What others find in a file as it stands, with the readers and the validator that they have."""
    read, _ = openapi_spec_validator.readers.read_from_filename(str(path))
    for problem in (*misread(pathlib.Path(path).read_text(), loader), *not_openapi(read)):
        yield f"{path.name}: {problem}"
