"""Bytes at the end of a file in, any part of them out when it is asked for: what is large stays on disk."""

from __future__ import annotations

import io
import os


class KeptBytes:
    """The last ``size`` bytes of an open file, from ``start`` on; used like ``bytes``, never held in memory.

    Reading raises OSError where the file has become shorter than it was.
    """

    def __init__(self, file: io.FileIO, start: int, size: int) -> None:
        if os.fstat(file.fileno()).st_size != start + size:
            raise OSError(f"{file.name!s} has not the {size} bytes from {start} on that it should end with")
        self.file = file
        self.start = start
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> bytes:
        first, last, _ = part.indices(self.size)
        found = bytearray()
        while len(found) < last - first:
            more = os.pread(self.file.fileno(), last - first - len(found), self.start + first + len(found))
            if not more:
                raise OSError(f"{self.file.name!s} was cut while it was in use")
            found += more
        return bytes(found)

    def __eq__(self, other: object) -> bool:
        return self[:] == other[:] if isinstance(other, (bytes, KeptBytes)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def startswith(self, prefix: bytes, at: int) -> bool:
        """Say whether ``prefix`` stands at position ``at``."""
        return self[at : at + len(prefix)] == prefix
