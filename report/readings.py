"""Cases and a reader's decisions in; the score as read, and how far each grader agrees with it, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .agreement import Agreement, agreement
from .decisions import DEBATABLE, NONE, RIGHT, Decision
from .reading_cases import Case, accepts
from .statistics import Interval, wilson
from .verdicts import HARNESS_ERROR, NOT_GRADED, headline_of


@dataclass(frozen=True)
class Misjudged:
    """One case that a grader judged otherwise than the reader."""

    pipeline: str
    key: str
    problem: str
    replies: int
    verdict: str
    answer: str
    gold: str
    note: str


@dataclass(frozen=True)
class Readings:
    """What the readings say of one task.

    ``score`` counts each reply as read; a reply whose case was not read counts as the headline grader judged
    it, and a debatable one as not right (``score_debatable_right``: as right). ``read_accepted`` says how
    many of the accepted cases were read at all: false accepts are known among those only. ``agreement`` is
    over the replies of the cases that were read and not debatable, by pipeline.
    """

    task: str
    headline: str
    replies: int
    cases: int
    decided: int
    debatable: int
    score: Interval
    score_debatable_right: Interval
    graded_score: Interval
    accepted_cases: int
    read_accepted: int
    agreement: Mapping[str, Agreement]
    false_accepts: tuple[Misjudged, ...]
    false_rejects: tuple[Misjudged, ...]


def readings_of(task: str, cases: Sequence[Case], decisions: Mapping[str, Decision]) -> Readings:
    """Join decisions with the cases of one task; raises ValueError if there is no case."""
    mine = [case for case in cases if case.task == task]
    if not mine:
        raise ValueError(f"task is {task!r}: no case of it")
    headline = headline_of({name for case in mine for name in case.verdicts})
    read = {case.key: decisions[case.key] for case in mine if _decided(decisions.get(case.key))}
    firm = [case for case in mine if case.key in read and read[case.key].decision != DEBATABLE]
    judged = [case for case in mine if case.verdicts.get(headline) not in (None, NOT_GRADED, HARNESS_ERROR)]
    replies = sum(len(case.replies) for case in judged)
    graded = sum(len(case.replies) for case in judged if accepts(case.verdicts[headline]))
    right = sum(len(case.replies) for case in judged if _right(case, headline, read))
    open_ = sum(len(case.replies) for case in judged if _is_debatable(case, read))
    accepted = [case for case in judged if accepts(case.verdicts[headline])]
    misses = [miss for case in firm for miss in _misses(case, read[case.key])]
    return Readings(
        task=task,
        headline=headline,
        replies=replies,
        cases=len(mine),
        decided=len(read),
        debatable=sum(decision.decision == DEBATABLE for decision in read.values()),
        score=wilson(right, max(1, replies)),
        score_debatable_right=wilson(right + open_, max(1, replies)),
        graded_score=wilson(graded, max(1, replies)),
        accepted_cases=len(accepted),
        read_accepted=sum(case.key in read for case in accepted),
        agreement=_agreements(firm, read),
        false_accepts=tuple(miss for miss in misses if accepts(miss.verdict)),
        false_rejects=tuple(miss for miss in misses if not accepts(miss.verdict)),
    )


def _decided(decision: Decision | None) -> bool:
    return decision is not None and decision.decision != NONE


def _is_debatable(case: Case, read: Mapping[str, Decision]) -> bool:
    return case.key in read and read[case.key].decision == DEBATABLE


def _right(case: Case, headline: str, read: Mapping[str, Decision]) -> bool:
    if case.key in read:
        return read[case.key].decision == RIGHT
    return accepts(case.verdicts[headline])


def _agreements(firm: Sequence[Case], read: Mapping[str, Decision]) -> dict[str, Agreement]:
    out = {}
    for name in dict.fromkeys(name for case in firm for name in case.verdicts):
        accepted, right = [], []
        for case in firm:
            if case.verdicts.get(name) not in (None, NOT_GRADED, HARNESS_ERROR):
                accepted += [accepts(case.verdicts[name])] * len(case.replies)
                right += [read[case.key].decision == RIGHT] * len(case.replies)
        if accepted:
            out[name] = agreement(accepted, right)
    return out


def _misses(case: Case, decision: Decision) -> list[Misjudged]:
    right = decision.decision == RIGHT
    row = next(iter(case.rows.values()))
    return [
        Misjudged(
            pipeline=name,
            key=case.key,
            problem=case.replies[0][0],
            replies=len(case.replies),
            verdict=verdict,
            answer=str(row.get("answer") or row.get("program") or ""),
            gold=str(row.get("gold") or ""),
            note=decision.note,
        )
        for name, verdict in case.verdicts.items()
        if verdict not in (NOT_GRADED, HARNESS_ERROR) and accepts(verdict) != right
    ]
