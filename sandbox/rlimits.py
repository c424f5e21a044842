"""Limits of one sample in, what the kernel is to enforce for one process out."""

from __future__ import annotations

import math
import os

from .records import Limits

OPEN_FILES = 64
PAGE_BYTES = 4096
_STACK_MIB = 64
_MIB = 1 << 20
Bound = tuple[int, tuple[int, int]]  # arguments of resource.setrlimit; soft and hard are equal


def cpu_limit_s(limits: Limits) -> int:
    """Return the CPU seconds that the kernel enforces: it counts whole seconds only."""
    return max(1, math.ceil(limits.cpu_s))


def set_inherited(limits: Limits, others: int | None) -> None:
    """Set on a worker, for good, what is the same for all of its samples.

    ``others`` is how many tasks are counted together with a sample's, None where no count can be had. The
    number of tasks binds no root; a sample is never root's where it is promised.
    """
    import resource  # absent on Windows

    bounds = {
        resource.RLIMIT_FSIZE: limits.file_mib * _MIB,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 256,
        resource.RLIMIT_STACK: _STACK_MIB * _MIB,
    }
    if others is not None:
        bounds[resource.RLIMIT_NPROC] = limits.tasks + others
    for kind, bound in bounds.items():
        resource.setrlimit(*_bound(kind, bound))


def for_sample(limits: Limits, opened: Limits, mapped_mib: int) -> list[Bound]:
    """List what a sample sets on itself; ``mapped_mib`` is what was mapped before the program came.

    Soft and hard limit are equal, so that no signal comes first that a program could ignore. ``opened``
    is what the worker was opened with: its file size is inherited, and can be less but never more.
    """
    import resource

    bounds = [
        _bound(resource.RLIMIT_AS, (mapped_mib + limits.memory_mib) * _MIB),
        _bound(resource.RLIMIT_CPU, cpu_limit_s(limits)),
    ]
    if limits.file_mib != opened.file_mib:
        bounds.append((resource.RLIMIT_FSIZE, (limits.file_mib * _MIB, limits.file_mib * _MIB)))
    return bounds


def _bound(kind: int, value: int) -> Bound:
    import resource

    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    return kind, (value, value)


def tasks_of_this_user() -> int:
    """Count the threads that this user runs on the whole machine, as the kernel counts them."""
    count = 0
    own = os.getuid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == own:
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue  # it ended
    return count
