"""A function to run and its limits in, one locked-in process that runs it and how that process ended out."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import cgroups, lock_in, rlimits, syscalls, work_folder
from .records import Limits

_SETUP_FAULT_STATUS = 125
_FAULT_BYTES = 512
_WORK_FILES = 1024
# The kernel counts a limit's CPU time by ticks, and what it reports at the end by the clock: they differ.
_CPU_COUNT_RATIO = 0.5
_MIB = 1 << 20


@dataclass(frozen=True)
class SampleEnd:
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
    faults: int
    limits: Limits
    memory_kills: int
    hit_file_limit: bool = False


class Cell:
    """The place where one worker's samples run; made by ``open_cell``.

    ``patrol_interval_s`` is None where the kernel bounds everything; else ``patrol`` is to be called so
    often while a sample runs (``wait`` does it by itself).
    """

    def __init__(self, walls: lock_in.Walls, group: cgroups.Group | None) -> None:
        self.level = walls.level
        self.has_cgroup = group is not None
        self.patrol_interval_s = None if walls.work_folder is None else 0.1
        self._walls = walls
        self._group = group
        self._group_limits: Limits | None = None
        self._running: dict[int, _Running] = {}

    def fork_sample(self, run: Callable[[], object], *, keep_fds: Sequence[int], limits: Limits) -> int:
        """Start ``run`` in a locked-in process that holds ``keep_fds`` and nothing else; return its pid.

        The process exits with 0 when ``run`` returns and with 1 when it raises. Where samples share a
        work folder, one runs at a time: RuntimeError otherwise.
        """
        if self._running and self._walls.work_folder is not None:
            raise RuntimeError("a sample of this cell still runs; its work folder is not free")
        kills = self._fit_group(limits)
        mapped_mib = lock_in.base_mib(self._walls)
        reader, writer = os.pipe()
        pid = syscalls.fork_with(self._walls.clone_flags())
        if pid == 0:
            self._live_as_sample(run, keep_fds, limits, mapped_mib, writer)
        os.close(writer)
        self._running[pid] = _Running(os.pidfd_open(pid), reader, limits, kills)
        return pid

    def _fit_group(self, limits: Limits) -> int:
        if self._group is None:
            return 0
        if self._group_limits is None or limits.memory_mib != self._group_limits.memory_mib:
            self._group.set_memory(limits)
            self._group_limits = limits
        return self._group.out_of_memory_kills()

    def _live_as_sample(
        self,
        run: Callable[[], object],
        keep_fds: Sequence[int],
        limits: Limits,
        mapped_mib: int,
        faults: int,
    ) -> None:
        status = _SETUP_FAULT_STATUS
        try:
            try:
                lock_in.lock_in(self._walls, [*keep_fds, faults], limits, mapped_mib)
            except BaseException as error:
                os.write(faults, f"{type(error).__name__}: {error}".encode()[:_FAULT_BYTES])
                return
            os.close(faults)  # closed and empty: the worker reads this as "locked in"
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
        if not sample.hit_file_limit and self._measure(pid, sample):
            self.kill(pid)

    def _measure(self, pid: int, sample: _Running) -> bool:
        if self._walls.work_folder is not None:
            size, count = work_folder.use(self._walls.work_folder, pid)
            sample.hit_file_limit |= size > sample.limits.file_mib * _MIB or count > _WORK_FILES
        return sample.hit_file_limit

    def wait(self, pid: int, wall_s: float) -> SampleEnd:
        """Wait for a sample at most ``wall_s`` seconds, then kill it; say how it ended."""
        sample = self._running[pid]
        late = not self._ends_within(pid, sample, wall_s)
        if late:
            self.kill(pid)
        _, status, usage = os.wait4(pid, 0)
        self._measure(pid, sample)
        del self._running[pid]
        os.close(sample.pidfd)
        with os.fdopen(sample.faults, "rb") as faults:
            fault = faults.read(_FAULT_BYTES).decode("utf-8", "replace")
        if self._walls.work_folder is not None:
            work_folder.empty(self._walls.work_folder)
        killed_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        cpu_s = usage.ru_utime + usage.ru_stime
        by_kernel = killed_by == signal.SIGKILL and not late
        return SampleEnd(
            exit_status=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            signal=killed_by,
            cpu_s=cpu_s,
            memory_mib=usage.ru_maxrss / 1024,
            hit_memory_limit=by_kernel and self._memory_kills() > sample.memory_kills,
            hit_cpu_limit=by_kernel and cpu_s >= _CPU_COUNT_RATIO * rlimits.cpu_limit_s(sample.limits),
            hit_wall_limit=late,
            hit_file_limit=sample.hit_file_limit,
            setup_fault=fault or None,
        )

    def _memory_kills(self) -> int:
        return self._group.out_of_memory_kills() if self._group is not None else 0

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
        if self._walls.work_folder is not None:
            work_folder.remove(self._walls.work_folder)
        if self._group is not None:
            self._group.leave()
            self._group = None
