"""A process's rights: who it was in, one without any way back out."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from dataclasses import dataclass

from . import syscalls
from .layers import Layer

_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63
_CAP_SETUID = 7
NOBODY = 65534


@dataclass(frozen=True)
class User:
    """The user that a sample becomes, and the one as which it opens files."""

    uid: int
    file_uid: int


def close_ways_up(absent: frozenset[Layer]) -> None:
    """Make every later exec unable to give rights, and empty the bounding set; children inherit both.

    What capabilities this process holds now it keeps; where it holds none there is no set to empty.
    """
    if Layer.NO_NEW_PRIVILEGES not in absent or Layer.SECCOMP not in absent:
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
    if Layer.NO_CAPABILITIES not in absent:
        keep_within(0)


def keep_within(capabilities: int) -> None:
    """Take every capability but those of the bit mask out of reach for ever."""
    for capability in range(_LAST_CAPABILITY + 1):
        if capabilities >> capability & 1:
            continue
        try:
            syscalls.prctl(syscalls.PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EPERM):  # past the kernel's last one; not ours to drop
                return
            raise


def leave_groups() -> None:
    """Give up every supplementary group, where this process may."""
    if os.getgroups():
        try:
            os.setgroups([])
        except PermissionError:
            return  # an ordinary user keeps its groups: nothing of theirs can be reached


def become(user: User) -> None:
    """Become another user; with root's eye on files where ``file_uid`` says so."""
    syscalls.take(steps_to_become(user))


def steps_to_become(user: User) -> list[syscalls.Step]:
    """List the calls that ``become`` makes, ready to be made."""
    ids = (user.uid, user.uid, user.uid)
    change: list[syscalls.Step] = [("setresgid", os.setresgid, ids), ("setresuid", os.setresuid, ids)]
    if user.file_uid == user.uid:
        return change
    keep = syscalls.prepared_prctl(syscalls.PR_SET_KEEPCAPS, 1)
    forget = syscalls.prepared_prctl(syscalls.PR_SET_KEEPCAPS, 0)
    return [
        ("prctl(PR_SET_KEEPCAPS)", *keep),
        *change,
        ("capset", *_prepared_capabilities(1 << _CAP_SETUID)),
        ("setfsuid", *syscalls.prepared_file_uid(user.file_uid)),
        ("prctl(PR_SET_KEEPCAPS)", *forget),
    ]


def step_to_drop() -> syscalls.Step:
    """Return the call that gives up every capability, ready to be made."""
    return ("capset", *_prepared_capabilities(0))


def _prepared_capabilities(low: int) -> tuple[Callable[..., object], tuple[object, ...]]:
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(low, low, 0, 0, 0, 0)
    return syscalls.prepared("capset", header, data)
