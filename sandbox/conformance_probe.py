"""The parts that every probe is made of: a promise and a way to break it in, whether it held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .cell import SampleEnd
from .records import Isolation, Limits

_BOTH = frozenset({Isolation.FULL, Isolation.REDUCED})


@dataclass(frozen=True)
class ProbeResult:
    """Whether one promise held; ``detail`` says what got through, and is empty when nothing did."""

    name: str
    promise: str
    held: bool
    detail: str = ""


@dataclass(frozen=True)
class Context:
    """What a probe inside a sample may need to know of the outside, to look for it there.

    ``canaries`` are files of the host that hold ``secret`` and stand where a home, a cache and a shared
    folder are; ``open_canary`` is the number of a descriptor of one of them that the worker holds open.
    """

    level: Isolation
    secret: str = ""
    canaries: tuple[str, ...] = ()
    open_canary: int = -1
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Ending:
    """What a judge sees: the words of the sample, how it ended, what it was allowed."""

    said: str
    end: SampleEnd
    limits: Limits


def said_nothing(ending: Ending) -> str:
    """Judge a probe by its own words: it ended well and found no way through."""
    if ending.end.setup_fault:
        return f"the sandbox could not be set up: {ending.end.setup_fault}"
    if ending.end.exit_status != 0:
        return ending.said or f"the probe did not end well: {ending.end}"
    return ending.said


@dataclass(frozen=True)
class Probe:
    """One promise: the function's first line states it, the function tries to break it inside a sample."""

    attack: Callable[[Context], str]
    judge: Callable[[Ending], str] = said_nothing
    limits: Limits = field(default_factory=lambda: Limits(cpu_s=5.0))
    wall_s: float = 10.0
    levels: frozenset[Isolation] = _BOTH

    @property
    def name(self) -> str:
        """Return the probe's name."""
        return self.attack.__name__

    @property
    def promise(self) -> str:
        """Return the promise in words."""
        return (self.attack.__doc__ or "").strip().partition("\n")[0]
