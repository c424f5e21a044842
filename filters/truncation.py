"""The prose of a reply comes in; whether it was likely cut off, or goes round in a loop, goes out."""

from __future__ import annotations

import re
from collections import Counter

from .answer_words import CONCLUSION
from .math_spans import find_math
from .sentences import mask_math

_TAIL = 3000
_MIN_ROUNDS = 4
_FEW_WORDS, _MANY_WORDS = 3, 10
# More commas than this in the last line, and a list has run away.
_MAX_LIST = 60
_OPEN_END = re.compile(
    r"(?:[,(\[{=+*/<>≤≥≈×÷^_&\\:：]|(?<=\s)[-−–]|[A-Za-z]-|\b(?:the|an?|of|to|into|in|on|at|by|for|from"
    r"|with|and|or|but|if|that|which|who|is|are|was|were|be|been|we|i|you|it|its|this|these|those|as|than"
    r"|so|because|hence|thus|therefore|since|when|where|while|then|such that|using|let|can|will|must|have"
    r"|has|had|our|their|his|her|there|not|each|every|between|under|over|per|also|equals?|gives?|get|find"
    r"|need|needs))\s*$",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?。！？][)\"'*_\]]*(?=\s|$)")
_STARTS_A_STEP = re.compile(
    r"[\s>*_#-]*(?:(?:Step|When|Let|If|Since|For|Using|Given|Next|First)\b|" + CONCLUSION + r"\b)",
    re.IGNORECASE,
)
# The last line is one of very many numbered items: an enumeration that no conclusion ends.
_LATE_ITEM = re.compile(r"[ \t]*(?:Step )?(?:1[5-9]|[2-9]\d|\d{3,4})[.)] ")
_LIST_NUMBER = re.compile(r"(?:^|\n)\s*(?:\d{1,2}[.)]|[-*•]|#{1,6})\s*$")
_LINE = re.compile(r"[^\n]+")


def is_cut_off(text: str) -> bool:
    """Say whether ``text`` breaks off: mathematics left open, a sentence without end, a bare list number."""
    stripped = text.rstrip()
    if not stripped:
        return False
    if _LIST_NUMBER.search(stripped[-12:]) and len(stripped) > 3:
        return True
    item = _LATE_ITEM.match(stripped, stripped.rfind("\n") + 1)
    if item and not _STARTS_A_STEP.match(stripped, item.end()):
        return True
    tail = stripped[-_TAIL:]
    source = tail.partition("\n\n")[2] if len(stripped) > _TAIL and "\n\n" in tail else tail
    spans = find_math(source)
    if spans and not spans[-1].closed and spans[-1].body.strip():
        return True
    if tail.count(r"\begin{") > tail.count(r"\end{") and r"\end{" not in tail[tail.rfind(r"\begin{") :]:
        return True
    last_line = stripped[stripped.rfind("\n") + 1 :]
    if last_line in ("\\", "$", "**") or re.match(r"#{1,6} [^\d$\\]+$", last_line):
        return True
    if stripped.endswith(" $") and (not spans or spans[-1].end < len(source)):
        return True
    if _runs_out(tail, last_line[-_TAIL:]):
        return True
    if _OPEN_END.search(last_line[-40:]) and not re.search(r"\$\s*$|\\[)\]]\s*$", last_line):
        return not re.search(r"(?:\*\*|__|\*)$", last_line) and re.search(r"\w", last_line) is not None
    return False


def _runs_out(tail: str, last_line: str) -> bool:
    """Say whether the last line is a sentence without its end, in a reply that ends its sentences with stops.

    A last line of up to three words may be the bare answer ("Evelyn", "12 square inches"), and a table row
    or a labelled list item needs no stop.
    """
    if not last_line.rstrip("'’")[-1:].isalpha():
        masked = mask_math(last_line)
        return sum(map(masked.count, "([")) > sum(map(masked.count, ")]"))
    stops = list(_STOP.finditer(tail))
    if len(stops) < 2 and (len(last_line.split()) < _MANY_WORDS or _STARTS_A_STEP.match(last_line)):
        return False
    if last_line.lstrip()[:1] in tuple("|-*•>") and ":" in last_line:
        return False
    fragment = tail[stops[-1].end() if stops else 0 :].strip()
    if "\n" in fragment or len(fragment) >= len(last_line.strip()):
        return len(last_line.split()) > _FEW_WORDS or _STARTS_A_STEP.match(last_line) is not None
    return True


def is_looping(text: str) -> bool:
    """Say whether ``text`` ends in the same words over and over, or says the same lines again and again."""
    tail = text.rstrip()[-_TAIL:]
    if _smallest_period(tail[::-1]) is not None or tail[tail.rfind("\n") + 1 :].count(",") > _MAX_LIST:
        return True
    lines = [line.group().strip() for line in _LINE.finditer(tail)]
    counts = Counter(line for line in lines if len(line) > 12)
    return any(count >= 8 for count in counts.values())


def _smallest_period(reversed_tail: str) -> int | None:
    """Find a period with which the end repeats at least four times over 60 signs, by prefix function."""
    border = [0] * len(reversed_tail)
    length = 0
    for index in range(1, len(reversed_tail)):
        while length and reversed_tail[index] != reversed_tail[length]:
            length = border[length - 1]
        if reversed_tail[index] == reversed_tail[length]:
            length += 1
        border[index] = length
        period = index + 1 - length
        if index + 1 >= max(60, _MIN_ROUNDS * period) and re.search(r"\w", reversed_tail[:period]):
            return period
    return None
