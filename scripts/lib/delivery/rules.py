"""What a migration may not do while the version before it runs, and what to do instead."""

import re

from pglast import ast, enums

from bodies import UNKNOWN, last, parts, statements_of
from schema import AT, CON, type_text

OBJECT = enums.ObjectType
DEPTH = 4

EXPAND = ("stop using it in one release, and remove it in a later migration with \"-- safe: unused since <release>\"")
BATCHES = "do it in batches of some thousand rows by a job of the service, or bound it by a key or a LIMIT"


def concurrently(index):
    unique = "UNIQUE " if index.unique else ""
    return (f"before the migration, outside of it: CREATE {unique}INDEX CONCURRENTLY {index.idxname} ON ...; "
            "then CREATE INDEX IF NOT EXISTS here, with \"-- safe: built before\"")


def findings(statement, schema, file, depth=0):
    """(rule, reason, instead) for each rule that a statement breaks."""
    name = type(statement).__name__
    rule = RULES.get(name)
    if rule:
        yield from rule(statement, schema, file)
    if name == "DoStmt":
        options = {option.defname: option.arg.sval for option in statement.args}
        yield from within(options["as"], options.get("language", "plpgsql"), schema, file, depth)
    elif name in ("SelectStmt", "CallStmt"):
        for call in parts(statement, ast.FuncCall):
            called = last(call.funcname)
            for function in schema.functions.get(called, {}).values():
                for rule, reason, instead in within(function.body, function.language, schema, file, depth):
                    yield rule, f"{called}() is called: {reason}", instead


def within(body, language, schema, file, depth):
    if depth >= DEPTH:
        return
    for inner in statements_of(body, language):
        if inner is None:
            yield "unread", "dynamic SQL that cannot be read here", "write the statements out, or say why they are safe"
        else:
            yield from findings(inner, schema, file, depth + 1)


# Tables

def alter_table(s, schema, file):
    name = s.relation.relname
    if s.objtype == OBJECT.OBJECT_TYPE and schema.was(name):
        yield from alter_type(s, schema)
    table = schema.table(name)
    if s.objtype != OBJECT.OBJECT_TABLE or not table:
        return
    for command in s.cmds:
        rule = COMMANDS.get(command.subtype)
        if rule:
            yield from rule(command, name, table, schema, file)


def add_column(command, name, table, schema, file):
    column = command.def_
    kinds = {constraint.contype: constraint for constraint in column.constraints or ()}
    default = kinds.get(CON.CONSTR_DEFAULT)
    title = f"{name}.{column.colname}"
    if (CON.CONSTR_NOTNULL in kinds or CON.CONSTR_PRIMARY in kinds) and not default \
            and not {CON.CONSTR_IDENTITY, CON.CONSTR_GENERATED} & set(kinds):
        yield "not-null", f"{title} is NOT NULL without a default: the version before inserts rows without it", \
            "add it nullable or with a constant default"
    volatile = set(schema.volatile_calls(default.raw_expr)) if default else set()
    if volatile:
        yield "rewrite", f"the default of {title} differs by row ({', '.join(sorted(volatile))}): " \
            "every row is rewritten", \
            "add the column without a default, SET DEFAULT in a statement after it, fill old rows in batches"
    kind = type_text(column.typeName)
    if CON.CONSTR_IDENTITY in kinds or kind.rsplit(".", 1)[-1].strip('"') in ("serial", "bigserial", "smallserial"):
        yield "rewrite", f"{title} gets numbers: every row is rewritten", "add a plain column, and fill it in batches"
    generated = kinds.get(CON.CONSTR_GENERATED)
    if generated and generated.generated_kind != "v":
        yield "rewrite", f"{title} is computed and stored: every row is rewritten", \
            "add a plain column that the service or a trigger fills"
    if CON.CONSTR_CHECK in kinds:
        yield "constraint", f"the check of {title} reads every row under an exclusive lock", \
            "ADD CONSTRAINT ... CHECK ... NOT VALID, and VALIDATE CONSTRAINT in the next migration"
    if {CON.CONSTR_UNIQUE, CON.CONSTR_PRIMARY} & set(kinds):
        yield "constraint", f"the index of {title} is built under an exclusive lock", \
            "CREATE UNIQUE INDEX CONCURRENTLY outside of the migration, then ADD CONSTRAINT ... USING INDEX"
    if CON.CONSTR_FOREIGN in kinds and default:
        yield "constraint", f"the reference of {title} is checked for every row, as it has a default", \
            "add the column, then the reference NOT VALID, and VALIDATE CONSTRAINT in the next migration"


    is_given = bool({CON.CONSTR_NOTNULL, CON.CONSTR_PRIMARY, CON.CONSTR_IDENTITY, CON.CONSTR_GENERATED} & set(kinds))
    yield from positions(title, name, schema, ("insert", "row") if is_given else ("row",))


