"""A process's rights: who it was in, one without any way back out."""

from __future__ import annotations

import ctypes
import os

from . import syscalls

_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63


def forbid_new_privileges() -> None:
    """Make every later exec unable to give rights; inherited, and never undone."""
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)


def empty_bounding_set() -> None:
    """Take every capability out of reach for ever; what is held now stays held."""
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            syscalls.prctl(syscalls.PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno == 22:  # the kernel has no capability of that number
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
