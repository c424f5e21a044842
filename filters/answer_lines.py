"""A reply's prose comes in; the places where it announces an answer ("The answer is ...") go out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .answer_words import ADJECTIVE, ANSWER_NOUN, CJK_NOUN, CJK_VERB, LABEL_SIGN, VERB

_EMPHASIS = r"(?:\*{1,3}|__?|`|\})?"
_IN_TEXT = r"(?:\\(?:text|textbf|mathbf|mathrm|mbox|bf)\s?\{\s?(?:\\textbf\s?\{)?)?"
_BETWEEN = (
    r"(?:(?: final[ei]?| correct[ae]?| definitiva)?(?:, [^,.\n]{1,60},|,| \w{1,12},) ?| final[ei]?"
    r"| correct[ae]?|[ \t]?\([^()\n]{1,40}\)| (?:to|for|of|in|here|as|then|we|that|when|after|on|rounded"
    r"|given)\b[^.:=\n。]{0,90}?)?"
)
_LABEL = re.compile(
    rf"(?<![^\W_])(?<!possible )(?<!wrong )(?<!incorrect )(?:{ADJECTIVE}["
    rf" \t]){{0,3}}(?P<noun>{ANSWER_NOUN})(?![^\W_])(?P<scope>{_BETWEEN})[ \t]?{_EMPHASIS}["
    rf" \t]?(?P<sign>{LABEL_SIGN})|(?<![^\W_])Ans\.(?=\s)|(?:最终|正确"
    rf"|所以)?{CJK_NOUN}\s?{_EMPHASIS}\s?[:：]",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    rf"(?<![^\W_])(?P<noun>{ANSWER_NOUN})(?![^\W_])(?P<scope>{_BETWEEN})[ \t]?{_EMPHASIS}(?:[ \t]"
    rf"|(?==))(?P<verb>{VERB})(?![^\W_])[ \t]?[:：]?|{CJK_NOUN}[^\s:：，。,.]{{0,12}}?{CJK_VERB}\s?[:：]?",
    re.IGNORECASE,
)
_MARKER = re.compile(
    r"^[ \t]{0,3}####[ \t]*(?=[^\s#])(?![A-Za-z*]{2,})|<(?:final_)?answer>", re.IGNORECASE | re.MULTILINE
)
_HEADING = re.compile(
    rf"^[ \t]{{0,3}}(?:(?:#{{1,6}}[ \t]*|\*\*"
    rf"|__)(?:\d+\.[ \t]*)?[^\w\n#*]{{0,3}}(?:{ADJECTIVE}[ \t]){{0,2}}{ANSWER_NOUN}[ \t]*[:：]?(?:\*\*"
    rf"|__)?[:：]?|(?:final )?answer)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_CHOICE = re.compile(
    r"(?:\b(?:I|we)(?:'d| would| will|'ll)? (?:choose|pick|select|go with)(?= (?:option "
    r"|choice )?\(?\*{0,2}(?-i:[A-H])\b)|\b(?:option|choice) (?=\(?(?-i:[A-H])\)? is (?:the )?(?:correct"
    r"|right))|\b(?:the )?(?:correct|right|best) (?:option|choice) (?:is|would be|must be)|故选|应选"
    r"|选择?)[ \t]*[:：]?[ \t]*",
    re.IGNORECASE,
)
_REVERSE = re.compile(
    r"(?:[,;]? ?(?:which|this|that) )?[ \t](?:is|as|are|was)[ \t](?:(?:the|our|my|your)[ \t])(?:(?:final"
    r"|correct|desired|required|right)[ \t])?answers?(?=[ \t]*(?:[.!,;*]|$|\n| (?:to|for|in|we)\b))",
    re.IGNORECASE,
)
_ANSWER_OF = re.compile(
    r"(?<![^\W_])(?:(?:final )?answer(?: of|['’]s)|final answer|उत्तर|উত্তর|cevap|yanıt"
    r"|คำตอบ) (?=[$\\\d(\-−*√])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """One announcement: ``start`` of its words, ``end`` where the value begins, and how it was worded.

    ``backwards`` means that the value stands before the words ("42 is the answer").
    """

    start: int
    end: int
    label: bool
    backwards: bool = False


def find_statements(text: str, start: int = 0) -> list[Statement]:
    """Return the announcements of an answer in ``text`` from ``start`` on, by where their value begins."""
    by_end: dict[int, Statement] = {}
    for statement in _all(text, start):
        known = by_end.get(statement.end)
        if known is None or statement.label:
            by_end[statement.end] = statement
    return [by_end[end] for end in sorted(by_end)]


def _all(text: str, start: int) -> Iterator[Statement]:
    for pattern, label in (
        (_LABEL, True),
        (_SENTENCE, False),
        (_MARKER, True),
        (_HEADING, True),
        (_CHOICE, False),
    ):
        for match in pattern.finditer(text, start):
            colon = match.group().rstrip().endswith((":", "："))
            yield Statement(match.start(), _skip_close(text, match.end()), label or colon)
    for match in _ANSWER_OF.finditer(text, start):
        yield Statement(match.start(), match.end(), False)
    for match in _REVERSE.finditer(text, start):
        yield Statement(match.start(), match.end(), False, backwards=True)


def _skip_close(text: str, end: int) -> int:
    r"""Step over what closes the announcement itself: ``}`` of ``\text{Answer: }`` and blanks."""
    while end < len(text) and text[end] in " \t":
        end += 1
    if text[end : end + 1] == "}":
        end += 1
    while end < len(text) and text[end] in " \t":
        end += 1
    return end