def alter_type(s, schema):
    """What attributes of a composite type do to functions that make its rows."""
    name = s.relation.relname
    for command in s.cmds:
        if command.subtype == AT.AT_AddColumn:
            yield from positions(f"{name}.{command.def_.colname}", name, schema, ("row",))
        elif command.subtype == AT.AT_DropColumn:
            yield from drop_column(command, name, None, schema, None)
        elif command.subtype == AT.AT_AlterColumnType:
            yield "type", f"{name}.{command.name} gets another type: the version before makes and reads the old", EXPAND


def positions(title, name, schema, ways):
    """Functions of the version before run until their set is replaced, and know nothing of a new column."""
    makers = sorted({f"{function}()" for function, how in schema.whole_rows.get(name, ()) if how in ways})
    if makers:
        yield "positional", f"{title} is new, and {', '.join(makers)} of the version before makes whole rows of {name} " \
            "by position", "name the columns in a release before; or add it nullable, and make it NOT NULL a release later"


def add_constraint(command, name, table, schema, file):
    c = command.def_
    if c.contype in (CON.CONSTR_CHECK, CON.CONSTR_FOREIGN) and not c.skip_validation:
        yield "constraint", f"a new constraint of {name} reads every row under a lock", \
            "add it NOT VALID, and VALIDATE CONSTRAINT in the next migration"
    elif c.contype in (CON.CONSTR_PRIMARY, CON.CONSTR_UNIQUE, CON.CONSTR_EXCLUSION) and not c.indexname:
        yield "constraint", f"the index of a new constraint of {name} is built under an exclusive lock", \
            "CREATE UNIQUE INDEX CONCURRENTLY outside of the migration, then ADD CONSTRAINT ... USING INDEX"


def validate(command, name, table, schema, file):
    constraint = table.constraints.get(command.name)
    if constraint and constraint[3] == file and not constraint[2]:
        yield "constraint", f"{command.name} was added in this file: its lock is held " \
            f"while every row of {name} is read", \
            "VALIDATE CONSTRAINT in the next migration"


def set_not_null(command, name, table, schema, file):
    if not table.known_not_null(command.name):
        yield "not-null", f"SET NOT NULL reads every row of {name} under an exclusive lock, " \
            "and the version before may write nulls", \
            f"CHECK ({command.name} IS NOT NULL) NOT VALID, VALIDATE in the next migration, SET NOT NULL " \
            "in the one after"


def column_type(command, name, table, schema, file):
    old, new = table.columns.get(command.name, ""), type_text(command.def_.typeName)
    if command.def_.raw_default is None and widens(old, new):
        return
    yield "type", f"{name}.{command.name} from {old or 'its type'} to {new} " \
        "rewrites every row under an exclusive lock", \
        "add a column of the new type, write both, fill it in batches, read it, then remove the old one"


