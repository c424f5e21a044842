"""A reply comes in; its prose without code and output blocks goes out, and what the outputs printed."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^[ \t>]*(?P<mark>```+|~~~+)[ \t]*(?P<info>[^\n`]*)$", re.MULTILINE)
_TEXT_FENCES = frozenset(
    {"", "latex", "tex", "math", "text", "txt", "markdown", "md", "plaintext", "plain", "katex"}
)
_OUTPUT_FENCES = frozenset({"output", "stdout", "result", "console", "execution"})
_PROGRAM = re.compile(
    r"^[ \t]*(?:>>> |import \w|from \w+ import |def \w+\(|print\(|for \w+ in .*:$"
    r"|\w+(?:, ?\w+)* = [\w.]+\(|#include)",
    re.MULTILINE,
)
_TOKEN_BLOCK = re.compile(
    r"<\|(?P<token>code|execution|python_tag|python|output|tool_call"
    r"|empty_execution)\|>(?P<token_body>.*?)(?:<\|(?:endofblock|eom_id|end_of_block|/\w+)\|>"
    r"|(?=<\|(?:text|code|execution)\|>)|\Z)|<(?P<tag>code|interpreter|tool_call|tool_response|llm-code"
    r"|llm-code-output|output|python|execute|execution)>(?P<tag_body>.*?)</(?P=tag)>",
    re.DOTALL,
)
_OUTPUTS = frozenset({"execution", "output", "tool_response", "llm-code-output"})
_SEAM = re.compile(r"<\|endofblock\|>|<\|text\|>")


@dataclass(frozen=True)
class Prose:
    """What is left without the blocks: ``ends_in_block`` says that no words follow the last block."""

    text: str
    outputs: str
    ends_in_block: bool
    open_fence: bool


def cut_tool_blocks(reply: str) -> Prose:
    """Take out of ``reply`` the tokens, tags and fences that hold a program or its output.

    A fence without a language, or with one of prose, keeps its content unless that reads as a program.
    """
    outputs: list[str] = []
    ends: list[int] = []
    kept: list[str] = []
    position = 0
    for block in _token_blocks(reply):
        kept.append(reply[position : block.start()])
        kept.append("\n\n")
        if (block["token"] or block["tag"]) in _OUTPUTS:
            outputs.append(block["token_body"] or block["tag_body"] or "")
        position = block.end()
        ends.append(position)
    tail = _SEAM.sub("\n", reply[position:])
    text = _SEAM.sub("\n", "".join(kept)) + tail
    ends_in_block = bool(ends) and not re.search(r"\w", tail)
    return _cut_fences(text, outputs, ends_in_block)


def _token_blocks(reply: str) -> list[re.Match[str]]:
    """Find marked blocks; a tag is looked for only where its closer occurs, which keeps the search linear."""
    if "<|" not in reply and "</" not in reply:
        return []
    blocks: list[re.Match[str]] = []
    position = 0
    opener = re.compile(r"<\|(?:code|execution|python|output|tool_call|empty_execution)|<[a-z-]{4,15}>")
    absent: set[str] = set()
    while found := opener.search(reply, position):
        name = found.group()
        position = found.end()
        if name in absent:
            continue
        if not name.startswith("<|") and reply.find("</" + name[1:], position) < 0:
            absent.add(name)
            continue
        block = _TOKEN_BLOCK.match(reply, found.start())
        if block and not (block["tag"] == "code" and "\n" not in block["tag_body"]):
            blocks.append(block)
            position = block.end()
    return blocks


def _cut_fences(text: str, outputs: list[str], ends_in_block: bool) -> Prose:
    kept: list[str] = []
    position = 0
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            kept.append(text[position : fence.start()])
            opening = fence
            position = fence.end()
            continue
        if fence["info"].strip() or fence["mark"][0] != opening["mark"][0]:
            continue
        kept.append(_fence_content(opening["info"], text[position : fence.start()], outputs))
        position = fence.end()
        opening = None
    rest = text[position:]
    if kept and opening is None:
        ends_in_block = (ends_in_block or kept[-1] == "\n\n") and not re.search(r"\w", rest)
    if opening is not None:
        kept.append(_fence_content(opening["info"], rest, outputs))
        return Prose("".join(kept), "\n".join(outputs), ends_in_block or kept[-1] == "\n\n", True)
    kept.append(rest)
    return Prose("".join(kept), "\n".join(outputs), ends_in_block, False)


def _fence_content(info: str, content: str, outputs: list[str]) -> str:
    words = info.strip().strip("{}.").lower().split()
    language = words[0] if words else ""
    if language in _OUTPUT_FENCES:
        outputs.append(content)
        return "\n\n"
    if language in _TEXT_FENCES and not _PROGRAM.search(content):
        return content
    return "\n\n"
