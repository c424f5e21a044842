"""A file of replies in, a file of rows out: in parallel, in input order, and to be continued after a kill."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_strict.sandbox.records import CodeVerdict, Isolation

from .grading import Row, extract, grade
from .read_replies import BadLine, read_replies
from .replies import Reply
from .task_spec import TaskSpec

if TYPE_CHECKING:
    from .cluster import Cluster

CHUNK = 2000
"""How many replies are extracted and graded at a time, and synced to disk: it bounds memory and loss."""

Keep = Callable[[int, list[Row]], None]
"""Takes the index of a reply in the input, and its final rows."""


@dataclass(frozen=True)
class Summary:
    """What a run of ``grade_file`` did: inputs read, continued from before, bad lines, harness errors."""

    replies: int
    continued: int
    bad_lines: tuple[BadLine, ...]
    harness_errors: int


class Unfinished(Exception):
    """Rows of an earlier run are there and were not asked to be continued, or belong to another task."""


def partial_path(out: Path) -> Path:
    """Return where the rows of an unfinished run are kept until all are there."""
    return out.with_name(out.name + ".partial")


def grade_file(
    spec: TaskSpec,
    inputs: Sequence[Reply | BadLine],
    out: Path,
    *,
    resume: bool = False,
    isolation: Isolation = Isolation.FULL,
    workers: int | None = None,
    cluster: Cluster | None = None,
    on_done: Callable[[int], None] | None = None,
) -> Summary:
    """Grade ``inputs`` and write one row per input and pipeline to ``out``, in input order.

    Rows are kept in ``out`` + ``.partial`` as they come. ``resume`` goes on from there; without it,
    what an unfinished run left raises ``Unfinished`` rather than be overwritten. ``cluster`` grades
    in place of this machine's ``workers``. ``on_done`` is called with how many more inputs are done.
    """
    kept = _kept_rows(spec, partial_path(out), resume)
    todo = {index: one for index, one in enumerate(inputs) if index not in kept and isinstance(one, Reply)}
    if on_done is not None:
        on_done(len(inputs) - len(todo))
    out.parent.mkdir(parents=True, exist_ok=True)
    with _keeping(partial_path(out), kept, on_done) as keep:
        if cluster is not None:
            cluster.grade(spec, todo, isolation, keep)
        else:
            for start in range(0, len(todo), CHUNK):
                chunk = dict(islice(todo.items(), start, start + CHUNK))
                _grade_here(spec, chunk, isolation, workers, keep)
    errors = _write_in_order(spec, inputs, kept, out)
    partial_path(out).unlink()
    bad = tuple(each for each in inputs if isinstance(each, BadLine))
    return Summary(len(inputs), len(inputs) - len(todo) - len(bad), bad, errors)


@contextmanager
def _keeping(path: Path, kept: dict[int, list[Row]], on_done: Callable[[int], None] | None) -> Iterator[Keep]:
    """Give what keeps a reply's rows by its index, in ``kept`` and at once in the file."""
    with path.open("a", encoding="utf-8") as partial:

        def keep(index: int, rows: list[Row]) -> None:
            kept[index] = rows
            partial.write(json.dumps({"index": index, "rows": rows}) + "\n")
            partial.flush()
            if len(kept) % CHUNK == 0:
                os.fsync(partial.fileno())
            if on_done is not None:
                on_done(1)

        try:
            yield keep
        finally:
            os.fsync(partial.fileno())


def read_file(path: Path, spec: TaskSpec) -> list[Reply | BadLine]:
    """Return what the lines of ``path`` ask to be graded."""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        return list(read_replies(file, spec))


def _grade_here(
    spec: TaskSpec, replies: Mapping[int, Reply], isolation: Isolation, workers: int | None, keep: Keep
) -> None:
    """Grade on this machine and give each reply's index and rows to ``keep`` as they are there."""
    indices = list(replies)
    graded = [extract(spec, reply, isolation=isolation) for reply in replies.values()]
    left = set(range(len(graded)))

    def on_done(number: int) -> None:
        left.discard(number)
        keep(indices[number], list(graded[number].rows.values()))

    grade(spec, graded, isolation=isolation, workers=workers, on_done=on_done)
    for number in sorted(left):
        on_done(number)


def _kept_rows(spec: TaskSpec, path: Path, resume: bool) -> dict[int, list[Row]]:
    """Return the rows of an unfinished run by input index; half-written lines and our errors go again."""
    if not path.is_file():
        return {}
    if not resume:
        raise Unfinished(f"{path} holds rows of an unfinished run: add --resume to go on, or remove it")
    kept: dict[int, list[Row]] = {}
    sound = 0
    for line in _whole_lines(path):
        sound += len(line)
        entry = json.loads(line)
        if any(row["task_digest"] != spec.digest for row in entry["rows"]):
            raise Unfinished(f"{path} holds rows of another task or version: remove it")
        if all(row["verdict"] != CodeVerdict.HARNESS_ERROR.value for row in entry["rows"]):
            kept[entry["index"]] = [Row(row) for row in entry["rows"]]
    os.truncate(path, sound)
    return kept


def _whole_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def _write_in_order(
    spec: TaskSpec, inputs: Sequence[Reply | BadLine], kept: dict[int, list[Row]], out: Path
) -> int:
    """Write all rows to ``out`` at once, replacing it, and return how many replies met an error of ours."""
    errors = 0
    fresh = out.with_name(out.name + ".new")
    with fresh.open("w", encoding="utf-8") as file:
        for index, each in enumerate(inputs):
            rows = _bad_rows(spec, each) if isinstance(each, BadLine) else kept[index]
            errors += any(row["verdict"] == CodeVerdict.HARNESS_ERROR.value for row in rows)
            file.writelines(json.dumps(row) + "\n" for row in rows)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(out)
    return errors


def _bad_rows(spec: TaskSpec, bad: BadLine) -> list[Row]:
    return [
        Row(
            id=bad.id,
            task=spec.name,
            version=spec.version,
            task_digest=spec.digest,
            pipeline=pipeline,
            verdict=CodeVerdict.NOT_GRADED.value,
            detail=f"bad line: {bad.why}",
            line=bad.number,
        )
        for pipeline in spec.pipelines
    ]
