"""A function to run and its limits in, one locked-in process that runs it and how that process ended out."""

from __future__ import annotations

import mmap
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from . import cgroups, lock_in, rlimits, syscalls
from .records import Isolation, Limits
from .work_folder import MountedFolder, PatrolledFolder

_SETUP_FAULT_STATUS = 125
_FAULT_BYTES = 512
# The kernel counts a limit's CPU time by ticks, and what it reports at the end by the clock: they differ.
_CPU_COUNT_RATIO = 0.5


class SampleEnd(NamedTuple):
    """How one sample's process ended; exactly one of ``exit_status`` and ``signal`` is set.

    ``setup_fault`` says what the sandbox itself could not do: then nothing of the program ran.
    ``memory_mib`` is the greatest resident size, what the warm parent shares with the sample included.
    ``hit_file_limit`` is set where only measuring bounds the sum of a sample's files.
    """

    exit_status: int | None
    signal: int | None
    cpu_s: float
    memory_mib: float
    hit_memory_limit: bool = False
    hit_cpu_limit: bool = False
    hit_wall_limit: bool = False
    hit_file_limit: bool = False
    setup_fault: str | None = None


@dataclass
class _Running:
    pidfd: int
    limits: Limits
    hit_file_limit: bool = False


class Cell:
    """The place where one worker's samples run, one at a time; made by ``open_cell``.

    ``patrol_interval_s`` is None where the kernel bounds everything; else ``patrol`` is to be called so
    often while a sample runs (``wait`` does it by itself).
    """

    def __init__(
        self,
        walls: lock_in.Walls,
        work: MountedFolder | PatrolledFolder | None,
        group: cgroups.Group | None,
    ) -> None:
        self.level = walls.level
        self.has_cgroup = group is not None
        self.patrol_interval_s = work.patrol_interval_s if work is not None else None
        self._flags = walls.clone_flags()
        self._locks = lock_in.LockIn(walls)
        self._work = work
        self._group = group
        self._group_limits: Limits | None = None
        self._memory_kills = 0
        self._faults = mmap.mmap(-1, mmap.PAGESIZE)
        self._running: dict[int, _Running] = {}

    def fork_sample(self, run: Callable[[], object], *, keep_fds: Sequence[int], limits: Limits) -> int:
        """Start ``run`` in a locked-in process that holds ``keep_fds`` and nothing else; return its pid.

        The process exits with 0 when ``run`` returns and with 1 when it raises. RuntimeError when a sample
        of this cell has not been waited for: the working folder is one.
        """
        if self._running and self.level is not Isolation.NONE:
            raise RuntimeError("a sample of this cell has not been waited for; its work folder is not free")
        if self._group is not None and limits.memory_mib != self._memory_bound():
            self._group.set_memory(limits)
            self._group_limits = limits
        if self._work is not None:
            self._work.ready(limits)
        steps = self._locks.prepare(keep_fds, limits)
        pid = syscalls.fork_with(self._flags)
        if pid == 0:
            self._live_as_sample(run, steps)
        self._running[pid] = _Running(os.pidfd_open(pid), limits)
        return pid

    def _memory_bound(self) -> int | None:
        return self._group_limits.memory_mib if self._group_limits is not None else None

    def _live_as_sample(self, run: Callable[[], object], steps: Sequence[syscalls.Step]) -> None:
        status = _SETUP_FAULT_STATUS
        try:
            try:
                syscalls.take(steps)
            except BaseException as error:
                text = f"{type(error).__name__}: {error}".encode()[:_FAULT_BYTES]
                self._faults[: len(text)] = text
                return
            self._faults.close()  # the worker's copy stays empty, which it reads as "locked in"
            status = 1
            run()
            status = 0
        except BaseException:
            pass  # the exit status says it; a traceback would be printed by the program's own objects
        finally:
            os._exit(status)

    def pidfd(self, pid: int) -> int:
        """Return a descriptor that becomes readable when the sample ends; it stays the cell's."""
        return self._running[pid].pidfd

    def patrol(self, pid: int) -> None:
        """Kill the sample if its files, summed up, are over the limit."""
        sample = self._running[pid]
        if not sample.hit_file_limit and self._is_over(pid, sample):
            self.kill(pid)

    def _is_over(self, pid: int, sample: _Running) -> bool:
        if self._work is not None:
            sample.hit_file_limit |= self._work.is_over(pid, sample.limits)
        return sample.hit_file_limit

    def wait(self, pid: int, wall_s: float) -> SampleEnd:
        """Wait for a sample at most ``wall_s`` seconds, then kill it; say how it ended."""
        sample = self._running[pid]
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        late = not ended and not self._ends_within(pid, sample, wall_s)
        if not ended:
            if late:
                self.kill(pid)
            _, status, usage = os.wait4(pid, 0)
        del self._running[pid]
        os.close(sample.pidfd)
        self._is_over(pid, sample)
        if self._work is not None:
            self._work.done()
        killed_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        cpu_s = usage.ru_utime + usage.ru_stime
        by_kernel = killed_by == signal.SIGKILL and not late
        return SampleEnd(
            exit_status=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            signal=killed_by,
            cpu_s=cpu_s,
            memory_mib=usage.ru_maxrss / 1024,
            hit_memory_limit=killed_by == signal.SIGKILL and self._was_short_of_memory(),
            hit_cpu_limit=by_kernel and cpu_s >= _CPU_COUNT_RATIO * rlimits.cpu_limit_s(sample.limits),
            hit_wall_limit=late,
            hit_file_limit=sample.hit_file_limit,
            setup_fault=self._take_fault() if self._faults[0] else None,
        )

    def _take_fault(self) -> str:
        text = self._faults[:_FAULT_BYTES].rstrip(b"\0").decode("utf-8", "replace")
        self._faults[:_FAULT_BYTES] = bytes(_FAULT_BYTES)
        return text

    def _was_short_of_memory(self) -> bool:
        before = self._memory_kills
        if self._group is not None:
            self._memory_kills = self._group.out_of_memory_kills()
        return self._memory_kills > before

    def _ends_within(self, pid: int, sample: _Running, wall_s: float) -> bool:
        deadline = time.monotonic() + wall_s
        poller = select.poll()
        poller.register(sample.pidfd, select.POLLIN)
        while True:
            left_s = max(0.0, deadline - time.monotonic())
            if poller.poll(min(left_s, self.patrol_interval_s or left_s) * 1000):
                return True
            if time.monotonic() >= deadline:
                return False
            self.patrol(pid)

    def kill(self, pid: int) -> None:
        """Kill a sample, and with it everything that it started; its end is still to be waited for."""
        os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill and reap what still runs; remove the work folder and the control group."""
        for pid in list(self._running):
            self.kill(pid)
            self.wait(pid, 5.0)
        if self._work is not None:
            self._work.close()
        if self._group is not None:
            self._group.leave()
            self._group = None
