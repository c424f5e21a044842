"""Replies in, answers and verdicts out.

Public: ``extract_program``, ``extract_answer``, ``GRADERS`` (name -> ``grade(answer, gold)``),
``grade_programs``, ``load_problems``, ``pass_at_k``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .extract_answer import extract_answer
from .extract_program import extract_program
from .grade_programs import grade_programs
from .pass_at_k import pass_at_k
from .problems import load_problems

if TYPE_CHECKING:
    from .math_graders import GRADERS

__all__ = ["GRADERS", "extract_answer", "extract_program", "grade_programs", "load_problems", "pass_at_k"]


def __getattr__(name: str) -> Any:
    """Import the math graders, which bring SymPy, when they are first asked for."""
    if name == "GRADERS":
        from .math_graders import GRADERS

        return GRADERS
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
