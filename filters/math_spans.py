"""A text comes in; the stretches that stand in math delimiters go out, money signs told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPENER = re.compile(
    r"\\\$|\$\$|\$|\\\(|\\\[|\\begin\{(?P<env>(?:aligned|align|equation|gather|gathered|multline|eqnarray"
    r"|cases|array|split|[pbvBV]?matrix)\*?)\}"
)
_MONEY = re.compile(r"\$\s?\d[\d,]*(?:\.\d+)?(?!\d)")
_FORMULA = re.compile(r"\\[A-Za-z]|[\^_]")
_PROSE_WORD = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{3,}")
_MATH_WORD = re.compile(
    r"(?:arc)?(?:sin|cos|tan|cot|sec|csc|sinh|cosh|tanh)|sqrt|log|exp|mod|gcd|lcm|max|min|lim|det|deg|and"
    r"|text"
)
_IN_TEXT = re.compile(r"\\(?:text|mbox|mathrm|operatorname|textbf|textit|mathbf)\w*\s*\{[^{}]*\}")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True)
class MathSpan:
    """One delimited stretch: ``start``/``end`` with its delimiters, ``body`` without them."""

    start: int
    end: int
    body: str
    display: bool
    closed: bool


def find_math(text: str) -> list[MathSpan]:
    """Return the delimited stretches of ``text``; an unclosed one runs to the end of its paragraph."""
    return list(_Scanner(text).spans())


class _Scanner:
    """Walks once over the text, and remembers which closers are no longer to be found: linear time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.missing: set[str] = set()
        self.paragraph_end = -1

    def spans(self) -> Iterator[MathSpan]:
        position = 0
        while opener := _OPENER.search(self.text, position):
            span = self._span(opener)
            if span is None:
                position = opener.end()
            else:
                yield span
                position = max(span.end, opener.end())

    def _span(self, opener: re.Match[str]) -> MathSpan | None:
        mark, start, body_start = opener.group(), opener.start(), opener.end()
        if mark == r"\$":
            return None
        if mark == "$":
            return self._inline(start)
        if opener["env"]:
            closer = rf"\end{{{opener['env']}}}"
            end = self._find(closer, body_start)
            if end < 0:
                return None
            return MathSpan(start, end + len(closer), self.text[start : end + len(closer)], True, True)
        closer = {"$$": "$$", r"\(": r"\)", r"\[": r"\]"}[mark]
        end = self._find(closer, body_start)
        display = mark != r"\("
        if end < 0 or (mark == r"\(" and end > self._paragraph_end(start)):
            stop = self._paragraph_end(start)
            return MathSpan(start, stop, self.text[body_start:stop], display, False)
        return MathSpan(start, end + len(closer), self.text[body_start:end], display, True)

    def _inline(self, start: int) -> MathSpan | None:
        """Read ``$...$``; None where the sign is money or stands alone."""
        limit = self._paragraph_end(start)
        end = start + 1
        while True:
            end = self.text.find("$", end, limit)
            if end < 0 or self.text[end - 1] != "\\" or self.text[end - 2 : end] == "\\\\":
                break
            end += 1
        money = _MONEY.match(self.text, start)
        if end < 0:
            if (money and not _FORMULA.search(self.text, start + 1, limit)) or not self.text[
                start + 1 : start + 2
            ].strip():
                return None
            line_end = self.text.find("\n", start, limit)
            stop = line_end if line_end >= 0 else limit
            body = self.text[start + 1 : stop]
            return None if _has_prose(body) else MathSpan(start, stop, body, False, False)
        body = self.text[start + 1 : end]
        if money and money.end() <= end and self._is_money(body, end):
            return None
        return MathSpan(start, end + 1, body, False, True)

    def _is_money(self, body: str, end: int) -> bool:
        after = self.text[end + 1 : end + 2]
        return (body[-1:].isspace() and after.isdigit()) or _has_prose(body)

    def _find(self, closer: str, start: int) -> int:
        if closer in self.missing:
            return -1
        found = self.text.find(closer, start)
        if found < 0:
            self.missing.add(closer)
        return found

    def _paragraph_end(self, position: int) -> int:
        if self.paragraph_end < position:
            blank = _BLANK_LINE.search(self.text, position)
            self.paragraph_end = blank.start() if blank else len(self.text)
        return self.paragraph_end


def _has_prose(body: str) -> bool:
    bare = _IN_TEXT.sub(" ", body)
    return any(not _MATH_WORD.fullmatch(word.group().lower()) for word in _PROSE_WORD.finditer(bare))