def widens(old, new):
    """Whether a change of type is one of the catalogue alone."""
    def split(text):
        found = re.fullmatch(r"(?:pg_catalog\.)?([a-z ]+?)(?:\(([\d, ]+)\))?", text.strip())
        return (found[1], [int(n) for n in found[2].split(",")] if found[2] else []) if found else (text, [])

    (a, m), (b, n) = split(old), split(new)
    words = {"varchar", "character varying", "text"}
    if a in words and b in words:
        return b == "text" or not n or bool(m) and n[0] >= m[0]
    if a == b == "numeric" and m:
        return not n or n[0] >= m[0] and (n[1:] or [0]) == (m[1:] or [0])
    return False


def drop_column(command, name, table, schema, file):
    yield "drop", f"column {name}.{command.name} is dropped", EXPAND


def drop_constraint(command, name, table, schema, file):
    constraint = table.constraints.get(command.name)
    keyed = constraint[0] in (CON.CONSTR_PRIMARY, CON.CONSTR_UNIQUE) if constraint else \
        command.name.endswith(("_key", "_pkey"))
    if keyed:
        yield "drop", f"{command.name} of {name} is dropped: ON CONFLICT of the version before may name it", EXPAND


def attach(command, name, table, schema, file):
    yield "partition", f"ATTACH PARTITION to {name} reads every row of the partition under a lock", \
        "give the partition a validated CHECK of its bounds first, and say so"


def detach(command, name, table, schema, file):
    yield "partition", f"DETACH PARTITION locks all of {name}", "DETACH PARTITION CONCURRENTLY outside of the migration"


def row_security(command, name, table, schema, file):
    yield "rights", f"{command.subtype.name[3:]} changes which rows of {name} the version before sees", \
        "add the policies first; it must have been tried with the version before"


def rewrite(command, name, table, schema, file):
    yield "rewrite", f"{command.subtype.name[3:]} writes all of {name} anew under an exclusive lock", \
        "make a new table, write both, fill it in batches"


COMMANDS = {
    AT.AT_AddColumn: add_column, AT.AT_AddConstraint: add_constraint, AT.AT_ValidateConstraint: validate,
    AT.AT_SetNotNull: set_not_null, AT.AT_AlterColumnType: column_type, AT.AT_DropColumn: drop_column,
    AT.AT_DropConstraint: drop_constraint, AT.AT_AttachPartition: attach, AT.AT_DetachPartition: detach,
    AT.AT_EnableRowSecurity: row_security, AT.AT_ForceRowSecurity: row_security,
    AT.AT_DisableRowSecurity: row_security, AT.AT_NoForceRowSecurity: row_security,
    AT.AT_SetLogged: rewrite, AT.AT_SetUnLogged: rewrite, AT.AT_SetAccessMethod: rewrite,
    AT.AT_SetTableSpace: rewrite,
}


def index(s, schema, file):
    name = s.relation.relname
    table = schema.table(name)
    if s.concurrent:
        yield "transaction", "CREATE INDEX CONCURRENTLY cannot run in the transaction that each migration is", \
            "run it before the migration, by hand or by a job, and write CREATE INDEX IF NOT EXISTS here"
    elif table and not (table.partitioned and not s.relation.inh):
        instead = concurrently(s)
        if table.partitioned:
            instead = "CREATE INDEX ON ONLY the parent here; then each partition CONCURRENTLY, and ATTACH PARTITION"
        yield "index", f"CREATE INDEX keeps {name} from being written while it is built", instead


