"""A program and its calls in, one answer frame a call out: what a sample's own process does.

The program comes through the sample's own pipe, so that no program stays behind in the memory of the warm
parent; it is executed as an imported module and answers the calls of a plan in order, or, live, one call at
a time.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
import types
from typing import Any, NoReturn

from . import codec, wire

MODULE_NAME = "program"
_exit, _close = os._exit, os.close  # whatever a program makes of the names in ``os``


def run_sample(in_fd: int, out_fd: int, calls: list[bytes] | None, max_bytes: int) -> NoReturn:
    """Run one program to its end; every way out of here ends the process."""
    try:
        source, entry_point, repeats = wire.read_message(in_fd)
        gc.enable()
        function = load_program(source, entry_point, out_fd, MODULE_NAME)
        if calls is None:
            _answer_live(function, in_fd, out_fd, max_bytes)
        else:
            os.close(in_fd)
            answer_calls(function, calls, out_fd, max_bytes)
            answer_calls(function, [calls[i] for i in repeats], out_fd, max_bytes)
            _close(out_fd)  # the answers are judged while the kernel takes this process down
    except wire.ChannelClosed:
        _exit(0)
    except MemoryError:
        _end_with(out_fd, codec.NO_MEMORY_FRAME)
    _exit(0)


def answer_calls(function: Any, calls: list[bytes], out_fd: int, max_bytes: int) -> None:
    """Make each call with fresh arguments and write its answer before the next one is made."""
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
        answer_calls(
            function,
            [wire.read_exactly(in_fd, *wire.HEADER.unpack(wire.read_exactly(in_fd, 4)))],
            out_fd,
            max_bytes,
        )


def load_program(source: str, entry_point: str, out_fd: int, name: str) -> Any:
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
