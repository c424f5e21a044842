"""The versions that a number depends on: our graders' own, and the libraries they stand on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import metadata

LM_EVAL_TESTED = "0.4.13"
"""The release of lm-eval whose contracts were read and run."""

MATH_PINS = {"math-verify": "0.9.0", "latex2sympy2_extended": "1.11.0", "sympy": "1.14.0"}
"""Exact versions under which the math graders' verdicts were recorded."""

CODE_VERSIONS = {
    "extract_program": "1",
    "base": "1",
    "plus": "1",
    "plus_strict": "1",
    "plus_adjudicated": "1",
}
"""Own version of the program extraction and of each suite; raised when a verdict moves."""


def grader_versions() -> Mapping[str, str]:
    """Return the own version of each extraction, suite and grader by name."""
    from .math_graders import VERSIONS

    return {"extract_answer": "1", **CODE_VERSIONS, **VERSIONS}


@cache
def installed(distribution: str) -> str:
    """Return the installed version of ``distribution``, or ``"missing"``."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "missing"


@lru_cache(maxsize=1)
def off_lock() -> tuple[str, ...]:
    """Return the math libraries whose installed version is not the recorded one, as ``name==version``."""
    return tuple(
        f"{name}=={installed(name)}" for name, pinned in MATH_PINS.items() if installed(name) != pinned
    )
