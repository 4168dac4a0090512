"""Judges the functions of a database: each by itself, the sets together, and what the version before calls of them."""

import re

from pglast import ast, enums
from pglast.parser import ParseError

from bodies import last
from finding import Finding, about, unparsed, unreasoned
from sources import functions_of, is_migration, readable, set_of, statements

OBJECT = enums.ObjectType
ROUTINES = (OBJECT.OBJECT_FUNCTION, OBJECT.OBJECT_PROCEDURE, OBJECT.OBJECT_ROUTINE)
GIVEN = (ast.CreateFunctionStmt, ast.GrantStmt, ast.CommentStmt)
OUT, TABLE = "o", "t"


def type_name(name):
    """The same for all spellings of a type."""
    if name is None:
        return ""
    return ("SETOF " if name.setof else "") + last(name.names) + ("%TYPE" if name.pct_type else "") + \
        "[]" * bool(name.arrayBounds)


class Routine:
    """A function or procedure as those know it who call it."""

    def __init__(self, path, statement):
        node = statement.node
        self.path, self.statement, self.name = path, statement, last(node.funcname)
        self.kind = "procedure" if node.is_procedure else "function"
        given = [(p.mode.value, p.name or "", type_name(p.argType), p.defexpr is not None) for p in node.parameters or ()]
        self.inputs = [(name, ("VARIADIC " if mode == "v" else "") + kind, optional)
                       for mode, name, kind, optional in given if mode not in (OUT, TABLE)]
        self.columns = [(name, kind) for mode, name, kind, _ in given if mode in (OUT, TABLE, "b")]
        self.returns = type_name(node.returnType)
        self.types = tuple(kind for _, kind, _ in self.inputs)
        options = [(option.defname, option.arg) for option in node.options or ()]
        self.is_definer = any(name == "security" and value.boolval for name, value in options)
        self.is_pinned = any(name == "set" and value.name == "search_path" and value.args for name, value in options)

    @property
    def signature(self):
        return f"{self.name}({', '.join(self.types)})"

    @property
    def result(self):
        if self.columns:
            return f"({', '.join(' '.join(column) for column in self.columns)})"
        return self.returns or "nothing"

    @property
    def promise(self):
        """All that somebody who calls it can tell."""
        return self.kind, self.inputs, self.columns, self.returns


def routines_of(sets, files):
    return [Routine(path, statement) for path in functions_of(sets, files) for statement in readable(files[path])
            if isinstance(statement.node, ast.CreateFunctionStmt)]


# One file


def judge_file(path, text):
    try:
        parsed = statements(text)
    except ParseError as error:
        yield unparsed(path, error)
        return
    for statement in parsed:
        yield from unreasoned(path, statement)
        node = statement.node
        if not isinstance(node, GIVEN):
            what = re.sub(r"(?<!^)([A-Z])", r" \1", type(node).__name__.removesuffix("Stmt")).upper()
            yield about(path, statement, "statement", f"{what} has no place among functions, which are applied again and again",
                        "a migration; here stand CREATE OR REPLACE FUNCTION and PROCEDURE, GRANT, REVOKE, COMMENT")
        elif isinstance(node, ast.CreateFunctionStmt):
            yield from judge_routine(path, statement)


def judge_routine(path, statement):
    routine = Routine(path, statement)
    if not statement.node.replace:
        yield about(path, statement, "replace", f"{routine.name}() cannot be applied a second time", "CREATE OR REPLACE")
    if routine.is_definer and not routine.is_pinned:
        yield about(path, statement, "definer", f"{routine.name}() runs as the owner and finds what its caller's "
                    "search_path says", "SET search_path = public, pg_temp")


# All sets of a database


def judge_sets(sets, files):
    routines = routines_of(sets, files)
    first = {}
    for routine in routines:
        known = first.setdefault((routine.name, routine.types), routine)
        if known is routine:
            continue
        where = f"{known.path}:{known.statement.line}"
        if set_of(known.path) == set_of(routine.path):
            yield about(routine.path, routine.statement, "twice", f"{routine.signature} is there already, in {where}",
                        "keep one of them")
        else:
            yield about(routine.path, routine.statement, "foreign",
                        f"{routine.signature} is of another set, in {where}: whichever is applied last would count",
                        "another name")
    closed = set()
    for path in sorted((p for p in files if set_of(p) in sets), key=lambda path: path.endswith("/rights.sql")):
        for statement in readable(files[path]):
            if isinstance(statement.node, ast.GrantStmt) and statement.node.objtype in ROUTINES:
                yield from judge_grant(path, statement, routines, closed)
    for routine in first.values():
        if routine.is_definer and (routine.name, routine.types) not in closed:
            yield about(routine.path, routine.statement, "public", f"{routine.signature} runs as the owner, and everybody may "
                        "call it", "REVOKE ALL ... FROM PUBLIC in rights.sql of its set, and GRANT EXECUTE to who calls it")


