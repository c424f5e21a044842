"""What Python needs to run in, the paths that a sample may read out, where nothing can be mounted."""

from __future__ import annotations

import importlib.machinery
import os
import stat
import sys
from pathlib import Path

from . import file_view, privileges

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FIRST_UID, _UIDS = 61000, 4000  # numbers that systems leave free, and that fit a container's map
_LOADER_FILES = ("/etc/ld.so.cache", "/etc/ld-musl-x86_64.path")


def readable_paths() -> list[str]:
    """List what may be read; a rule covers all beneath it, so installed packages are stepped around."""
    folders = file_view.folders()
    paths = []
    for entry in folders:
        names = sorted(set(os.listdir(entry.source)) - file_view.MASKED)
        paths += [f"{entry.source}/{name}" for name in names]
    paths += [entry.source for entry in file_view.library_entries(folders)]
    paths += [*_DEVICES, *_LOADER_FILES]
    return [path for path in paths if os.path.exists(path)]


def sample_user() -> privileges.User | None:
    """Choose the user that samples become; None where this process is not root and cannot change.

    Each worker takes a number of its own, so that its samples' threads are counted apart and signals reach
    nobody else. Where the interpreter lies in root's home only the right to read files stays root's.
    """
    if os.geteuid() != 0:
        return None
    uid = _FIRST_UID + os.getpid() % _UIDS
    return privileges.User(uid, uid if _readable_by_others() else 0)


def _readable_by_others() -> bool:
    for entry in file_view.folders():
        for folder in (Path(entry.source), *Path(entry.source).parents):
            mode = folder.stat().st_mode
            if not mode & stat.S_IXOTH or (str(folder) == entry.source and not mode & stat.S_IROTH):
                return False
    return True


def remember_listings() -> None:
    """Let the import system keep its listings of folders that a sample may not list.

    A folder's listing cannot be allowed without that of every folder beneath it, installed packages
    included. What is remembered names the standard library and numpy only.
    """
    folders = file_view.folders()
    stdlib = folders[0].source
    wanted: dict[str, set[str] | None] = {stdlib: None, f"{stdlib}/lib-dynload": None}
    for entry in folders[1:]:
        if entry.target.endswith("/numpy"):
            wanted[os.path.dirname(entry.source)] = {"numpy"}
        elif not entry.target.endswith("numpy.libs"):
            wanted[entry.source] = None
    sys.path[:] = list(wanted)
    sys.path_importer_cache.clear()
    for folder, names in wanted.items():
        finder = importlib.machinery.FileFinder(
            folder,
            (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
            (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES),
            (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
        )
        if not os.path.isdir(folder):
            continue
        listing = set(os.listdir(folder)) - file_view.MASKED
        finder._path_cache = listing if names is None else listing & names  # type: ignore[attr-defined]
        finder._path_mtime = os.stat(folder).st_mtime  # type: ignore[attr-defined]
        sys.path_importer_cache[folder] = finder
