"""Limits of one worker in, a control group around it and its samples out, where one may be made.

Three kinds are tried: a delegated group of version 2 (a systemd scope or service with ``Delegate=yes``, a
container with its own writable tree), and version 1 with writable memory and pids trees. A worker is moved
once, at its start; its samples are born inside, since moving a process costs milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .records import Limits

_PREFIX = "lm-eval-strict-"
_LEAF = f"{_PREFIX}tree"  # version 2: where the processes of a group go before it may have child groups
_WORKER_MIB = 96  # the warm parent's own pages, and the kernel's for the sample
_WORKER_TASKS = 4
_ENTERED_WITHIN_S = 10.0
_FOREIGN_SESSION = 0  # what the kernel says of each session whose leader is outside this PID namespace
_UNIT = 1 << 20


@dataclass(frozen=True)
class Tree:
    """One control group tree that we may write: where our groups go, and where this process is now."""

    kind: str
    folder: str
    version: int


@dataclass
class Group:
    """The control groups of one worker, one for each tree; descriptors, since its paths go out of sight."""

    name: str
    trees: Mapping[str, tuple[int, int]]
    version: int

    def set_memory(self, limits: Limits) -> None:
        """Bound the memory of worker and sample together, files in memory included, swap excluded."""
        total = (limits.memory_mib + limits.file_mib + _WORKER_MIB) * _UNIT
        inner = self.trees["memory"][1]
        if self.version == 2:
            _write(inner, "memory.max", total)
            _write_if_there(inner, "memory.swap.max", 0)
        else:
            # Memory with swap may never be less than memory: a greater bound is written from the outside in.
            grows = total > int(_read(inner, "memory.limit_in_bytes"))
            for file in sorted(("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"), reverse=grows):
                _write_if_there(inner, file, total)

    def set_tasks(self, limits: Limits) -> None:
        """Bound the tasks of worker and sample together."""
        _write(self.trees["pids"][1], "pids.max", limits.tasks + _WORKER_TASKS)

    def out_of_memory_kills(self) -> int:
        """Return how many processes of this group the kernel has killed for want of memory."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        for line in _read(self.trees["memory"][1], name).splitlines():
            word, _, value = line.partition(" ")
            if word == "oom_kill":
                return int(value)
        return 0

    def leave(self) -> None:
        """Move this process back to where it was and remove the group."""
        for outer, _inner in self.trees.values():
            with contextlib.suppress(OSError):  # a busy or vanished group goes at the next sweep
                _write(outer, "cgroup.procs" if self.version == 1 else f"{_LEAF}/cgroup.procs", os.getpid())
                os.rmdir(self.name, dir_fd=outer)
        for fd in {fd for pair in self.trees.values() for fd in pair}:
            os.close(fd)


def trees() -> list[Tree]:
    """List what this process may use: one tree of version 2, or memory and pids of version 1, or nothing."""
    mounts = list(_mounts())
    own = _own_groups()
    for kind, _options, point in mounts:
        folder = f"{point}{own.get('', '/').removesuffix('/' + _LEAF)}".rstrip("/")
        if kind == "cgroup2" and _writable(folder) and _may_have_children(folder):
            return [Tree("memory", folder, 2)]
    found = []
    for name in ("memory", "pids"):
        for kind, options, point in mounts:
            folder = f"{point}{own.get(name, '/')}".rstrip("/")
            if kind == "cgroup" and name in options and _writable(folder):
                found.append(Tree(name, folder, 1))
                break
    return found if len(found) == 2 else []


def join(limits: Limits) -> Group | None:
    """Put this process into a group of its own with these limits; None where the machine gives no tree.

    Raises OSError where a tree is there and writable but refuses: a limit that was to be had is never
    silently left out.
    """
    available = trees()
    if not available:
        return None
    for tree in available:
        if tree.version == 2:
            _make_room(tree.folder)
    attempts = 3
    while True:
        try:
            return _join(available, limits)
        except FileNotFoundError:  # swept away by another run before we were in it
            attempts -= 1
            if not attempts:
                raise


