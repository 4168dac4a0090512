"""Judges migrations: those that are new since a commit, or all of history, one by one.

usage: migrations.py <root> check [<base>] | history
"""

import json
import pathlib
import re
import subprocess
import sys

from pglast import parse_sql
from pglast.parser import ParseError

from rules import findings, queues_for
from schema import Schema

SHARED = "Shared/Messaging/Migrations"
ACCEPTED = "deploy/postgres/accepted.json"
NAME = re.compile(r"(\d{4})_(\w+)\.sql")
WAIVER = re.compile(r"--[ \t]*safe:[ \t]*(.*)")
LOCK_TIMEOUT = re.compile(r"(?i)\bSET\s+LOCAL\s+lock_timeout\b")
# Rules about files, which no comment within a file can waive.
UNWAIVABLE = {"changed", "removed", "renumbered", "number", "transaction", "unparsed"}


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


def git(root, *arguments):
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    return done.stdout


def is_migration(path):
    return path.endswith(".sql") and (path.startswith(f"{SHARED}/") or re.match(r"Services/\w+/Migrations/", path))


def files_of(root, base):
    """The migrations of a commit, path -> text."""
    listed = git(root, "ls-tree", "-r", "--name-only", base)
    return {path: git(root, "show", f"{base}:{path}") for path in (listed or "").splitlines() if is_migration(path)}


def files_here(root):
    places = [root / SHARED, *root.glob("Services/*/Migrations")]
    return {str(path.relative_to(root)): path.read_text() for place in places for path in place.rglob("*.sql")}


def databases(files):
    """For each database its migrations in the order in which the migrator applies them."""
    folders = sorted({path.rsplit("/", 1)[0] for path in files})
    for own in [folder for folder in folders if folder.startswith("Services/")] or [None]:
        order = [SHARED, own, f"{SHARED}/Audit"]
        yield [path for folder in order for path in sorted(files) if path.rsplit("/", 1)[0] == folder]


def statements(text):
    """(first line, text with the comments before and behind it, parsed) of each statement."""
    # A variable keeps its length as a name; positions are those of the file.
    plain = re.sub(r"\$\{(\w+)\}", r"v_\1_", text).encode("ascii", "replace").decode()
    end = 0
    for raw in parse_sql(plain):
        stop = raw.stmt_location + (raw.stmt_len or len(plain) - raw.stmt_location)
        rest = plain.find("\n", stop)
        rest = len(plain) if rest < 0 else rest
        # A comment in the line of the statement's end is its own, unless another statement begins there.
        if not re.fullmatch(r"\s*;?\s*(--.*)?", plain[stop:rest]):
            rest = stop
        yield plain.count("\n", 0, raw.stmt_location) + 1, text[end:rest], raw.stmt
        end = rest


def judge(path, text, schema):
    """The findings of one file. The schema has it afterwards."""
    try:
        parsed = list(statements(text))
    except ParseError as error:
        yield Finding(path, 1, "", "unparsed", str(error), "write what Postgres can read")
        return
    patient = LOCK_TIMEOUT.search(text)
    for line, whole, statement in parsed:
        said = WAIVER.search(whole)
        waiver = said[1].strip() if said else None
        if waiver is not None and len(waiver) < 10:
            yield Finding(path, line, whole, "waiver", "\"-- safe:\" gives no reason", "say why it is safe")
            waiver = None
        found = list(findings(statement, schema, path))
        locked = queues_for(statement, schema)
        if locked and not patient:
            patient = True
            found.append(("lock-timeout",
                          f"waits for {locked} as long as the migrator does, and whoever needs it waits behind",
                          "begin the file with SET LOCAL lock_timeout = '3s'; a Job that fails is run again"))
        for rule, reason, instead in found:
            yield Finding(path, line, whole, rule, reason, instead, None if rule in UNWAIVABLE else waiver)
        schema.apply(statement, path)


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
    hits = git(root, "grep", "-nwI", match[1], base, "--", f"{folder}/*.swift", f"{SHARED.rsplit('/', 1)[0]}/*.swift")
    places = [":".join(hit.split(":")[1:3]) for hit in (hits or "").splitlines()]
    finding.reason += f" ({len(places)} lines of Swift before name {match[1]}" + \
        (f": {', '.join(places[:3])})" if places else ")")


def check(root, old, new, base=None):
    """The findings in the files of new that are not in old."""
    found = {finding.key: finding for finding in (*unchanged(old, new), *numbered(old, new))}
    fresh = {path: text for path, text in new.items() if path not in old}
    for order in databases(old | fresh):
        schema = Schema()
        for path in order:
            if path in old:
                list(judge(path, old[path], schema))
        schema.settle()
        for path in order:
            if path in fresh and NAME.fullmatch(path.rsplit("/", 1)[1]):
                for finding in judge(path, fresh[path], schema):
                    found.setdefault(finding.key, finding)
    for finding in found.values():
        mentions(root, base, finding)
    return len(fresh), list(found.values())


def history(files):
    found = {finding.key: finding for finding in numbered({}, files)}
    for order in databases(files):
        schema = Schema()
        for path in order:
            schema.settle()
            for finding in judge(path, files[path], schema):
                found.setdefault(finding.key, finding)
    return len(files), list(found.values())


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
        print(f"ok      {excused} findings in migrations of before the first release, excused in {ACCEPTED}")
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


def main():
    root = pathlib.Path(sys.argv[1])
    files = files_here(root)
    accepted = json.loads((root / ACCEPTED).read_text())
    if sys.argv[2] == "history":
        sys.exit(conclude(*history(files), accepted, True))
    base = sys.argv[3] if len(sys.argv) > 3 else git(root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    base = (base or "").strip()
    known = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if base.strip("0") and known is None:
        print(f"migrations: {base} is no commit of this repository", file=sys.stderr)
        sys.exit(64)
    old = files_of(root, base) if base.strip("0") else {}
    count, found = check(root, old, files, base.strip("0") and base)
    print(f"{count} migrations are new since {base if base.strip('0') else 'the beginning'}")
    sys.exit(conclude(count, found, accepted, False))


if __name__ == "__main__":
    main()
