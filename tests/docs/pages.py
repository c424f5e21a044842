"""A Markdown page in, its fenced blocks, links and anchors out.

A fence's first word is its language, for readers; what follows it says what a test does with the block:

=========================  ==================================================================================
``bash run``               runs it, in the page's own folder, after the blocks before it
``text output``            the output of the block before it; a line of three dots stands for any lines
``python run``             runs it the same way
``LANGUAGE file=PATH``     writes it to that file of the page's folder
``json into=PATH``         adds its entries to those of that JSON file
``diff apply``             applies it as a patch
``bash check: WHY``        runs nothing, for the reason given; commands and options of ours must exist
``bash peer: WHY``         another program's commands: nothing is checked, for the reason given
=========================  ==================================================================================

Blocks of text, yaml, mermaid and the like that say nothing are for reading only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

READ_ONLY = ("text", "yaml", "mermaid", "bibtex", "jsonl", "")
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)|!\[[^\]]*\]\((?P<image>[^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """One fenced block: where it begins, its language, what is to be done with it, and its text."""

    line: int
    language: str
    action: str
    text: str

    @property
    def reason(self) -> str:
        """Give what stands behind the colon of an action that runs nothing."""
        return self.action.partition(":")[2].strip()


def blocks(page: str) -> list[Block]:
    """List the fenced blocks of a page in order."""
    found = []
    for match in _FENCE.finditer(page):
        language, _, action = match["info"].strip().partition(" ")
        text = re.sub(f"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
        found.append(Block(page.count("\n", 0, match.start()) + 1, language, action.strip(), text))
    return found


def links(page: str) -> list[str]:
    """List the targets of a page's links and images, outside fenced blocks and code."""
    prose = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page))
    return [match["target"] or match["image"] for match in _LINK.finditer(prose)]


def anchors(page: str) -> set[str]:
    """Name the anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#{1,6} +(.+?) *$", _FENCE.sub("", page), flags=re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


def broken_links(path: Path) -> list[str]:
    """List a page's relative links that lead to no file, or to no heading of it."""
    broken = []
    for target in links(path.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists() or (anchor and anchor not in anchors(file.read_text())):
            broken.append(target)
    return broken


def is_printed(expected: str, printed: str) -> bool:
    """Say whether ``printed`` is what a page shows; three dots on a line stand for any lines."""
    lines, shown = _lines(expected), _lines(printed)
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in shown)) is not None


def _lines(text: str) -> list[str]:
    """Cut a text into lines without white space at their ends, without blank lines around it."""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n").split("\n")
