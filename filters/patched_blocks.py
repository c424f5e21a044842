"""The blocks of a reply come in; a diff among them goes out as the program that it makes of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .code_blocks import Block

# How many blocks back a diff may reach, and how many lines a hunk may have.
_REACH = 4
_LONGEST = 200


def apply_patches(blocks: Sequence[Block]) -> list[Block]:
    """Replace each block that is a diff of an earlier one by that block as it reads with the change.

    A diff that fits no earlier block stays as it is.
    """
    done: list[Block] = []
    for block in blocks:
        hunks = _hunks(block.text)
        base = next(
            (b for b in reversed(done[-_REACH:]) if hunks and _patched(b.text, hunks) is not None), None
        )
        if base is None:
            done.append(block)
        else:
            text = _patched(base.text, hunks) or ""
            done.append(replace(block, language="python", text=text))
    return done


def _hunks(text: str) -> list[tuple[list[str], list[str]]]:
    """Return (old lines, new lines) of each hunk; empty where ``text`` is no diff that takes lines away."""
    hunks: list[tuple[list[str], list[str]]] = [([], [])]
    marks = set()
    for line in text.split("\n"):
        if line.startswith(("@@", "+++", "---", "diff ", "index ")):
            hunks.append(([], []))
            continue
        if line.strip() and line[0] not in "+- ":
            return []
        marks.add(line[:1])
        if not line.startswith("+"):
            hunks[-1][0].append(line[1:])
        if not line.startswith("-"):
            hunks[-1][1].append(line[1:])
    return [_trimmed(hunk) for hunk in hunks if any(map(str.strip, hunk[0]))] if {"-", "+"} <= marks else []


def _trimmed(hunk: tuple[list[str], list[str]]) -> tuple[list[str], list[str]]:
    old, new = hunk
    while old and new and not old[-1].strip() and not new[-1].strip():
        old, new = old[:-1], new[:-1]
    return old, new


def _patched(text: str, hunks: Sequence[tuple[list[str], list[str]]]) -> str | None:
    """Apply ``hunks`` to ``text``; None where one is not found. Indentation may differ by a margin."""
    lines = text.split("\n")
    for old, new in hunks:
        place = _find(lines, old)
        if place is None:
            return None
        first = next(number for number, line in enumerate(old) if line.strip())
        shift = _lead(lines[place + first])[len(_lead(old[first])) :]
        lines[place : place + len(old)] = [shift + line if line.strip() else line for line in new]
    return "\n".join(lines)


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _find(lines: Sequence[str], old: Sequence[str]) -> int | None:
    if len(old) > _LONGEST:
        return None
    wanted = [line.strip() for line in old]
    have = [line.strip() for line in lines]
    first = wanted[0]
    for place, line in enumerate(have):
        if line == first and have[place : place + len(wanted)] == wanted:
            return place
    return None
