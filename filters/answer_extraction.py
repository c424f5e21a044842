"""A reply comes in; its final answer goes out, with the rule that found it and whether it was cut off."""

from __future__ import annotations

import re

from .answer_lines import Statement, find_statements
from .boxes import Box, find_boxes, join_boxes, last_group
from .final_paragraph import conclude
from .last_bold import last_bold_phrase
from .own_turn import own_turn
from .rows import ExtractedAnswer, Truncated
from .stated_values import StatedValue, read_statement
from .thinking import cut_thinking
from .tool_blocks import Prose, cut_tool_blocks
from .trim_answer import trim_answer
from .truncation import is_cut_off, is_looping

_RETRACTION = re.compile(
    r"\b(?:wait|actually|correction|mistake|i was wrong|made an error|oops|sorry|apologi[sz]e"
    r"|on second thought|scratch that|let me re|corrected|revised|instead)\b",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"\b(?:would (?:have )?(?:be|been|box|give)|i'd (?:have )?(?:box|say)|had (?:we|i|it)|if order"
    r"|first (?:guess|attempt|thought)|not)\b[^.\n]{0,60}$",
    re.IGNORECASE,
)
# An answer longer than this is no answer but a text that happened to be in its place.
_MAX_ANSWER = 2000
# Announcements are looked for in this last stretch of a reply: what was announced earlier was not its end.
_ANNOUNCED_WITHIN = 50_000
_ANNOUNCEMENTS = 30
# A box that was begun inside another rule's answer.
_OPEN_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{?(?![^{}]*\})")

Announced = tuple[Statement, StatedValue]


def extract_answer(reply: str, *, mode: str = "chat") -> ExtractedAnswer:
    r"""Extract the final answer that ``reply`` states.

    Thinking is cut first. Then the rules, and the first that finds an answer wins: ``boxed`` (the last box,
    with those that belong to it), ``answer_line`` and ``bold_answer`` (the last announcement of an answer,
    plain or bold), ``final_math`` (what the final paragraph comes to), ``bold_phrase`` (the same where it
    stands in bold). A reply that was cut off or loops gets an answer by the first three only: something
    stated as final.
    ``mode`` is "chat", "base" or "gen_prefix"; a base model's reply ends where it goes on to another problem.
    ``answer`` is None and ``rule`` "none" where no rule finds one. Never raises, for any text.
    """
    visible, unclosed = cut_thinking(reply)
    prose = cut_tool_blocks(visible)
    text = own_turn(prose.text, base=mode == "base")
    boxes = find_boxes(text)
    announced = _last_announced(text)
    unfinished = bool(boxes) and not boxes[-1].complete
    cut_off = unclosed or prose.open_fence or prose.ends_in_block or unfinished or is_cut_off(text)
    looping = is_looping(text)
    truncated = Truncated.LIKELY if cut_off or looping else Truncated.NO
    found = _stated(text, boxes, announced, prose)
    refused = announced is not None and announced[1].text is None
    if found is None and not cut_off and not looping and not refused:
        found = _concluded(text)
    answer = trim_answer(_OPEN_BOX.sub("", found[0])) if found else ""
    if found is None or not answer or len(answer) > _MAX_ANSWER:
        return ExtractedAnswer(None, "none", truncated)
    return ExtractedAnswer(answer, found[1], truncated)


def _stated(text: str, boxes: list[Box], announced: Announced | None, prose: Prose) -> tuple[str, str] | None:
    """Find an answer that is stated as final: a box, or an announcement."""
    complete = [box for box in boxes if box.complete]
    if boxes and not boxes[-1].complete:
        started = boxes[-1].content.strip()
        complete = [box for box in complete if box.content.strip().startswith(started)]
        if not complete:
            return None
    if complete and not (announced and _retracted(text, complete[-1], announced[0])):
        return join_boxes(last_group(complete, text)), "boxed"
    if announced and announced[1].text:
        return announced[1].text, "bold_answer" if announced[1].bold else "answer_line"
    printed = [box for box in find_boxes(prose.outputs) if box.complete]
    if announced is None and printed:
        return join_boxes(last_group(printed, prose.outputs)), "boxed"
    return None


def _last_announced(text: str) -> Announced | None:
    """Return the last announcement that hands over a value, or says that there is none."""
    statements = find_statements(text, max(0, len(text) - _ANNOUNCED_WITHIN))
    for statement in reversed(statements[-_ANNOUNCEMENTS:]):
        value = read_statement(text, statement)
        if value is not None:
            return statement, value
    return None


def _retracted(text: str, box: Box, statement: Statement) -> bool:
    """Say whether the box was taken back, or never meant, and an answer announced after it."""
    if statement.start < box.end:
        return False
    line_start = text.rfind("\n", 0, box.start) + 1
    return bool(
        _RETRACTION.search(text, box.end, statement.end) or _HYPOTHETICAL.search(text[line_start : box.start])
    )


def _concluded(text: str) -> tuple[str, str] | None:
    conclusion = conclude(text)
    if conclusion is not None:
        rule = {"bold": "bold_phrase", "words": "answer_line"}.get(conclusion.mark, "final_math")
        return conclusion.text, rule
    phrase = last_bold_phrase(text)
    return (phrase, "bold_phrase") if phrase else None
