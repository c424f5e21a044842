"""A value in, a short text of it out that is the same in every run (no addresses, no order of sets)."""

from __future__ import annotations

import re

MAX_TEXT = 200
MAX_ITEMS = 12
MAX_INT_BITS = 1_000
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")


def shorten(value: object, room: int = MAX_TEXT) -> str:
    """Give a ``repr``-like text of at most ``room`` characters."""
    text = _render(value, 4)
    return text if len(text) <= room else text[: room - 3] + "..."


def shorten_arguments(arguments: list[object] | tuple[object, ...]) -> str:
    """Give the arguments of one call as they would stand between its parentheses."""
    text = ", ".join(_render(argument, 4) for argument in arguments)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."


def scrub(text: str) -> str:
    """Shorten a message that a program wrote, and take memory addresses out of it."""
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * MAX_TEXT])
    return _ADDRESS.sub("0x...", printable)[:MAX_TEXT]


def _render(value: object, depth: int) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, (float, complex)):
        return repr(value)
    if isinstance(value, int):
        return repr(value) if value.bit_length() <= MAX_INT_BITS else f"<int of {value.bit_length()} bits>"
    if isinstance(value, (str, bytes)):
        return repr(value) if len(value) <= MAX_TEXT else repr(value[:MAX_TEXT]) + f"... ({len(value)} long)"
    if depth == 0:
        return "..."
    if isinstance(value, dict):
        parts = [
            f"{_render(k, depth - 1)}: {_render(v, depth - 1)}" for k, v in list(value.items())[:MAX_ITEMS]
        ]
        return "{" + _joined(parts, len(value)) + "}"
    if isinstance(value, (set, frozenset)):
        parts = sorted(_render(part, depth - 1) for part in value)[:MAX_ITEMS]
        return ("{" + _joined(parts, len(value)) + "}") if value else f"{type(value).__name__}()"
    if isinstance(value, (list, tuple)):
        parts = [_render(part, depth - 1) for part in value[:MAX_ITEMS]]
        if isinstance(value, list):
            return "[" + _joined(parts, len(value)) + "]"
        return "(" + _joined(parts, len(value)) + (",)" if len(value) == 1 else ")")
    text = repr(value)
    return scrub(text)


def _joined(parts: list[str], count: int) -> str:
    return ", ".join(parts) + (f", ... ({count} in all)" if count > len(parts) else "")
