"""Judges what makes the databases: migrations and functions, against the version before, or each migration alone.

usage: migrations.py <root> check [<base>] | history
"""

import json
import pathlib
import re
import sys

from pglast import ast
from pglast.parser import ParseError

from bodies import last, whole_rows
from finding import Finding, about, unparsed, unreasoned
from functions import compare, judge_file, judge_sets
from rules import findings, queues_for
from schema import Schema
from sources import (SHARED, Calls, databases, files_here, files_of, functions_of, git, is_early, is_migration,
                     migrations_of, readable, statements)

ACCEPTED = "deploy/postgres/accepted.json"
BASE = "deploy/postgres/base"
NAME = re.compile(r"(\d{4})_(\w+)\.sql")
LOCK_TIMEOUT = re.compile(r"(?i)\bSET\s+LOCAL\s+lock_timeout\b")
# As many zeros are no commit, in git's words: nothing was there before.
NO_COMMIT = "0" * 40


def judge(path, text, schema):
    """The findings of one migration. The schema has it afterwards."""
    try:
        parsed = statements(text)
    except ParseError as error:
        yield unparsed(path, error)
        return
    patient = LOCK_TIMEOUT.search(text)
    for statement in parsed:
        yield from unreasoned(path, statement)
        found = list(findings(statement.node, schema, path))
        locked = queues_for(statement.node, schema)
        if locked and not patient:
            patient = True
            found.append(("lock-timeout",
                          f"waits for {locked} as long as the migrator does, and whoever needs it waits behind",
                          "begin the file with SET LOCAL lock_timeout = '3s'; a Job that fails is run again"))
        for rule, reason, instead in found:
            yield about(path, statement, rule, reason, instead)
        schema.apply(statement.node, path)


def learn(paths, files, schema):
    """The schema has these files afterwards, unjudged."""
    for path in paths:
        for statement in readable(files[path]):
            schema.apply(statement.node, path)


def unchanged(old, new):
    """What happened to files that may be applied somewhere."""
    for path, text in old.items():
        if path in new:
            if new[path] != text:
                yield Finding(path, 1, "", "changed", "an applied migration has another text: the migrator refuses it",
                              "put it back, and write the next number")
            continue
        moved = next((other for other in new if other not in old and new[other] == text), None)
        if moved:
            yield Finding(path, 1, "", "renumbered", f"an applied migration is now {moved}: it would be applied again",
                          "put it back")
        else:
            yield Finding(path, 1, "", "removed", "an applied migration is gone",
                          "put it back, and undo it in a new one")


def numbered(old, new):
    taken, newest = {}, {}
    for path in old:
        folder, name = path.rsplit("/", 1)
        newest[folder] = max(newest.get(folder, 0), int(name[:4]))
    for path in sorted(new):
        folder, name = path.rsplit("/", 1)
        if not NAME.fullmatch(name):
            yield Finding(path, 1, "", "number", "the name is not NNNN_what.sql", "name it so")
            continue
        other = taken.setdefault((folder, name[:4]), path)
        if other != path:
            yield Finding(path, 1, "", "number", f"the number is that of {other}", "take the next number")
        if path not in old and int(name[:4]) <= newest.get(folder, 0):
            yield Finding(path, 1, "", "number",
                          f"{newest[folder]:04} may be applied already: the migrator refuses this one",
                          "take the next number")


def mentions(root, base, finding):
    """Where Swift of the version before names what is dropped or renamed."""
    match = re.search(r"([\w]+)(?= is dropped| gets another name)", finding.reason)
    if finding.rule not in ("drop", "rename") or not match or not base:
        return
    folder = finding.file.split("/Migrations")[0]
    hits = git(root, "grep", "-nwI", match[1], base, "--", f"{folder}/*.swift", f"{SHARED}/*.swift")
    places = [":".join(hit.split(":")[1:3]) for hit in (hits or "").splitlines()]
    finding.reason += f" ({len(places)} lines of Swift before name {match[1]}" + \
        (f": {', '.join(places[:3])})" if places else ")")


class Judgement:
    """The files of a version against those of the one before, which runs while they are applied."""

    def __init__(self, old, new, swift=None, is_released=True):
        self.old, self.new, self.calls = old, new, Calls(swift or {})
        applied = {path: text for path, text in old.items() if is_migration(path)}
        # Until the first release history may change: no database has it, and what differs is new as a whole.
        self.rewritten = [] if is_released else sorted(path for path in applied if new.get(path) != applied[path])
        self.applied = {path: text for path, text in applied.items() if path not in self.rewritten}
        self.fresh = {path for path in new if is_migration(path) and path not in self.applied}
        self.is_released = is_released

    @property
    def count(self):
        return len(self.fresh) + sum(not is_migration(path) for path in self.new)

    def findings(self):
        migrations = {path: text for path, text in self.new.items() if is_migration(path)}
        yield from unchanged(self.applied, migrations)
        yield from numbered(self.applied if self.is_released else {}, migrations)
        for path, text in self.new.items():
            if not is_migration(path):
                yield from judge_file(path, text)
        for sets in databases({*self.old, *self.new}):
            yield from judge_sets(sets, self.new)
            yield from compare(sets, self.old, self.new, self.calls)
            yield from self.database(sets)

    def database(self, sets):
        """The migrations that are new, after those that are not."""
        schema = Schema()
        running = functions_of(sets, self.old)
        learn([path for path in running if is_early(path)], self.old, schema)
        learn(migrations_of(sets, self.applied), self.applied, schema)
        learn([path for path in running if not is_early(path)], self.old, schema)
        schema.settle()
        fresh = [path for path in migrations_of(sets, self.fresh) if NAME.fullmatch(path.rsplit("/", 1)[1])]
        if fresh:
            schema.whole_rows = rows_made(running, self.old)
        learn([path for path in functions_of(sets, self.new) if is_early(path)], self.new, schema)
        for path in fresh:
            yield from judge(path, self.new[path], schema)


