"""Promises about other processes and about limits: each probe runs inside a sample, or judges its end."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
import time

from .call_numbers import call_numbers
from .conformance_probe import Context, Ending, Probe, said_nothing
from .conformance_surroundings import works
from .records import Isolation, Limits

_FULL_ONLY = frozenset({Isolation.FULL})
_MIB = 1 << 20
_SIGCHLD = 17
_MORE_TASKS = 8
_SPIN_S = 3.0  # CPU seconds after which a program without a limit gives up


def no_other_process(_: Context) -> str:
    """No other process can be signalled, nor its group, session, priority or limits touched."""
    import resource

    own = os.getpid()
    targets = [pid for pid in (-1, 0, 1, 2, os.getppid(), *range(3, 400)) if pid != own]
    found = [f"kill {pid}" for pid in targets if works(lambda pid=pid: os.kill(pid, 0))]  # type: ignore[misc]
    for pid in (1, os.getppid()):
        if pid not in (0, own):
            attempts = {
                "limits": lambda pid=pid: resource.prlimit(pid, resource.RLIMIT_NOFILE),
                "pidfd": lambda pid=pid: os.pidfd_open(pid),
                "affinity": lambda pid=pid: os.sched_setaffinity(pid, {0}),
                "priority": lambda pid=pid: os.setpriority(os.PRIO_PROCESS, pid, 19),
            }
            found += [f"{name} of {pid}" for name, attempt in attempts.items() if works(attempt)]
    found += (
        ["real-time"] if works(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))) else []
    )
    return ", ".join(found)


def no_process_seen(_: Context) -> str:
    """No process's entry can be listed or read: memory, environment, descriptors, command line."""
    seen = []
    for pid in ("self", "thread-self", *map(str, range(1, 400))):
        for name in ("status", "environ", "maps", "mem", "cmdline", "fd", "cwd", "root", "exe"):
            path = f"/proc/{pid}/{name}"
            if pid.endswith("self") and name == "cwd":
                continue  # its own working folder by another name
            if works(lambda path=path: os.close(os.open(path, os.O_RDONLY))):  # type: ignore[misc]
                seen.append(path)
    return ", ".join(seen[:5])


def no_new_process(_: Context) -> str:
    """No process can be started: by fork, vfork, spawn, a shell, or a raw call."""
    started = []
    if works(_fork_and_reap):
        started.append("fork")
    if works(lambda: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)):
        started.append("posix_spawn")
    libc = ctypes.CDLL(None, use_errno=True)
    pid = libc.syscall(
        ctypes.c_long(call_numbers(os.uname().machine)["clone"]), ctypes.c_long(_SIGCHLD), 0, 0, 0, 0
    )
    if pid == 0:
        os._exit(0)
    if pid > 0:
        os.waitpid(pid, 0)
        started.append("clone")
    return ", ".join(started)


def _fork_and_reap() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def first_process_of_its_own(_: Context) -> str:
    """The sample is process 1 of its own process table, on a host of a neutral name."""
    found = [] if os.getpid() == 1 else [f"it is process {os.getpid()}"]
    found += [] if os.getppid() == 0 else ["it has a parent"]
    found += [] if os.uname().nodename == "sandbox" else [f"the host's name is {os.uname().nodename}"]
    return ", ".join(found)


def bounded_threads(context: Context) -> str:
    """Threads are allowed, and about as many as the limit of tasks at most."""
    stop = threading.Event()
    threading.stack_size(64 << 10)
    started = 0
    try:
        while started < 4 * context.limits.tasks:
            threading.Thread(target=stop.wait, daemon=True).start()
            started += 1
    except (RuntimeError, MemoryError):
        pass
    # Where a user's tasks are counted together, those of others that end make room for a few more.
    if started > context.limits.tasks + _MORE_TASKS:
        return f"{started} threads started"
    return "" if started else "not one thread could be started"


def bounded_memory(context: Context) -> str:
    """Memory is bounded for the whole sample, private, shared and mapped memory alike."""
    import mmap

    held: list[object] = []
    total = 0
    try:
        while total < 4 * context.limits.memory_mib:
            private = len(held) % 2 == 0
            block = bytearray(8 * _MIB) if private else mmap.mmap(-1, 8 * _MIB)
            held.append(block)
            total += 8
    except (MemoryError, OSError):
        pass
    count = len(held)
    held.clear()
    return "" if total <= context.limits.memory_mib else f"{total} MiB in {count} blocks"


def _memory_judged(ending: Ending) -> str:
    return "" if ending.end.hit_memory_limit else said_nothing(ending)


def limits_stay(_: Context) -> str:
    """No limit can be raised again, and no core file is written."""
    import resource

    names = ("AS", "CPU", "FSIZE", "NOFILE", "NPROC", "CORE")
    raised = []
    for name in names:
        kind = getattr(resource, f"RLIMIT_{name}")
        soft, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            raised.append(f"{name} has no limit")
        elif works(lambda kind=kind, hard=hard: resource.setrlimit(kind, (hard + 1, hard + 1))):  # type: ignore[misc]
            raised.append(name)
        elif soft != hard:
            raised.append(f"{name} warns before it ends")
    return ", ".join(raised)


def bounded_descriptors(_: Context) -> str:
    """No more than a few dozen files can be open."""
    held: list[int] = []
    try:
        while len(held) < 4096:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    for fd in held:
        os.close(fd)
    return "" if len(held) <= 64 else f"{len(held)} are open"


def bounded_cpu(_: Context) -> str:
    """CPU seconds are bounded, those of all threads together, whatever signals are ignored."""
    for number in range(1, 65):
        if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    threading.Thread(target=_spin, daemon=True).start()
    _spin()
    return "it spun for ever"


def _spin() -> None:
    import hashlib

    while time.process_time() < _SPIN_S:
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 20_000)


def _cpu_judged(ending: Ending) -> str:
    over = ending.end.cpu_s - ending.limits.cpu_s
    return "" if ending.end.hit_cpu_limit and over < 1.0 else f"it ended as {ending.end}"


def bounded_wall(_: Context) -> str:
    """A sleeper that blocks every signal is ended at the wall-clock limit."""
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        time.sleep(60)


def _wall_judged(ending: Ending) -> str:
    return "" if ending.end.hit_wall_limit else f"it ended as {ending.end}"


PROBES = (
    Probe(no_other_process),
    Probe(no_process_seen),
    Probe(no_new_process),
    Probe(first_process_of_its_own, levels=_FULL_ONLY),
    Probe(bounded_threads),
    Probe(bounded_memory, judge=_memory_judged, limits=Limits(cpu_s=5.0, memory_mib=128)),
    Probe(limits_stay),
    Probe(bounded_descriptors),
    Probe(bounded_cpu, judge=_cpu_judged, limits=Limits(cpu_s=1.0), wall_s=60.0),
    Probe(bounded_wall, judge=_wall_judged, wall_s=0.5),
)
