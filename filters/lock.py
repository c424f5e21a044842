"""The pack's tasks and their lock in, what holds out; or a new lock, unless a locked number would move.

Tasks that judge alike (same grader, suite and extraction versions, and for code the same data, overrides,
quirks and limits) share one measurement of the fixed replies and one file of kept verdicts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lm_eval_strict.sandbox.records import CodeVerdict, Isolation

from .grading import extract, grade
from .lock_file import (
    LOCK_NAME,
    Block,
    Verdicts,
    behaviour_digest,
    read_lock,
    read_verdicts,
    write_lock,
    write_verdicts,
)
from .lock_replies import fixed_replies
from .preflight import PreflightFailure, Settings, check
from .progress import progress_bar
from .rows import AT_LIMIT
from .task_spec import TaskSpec, read_task, task_names

SHOWN = 5
"""How many differing verdicts a fault names."""

UNSOUND = AT_LIMIT | {CodeVerdict.HARNESS_ERROR.value, CodeVerdict.NOT_GRADED.value}
"""Verdicts that a fixed reply must not have: they can depend on the machine."""


class LockRefused(Exception):
    """The lock cannot be written; the message is one line that says what to do."""


@dataclass(frozen=True)
class Finding:
    """How one frozen task stands to the lock: what differs, and why its verdicts could not be checked."""

    task: str
    version: str
    rows: int = 0
    faults: tuple[str, ...] = ()
    unchecked: str = ""


def frozen_names(folder: Path) -> list[str]:
    """Return the names of the frozen tasks of ``folder``, sorted."""
    return [name for name in task_names(folder) if re.search(r"_v\d+$", name)]


def judges_alike(spec: TaskSpec) -> str:
    """Return a text that is equal for tasks that give every fixed reply the same verdicts."""
    deciding: list[object] = [spec.kind, dict(spec.versions), spec.extraction]
    if spec.kind == "code":
        quirks = [dict(quirk) for quirk in spec.quirks]
        deciding += [spec.dataset, dict(spec.overrides), dict(spec.cpu_limits_s), quirks]
    return json.dumps(deciding, sort_keys=True)


def measure(spec: TaskSpec, folder: Path, *, isolation: Isolation, workers: int | None = None) -> Verdicts:
    """Grade the fixed replies of ``folder`` as ``spec`` does. Raises ``PreflightFailure`` where it cannot."""
    check(spec, Settings(isolation), needs_data=spec.kind == "code")
    replies = fixed_replies(spec, folder)
    with progress_bar(len(replies), f"measuring {spec.name}") as bar:
        graded = [extract(spec, reply, isolation=isolation) for reply in replies]
        grade(spec, graded, isolation=isolation, workers=workers, on_done=lambda _: bar.update(1))
    return {one.reply.id: {pipeline: row["verdict"] for pipeline, row in one.rows.items()} for one in graded}


def check_lock(
    folder: Path,
    names: Collection[str],
    *,
    isolation: Isolation = Isolation.FULL,
    workers: int | None = None,
) -> list[Finding]:
    """Compare the frozen tasks ``names`` of ``folder`` with its lock: what they declare, and each verdict."""
    blocks = read_lock(folder)
    findings = [
        Finding(name, blocks[name].version, faults=("the lock has it, the pack no more: old majors stay",))
        for name in sorted(set(names) & set(blocks) - set(frozen_names(folder)))
    ]
    for group in _groups(folder, names):
        found: Verdicts | str
        try:
            found = measure(group[0], folder, isolation=isolation, workers=workers)
        except PreflightFailure as failure:
            found = str(failure)
        findings += [_finding(spec, folder, blocks.get(spec.frozen_name), found) for spec in group]
    return sorted(findings, key=lambda finding: finding.task)


def _finding(spec: TaskSpec, folder: Path, block: Block | None, found: Verdicts | str) -> Finding:
    if block is None:
        missing = f"it is not in {LOCK_NAME}: make lock"
        return Finding(spec.frozen_name, spec.version, faults=(missing,))
    faults = []
    if spec.digest != block.declared:
        faults.append(f"what it declares has changed: {spec.digest}, the lock has {block.declared}")
    if spec.version != block.version:
        faults.append(f"its version is {spec.version}, the lock has {block.version}: make lock")
    kept = read_verdicts(folder / block.verdicts)
    if (behaviour_digest(kept), len(kept)) != (block.behaviour, block.rows):
        faults.append(f"{block.verdicts} is not the file that the lock was written with")
    if isinstance(found, str):
        return Finding(spec.frozen_name, spec.version, block.rows, tuple(faults), unchecked=found)
    moved = list(_moved(kept, found)) + [f"{name} is new" for name in found if name not in kept]
    if moved:
        faults.append(_moved_line(moved))
    return Finding(spec.frozen_name, spec.version, block.rows, tuple(faults))


def _moved(kept: Verdicts, found: Verdicts) -> Iterator[str]:
    """Tell of each kept verdict that is another one now."""
    for name, by_pipeline in kept.items():
        for pipeline, verdict in by_pipeline.items():
            now = found.get(name, {}).get(pipeline, "gone")
            if now != verdict:
                yield f"{name} {pipeline} {verdict} -> {now}"


def _moved_line(moved: Sequence[str]) -> str:
    rest = f"; and {len(moved) - SHOWN} more" if len(moved) > SHOWN else ""
    return f"{len(moved)} of the verdicts on the fixed replies moved: {'; '.join(moved[:SHOWN])}{rest}"


def _groups(folder: Path, names: Collection[str]) -> list[list[TaskSpec]]:
    """Return the tasks ``names`` of ``folder`` in groups that judge alike."""
    groups: dict[str, list[TaskSpec]] = {}
    for name in frozen_names(folder):
        if name in names:
            spec = read_task(name, folder=folder)
            groups.setdefault(judges_alike(spec), []).append(spec)
    return list(groups.values())


def make_lock(
    folder: Path,
    names: Collection[str],
    *,
    isolation: Isolation = Isolation.FULL,
    workers: int | None = None,
) -> dict[str, Verdicts]:
    """Write the lock and the kept verdicts of the frozen tasks ``names``; return the verdicts by file.

    Nothing is written, and ``LockRefused`` is raised, where what a locked task declares or a kept verdict
    would change, or where a fixed reply could not be judged soundly here. Replies may be added.
    """
    blocks, files = read_lock(folder), dict[str, Verdicts]()
    for group in _groups(folder, frozen_names(folder)):
        if not any(spec.frozen_name in names for spec in group):
            continue
        for spec in group:
            _refuse_other_declaration(spec, blocks.get(spec.frozen_name))
        try:
            found = measure(group[0], folder, isolation=isolation, workers=workers)
        except PreflightFailure as failure:
            raise LockRefused(str(failure)) from failure
        _refuse_unsound_verdicts(group[0], found)
        locked = next((blocks[spec.frozen_name] for spec in group if spec.frozen_name in blocks), None)
        if locked is not None:
            _refuse_moved_verdicts(group[0], locked, read_verdicts(folder / locked.verdicts), found)
        file_name = locked.verdicts if locked else _verdicts_name(group)
        files[file_name] = found
        for spec in group:
            blocks[spec.frozen_name] = Block(
                spec.version, spec.digest, behaviour_digest(found), len(found), file_name
            )
    for file_name, found in files.items():
        write_verdicts(folder / file_name, found)
    write_lock(folder, blocks)
    return files


def _verdicts_name(group: Sequence[TaskSpec]) -> str:
    shortest = min((spec.frozen_name for spec in group), key=lambda name: (len(name), name))
    return f"verdicts_{shortest}.jsonl"


def _refuse_other_declaration(spec: TaskSpec, block: Block | None) -> None:
    if block is not None and block.declared != spec.digest:
        major = int(spec.version.split(".")[0])
        raise LockRefused(
            f"{spec.frozen_name}: what it declares has changed, and its major has not: leave it as it was "
            f"and put the change into {spec.name}_v{major + 1}.yaml"
        )


def _refuse_unsound_verdicts(spec: TaskSpec, found: Verdicts) -> None:
    unsound = [f"{name} {each}" for name, by in found.items() for each in by.values() if each in UNSOUND]
    if unsound:
        raise LockRefused(
            f"{spec.frozen_name}: fixed replies whose verdict may depend on the machine: "
            f"{', '.join(unsound[:SHOWN])}"
        )


def _refuse_moved_verdicts(spec: TaskSpec, locked: Block, kept: Verdicts, found: Verdicts) -> None:
    if behaviour_digest(kept) != locked.behaviour:
        raise LockRefused(f"{locked.verdicts} is not the file that the lock was written with: restore it")
    moved = list(_moved(kept, found))
    if moved:
        raise LockRefused(
            f"{spec.frozen_name}: {_moved_line(moved)}: keep the version in filters/versions.py that judged "
            f"so, and put the change into a version and a major of its own"
        )
