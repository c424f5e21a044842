"""One JSON item in, what a trusted function makes of it out, call after call; memory is bounded, time is the
broker's.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
from pathlib import Path
from typing import NoReturn

from . import wire


def pool_worker_main(fd: int, function: str, memory_mib: int) -> NoReturn:
    """Serve the broker at ``fd`` until it goes away; ``function`` is "package.module:callable"."""
    mapped_mib = _address_space_mib()
    if mapped_mib:
        limit = (mapped_mib + memory_mib) << 20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    module, _, name = function.partition(":")
    while True:
        try:
            item = wire.read_message(fd)
        except wire.ChannelClosed:
            os._exit(0)
        try:
            answer: tuple[str, str | None, str]
            call = getattr(importlib.import_module(module), name)
            answer = ("ok", json.dumps(call(json.loads(item))), "")
        except MemoryError:
            answer = ("crashed", None, f"out of memory ({memory_mib} MiB)")
        except Exception as error:
            answer = ("raised", None, f"{type(error).__name__}: {error}"[:1000])
        wire.write_message(fd, answer)


def _address_space_mib() -> int:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return 0  # not Linux: no bound on memory there
    pages = int(statm.read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20