def judge_grant(path, statement, routines, closed):
    """What a GRANT or REVOKE on functions is about; `closed` are those that PUBLIC may not call."""
    node = statement.node
    if node.targtype != enums.GrantTargetType.ACL_TARGET_OBJECT:
        yield about(path, statement, "foreign", "rights on all functions are those of other sets too", "name the functions")
        return
    is_public = any(role.roletype == enums.RoleSpecType.ROLESPEC_PUBLIC for role in node.grantees)
    is_execution = not node.privileges or any(right.priv_name in (None, "execute") for right in node.privileges)
    for thing in node.objects:
        name = last(thing.objname)
        given = None if thing.args_unspecified else tuple(
            type_name(parameter.argType) for parameter in thing.objfuncargs or () if parameter.mode.value not in (OUT, TABLE))
        meant = [routine for routine in routines if routine.name == name and given in (None, plain(routine.types))]
        strange = [routine for routine in meant if set_of(routine.path) != set_of(path)]
        if strange:
            yield about(path, statement, "foreign", f"{strange[0].signature} is of another set, in {strange[0].path}",
                        f"say it there{', or name the types' if len(meant) > len(strange) else ''}")
        elif not meant and not is_migration(path):
            types = "" if given is None else f"({', '.join(given)})"
            yield about(path, statement, "unknown", f"{name}{types} is no function of this database: none could be made anew",
                        "take it out, or correct the types")
        for routine in meant if is_public and is_execution and not strange else ():
            if node.is_grant:
                closed.discard((routine.name, routine.types))
            elif path.endswith("/Functions/rights.sql"):
                closed.add((routine.name, routine.types))


def plain(types):
    return tuple(kind.removeprefix("VARIADIC ") for kind in types)


# Against the version before


def compare(sets, old, new, calls):
    """What Swift of the version before calls and does not find here as it was."""
    here = {}
    for routine in routines_of(sets, new):
        here.setdefault(routine.name, []).append(routine)
    for before in routines_of(sets, old):
        candidates = here.get(before.name, [])
        if any(routine.promise == before.promise for routine in candidates) or not calls.of(before.name):
            continue
        reasons = [breach(before, routine, calls.of(before.name)) for routine in candidates]
        if not candidates:
            yield Finding(before.path, 1, "", "gone", f"{before.signature} is gone, and the version before calls it",
                          "keep it until no running version calls it")
        elif all(reasons):
            # What changed least tells most: the one whose types are the same.
            same = next((n for n, routine in enumerate(candidates) if routine.types == before.types), 0)
            yield about(candidates[same].path, candidates[same].statement, "gone",
                        f"{before.signature}, which the version before calls, {reasons[same]}",
                        "a new function beside it, or at its end a parameter with DEFAULT or a column that nobody reads yet")


def breach(before, now, texts):
    """What keeps calls of a function from working with what it is now; None when nothing does."""
    if now.kind != before.kind:
        return f"is a {now.kind} now"
    more = now.inputs[len(before.inputs):]
    if now.types[:len(before.types)] != before.types or not all(optional for _, _, optional in more):
        return f"takes ({', '.join(now.types)}) now"
    for (old_name, _, was_optional), (name, _, is_optional) in zip(before.inputs, now.inputs):
        if was_optional and not is_optional:
            return f"has no DEFAULT for {name} any more"
        if old_name != name and any(re.search(rf"\b{re.escape(old_name)}\s*(=>|:=)", text) for text in texts):
            return f"calls {old_name} {name} now"
    if before.columns and now.columns[:len(before.columns)] == before.columns and is_row(now) == is_row(before):
        if now.columns == before.columns or all(names_columns(before, text) for text in texts):
            return None
        return f"returns {now.result} now, and Swift reads more than columns by name"
    if (now.columns, now.returns) != (before.columns, before.returns):
        return f"returned {before.result} and returns {now.result} now"
    return None


def is_row(routine):
    """Whether it returns several rows; what it returns beside is told by its columns."""
    return routine.returns.startswith("SETOF ") or any(
        parameter.mode.value == TABLE for parameter in routine.statement.node.parameters or ())


def names_columns(routine, text):
    """Whether a text that calls a function reads its columns by their names, so that more of them change nothing."""
    calls = re.findall(rf"(\S*)\s*\b{routine.name}\s*\(", text)
    from_it = all(re.fullmatch(r"(?i)from|join|lateral|,|\S+,", before) for before in calls)
    named = len(routine.columns) > 1 or re.search(rf"\b{routine.columns[0][0]}\b(?!\s*\()", text)
    return from_it and bool(named) and not re.search(r"(?i)(select\s+|\w\.)\*", text)
