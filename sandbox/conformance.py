"""A level in, one result for each of its promises out: programs that try to break them, run in the real cell.

Which processes: a fresh interpreter (the *watcher*) stands for the broker and stays outside. It lays out
canaries, forks a worker that opens a cell and runs every probe as a sample, looks at a running sample from
outside, kills a worker under a running sample, and at the end compares the host with what it was before.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace

from . import (
    conformance_calls,
    conformance_files,
    conformance_processes,
    conformance_surroundings,
    fresh_process,
)
from .cell import Cell
from .conformance_outside import LOOKS, canary_places, difference, lay_canaries, mounts
from .conformance_probe import Context, Ending, Probe, ProbeResult
from .isolation import open_cell
from .layers import Layer
from .records import Isolation, Limits

PROBES: tuple[Probe, ...] = (
    *conformance_calls.PROBES,
    *conformance_files.PROBES,
    *conformance_surroundings.PROBES,
    *conformance_processes.PROBES,
)
_SUITE_WALL_S = 120.0
_ANSWER_BYTES = 4096
_CANARY_PREFIX = "lm-eval-strict-conformance-"
_OPEN_PROMISE = "The level can be had on this machine."
_HOST_PROMISE = "The host's mounts, control groups and files are as they were."


def run_conformance(
    level: Isolation, *, without: Iterable[Layer] = (), only: Iterable[str] = ()
) -> list[ProbeResult]:
    """Try to break each promise of ``level`` on this machine, a few seconds long; change nothing on it.

    ``without`` leaves layers out, to see probes fail; ``only`` runs the probes of these names. A machine
    that cannot give the level gives one result that is not held, named ``open_cell``, that says why.
    """
    request = {"level": level.value, "without": [layer.value for layer in without], "only": list(only)}
    try:
        answer = fresh_process.call("conformance", "watch", request, wall_s=_SUITE_WALL_S)
    except OSError as error:
        return [ProbeResult("open_cell", _OPEN_PROMISE, False, str(error))]
    assert isinstance(answer, list)
    return [ProbeResult(**fields) for fields in answer]


def watch(request: Mapping[str, object]) -> list[dict[str, object]]:
    """Do ``run_conformance``'s work in a fresh interpreter, and return the results' fields."""
    level = Isolation(request["level"])
    without = frozenset(Layer(name) for name in request["without"])  # type: ignore[attr-defined]
    only = set(request["only"])  # type: ignore[call-overload]
    try:
        import numpy  # noqa: F401 - as a worker has it
    except ImportError:
        pass  # an installation without it has no promise about it
    folders = [tempfile.mkdtemp(prefix=_CANARY_PREFIX, dir=place) for place in canary_places()]
    try:
        return [asdict(result) for result in _results(lay_canaries(level, folders), without, only)]
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


def _results(context: Context, without: frozenset[Layer], only: set[str]) -> Iterator[ProbeResult]:
    before = mounts()
    workers: list[int] = []
    results = _worker_results(context, without, only, workers)
    yield from results
    if not results[0].held or context.level is Isolation.NONE:
        return
    for name, look in LOOKS.items():
        if (not only or name in only) and (context.level is Isolation.FULL or name != "own_namespaces"):
            yield _result(name, look.__doc__, look(context.level, without, workers))
    if not only or "host_unchanged" in only:
        yield _result("host_unchanged", _HOST_PROMISE, difference(before, context, workers))


def _result(name: str, promise: str | None, detail: str) -> ProbeResult:
    return ProbeResult(name, (promise or "").partition("\n")[0], not detail, detail)


def _worker_results(
    context: Context, without: frozenset[Layer], only: set[str], workers: list[int]
) -> list[ProbeResult]:
    """Fork a worker that runs the probes, and return what it reports."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            with os.fdopen(writer, "w") as stream:
                try:
                    for result in _run_probes(context, without, only):
                        stream.write(json.dumps(asdict(result)) + "\n")
                except Exception as error:
                    stream.write(json.dumps(asdict(_result("worker", "It lives.", repr(error)))) + "\n")
        finally:
            os._exit(0)
    workers.append(pid)
    os.close(writer)
    with os.fdopen(reader) as stream:
        lines = stream.read().splitlines()
    status = os.waitpid(pid, 0)[1]
    results = [ProbeResult(**json.loads(line)) for line in lines]
    if status or not results:
        results.append(_result("worker", "The worker lives through every probe.", f"it ended with {status}"))
    return results


def _run_probes(context: Context, without: frozenset[Layer], only: set[str]) -> Iterator[ProbeResult]:
    try:
        cell = open_cell(context.level, Limits(), without=without)
    except Exception as error:
        yield _result("open_cell", _OPEN_PROMISE, str(error) or repr(error))
        return
    yield _result("open_cell", _OPEN_PROMISE, "")
    for probe in PROBES:
        if context.level in probe.levels and (not only or probe.name in only):
            yield _run_probe(cell, probe, replace(context, limits=probe.limits))
    cell.close()


def _run_probe(cell: Cell, probe: Probe, context: Context) -> ProbeResult:
    reader, writer = os.pipe()

    def attack() -> None:
        try:
            said = probe.attack(context)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode("utf-8", "replace")[:_ANSWER_BYTES])

    pid = cell.fork_sample(attack, keep_fds=[writer], limits=probe.limits)
    os.close(writer)
    end = cell.wait(pid, probe.wall_s)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read(_ANSWER_BYTES).decode("utf-8", "replace")
    return _result(probe.name, probe.promise, probe.judge(Ending(said, end, probe.limits)))
