"""A fresh interpreter in, one out that has imported and rehearsed what samples do first."""

from __future__ import annotations

import importlib
import marshal
import os
import sys
from collections.abc import Iterable

from . import wire
from .program_imports import FURTHER_MODULES, LIGHT_MODULES
from .sample import answer_calls, load_program

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


def warm_up() -> None:
    """Import what nearly all programs import, and rehearse, so that no sample pays for it."""
    _import(LIGHT_MODULES)
    _rehearse()


def warm_up_fully() -> None:
    """Import what some programs import, too."""
    _import(FURTHER_MODULES)
    # Every sample starts from the same states: equal runs, equal rows. (No fork hook seeds them anew.)
    for name in ("random", "numpy.random"):
        if name in sys.modules:
            sys.modules[name].seed(0)


def _import(names: Iterable[str]) -> None:
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # numpy may be missing; a program that needs it then fails as it would anywhere


def _rehearse() -> None:
    """Do once what each sample does first: what the interpreter sets up on the way is then shared by all."""
    reader, writer = os.pipe()
    name = "rehearsal"
    for _ in range(REHEARSALS):
        wire.write_message(writer, (_REHEARSAL, "f", ()))
        source, entry_point, _ = wire.read_message(reader)
        function = load_program(source, entry_point, writer, name)
        answer_calls(function, [marshal.dumps([[1, 2.5], "a"], 2)] * 4, writer, 1 << 20)
        os.read(reader, 1 << 16)
        del sys.modules[name]
    os.close(reader)
    os.close(writer)
