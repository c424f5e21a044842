"""A folder goes in, a lock that ends with the process comes out, or None while another process holds it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO


def lock_folder(folder: Path) -> IO[str] | None:
    """Take the folder's lock without waiting; the lock is held until the file returned is closed."""
    file = (folder / "lock").open("a", encoding="utf-8")
    if _take(file):
        return file
    file.close()
    return None


if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[str]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(file: IO[str]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
