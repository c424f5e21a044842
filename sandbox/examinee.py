"""The calls of an exam and requests to run in, one locked-in process per sample out, and how each ended.

This is a warm parent of one worker's samples: it holds no test, no expected value and no program. It
enters its cell once, forks one process a sample, and kills it at its limits or at its examiner's word. A
worker has two of them: one with what nearly all programs import, and one that has imported more.
"""

from __future__ import annotations

import functools
import gc
import os
import select
import socket
import sys
import time
import types
from typing import Any, NoReturn

from . import wire
from .errors import SandboxUnavailable
from .records import Isolation, Limits
from .sample import run_sample
from .warm_up import warm_up_fully

REAP_S = 10.0  # a killed process ends at once; this only bounds a kernel that does not let it


def examinee_parent(control_fd: int, level: str, fully: bool) -> NoReturn:
    """Enter the cell and serve the examiner until it goes away.

    One that has to import more than its nursery has (``fully``) waits until it is first asked for.
    """
    control = socket.socket(fileno=control_fd)
    try:
        from .isolation import open_cell

        if fully:
            control.recv(1, socket.MSG_PEEK)
            warm_up_fully()
        cell = open_cell(Isolation(level), Limits())
    except SandboxUnavailable as why:
        wire.send_message(control, ("unavailable", why.reason, why.remedy))
        os._exit(0)
    except Exception as fault:
        wire.send_message(control, ("unavailable", f"{type(fault).__name__} at the start: {fault}", ""))
        os._exit(0)
    _hide_ourselves()
    gc.collect()
    gc.freeze()
    wire.send_message(control, ("ready",))
    try:
        _serve(control, cell)
    except wire.ChannelClosed:
        cell.close()
        os._exit(0)


def _hide_ourselves() -> None:
    """Leave the interpreter as a fresh one that imports a module would be."""
    for name in [name for name in sys.modules if name.split(".")[0] == "lm_eval_strict"]:
        del sys.modules[name]
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "__main__"]
    sys.argv[:] = [""]
    sys.dont_write_bytecode = True


def _serve(control: socket.socket, cell: Any) -> NoReturn:
    sets: tuple[list[bytes], ...] = ()
    while True:
        message, fds = wire.receive_message(control)
        if message[0] == "inputs":
            sets = message[1]
            gc.freeze()
        elif message[0] == "run":
            _, which, max_bytes, limits = message
            calls = sets[which] if which is not None else None
            _run_one(control, cell, fds, calls, max_bytes, _limits_of(limits))


@functools.lru_cache(maxsize=8)
def _limits_of(fields: tuple[Any, ...]) -> Limits:
    return Limits(*fields)


def _run_one(
    control: socket.socket,
    cell: Any,
    fds: list[int],
    calls: list[bytes] | None,
    max_bytes: int,
    limits: Limits,
) -> None:
    """Fork one sample, wait for its end within its limits, and report how it ended."""
    in_fd, out_fd = fds

    def run() -> NoReturn:
        run_sample(in_fd, out_fd, calls, max_bytes)

    started = time.monotonic()
    pid = cell.fork_sample(run, keep_fds=(in_fd, out_fd), limits=limits)
    os.close(in_fd)
    os.close(out_fd)
    killed = _wait(control, cell, pid, started + limits.wall_s)
    end = cell.wait(pid, REAP_S)
    fields = (  # of ``sample_run.End``
        end.exit_status,
        end.signal,
        end.cpu_s,
        time.monotonic() - started,
        end.memory_mib,
        end.hit_memory_limit and not killed,
        end.hit_cpu_limit and not killed,
        killed == "wall",
        end.hit_file_limit,
        end.setup_fault,
    )
    wire.send_message(control, ("end", fields))


def _wait(control: socket.socket, cell: Any, pid: int, deadline: float) -> str:
    """Wait until the sample ends by itself (""), its examiner says "stop", or its "wall" time is over."""
    pidfd = cell.pidfd(pid)
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    poller.register(control, select.POLLIN)
    patrol_s = cell.patrol_interval_s
    while True:
        left = deadline - time.monotonic()
        wait_s = max(0.0, left if patrol_s is None else min(left, patrol_s))
        ready = {fd for fd, _ in poller.poll(wait_s * 1000)}
        if patrol_s is not None and not ready:
            cell.patrol(pid)
        if pidfd in ready:
            return ""
        if ready:
            try:
                wire.receive_message(control)  # "stop", the only message that may come now
            finally:
                cell.kill(pid)
            return "stop"
        if left <= 0:
            cell.kill(pid)
            return "wall"
