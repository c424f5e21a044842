"""A program's text in, which of a worker's two warm parents it is forked from out.

What a process has mapped, each of its children pays for: with numpy, decimal and hashlib loaded a fork costs
twice as much. Nearly all programs import none of them.
"""

from __future__ import annotations

import re

LIGHT_MODULES = (
    "abc", "collections", "collections.abc", "contextlib", "copy", "dataclasses", "enum", "functools",
    "heapq", "itertools", "math", "operator", "os", "re", "string", "sys", "time", "types", "typing",
)  # fmt: skip
SMALL_MODULES = ("bisect", "datetime", "hashlib", "json")  # a program loads them itself in 1 to 4 ms
FURTHER_MODULES = ("numpy", "numpy.random", "decimal", "fractions", "random", "statistics", *SMALL_MODULES)

_NAME = "(?:" + "|".join(map(re.escape, sorted((*LIGHT_MODULES, *SMALL_MODULES), reverse=True))) + ")"
_LIGHT_IMPORT = re.compile(
    rf"^[ \t]*(?:from[ \t]+{_NAME}[ \t]+import\b|import[ \t]+{_NAME}(?:[ \t]*,[ \t]*{_NAME})*[ \t]*$)",
    re.MULTILINE,
)


def imports_more(program: str) -> bool:
    """Say whether the program may import more than light and small modules: if the word stands otherwise.

    A wrong guess costs time only: what is not loaded yet can be imported all the same.
    """
    return program.count("import") != len(_LIGHT_IMPORT.findall(program))
