"""A reply comes in; its fenced code blocks go out, whatever the fences look like."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .source_lines import LineScan, scan_line

_OPENER = re.compile(
    r"^(?P<lead>[ \t]*(?:>[ \t]*)*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+)?)"
    r"(?P<fence>`{3,}|~{3,}|'{3}(?=[Pp]y))(?P<info>.*)$"
)
_LATE_FENCE = re.compile(r"(?P<fence>`{3,})[ \t]*(?P<info>(?:[Pp]y\w*|PYTHON)?)[ \t]*$")
_CLOSER = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,}|'{3})(?P<rest>.*)$")
_QUOTE_LEAD = re.compile(r"^[ \t]*(?:> ?)+")
_CODE_START = re.compile(r"(?:async[ ]+def|def|class|import|from|return|@\w)\b|\w+[ ]*=[ ]*lambda\b")
_LANGUAGE = re.compile(r"^[ \t]*\{?[.]?(?P<name>[A-Za-z][\w+#.-]*)")
_CUT_FENCE = re.compile(r"\n[ \t]*(?:`{1,2}|~{1,2})[ \t]*$")
# Text after which a fence mark inside an unfinished string is taken for a fence all the same.
_RESCANS = 8

_PYTHON = frozenset({"", "py", "py3", "ipython", "ipython3", "pycon", "sage", "jupyter"})


@dataclass(frozen=True)
class Block:
    """One fenced block: the language it names (lower case), its text, whether the fence was closed.

    ``introduction`` is the last filled line of prose before it.
    """

    language: str
    text: str
    closed: bool
    introduction: str = ""

    @property
    def names_python(self) -> bool:
        """Tell whether the fence names Python or no language."""
        return self.language in _PYTHON or self.language.startswith("python")


def _split_info(info: str) -> tuple[str, str]:
    """Split what follows the opening marks into the language and code that starts on the same line."""
    if _CODE_START.match(info.strip()):
        return "", info.strip()
    named = _LANGUAGE.match(info)
    if not named:
        return "", ""
    rest = info[named.end() :].strip()
    return named["name"].lower(), rest if _CODE_START.match(rest) else ""


def find_blocks(text: str) -> tuple[list[Block], str]:
    """Find the fenced blocks of ``text`` in order, and the text around them.

    An opening fence inside a block ends that block.
    """
    finder = _Finder(text.split("\n"))
    finder.run()
    return finder.blocks, "\n".join(finder.outside)


class _Finder:
    """Walks over the lines once; ``at`` is the next line to read."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.rescans = _RESCANS
        self.blocks: list[Block] = []
        self.outside: list[str] = []
        self.introduction = ""

    def run(self) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            opener = _OPENER.match(line) or _LATE_FENCE.match(line, max(line.find("```"), 0))
            if opener:
                self._read_block(opener)
                self.introduction = ""
                continue
            self.outside.append(line)
            self.introduction = line if line.strip() else self.introduction

    def _read_block(self, opener: re.Match[str]) -> None:
        info = opener["info"]
        end = glued_fence(info)
        if end is not None and info.strip("`~ \t"):
            language, code = _split_info(info[:end])
            self.blocks.append(Block(language, code or info[:end].strip(), True, self.introduction))
            return
        language, first = _split_info(info)
        lead = opener.groupdict().get("lead") or ""
        body, closed = self._read_body(opener["fence"], quoted=">" in lead)
        if first:
            body.insert(0, first)
        text = "\n".join(_unindent(body, lead))
        text = text if closed else _CUT_FENCE.sub("", text)
        self.blocks.append(Block(language, text, closed, self.introduction))

    def _read_body(self, fence: str, *, quoted: bool) -> tuple[list[str], bool]:
        """Read lines up to the closing fence, which counts only outside strings while there is one."""
        begin, quote = self.at, None
        body: list[str] = []
        fallback: tuple[int, list[str]] | None = None
        for number in range(begin, len(self.lines)):
            line = self.lines[number]
            if quoted:
                line = _QUOTE_LEAD.sub("", line, count=1)
            scan = scan_line(line, quote)
            last = _closing(line, fence, scan)
            if last is not None and quote is None:
                return self._close(number, [*body, *last])
            if last is not None and fallback is None:
                fallback = (number, [*body, *last])
                if not self.rescans:
                    return self._close(*fallback)
            body.append(line)
            quote = scan.quote
        if quote is not None and fallback is not None:
            self.rescans -= 1
            return self._close(*fallback)
        self.at = len(self.lines)
        return body, False

    def _close(self, number: int, body: list[str]) -> tuple[list[str], bool]:
        """End a block at line ``number``; a line that opens the next block is read again."""
        closer = _CLOSER.match(_QUOTE_LEAD.sub("", self.lines[number], count=1))
        reopens = bool(closer and _LANGUAGE.match(closer["rest"]) and len(closer["rest"].split()) == 1)
        self.at = number if reopens else number + 1
        return body, True


def _closing(line: str, fence: str, scan: LineScan) -> list[str] | None:
    """Return what of ``line`` still belongs to the block that it ends; None where it ends no block."""
    closer = _CLOSER.match(line)
    if closer:
        mark = closer["fence"]
        return [] if mark[0] == fence[0] and len(mark) >= len(fence) else None
    end = glued_fence(line, fence)
    return [line[:end]] if end is not None and scan.is_code(end) else None


def glued_fence(line: str, fence: str = "```") -> int | None:
    """Return where the marks begin that end ``line``, None where it ends in fewer than ``fence``."""
    trimmed = line.rstrip(" \t")
    start = len(trimmed.rstrip(fence[0]))
    return start if len(trimmed) - start >= len(fence) else None


def _unindent(body: list[str], lead: str) -> list[str]:
    """Take the fence's own indentation off every line that has it."""
    width = len(lead) - len(lead.lstrip(" \t"))
    indent = lead[:width]
    return [line[width:] if indent and line.startswith(indent) else line for line in body]
