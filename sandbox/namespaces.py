"""A process of the host in, one in its own user, mount, IPC, UTS and network namespaces out."""

from __future__ import annotations

import os
from pathlib import Path

from . import privileges, syscalls
from .layers import Layer

_FLAGS = {
    Layer.FILE_VIEW: syscalls.CLONE_NEWNS,
    Layer.WORK_FOLDER: syscalls.CLONE_NEWNS,
    Layer.IPC_NAMESPACE: syscalls.CLONE_NEWIPC,
    Layer.UTS_NAMESPACE: syscalls.CLONE_NEWUTS,
    Layer.NETWORK_NAMESPACE: syscalls.CLONE_NEWNET,
}
_HOST_NAME = "sandbox"


def enter(absent: frozenset[Layer]) -> privileges.User | None:
    """Leave the host's namespaces; return the user that samples become, None where they keep ours.

    Root keeps every user id, so that a sample can run as nobody; an ordinary user has one id only, and it
    is shown as nobody's. The caller has one thread. Raises OSError naming the step that was refused.
    """
    flags = 0
    for layer, flag in _FLAGS.items():
        flags |= 0 if layer in absent else flag
    uid, gid = os.geteuid(), os.getegid()
    pdeathsig = syscalls.death_signal()
    if uid != 0:
        syscalls.unshare(syscalls.CLONE_NEWUSER | flags)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{privileges.NOBODY} {uid} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{privileges.NOBODY} {gid} 1", encoding="ascii")
    elif Layer.USER_NAMESPACE in absent:
        syscalls.unshare(flags)
    else:
        _unshare_mapped_by_helper(syscalls.CLONE_NEWUSER | flags)
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, pdeathsig)  # a change of rights clears it
    if flags & syscalls.CLONE_NEWNS:
        syscalls.mount("", "/", "", syscalls.MS_REC | syscalls.MS_PRIVATE)
    if Layer.UTS_NAMESPACE not in absent:
        syscalls.set_hostname(_HOST_NAME)
    return privileges.User(privileges.NOBODY, privileges.NOBODY) if uid == 0 else None


def _unshare_mapped_by_helper(flags: int) -> None:
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
        syscalls.unshare(flags)
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
