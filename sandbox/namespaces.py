"""A process of the host in, one in its own user, mount, IPC, UTS and network namespaces out."""

from __future__ import annotations

import os
from pathlib import Path

from . import syscalls

SAMPLE_UID = 65534
_WORKER = (
    syscalls.CLONE_NEWNS | syscalls.CLONE_NEWIPC | syscalls.CLONE_NEWUTS | syscalls.CLONE_NEWNET
)  # fmt: skip
SAMPLE = syscalls.CLONE_NEWPID | syscalls.CLONE_NEWNS


def enter() -> bool:
    """Leave the host's namespaces; return whether a sample can have a user id of its own.

    Root keeps every user id, so that a sample can run as nobody; an ordinary user has one id only, and it
    is shown as nobody's. The caller has one thread. Raises OSError naming the step that was refused.
    """
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        _unshare_mapped_by_helper()
    else:
        syscalls.unshare(syscalls.CLONE_NEWUSER | _WORKER)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{SAMPLE_UID} {uid} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{SAMPLE_UID} {gid} 1", encoding="ascii")
    syscalls.set_hostname("sandbox")
    return uid == 0


def _unshare_mapped_by_helper() -> None:
    """Unshare as root: only a process that stays behind may map more than one user id."""
    uid_map, gid_map = (
        _identity(Path(f"/proc/self/{name}").read_text("ascii")) for name in ("uid_map", "gid_map")
    )
    reader, writer = os.pipe()
    target = os.getpid()
    helper = os.fork()
    if helper == 0:
        try:
            os.close(writer)
            if os.read(reader, 1) == b"x":
                Path(f"/proc/{target}/uid_map").write_text(uid_map, encoding="ascii")
                Path(f"/proc/{target}/gid_map").write_text(gid_map, encoding="ascii")
                os._exit(0)
        finally:
            os._exit(1)
    os.close(reader)
    try:
        syscalls.unshare(syscalls.CLONE_NEWUSER | _WORKER)
        os.write(writer, b"x")
    finally:
        os.close(writer)
        status = os.waitpid(helper, 0)[1]
    if status:
        raise PermissionError(1, "uid_map: root may not map its user ids")


def _identity(own_map: str) -> str:
    """Map each id that the current user namespace has to itself."""
    spans = (line.split() for line in own_map.splitlines())
    return "\n".join(f"{inner} {inner} {count}" for inner, _outer, count in spans)
