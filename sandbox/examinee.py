"""A program and its calls in, one answer frame a call out: the locked-in side, which holds no test and no
expected value.

The parent half is warm (numpy and what programs import most are loaded), enters its cell once and forks one
process a sample. The sample half reads the program from its own pipe, so that no program stays behind in
the parent's memory, executes it as an imported module and answers the calls of a plan in order, or, live,
one call at a time.
"""

from __future__ import annotations

import gc
import importlib
import marshal
import os
import random
import select
import socket
import sys
import time
import types
from typing import Any, NoReturn

from . import codec, wire
from .errors import SandboxUnavailable
from .records import Isolation, Limits

WARM_MODULES = (
    "bisect", "collections.abc", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions",
    "functools", "hashlib", "heapq", "itertools", "json", "math", "operator", "random", "re", "statistics",
    "string", "typing",
)  # fmt: skip
MODULE_NAME = "program"
_exit = os._exit  # whatever a program makes of the name in ``os``
REHEARSALS = 20  # the interpreter specializes code after a number of runs
_REHEARSAL = """
import math, re, collections
from typing import Any, Dict, List, Optional, Set, Tuple, Union

def g(a: List[int], b: List[float], c: List[str], d: Tuple[int, int], e: Optional[int] = None):
    return {}

def h(a: Dict[str, int], b: Optional[str], c: Tuple[float, float], d: List[Any]) -> Optional[List[int]]:
    return [x for x in a if x]

def f(xs: List[float], t: str) -> bool:
    total = 0
    for i, x in enumerate(xs):
        if x > 1 and i != len(t):
            total += int(x) % 7
    return [total, str(total), t.upper(), sorted(xs)]
"""
REAP_S = 10.0  # a killed process ends at once; this only bounds a kernel that does not let it


def warm_up() -> None:
    """Import what programs import most, so that no sample pays for it."""
    for name in ("numpy", *WARM_MODULES):
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # numpy may be missing; a program that needs it then fails as it would anywhere
    # Every sample starts from the same states: equal runs, equal rows. (No fork hook seeds them anew.)
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
    _rehearse()


def _rehearse() -> None:
    """Do once what each sample does first: what the interpreter sets up on the way is then shared by all."""
    reader, writer = os.pipe()
    name = "rehearsal"
    for _ in range(REHEARSALS):
        wire.write_message(writer, (_REHEARSAL, "f", ()))
        source, entry_point, _ = wire.read_message(reader)
        function = _load(source, entry_point, writer, name)
        _answer(function, [marshal.dumps([[1, 2.5], "a"], 2)] * 4, writer, 1 << 20)
        os.read(reader, 1 << 16)
        del sys.modules[name]
    os.close(reader)
    os.close(writer)


def examinee_parent(control_fd: int, level: str) -> NoReturn:
    """Enter the cell and serve the examiner until it goes away."""
    control = socket.socket(fileno=control_fd)
    try:
        from .isolation import open_cell

        warm_up()
        cell = open_cell(Isolation(level), Limits())
    except SandboxUnavailable as why:
        wire.send_message(control, ("unavailable", why.reason, why.remedy))
        _exit(0)
    except Exception as fault:
        wire.send_message(control, ("unavailable", f"{type(fault).__name__} at the start: {fault}", ""))
        _exit(0)
    _hide_ourselves()
    gc.collect()
    gc.freeze()
    wire.send_message(control, ("ready",))
    try:
        _serve(control, cell)
    except wire.ChannelClosed:
        cell.close()
        _exit(0)


