"""The SQL of each database and the SQL that Swift sends: where they stand, and how they are read."""

import functools
import io
import re
import subprocess
import tarfile

from pglast import parse_sql
from pglast.parser import ParseError

SHARED = "Shared/Messaging"
PLACE = re.compile(r"(Shared/Messaging|Services/\w+)/(Migrations|Functions)/[^/]+\.sql")
WAIVER = re.compile(r"--[ \t]*safe:[ \t]*(.*)")
# Where strings and comments begin in Swift.
BEGIN = re.compile(r'//|/\*|(#*)("""|")')


def git(root, *arguments):
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def files_of(root, commit):
    """The SQL and the Swift of a commit, path -> text each."""
    packed = subprocess.run(["git", "-C", root, "archive", "--format=tar", commit, "--", "Services", "Shared"],
                            capture_output=True, check=True).stdout
    sql, swift = {}, {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        for file in files:
            kept = sql if PLACE.fullmatch(file.name) else swift if file.name.endswith(".swift") else None
            if kept is not None and file.isfile():
                kept[file.name] = files.extractfile(file).read().decode()
    return sql, swift


def files_here(root):
    places = [root / SHARED, *root.glob("Services/*")]
    found = [path for place in places for kind in ("Migrations", "Functions") for path in (place / kind).glob("*.sql")]
    return {str(path.relative_to(root)): path.read_text() for path in sorted(found)}


def set_of(path):
    return PLACE.fullmatch(path)[1]


def is_migration(path):
    return PLACE.fullmatch(path)[2] == "Migrations"


def databases(paths):
    """For each database the sets that it is made of: that of messaging, and its service's."""
    sets = {set_of(path) for path in paths}
    own = sorted(sets - {SHARED})
    return [(SHARED, name) for name in own] or [(SHARED,)]


def migrations_of(sets, paths):
    """In the order of the migrator."""
    return [path for name in sets for path in sorted(paths) if is_migration(path) and set_of(path) == name]


def functions_of(sets, paths):
    """In the order of the migrator, `rights.sql` of each set last."""
    def rank(path):
        return sets.index(set_of(path)), path.endswith("/rights.sql"), path

    return sorted((path for path in paths if not is_migration(path) and set_of(path) in sets), key=rank)


def is_early(path):
    """Whether these functions are there before the migrations."""
    return path.endswith("/Functions/tables.sql")


class Statement:
    """A statement, where it begins, its text, and the same with the comments before and behind it."""

    def __init__(self, node, line, text, whole):
        self.node, self.line, self.text, self.whole = node, line, text, whole
        said = WAIVER.search(whole)
        self.waiver = said[1].strip() if said else None


@functools.cache
def statements(text):
    """Every text is parsed once, however often it is asked for."""
    # A variable keeps its length as a name; positions are those of the file.
    plain = re.sub(r"\$\{(\w+)\}", r"v_\1_", text).encode("ascii", "replace").decode()
    found, end = [], 0
    for raw in parse_sql(plain):
        stop = raw.stmt_location + (raw.stmt_len or len(plain) - raw.stmt_location)
        rest = plain.find("\n", stop)
        rest = len(plain) if rest < 0 else rest
        # A comment in the line of the statement's end is its own, unless another statement begins there.
        if not re.fullmatch(r"\s*;?\s*(--.*)?", plain[stop:rest]):
            rest = stop
        line = plain.count("\n", 0, raw.stmt_location) + 1
        found.append(Statement(raw.stmt, line, plain[raw.stmt_location:stop], text[end:rest]))
        end = rest
    return tuple(found)


def readable(text):
    """The statements of a file, none when it cannot be parsed: that is said where the file is judged."""
    try:
        return statements(text)
    except ParseError:
        return ()


# Swift


def literals(code):
    """The strings of Swift, those within interpolations too; an interpolation itself is a space."""
    at = 0
    while found := BEGIN.search(code, at):
        if found[0] in ("//", "/*"):
            end = code.find("\n" if found[0] == "//" else "*/", found.end())
            at = len(code) if end < 0 else end + 1
        else:
            text, inner, at = literal(code, found.end(), found[1], found[2])
            yield text
            for part in inner:
                yield from literals(part)


def literal(code, at, hashes, quote):
    """(text, codes of interpolations, end) of the string that begins there."""
    text, inner = [], []
    step = re.compile(re.escape(f"\\{hashes}") + r"(\(|.)|" + re.escape(quote + hashes) + ("" if len(quote) > 1 else r"|\n"), re.S)
    while found := step.search(code, at):
        text.append(code[at:found.start()])
        at = found.end()
        if found[1] is None:
            return "".join(text), inner, at
        text.append(" ")
        if found[1] == "(":
            end = closing(code, at)
            inner.append(code[at:end])
            at = end + 1
    return "".join(text), inner, len(code)


def closing(code, at):
    """Where the bracket closes that is open here."""
    depth = 1
    while found := re.compile(r'(#*)("""|")|[()]').search(code, at):
        at = found.end()
        if found[2]:
            at = literal(code, at, found[1], found[2])[2]
        else:
            depth += 1 if found[0] == "(" else -1
            if depth == 0:
                return found.start()
    return len(code)


class Calls:
    """Which functions the Swift of a version calls, and in what text."""

    def __init__(self, swift):
        self.swift = swift

    @functools.cached_property
    def texts(self):
        found = {}
        for code in self.swift.values():
            for text in literals(code):
                for name in set(re.findall(r"\b([a-z_][a-z0-9_]*)\s*\(", text)):
                    found.setdefault(name, []).append(text)
        return found

    def of(self, name):
        return self.texts.get(name, [])
