"""The records that pass between extraction, grading and report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class MathVerdict(str, Enum):
    """The verdict of a grade on one answer."""

    RIGHT = "right"
    WRONG = "wrong"
    NO_ANSWER = "no_answer"
    UNREADABLE = "unreadable"
    TIMED_OUT = "timed_out"
    NOT_GRADED = "not_graded"
    HARNESS_ERROR = "harness_error"


class Truncated(str, Enum):
    """Whether a reply was cut off: known from the source, or likely from its text."""

    NO = "no"
    LIKELY = "likely"
    YES = "yes"


@dataclass(frozen=True)
class ExtractedProgram:
    """The program that a reply hands in; ``program`` is None where it hands in none.

    ``rule`` names the extraction rule that fired and ``repairs`` what was mended, in order.
    """

    program: str | None
    rule: str
    repairs: tuple[str, ...] = ()
    truncated: Truncated = Truncated.NO


@dataclass(frozen=True)
class ExtractedAnswer:
    """The final answer that a reply states; ``answer`` is None where it states none."""

    answer: str | None
    rule: str
    truncated: Truncated = Truncated.NO


@dataclass(frozen=True)
class Judgement:
    """One grader's verdict on one (answer, gold) pair.

    ``kind`` is the kind of the gold, ``comparison`` the equality that decided, ``read_answer`` and
    ``read_gold`` both sides as they were read. ``debatable`` names the written rule that decided where
    careful readers differ, and ``verdict_otherwise`` is the verdict had the rule been the other way.
    """

    verdict: MathVerdict
    kind: str = ""
    comparison: str = ""
    read_answer: str = ""
    read_gold: str = ""
    debatable: str = ""
    verdict_otherwise: MathVerdict | None = None


PASSING = frozenset({"passed", "right"})
"""Verdicts that count as a pass; all others count as none."""

AT_LIMIT = frozenset({"timed_out", "out_of_memory", "output_limit"})
"""Verdicts of programs and answers that ran into a limit."""
