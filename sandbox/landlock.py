"""Folders to read and one to write in, a kernel rule set out that a sample puts itself under."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence

from . import syscalls

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_RIGHTS = (1 << 16) - 1
_NETWORK_TCP = 0b11
_SCOPES = 0b11  # abstract sockets and signals stay inside
_MAKE_DEVICES = (1 << 6) | (1 << 11)
_VERSION_FLAG = 1
_RULE_PATH = 1


def version() -> int:
    """Return the kernel's Landlock version; 0 where it has none."""
    try:
        return syscalls.syscall("landlock_create_ruleset", 0, 0, _VERSION_FLAG)
    except (OSError, KeyError, ValueError):
        return 0


def rule_set(readable: Sequence[str], writable: Sequence[str]) -> int:
    """Return a descriptor of a rule set: all of the file system is refused but these paths."""
    abi = version()
    handled = _RIGHTS_BY_ABI.get(abi, _ALL_RIGHTS)
    fields = [handled]
    if abi >= 4:
        fields.append(_NETWORK_TCP)
    if abi >= 6:
        fields.append(_SCOPES)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    fd = syscalls.syscall("landlock_create_ruleset", attributes, len(attributes), 0)
    for path in readable:
        _allow(fd, path, (_READ_FILE | _READ_DIR) & handled)
    for path in writable:
        _allow(fd, path, handled & ~(_EXECUTE | _MAKE_DEVICES | _IOCTL_DEV))
    return fd


def _allow(rules: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not os.path.isdir(path):
            rights &= _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
        attributes = struct.pack("=Qi", rights, fd)
        syscalls.syscall("landlock_add_rule", rules, _RULE_PATH, ctypes.c_char_p(attributes), 0)
    finally:
        os.close(fd)


def restrict(rules: int) -> None:
    """Put this process under the rule set for ever; it needs no-new-privileges set."""
    syscalls.syscall("landlock_restrict_self", rules, 0)
