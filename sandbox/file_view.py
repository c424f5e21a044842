"""What Python needs to run in, a root folder that holds nothing else out: read-only, at neutral paths.

The view is a list: the standard library without installed packages, numpy and its libraries, the shared
objects that they load, five harmless devices. There is no /proc, no home, no package's metadata. All of it is
mounted inside the caller's private mount namespace: the host has no mount point of ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import syscalls

WORK = "/var/tmp"
_PACKAGES = "/usr/lib/packages"
_DEVICES = ("null", "zero", "full", "random", "urandom")
# Installed packages, and what of the standard library is no library: its tests, a packed pip, an editor.
MASKED = frozenset({"site-packages", "dist-packages", "test", "ensurepip", "idlelib"})
_LIBRARY_ROOTS = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
_PASSWD = "nobody:x:65534:65534:nobody:/tmp:/usr/sbin/nologin\n"
# statvfs flag -> mount flag: a remount may only add to what the host has set.
_KEPT = {1: 1, 2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}


@dataclass(frozen=True)
class Entry:
    """One thing of the host and where the view shows it."""

    source: str
    target: str


def folders() -> list[Entry]:
    """List the folders of Python code that a program may import from."""
    stdlib = os.path.dirname(os.path.realpath(os.__file__))
    neutral = f"/usr/lib/python{sys.version_info.major}.{sys.version_info.minor}"
    found = [Entry(stdlib, neutral)]
    extensions = _extension_folder()
    if extensions and not extensions.startswith(stdlib + "/"):
        found.append(Entry(extensions, f"{neutral}-extensions"))
    numpy = importlib.util.find_spec("numpy")  # a program may import it where this process has not
    if numpy is not None and numpy.origin:
        folder = Path(numpy.origin).resolve().parent
        found.append(Entry(str(folder), f"{_PACKAGES}/numpy"))
        libraries = folder.with_name("numpy.libs")
        if libraries.is_dir():
            found.append(Entry(str(libraries), f"{_PACKAGES}/numpy.libs"))
    return found


def _extension_folder() -> str | None:
    import _ctypes

    origin = getattr(_ctypes, "__file__", None)
    return os.path.dirname(os.path.realpath(origin)) if origin else None


@functools.lru_cache(maxsize=1)
def shared_objects() -> tuple[str, ...]:
    """List the libraries that any module of the view loads, by the name that loads them.

    A throwaway child loads every extension module (without starting it) and reads the loader's own list;
    call it where only one thread runs. The answer is kept, so a broker may ask before it forks workers.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            with os.fdopen(writer, "w") as stream:
                stream.write("\n".join(_load_everything()))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        names = stream.read().split("\n")
    os.waitpid(pid, 0)
    return tuple(name for name in names if name.startswith("/"))


def _load_everything() -> list[str]:
    for path in _extensions():
        with contextlib.suppress(OSError):  # its library is not installed: nobody can import it
            ctypes.CDLL(path)
    return list(_loaded_objects())


def _extensions() -> Iterable[str]:
    """Yield the extension modules of the view; those of the standard library lie in one folder."""
    for entry in folders():
        dynamic = f"{entry.source}/lib-dynload"
        for folder, inner, files in os.walk(dynamic if os.path.isdir(dynamic) else entry.source):
            inner[:] = [name for name in inner if name not in MASKED]
            yield from (f"{folder}/{name}" for name in files if name.endswith(".so"))


class _LinkMap(ctypes.Structure):
    """The head of the dynamic loader's list entry, as ``link.h`` declares it."""


_LinkMap._fields_ = [
    ("address", ctypes.c_void_p),
    ("name", ctypes.c_char_p),
    ("dynamic", ctypes.c_void_p),
    ("next", ctypes.POINTER(_LinkMap)),
]


def _loaded_objects() -> Iterable[str]:
    link = ctypes.cast(ctypes.CDLL(None)._handle, ctypes.POINTER(_LinkMap))
    while link:
        yield os.fsdecode(link.contents.name or b"")
        link = link.contents.next


def library_entries(inside: list[Entry]) -> list[Entry]:
    """Say where the view shows each shared object that no folder of the view holds already."""
    roots = tuple(entry.source + "/" for entry in inside)
    names = [name for name in shared_objects() if not os.path.realpath(name).startswith(roots)]
    libc = next((name for name in names if "/libc.so" in name), "/usr/lib/libc.so")
    default = os.path.dirname(libc)
    entries = {}
    for name in names:
        place = name if name.startswith(_LIBRARY_ROOTS) else f"{default}/{os.path.basename(name)}"
        target = place if place.startswith("/usr/") else f"/usr{place}"
        entries[target] = Entry(os.path.realpath(name), target)
    return list(entries.values())


def enter() -> list[Entry]:
    """Make the view this process's root; return the folders that were moved to neutral paths.

    The caller holds a private mount namespace and the right to mount in it.
    """
    inside = folders()
    libraries = library_entries(inside)
    root = _mount_point([entry.source for entry in (*inside, *libraries)])
    syscalls.mount("view", root, "tmpfs", syscalls.MS_NOSUID, "mode=755,size=1m,nr_inodes=4096")
    for folder in ("/usr/lib", "/usr/lib64", "/etc", "/dev", WORK):
        os.makedirs(root + folder, exist_ok=True)
    for link, target in {
        "/lib": "usr/lib", "/lib64": "usr/lib64", "/tmp": WORK[1:], "/dev/shm": ".." + WORK,
    }.items():  # fmt: skip
        os.symlink(target, root + link)
    Path(root + "/etc/passwd").write_text(_PASSWD, encoding="ascii")
    for entry in inside:
        os.makedirs(root + entry.target)
        _show(entry.source, root + entry.target)
        for name in sorted(MASKED):
            if os.path.isdir(f"{root}{entry.target}/{name}"):
                _mask(f"{root}{entry.target}/{name}")
    devices = [Entry(f"/dev/{name}", f"/dev/{name}") for name in _DEVICES]
    for entry in (*libraries, *devices):
        os.makedirs(os.path.dirname(root + entry.target), exist_ok=True)
        Path(root + entry.target).touch()
        _show(entry.source, root + entry.target)
    _freeze(root)
    os.chdir(root)
    syscalls.syscall("pivot_root", b".", b".")
    syscalls.detach_mount(".")
    os.chdir("/")
    return inside


def _mount_point(sources: list[str]) -> str:
    """Choose a folder of the host to build on: any that hides none of the sources."""
    for candidate in ("/mnt", "/media", "/srv", "/opt", "/var/tmp", "/tmp", "/run"):
        if os.path.isdir(candidate) and not any(s.startswith(candidate + "/") for s in sources):
            return candidate
    raise FileNotFoundError(2, "no folder to build the file view on")


def _show(source: str, target: str) -> None:
    syscalls.mount(source, target, "", syscalls.MS_BIND)
    _freeze(target)


def _mask(target: str) -> None:
    syscalls.mount("empty", target, "tmpfs", syscalls.MS_NOSUID, "mode=755,size=4k,nr_inodes=2")
    _freeze(target)


def _freeze(target: str) -> None:
    flags = syscalls.MS_REMOUNT | syscalls.MS_BIND | syscalls.MS_RDONLY | syscalls.MS_NOSUID
    present = os.statvfs(target).f_flag
    for seen, kept in _KEPT.items():
        if present & seen:
            flags |= kept
    syscalls.mount("", target, "", flags)
