"""What a worker has prepared in, the steps that put a freshly forked process behind every wall out.

Whatever can be made ready is made ready in the worker, before the fork: in a new process each page that is
written to costs a fault, and a page is written to by looking at a Python object.
"""

from __future__ import annotations

import functools
import os
import select
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from . import privileges, rlimits, seccomp, syscalls
from .layers import Layer
from .records import Isolation, Limits

_FIRST_PROCESS = 1  # every sample's own process id, as it sees it in its own PID namespace


@dataclass(frozen=True)
class Walls:
    """What a worker has prepared once for all of its samples.

    ``user`` is None where a sample keeps the worker's, ``rules`` where there is no Landlock; ``filter`` is a
    seccomp program. ``rules``, ``null`` and ``statm`` are descriptors; ``opened`` are the limits that the
    worker itself is under.
    """

    level: Isolation
    without: frozenset[Layer]
    opened: Limits
    null: int
    statm: int
    user: privileges.User | None = None
    rules: int | None = None
    filter: bytes | None = None

    def has(self, layer: Layer) -> bool:
        """Say whether the layer stands."""
        return layer not in self.without

    def clone_flags(self) -> int:
        """Return the namespaces that a sample is born into."""
        full = self.level is Isolation.FULL
        return syscalls.CLONE_NEWPID if full and self.has(Layer.PID_NAMESPACE) else 0


def mapped_mib(walls: Walls) -> int:
    """Return how much address space the worker has mapped, in MiB."""
    return int(os.pread(walls.statm, 64, 0).split()[0]) * rlimits.PAGE_BYTES >> 20


class LockIn:
    """The steps of one worker's samples: listed before the fork, taken with ``syscalls.take`` after it."""

    def __init__(self, walls: Walls) -> None:
        import resource  # absent on Windows; loaded here, once, and not in every sample

        self._walls = walls
        self._setrlimit = resource.setrlimit
        self._streams_lead_nowhere = all(_is_null(fd, walls.null) for fd in range(3))
        self._worker_ended = select.poll()
        self._worker_ended.register(os.pidfd_open(os.getpid()), select.POLLIN)
        self._rights = self._steps_of_rights()
        self._filter = seccomp.Filter(walls.filter) if walls.filter is not None else None
        # One sample after the other has the same descriptors and limits.
        self._list_steps = functools.lru_cache(maxsize=8)(self._steps)

    def _steps_of_rights(self) -> list[syscalls.Step]:
        """List the steps that are the same for all samples: user, death, capabilities, Landlock."""
        walls = self._walls
        steps: list[syscalls.Step] = []
        if walls.user is not None and walls.has(Layer.OWN_UID):
            steps += privileges.steps_to_become(walls.user)
        if walls.has(Layer.DEATH_WITH_PARENT):
            # After the change of user, which clears it.
            call = syscalls.prepared_prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
            steps.append(("prctl(PR_SET_PDEATHSIG)", *call))
            steps.append(("look for the worker", self._end_without_worker, ()))
        if walls.level is Isolation.NONE:
            return steps
        if walls.has(Layer.NO_CAPABILITIES):
            steps.append(privileges.step_to_drop())
        if walls.rules is not None and walls.has(Layer.LANDLOCK):
            call = syscalls.prepared("landlock_restrict_self", walls.rules, 0)
            steps.append(("landlock_restrict_self", *call))
        return steps

    def _end_without_worker(self) -> None:
        """End this sample if its worker was killed before the kernel was told to end both together."""
        if self._worker_ended.poll(0):
            os._exit(0)

    def prepare(self, keep_fds: Sequence[int], limits: Limits) -> list[syscalls.Step]:
        """List what the next sample does; ``keep_fds`` stay open.

        The standard streams lead nowhere unless they are kept.
        """
        return self._list_steps(tuple(keep_fds), limits, mapped_mib(self._walls))

    def _steps(self, keep_fds: tuple[int, ...], limits: Limits, mapped: int) -> list[syscalls.Step]:
        """List the steps; the order matters: a step needs rights that a later one takes."""
        walls = self._walls
        steps: list[syscalls.Step] = []
        if not self._streams_lead_nowhere:
            steps += [("dup2", os.dup2, (walls.null, fd)) for fd in {0, 1, 2}.difference(keep_fds)]
        if walls.has(Layer.RLIMITS):
            bounds = rlimits.for_sample(limits, walls.opened, mapped)
            steps += [("setrlimit", self._setrlimit, bound) for bound in bounds]
        steps += self._rights
        if walls.has(Layer.CLOSED_DESCRIPTORS):
            steps += syscalls.steps_to_close_all_but({0, 1, 2, *keep_fds})
        if self._filter is not None:
            steps += self._filter.steps(_FIRST_PROCESS if walls.clone_flags() else None)
        return steps


def _is_null(fd: int, null: int) -> bool:
    try:
        return os.fstat(fd).st_rdev == os.fstat(null).st_rdev
    except OSError:
        return False
