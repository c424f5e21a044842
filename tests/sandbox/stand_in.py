"""A machine that this one is not, and a call to make on it in; the call's answer as JSON out. A script.

    python stand_in.py '{"machine": "docker", "module": "probing", "function": "try_everything"...}'

What a container's or a distribution's policy refuses is refused here by a seccomp filter, loaded before the
interpreter of the sandbox starts; what it takes of root's rights is taken; an ordinary user is a real one.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

from lm_eval_strict.sandbox import fresh_process, privileges, seccomp, syscalls
from lm_eval_strict.sandbox.call_numbers import call_numbers

_NAMESPACE_CALLS = "unshare setns mount umount2 pivot_root open_tree move_mount fsopen mount_setattr"
_DOCKER_CALLS = f"{_NAMESPACE_CALLS} keyctl add_key request_key bpf perf_event_open userfaultfd"
_DOCKER_CAPABILITIES = 0xA80425FB
_ROOM = "/mnt"


@dataclass(frozen=True)
class Machine:
    """What differs from this one: calls refused, an error number for them, root's rights, the user."""

    calls: str = ""
    error: int = errno.EPERM
    new_namespaces: bool = True
    capabilities: int | None = None
    uid: int | None = None


MACHINES = {
    "root": Machine(),
    "user": Machine(uid=1234),
    "docker": Machine(_DOCKER_CALLS, new_namespaces=False, capabilities=_DOCKER_CAPABILITIES),
    "docker user": Machine(_DOCKER_CALLS, new_namespaces=False, uid=1234),
    "kubernetes restricted": Machine(_DOCKER_CALLS, new_namespaces=False, capabilities=0, uid=1234),
    "ubuntu 24.04": Machine("mount umount2 pivot_root sethostname", error=errno.EACCES, uid=1234),
    "no user namespaces": Machine("unshare", error=errno.ENOSPC, uid=1234),
    "docker without landlock": Machine(
        f"{_DOCKER_CALLS} landlock_create_ruleset landlock_add_rule landlock_restrict_self",
        new_namespaces=False,
        capabilities=_DOCKER_CAPABILITIES,
    ),
}


def _refusing(machine: Machine) -> bytes:
    """Build a filter that allows all but the machine's refused calls."""
    numbers = call_numbers(syscalls.machine())
    load, masked, equal, answer = 0x20, 0x54, 0x15, 0x06
    refuse = 0x00050000 | machine.error
    code = [(load, 0, 0, 0)]
    for name in machine.calls.split():
        code += [(equal, 0, 1, numbers[name]), (answer, 0, 0, refuse)]
    if not machine.new_namespaces:
        code += [(equal, 0, 1, numbers["clone3"]), (answer, 0, 0, 0x00050000 | errno.ENOSYS)]
        code += [(equal, 0, 5, numbers["clone"]), (load, 0, 0, 16), (masked, 0, 0, 0x7E020000)]
        code += [(equal, 1, 0, 0), (answer, 0, 0, refuse), (load, 0, 0, 0)]
    code.append((answer, 0, 0, 0x7FFF0000))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _show_to_others() -> tuple[str, str, list[str]]:
    """Show interpreter, package and numpy where any user can read them, in a mount namespace of our own."""
    import numpy

    syscalls.unshare(syscalls.CLONE_NEWNS)
    syscalls.mount("", "/", "", syscalls.MS_REC | syscalls.MS_PRIVATE)
    folder = Path(numpy.__file__).parent
    package = os.path.dirname(fresh_process.__file__)
    shown = {"python": sys.base_prefix, "sandbox": package, "packages/numpy": str(folder)}
    if folder.with_name("numpy.libs").is_dir():
        shown["packages/numpy.libs"] = str(folder.with_name("numpy.libs"))
    opened = {name: os.open(source, os.O_PATH) for name, source in shown.items()}
    syscalls.mount("room", _ROOM, "tmpfs", 0, "mode=755")
    for name, fd in opened.items():
        os.makedirs(f"{_ROOM}/{name}")
        syscalls.mount(f"/proc/self/fd/{fd}", f"{_ROOM}/{name}", "", syscalls.MS_BIND)
    python = f"{_ROOM}/python/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    lib = f"{_ROOM}/python/lib/python{sys.version_info.major}.{sys.version_info.minor}"
    return python, f"{_ROOM}/sandbox", [lib, f"{lib}/lib-dynload", f"{_ROOM}/packages"]


def main(argument: str) -> None:
    """Become the machine, and replace this process by a fresh interpreter that makes the call."""
    request = json.loads(argument)
    machine = MACHINES[request["machine"]]
    python, package, path = sys.executable, os.path.dirname(fresh_process.__file__), sys.path
    environment = dict(fresh_process.ENVIRONMENT)
    if machine.uid is not None:
        python, package, path = _show_to_others()
        environment["LD_LIBRARY_PATH"] = f"{_ROOM}/python/lib"
    if machine.capabilities is not None:
        privileges.keep_within(machine.capabilities)
    if machine.uid is not None:
        privileges.leave_groups()
        privileges.become(privileges.User(machine.uid, machine.uid))
    if machine.calls:
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        syscalls.take(seccomp.Filter(_refusing(machine)).steps(0))
    call = [fresh_process.PACKAGE, package, path, request["module"], request["function"], request["value"]]
    os.chdir("/")
    os.execve(python, [python, "-I", "-S", "-c", fresh_process.BOOT, json.dumps(call)], environment)


if __name__ == "__main__":
    main(sys.argv[1])
