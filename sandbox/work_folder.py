"""A folder for samples to write in: mounted afresh or, where nothing can be, measured and emptied."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from . import privileges, syscalls
from .records import Limits

PLACES = (
    "/dev/shm",
    "/tmp",
    "/var/tmp",
)  # memory first: a folder goes in microseconds, on a disk in milliseconds
_ROOM_BYTES = 48 << 20
FILES = 1024
_PREFIX = "lm-eval-strict-work-"
_BLOCK = 512


class MountedFolder:
    """A small file system in memory for one sample after the other; bounded by the kernel.

    One that a sample has left untouched serves the next: most programs write no file. Untouched means that
    every date and attribute of it is as it was made, so that no sample can leave a word for another.
    """

    patrol_interval_s: float | None = None

    def __init__(self, path: str) -> None:
        self._path = path
        self._made: object = None

    def ready(self, limits: Limits) -> None:
        """Have an empty folder of the limits' size, as this process's working folder."""
        if self._made is not None and self._made == (limits.file_mib, _marks(self._path)):
            return
        os.chdir("/")
        if self._made is not None:
            syscalls.detach_mount(self._path)
        uid = privileges.NOBODY
        options = f"size={limits.file_mib}m,nr_inodes={FILES},mode=700,uid={uid},gid={uid}"
        flags = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC | syscalls.MS_NOATIME
        syscalls.mount("work", self._path, "tmpfs", flags, options)
        os.utime(self._path, (0, 0))
        os.chdir(self._path)
        self._made = limits.file_mib, _marks(self._path)

    def is_over(self, pid: int, limits: Limits) -> bool:
        """Say whether a sample's files are over the limit: never, the kernel sees to it."""
        return False

    def done(self) -> None:
        """Do nothing: ``ready`` looks at what a sample left."""

    def close(self) -> None:
        """Do nothing: the mount goes with its namespace."""


def _marks(path: str) -> object:
    status = os.stat(path)
    dates = status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns
    return status.st_mode, status.st_uid, status.st_nlink, status.st_size, dates, os.listxattr(path)


class PatrolledFolder:
    """A folder of the host, emptied after each sample; what a running one keeps there is measured."""

    patrol_interval_s: float | None = 0.1

    def __init__(self, path: str) -> None:
        self._path = path

    def ready(self, limits: Limits) -> None:
        """Make the folder this process's working folder."""
        os.chdir(self._path)

    def is_over(self, pid: int, limits: Limits) -> bool:
        """Say whether a sample's files, those deleted and still open counted, are over the limit."""
        size, count = use(self._path, pid)
        return size > limits.file_mib << 20 or count > FILES

    def done(self) -> None:
        """Empty the folder."""
        empty(self._path)

    def close(self) -> None:
        """Remove the folder."""
        remove(self._path)


def make(uid: int | None) -> str:
    """Make a folder that only ``uid`` (None: this user) may use; raise OSError where no place takes one.

    It stands in a folder of this process's own: a sample may empty it but not rename or replace it. That
    folder is held locked as long as this process lives, so that nobody sweeps it away.
    """
    import fcntl  # absent on Windows

    place = next((place for place in PLACES if _has_room(place)), None)
    if place is None:
        raise FileNotFoundError(
            2, f"no writable folder with {_ROOM_BYTES >> 20} MiB of room among {', '.join(PLACES)}"
        )
    outer = Path(place, f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}")
    outer.mkdir(0o711)
    fcntl.flock(os.open(outer, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_EX)
    inner = outer / "work"
    inner.mkdir(0o700)
    if uid is not None:
        os.chown(inner, uid, uid)
    return str(inner)


def _has_room(place: str) -> bool:
    if not os.access(place, os.W_OK | os.X_OK):
        return False
    space = os.statvfs(place)
    return space.f_bavail * space.f_frsize >= _ROOM_BYTES


def remove(folder: str) -> None:
    """Remove the folder and the one around it."""
    empty(folder)
    for path in (folder, os.path.dirname(folder)):
        with contextlib.suppress(OSError):
            os.rmdir(path)


def sweep() -> None:
    """Remove the folders of processes that were killed before they could."""
    for place in PLACES:
        with contextlib.suppress(OSError):
            for name in os.listdir(place):
                if name.startswith(_PREFIX) and _is_abandoned(f"{place}/{name}"):
                    remove(f"{place}/{name}/work")


def _is_abandoned(folder: str) -> bool:
    import fcntl

    try:
        fd = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(fd).st_uid == os.geteuid()
    except OSError:
        return False
    finally:
        os.close(fd)


def empty(folder: str) -> None:
    """Delete all that a sample left: any depth, any name, any mode; links are never followed.

    It walks with one descriptor, down by name and up by "..": a path, a recursion or a list of open
    folders as deep as a program can make a tree would break. Nobody else changes the tree meanwhile.
    """
    try:
        here = _open_folder(folder, None)
    except OSError:
        return
    names: list[str] = []
    waiting = [_clear_files(here)]
    try:
        while waiting:
            if waiting[-1]:
                names.append(waiting[-1].pop())
                here = _replace(here, _open_folder(names[-1], here))
                waiting.append(_clear_files(here))
                continue
            waiting.pop()
            if names:
                here = _replace(here, _open_folder("..", here))
                os.rmdir(names.pop(), dir_fd=here)
    finally:
        os.close(here)


def _open_folder(name: str, inside: int | None) -> int:
    if name != ".." and inside is not None:
        os.chmod(name, 0o700, dir_fd=inside)  # it is a folder, no link: asked just before
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=inside)


def _replace(old: int, new: int) -> int:
    os.close(old)
    return new


def _clear_files(folder: int) -> list[str]:
    """Delete what is no folder; return the names of the folders."""
    folders = []
    for name in os.listdir(folder):
        if stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
            folders.append(name)
        else:
            os.unlink(name, dir_fd=folder)
    return folders


def use(folder: str, pid: int) -> tuple[int, int]:
    """Measure what a running sample keeps: bytes (of deleted files it holds open too) and files."""
    size = count = 0
    for status in (*_statuses(folder), *_held_open(pid)):
        size += status.st_blocks * _BLOCK
        count += 1
    return size, count


def _statuses(folder: str) -> Iterator[os.stat_result]:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:  # gone since, or too deep a path: what was counted so far still counts
            continue


def _held_open(pid: int) -> Iterator[os.stat_result]:
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            status = os.stat(f"{folder}/{name}")
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
            yield status
