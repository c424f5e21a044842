"""A sentence comes in; the mathematical expressions that stand in it without delimiters go out."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FUNCTIONS = frozenset(
    [
        "sqrt",
        "cbrt",
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "log",
        "ln",
        "exp",
        "pi",
        "theta",
        "alpha",
        "beta",
        "phi",
        "infinity",
        "inf",
        "mod",
        "gcd",
        "lcm",
        "floor",
        "ceil",
        "abs",
    ]
)
_TOKEN = re.compile(
    r"(?P<quantity>\d+ (?:hours?|feet|foot|minutes?|pounds?|days?|weeks?|years?)(?:,? and"
    r"|,)? \d+ (?:minutes?|inch(?:es)?|seconds?|ounces?|hours?|months?|days?)\b)|(?P<ordinal>\d+(?:st|nd"
    r"|rd|th)\b)|(?P<time>\d{1,2}:\d{2}(?!\d)(?:\s?[ap]\.?m\b\.?)?)"
    r"|(?P<compound>\d+-(?=[A-Za-z]{2})[A-Za-z-]+)|(?P<mixed>(?<![\d/.])\d+ and \d+/\d+(?= [a-z]))"
    r"|(?P<number>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:[.,]\d+)?|\.\d+)|(?P<latex>\\(?:[A-Za-z]+|[,;:!{}%$#"
    r"| ]))|(?P<op>[-+−–*/^=<>≤≥≠≈±∓×÷·⋅∙⁄∪∩∈√∛∜π∞°%‰²³¹⁰⁴-⁹₀-₉½¼¾⅓⅔⅕⅙⅛|()\[\]{}_,;:'′!∠△∅¢])"
    r"|(?P<word>(?:(?![²³¹⁰⁴-⁹₀-₉])[^\W\d_]){2,}(?:['’][^\W\d_]+)?)|(?P<letter>[^\W\d_])"
    r"|(?P<space>[ \t\n]+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_POWERED_UNIT = re.compile(
    r"[ \t]?(?:sq\.? ?)?(?:in(?:ch(?:es)?)?|ft|feet|foot|cm|mm|km|m|yd|mi|units?|meters?|centimeters?"
    r"|miles?)(?:²|³|\^\{?[23]\}?)"
)
_SYMBOL = re.compile(
    r"[\dπ∞√½¼¾⅓⅔∅]|\\(?:frac|dfrac|tfrac|sqrt|pi|infty|emptyset|mathbb|begin|text|pm|theta)"
)
_MIXED = re.compile(r"(?<![\d/.])(\d+) and (\d+/\d+)$")
_ARTICLES = frozenset("aAI")
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True)
class Candidate:
    """An expression of a sentence that may be the answer, and how it was marked there."""

    start: int
    end: int
    text: str
    mark: str


def find_bare(sentence: str, masked: str) -> list[Candidate]:
    """Return the undelimited expressions of ``sentence``; ``masked`` has the delimited ones overwritten.

    An expression holds a digit or a mathematical sign. Ordinals ("12th") and compounds ("3-digit") name other
    things than values and are left out, unless nothing else would be read.
    """
    found: list[Candidate] = []
    for start, end in _runs(masked):
        for piece_start, piece_end in _pieces(sentence, start, end):
            candidate = _candidate(sentence, piece_start, piece_end)
            if candidate is not None:
                found.append(candidate)
    return found


def _runs(masked: str) -> list[tuple[int, int]]:
    """Find maximal stretches of mathematical tokens."""
    runs: list[tuple[int, int]] = []
    start: int | None = None
    brace_depth = 0
    for token in _TOKEN.finditer(masked):
        kind = token.lastgroup
        mathematical = kind in ("number", "mixed", "latex", "op", "time") or (
            (kind == "letter" and token.group().isascii()) or token.group() in "αβγδθλμπρσφω∞"
        )
        if kind == "word":
            word = token.group()
            mathematical = (
                word in _FUNCTIONS
                or word.lower() == "pi"
                or (word.isupper() and word.isascii() and len(word) < 4)
            ) or (brace_depth > 0)
        if kind == "space":
            mathematical = start is not None
        if kind in ("ordinal", "quantity"):
            runs.append((token.start(), token.end()))
        if mathematical:
            start = token.start() if start is None else start
            if kind == "op":
                brace_depth += (token.group() == "{") - (token.group() == "}")
            continue
        if start is not None:
            runs.append((start, token.start()))
        start, brace_depth = None, 0
    if start is not None:
        runs.append((start, len(masked)))
    return runs


def _pieces(sentence: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a run at commas, semicolons and colons outside brackets."""
    pieces: list[tuple[int, int]] = []
    depth = 0
    position = start
    for index in range(start, end):
        sign = sentence[index]
        if sign in _OPEN:
            depth += 1
        elif sign in _CLOSE:
            depth = max(0, depth - 1)
        elif depth == 0 and sign in ",;:" and not sentence[index + 1 : index + 2].isdigit():
            if sentence[index - 1 : index] == "\\":
                continue
            pieces.append((position, index))
            position = index + 1
    pieces.append((position, end))
    return pieces


def _candidate(sentence: str, start: int, end: int) -> Candidate | None:
    start, end = _trim(sentence, start, end)
    text = sentence[start:end]
    if not text or not (_SYMBOL.search(text) or re.search(r"[A-Za-z)]\s*=\s*[-A-Za-z(]", text)):
        return None
    if re.fullmatch(r"[-+*/=|(){}\[\]^_<>\s]*", text):
        return None
    unit = _POWERED_UNIT.match(sentence, end)
    if unit and text[-1:].isdigit():
        end = unit.end()
        text = sentence[start:end]
    return Candidate(start, end, _MIXED.sub(r"\1 \2", text), "bare")


def _trim(sentence: str, start: int, end: int) -> tuple[int, int]:
    """Drop spaces, loose signs, articles and unmatched brackets from both ends."""
    while True:
        before = (start, end)
        while start < end and sentence[start] in " \t\n,;:=*/|+_'!)]}<>^–":
            start += 1
        while start < end and sentence[end - 1] in " \t\n,;:=*/+-−_'([{<>^–\\":
            end -= 1
        first = sentence[start : start + 2]
        if (
            end - start > 1
            and first[0] in _ARTICLES
            and first[1] in " \t\n"
            and not _joins(sentence, start + 1, end)
        ):
            start += 1
        last = sentence[max(start, end - 2) : end]
        if len(last) == 2 and last[0] in " \t\n" and last[1].isalpha() and last[1].isascii():
            end -= 1
        start, end = _balance(sentence, start, end)
        if (start, end) == before:
            return start, end


def _joins(sentence: str, index: int, end: int) -> bool:
    rest = sentence[index:end].lstrip()
    return bool(rest) and rest[0] in "=<>≤≥≠+*/^_∈×·≈"


def _balance(sentence: str, start: int, end: int) -> tuple[int, int]:
    """Cut at the first closing bracket without an opener; drop an opener that is never closed."""
    stack: list[int] = []
    for index in range(start, end):
        sign = sentence[index]
        if sentence[index - 1 : index] == "\\" and sign in "{}":
            continue
        if sign in _OPEN:
            stack.append(index)
        elif sign in _CLOSE:
            if not stack:
                return (index + 1, end) if index - start < (end - start) // 2 else (start, index)
            stack.pop()
        elif sign == "|" and index == end - 1 and sentence.count("|", start, end) == 1:
            return start, index
    if stack and stack[0] == start:
        return start + 1, end
    return (start, stack[0]) if stack else (start, end)
