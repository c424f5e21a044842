"""A raw reply comes in; the text that was meant for the reader goes out, without the model's thinking."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Names of the tags around thinking that models are trained on. `<answer>` is no thinking.
_NAMES = (
    r"(?:seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reasoning_content|reasoning_scratchpad"
    r"|reflection|analysis|scratchpad|inner_monologue|inner_thoughts)"
)
_MARK = re.compile(
    rf"(?:<|&lt;)(?P<slash>/?)(?P<tag>{_NAMES})(?:\s[^<>\n]{{0,80}})?(?:>|&gt;)"
    r"|◁(?P<kimi>/?)think▷|\[(?P<square>/?)(?P<square_tag>THINK|THINKING|REASONING)\]"
    r"|<\|(?P<begin>begin_of_thought|START_THINKING|thinking|think)\|>|<\|(?P<end>end_of_thought"
    r"|END_THINKING|/thinking|/think)\|>|<\|channel>thought\b|(?P<gemma_end><channel\|>)",
    re.IGNORECASE,
)
_QUOTES = "`'\"“”‘’«»"

_CHANNEL = re.compile(
    r"<\|channel\|>\s*(?P<name>\w+)[^<\n]{0,120}(?:<\|constrain\|>[^<\n]{0,40})?<\|message\|>"
)
_MESSAGE_END = re.compile(r"<\|(?:end|return|call|start)\|>")
# Harmony markup whose special tokens the decoder dropped: "assistantanalysisWe ...assistantfinalThe ...".
_FLAT_FINAL = re.compile(r"assistant ?final")
_FLAT_THINKING = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)(?=[^\sa-z:,.])")
_FINAL_RESPONSE = re.compile(r"\[BEGIN FINAL RESPONSE\](?P<body>.*?)(?:\[END FINAL RESPONSE\]|\Z)", re.DOTALL)


@dataclass(frozen=True)
class _Mark:
    """One marker of thinking: where it stands, which family of tags it belongs to, whether it closes."""

    start: int
    end: int
    family: str
    closes: bool


def cut_thinking(reply: str) -> tuple[str, bool]:
    """Return the visible part of ``reply`` and whether thinking was begun and never ended.

    A closing tag without an opening one ends thinking that began in the prompt: all before it is cut.
    Text without any marker comes back unchanged. Tags in quotes or backticks are talk about tags.
    """
    channels = _cut_channels(reply)
    if channels is not None:
        return channels
    flat = _cut_flat_channels(reply)
    if flat is not None:
        return flat
    final = _FINAL_RESPONSE.search(reply)
    return _cut_tags(final["body"] if final else reply)


def _cut_channels(reply: str) -> tuple[str, bool] | None:
    """Keep the final channel of harmony markup; None where there is no such markup."""
    heads = list(_CHANNEL.finditer(reply))
    if not heads:
        return None
    finals = []
    for number, head in enumerate(heads):
        if head["name"].lower() != "final":
            continue
        limit = heads[number + 1].start() if number + 1 < len(heads) else len(reply)
        end = _MESSAGE_END.search(reply, head.end(), limit)
        finals.append(reply[head.end() : end.start() if end else limit])
    return ("\n\n".join(finals), False) if finals else ("", True)


def _cut_flat_channels(reply: str) -> tuple[str, bool] | None:
    thinking = _FLAT_THINKING.match(reply)
    finals = list(_FLAT_FINAL.finditer(reply))
    if finals and (thinking or any(final.group() == "assistantfinal" for final in finals)):
        return reply[finals[-1].end() :], False
    return ("", True) if thinking else None


def _cut_tags(reply: str) -> tuple[str, bool]:
    marks = list(_marks(reply))
    if not marks:
        return reply, False
    closer_after = _next_closers(marks)
    visible: list[str] = []
    position = 0
    number = 0
    while number < len(marks):
        mark = marks[number]
        if mark.closes:
            visible = []
            position = mark.end
            number += 1
            continue
        visible.append(reply[position : mark.start])
        closer = closer_after[number]
        if closer is None:
            return "".join(visible), True
        position = marks[closer].end
        number = closer + 1
    visible.append(reply[position:])
    return "".join(visible), False


def _next_closers(marks: list[_Mark]) -> list[int | None]:
    """For each mark, the number of the closer that ends thinking begun there: its own family's first."""
    found: list[int | None] = [None] * len(marks)
    nearest: dict[str, int] = {}
    any_closer: int | None = None
    for number in range(len(marks) - 1, -1, -1):
        mark = marks[number]
        if mark.closes:
            nearest[mark.family] = any_closer = number
        found[number] = nearest.get(mark.family, any_closer)
    return found


def _marks(reply: str) -> Iterator[_Mark]:
    for match in _MARK.finditer(reply):
        before, after = reply[match.start() - 1 : match.start()], reply[match.end() : match.end() + 1]
        if before and after and before in _QUOTES and after in _QUOTES:
            continue
        closes = bool(
            match["slash"] or match["kimi"] or match["square"] or match["end"] or match["gemma_end"]
        )
        family = (match["tag"] or match["square_tag"] or "token").lower()
        yield _Mark(match.start(), match.end(), family, closes)
