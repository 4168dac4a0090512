"""What stands within functions and DO blocks: their statements, dynamic ones too, and the whole rows that they make."""

import re

from pglast import ast, parse_plpgsql, parse_sql, visitors
from pglast.parser import ParseError

# The name that stands for one that only the server will know: in dynamic SQL. It counts as existing.
UNKNOWN = "unknown_name"
RUN = ("PLpgSQL_stmt_execsql", "PLpgSQL_stmt_perform", "PLpgSQL_stmt_call", "PLpgSQL_stmt_fors")
PLACEHOLDER = re.compile(r"%(?:(\d+)\$)?([IsL%])")


def last(names):
    """The last part of a qualified name."""
    return names[-1].sval if isinstance(names, tuple) else names.sval


def parts(node, *classes):
    """All nodes of these classes within a node, itself included."""
    found = []

    class Finder(visitors.Visitor):
        def visit(self, _, inner):
            if isinstance(inner, classes):
                found.append(inner)

    if node is not None:
        Finder()(node)
    return found


def nodes(tree, *names):
    """(name, content) of what PL/pgSQL has under one of these names; of all without names."""
    for inner in tree if isinstance(tree, list) else ():
        yield from nodes(inner, *names)
    for name, inner in tree.items() if isinstance(tree, dict) else ():
        if name in names:
            yield name, inner
        yield from nodes(inner, *names)


# Statements


def statements_of(body, language):
    """The statements within a function or a DO block, with a dynamic one as the text it is made from, if that is known.

    Yields parsed statements, and None for one that cannot be read.
    """
    if language == "sql":
        yield from (raw.stmt for raw in parse_sql(body))
    if language != "plpgsql":
        return
    tree = parse_plpgsql(f"CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $wrapped${body}$wrapped$")
    for text in queries(tree, {}):
        try:
            yield from ([None] if text is None else [raw.stmt for raw in parse_sql(text)])
        except ParseError:  # what is no statement of its own, such as an assignment
            yield None


def queries(node, bound):
    """`bound` are the rows that variables of loops go through, where they are written out."""
    if isinstance(node, list):
        for inner in node:
            yield from queries(inner, bound)
    elif isinstance(node, dict):
        for name, inner in node.items():
            within = bound
            if name in RUN:
                expression = inner.get("sqlstmt") or inner.get("expr") or inner.get("query")
                yield expression["PLpgSQL_expr"]["query"]
            elif name in ("PLpgSQL_stmt_dynexecute", "PLpgSQL_stmt_dynfors"):
                yield from dynamic(inner["query"]["PLpgSQL_expr"]["query"], bound)
            if name == "PLpgSQL_stmt_fors":
                within = bound | rows_of(inner)
            yield from queries(inner, within)


def rows_of(loop):
    """The rows of FOR r IN SELECT * FROM (VALUES ...) AS x(a, b), as {r: [{a: text, b: text}]}; nothing for others."""
    query = parse_sql(loop["query"]["PLpgSQL_expr"]["query"])[0].stmt
    source = query.fromClause[0] if isinstance(query, ast.SelectStmt) and len(query.fromClause or ()) == 1 else None
    values = getattr(getattr(source, "subquery", None), "valuesLists", None)
    if not values or not source.alias.colnames or not is_star(query.targetList):
        return {}
    names = [name.sval for name in source.alias.colnames]
    return {loop["var"]["PLpgSQL_rec"]["refname"]: [dict(zip(names, map(constant, row))) for row in values]}


def is_star(targets):
    return len(targets or ()) == 1 and isinstance(targets[0].val, ast.ColumnRef) \
        and isinstance(targets[0].val.fields[-1], ast.A_Star)


def constant(node):
    """The text of a constant, or None."""
    return node.val.sval if isinstance(node, ast.A_Const) and isinstance(node.val, ast.String) else None


