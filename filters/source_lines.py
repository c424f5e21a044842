"""A line of Python text and the string it starts in go in; where strings and comments stand comes out.

A lexer that never fails: replies hold broken code, so nothing here may depend on a parse.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_MARK = re.compile(r"\"\"\"|'''|\"|'|#|[(\[{]|[)\]}]")
_ENDS = {quote: re.compile(r"\\.|" + quote) for quote in ('"""', "'''", '"', "'")}


@dataclass(frozen=True)
class LineScan:
    """What one line does: the triple quote left open, the change of bracket depth, the text spans.

    ``spans`` are (start, end) of strings and comments, quotes included; the rest is code.
    """

    quote: str | None
    depth: int
    spans: tuple[tuple[int, int], ...]

    def is_code(self, position: int) -> bool:
        """Tell whether the character at ``position`` stands outside strings and comments."""
        return not any(start <= position < end for start, end in self.spans)


def _string_end(line: str, start: int, quote: str) -> int | None:
    """Return where the string that is open at ``start`` ends, None where the line does not end it."""
    for match in _ENDS[quote].finditer(line, start):
        if match.group() == quote:
            return match.end()
    return None


def scan_line(line: str, quote: str | None = None) -> LineScan:
    """Scan one line (no newline in it) that starts inside the triple-quoted string ``quote``, if any."""
    spans: list[tuple[int, int]] = []
    depth = position = 0
    if quote is not None:
        end = _string_end(line, 0, quote)
        if end is None:
            return LineScan(quote, 0, ((0, len(line)),))
        spans.append((0, end))
        position = end
    while match := _MARK.search(line, position):
        mark, position = match.group(), match.end()
        if mark == "#":
            spans.append((match.start(), len(line)))
            break
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        else:
            end = _string_end(line, position, mark)
            spans.append((match.start(), len(line) if end is None else end))
            if end is None:
                return LineScan(mark if len(mark) == 3 else None, depth, tuple(spans))
            position = end
    return LineScan(None, depth, tuple(spans))


def map_code(text: str, change: Callable[[str], str]) -> str:
    """Apply ``change`` to the code of ``text``; strings and comments stay as they are."""
    quote: str | None = None
    lines = []
    for line in text.split("\n"):
        scan = scan_line(line, quote)
        quote = scan.quote
        pieces, position = [], 0
        for start, end in scan.spans:
            pieces += [change(line[position:start]), line[start:end]]
            position = end
        lines.append("".join([*pieces, change(line[position:])]))
    return "\n".join(lines)


def code_only(text: str) -> str:
    """Return ``text`` with strings and comments left out."""
    kept: list[str] = []

    def keep(code: str) -> str:
        kept.append(code)
        return code

    map_code(text, keep)
    return "\n".join(kept)
