"""Texts as clients send them: patterns of the documents forbid less than services where no portable one can say it."""

import unicodedata

import regex


def named(node):
    """A value as clients send it: no letters that nobody sees, no heaps of marks, no spaces around a text."""
    if isinstance(node, str):
        seen = regex.sub(r"[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|^[\s\p{Z}\p{M}]|[\s\p{Z}]$|(?<=\p{M}{6})\p{M}", "x", node)
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