def drop(s, schema, file):
    for thing in s.objects:
        names = thing.objname if isinstance(thing, ast.ObjectWithArgs) else thing
        name = last(names.names if isinstance(names, ast.TypeName) else names)
        kind = s.removeType.name[7:].lower()
        if s.removeType == OBJECT.OBJECT_POLICY:
            if schema.table(names[-2].sval):
                yield "rights", f"policy {name} is dropped", \
                    "add the new policy beside it; remove the old one a release later"
        elif s.removeType == OBJECT.OBJECT_INDEX:
            if schema.table(schema.indexes.get(name, UNKNOWN)) and (schema.was(name) or name not in schema.indexes):
                yield "index", f"DROP INDEX {name} locks its table, and what reads by it reads everything", \
                    "DROP INDEX CONCURRENTLY outside of the migration, once nothing needs it"
        elif s.removeType == OBJECT.OBJECT_TABLE:
            if schema.table(name):
                yield "drop", f"table {name} is dropped", EXPAND
        elif s.removeType in (OBJECT.OBJECT_FUNCTION, OBJECT.OBJECT_PROCEDURE):
            if any(function.old for function in schema.functions.get(name, {}).values()):
                yield "drop", f"{kind} {name} is dropped", EXPAND
        elif s.removeType not in (OBJECT.OBJECT_TRIGGER, OBJECT.OBJECT_RULE) and schema.was(name):
            yield "drop", f"{kind} {name} is dropped", EXPAND


def rename(s, schema, file):
    name = s.relation.relname if s.relation else last(
        s.object.objname if isinstance(s.object, ast.ObjectWithArgs) else s.object)
    known = schema.table(name) or schema.was(name) or any(f.old for f in schema.functions.get(name, {}).values())
    if s.renameType in (OBJECT.OBJECT_INDEX, OBJECT.OBJECT_TRIGGER, OBJECT.OBJECT_POLICY):
        return
    if known:
        yield "rename", f"{name}{'.' + s.subname if s.subname else ''} gets another name: " \
            "the version before knows the old", \
            "add the new one beside the old, and remove the old one a release later"


def moved(s, schema, file):
    yield "rename", "an object moves to another schema: the version before does not find it", EXPAND


def create_function(s, schema, file):
    yield "place", f"{last(s.funcname)}() is made by a migration: whoever looks for it does not find it whole", \
        "write it in Functions/, in tables.sql where tables or migrations need it"


def add_enum_value(s, schema, file):
    if s.oldVal:
        yield "rename", f"a value of type {last(s.typeName)} gets another name", "add a value instead"


# Data and locks

def bounded(where, table):
    """Whether a condition names single rows, or takes so many at once."""
    if any(inner.limitCount is not None for inner in parts(where, ast.SelectStmt)):
        return True
    conditions = [where]
    if isinstance(where, ast.BoolExpr) and where.boolop == enums.BoolExprType.AND_EXPR:
        conditions = where.args
    named = set()
    for c in conditions:
        if isinstance(c, ast.A_Expr) and c.name[-1].sval == "=" and isinstance(c.lexpr, ast.ColumnRef):
            values = c.rexpr if isinstance(c.rexpr, tuple) else (c.rexpr,)
            if not any(parts(value, ast.ColumnRef, ast.SubLink) for value in values):
                named.add(last(c.lexpr.fields))
    return any(set(key) <= named for key in table.keys)


def change_rows(s, schema, file):
    table = schema.table(s.relation.relname)
    if table and not (s.whereClause and bounded(s.whereClause, table)):
        verb = "UPDATE" if isinstance(s, ast.UpdateStmt) else "DELETE"
        yield "data", f"{verb} of {s.relation.relname} without a bound: its rows are locked until all are done", BATCHES


def insert_rows(s, schema, file):
    query = s.selectStmt
    if isinstance(query, ast.SelectStmt) and query.limitCount is None:
        # The tables of WITH are within it too.
        sources = {source.relname for source in parts(query, ast.RangeVar) if schema.table(source.relname)}
        if sources:
            yield "data", f"all rows of {', '.join(sorted(sources))} are copied in one transaction", BATCHES


def merge_rows(s, schema, file):
    if schema.table(s.relation.relname):
        yield "data", f"MERGE into {s.relation.relname} without a bound", BATCHES


def lock(s, schema, file):
    for relation in s.relations:
        if schema.table(relation.relname):
            yield "lock", f"LOCK TABLE {relation.relname} keeps others out until the migration ends", \
                "lock the rows that are changed, in the order of the service"