def _join(available: Sequence[Tree], limits: Limits) -> Group:
    name = f"{_PREFIX}{os.getpid()}-{os.urandom(3).hex()}"
    opened: dict[str, tuple[int, int]] = {}
    for tree in available:
        outer = os.open(tree.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        os.mkdir(name, 0o755, dir_fd=outer)
        opened[tree.kind] = outer, os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=outer)
    opened.setdefault("pids", opened["memory"])
    group = Group(name, opened, available[0].version)
    group.set_memory(limits)
    group.set_tasks(limits)
    for inner in {inner for _outer, inner in opened.values()}:
        _write(inner, "cgroup.procs", os.getpid())
    return group


def sweep() -> bool:
    """Remove the groups of workers that ended before they could leave; say whether one would not go yet.

    Groups in use stay, and so does, for a moment, that of a killed process whose end is not over.
    """
    stays = False
    for tree in trees():
        for name in os.listdir(tree.folder):
            if name.startswith(_PREFIX) and name != _LEAF and not _is_being_entered(tree.folder, name):
                try:
                    os.rmdir(f"{tree.folder}/{name}")
                except OSError:
                    stays |= not os.path.exists(f"/proc/{_owner(name)}")
    return stays


def _owner(name: str) -> str:
    return name.removeprefix(_PREFIX).partition("-")[0]


def _is_being_entered(folder: str, name: str) -> bool:
    """Say whether a group may have been made a moment ago by a worker that is not in it yet."""
    try:
        age_s = time.time() - os.stat(f"{folder}/{name}").st_ctime
    except OSError:
        return False
    return age_s < _ENTERED_WITHIN_S and os.path.exists(f"/proc/{_owner(name)}")


def _may_have_children(folder: str) -> bool:
    """Say whether child groups with memory and pids exist or can be made: nobody else's process is in it."""
    wanted = {"memory", "pids"}
    if wanted <= set(_read_path(f"{folder}/cgroup.subtree_control").split()):
        return True
    if not wanted <= set(_read_path(f"{folder}/cgroup.controllers").split()):
        return False
    if _is_delegated(folder):
        return True
    session = os.getsid(0)
    pids = map(int, _read_path(f"{folder}/cgroup.procs").split())
    return all(pid == os.getpid() or (_session_of(pid) == session != _FOREIGN_SESSION) for pid in pids)


def _is_delegated(folder: str) -> bool:
    """Say whether systemd has marked the group as its user's to divide: all that is in it may be moved."""
    try:
        return os.getxattr(folder, "user.delegate") == b"1"
    except OSError:
        return False


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _make_room(folder: str) -> None:
    """Move all processes one group down: a group of version 2 has processes or child groups, not both."""
    if {"memory", "pids"} <= set(_read_path(f"{folder}/cgroup.subtree_control").split()):
        return
    leaf = Path(folder, _LEAF)
    leaf.mkdir(exist_ok=True)
    for pid in _read_path(f"{folder}/cgroup.procs").split():
        (leaf / "cgroup.procs").write_text(pid, encoding="ascii")
    Path(folder, "cgroup.subtree_control").write_text("+memory +pids", encoding="ascii")


def _mounts() -> Iterator[tuple[str, list[str], str]]:
    """Yield type, superblock options and mount point of every control group mount."""
    for line in _read_path("/proc/self/mountinfo").splitlines():
        front, _, back = line.partition(" - ")
        kind, _source, options = back.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            yield kind, options.split(","), front.split(" ")[4]


def _own_groups() -> dict[str, str]:
    """Return this process's group in each tree; the key is empty for version 2."""
    groups = {}
    for line in _read_path("/proc/self/cgroup").splitlines():
        _number, names, path = line.split(":", 2)
        groups.update(dict.fromkeys(names.split(","), path))
    return groups


def _writable(folder: str) -> bool:
    return os.access(folder, os.W_OK) and os.access(f"{folder}/cgroup.procs", os.W_OK)


def _read_path(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _read(folder: int, name: str) -> str:
    with open(os.open(name, os.O_RDONLY, dir_fd=folder), encoding="ascii") as stream:
        return stream.read()


def _write(folder: int, name: str, value: int) -> None:
    fd = os.open(name, os.O_WRONLY, dir_fd=folder)
    try:
        os.write(fd, str(value).encode())
    finally:
        os.close(fd)


def _write_if_there(folder: int, name: str, value: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        _write(folder, name, value)
