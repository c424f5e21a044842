"""The blocks of a reply come in; blocks that go on with a function begun before are joined to it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from .code_blocks import Block
from .mend_source import parse


def join_continued(blocks: Sequence[Block]) -> list[Block]:
    """Join a block that starts indented to the one before, where that one's last function returns nothing."""
    joined: list[Block] = []
    for block in blocks:
        before = joined[-1] if joined else None
        if before is not None and _starts_indented(block.text) and _is_open(before.text):
            text = before.text.rstrip("\n") + "\n" + block.text
            if block.names_python and before.names_python and parse(text) is not None:
                joined[-1] = replace(before, text=text, closed=block.closed)
                continue
        joined.append(block)
    return joined


def _starts_indented(text: str) -> bool:
    first = next((line for line in text.split("\n") if line.strip()), "")
    return first[:1] in (" ", "\t")


def _is_open(text: str) -> bool:
    """Tell whether ``text`` ends in a function that never returns or yields a value."""
    tree = parse(text) or parse(text.rstrip() + "\n        pass\n") or parse(text.rstrip() + "\n    pass\n")
    last = tree.body[-1] if tree is not None and tree.body else None
    if not isinstance(last, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return not any(
        isinstance(node, (ast.Yield, ast.YieldFrom))
        or (isinstance(node, ast.Return) and node.value is not None)
        for node in ast.walk(last)
    )
