"""One thing to grade: a raw reply, or a program or an answer that needs no extraction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .rows import Truncated


@dataclass(frozen=True)
class Reply:
    """What one model said about one problem.

    ``key`` is the problem's identifier in the task's data set, ``sample`` which of the repeats it is.
    At most one of ``text`` (a raw reply), ``program`` and ``answer`` is set. ``mode`` None means the task's
    own. ``truncated`` is set only where the source of the reply knows, ``gold`` only where an answer is
    graded against a gold of its own. ``facts`` go into the row as they are.
    """

    id: str
    key: str
    sample: int = 0
    text: str | None = None
    program: str | None = None
    answer: str | None = None
    mode: str | None = None
    truncated: Truncated | None = None
    gold: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
