"""Nothing in, what this machine lets a sandbox do out: tried, not guessed, in a throwaway process."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import cgroups, file_view, fresh_process, landlock, namespaces
from .errors import SandboxUnavailable
from .layers import Layer
from .records import Isolation, Limits

_PROBE_WALL_S = 30.0
_NAMESPACES = (Layer.NETWORK_NAMESPACE, Layer.IPC_NAMESPACE, Layer.UTS_NAMESPACE)


@dataclass(frozen=True)
class Capabilities:
    """What this machine gives.

    ``level`` is the best that works. ``faults`` says, for each thing that does not, what the kernel
    answered: its keys are levels and layers. ``landlock`` is the kernel's version of it, 0 for none;
    ``cgroup`` is ``v2``, ``v1`` or ``none``.
    """

    platform: str
    is_root: bool
    level: Isolation
    faults: Mapping[str, str]
    landlock: int = 0
    cgroup: str = "none"


@functools.lru_cache(maxsize=1)
def probe() -> Capabilities:
    """Find out what this machine can do, once per process (about a quarter of a second); change nothing."""
    if not sys.platform.startswith("linux"):
        reason = f"the sandbox needs Linux, this is {sys.platform}"
        return Capabilities(sys.platform, False, Isolation.NONE, {"full": reason, "reduced": reason})
    try:
        answer = fresh_process.call("probing", "try_everything", None, wall_s=_PROBE_WALL_S)
    except OSError as error:
        faults = {"full": str(error), "reduced": str(error)}
        return Capabilities(sys.platform, os.geteuid() == 0, Isolation.NONE, faults)
    assert isinstance(answer, dict)
    return Capabilities(
        platform=sys.platform,
        is_root=answer["is_root"],
        level=Isolation(answer["level"]),
        faults=answer["faults"],
        landlock=answer["landlock"],
        cgroup=answer["cgroup"],
    )


def try_everything(_: object) -> dict[str, object]:
    """Try each thing in a child of its own and return the fields of Capabilities; runs in a fresh process."""
    file_view.shared_objects()
    trials: dict[str, Callable[[], None]] = {
        Isolation.FULL.value: lambda: _run_sample(Isolation.FULL),
        Isolation.REDUCED.value: lambda: _run_sample(Isolation.REDUCED),
        Layer.USER_NAMESPACE.value: lambda: _enter(set()),
        Layer.FILE_VIEW.value: _mount_something,
        Layer.CGROUP.value: _join_group,
    }
    trials |= {layer.value: functools.partial(_enter, {layer}) for layer in _NAMESPACES}
    faults = {name: fault for name, trial in trials.items() if (fault := _fault_of(trial))}
    levels = (Isolation.FULL, Isolation.REDUCED)
    best = next((level for level in levels if level.value not in faults), Isolation.NONE)
    trees = cgroups.trees()
    return {
        "is_root": os.geteuid() == 0,
        "level": best.value,
        "faults": faults,
        "landlock": landlock.version(),
        "cgroup": f"v{trees[0].version}" if trees and Layer.CGROUP.value not in faults else "none",
    }


def _fault_of(trial: Callable[[], None]) -> str:
    """Run a trial in a child and return what went wrong there; empty when nothing did."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        message = "it ended without an answer"
        try:
            os.close(reader)
            trial()
            message = ""
        except BaseException as error:
            message = getattr(error, "reason", None) or str(error) or type(error).__name__
        finally:
            os.write(writer, b"." + message.encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read().decode("utf-8", "replace")
    os.waitpid(pid, 0)
    return said[1:] if said else "it was killed"


def _run_sample(level: Isolation) -> None:
    from .isolation import open_cell  # at the top it would be a circle

    limits = Limits()
    cell = open_cell(level, limits)
    try:
        end = cell.wait(cell.fork_sample(_nothing, keep_fds=(), limits=limits), 10.0)
    finally:
        cell.close()
    if end.exit_status != 0:
        raise SandboxUnavailable(f"isolation={level.value}: {end.setup_fault or f'a sample ended as {end}'}")


def _nothing() -> None:
    pass


def _enter(wanted: set[Layer]) -> None:
    namespaces.enter(frozenset(Layer) - wanted - {Layer.USER_NAMESPACE})


def _mount_something() -> None:
    _enter({Layer.FILE_VIEW})
    file_view.enter()


def _join_group() -> None:
    group = cgroups.join(Limits())
    if group is None:
        raise FileNotFoundError(2, "no control group tree with memory and pids can be written here")
    group.leave()
