"""Holds what was published to deploy/events/asyncapi.json: every event is about its subject and has the members that its
kind declares, no others, each of the type and format that is declared. Words that may grow are known ones: it is us who say
them.
"""
import json, re

import ledger as L

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TYPES = {"string": str, "integer": int, "boolean": bool}
FORMATS = {"uuid": UUID.fullmatch, "int64": lambda value: -2**63 <= value < 2**63, "sealed": lambda value: value != ""}
# The member that is the subject, by what the document says that subjects name.
SUBJECTS = dict(user="user_id", transaction="transaction_id", moneyDrop="money_drop_id", paymentRequest="payment_request_id",
                charge="reference")


def declared(source="transaction"):
    """(subject, schema of the data) of each kind of event that a service publishes."""
    document = json.loads((L.ROOT / "deploy/events/asyncapi.json").read_text())
    messages, schemas = document["components"]["messages"], document["components"]["schemas"]
    kinds = {}
    for channel in document["channels"].values():
        for reference in channel["messages"].values():
            message = messages[last_name(reference)]
            members = message["payload"]["allOf"][1]["properties"]
            if members["source"]["const"] == source:
                kinds[members["type"]["const"]] = (SUBJECTS.get(channel["x-subject"]), schemas[last_name(members["data"])])
    return kinds


def last_name(reference): return reference["$ref"].rsplit("/", 1)[1]


def objection(data, schema):
    """What is wrong with the data of an event; None when nothing is."""
    for name in schema["required"]:
        if name not in data: return f"{name} is missing"
    for name, value in data.items():
        member = schema["properties"].get(name)
        if member is None: return f"{name} is not declared"
        unknown = set(member) - {"type", "format", "x-known-words"}
        if unknown: return f"{name} is declared by {unknown}, which nobody checks here"
        if type(value) is not TYPES[member["type"]]: return f"{name} is not of type {member['type']}: {value!r}"
        if "format" in member and not FORMATS[member["format"]](value): return f"{name} is no {member['format']}: {value!r}"
        if value not in member.get("x-known-words", [value]): return f"{name} is an unknown word: {value!r}"
    return None


class Contracts:
    """Looks at each event of a database once."""

    def __init__(self):
        self.kinds, self.seen = declared(), 0

    def broken(self, c):
        """As owner: (type, what is wrong) of the events since the last look. Nobody writes meanwhile."""
        found = []
        new = "SELECT position, type, subject, data FROM outbox WHERE position > %s ORDER BY position"
        for position, type, subject, text in c.execute(new, [self.seen]).fetchall():
            self.seen = position
            wrong = self.wrong(type, subject, json.loads(text))
            if wrong: found.append((type, wrong))
        return found

    def wrong(self, type, subject, data):
        if type not in self.kinds: return "transaction declares no such event"
        named, schema = self.kinds[type]
        return objection(data, schema) or (None if data[named] == subject else f"{named} is not the subject")
