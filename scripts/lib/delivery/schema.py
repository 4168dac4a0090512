"""What a database has after its migrations, as far as judging the next one needs it: read from their statements."""

import re

from pglast import ast, enums, stream

from bodies import UNKNOWN, last, parts

AT = enums.AlterTableType
CON = enums.ConstrType


def type_text(name):
    return stream.RawStream()(name)


class Table:
    def __init__(self, columns=(), partitioned=False):
        self.columns = dict(columns)
        self.partitioned = partitioned
        # Columns that together tell one row apart.
        self.keys = set()
        # Names of constraints -> (kind, expression or None, whether all rows were looked at, the file that added it).
        self.constraints = {}
        self.old = False

    def known_not_null(self, column):
        """Whether a checked constraint says that a column has no null."""
        return any(kind == CON.CONSTR_CHECK and valid and re.fullmatch(rf'\(?"?{column}"? IS NOT NULL\)?', text or "")
                   for kind, text, valid, _ in self.constraints.values())


class Function:
    def __init__(self, node):
        options = {option.defname: option.arg for option in node.options or ()}
        self.arguments = tuple(type_text(p.argType) for p in node.parameters or ()
                               if p.mode.value not in ("o", "t"))
        self.returns = type_text(node.returnType) if node.returnType else ""
        self.language = getattr(options.get("language"), "sval", "sql")
        self.volatile = getattr(options.get("volatility"), "sval", "volatile") == "volatile"
        body = options.get("as") or ()
        self.body = body[0].sval if body else ""
        self.old = False


