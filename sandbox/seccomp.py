"""What a sample may ask of the kernel in, a filter program for the kernel's seccomp out.

Everything that is not listed is refused: with "not permitted" where the call is an old one, with "no such
call" where it is new, so that a C library falls back to the old one. Threads are allowed and processes are
not: that makes the per-process limits of memory and CPU time limits of the whole sample.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
from collections.abc import Sequence

from . import syscalls
from .call_numbers import call_numbers

_FREE = """
read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 open openat openat2 close
close_range stat fstat lstat newfstatat statx access faccessat faccessat2 lseek readlink readlinkat
getdents getdents64 getcwd chdir fchdir dup dup2 dup3 pipe pipe2 poll ppoll select pselect6 epoll_create
epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 timerfd_create
timerfd_settime timerfd_gettime signalfd signalfd4 mmap mprotect munmap mremap madvise brk msync mincore
membarrier mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat
umask truncate ftruncate fallocate fsync fdatasync flock sendfile copy_file_range fadvise64 readahead
statfs fstatfs rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend
sigaltstack restart_syscall pause alarm setitimer getitimer futex futex_waitv set_robust_list
get_robust_list set_tid_address rseq arch_prctl sched_yield sched_getaffinity sched_getparam
sched_getscheduler sched_get_priority_max sched_get_priority_min getcpu nanosleep clock_nanosleep
clock_gettime clock_getres gettimeofday time times getrusage getrlimit setrlimit getpid getppid gettid
getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp getpgid getsid getpriority capget
uname sysinfo getrandom exit exit_group wait4 waitid recvfrom recvmsg recvmmsg shutdown getsockname
getpeername getsockopt
"""
# A file's mode, owner and times: Landlock does not guard them, so only a read-only file view makes them free.
_FILE_ATTRIBUTES = """
chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat setxattr
lsetxattr fsetxattr removexattr
"""

_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)  # duplicate, flags, locks, size of a pipe
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # is it a terminal, its size, bytes waiting, flags
_PRCTL = (3, 15, 16, 21, 23, 39, 0x53564D41)  # ask for rights, a thread's name, a mapping's name
_AF_UNIX, _SOCK_STREAM, _SOCK_KIND = 1, 1, 0xF
_O_ACCMODE, _O_TRUNC = 3, 0x200
_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020000

_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_ERRNO = 0x00050000
_EPERM, _ENOSYS = 1, 38
_FIRST_NEW_CALL = 424
_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_LOAD, _AND, _JUMP, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x05, 0x15, 0x35, 0x45, 0x06
_CONSTANT, _KEEP, _RECALL, _TO_INDEX, _SHIFT_BY_INDEX = 0x00, 0x02, 0x60, 0x07, 0x6C
_OWN_PID = 0x7A5A5A5A  # stands for the process id until there is one: greater than any
_Code = list[tuple[int, int, int, int]]


def _returns(value: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, value)


def _argument(index: int, *, high: bool = False) -> tuple[int, int, int, int]:
    return (_LOAD, 0, 0, 16 + 8 * index + (4 if high else 0))


def _one_of(index: int, values: Sequence[int], mask: int | None = None) -> _Code:
    """Allow when the low half of an argument, masked, is one of the values; refuse otherwise."""
    code = [_argument(index)]
    if mask is not None:
        code.append((_AND, 0, 0, mask))
    code += [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [*code, _returns(_ERRNO | _EPERM), _returns(_ALLOW)]


def _null(index: int) -> _Code:
    refuse = _returns(_ERRNO | _EPERM)
    return [
        _argument(index, high=True), (_EQUAL, 1, 0, 0), refuse,
        _argument(index), (_EQUAL, 1, 0, 0), refuse, _returns(_ALLOW),
    ]  # fmt: skip


def _guarded_files() -> dict[str, _Code]:
    """Refuse what older versions of Landlock let pass: cutting a file that may only be read."""
    only_cuts = _O_TRUNC  # among the bits of access mode and of cutting
    code = [(_AND, 0, 0, _O_ACCMODE | _O_TRUNC), (_EQUAL, 0, 1, only_cuts), _returns(_ERRNO | _EPERM)]
    return {
        "open": [_argument(1), *code, _returns(_ALLOW)],
        "openat": [_argument(2), *code, _returns(_ALLOW)],
        "openat2": [_returns(_ERRNO | _ENOSYS)],  # its flags lie in memory, which a filter cannot read
        "truncate": [_returns(_ERRNO | _EPERM)],
    }


def _checked_calls(own_pid: int) -> dict[str, _Code]:
    stream_pair = [_argument(0), (_EQUAL, 1, 0, _AF_UNIX), _returns(_ERRNO | _EPERM)]
    return {
        "clone": _one_of(0, [_CLONE_THREAD], _CLONE_THREAD | _CLONE_NAMESPACES),
        "clone3": [_returns(_ERRNO | _ENOSYS)],
        "socketpair": stream_pair + _one_of(1, [_SOCK_STREAM], _SOCK_KIND),
        "sendto": _null(4),
        "kill": _one_of(0, [own_pid]),
        "tgkill": _one_of(0, [own_pid]),
        "prlimit64": _one_of(0, [0, own_pid]),
        "prctl": _one_of(0, _PRCTL),
        "ioctl": _one_of(1, _IOCTL),
        "fcntl": _one_of(1, _FCNTL),
    }


@functools.lru_cache(maxsize=4)
def build(machine: str, *, file_attributes: bool) -> bytes:
    """Return the filter for ``machine`` as the kernel reads it, but for the sample's process id.

    ``file_attributes`` lets a sample change a file's mode, owner and times, and cut it by its path: for
    where all but its own files are read-only.
    """
    numbers = call_numbers(machine)
    checked = _checked_calls(_OWN_PID) | ({} if file_attributes else _guarded_files())
    free = (_FREE + (_FILE_ATTRIBUTES if file_attributes else "")).split()
    listed = {numbers[name] for name in free if name in numbers}
    # Numbers from the x32 bit on belong to another calling convention, and are nobody's elsewhere.
    code: _Code = [
        (_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _ARCH[machine]), _returns(_KILL),
        (_LOAD, 0, 0, 0), (_AT_LEAST, 0, 1, _X32_BIT), _returns(_KILL),
    ]  # fmt: skip
    for name, block in checked.items():
        if name in numbers:
            code += [(_EQUAL, 0, len(block), numbers[name]), *block]
    code += _look_up(listed)
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _look_up(listed: set[int]) -> _Code:
    """Allow the number at hand if its bit is set in a table of words of 32 bits.

    The kernel compiles the filter anew for each sample: a table is half as long as a search among the calls.
    """
    code: _Code = [(_KEEP, 0, 0, 0), (_AND, 0, 0, 31), (_TO_INDEX, 0, 0, 0), (_CONSTANT, 0, 0, 1)]
    code += [(_SHIFT_BY_INDEX, 0, 0, 0), (_KEEP, 0, 0, 1), (_RECALL, 0, 0, 0)]
    words: list[tuple[int, _Code]] = []
    for first in sorted({_FIRST_NEW_CALL, *range(0, max(listed) + 33, 32)}):
        mask = sum(1 << number % 32 for number in listed if number // 32 == first // 32)
        other = _returns(_ERRNO | (_EPERM if first < _FIRST_NEW_CALL else _ENOSYS))
        words.append((first, [(_RECALL, 0, 0, 1), (_ANY_BIT, 0, 1, mask), _returns(_ALLOW), other]))
    return code + _tree(words)


def _tree(spans: list[tuple[int, _Code]]) -> _Code:
    """Look a number up by halves among spans, each given by its first number."""
    if len(spans) == 1:
        return spans[0][1]
    middle = len(spans) // 2
    low, high = _tree(spans[:middle]), _tree(spans[middle:])
    return [(_AT_LEAST, 0, 1, spans[middle][0]), (_JUMP, 0, 0, len(low)), *low, *high]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


class Filter:
    """A filter ready to be loaded; only the process id is still to be written into it.

    It needs no-new-privileges set, and stays for ever. The process id is the one that the process sees
    itself: signals go to nobody else.
    """

    def __init__(self, code: bytes) -> None:
        self._code = ctypes.create_string_buffer(code, len(code))
        places = range(0, len(code), 8)
        marks = [at + 4 for at in places if code[at + 4 : at + 8] == struct.pack("=I", _OWN_PID)]
        self._own_pids = [ctypes.c_uint32.from_buffer(self._code, at) for at in marks]
        self._program = _Program(len(code) // 8, ctypes.cast(self._code, ctypes.c_void_p))
        set_mode_filter = 1
        self._call = syscalls.prepared("seccomp", set_mode_filter, 0, ctypes.byref(self._program))

    def steps(self, own_pid: int | None) -> list[syscalls.Step]:
        """List the calls that load it; ``own_pid`` is None where only the process itself can know it."""
        steps: list[syscalls.Step] = [("seccomp", *self._call)]
        if own_pid is None:
            return [("own pid", self._write_own_pid, ()), *steps]
        self._write_own_pid(own_pid)
        return steps

    def _write_own_pid(self, own_pid: int | None = None) -> None:
        pid = os.getpid() if own_pid is None else own_pid
        for place in self._own_pids:
            place.value = pid
