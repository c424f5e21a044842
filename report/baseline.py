"""A run in, the baseline that a gate keeps out: scores by problem, and what produced them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .faults import UsageFault
from .read_lines import read_json
from .read_run import Run, by_pipeline
from .run_facts import digest_of
from .summary import counts_of

FORMAT = 1


@dataclass(frozen=True)
class TaskBaseline:
    """One task's part: ``scores`` maps pipeline, then problem, to (samples, passed).

    ``data`` is one hash over all row hashes; ``factors`` are the machine factors that multiplied the limits.
    """

    version: str
    task_digest: str
    request: Mapping[str, str]
    data: str
    row_hashes: Mapping[str, str]
    scores: Mapping[str, Mapping[str, tuple[int, int]]]
    factors: tuple[float, ...]
    near_limit: int
    isolation: tuple[str, ...]


@dataclass(frozen=True)
class Baseline:
    """What ``gate --update`` writes; ``made_with`` holds libraries, model, GPU and driver where known."""

    tasks: Mapping[str, TaskBaseline]
    made_with: Mapping[str, Any]


def task_baseline(run: Run, task: str) -> TaskBaseline:
    """Take one task's part out of a run."""
    verdicts = [verdict for verdict in run.verdicts if verdict.task == task]
    first = verdicts[0]
    hashes = {verdict.problem: verdict.row_hash for verdict in verdicts}
    return TaskBaseline(
        version=first.version,
        task_digest=first.task_digest,
        request=run.facts.request_of(task),
        data=digest_of(sorted(hashes.items())),
        row_hashes=hashes,
        scores={name: counts_of(group) for name, group in by_pipeline(verdicts).items()},
        factors=tuple(sorted({verdict.factor for verdict in verdicts})),
        near_limit=sum(verdict.near_limit for verdict in verdicts),
        isolation=tuple(sorted({verdict.isolation for verdict in verdicts if verdict.isolation})),
    )


def make_baseline(run: Run, libraries: Mapping[str, str]) -> Baseline:
    """Make the baseline of a run; ``libraries`` are the installed versions, where the run states none."""
    made_with = {
        "model": run.facts.model,
        "libraries": {**libraries, **run.facts.libraries},
        "machine": dict(run.facts.machine),
    }
    return Baseline({task: task_baseline(run, task) for task in run.tasks}, made_with)


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline; equal runs write equal files."""
    tasks = {task: vars(stored) for task, stored in baseline.tasks.items()}
    document = {"baseline": FORMAT, "made_with": baseline.made_with, "tasks": tasks}
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


def read_baseline(path: Path) -> Baseline:
    """Read a baseline; raises UsageFault with one line for a file that is none."""
    document = read_json(path)
    if not isinstance(document, dict) or document.get("baseline") != FORMAT:
        raise UsageFault(f"{path}: no baseline of gate: make one with gate --baseline {path} --update RUN")
    try:
        tasks = {str(task): _task(stored) for task, stored in document["tasks"].items()}
        return Baseline(tasks, dict(document["made_with"]))
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise UsageFault(f"{path}: a damaged baseline ({type(fault).__name__}: {fault})") from None


def _task(stored: Mapping[str, Any]) -> TaskBaseline:
    scores = {
        pipeline: {problem: (int(n), int(c)) for problem, (n, c) in problems.items()}
        for pipeline, problems in stored["scores"].items()
    }
    return TaskBaseline(
        version=str(stored["version"]),
        task_digest=str(stored["task_digest"]),
        request=dict(stored["request"]),
        data=str(stored["data"]),
        row_hashes=dict(stored["row_hashes"]),
        scores=scores,
        factors=tuple(float(factor) for factor in stored["factors"]),
        near_limit=int(stored["near_limit"]),
        isolation=tuple(stored["isolation"]),
    )
