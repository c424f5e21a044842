"""The text of a block comes in; its module-level statements go out, prose and broken pieces left aside."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from .mend_source import mend, parse
from .name_scopes import Names, names_of
from .source_lines import scan_line

_CONTINUES = re.compile(r"(?:else|elif|except|finally|case)\b|[)\]}]")
_RESTARTS = re.compile(r"(?:def|class|import|from|async def)\b |@\w")
# A chunk whose end is cut away line by line to find the part that parses.
_TRIMS = 25
_TRIMS_OF_LONG = 5
_LONG = 20_000


@dataclass(frozen=True, eq=False)
class Statement:
    """One module-level statement: its text, its node and what it does to names."""

    source: str
    node: ast.stmt
    names: Names


@dataclass(frozen=True)
class Source:
    """What was read from a text: its statements, whether all of it parsed, the mends, if a tail was cut."""

    statements: tuple[Statement, ...]
    text: str
    whole: bool
    mends: tuple[str, ...] = ()
    trimmed: bool = False
    broken: tuple[str, ...] = ()


def read_source(text: str, *, open_end: bool = False) -> Source:
    """Read the statements of ``text``; an ``open_end`` (a cut-off text) may be trimmed to what parses."""
    text, tree, mends = mend(text)
    if tree is not None:
        return Source(_statements(text, tree), text, True, mends)
    chunks = _chunks(text)
    found: list[Statement] = []
    broken: list[str] = []
    trimmed = False
    for number, chunk in enumerate(chunks):
        part = parse(chunk)
        if part is None and open_end and number == len(chunks) - 1:
            shorter = trim_tail(chunk)
            if shorter is not None:
                chunk, part, trimmed = shorter, parse(shorter), True
        if part is not None:
            found += _statements(chunk, part)
        elif re.search(r"^[ \t]*(?:def|class|async def|@)", chunk):
            broken.append(chunk)
        trimmed = trimmed or (part is None and open_end and number == len(chunks) - 1)
    return Source(tuple(found), text, False, mends, trimmed, tuple(broken))


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _statements(text: str, tree: ast.Module) -> tuple[Statement, ...]:
    lines = text.split("\n")
    groups: list[list[ast.stmt]] = []
    last = 0
    for node in tree.body:
        if groups and _first_line(node) <= last:
            groups[-1].append(node)
        else:
            groups.append([node])
        last = max(last, node.end_lineno or node.lineno)
    found = []
    for group in groups:
        for node in group:
            if len(group) == 1:
                source = "\n".join(lines[_first_line(node) - 1 : node.end_lineno])
            else:
                source = ast.unparse(node)  # statements that share a line
            found.append(Statement(source, node, names_of(node)))
    return tuple(found)


def _chunks(text: str) -> list[str]:
    """Split ``text`` before each line that starts a module-level statement."""
    chunks: list[list[str]] = []
    quote: str | None = None
    depth = 0
    joins = False
    for line in text.split("\n"):
        inside = quote is not None or depth > 0
        restarts = bool(_RESTARTS.match(line)) and quote is None
        starts = bool(line.strip()) and line[0] not in " \t" and not _CONTINUES.match(line)
        if not chunks or (starts and not joins and (restarts or not inside)):
            chunks.append([])
            depth = 0
        chunks[-1].append(line)
        scan = scan_line(line, quote)
        quote = scan.quote
        depth = max(0, depth + scan.depth)
        joins = line.startswith("@") and depth == 0 and quote is None
    return ["\n".join(chunk).rstrip() for chunk in chunks if "".join(chunk).strip()]


def trim_tail(chunk: str) -> str | None:
    """Cut lines off the end of ``chunk`` until it parses; None where nothing but a header is left."""
    lines = chunk.split("\n")
    for _ in range(_TRIMS if len(chunk) < _LONG else _TRIMS_OF_LONG):
        try:
            ast.parse("\n".join(lines))
            return "\n".join(lines)
        except SyntaxError as fault:
            keep = min((fault.lineno or len(lines)) - 1, len(lines) - 1)
        except (ValueError, RecursionError, MemoryError, OverflowError):
            return None
        lines = lines[:keep]
        if not "".join(lines).strip():
            return None
    return None
