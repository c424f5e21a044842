"""Replies in, answers and verdicts out.

Public: ``extract_program``, ``extract_answer``, ``GRADERS`` (name -> ``grade(answer, gold)``),
``grade_programs``, ``load_problems``, ``pass_at_k``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .grade_programs import grade_programs
from .pass_at_k import pass_at_k
from .problems import load_problems

if TYPE_CHECKING:
    from .answer_extraction import extract_answer
    from .math_graders import GRADERS
    from .program_extraction import extract_program

__all__ = ["GRADERS", "extract_answer", "extract_program", "grade_programs", "load_problems", "pass_at_k"]

_HOMES = {
    "GRADERS": "math_graders",
    "extract_answer": "answer_extraction",
    "extract_program": "program_extraction",
}


def __getattr__(name: str) -> Any:
    """Import what brings SymPy, or hundreds of patterns, when it is first asked for."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
