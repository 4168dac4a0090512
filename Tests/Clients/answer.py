"""What came back, whoever made the client."""

import dataclasses
import enum
import typing


@dataclasses.dataclass
class Answer:
    status: int
    headers: typing.Any
    # Of a type that was made of the description; None when the description has none for this status.
    body: typing.Any


def plain(value):
    """A word or a number: generators wrap what has a name in the description."""
    while True:
        if isinstance(value, enum.Enum):
            value = value.value
        elif hasattr(value, "root"):
            value = value.root
        else:
            return value


def kind(transaction):
    """Its `type`, a word that openapi-python-client does not take as it is."""
    return plain(transaction.type_ if hasattr(transaction, "type_") else transaction.type)
