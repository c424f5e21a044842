"""A process in, what its whole tree uses out, as /proc shows it."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType

INTERVAL_S = 0.1


def tree_of(root: int) -> set[int]:
    """Give a process and all that descend from it."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has ended in between
    found, grown = {root}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found


def children_of(pid: int) -> list[int]:
    """Give the direct children of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def memory_mib(pids: set[int]) -> float:
    """Sum the proportional set sizes: memory that processes share counts once."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue  # it has ended in between
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def descriptors(pids: set[int]) -> int:
    """Count the open descriptors of some processes."""
    count = 0
    for pid in pids:
        try:
            count += len(list(Path(f"/proc/{pid}/fd").iterdir()))
        except OSError:
            continue  # it has ended in between
    return count


class MemoryWatch:
    """Samples a tree's memory while it is entered; None watches nothing."""

    def __init__(self, root: int | None) -> None:
        self.root = root
        self.peak_mib = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> MemoryWatch:
        if self.root is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self.root is not None:
            self._thread.join()

    def _watch(self) -> None:
        while self.root is not None and not self._over.wait(INTERVAL_S):
            self.peak_mib = max(self.peak_mib, memory_mib(tree_of(self.root)))
