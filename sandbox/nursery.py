"""Requests to fork in, processes of ours out: what forks all workers, and never holds any data.

Being single-threaded and empty it can fork at any time, and nothing of an exam is left in the memory of
what it forks. It ends with the broker, and takes all its children along. The broker has two: one forks
examinees and has imported nothing but what they need, since each sample pays for every page and every
mapping of the process that it is forked from; the other forks all else.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import select
import signal
import socket
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from . import wire

PR_SET_PDEATHSIG = 1
MAX_FD = 1 << 16
SWEEP_S = 1.0
ROLES = {
    "examiner": ("lm_eval_strict.sandbox.examiner", "examiner_main"),
    "examinee": ("lm_eval_strict.sandbox.examinee", "examinee_parent"),
    "nursery": ("lm_eval_strict.sandbox.nursery", "nursery_main"),
    "pool_worker": ("lm_eval_strict.sandbox.pool_worker", "pool_worker_main"),
}


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, however that ends (Linux only)."""
    if not sys.platform.startswith("linux"):
        return  # a closed socket still ends every process of ours that is not at work
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def keep_only(fds: Sequence[int]) -> None:
    """Point the standard streams at /dev/null and close every descriptor but ``fds``."""
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    low = 3
    for fd in sorted(fds):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, MAX_FD)


def fork_role(role: str, fds: Sequence[int], arguments: Sequence[Any]) -> int:
    """Fork a process that plays ``role`` with only ``fds`` open; return its pid."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        keep_only(fds)
        die_with_parent()
        if os.getppid() != parent:
            os._exit(0)
        module, function = ROLES[role]
        getattr(importlib.import_module(module), function)(*fds, *arguments)
    except BaseException:
        os._exit(70)
    os._exit(0)


def nursery_main(fd: int, preload: Sequence[str] = (), path: Sequence[str] | None = None) -> NoReturn:
    """Serve the broker at ``fd``: preload modules, fork roles, kill children; end when it goes away."""
    sock = socket.socket(fileno=fd)
    children: set[int] = set()
    die_with_parent()
    if path is not None:
        sys.path[:] = path
    _load(preload)
    poller = select.poll()
    poller.register(sock, select.POLLIN)
    try:
        while True:
            if poller.poll(1000 if children else None):
                _serve(sock, children)
            _reap(children)
    except (wire.ChannelClosed, OSError):
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        while children:
            _reap(children, 0)
        _sweep_after_all()
    os._exit(0)


def _sweep_after_all() -> None:
    """Clear away what killed examinees could not: their work folders and control groups."""
    isolation = sys.modules.get("lm_eval_strict.sandbox.isolation")
    if isolation is not None:
        isolation.sweep(SWEEP_S)


def _load(modules: Iterable[str]) -> None:
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # what needs it says so itself
    gc.collect()
    gc.freeze()


def _serve(sock: socket.socket, children: set[int]) -> None:
    (request, *details), fds = wire.receive_message(sock)
    if request == "fork":
        role, arguments = details
        pid = fork_role(role, fds, arguments)
        children.add(pid)
        for fd in fds:
            os.close(fd)
        wire.send_message(sock, pid)
    elif request == "load":
        _load(details[0])
    elif request == "warm":
        _warm_for_samples()
    elif request == "kill" and details[0] in children:
        os.kill(details[0], signal.SIGKILL)


def _warm_for_samples() -> None:
    """Import and rehearse once what examinees need, so that all of them share it."""
    if "lm_eval_strict.sandbox.examinee" in sys.modules:
        return
    _load(f"lm_eval_strict.sandbox.{name}" for name in ("examinee", "isolation"))
    for name, function in (("warm_up", "warm_up"), ("isolation", "sweep"), ("file_view", "shared_objects")):
        module = sys.modules.get(f"lm_eval_strict.sandbox.{name}")
        if module is not None:  # what could not be imported is reported by the first process that needs it
            getattr(module, function)()
    gc.collect()
    gc.freeze()


def _reap(children: set[int], flags: int = os.WNOHANG) -> None:
    while children:
        pid, _status = os.waitpid(-1, flags)
        if pid == 0:
            return
        children.discard(pid)
