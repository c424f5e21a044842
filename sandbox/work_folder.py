"""A folder for samples to write in where nothing can be mounted: made, measured, emptied, removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

PLACES = (
    "/dev/shm",
    "/tmp",
    "/var/tmp",
)  # memory first: a folder goes in microseconds, on a disk in milliseconds
_ROOM_BYTES = 48 << 20
_PREFIX = "lm-eval-strict-work-"
_BLOCK = 512


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
    shutil.rmtree(os.path.dirname(folder), ignore_errors=True)


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
