"""Pairs of answer and gold in, every grader's judgement of each out, in processes that are killed at a limit.

Equal pairs are graded once. ``no_answer``, ``timed_out``, ``unreadable`` and ``harness_error`` are told
apart: an answer that a grader cannot finish is the model's, a grader that breaks is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from lm_eval_strict.sandbox.errors import SandboxUnavailable
from lm_eval_strict.sandbox.pool import Pool, PoolOutcome

from .math_graders import MATH_PIPELINES
from .rows import Judgement, MathVerdict
from .versions import grader, newest

CALL_WALL_S = 15.0
MEMORY_MIB = 2048
# These are linear in the text and call nothing that could hang: they need no process of their own.
IN_PROCESS = frozenset({"exact", "normalized"})
_PRELOADED = {"symbolic": ("math_verify", "latex2sympy2_extended.latex2sympy2"), "strict": ("mpmath",)}
_BATCHES = {"symbolic": 1, "strict": 64}
_EXHAUSTED = ("out of memory", "MemoryError", "RecursionError")

Task = tuple[tuple[str, str], str, str]
"""A grader's name and version, an answer and a gold."""


def grade_answers(
    pairs: Sequence[tuple[str | None, str]],
    graders: Sequence[str] | Mapping[str, str],
    *,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[dict[str, Judgement]]:
    """Grade each (answer, gold) with each of ``graders``; an answer of None is ``no_answer``.

    ``graders`` are names, each in its newest version, or names with the version of each. Results come in
    input order. ``on_done`` gets the index of each pair once all its graders are done.
    Raises ``ValueError`` for an unknown name, ``UnknownVersion`` for a version that the pack does not have.
    """
    unknown = [name for name in graders if name not in MATH_PIPELINES]
    if unknown:
        raise ValueError(f"graders={unknown}: known are {', '.join(MATH_PIPELINES)}")
    versions = dict(graders) if isinstance(graders, Mapping) else {name: newest(name) for name in graders}
    functions = {name: grader(name, version) for name, version in versions.items()}
    progress = _Progress(pairs, list(versions.items()), on_done)
    tasks = progress.tasks()
    judged: dict[Task, Judgement] = {}
    for task in tasks:
        (name, _), answer, gold = task
        if name in IN_PROCESS:
            judged[task] = functions[name](answer, gold)
            progress.done([task])
    _grade_in_workers([task for task in tasks if task not in judged], judged, workers, progress)
    missing = {name: Judgement(MathVerdict.NO_ANSWER) for name in versions}
    return [
        dict(missing)
        if answer is None
        else {each[0]: judged[each, answer, gold] for each in versions.items()}
        for answer, gold in pairs
    ]


class _Progress:
    """Which pairs still wait for a grader."""

    def __init__(
        self,
        pairs: Sequence[tuple[str | None, str]],
        graders: Sequence[tuple[str, str]],
        on_done: Callable[[int], None] | None,
    ) -> None:
        self._on_done = on_done or (lambda index: None)
        self._open: dict[int, int] = {}
        self._waiting: dict[Task, list[int]] = {}
        for index, (answer, gold) in enumerate(pairs):
            if answer is None or not graders:
                self._on_done(index)
                continue
            self._open[index] = len(graders)
            for each in graders:
                self._waiting.setdefault((each, answer, gold), []).append(index)

    def tasks(self) -> list[Task]:
        """Return what is to be graded, equal pairs once."""
        return list(self._waiting)

    def done(self, tasks: Iterable[Task]) -> None:
        """Count tasks as graded and tell of the pairs that are finished with them."""
        for task in tasks:
            for index in self._waiting[task]:
                self._open[index] -= 1
                if self._open[index] == 0:
                    self._on_done(index)


def _grade_in_workers(
    tasks: Sequence[Task], judged: dict[Task, Judgement], workers: int | None, progress: _Progress
) -> None:
    """Grade in batches; the pairs of a batch that did not return are graded again one by one."""
    if not tasks:
        return
    graders = sorted({each for each, _, _ in tasks})
    try:
        pool = _pool(tuple(graders), workers)
        batches = [
            batch for each in graders for batch in _batches([task for task in tasks if task[0] == each])
        ]
        single = _run(pool, batches, judged, progress)
        _run(pool, [[task] for task in single], judged, progress)
    except SandboxUnavailable:
        # Where no process can be forked the graders still work, unprotected: their bounds must do.
        for task in tasks:
            if task not in judged:
                judged[task] = grader(*task[0])(task[1], task[2])
                progress.done([task])


def _batches(tasks: Sequence[Task]) -> list[list[Task]]:
    size = _BATCHES.get(tasks[0][0][0], 1) if tasks else 1
    return [list(tasks[start : start + size]) for start in range(0, len(tasks), size)]


def _run(
    pool: Pool, batches: Sequence[list[Task]], judged: dict[Task, Judgement], progress: _Progress
) -> list[Task]:
    """Grade batches and return the tasks that must be graded again alone."""
    items = [
        {"grader": list(batch[0][0]), "pairs": [[answer, gold] for _, answer, gold in batch]}
        for batch in batches
    ]

    def on_batch(index: int) -> None:
        if len(batches[index]) == 1:
            progress.done(batches[index])

    again: list[Task] = []
    for batch, outcome in zip(batches, pool.map(items, on_done=on_batch), strict=True):
        if outcome.status == "ok":
            judged.update(zip(batch, (_judgement(fields) for fields in outcome.value), strict=True))
            if len(batch) > 1:
                progress.done(batch)
        elif len(batch) > 1:
            again.extend(batch)
        else:
            judged[batch[0]] = _failed(outcome)
    return again


def _failed(outcome: PoolOutcome) -> Judgement:
    """Return the judgement of a call that did not return: too much for the limits, or a fault of ours."""
    if outcome.status == "timed_out":
        return Judgement(MathVerdict.TIMED_OUT, comparison=f"longer than {CALL_WALL_S:g} s")
    if outcome.detail.startswith(_EXHAUSTED):
        return Judgement(MathVerdict.UNREADABLE, comparison=outcome.detail[:200])
    return Judgement(MathVerdict.HARNESS_ERROR, comparison=f"{outcome.status}: {outcome.detail}"[:200])


@lru_cache(maxsize=4)
def _pool(graders: tuple[tuple[str, str], ...], workers: int | None) -> Pool:
    """Return the warm pool for these graders; it lives as long as the process."""
    preload = ["lm_eval_strict.filters.math_graders"]
    preload += [module for name, _ in graders for module in _PRELOADED.get(name, ())]
    function = "lm_eval_strict.filters.grade_answers:grade_batch"
    return Pool(function, preload=preload, workers=workers, call_wall_s=CALL_WALL_S, memory_mib=MEMORY_MIB)


def grade_batch(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Grade the pairs of one item in a worker; take and return what JSON can carry."""
    grade = grader(*item["grader"])
    return [_fields(grade(answer, gold)) for answer, gold in item["pairs"]]


def _fields(judgement: Judgement) -> dict[str, Any]:
    other = judgement.verdict_otherwise
    return asdict(judgement) | {
        "verdict": judgement.verdict.value,
        "verdict_otherwise": other.value if other is not None else None,
    }


def _judgement(fields: dict[str, Any]) -> Judgement:
    other = fields["verdict_otherwise"]
    named = {
        "verdict": MathVerdict(fields["verdict"]),
        "verdict_otherwise": MathVerdict(other) if other else None,
    }
    return Judgement(**(fields | named))
