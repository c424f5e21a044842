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
from .name_scopes import names_of
from .pick_statements import DEFINITIONS, IMPORTS, Picker, is_future
from .statements import Source, Statement, read_source

_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


def _stubs(statement: Statement) -> set[str]:
    return {name for name in statement.names.binds if definition_of(statement, name) is Definition.STUB}


def _bound(statements: Iterable[Statement]) -> set[str]:
    return {name for statement in statements for name in statement.names.binds}


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
    picker = Picker(own, entry_point)
    picker.pick(needed)
    body = picker.chosen()
    if len(body) < len(own):
        repairs.append("left_out_statements")
    before, after = _from_other_blocks(sources, chosen, needed, body, entry_point, corrections=corrections)
    if before or after:
        repairs.append("other_blocks")
    statements = [*before, *body, *after]
    preamble, from_prompt = _preamble(prompt, needed, statements, entry_point)
    repairs += from_prompt
    given = {s.node.name for s in preamble if isinstance(s.node, DEFINITIONS)}
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
        picker = Picker(statements, entry_point)
        picker.pick(open_names)
        found = [s for s in picker.chosen() if entry_point not in s.names.binds]
        needed |= open_names
        bound |= _bound(found)
        wanted = needed - bound - _BUILTINS
        helpers |= _helpers(found, entry_point)
        imports = [s for s in found if index > chosen and isinstance(s.node, IMPORTS)]
        if index < chosen:
            before = [*found, *before]
        else:
            before += imports
            after += [s for s in found if s not in imports]
    return before, after


def _helpers(statements: Iterable[Statement], entry_point: str) -> set[str]:
    return {s.node.name for s in statements if isinstance(s.node, DEFINITIONS)} - {entry_point}


def _redefined(statements: Sequence[Statement], helpers: set[str]) -> set[str]:
    """Find helpers that a later block defines anew: the later one counts."""
    return {
        s.node.name
        for s in statements
        if isinstance(s.node, DEFINITIONS)
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
    helpers = [s for s in given if isinstance(s.node, DEFINITIONS) and not s.names.binds & full]
    for helper in helpers:
        needed |= helper.names.needs
    repairs = ["prompt_helpers"] if helpers else []
    wanted = needed - full - _BUILTINS
    others = [s for s in given if s not in helpers and s.names.binds & wanted]
    known = _bound(others)
    for node in (n for s in source.statements for n in ast.walk(s.node) if isinstance(n, IMPORTS)):
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
    every = sorted([*preamble, *statements], key=lambda s: not is_future(s))
    lines: list[str] = []
    for statement in every:
        if lines and isinstance(statement.node, DEFINITIONS):
            lines += ["", ""]
        lines.append(statement.source)
    return "\n".join(lines) + "\n"
