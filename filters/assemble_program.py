"""The sources of a reply and the one that defines the function come in; a self-contained program goes out.

Only what the function needs is kept: what it reads, directly or through what it calls, and the statements
that fill or set those things. Prints, asserts, demonstrations and main guards are left out, so that they can
neither fail a right program nor take its time. A name that the chosen source leaves open is looked for in
earlier sources (nearest first), in later ones, then in the prompt.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence

from .entry_point import Definition, definition_of
from .name_scopes import names_of, run_now
from .statements import Source, Statement, read_source

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_READERS = frozenset({"input", "exit", "quit", "raw_input"})
_PROCESS_ENDS = frozenset({"exit", "_exit", "abort", "argv", "stdin"})
_PRINTERS = frozenset({"print", "pprint", "check"})
# Calls that set up the interpreter for what follows.
_SETTINGS = frozenset(
    {"setrecursionlimit", "set_int_max_str_digits", "stack_size", "getcontext", "setcontext"}
)
_MODULE_SETTINGS = frozenset({"seed", "seterr", "filterwarnings", "simplefilter", "setlocale"})
_DYNAMIC = frozenset({"globals", "eval", "exec", "vars", "locals", "__import__", "getattr"})
_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


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


def _is_future(statement: Statement) -> bool:
    return isinstance(statement.node, ast.ImportFrom) and statement.node.module == "__future__"


def is_driver(statement: Statement) -> bool:
    """Tell a statement that only demonstrates or tests: it is never part of the program."""
    node = statement.node
    if isinstance(node, (*_DEFINITIONS, *_IMPORTS)):
        return False
    return isinstance(node, (ast.Assert, ast.Raise)) or is_main_guard(node) or _ends_or_reads(node)


def _fully_defined(statements: Iterable[Statement]) -> set[str]:
    return {name for s in statements for name in s.names.binds if definition_of(s, name) is Definition.FULL}


class _Picker:
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
                names.binds | names.changes | names.handles | set_by_calls | self._settings(statement)
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
                if not isinstance(statement.node, (*_DEFINITIONS, *_IMPORTS)):
                    fresh = statement.names.binds - self.variables
                    self.variables |= fresh
                    queue += fresh & seen  # what fills a variable counts once it is known to be one
                new = statement.names.needs - seen
                needed |= statement.names.needs
                seen |= new
                queue += new
        for index, statement in enumerate(self.statements):
            if self.picked and (_is_future(statement) or "*" in statement.names.binds):
                self.picked.add(index)

    def _serves(self, statement: Statement, name: str) -> bool:
        node, names = statement.node, statement.names
        if name in names.binds:
            defined = definition_of(statement, name)
            if name == self.entry_point:
                return defined is Definition.FULL or (defined is Definition.STUB and name not in self.full)
            return not (defined is Definition.STUB and name in self.full)
        if isinstance(node, ast.Expr):
            return self._call_serves(statement, name)
        return name in names.changes or (name in names.handles and name in self.variables)

    def _call_serves(self, statement: Statement, name: str) -> bool:
        names = statement.names
        if self._is_printed(statement.node) or self.entry_point in names.calls:
            return False
        settings = self._settings(statement)
        if settings & _SETTINGS or (settings & _MODULE_SETTINGS and name in names.handles):
            return True
        if any(name in self.setters.get(called, ()) for called in names.calls):
            return True
        return name in names.handles and name in self.variables

    @staticmethod
    def _is_printed(node: ast.stmt) -> bool:
        call = node.value if isinstance(node, ast.Expr) else None
        return isinstance(call, ast.Call) and getattr(call.func, "id", "") in _PRINTERS

    def chosen(self) -> list[Statement]:
        return [self.statements[index] for index in sorted(self.picked)]


def _stubs(statement: Statement) -> set[str]:
    return {name for name in statement.names.binds if definition_of(statement, name) is Definition.STUB}


def _bound(statements: Iterable[Statement]) -> set[str]:
    return {name for statement in statements for name in statement.names.binds}


def _is_dynamic(statements: Iterable[Statement]) -> bool:
    return any(s.names.needs & (_DYNAMIC - {"getattr"}) for s in statements)


def assemble(
    sources: Sequence[Source],
    chosen: int,
    *,
    prompt: str,
    entry_point: str,
    binding: str | None = None,
    corrections: bool = True,
) -> tuple[str, tuple[str, ...]]:
    """Return the program around ``sources[chosen]`` and what was added or left out to make it.

    ``binding`` is a line that makes a method the module's function. With ``corrections``, a helper that a
    later source defines anew counts as that source has it. Time is linear in the text.
    """
    repairs: list[str] = []
    needed = {entry_point}
    own = list(sources[chosen].statements)
    if binding:
        own = [s for s in own if definition_of(s, entry_point) is not Definition.STUB]
        own.append(bind_statement(binding))
        repairs.append("bound_method")
    picker = _Picker(own, entry_point)
    picker.pick(needed)
    body = picker.chosen()
    if _is_dynamic(body):
        body = picker.statements
        needed |= {name for s in body for name in s.names.needs}
    if len(body) < len(own):
        repairs.append("left_out_statements")
    before, after = _from_other_blocks(sources, chosen, needed, body, entry_point, corrections=corrections)
    if before or after:
        repairs.append("other_blocks")
    statements = [*before, *body, *after]
    preamble, from_prompt = _preamble(prompt, needed, statements, entry_point)
    repairs += from_prompt
    given = {s.node.name for s in preamble if isinstance(s.node, _DEFINITIONS)}
    kept = [s for s in statements if not _stubs(s) & given]
    return _write(preamble, kept), tuple(repairs)


def bind_statement(line: str) -> Statement:
    """Make a statement of a line of ours."""
    node = ast.parse(line).body[0]
    return Statement(line, node, names_of(node))


def _from_other_blocks(
    sources: Sequence[Source],
    chosen: int,
    needed: set[str],
    body: list[Statement],
    entry_point: str,
    *,
    corrections: bool,
) -> tuple[list[Statement], list[Statement]]:
    before: list[Statement] = []
    after: list[Statement] = []
    bound = _bound(body) | {entry_point}
    wanted = needed - bound - _BUILTINS
    helpers = _helpers(body, entry_point)
    for index in [*range(chosen - 1, -1, -1), *range(chosen + 1, len(sources))]:
        statements = sources[index].statements
        again = _redefined(statements, helpers) if index > chosen and corrections else set()
        if not again and not any(not wanted.isdisjoint(s.names.binds) for s in statements):
            continue
        open_names = wanted | again
        picker = _Picker(statements, entry_point)
        picker.pick(open_names)
        found = [s for s in picker.chosen() if entry_point not in s.names.binds]
        needed |= open_names
        bound |= _bound(found)
        wanted = needed - bound - _BUILTINS
        helpers |= _helpers(found, entry_point)
        imports = [s for s in found if index > chosen and isinstance(s.node, _IMPORTS)]
        if index < chosen:
            before = [*found, *before]
        else:
            before += imports
            after += [s for s in found if s not in imports]
    return before, after


def _helpers(statements: Iterable[Statement], entry_point: str) -> set[str]:
    return {s.node.name for s in statements if isinstance(s.node, _DEFINITIONS)} - {entry_point}


def _redefined(statements: Sequence[Statement], helpers: set[str]) -> set[str]:
    """Find helpers that a later block defines anew: the later one counts."""
    return {
        s.node.name
        for s in statements
        if isinstance(s.node, _DEFINITIONS)
        and s.node.name in helpers
        and definition_of(s, s.node.name) is Definition.FULL
    }


def _preamble(
    prompt: str, needed: set[str], statements: list[Statement], entry_point: str
) -> tuple[list[Statement], list[str]]:
    """Take from the prompt its helpers and the imports that the program leaves open."""
    source = read_source(prompt, open_end=True)
    full = {n for s in statements for n in s.names.binds if definition_of(s, n) is not Definition.STUB}
    given = [s for s in source.statements if entry_point not in s.names.binds]
    helpers = [s for s in given if isinstance(s.node, _DEFINITIONS) and not s.names.binds & full]
    for helper in helpers:
        needed |= helper.names.needs
    repairs = ["prompt_helpers"] if helpers else []
    wanted = needed - full - _BUILTINS
    others = [s for s in given if s not in helpers and s.names.binds & wanted]
    known = _bound(others)
    for node in (n for s in source.statements for n in ast.walk(s.node) if isinstance(n, _IMPORTS)):
        line = ast.unparse(node)
        inner = bind_statement(line)
        if inner.names.binds & (wanted - known):
            others.append(inner)
            known |= inner.names.binds
    if others:
        repairs.insert(0, "prompt_imports")
    return [*others, *helpers], repairs


def _write(preamble: list[Statement], statements: list[Statement]) -> str:
    """Write the program, ``__future__`` imports first."""
    every = sorted([*preamble, *statements], key=lambda s: not _is_future(s))
    lines: list[str] = []
    for statement in every:
        if lines and isinstance(statement.node, _DEFINITIONS):
            lines += ["", ""]
        lines.append(statement.source)
    return "\n".join(lines) + "\n"
