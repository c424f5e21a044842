"""One program and the calls to put to it in, its answer bytes and how its process ended out: the examiner's
side of the pipes.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import wire
from .codec import FRAME
from .records import Limits
from .wire_records import limits_to_wire

PIPE_BYTES = 1 << 20
TICK_MS = 10
LONG_TICK_MS = 50
READ_BYTES = 1 << 16  # larger buffers are mapped afresh for each read, which costs more than the calls
BACKSTOP_S = 30.0
SETTLE_S = 5.0  # a process that closed its pipe is nearly gone; only one that did so itself lives on


class ExamineeGone(Exception):
    """The examinee's parent died or does not answer: ours, never the program's fault."""


class End(NamedTuple):
    """How a sample's process ended, as its parent saw it."""

    exit_status: int | None
    signal: int | None
    cpu_s: float
    wall_s: float
    memory_mib: float
    hit_memory_limit: bool
    hit_cpu_limit: bool
    hit_wall_limit: bool
    hit_file_limit: bool
    setup_fault: str | None


class SampleRun:
    """One sample: started by the constructor, read by ``collect`` or ``ask``, ended by ``finish``."""

    def __init__(
        self,
        control: socket.socket,
        program: str,
        entry_point: str,
        *,
        which: int | None,
        repeats: Sequence[int],
        max_bytes: int,
        limits: Limits,
    ) -> None:
        self.control = control
        self.end: End | None = None
        self.closed = False
        self.deadline = time.monotonic() + limits.wall_s + BACKSTOP_S
        self.max_bytes = max_bytes
        in_read, self.in_fd = os.pipe()
        self.out_fd, out_write = os.pipe()
        try:
            fcntl.fcntl(self.out_fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            pass  # the user's pipe pages are used up: a small pipe only makes the sample wait more often
        wire.send_message(control, ("run", which, max_bytes, limits_to_wire(limits)), (in_read, out_write))
        os.close(in_read)
        os.close(out_write)
        os.set_blocking(self.out_fd, False)
        try:
            wire.write_message(self.in_fd, (program, entry_point, tuple(repeats)))
        except wire.ChannelClosed:
            pass  # it ended before it had read all; its end says why

    def collect(self, feed: Callable[[bytes], bool]) -> None:
        """Hand all that the sample answers to ``feed`` until it ends or ``feed`` says True: seen enough.

        Between ticks only the end of the answers wakes this process: waking for each answer would cost a
        switch of processes a call. The more comes, the shorter the ticks: a sample waits while its pipe is
        full.
        """
        poller = select.poll()
        poller.register(self.out_fd, 0)
        poller.register(self.control, select.POLLIN)
        tick_ms = TICK_MS
        while True:
            events = dict(poller.poll(tick_ms))
            ended = self.control.fileno() in events and self._take_end()
            amount, closed, enough = self._drain(feed)
            self.closed = closed
            if enough or ended or closed:
                return
            if amount >= PIPE_BYTES // 2:
                tick_ms = max(1, tick_ms // 2)
            elif amount < PIPE_BYTES // 4:
                tick_ms = min(LONG_TICK_MS, tick_ms + 1)
            if time.monotonic() > self.deadline:
                raise ExamineeGone("a sample outlived its wall limit")

    def ask(self, arguments: bytes) -> bytes | None:
        """Put one call to a live sample and give its answer frame; None where it ended instead."""
        try:
            wire.write_all(self.in_fd, wire.HEADER.pack(len(arguments)) + arguments)
        except BrokenPipeError:
            return None
        got = bytearray()

        def feed(chunk: bytes) -> bool:
            got.extend(chunk)
            return frame_size(got, self.max_bytes) is not None

        poller = select.poll()
        poller.register(self.out_fd, select.POLLIN)
        while True:
            poller.poll(LONG_TICK_MS)
            _, closed, enough = self._drain(feed)
            if enough:
                return bytes(got)
            if closed:
                return None
            if time.monotonic() > self.deadline:
                raise ExamineeGone("a sample outlived its wall limit")

    def finish(self) -> End:
        """Stop the sample if it still runs, and say how it ended."""
        os.close(self.in_fd)
        os.close(self.out_fd)
        if self.end is None:
            try:
                wire.send_message(self.control, ("stop",))
            except wire.ChannelClosed as gone:
                raise ExamineeGone("the examinee's parent is gone") from gone
            poller = select.poll()
            poller.register(self.control, select.POLLIN)
            if not poller.poll(BACKSTOP_S * 1000):
                raise ExamineeGone("a killed sample does not end")
            self._take_end()
        assert self.end is not None
        return self.end

    def settle(self) -> End:
        """Let a sample whose answers are over end by itself, for a moment: its end says why they are over."""
        poller = select.poll()
        poller.register(self.control, select.POLLIN)
        if self.end is None and poller.poll(SETTLE_S * 1000):
            self._take_end()
        return self.finish()

    def _take_end(self) -> bool:
        try:
            message, _ = wire.receive_message(self.control)
        except wire.ChannelClosed as gone:
            raise ExamineeGone("the examinee's parent is gone") from gone
        self.end = End(*message[1])
        return True

    def _drain(self, feed: Callable[[bytes], bool]) -> tuple[int, bool, bool]:
        """Read what is there; say how much, whether answers are over, whether ``feed`` has seen enough."""
        amount = 0
        while True:
            try:
                chunk = os.read(self.out_fd, READ_BYTES)
            except BlockingIOError:
                return amount, False, False
            if not chunk:
                return amount, True, False
            amount += len(chunk)
            if feed(chunk):
                return amount, False, True


def frame_size(got: Any, max_bytes: int, at: int = 0) -> int | None:
    """Give the size of the frame that starts at ``at``; None while it is not whole.

    A frame that claims more than ``max_bytes`` is given as its header alone: nobody waits for such a payload.
    """
    if len(got) - at < FRAME.size:
        return None
    _, length = FRAME.unpack_from(got, at)
    if length > max_bytes:
        return FRAME.size
    return FRAME.size + length if len(got) - at >= FRAME.size + length else None
