"""A text comes in; its paragraphs and sentences go out, mathematics kept whole."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .math_spans import MathSpan, find_math

_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+|\n[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*(?:\n|$)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:i\.e|e\.g|a\.m|p\.m|cf|vs|approx|resp|Ans|No|Eq|Fig|Mr|Mrs|Ms|Dr|St|sq|in|ft|cm|cu|yd|mi|oz"
    r"|lb|hr|min|sec|[A-Z])|(?:^|\n)[ \t]*(?:\d{1,3}|[a-z]))$"
)
_SENTENCE_END = re.compile(r"[.!?]+[\"'”’)\]*_`]*(?=\s|$)|[。！？]+[\"'”’）*]*")
_BLOCK_START = re.compile(r"[ \t]*(?:[-*+•] |\d{1,3}[.)] |#{1,6}|>|\||\*\*|__|[A-Z✅✔☑🔹]|Step\b)")
_LEADS_ON = re.compile(
    r"(?:[:：,=]|\b(?:is|are|be|equals?|get|gives?|obtain|have|find|as|to|that|and|or|the|of|thus|so|hence"
    r"|therefore|yields?|becomes?))[ \t]*[*_]{0,2}[ \t]*$",
    re.IGNORECASE,
)
# Stands for mathematics while boundaries are looked for: no letter, no space, no full stop.
_FILLER = "\x1a"


def mask_math(text: str, spans: Sequence[MathSpan] | None = None) -> str:
    """Return ``text`` with each delimited stretch overwritten, the same length as before."""
    parts: list[str] = []
    position = 0
    for span in find_math(text) if spans is None else spans:
        parts.append(text[position : span.start])
        parts.append(_FILLER * (span.end - span.start))
        position = span.end
    parts.append(text[position:])
    return "".join(parts)


def split_paragraphs(text: str) -> list[str]:
    """Split ``text`` at blank lines and rules; a paragraph that leads on to a display keeps that display."""
    masked = mask_math(text)
    paragraphs: list[str] = []
    position = 0
    for gap in [*_BLANK_LINES.finditer(masked), None]:
        end = gap.start() if gap else len(text)
        chunk = text[position:end].strip("\n")
        if chunk.strip():
            joined = bool(paragraphs) and _belongs(paragraphs[-1], masked[position:end])
            if joined:
                paragraphs[-1] += "\n" + chunk
            else:
                paragraphs.append(chunk)
        position = gap.end() if gap else end
    return paragraphs


def _belongs(before: str, masked_chunk: str) -> bool:
    stripped = masked_chunk.strip(" \t\n.,;*>")
    is_display = bool(stripped) and not stripped.strip(_FILLER)
    tail = before[-200:]
    if is_display:
        return _LEADS_ON.search(tail) is not None or not tail.rstrip().endswith(
            (".", "!", "?", "$", "]", ")")
        )
    return (
        tail.rstrip(" \t*_").endswith((":", "："))
        and "\n" not in masked_chunk.strip()
        and len(masked_chunk) < 120
    )


def split_sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences; a line break ends one unless the text plainly goes on."""
    masked = mask_math(paragraph)
    cuts: list[int] = []
    for end in _SENTENCE_END.finditer(masked):
        if end.group()[0] == "." and _ABBREVIATION.search(masked, max(0, end.start() - 12), end.start()):
            continue
        cuts.append(end.end())
    for newline in re.finditer(r"\n", masked):
        if _breaks(masked, newline.start()):
            cuts.append(newline.start())
    sentences: list[str] = []
    position = 0
    for cut in [*sorted(set(cuts)), len(paragraph)]:
        sentence = paragraph[position:cut].strip()
        if sentence:
            sentences.append(sentence)
        position = cut
    return sentences


def _breaks(masked: str, newline: int) -> bool:
    before = masked[max(0, newline - 40) : newline].rstrip()
    after = masked[newline + 1 : newline + 41]
    if not before or _LEADS_ON.search(before):
        return before.endswith("|")
    if after.lstrip()[:1] == _FILLER and not before.endswith(_FILLER):
        return False
    if _BLOCK_START.match(after):
        return True
    return not (after.lstrip()[:1].islower() or after.lstrip()[:1] == _FILLER)
