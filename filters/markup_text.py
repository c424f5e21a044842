"""A reply whose code stands in no fence comes in; texts that may hold it plainly go out."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence

_TAG = re.compile(
    r"</?(?:pre|code|answer|solution|python|final|final_answer|response|output|tool_call|execute|implementation)"
    r"(?:\s[^<>\n]{0,200})?>"
    r"|\[/?(?:PYTHON|CODE|code|ANSWER|SOLUTION|TESTS?|RESPONSE|python)\]"
    r"|\\(?:begin|end)\{(?:lstlisting|verbatim|minted|python|code)\}(?:\[[^\]\n]*\]|\{\w+\})*",
)
_HTML_CODE = re.compile(r"<(?:pre|code)\b")
_JSON_TRIES = 20


def strip_tags(text: str) -> str:
    """Put each tag that wraps code on a line of its own, as nothing; undo HTML escapes inside such tags."""
    if _HTML_CODE.search(text):
        text = html.unescape(text)
    return _TAG.sub("\n", text)


def indented_passage(text: str, entry_point: str) -> str:
    """Return the passage around an indented definition of the function, its indentation taken off."""
    head = re.search(
        rf"^(?P<lead>[ \t]+|[ \t]*>[> ]*)(?:async )?def {re.escape(entry_point)}\b", text, re.MULTILINE
    )
    if not head:
        return ""
    lead = head["lead"]
    lines = text.split("\n")
    return "\n".join(line[len(lead) :] if line.startswith(lead) else line.lstrip("> \t") for line in lines)


def written_strings(text: str, blocks: Sequence[str], entry_point: str) -> Iterator[str]:
    """Yield texts that are spelled as a string: JSON values, and text whose newlines are written out."""
    for whole in [text, *blocks]:
        for value in _json_values(whole):
            yield from (s for s in _strings(value) if re.search(rf"\b{re.escape(entry_point)}\b", s))
    for whole in [*blocks, text]:
        if whole.count("\\n") > 0 and whole.strip().count("\n") <= whole.count("\\n"):
            plain = whole.replace("\\r\\n", "\n").replace("\\n", "\n").replace("\\t", "\t")
            yield plain.replace('\\"', '"').replace("\\'", "'").strip().strip("\"'")


def _json_values(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder(strict=False)
    position = 0
    for _ in range(_JSON_TRIES):
        begin = re.compile(r"[{\[]\s*[\"{\[]").search(text, position)
        if not begin:
            return
        try:
            value, position = decoder.raw_decode(text, begin.start())
            yield value
        except (ValueError, RecursionError):
            position = begin.start() + 1


def _strings(value: object) -> Iterator[str]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
