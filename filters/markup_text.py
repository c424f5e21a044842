"""A reply whose code stands in no fence comes in; texts that may hold it plainly go out."""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Iterator, Sequence

from .mend_source import parse

_TAG = re.compile(
    r"^[ \t]*(?:</?[A-Za-z][\w:.=-]{0,40}(?:\s[^<>\n]{0,200})?/?>|<!\[CDATA\[|\]\]>)+"
    r"|(?:</[A-Za-z][\w:.-]{0,40}>|\]\]>|<br ?/?>)+[ \t]*$"
    r"|\[/?(?:PYTHON|CODE|code|ANSWER|SOLUTION|TESTS?|RESPONSE|python)\]"
    r"|\\(?:begin|end)\{(?:lstlisting|verbatim|minted|python|code)\}(?:\[[^\]\n]*\]|\{\w+\})*",
    re.MULTILINE,
)
_ENCLOSES = re.compile(r"[ \t]*(?:async def|def|class|if|else|for|while|with|try)\b.*:$")
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
    before = text[: head.start()].rstrip().rpartition("\n")[2]
    if _ENCLOSES.match(before):
        return ""  # defined inside something else
    lead = head["lead"]
    lines = text.split("\n")
    return "\n".join(line[len(lead) :] if line.startswith(lead) else line.lstrip("> \t") for line in lines)


def without_fences(text: str) -> str:
    """Drop fence lines and backticks around lines, so that a head before a fence joins the body inside it."""
    lines = (line for line in text.split("\n") if not re.match(r"[ \t]*(?:`{3,}|~{3,})", line))
    return "\n".join(line.strip("`") if "`" in line else line for line in lines)


def late_start(text: str, entry_point: str) -> str:
    """Return the text from where a line of prose turns into the function's definition."""
    name = re.escape(entry_point)
    head = re.search(rf"(?:(?<=[:`>.] )|(?<=[ :>]`)|(?<=[:>]))(?:async )?def {name}\b", text)
    return text[head.start() :] if head else ""


def written_strings(text: str, blocks: Sequence[str], entry_point: str) -> Iterator[str]:
    """Yield texts that are spelled as a string: JSON values, and text whose newlines are written out."""
    for whole in [text, *blocks]:
        for value in [*_json_values(whole), *_python_strings(whole)]:
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


def _python_strings(text: str) -> Iterator[object]:
    """Yield the strings of a text that is Python: a program may be assigned to a name or stand in a dict."""
    tree = parse(text)
    if tree is not None:
        yield [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


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
