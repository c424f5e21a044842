"""A list of calls in, the few that are put a second time out."""

from __future__ import annotations

import hashlib
import marshal
import random

from .prepared import Calls

REPEATED_SHARE = 16  # one call in so many is repeated, from the cheaper half of them
MIN_REPEATS = 2


def choose_repeats(calls: Calls, seed_text: str) -> list[int]:
    """Choose calls to be put a second time, in shuffled order: a fixed share of the cheaper half, by size of
    data.

    The seed comes from the exam and the program, so that equal runs repeat the same calls.
    """
    count = len(calls.arguments)
    if count == 0:
        return []
    if calls.cheaper_half is None:
        calls.cheaper_half = sorted(range(count), key=lambda i: _cost(calls, i))[: max(1, count // 2)]
    cheap = calls.cheaper_half
    generator = random.Random(hashlib.sha256(seed_text.encode("utf-8", "surrogatepass")).digest())
    return generator.sample(cheap, min(len(cheap), max(MIN_REPEATS, count // REPEATED_SHARE)))


def _cost(calls: Calls, index: int) -> float:
    """Estimate a call's cost without running it: the size of its data, and of the numbers that may be loop
    bounds.
    """
    frame = calls.ends[index] - (calls.ends[index - 1] if index else 0)
    largest = max((abs(n) for n in marshal.loads(calls.arguments[index]) if type(n) is int), default=0)
    return frame + len(calls.arguments[index]) + float(min(largest, 1 << 60))
