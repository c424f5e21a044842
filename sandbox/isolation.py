"""A function to run and its limits in, one locked-in process that runs it and how that process ended out."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import file_view, landlock, namespaces, neutral_paths, privileges, rlimits, seccomp, syscalls
from .errors import SandboxUnavailable
from .records import Isolation, Limits

_SETUP_FAULT_STATUS = 125
_WORK_INODES = 1024


@dataclass(frozen=True)
class SampleEnd:
    """How one sample's process ended; exactly one of ``exit_status`` and ``signal`` is set.

    ``setup_fault`` says what the sandbox itself could not do: then nothing of the program ran.
    ``memory_mib`` is the greatest resident size, what the warm parent shares with the sample included.
    """

    exit_status: int | None
    signal: int | None
    cpu_s: float
    memory_mib: float
    hit_memory_limit: bool = False
    hit_cpu_limit: bool = False
    hit_wall_limit: bool = False
    setup_fault: str | None = None


@dataclass
class _Running:
    pid: int
    pidfd: int
    faults: int
    limits: Limits


class Cell:
    """The place where one worker's samples run; made by ``open_cell``."""

    def __init__(self, level: Isolation, own_uid: bool, base_mib: int, rules: int | None) -> None:
        self._null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        self.level = level
        self._own_uid = own_uid
        self._base_mib = base_mib
        self._rules = rules
        self._running: dict[int, _Running] = {}

    def fork_sample(self, run: Callable[[], object], *, keep_fds: Sequence[int], limits: Limits) -> int:
        """Start ``run`` in a locked-in process that holds ``keep_fds`` and nothing else; return its pid."""
        reader, writer = os.pipe()
        flags = namespaces.SAMPLE if self.level is Isolation.FULL else 0
        pid = syscalls.fork_with(flags)
        if pid == 0:
            self._live_as_sample(run, keep_fds, limits, writer)
        os.close(writer)
        self._running[pid] = _Running(pid, os.pidfd_open(pid), reader, limits)
        return pid

    def _live_as_sample(
        self, run: Callable[[], object], keep_fds: Sequence[int], limits: Limits, faults: int
    ) -> None:
        status = _SETUP_FAULT_STATUS
        try:
            try:
                self._lock_in(keep_fds, limits, faults)
            except BaseException as error:
                os.write(faults, f"{type(error).__name__}: {error}".encode()[:512])
                return
            status = 1
            run()
            status = 0
        except BaseException:
            pass  # the exit status says it; the program must not get to print through our frames
        finally:
            os._exit(status)

    def _lock_in(self, keep_fds: Sequence[int], limits: Limits, faults: int) -> None:
        for stream in {0, 1, 2}.difference(keep_fds):
            os.dup2(self._null, stream)
        if self.level is Isolation.NONE:
            syscalls.close_all_but({0, 1, 2, *keep_fds, faults})
            os.close(faults)
            return
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        uid = namespaces.SAMPLE_UID
        if self.level is Isolation.FULL:
            file_view.mount_work(limits.file_mib, _WORK_INODES, uid, uid)
        rlimits.apply(limits, self._base_mib)
        if self._own_uid:
            privileges.become(uid, uid)
            syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        privileges.drop_capabilities()
        if self._rules is not None:
            landlock.restrict(self._rules)
        code = seccomp.build(syscalls.machine(), own_pid=os.getpid(), file_attributes=True)
        syscalls.close_all_but({0, 1, 2, *keep_fds, faults})
        # A full pipe's worth of nothing: the parent reads the end of file as "locked in".
        seccomp.load(code)
        os.close(faults)

    def pidfd(self, pid: int) -> int:
        """Return a descriptor that becomes readable when the sample ends."""
        return self._running[pid].pidfd

    def wait(self, pid: int, wall_s: float) -> SampleEnd:
        """Wait for a sample at most ``wall_s`` seconds, then kill it; say how it ended."""
        sample = self._running[pid]
        deadline = time.monotonic() + wall_s
        poller = select.poll()
        poller.register(sample.pidfd, select.POLLIN)
        late = not poller.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if late:
            self.kill(pid)
        _, status, usage = os.wait4(pid, 0)
        del self._running[pid]
        os.close(sample.pidfd)
        with os.fdopen(sample.faults, "rb") as faults:
            fault = faults.read(512).decode("utf-8", "replace")
        killed_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        cpu_s = usage.ru_utime + usage.ru_stime
        memory_mib = usage.ru_maxrss / 1024
        ended_by_kernel = killed_by == signal.SIGKILL and not late
        over_cpu = ended_by_kernel and cpu_s >= rlimits.cpu_limit_s(sample.limits) - 0.1
        return SampleEnd(
            exit_status=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            signal=killed_by,
            cpu_s=cpu_s,
            memory_mib=memory_mib,
            hit_memory_limit=ended_by_kernel and not over_cpu,
            hit_cpu_limit=over_cpu,
            hit_wall_limit=late,
            setup_fault=fault or None,
        )

    def kill(self, pid: int) -> None:
        """Kill a sample, and with it everything that it started; its end is still to be waited for."""
        os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill and reap what still runs."""
        for pid in list(self._running):
            self.kill(pid)
            self.wait(pid, 5.0)


def open_cell(level: Isolation, limits: Limits) -> Cell:
    """Lock this process in as far as ``level`` says, for good, and return the cell for its samples.

    Raises SandboxUnavailable naming the step that this machine refuses; never goes on at a weaker level.
    """
    if level is Isolation.NONE:
        return Cell(level, False, rlimits.address_space_mib(), None)
    if not sys.platform.startswith("linux"):
        raise SandboxUnavailable(f"isolation={level.value} needs Linux, this is {sys.platform}")
    try:
        base_mib = rlimits.address_space_mib()
        neutral_paths.fix_environment()
        if level is not Isolation.FULL:
            raise OSError(38, "reduced: not built yet")
        file_view.shared_objects()
        own_uid = namespaces.enter()
        neutral_paths.move_modules(file_view.enter())
        privileges.forbid_new_privileges()
        privileges.empty_bounding_set()
        rules = None
        if landlock.version():
            rules = landlock.rule_set(["/"], ["/var", "/dev/null"])
    except (OSError, ValueError) as error:
        raise SandboxUnavailable(f"isolation={level.value}: {error}") from error
    return Cell(level, own_uid, base_mib, rules)
