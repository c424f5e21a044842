"""Limits of one sample in, the kernel's per-process limits set."""

from __future__ import annotations

import math

from .records import Limits

OPEN_FILES = 64
PAGE_BYTES = 4096
_STACK_MIB = 64
_MIB = 1 << 20


def cpu_limit_s(limits: Limits) -> int:
    """Return the CPU seconds that the kernel enforces: it counts whole seconds only."""
    return max(1, math.ceil(limits.cpu_s))


def apply(limits: Limits, mapped_mib: int) -> None:
    """Set the limits on this process; ``mapped_mib`` is what was mapped before the program came.

    Soft and hard limit are equal, so that no signal comes first that a program could ignore. The number
    of processes does not bind root; no sample that keeps root's user has a promise of that.
    """
    import resource  # absent on Windows

    bounds = {
        resource.RLIMIT_AS: (mapped_mib + limits.memory_mib) * _MIB,
        resource.RLIMIT_CPU: cpu_limit_s(limits),
        resource.RLIMIT_FSIZE: limits.file_mib * _MIB,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_NPROC: limits.tasks,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 256,
        resource.RLIMIT_STACK: _STACK_MIB * _MIB,
    }
    for kind, bound in bounds.items():
        hard = resource.getrlimit(kind)[1]
        value = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (value, value))
