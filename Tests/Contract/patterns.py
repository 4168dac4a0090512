"""Patterns of the documents for tools that know no `\\p{...}`: as few ranges, which are nearly the same letters.

With sets of many ranges such tools take minutes for one pattern. What these ranges forbid, the pattern forbids; what
they allow besides is taken out of a request that is meant to be good by `named`, and by the recipe for names of people.
"""

import re
import unicodedata

import regex

CLASS = re.compile(r"\\p\{(\w+)\}")
CONTROLS = "\\x00-\\x1f\\x7f-\\x9f"
RANGES = {"C": CONTROLS, "Cc": CONTROLS, "Cf": "", "Z": " ", "Zl": "", "Zp": "", "L": "A-Za-z\u00c0-\ud7ff", "M": ""}


def plain(node):
    """A document with all its patterns so."""
    if isinstance(node, list):
        return [plain(value) for value in node]
    if not isinstance(node, dict):
        return node
    return {
        name: CLASS.sub(lambda match: RANGES[match[1]], value)
        if name == "pattern" and isinstance(value, str)
        else plain(value)
        for name, value in node.items()
    }


def named(node):
    """A value as clients send it: no letters that nobody sees, and no spaces around a text, which services drop."""
    if isinstance(node, str):
        seen = regex.sub(r"[\p{C}\p{Zl}\p{Zp}]|^[\s\p{Z}]|[\s\p{Z}]$", "x", node)
        # Unicode grows: what only one of two tables knows is not sent.
        return "".join("x" if unicodedata.category(letter).startswith("C") else letter for letter in seen)
    if isinstance(node, float) and node.is_integer() and abs(node) < 2**63:
        # Whole numbers are sent as such; for a schema 5.0 is one too.
        return int(node)
    if isinstance(node, list):
        return [named(value) for value in node]
    if isinstance(node, dict):
        return {name: named(value) for name, value in node.items()}
    return node