def rows_made(paths, files):
    """How functions make rows by position: table or type -> [(function, how)]."""
    made = {}
    for path in paths:
        for statement in readable(files[path]):
            if isinstance(statement.node, ast.CreateFunctionStmt):
                for name, how in whole_rows(statement.node, statement.text):
                    made.setdefault(name, []).append((last(statement.node.funcname), how))
    return made


def check(old, new, swift=None, is_released=True):
    """(what is judged, the findings)."""
    judgement = Judgement(old, new, swift, is_released)
    found = {}
    for finding in judgement.findings():
        found.setdefault(finding.key, finding)
    return judgement, list(found.values())


def history(files):
    """Each migration against all that was before it: wherever every merge is applied, that is what ran."""
    migrations = [path for path in files if is_migration(path)]
    found = {finding.key: finding for finding in numbered({}, migrations)}
    for sets in databases(files):
        schema = Schema()
        learn([path for path in functions_of(sets, files) if is_early(path)], files, schema)
        for path in migrations_of(sets, files):
            schema.settle()
            for finding in judge(path, files[path], schema):
                found.setdefault(finding.key, finding)
    return len(migrations), list(found.values())


def accept(found, accepted):
    """Takes away what history is excused for; (what is left, entries that excuse more than there is)."""
    left, used = [], {}
    for finding in found:
        entry = next((e for e in accepted if (e["file"], e["rule"]) == (finding.file, finding.rule)), None)
        key = (finding.file, finding.rule)
        if entry and not finding.waiver and used.get(key, 0) < entry["count"]:
            used[key] = used.get(key, 0) + 1
        else:
            left.append(finding)
    stale = [e for e in accepted if used.get((e["file"], e["rule"]), 0) != e["count"] or not e["reason"]]
    return left, stale, sum(used.values())


def conclude(count, found, accepted, whole):
    left, stale, excused = accept(found, accepted)
    for finding in left:
        print(finding.text())
    if excused:
        print(f"ok      {excused} findings are excused in {ACCEPTED}")
    if whole:
        for entry in stale:
            what = f"{entry['count']} times {entry['rule']} in {entry['file']}"
            print(f"FAILED  {ACCEPTED} excuses {what}: there is less")
    refused = {finding.file for finding in left if not finding.waiver}
    failed = len(refused) + (len(stale) if whole else 0)
    # A file that is refused may be gone or an old one: it counts beside those that were judged.
    passed = max(0, count - len(refused))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def base_of(root, given):
    """The commit that is judged against. What cannot be found is said, and is no success."""
    if given is not None:
        if given != NO_COMMIT and git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{given}^{{commit}}") is None:
            refuse(f"{given} is no commit of this repository")
        return given
    tag = (git(root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*") or "").strip()
    if tag:
        return tag
    named = (root / BASE).read_text().strip() if (root / BASE).exists() else ""
    if not re.fullmatch(r"[0-9a-f]{40}", named):
        refuse(f"there is no release, and {BASE} does not name the commit to judge against")
    if git(root, "merge-base", "--is-ancestor", named, "HEAD") is None:
        refuse(f"{named}, which {BASE} names, is not in the history here: a shallow clone needs git fetch --unshallow")
    return named


def refuse(sentence):
    print(f"FAILED  {sentence}\n0 passed, 1 failed")
    sys.exit(1)


def main():
    root = pathlib.Path(sys.argv[1])
    files = files_here(root)
    accepted = json.loads((root / ACCEPTED).read_text())
    if sys.argv[2] == "history":
        sys.exit(conclude(*history(files), accepted, True))
    base = base_of(root, sys.argv[3] if len(sys.argv) > 3 else None)
    is_new = base == NO_COMMIT
    old, swift = ({}, {}) if is_new else files_of(root, base)
    is_released = is_new or git(root, "describe", "--tags", "--match", "v[0-9]*", base) is not None
    judgement, found = check(old, files, swift, is_released)
    for finding in found:
        mentions(root, None if is_new else base, finding)
    print(f"{len(judgement.fresh)} migrations are new since {'the beginning' if is_new else base}")
    if judgement.rewritten:
        first, more = judgement.rewritten[:4], len(judgement.rewritten) - 4
        print(f"ok      history may change until the first release: no more as in the base, and so judged as new as a whole, "
              f"are {', '.join(first)}{f' and {more} others' if more > 0 else ''}")
    sys.exit(conclude(judgement.count, found, accepted, False))


if __name__ == "__main__":
    main()
