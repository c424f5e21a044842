r"""A reply's prose comes in; the answers that stand in ``\boxed`` and its kin go out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .restatements import one_of_equals
from .trim_answer import drop_answer_words, trim_answer

_HEAD = re.compile(
    r"(?:\\{1,2}(?:boxed|fbox|framebox|Boxed|ovalbox|bbox|fcolorbox\s*\{\w+\}\s*\{\w+\}"
    r"|colorbox\s*\{\w+\})|(?<![A-Za-z\\])boxed(?=\s?\{))(?![A-Za-z])(?:\s?\[[^\[\]\n]{0,20}\]){0,2}"
)
_BRACE = re.compile(r"\\[\\{}]|[{}]")
_UNBRACED = re.compile(
    r"\s{0,3}(?P<value>\\[dt]?frac\s?(?:\{[^{}\n]{1,40}\}|\d){2}|[-+]?\s?\\?\$?\d[\d,.]*\d|[-+]?\d"
    r"|[A-Za-zα-ω](?![A-Za-z]))"
)
_PLACEHOLDER = re.compile(
    r"(?:\\(?:text|mathrm|textbf)\s*\{)?\s*[<\[(]?(?:(?:your|the|my|final|correct"
    r"|numerical?)[ _-]?)*(?:answer|ans|result|solution|value|content)s?(?:[ _-]?(?:here|goes here|only"
    r"|text))?[>\])]?\s*\}?|\.{2,}|…|\\[lc]?dots|_+|\?+|\s*|\\(?:text|quad|phantom)\s*\{\s*\}|\\ ?|#\d?"
    r"|\\square|\\Box",
    re.IGNORECASE,
)
_CONNECTOR = re.compile(
    r"(?:\s|[$,;、，；&*]|\\[()\[\],;:! ]|\\q?quad|\\(?:text|mbox|textrm)\s*\{\s*(?:,|and|or|und|et|y|o|ou"
    r"|e|oder)\s*\}|\\(?:lor|vee|land|wedge|cup|\\)|\b(?:and|or|und|oder|et|ou|y|o|e|и|или|as well as"
    r"|respectively|also)\b|和|或|与|及|\^\s*\{?\\circ\}?|°|[A-Za-z](?:_\{?\w{1,3}\}?)?\s*=|\n\s*(?:[-*•]"
    r"|\d\.)\s)+"
)
_JOINING_SIGN = re.compile(
    r"[,;、，；]|\b(?:and|or|und|oder|et|ou|y|o|e|и|или|as well as)\b|和|或|与|及|\n\s*[-*•] |\\(?:lor|vee"
    r"|cup)"
)
_MATH_END = re.compile(r"(?<!\\)\$|\\\)|\\\]|\n[ \t]*\n")
_MAX_CONNECTOR = 60
# No answer is longer; the bound keeps heaps of unclosed or nested boxes linear.
_MAX_CONTENT = 3000
_MAX_BOXES = 200


@dataclass(frozen=True)
class Box:
    """One box: where it stands, its innermost content, and whether its brace was closed."""

    start: int
    end: int
    content: str
    complete: bool


def find_boxes(text: str) -> list[Box]:
    """Return the boxes of ``text`` that hold something, in order; of a box in a box, the inner content.

    A box whose brace is never closed is one only where the text ends in it.
    """
    if "box" not in text and "Box" not in text:
        return []
    closers = _matching_braces(text)
    boxes: list[Box] = []
    for head in list(_HEAD.finditer(text))[-_MAX_BOXES:]:
        box = _read_box(text, head, closers)
        if box is None:
            continue
        begun = not box.complete and box.end >= len(text.rstrip())
        if not begun and (not box.complete or _PLACEHOLDER.fullmatch(box.content[:200])):
            continue
        if boxes and boxes[-1].start < box.start < boxes[-1].end:
            outer = boxes.pop()
            box = Box(outer.start, max(box.end, outer.end), box.content, box.complete)
        boxes.append(box)
    return boxes


def last_group(boxes: list[Box], text: str) -> list[Box]:
    """Return the last box with those right before it that form one answer with it ("$x=1$ or $x=2$")."""
    group = [boxes[-1]]
    for box in reversed(boxes[:-1]):
        between = text[box.end : group[0].start]
        if len(between) > _MAX_CONNECTOR or "\n\n" in between.replace(" ", ""):
            break
        if not (_CONNECTOR.fullmatch(between) and _JOINING_SIGN.search(between)):
            break
        group.insert(0, box)
    return group


def join_boxes(group: list[Box]) -> str:
    """Join the contents of a group with commas, equal ones once."""
    contents = [clean_content(box.content) for box in group]
    return one_of_equals(contents[::-1]) or ", ".join(dict.fromkeys(contents))


def clean_content(content: str) -> str:
    """Take wrapping and words that announce an answer off a box's content."""
    return trim_answer(drop_answer_words(trim_answer(content)))


def _matching_braces(text: str) -> dict[int, int]:
    """Map each opening brace to its closing one, in one pass."""
    matching: dict[int, int] = {}
    stack: list[int] = []
    for brace in _BRACE.finditer(text):
        sign = brace.group()
        if sign == "{":
            stack.append(brace.start())
        elif sign == "}" and stack:
            matching[stack.pop()] = brace.start()
    return matching


def _read_box(text: str, head: re.Match[str], closers: dict[int, int]) -> Box | None:
    opening = head.end()
    while opening < len(text) and text[opening] in " \t\n\r" and opening - head.end() < 8:
        opening += 1
    if text[opening : opening + 1] != "{":
        return _unbraced(text, head)
    if opening not in closers:
        return _unfinished(text, head.start(), opening + 1)
    end = closers[opening]
    if end - opening > _MAX_CONTENT:
        return None
    content = text[opening + 1 : end]
    if head.group().startswith("\\\\"):
        # The reply went through JSON once too often: its commands have two backslashes.
        content = re.sub(r"\\\\(?=[A-Za-z{}%$])", r"\\", content)
    crossing = _MATH_END.search(content)
    if crossing and _crosses(content):
        return _unfinished(text, head.start(), opening + 1)
    return Box(head.start(), end + 1, content, True)


def _crosses(content: str) -> bool:
    r"""Say whether the math around the box ends inside ``content``: then its brace was closed by chance."""
    if content.count(r"\)") > content.count(r"\("):
        return True
    dollars = len(re.findall(r"(?<!\\)\$", content))
    return dollars % 2 == 1 and not re.match(r"\s*\$\s?\d", content) and not content.rstrip().endswith("$")


def _unfinished(text: str, start: int, content_start: int) -> Box:
    """Read a box whose brace is missing: to the end of the math around it, or unfinished."""
    stop = _MATH_END.search(text, content_start, content_start + _MAX_CONTENT)
    following = _HEAD.search(text, content_start, content_start + _MAX_CONTENT)
    if stop is None or stop.group().isspace() or (following and following.start() < stop.start()):
        end = min(found.start() for found in (stop, following) if found) if stop or following else len(text)
        return Box(start, end, text[content_start:end], False)
    content = text[content_start : stop.start()]
    missing = content.count("{") - content.count("}")
    if missing > 0 and re.search(r"\\[A-Za-z]*\{?$|[-+=^_]$", content):
        return Box(start, stop.start(), content, False)
    return Box(start, stop.start(), content + "}" * max(0, missing), True)


def _unbraced(text: str, head: re.Match[str]) -> Box | None:
    value = _UNBRACED.match(text, head.end())
    if value is None or not head.group().startswith("\\"):
        return None
    return Box(head.start(), value.end(), value["value"], True)
