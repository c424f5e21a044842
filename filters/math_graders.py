"""The math graders by name, each ``(answer, gold) -> Judgement``, in their newest versions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .versions import Grader, grader, newest

MATH_PIPELINES = ("exact", "normalized", "symbolic", "strict")

GRADERS: Mapping[str, Grader] = MappingProxyType(
    {name: grader(name, newest(name)) for name in MATH_PIPELINES}
)
