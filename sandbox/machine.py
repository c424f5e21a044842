"""What this machine can give: processor count, and how much slower it is than the machine the limits were
recorded on.
"""

from __future__ import annotations

import functools
import os
import time
from pathlib import Path

RECORDED_LOOP_S = 0.0187  # _loop() where tasks/humaneval_plus_cpu_limits.json was recorded: its `loop_s`
TOLERANCE = 1.25  # within this of the recording machine counts as the same speed
MEMORY_PER_WORKER_MIB = 700  # an examiner and a sample at its limit


def usable_cpus() -> int:
    """Count the processors this process may use: affinity, cgroup quota and memory, at least 1."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    counts = [affinity]
    quota = _cgroup_quota()
    if quota is not None:
        counts.append(max(1, int(quota + 0.5)))
    memory = _available_mib()
    if memory is not None:
        counts.append(max(1, memory // MEMORY_PER_WORKER_MIB))
    return max(1, min(counts))


@functools.lru_cache(maxsize=1)
def speed_factor() -> float:
    """Give the number that limits are multiplied by here, at least 1.0: a faster machine never shortens a
    limit.
    """
    ratios = []
    for _ in range(5):
        ratios.append(_loop() / RECORDED_LOOP_S)
        if ratios[-1] <= TOLERANCE:  # one quick loop shows it
            return 1.0
    return round(min(ratios), 1)


def _loop() -> float:
    """Time one fixed piece of work in this thread's own processor seconds, which other load does not move.

    A quarter of it is done: callers wait for the answer.
    """
    started = time.thread_time()
    total = 0
    for number in range(100_000):
        total += number * number & 0xFF
    return 4 * (time.thread_time() - started)


def _cgroup_quota() -> float | None:
    for quota_file, period_file in (
        ("/sys/fs/cgroup/cpu.max", None),
        ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
    ):
        try:
            words = Path(quota_file).read_text().split()
            words += Path(period_file).read_text().split() if period_file else []
            quota, period = float(words[0]), float(words[1])
        except (OSError, ValueError, IndexError):
            continue  # no such controller here, or "max": no quota
        if quota > 0 and period > 0:
            return quota / period
    return None


def _available_mib() -> int | None:
    found = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError, IndexError):
        pass  # not Linux: memory does not bound the count then
    for limit_file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            found.append(int(Path(limit_file).read_text()) >> 20)
        except (OSError, ValueError):
            continue  # no such controller here, or "max"
    return min(found) if found else None
