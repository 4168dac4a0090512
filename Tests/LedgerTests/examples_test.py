#!/usr/bin/env python3
"""Runs the examples of the ledger, each in a fresh database, and compares what they print with what is committed.

usage: examples_test.py [--write] [name ...]          --write: keep what they print now
"""
import difflib, pathlib, sys

sys.dont_write_bytecode = True

import ledger as L

FOLDER = pathlib.Path(__file__).parent / "examples"


def statements(text):
    """Each statement with the comments before it: it ends with a semicolon at the end of a line, outside a body."""
    lines, in_body = [], False
    for line in text.splitlines():
        lines.append(line)
        in_body ^= line.count("$$") % 2 == 1
        if line.rstrip().endswith(";") and not in_body:
            yield "\n".join(lines).strip("\n")
            lines = []


def table(cursor):
    """What a query answers, as people read it."""
    head = [column.name for column in cursor.description]
    if cursor.description[0].type_code == 2278:                # void: nothing to see
        return []
    rows = [["" if value is None else str(value) for value in row] for row in cursor.fetchall()]
    widths = [max(map(len, cells)) for cells in zip(head, *rows)]
    shown = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [head, *rows]]
    return [shown[0], "-+-".join("-" * width for width in widths), *shown[1:]]


def told(path):
    """The example as a document: what it says, what it does, and what it is answered."""
    text = [f"# {path.stem.replace('_', ' ').capitalize()}", ""]
    done, said = [], []

    def end():
        """Closes the block of statements with what the last of them answered."""
        if done:
            text.extend(["```sql", *done, "```", *(["```text", *said, "```"] if said else []), ""])
        done.clear()
        said.clear()

    with L.connect(L.create("examples"), "owner", autocommit=True) as c:
        for statement in statements((FOLDER / "prelude.sql").read_text()):
            c.execute(statement)
        for statement in statements(path.read_text()):
            comments = [line for line in statement.splitlines() if line.startswith("-- ")]
            if comments or said:
                end()
            text.extend([*(line[3:] for line in comments), *([""] if comments else [])])
            cursor = c.execute(statement)
            done.extend(line for line in statement.splitlines() if line and not line.startswith("-- "))
            said.extend(table(cursor) if cursor.description else [])
    end()
    return "\n".join(text).rstrip("\n") + "\n"


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    names = [path for path in sorted(FOLDER.glob("*.sql")) if path.stem != "prelude" and (not words or path.stem in words)]
    for path in names:
        said, kept = told(path), path.with_suffix(".md")
        if "--write" in sys.argv:
            kept.write_text(said)
        elif said != (kept.read_text() if kept.exists() else ""):
            for line in difflib.unified_diff(kept.read_text().splitlines(), said.splitlines(), "committed", "now", lineterm=""):
                print(line)
            sys.exit(f"FAILED: the example {path.stem} says something else: {kept.relative_to(L.ROOT)}")
        print(f"ok  {path.stem}", flush=True)
    print(f"examples: {len(names)} as committed")


if __name__ == "__main__":
    main()