def _hide_ourselves() -> None:
    """Leave the interpreter as a fresh one that imports a module would be."""
    for name in [name for name in sys.modules if name.split(".")[0] == "lm_eval_strict"]:
        del sys.modules[name]
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "__main__"]
    sys.argv[:] = [""]


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
            _run_one(control, cell, fds, calls, max_bytes, Limits(*limits))


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
    report = {
        "exit_status": end.exit_status,
        "signal": end.signal,
        "cpu_s": end.cpu_s,
        "wall_s": time.monotonic() - started,
        "memory_mib": end.memory_mib,
        "hit_memory_limit": end.hit_memory_limit and not killed,
        "hit_cpu_limit": end.hit_cpu_limit and not killed,
        "hit_wall_limit": killed == "wall",
        "hit_file_limit": end.hit_file_limit,
        "setup_fault": end.setup_fault,
    }
    wire.send_message(control, ("end", report))


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


def run_sample(in_fd: int, out_fd: int, calls: list[bytes] | None, max_bytes: int) -> NoReturn:
    """Run one program to its end; every way out of here ends the process."""
    try:
        source, entry_point, repeats = wire.read_message(in_fd)
        gc.enable()
        function = _load(source, entry_point, out_fd, MODULE_NAME)
        if calls is None:
            _answer_live(function, in_fd, out_fd, max_bytes)
        else:
            os.close(in_fd)
            _answer(function, calls, out_fd, max_bytes)
            _answer(function, [calls[i] for i in repeats], out_fd, max_bytes)
    except wire.ChannelClosed:
        _exit(0)
    except MemoryError:
        _end_with(out_fd, codec.NO_MEMORY_FRAME)
    _exit(0)


def _answer(function: Any, calls: list[bytes], out_fd: int, max_bytes: int) -> None:
    # The names are bound before the program can reach into the modules they come from... it may still try:
    # whatever it gets from that is its own wrong answer.
    loads, encode, write = marshal.loads, codec.encode, os.write
    for raw in calls:
        try:
            value = function(*loads(raw))
            frame = encode(value, max_bytes)
        except BaseException as raised:
            _end_with(out_fd, _raised_frame(raised, codec.RAISED))
        written = write(out_fd, frame)
        if written < len(frame):
            wire.write_all(out_fd, frame[written:])


def _answer_live(function: Any, in_fd: int, out_fd: int, max_bytes: int) -> None:
    while True:
        _answer(
            function,
            [wire.read_exactly(in_fd, *wire.HEADER.unpack(wire.read_exactly(in_fd, 4)))],
            out_fd,
            max_bytes,
        )


def _load(source: str, entry_point: str, out_fd: int, name: str) -> Any:
    """Execute the program as a module that was imported, and give its entry point."""
    try:
        code = compile(source, f"<{name}>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, OverflowError) as wrong:
        _end_with(out_fd, _raised_frame(wrong, codec.SYNTAX))
    module = types.ModuleType(name)
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    except BaseException as raised:
        _end_with(out_fd, _raised_frame(raised, codec.IMPORT_RAISED))
    function = module.__dict__.get(entry_point)
    if not callable(function):
        _end_with(out_fd, codec.FRAME.pack(codec.NO_ENTRY, 0))
    return function


def _raised_frame(raised: BaseException, tag: int) -> bytes:
    """Describe an exception without calling anything that the program may have defined."""
    kind = type(raised)
    if issubclass(kind, MemoryError):
        return codec.NO_MEMORY_FRAME
    if issubclass(kind, SystemExit):
        tag = codec.LEFT
    text = type.__getattribute__(kind, "__name__")
    if issubclass(kind, SyntaxError) and tag == codec.SYNTAX:
        text = f"{text}: {raised.msg} (line {raised.lineno})"  # type: ignore[attr-defined]
    else:
        arguments = BaseException.args.__get__(raised)  # type: ignore[attr-defined]
        if len(arguments) == 1 and type(arguments[0]) is str:
            text = f"{text}: {arguments[0]}"
    body: bytes = text[:500].encode("utf-8", "replace")
    return codec.FRAME.pack(tag, len(body)) + body


def _end_with(out_fd: int, frame: bytes) -> NoReturn:
    try:
        wire.write_all(out_fd, frame)
    finally:
        _exit(0)
