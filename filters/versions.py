"""The versions that a number depends on: our own extractions, suites and graders, and the libraries' pins.

A task's YAML names the version of each that it stands on. A version in the registry keeps its verdicts for
good: a change that moves one is another version beside it, asked for by a new major of the task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib import import_module, metadata
from types import MappingProxyType
from typing import Any

from lm_eval_strict.sandbox.records import Suite

from .rows import ExtractedAnswer, ExtractedProgram, Judgement

LM_EVAL_TESTED = "0.4.13"
"""The release of lm-eval whose contracts were read and run."""

MATH_PINS = {"math-verify": "0.9.0", "latex2sympy2_extended": "1.11.0", "sympy": "1.14.0"}
"""Exact versions under which the math graders' verdicts were recorded."""

Grader = Callable[[str, str], Judgement]

FUNCTIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("extract_answer", "1"): "answer_extraction:extract_answer",
        ("extract_program", "1"): "program_extraction:extract_program",
        ("exact", "1"): "grade_exact:grade",
        ("normalized", "1"): "grade_normalized:grade",
        ("symbolic", "1"): "grade_symbolic:grade",
        ("strict", "1"): "grade_strict:grade",
    }
)
"""(name, version) -> ``module:function`` of this package; imported when first asked for."""

SUITES: Mapping[tuple[str, str], Suite] = MappingProxyType(
    {
        ("base", "1"): Suite.BASE,
        ("plus", "1"): Suite.PLUS,
        ("plus_strict", "1"): Suite.PLUS_STRICT,
        ("plus_adjudicated", "1"): Suite.PLUS_ADJUDICATED,
    }
)
"""(pipeline, version) -> the suite by which the sandbox judges."""


class UnknownVersion(Exception):
    """A task stands on a version that this pack does not have; one line names those it has."""


def require_version(name: str, version: str) -> None:
    """Raise ``UnknownVersion`` unless the pack has ``version`` of ``name``."""
    known = [each for known_name, each in (*FUNCTIONS, *SUITES) if known_name == name]
    if version not in known:
        has = f"this pack has {', '.join(known)}" if known else "this pack has none of that name"
        raise UnknownVersion(f"{name} version {version!r}: {has}; install the pack that the task came with")


def newest(name: str) -> str:
    """Return the newest version of ``name`` in this pack. Raises ``UnknownVersion`` where it has none."""
    known = [version for known_name, version in (*FUNCTIONS, *SUITES) if known_name == name]
    if not known:
        require_version(name, "1")
    return max(known, key=int)


def grader(name: str, version: str) -> Grader:
    """Return ``version`` of the math grader ``name``. Raises ``UnknownVersion``."""
    found: Grader = _function(name, version)
    return found


def answer_extraction(version: str) -> Callable[..., ExtractedAnswer]:
    """Return ``version`` of ``extract_answer``. Raises ``UnknownVersion``."""
    found: Callable[..., ExtractedAnswer] = _function("extract_answer", version)
    return found


def program_extraction(version: str) -> Callable[..., ExtractedProgram]:
    """Return ``version`` of ``extract_program``. Raises ``UnknownVersion``."""
    found: Callable[..., ExtractedProgram] = _function("extract_program", version)
    return found


def suite(name: str, version: str) -> Suite:
    """Return the suite that is ``version`` of the code pipeline ``name``. Raises ``UnknownVersion``."""
    require_version(name, version)
    return SUITES[name, version]


def _function(name: str, version: str) -> Any:
    require_version(name, version)
    module, _, function = FUNCTIONS[name, version].partition(":")
    return getattr(import_module(f".{module}", __package__), function)


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