def dynamic(expression, bound):
    """The texts of EXECUTE 'literal' or EXECUTE format('literal', ...); None for others."""
    node = parse_sql(f"SELECT {expression}")[0].stmt.targetList[0].val
    arguments = ()
    if isinstance(node, ast.FuncCall) and last(node.funcname) == "format" and node.args:
        node, *arguments = node.args
    text = constant(node)
    if text is None:
        return [None]
    used = {reference.fields[0].sval for argument in arguments for reference in parts(argument, ast.ColumnRef)}
    known = [bound[name] for name in used & bound.keys()]
    # Of two loops at once each would have to be tried with each: then names stay unknown.
    rows = known[0] if len(known) == 1 else [{}]
    return list(dict.fromkeys(filled(text, arguments, row) for row in rows))


def filled(text, arguments, row):
    """What format() makes of it."""
    place = 0

    def fill(found):
        nonlocal place
        if found[2] == "%":
            return "%"
        place = int(found[1]) if found[1] else place + 1
        given = arguments[place - 1] if place <= len(arguments) else None
        value = constant(given)
        if isinstance(given, ast.ColumnRef) and len(given.fields) == 2:
            value = row.get(getattr(given.fields[1], "sval", None))
        if found[2] == "L":
            return "'value'"
        return UNKNOWN if value is None else value

    return PLACEHOLDER.sub(fill, text)


# Rows


def whole_rows(node, text):
    """(table or type, how) where a function makes rows by the position of their columns: "insert", "row"."""
    options = {option.defname: option.arg for option in node.options or ()}
    language = getattr(options.get("language"), "sval", "sql")
    body = options["as"][0].sval if "as" in options else ""
    result = last(node.returnType.names) if node.returnType else ""
    found = set()
    try:
        if language == "sql":
            read = [raw.stmt for raw in parse_sql(body)] or list(parts(node.sql_body, ast.SelectStmt))
            if read and by_position(read[-1]):
                found.add((result, "row"))
        else:
            tree = plpgsql(text)
            read = [inner for _, expression in nodes(tree, "PLpgSQL_expr") for inner in expression_nodes(expression)]
            for _, answer in nodes(tree, "PLpgSQL_stmt_return_query"):
                if "query" in answer and any(map(by_position, expression_nodes(answer["query"]["PLpgSQL_expr"]))):
                    found.add((result, "row"))
    except ParseError:
        # Its words still tell, if less exactly.
        return {(name, "insert") for name in re.findall(r"(?i)\bINSERT\s+INTO\s+(\w+)\s+(?:SELECT|VALUES)\b", body)} \
            | {(name, "row") for name in re.findall(r"\)\s*::\s*(\w+)", body)}
    for statement in read:
        for insert in parts(statement, ast.InsertStmt):
            if not insert.cols and insert.selectStmt is not None:
                found.add((insert.relation.relname, "insert"))
        for cast in parts(statement, ast.TypeCast):
            if isinstance(cast.arg, ast.RowExpr):
                found.add((last(cast.typeName.names), "row"))
    return found


def plpgsql(text):
    try:
        return parse_plpgsql(text)
    except ParseError:
        # The parser knows no tables: an array of their rows could be of anything.
        return parse_plpgsql(re.sub(r"\b[a-z_][a-z0-9_]*\[\]", "text[]", text))


def expression_nodes(expression):
    """What an expression of PL/pgSQL is to Postgres: a statement, a value, or an assignment."""
    text = expression["query"]
    if expression.get("parseMode", 0) >= 3:
        text = re.split(r":?=", text, maxsplit=1)[1]
    if expression.get("parseMode", 0) >= 2:
        text = f"SELECT {text}"
    return [raw.stmt for raw in parse_sql(text)]


def by_position(statement):
    """Whether the rows of a query are listed column by column."""
    while getattr(statement, "larg", None) is not None:
        statement = statement.larg
    targets = getattr(statement, "targetList", None) if isinstance(statement, ast.SelectStmt) \
        else getattr(statement, "returningList", None)
    return len(targets or ()) > 1
