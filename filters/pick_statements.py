"""The statements of one source and the names that are needed come in; those that serve them go out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from .entry_point import Definition, definition_of
from .name_scopes import run_now
from .statements import Statement

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_READERS = frozenset({"input", "exit", "quit", "raw_input"})
_PROCESS_ENDS = frozenset({"exit", "_exit", "abort", "argv", "stdin"})
_PRINTERS = frozenset({"print", "pprint", "check"})
# Calls that set up the interpreter for what follows.
_SETTINGS = frozenset(
    {"setrecursionlimit", "set_int_max_str_digits", "stack_size", "getcontext", "setcontext"}
)
_MODULE_SETTINGS = frozenset({"seed", "seterr", "filterwarnings", "simplefilter", "setlocale"})
# With these in it a program may reach anything by a name that is text.
_DYNAMIC = frozenset({"globals", "eval", "exec", "vars", "locals", "__import__"})


def is_main_guard(node: ast.stmt) -> bool:
    """Tell ``if __name__ == "__main__"``."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def _ends_or_reads(node: ast.stmt) -> bool:
    """Tell a statement that waits for input, reads the command line or ends the process when it runs."""
    for part in run_now(node):
        if isinstance(part, ast.Raise):
            return not isinstance(node, ast.Try)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _READERS:
            return True
        owner = getattr(part.value, "id", "") if isinstance(part, ast.Attribute) else ""
        if owner in ("sys", "os") and getattr(part, "attr", "") in _PROCESS_ENDS:
            return True
    return False


def is_future(statement: Statement) -> bool:
    """Tell ``from __future__ import ...``."""
    return isinstance(statement.node, ast.ImportFrom) and statement.node.module == "__future__"


def is_driver(statement: Statement) -> bool:
    """Tell a statement that only demonstrates or tests: it is never part of the program."""
    node = statement.node
    if isinstance(node, (*DEFINITIONS, *IMPORTS)):
        return False
    return isinstance(node, (ast.Assert, ast.Raise)) or is_main_guard(node) or _ends_or_reads(node)


def _fully_defined(statements: Iterable[Statement]) -> set[str]:
    return {name for s in statements for name in s.names.binds if definition_of(s, name) is Definition.FULL}


class Picker:
    """Picks from one source's statements what the names in ``needed`` ask for."""

    def __init__(self, statements: Sequence[Statement], entry_point: str) -> None:
        self.statements = [s for s in statements if not is_driver(s)]
        self.entry_point = entry_point
        self.full = _fully_defined(self.statements)
        self.picked: set[int] = set()
        self.variables: set[str] = set()
        self.setters = {
            name: s.names.sets
            for s in self.statements
            for name in s.names.binds
            if s.names.sets and not s.names.needs & (_READERS | _PRINTERS | {entry_point})
        }
        self.by_name: dict[str, list[int]] = {}
        for index, statement in enumerate(self.statements):
            names = statement.names
            set_by_calls = {name for called in names.calls for name in self.setters.get(called, ())}
            for name in (
                names.binds
                | names.changes
                | names.handles
                | names.passes
                | set_by_calls
                | self._settings(statement)
            ):
                self.by_name.setdefault(name, []).append(index)

    @staticmethod
    def _settings(statement: Statement) -> frozenset[str]:
        node = statement.node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            name = getattr(called, "attr", getattr(called, "id", ""))
            return frozenset({name} & (_SETTINGS | _MODULE_SETTINGS))
        return frozenset()

    def pick(self, needed: set[str]) -> None:
        """Pick statements for ``needed`` and add to it what they need in turn."""
        queue = [*needed, *_SETTINGS]
        seen = set(queue)
        while queue:
            name = queue.pop()
            for index in self.by_name.get(name, ()):
                if index in self.picked or not self._serves(self.statements[index], name):
                    continue
                self.picked.add(index)
                statement = self.statements[index]
                if not isinstance(statement.node, (*DEFINITIONS, *IMPORTS)):
                    fresh = statement.names.binds - self.variables
                    self.variables |= fresh
                    queue += fresh & seen  # what fills a variable counts once it is known to be one
                new = statement.names.needs - seen
                needed |= statement.names.needs
                seen |= new
                queue += new
        if self.picked:
            self._pick_unnamed(needed)

    def _pick_unnamed(self, needed: set[str]) -> None:
        """Pick what no name asks for: future and star imports, and all of a program that looks names up."""
        dynamic = any(self.statements[index].names.needs & _DYNAMIC for index in self.picked)
        for index, statement in enumerate(self.statements):
            plain = isinstance(statement.node, (*DEFINITIONS, *IMPORTS, *_ASSIGNMENTS))
            stub = definition_of(statement, self.entry_point) is Definition.STUB
            if is_future(statement) or "*" in statement.names.binds or (dynamic and plain and not stub):
                self.picked.add(index)
                needed |= statement.names.needs

    def _serves(self, statement: Statement, name: str) -> bool:
        node, names = statement.node, statement.names
        if name in names.binds:
            defined = definition_of(statement, name)
            if name == self.entry_point:
                return defined is Definition.FULL or (defined is Definition.STUB and name not in self.full)
            return not (defined is Definition.STUB and name in self.full)
        if isinstance(node, ast.Expr):
            return self._call_serves(statement, name)
        return name in names.changes or (name in self.variables and self._alters(statement, name))

    def _alters(self, statement: Statement, name: str) -> bool:
        """Tell whether a call may alter the object ``name``: its method, or a call that is given it."""
        names = statement.names
        shown = names.calls & (_PRINTERS | {self.entry_point})
        return name in names.handles or (name in names.passes and not shown)

    def _call_serves(self, statement: Statement, name: str) -> bool:
        names = statement.names
        if self._is_printed(statement.node) or self.entry_point in names.calls:
            return False
        settings = self._settings(statement)
        if settings & _SETTINGS or (settings & _MODULE_SETTINGS and name in names.handles):
            return True
        if any(name in self.setters.get(called, ()) for called in names.calls):
            return True
        return name in self.variables and self._alters(statement, name)

    @staticmethod
    def _is_printed(node: ast.stmt) -> bool:
        call = node.value if isinstance(node, ast.Expr) else None
        return isinstance(call, ast.Call) and getattr(call.func, "id", "") in _PRINTERS

    def chosen(self) -> list[Statement]:
        """Return what was picked, in the source's order."""
        return [self.statements[index] for index in sorted(self.picked)]
