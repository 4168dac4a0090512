"""What is wrong with a file of SQL, and what a comment in it waives."""

import re

# Rules about files and about what the server or the migrator refuses, which no comment within a file can waive.
UNWAIVABLE = {"changed", "removed", "renumbered", "number", "transaction", "unparsed", "place", "replace", "statement",
              "twice", "foreign", "unknown"}


class Finding:
    def __init__(self, file, line, statement, rule, reason, instead, waiver=None):
        self.file, self.line, self.rule = file, line, rule
        self.reason, self.instead, self.waiver = reason, instead, waiver
        self.statement = " ".join(re.sub(r"--.*", "", statement).split())[:100]
        self.key = (file, line, rule, reason)

    def text(self):
        if self.waiver:
            return f"waived  {self.file}:{self.line} {self.rule}: {self.reason}\n        safe: {self.waiver}"
        shown = f"\n        {self.statement}" if self.statement else ""
        return f"FAILED  {self.file}:{self.line} {self.rule}: {self.reason}{shown}\n        instead: {self.instead}"


def about(path, statement, rule, reason, instead):
    """A finding about a statement, which what is written before it may waive."""
    waiver = statement.waiver if rule not in UNWAIVABLE and len(statement.waiver or "") >= 10 else None
    return Finding(path, statement.line, statement.whole, rule, reason, instead, waiver)


def unreasoned(path, statement):
    if statement.waiver is not None and len(statement.waiver) < 10:
        yield Finding(path, statement.line, statement.whole, "waiver", "\"-- safe:\" gives no reason", "say why it is safe")


def unparsed(path, error):
    return Finding(path, 1, "", "unparsed", str(error), "write what Postgres can read")
