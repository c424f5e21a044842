"""A prompt and a reply that goes on where it ends come in; the completed function goes out as text."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass

from .code_blocks import glued_fence
from .mend_source import mend, parse
from .source_lines import scan_line
from .statements import trim_tail

_RESTATES = re.compile(r"(?:async def|def|class|import|from)\b |@\w|`{3,}|~{3,}|#{1,6} \w|<\w+>")
_USES = re.compile(r"(?:print|assert|input)\b|if __name__")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")


@dataclass(frozen=True)
class Continuation:
    """A completed function: its ``text`` (prompt included), what came after it, what was mended."""

    text: str
    rest: str
    mends: tuple[str, ...]
    trimmed: bool


def split_body(reply: str) -> tuple[str, str]:
    """Split ``reply`` where the function that it goes on with ends: where its indentation ends."""
    lines = reply.split("\n")
    quote: str | None = None
    depth = 0
    begun = False
    comments = 0
    for number, line in enumerate(lines):
        scan = scan_line(line, quote)
        if quote is None and _FENCE.match(line):
            return _cut(lines, number - comments)
        outside = bool(line.strip()) and line[0] not in " \t"
        if outside and quote is None and depth <= 0:
            if line.startswith("#"):
                comments += 1
                continue
            if begun or _RESTATES.match(line):
                return _cut(lines, number - comments)
        split = glued_fence(line)
        if split is not None and scan.is_code(split):
            return _cut([*lines[:number], line[:split], line[split:], *lines[number + 1 :]], number + 1)
        if line.strip():
            comments = 0
            begun = True
        quote, depth = scan.quote, max(0, depth + scan.depth)
    return reply, ""


def _cut(lines: list[str], number: int) -> tuple[str, str]:
    return "\n".join(lines[:number]), "\n".join(lines[number:])


def _variants(prompt: str, body: str) -> list[tuple[str, str]]:
    """List the ways to read the body's indentation, the plain one first."""
    glue = prompt if prompt.endswith("\n") else prompt + "\n"
    lead = _body_lead(prompt)
    lines = body.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    stripped = [*lines[:first], lead + lines[first].lstrip(), *lines[first + 1 :]]
    later = [line for line in lines[first + 1 :] if line.strip() and line.lstrip()[0] != "#"]
    tail_lead = later[0][: len(later[0]) - len(later[0].lstrip())] if later else lead
    same = [*lines[:first], tail_lead + lines[first].lstrip(), *lines[first + 1 :]]
    even = textwrap.dedent("\n".join(line.expandtabs(8) for line in lines))
    even_same = textwrap.dedent("\n".join(line.expandtabs(8) for line in same))
    return [
        ("", glue + body),
        ("indentation", glue + "\n".join(stripped)),
        ("indentation", glue + textwrap.indent(even, lead)),
        ("indentation", glue + textwrap.indent(even_same, lead)),
    ]


def _body_lead(prompt: str) -> str:
    last = next((line for line in reversed(prompt.split("\n")) if line.strip()), "")
    return last[: len(last) - len(last.lstrip())] or "    "


def complete(prompt: str, reply: str) -> Continuation | None:
    """Return the prompt's function as ``reply`` completes it; None where the reply does not go on with it."""
    body, rest = split_body(reply)
    if not body.strip():
        return None
    level = _unindented(prompt, reply) if body.lstrip("\n")[:1] not in (" ", "\t") else None
    if level is not None:
        return level
    for name, text in _variants(prompt, body):
        if parse(text) is not None and _adds_to(prompt, text):
            return Continuation(text, rest, (name,) if name else (), False)
    mended, tree, mends = mend(body)
    for name, text in _variants(prompt, mended) if tree is not None else ():
        if parse(text) is not None and _adds_to(prompt, text):
            return Continuation(text, rest, (*mends, *([name] if name else [])), False)
    glue = prompt if prompt.endswith("\n") else prompt + "\n"
    shorter = trim_tail(glue + body) if not rest.strip() else None
    if shorter is not None and len(shorter) > len(glue.rstrip()) and _adds_to(prompt, shorter):
        return Continuation(shorter, rest, mends, True)
    return None


def _unindented(prompt: str, reply: str) -> Continuation | None:
    """Read a body of several statements that lost one level of indentation."""
    lines = reply.split("\n")
    end = next((n for n, line in enumerate(lines) if _RESTATES.match(line) or _USES.match(line)), len(lines))
    glue = prompt if prompt.endswith("\n") else prompt + "\n"
    lead = _body_lead(prompt)
    text = trim_tail(glue + textwrap.indent("\n".join(lines[:end]), lead))
    kept = text[len(glue) :].split("\n") if text is not None else []
    if (
        text is None
        or not _adds_to(prompt, text)
        or not any(line.startswith(lead + "return") for line in kept[1:])
    ):
        return None
    return Continuation(text, "\n".join(lines[len(kept) :]), ("indentation",), False)


def _adds_to(prompt: str, text: str) -> bool:
    """Tell whether the last function of the prompt got a body by ``text`` and nothing stands beside it."""
    before = parse(prompt) or parse(prompt.rstrip() + "\n    pass\n")
    after = parse(text)
    if before is None or after is None or len(after.body) != len(before.body):
        return False
    last, old = after.body[-1], before.body[-1]
    return isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(old, ast.FunctionDef)
