"""The names of the walls around a sample, and what each level promises, in words."""

from __future__ import annotations

from enum import Enum

from .records import Isolation


class Layer(str, Enum):
    """One wall; each can be left out by name, so that a test can show what it holds back."""

    USER_NAMESPACE = "user namespace"
    NETWORK_NAMESPACE = "network namespace"
    IPC_NAMESPACE = "ipc namespace"
    UTS_NAMESPACE = "uts namespace"
    PID_NAMESPACE = "pid namespace"
    FILE_VIEW = "file view"
    WORK_FOLDER = "work folder"
    ENVIRONMENT = "environment"
    OWN_UID = "own uid"
    NO_CAPABILITIES = "no capabilities"
    NO_NEW_PRIVILEGES = "no new privileges"
    SECCOMP = "seccomp"
    LANDLOCK = "landlock"
    RLIMITS = "rlimits"
    CGROUP = "cgroup"
    CLOSED_DESCRIPTORS = "closed descriptors"
    DEATH_WITH_PARENT = "death with parent"


_BOTH = (
    "no network: no socket but a connected local pair can be made, whatever the address family",
    "no other process can be seen, signalled, traced, read or slowed",
    "no process can be started: a program is one process, its threads counted",
    "no capability, and no way to gain one",
    "only the system calls that Python needs; mount, bpf, perf, io_uring, keyrings and the like are refused",
    "an environment of a few fixed words: no key, no token, no user name",
    "no descriptor but the two that carry arguments and values",
    "memory, CPU seconds, threads, open files and a file's size are limited by the kernel",
    "files can be read only where Python and numpy lie, and written only in an empty folder of its own",
    "when it is killed, or its worker dies, nothing of it is left",
)
_FULL = (
    "a root folder of its own, read-only, in which no home, data set, package but numpy, or /proc exists",
    "its own user, mount, process, IPC, host name and network namespaces",
    "all files that it writes fit in one small file system in memory, which is gone when it ends",
)
_REDUCED = (
    "that a file or a process exists, and its size and owner, can be asked for by who knows its path",
    "the place where Python is installed, and the host's name, can be seen",
    "the sum of its files is measured ten times a second, not limited at each write",
    "host and sample share the kernel's process table and network: only the refused calls keep them apart",
)
_PROMISES = {
    Isolation.FULL: _BOTH + _FULL,
    Isolation.REDUCED: _BOTH + tuple(f"(weaker) {line}" for line in _REDUCED),
    Isolation.NONE: ("nothing: the program can do all that you can do",),
}


def guarantees(level: Isolation) -> list[str]:
    """Say what a level promises, a line each; lines that begin with ``(weaker)`` say what it does not."""
    return list(_PROMISES[level])
