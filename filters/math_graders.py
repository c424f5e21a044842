"""The math graders by name, each ``(answer, gold) -> Judgement``, and each one's own version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from . import grade_exact, grade_normalized, grade_strict, grade_symbolic
from .rows import Judgement

Grader = Callable[[str, str], Judgement]

GRADERS: Mapping[str, Grader] = MappingProxyType(
    {
        "exact": grade_exact.grade,
        "normalized": grade_normalized.grade,
        "symbolic": grade_symbolic.grade,
        "strict": grade_strict.grade,
    }
)

# A grader's version moves with every change that can move one of its verdicts.
VERSIONS: Mapping[str, str] = MappingProxyType(
    {"exact": "1", "normalized": "1", "symbolic": "1", "strict": "1"}
)
