"""Messages between processes of ours in, the same messages out: length-prefixed, over pipes and Unix sockets.

Only processes that run our own code are at the two ends: what a program answers never comes this way
(``codec_reader`` reads that), so the body may be ``marshal`` data of plain values.
"""

from __future__ import annotations

import marshal
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

HEADER = struct.Struct("<I")
MAX_FDS = 4


class ChannelClosed(Exception):
    """The process at the other end is gone."""


def write_all(fd: int, data: bytes) -> None:
    """Write all of ``data`` to the blocking descriptor ``fd``."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def read_exactly(fd: int, size: int) -> bytes:
    """Read ``size`` bytes from the blocking descriptor ``fd``; raise ChannelClosed at its end."""
    chunk = os.read(fd, size)
    if len(chunk) == size:
        return chunk
    parts = []
    while chunk:
        parts.append(chunk)
        size -= len(chunk)
        if not size:
            return b"".join(parts)
        chunk = os.read(fd, min(size, 1 << 20))
    raise ChannelClosed


def write_message(fd: int, message: Any) -> None:
    """Write one message; raise ChannelClosed where nobody reads any more."""
    body = marshal.dumps(message)
    try:
        write_all(fd, HEADER.pack(len(body)) + body)
    except (BrokenPipeError, ConnectionResetError) as gone:
        raise ChannelClosed from gone


def read_message(fd: int) -> Any:
    """Read one message; raise ChannelClosed at the end of the channel."""
    try:
        (size,) = HEADER.unpack(read_exactly(fd, HEADER.size))
        return marshal.loads(read_exactly(fd, size))
    except ConnectionResetError as gone:
        raise ChannelClosed from gone


def send_message(sock: socket.socket, message: Any, fds: Sequence[int] = ()) -> None:
    """Send one message and copies of the descriptors ``fds`` over a Unix socket."""
    body = marshal.dumps(message)
    try:
        if fds:
            socket.send_fds(sock, [HEADER.pack(len(body))], list(fds))
            sock.sendall(body)
        else:
            sock.sendall(HEADER.pack(len(body)) + body)
    except (BrokenPipeError, ConnectionResetError) as gone:
        raise ChannelClosed from gone


def receive_message(sock: socket.socket) -> tuple[Any, list[int]]:
    """Receive one message and the descriptors that came with it; the caller closes these."""
    try:
        header, fds, _flags, _address = socket.recv_fds(sock, HEADER.size, MAX_FDS)
    except ConnectionResetError as gone:
        raise ChannelClosed from gone
    if not header:
        raise ChannelClosed
    if len(header) < HEADER.size:
        header += read_exactly(sock.fileno(), HEADER.size - len(header))
    (size,) = HEADER.unpack(header)
    return marshal.loads(read_exactly(sock.fileno(), size)), list(fds)
