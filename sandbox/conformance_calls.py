"""Promises about the kernel's calls: each probe runs inside a sample and says what got through."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable

from .call_numbers import call_numbers
from .conformance_probe import Context, Ending, Probe, said_nothing
from .records import Isolation

_REFUSALS = (errno.EPERM, errno.ENOSYS, errno.EACCES)
_ADDRESS_FAMILIES = range(46)
_REFUSED_CALLS = """
mount umount2 pivot_root chroot unshare setns open_tree move_mount fsopen mount_setattr ptrace
process_vm_readv process_vm_writev kcmp pidfd_open pidfd_getfd pidfd_send_signal process_madvise keyctl
add_key request_key bpf perf_event_open io_uring_setup io_uring_enter userfaultfd memfd_create
memfd_secret execve execveat shmget semget msgget mq_open name_to_handle_at open_by_handle_at personality
init_module finit_module reboot swapon syslog quotactl fanotify_init inotify_init1 landlock_create_ruleset
seccomp capset setuid setgid setgroups sched_setscheduler sched_setaffinity setpriority setsid setpgid
tkill rt_sigqueueinfo rt_tgsigqueueinfo timer_create splice tee vmsplice mlock mbind move_pages
migrate_pages sync settimeofday clock_settime adjtimex mknodat io_setup lookup_dcookie socket bind connect
sendmsg
"""
# Harmless where a call gets through after all: no queue is made, no process is touched.
_ARGUMENTS = {"msgget": (0x7ABC,), "reboot": (1, 1, 1)}
_NAMESPACE_FLAGS = {
    "mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000,
    "user": 0x10000000, "pid": 0x20000000, "network": 0x40000000,
}  # fmt: skip
_CLONE_THREAD = 0x10000
_CAPABILITIES = 41
_SIGSYS, _SIGSEGV = 31, 11


def _call(number: int, *values: int) -> int:
    """Make a raw call; return 0 when it worked, else its error number."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    padded = [ctypes.c_long(value) for value in (number, *values, *[0] * (6 - len(values)))]
    return ctypes.get_errno() if libc.syscall(*padded) == -1 else 0


def refused_calls(_: Context) -> str:
    """No call to mount, trace, load, listen in, start programs or make namespaces reaches the kernel."""
    numbers = call_numbers(os.uname().machine)
    through = []
    for name in _REFUSED_CALLS.split():
        if name in numbers:
            error = _call(numbers[name], *_ARGUMENTS.get(name, ()))
            if error not in _REFUSALS:
                through.append(f"{name}: {errno.errorcode.get(error, 'worked')}")
    return ", ".join(through)


def no_socket(_: Context) -> str:
    """No socket of any family can be made: internet, vsock, netlink, packet, abstract or any other."""
    import socket

    made = []
    for family in _ADDRESS_FAMILIES:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                socket.socket(family, kind).close()
            except OSError as error:
                if error.errno in _REFUSALS:
                    continue
                made.append(f"family {family} asks the kernel: {error}")
            else:
                made.append(f"family {family} kind {kind}")
    return ", ".join(made[:5])


def pair_reaches_nobody(_: Context) -> str:
    """A connected local pair works, for event loops, and cannot be turned to another address."""
    import socket

    here, there = socket.socketpair()
    here.send(b"x")
    if there.recv(1) != b"x":
        return "a socket pair does not carry bytes"
    found = []
    attempts: dict[str, Callable[[], object]] = {
        "datagram pair": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
        "connect": lambda: here.connect("\0conformance"),
        "bind": lambda: here.bind("\0conformance"),
        "sendto": lambda: here.sendto(b"x", "\0conformance"),
        "send a descriptor": lambda: socket.send_fds(here, [b"x"], [0]),
    }
    for name, attempt in attempts.items():
        try:
            attempt()
            found.append(name)
        except OSError as error:
            if error.errno not in _REFUSALS:
                found.append(f"{name}: {error}")
    return ", ".join(found)


def no_new_namespace(_: Context) -> str:
    """No namespace can be made by clone, clone3 or unshare: each would bring rights back."""
    numbers = call_numbers(os.uname().machine)
    found = []
    for name, flag in _NAMESPACE_FLAGS.items():
        for call in ("unshare", "clone"):
            # A thread without shared memory is nonsense: past the filter the kernel itself says EINVAL.
            error = _call(numbers[call], flag | (_CLONE_THREAD if call == "clone" else 0))
            if error not in _REFUSALS:
                found.append(f"{call} {name}: {errno.errorcode.get(error, 'worked')}")
    if _call(numbers["clone3"]) != errno.ENOSYS:
        found.append("clone3")
    return ", ".join(found)


def no_capability(context: Context) -> str:
    """No capability is held, and none can come back."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(ctypes.c_long(call_numbers(os.uname().machine)["capget"]), header, data)
    if any(data):
        return f"capabilities held: {list(data)}"
    # An ordinary user cannot empty the set; no exec, and no-new-privileges, keep it from mattering.
    within_reach = [n for n in range(_CAPABILITIES) if _bounded(libc, n)]
    return (
        f"capabilities in reach: {within_reach}" if within_reach and context.level is Isolation.FULL else ""
    )


def _bounded(libc: ctypes.CDLL, capability: int) -> bool:
    capbset_read = 23
    return bool(libc.prctl(capbset_read, ctypes.c_ulong(capability), 0, 0, 0) == 1)


def no_new_privileges(_: Context) -> str:
    """No-new-privileges is set: no exec, however reached, gives rights."""
    get_no_new_privs = 39
    return "" if ctypes.CDLL(None).prctl(get_no_new_privs, 0, 0, 0, 0) == 1 else "it is not set"


def foreign_calling_conventions(_: Context) -> str:
    """The 32-bit doors into the kernel end the process: their call numbers mean other things."""
    import mmap

    if os.uname().machine != "x86_64":
        return ""
    getpid_by_int80 = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(getpid_by_int80)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    ctypes.CFUNCTYPE(ctypes.c_int)(address)()
    return "a 32-bit call came back"


def x32_calls(_: Context) -> str:
    """The x32 calling convention ends the process too."""
    if os.uname().machine != "x86_64":
        return ""
    x32_getpid = 0x40000000 | 39
    ctypes.CDLL(None).syscall(ctypes.c_long(x32_getpid))
    return "an x32 call came back"


def _ended_by_filter(ending: Ending) -> str:
    if os.uname().machine != "x86_64" or ending.end.signal in (_SIGSYS, _SIGSEGV):
        return ""
    return ending.said or f"it ended as {ending.end}"


def terminal_calls(_: Context) -> str:
    """No terminal can be reached or fed: not by name, not by descriptor, not by a pushed character."""
    import fcntl
    import termios

    found = []
    for path in ("/dev/tty", "/dev/ptmx", "/dev/console", "/dev/pts/0"):
        try:
            os.close(os.open(path, os.O_RDWR))
            found.append(path)
        except OSError:
            pass
    for stream in range(3):
        try:
            fcntl.ioctl(stream, termios.TIOCSTI, b"x")
            found.append(f"TIOCSTI on {stream}")
        except OSError as error:
            if error.errno not in _REFUSALS:
                found.append(f"TIOCSTI on {stream}: {error}")
    return ", ".join(found)


PROBES = (
    Probe(refused_calls),
    Probe(no_socket),
    Probe(pair_reaches_nobody),
    Probe(no_new_namespace),
    Probe(no_capability),
    Probe(no_new_privileges),
    Probe(foreign_calling_conventions, judge=_ended_by_filter),
    Probe(x32_calls, judge=_ended_by_filter),
    Probe(terminal_calls, judge=said_nothing),
)
