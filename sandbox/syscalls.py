"""Kernel calls that the standard library lacks: numbers and arguments in, results or OSError out."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
from collections.abc import Callable, Sequence

from .call_numbers import call_numbers

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
_CLONE_CHILD_CLEARTID = 0x00200000
_CLONE_CHILD_SETTID = 0x01000000
_SIGCHLD = 17

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_NOATIME = 1024
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

_LAST_DESCRIPTOR = 0x7FFFFFFE
_MANY_DESCRIPTORS = 65536  # more than any limit that a worker is under

PR_SET_PDEATHSIG = 1
PR_GET_PDEATHSIG = 2
PR_SET_KEEPCAPS = 8
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_GET_TID_ADDRESS = 40


@functools.lru_cache(maxsize=1)
def machine() -> str:
    """Return the architecture's name as the filter tables use it."""
    return platform.machine()


@functools.lru_cache(maxsize=1)
def _libc() -> ctypes.PyDLL:
    # PyDLL keeps the interpreter lock during the call: a clone must not come back to a lost lock.
    return ctypes.PyDLL(None, use_errno=True)


def _checked(result: int, name: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


Step = tuple[str, Callable[..., object], tuple[object, ...]]


def take(steps: Sequence[Step]) -> None:
    """Make prepared calls one after the other; raise OSError naming the one that the kernel refused."""
    for name, function, arguments in steps:
        result = function(*arguments)
        if type(result) is int and result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")


def prepared(name: str, *arguments: object) -> tuple[Callable[..., int], tuple[object, ...]]:
    """Return the raw call ``name`` ready to be made: a function, its arguments. It returns -1 on failure."""
    number = call_numbers(machine())[name]
    libc = _libc()
    libc.syscall.restype = ctypes.c_long
    values = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return libc.syscall, (ctypes.c_long(number), *values)


def syscall(name: str, *arguments: object) -> int:
    """Make the raw call ``name``; raise OSError naming the call."""
    function, values = prepared(name, *arguments)
    return _checked(function(*values), name)


def prepared_prctl(option: int, *values: int) -> tuple[Callable[..., int], tuple[object, ...]]:
    """Return a prctl ready to be made, as ``prepared`` does."""
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    return _libc().prctl, (ctypes.c_int(option), *padded)


def prctl(option: int, *values: int) -> int:
    """Call prctl with up to four numbers."""
    function, arguments = prepared_prctl(option, *values)
    return _checked(function(*arguments), f"prctl({option})")


def death_signal() -> int:
    """Return the signal that this process gets when its parent ends; 0 for none."""
    value = ctypes.c_int()
    _checked(_libc().prctl(PR_GET_PDEATHSIG, ctypes.byref(value), 0, 0, 0), "prctl(PR_GET_PDEATHSIG)")
    return value.value


def prepared_file_uid(uid: int) -> tuple[Callable[..., int], tuple[object, ...]]:
    """Return the call that makes files be opened as ``uid``; it answers with the former one, never an error.

    What follows in a sample shows a failure: it could not open its own working folder.
    """
    return _libc().setfsuid, (ctypes.c_uint(uid),)


def unshare(flags: int) -> None:
    """Leave the namespaces named by ``flags`` for new ones."""
    _checked(_libc().unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount ``source`` of type ``kind`` at ``target``."""
    result = _libc().mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()
    )
    _checked(result, f"mount {target}")


def detach_mount(target: str) -> None:
    """Take the mount at ``target`` out of sight now and let it go when nothing uses it."""
    _checked(_libc().umount2(target.encode(), ctypes.c_int(MNT_DETACH)), f"umount {target}")


def set_hostname(name: str) -> None:
    """Name the host of the current UTS namespace."""
    encoded = name.encode()
    _checked(_libc().sethostname(encoded, ctypes.c_size_t(len(encoded))), "sethostname")


def steps_to_close_all_but(keep: set[int]) -> list[Step]:
    """List the calls that close every descriptor but those of ``keep``, ready to be made."""
    steps: list[Step] = []
    low = 0
    for fd in [*sorted(keep), _LAST_DESCRIPTOR + 1]:
        if fd > low and _has_close_range():
            steps.append(("close_range", *prepared("close_range", low, fd - 1, 0)))
        elif fd > low:
            steps.append(("close", os.closerange, (low, min(fd, _MANY_DESCRIPTORS))))
        low = fd + 1
    return steps


@functools.lru_cache(maxsize=1)
def _has_close_range() -> bool:
    try:
        syscall("close_range", _LAST_DESCRIPTOR, _LAST_DESCRIPTOR, 0)
    except OSError:  # a kernel before 5.9
        return False
    return True


@functools.lru_cache(maxsize=1)
def _thread_id_address() -> int:
    """Return where the C library keeps the main thread's id, or 0 where the kernel does not say."""
    address = ctypes.c_void_p()
    if _libc().prctl(PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) != 0:
        return 0
    return address.value or 0


def fork_with(flags: int) -> int:
    """Fork into the new namespaces of ``flags``; return 0 in the child, its pid in the parent.

    The caller must have one thread only. The raw call is made, and none of Python's or the C library's
    fork hooks runs: with one thread there is no lock to mend, and the hooks of ``threading``, ``logging``
    and ``random`` alone write to 200 pages, ten times what the fork itself costs. As fork does, the
    kernel stores the child's thread id where the C library keeps it.
    """
    address = _thread_id_address()
    if not address:
        return os.fork()
    flags |= _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID
    tail = (0, address, 0) if machine() == "x86_64" else (0, 0, address)
    return syscall("clone", flags | _SIGCHLD, 0, *tail)
