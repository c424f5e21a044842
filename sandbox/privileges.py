"""A process's rights: who it was in, one without any way back out."""

from __future__ import annotations

import ctypes
import errno
import os

from . import syscalls
from .layers import Layer

_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63


def close_ways_up(absent: frozenset[Layer]) -> None:
    """Make every later exec unable to give rights, and empty the bounding set; children inherit both.

    What capabilities this process holds now it keeps; where it holds none there is no set to empty.
    """
    if Layer.NO_NEW_PRIVILEGES not in absent or Layer.SECCOMP not in absent:
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if Layer.NO_CAPABILITIES not in absent:
        _empty_bounding_set()


def _empty_bounding_set() -> None:
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            syscalls.prctl(syscalls.PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EPERM):  # past the kernel's last one; not ours to drop
                return
            raise


def drop_capabilities() -> None:
    """Give up every capability of this process: effective, permitted, inheritable, ambient."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(*([0] * 6))
    syscalls.syscall("capset", header, data)


def become(uid: int, gid: int) -> None:
    """Become another user with no groups."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