def truncate(s, schema, file):
    for relation in s.relations:
        if schema.table(relation.relname):
            yield "truncate", f"TRUNCATE {relation.relname} locks it and removes what the version before wrote", BATCHES


def maintain(s, schema, file):
    verb = type(s).__name__.removesuffix("Stmt").upper()
    yield "maintenance", f"{verb} locks whole tables, or cannot run in a transaction", \
        "run it outside of the migration: REINDEX CONCURRENTLY, plain VACUUM, pg_repack"


def create_as(s, schema, file):
    sources = {source.relname for source in parts(s.query, ast.RangeVar) if schema.table(source.relname)}
    if sources and getattr(s.query, "limitCount", None) is None:
        yield "data", f"all rows of {', '.join(sorted(sources))} are copied in one transaction", BATCHES


def transaction(s, schema, file):
    yield "transaction", "a migration is one transaction, begun and ended by the migrator", "leave this out"


# Rights

def grant(s, schema, file):
    if s.is_grant:
        return
    for thing in s.objects or ():
        if isinstance(thing, ast.RangeVar):
            name, old = thing.relname, schema.table(thing.relname) or schema.was(thing.relname)
        elif isinstance(thing, ast.ObjectWithArgs):
            name = last(thing.objname)
            old = any(function.old for function in schema.functions.get(name, {}).values())
        else:
            name, old = "a schema or a type", True
        if old:
            yield "rights", f"a right on {name} is taken away: the version before may need it", \
                "take it away a release after nothing needs it"
    if s.targtype == enums.GrantTargetType.ACL_TARGET_ALL_IN_SCHEMA:
        yield "rights", "rights on everything are taken away", "name what it is about"


def role(s, schema, file):
    if not getattr(s, "is_grant", False):
        yield "rights", "a role loses something", "take it away a release after nothing needs it"


def alter_policy(s, schema, file):
    if schema.table(s.table.relname):
        yield "rights", f"policy {s.policy_name} of {s.table.relname} may allow less than before", \
            "add a policy beside it; remove the old one a release later"


def create_policy(s, schema, file):
    if schema.table(s.table.relname) and not s.permissive:
        yield "rights", f"a restrictive policy takes rows of {s.table.relname} from the version before", \
            "add it a release after nothing needs those rows"


RULES = {
    "AlterTableStmt": alter_table, "IndexStmt": index, "DropStmt": drop, "RenameStmt": rename,
    "AlterObjectSchemaStmt": moved, "CreateFunctionStmt": create_function, "AlterEnumStmt": add_enum_value,
    "UpdateStmt": change_rows, "DeleteStmt": change_rows, "InsertStmt": insert_rows, "MergeStmt": merge_rows,
    "LockStmt": lock, "TruncateStmt": truncate, "VacuumStmt": maintain, "ClusterStmt": maintain,
    "ReindexStmt": maintain, "RepackStmt": maintain, "CreateTableAsStmt": create_as, "TransactionStmt": transaction,
    "RefreshMatViewStmt": maintain, "GrantStmt": grant, "GrantRoleStmt": role, "DropOwnedStmt": role,
    "DropRoleStmt": role,
    "AlterPolicyStmt": alter_policy, "CreatePolicyStmt": create_policy,
}

# What waits for everybody who uses a table, and makes everybody wait who comes later.
QUEUES = (ast.AlterTableStmt, ast.IndexStmt, ast.RenameStmt, ast.CreateTrigStmt, ast.CreatePolicyStmt,
          ast.AlterPolicyStmt)


def queues_for(statement, schema):
    """The table that was there before and that a statement locks, or None."""
    if isinstance(statement, QUEUES):
        relation = getattr(statement, "relation", None) or getattr(statement, "table", None)
        if relation is not None and schema.table(relation.relname):
            return relation.relname
    return None
