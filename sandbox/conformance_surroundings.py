"""Promises about what surrounds a program: devices, environment, descriptors, its own folder's size."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Callable

from .conformance_probe import Context, Ending, Probe, said_nothing
from .records import Limits

_FOREIGN_DEVICES = (
    "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/fuse", "/dev/kvm", "/dev/vsock",
    "/dev/net/tun", "/dev/loop-control", "/dev/nvidia0", "/dev/nvidiactl", "/dev/dri/card0",
)  # fmt: skip
_WORDS = {"PATH", "HOME", "LANG", "TZ", "USER"}


def only_harmless_devices(_: Context) -> str:
    """No device but null, zero, full and the random ones can be opened, and none can be made."""
    found = [path for path in _FOREIGN_DEVICES if _opens(path)]
    found += ["mknod"] if works(lambda: os.mknod("dev", 0o600 | stat.S_IFCHR, os.makedev(1, 1))) else []
    return ", ".join(found)


def empty_working_folder(_: Context) -> str:
    """The working folder is empty, is its own, and can be written: temporary files work."""
    import tempfile

    left = os.listdir(".")
    with tempfile.TemporaryFile() as stream, tempfile.NamedTemporaryFile("w") as named:
        stream.write(b"x")
        named.write("x")
    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, "x"), "w").close()
    open("left-behind", "w").close()
    os.makedirs("a/b/c")
    return f"a former sample left {left}" if left else ""


def fixed_environment(context: Context) -> str:
    """The environment is a few fixed words, in the C library's view too."""
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    found = sorted(set(os.environ) - _WORDS)
    found += ["the C library has it"] if getenv(b"CONFORMANCE_SECRET") else []
    found += [word for word in ("PATH", "HOME") if word not in os.environ]
    return ", ".join(found)


def no_open_descriptor(context: Context) -> str:
    """No descriptor is open but the standard streams, which lead nowhere, and the one for the answer."""
    found = []
    for fd in range(4096):
        try:
            kind = os.fstat(fd)
        except OSError:
            continue
        if fd > 2 and not stat.S_ISFIFO(kind.st_mode):
            found.append(f"descriptor {fd}")
        elif fd <= 2 and kind.st_rdev != os.makedev(1, 3):
            found.append(f"stream {fd} leads somewhere")
    if context.open_canary >= 0:
        try:
            found.append(f"read {os.pread(context.open_canary, 64, 0)!r}")
        except OSError:
            pass
    return ", ".join(found)


def one_pipe_for_the_answer(context: Context) -> str:
    """Of all pipes of the worker exactly the given one is open."""
    pipes = [fd for fd in range(3, 4096) if _is_open(fd)]
    return f"{len(pipes)} descriptors are open" if len(pipes) != 1 else ""


def bounded_files(context: Context) -> str:
    """All files together stay within the limit, those deleted and still open counted."""
    limit = context.limits.file_mib << 20
    block = b"x" * (1 << 18)
    total = 0
    held = []
    try:
        for number in range(4096):
            fd = os.open(f"f{number}", os.O_CREAT | os.O_RDWR)
            if number < 40:
                os.unlink(f"f{number}")
                held.append(fd)
            for _ in range(8):
                total += os.write(fd, block)
            if number >= 40:
                os.close(fd)
            if total > 40 * limit:
                return f"{total >> 20} MiB were written"
    except OSError:
        pass
    return "" if total <= limit else f"{total >> 20} MiB were written"


def _files_judged(ending: Ending) -> str:
    return "" if ending.end.hit_file_limit else said_nothing(ending)


def bounded_file_count(_: Context) -> str:
    """Files cannot be made without end."""
    try:
        for number in range(200_000):
            os.close(os.open(f"n{number}", os.O_CREAT | os.O_WRONLY))
    except OSError:
        return ""
    return "200000 files were made"


def bounded_sparse_file(context: Context) -> str:
    """One file cannot be longer than the limit, holes counted."""
    fd = os.open("sparse", os.O_CREAT | os.O_WRONLY)
    return "it can" if works(lambda: os.ftruncate(fd, (context.limits.file_mib << 20) + 1)) else ""


def _opens(path: str) -> bool:
    return works(lambda: os.close(os.open(path, os.O_RDONLY)))


def _is_open(fd: int) -> bool:
    return works(lambda: os.fstat(fd))


def works(attempt: Callable[[], object]) -> bool:
    """Say whether the attempt raised nothing."""
    try:
        attempt()
    except (OSError, ValueError):
        return False
    return True


PROBES = (
    Probe(only_harmless_devices),
    Probe(empty_working_folder),
    Probe(fixed_environment),
    Probe(no_open_descriptor),
    Probe(one_pipe_for_the_answer),
    Probe(bounded_files, judge=_files_judged, limits=Limits(file_mib=4)),
    Probe(bounded_file_count, judge=_files_judged),
    Probe(bounded_sparse_file, limits=Limits(file_mib=4)),
)