class Schema:
    def __init__(self):
        self.tables, self.functions, self.indexes, self.types, self.views = {}, {}, {}, set(), set()
        # How functions of the version before make rows by position: table or type -> [(function, how)].
        self.whole_rows = {}

    def settle(self):
        """From now on all of it counts as there before: a running version uses it."""
        for table in self.tables.values():
            table.old = True
        for overloads in self.functions.values():
            for function in overloads.values():
                function.old = True
        self.old_names = set(self.types) | self.views | set(self.indexes)

    def table(self, name):
        """A table that was there before, or None."""
        if name == UNKNOWN:
            table = Table()
            table.old = True
            return table
        found = self.tables.get(name)
        return found if found and found.old else None

    def was(self, name):
        return name in getattr(self, "old_names", ())

    def volatile_calls(self, node):
        """Names of functions within an expression whose value differs from row to row."""
        stable = {"now", "current_setting", "coalesce", "lower", "upper", "md5", "sha256", "encode", "decode",
                  "to_char",
                  "date_trunc", "timezone", "make_interval", "nullif", "jsonb_build_object", "array_fill"}
        for call in parts(node, ast.FuncCall):
            name = last(call.funcname)
            known = self.functions.get(name)
            if any(f.volatile for f in known.values()) if known else name not in stable:
                yield name

    # What a statement does

    def apply(self, statement, file):
        method = getattr(self, f"do_{type(statement).__name__}", None)
        if method:
            method(statement, file)

    def do_CreateStmt(self, s, file):
        table = Table(partitioned=s.partspec is not None)
        for element in s.tableElts or ():
            if isinstance(element, ast.ColumnDef):
                self.add_column(s.relation.relname, table, element, file)
            elif isinstance(element, ast.Constraint):
                self.add_constraint(s.relation.relname, table, element, file)
        for parent in s.inhRelations or ():
            table.columns |= getattr(self.tables.get(parent.relname), "columns", {})
        if not (s.if_not_exists and s.relation.relname in self.tables):
            self.tables[s.relation.relname] = table

    def do_CreateTableAsStmt(self, s, _):
        self.tables[s.into.rel.relname] = Table()

    def add_column(self, name, table, column, file):
        table.columns[column.colname] = type_text(column.typeName)
        for constraint in column.constraints or ():
            if constraint.contype in (CON.CONSTR_PRIMARY, CON.CONSTR_UNIQUE):
                table.keys.add((column.colname,))
            self.add_constraint(name, table, constraint, file, column.colname)

    def add_constraint(self, name, table, c, file, column=None):
        kinds = {CON.CONSTR_PRIMARY: "pkey", CON.CONSTR_UNIQUE: "key", CON.CONSTR_CHECK: "check",
                 CON.CONSTR_FOREIGN: "fkey", CON.CONSTR_EXCLUSION: "excl"}
        if c.contype not in kinds:
            return
        columns = tuple(key.sval for key in c.keys or c.fk_attrs or ()) or ((column,) if column else ())
        if c.contype in (CON.CONSTR_PRIMARY, CON.CONSTR_UNIQUE) and columns:
            table.keys.add(columns)
        middle = () if c.contype == CON.CONSTR_PRIMARY else columns
        text = stream.RawStream()(c.raw_expr) if c.raw_expr else None
        title = c.conname or "_".join((name, *middle, kinds[c.contype]))
        table.constraints[title] = (c.contype, text, not c.skip_validation, file)

    def do_AlterTableStmt(self, s, file):
        table = self.tables.get(s.relation.relname)
        for command in s.cmds if table else ():
            if command.subtype == AT.AT_AddColumn:
                self.add_column(s.relation.relname, table, command.def_, file)
            elif command.subtype == AT.AT_DropColumn:
                table.columns.pop(command.name, None)
            elif command.subtype == AT.AT_AlterColumnType:
                table.columns[command.name] = type_text(command.def_.typeName)
            elif command.subtype == AT.AT_AddConstraint:
                self.add_constraint(s.relation.relname, table, command.def_, file)
            elif command.subtype == AT.AT_ValidateConstraint and command.name in table.constraints:
                kind, text, _, _ = table.constraints[command.name]
                table.constraints[command.name] = (kind, text, True, file)
            elif command.subtype == AT.AT_DropConstraint:
                table.constraints.pop(command.name, None)

    def do_RenameStmt(self, s, _):
        if s.renameType == enums.ObjectType.OBJECT_TABLE and s.relation.relname in self.tables:
            self.tables[s.newname] = self.tables.pop(s.relation.relname)
        elif s.renameType == enums.ObjectType.OBJECT_COLUMN and s.relation.relname in self.tables:
            columns = self.tables[s.relation.relname].columns
            columns[s.newname] = columns.pop(s.subname, "")

    def do_DropStmt(self, s, _):
        for thing in s.objects:
            names = thing.objname if isinstance(thing, ast.ObjectWithArgs) else thing
            if isinstance(names, ast.TypeName):
                names = names.names
            name = last(names)
            for place in (self.tables, self.indexes):
                place.pop(name, None)
            if s.removeType in (enums.ObjectType.OBJECT_FUNCTION, enums.ObjectType.OBJECT_PROCEDURE):
                overloads = self.functions.get(name, {})
                given = tuple(type_text(t) for t in getattr(thing, "objargs", None) or ())
                overloads.pop(given if given in overloads else next(iter(overloads), None), None)
                if not overloads:
                    self.functions.pop(name, None)

    def do_IndexStmt(self, s, _):
        self.indexes[s.idxname] = s.relation.relname
        if s.unique and not s.whereClause and s.relation.relname in self.tables:
            columns = tuple(element.name for element in s.indexParams)
            if all(columns):
                self.tables[s.relation.relname].keys.add(columns)

    def do_CreateFunctionStmt(self, s, _):
        function = Function(s)
        overloads = self.functions.setdefault(last(s.funcname), {})
        known = overloads.get(function.arguments)
        function.old = bool(known and known.old)
        overloads[function.arguments] = function

    def do_CreateEnumStmt(self, s, _):
        self.types.add(last(s.typeName))

    def do_CompositeTypeStmt(self, s, _):
        self.types.add(s.typevar.relname)

    def do_CreateDomainStmt(self, s, _):
        self.types.add(last(s.domainname))

    def do_ViewStmt(self, s, _):
        self.views.add(s.view.relname)
