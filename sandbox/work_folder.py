"""A folder for samples to write in where nothing can be mounted: made, measured, emptied, removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

PLACES = ("/tmp", "/var/tmp", "/dev/shm")
_PREFIX = "lm-eval-strict-work-"
_BLOCK = 512


def make(uid: int | None) -> str:
    """Make a folder that only ``uid`` (None: this user) may use; raise OSError where no place takes one.

    It stands in a folder of this process's own: a sample may empty it but not rename or replace it. That
    folder is held locked as long as this process lives, so that nobody sweeps it away.
    """
    import fcntl  # absent on Windows

    place = next((place for place in PLACES if os.access(place, os.W_OK | os.X_OK)), None)
    if place is None:
        raise FileNotFoundError(2, f"no writable folder among {', '.join(PLACES)}")
    outer = Path(place, f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}")
    outer.mkdir(0o711)
    fcntl.flock(os.open(outer, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_EX)
    inner = outer / "work"
    inner.mkdir(0o700)
    if uid is not None:
        os.chown(inner, uid, uid)
    return str(inner)


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

    Deep trees are taken apart from the top (a child folder is moved up before its parent goes), because
    a path or a recursion as deep as a program can make it would break.
    """
    moved = 0
    token = os.urandom(8).hex()
    while True:
        try:
            entries = os.listdir(folder)
        except OSError:
            return
        if not entries:
            return
        for name in entries:
            path = f"{folder}/{name}"
            if not _is_folder(path):
                os.unlink(path)
                continue
            os.chmod(path, 0o700)
            for child in os.listdir(path):
                inner = f"{path}/{child}"
                if _is_folder(inner):
                    os.chmod(inner, 0o700)
                    moved += 1
                    os.rename(inner, f"{folder}/{token}-{moved}")
                else:
                    os.unlink(inner)
            os.rmdir(path)


def _is_folder(path: str) -> bool:
    return stat.S_ISDIR(os.lstat(path).st_mode)


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
