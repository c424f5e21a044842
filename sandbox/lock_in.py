"""A freshly forked process in, the same process behind every wall out; then nothing gives a way back."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from . import file_view, landlock, privileges, rlimits, seccomp, syscalls
from .layers import Layer
from .records import Isolation, Limits

_WORK_INODES = 1024


@dataclass(frozen=True)
class Walls:
    """What a worker has prepared once for all of its samples.

    ``user`` is None where a sample keeps the worker's, ``rules`` where there is no Landlock, and
    ``work_folder`` where each sample mounts one of its own; ``filter`` is a seccomp program. ``rules``,
    ``null`` and ``statm`` are descriptors.
    """

    level: Isolation
    without: frozenset[Layer]
    user: privileges.User | None
    rules: int | None
    work_folder: str | None
    filter: bytes | None
    null: int
    statm: int

    def has(self, layer: Layer) -> bool:
        """Say whether the layer stands."""
        return layer not in self.without

    def clone_flags(self) -> int:
        """Return the namespaces that a sample is born into."""
        if self.level is not Isolation.FULL:
            return 0
        flags = syscalls.CLONE_NEWNS if self.has(Layer.WORK_FOLDER) else 0
        return flags | (syscalls.CLONE_NEWPID if self.has(Layer.PID_NAMESPACE) else 0)


def base_mib(walls: Walls) -> int:
    """Return how much address space the worker has mapped, in MiB."""
    return int(os.pread(walls.statm, 64, 0).split()[0]) * rlimits.PAGE_BYTES >> 20


def lock_in(walls: Walls, keep_fds: Sequence[int], limits: Limits, mapped_mib: int) -> None:
    """Put this process behind the walls; raise OSError naming the step that the kernel refused.

    ``keep_fds`` stay open; the standard streams lead nowhere unless they are kept. The order matters:
    each step needs a right that a later one takes away.
    """
    for stream in {0, 1, 2}.difference(keep_fds):
        os.dup2(walls.null, stream)
    if walls.level is not Isolation.NONE:
        _give_up_rights(walls, limits, mapped_mib)
    if walls.has(Layer.CLOSED_DESCRIPTORS):
        syscalls.close_all_but({0, 1, 2, *keep_fds})
    if walls.filter is not None:
        seccomp.load(walls.filter, os.getpid())


def _give_up_rights(walls: Walls, limits: Limits, mapped_mib: int) -> None:
    os.setsid()
    if walls.has(Layer.WORK_FOLDER):
        if walls.work_folder is None:
            file_view.mount_work(limits.file_mib, _WORK_INODES, privileges.NOBODY)
        else:
            os.chdir(walls.work_folder)
    if walls.has(Layer.RLIMITS):
        rlimits.apply(limits, mapped_mib)
    if walls.user is not None and walls.has(Layer.OWN_UID):
        privileges.become(walls.user)
    if walls.has(Layer.DEATH_WITH_PARENT):
        # After the change of user, which clears it. Were the worker dead by now, nobody would reap us: look.
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if walls.has(Layer.NO_CAPABILITIES):
        privileges.drop_capabilities()
    if walls.rules is not None and walls.has(Layer.LANDLOCK):
        landlock.restrict(walls.rules)
