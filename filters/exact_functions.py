"""Fractions in, the value of a function out where it is a fraction itself, else None."""

from __future__ import annotations

import zlib
from fractions import Fraction
from math import comb, gcd, isqrt, lcm
from typing import Any

LARGEST_FACTORIAL = 1500


def exact_root(value: Fraction, order: int) -> Fraction | None:
    """Return the real root of a fraction where it is a fraction itself."""
    if order > 64 or (value < 0 and order % 2 == 0):
        return None
    above, below = _whole_root(abs(value.numerator), order), _whole_root(value.denominator, order)
    if above is None or below is None:
        return None
    return Fraction(above, below) * (-1 if value < 0 else 1)


def _whole_root(value: int, order: int) -> int | None:
    if order == 2:
        root = isqrt(value)
        return root if root * root == value else None
    low, high = 0, 1 << (value.bit_length() // order + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**order <= value else (low, middle - 1)
    return low if low**order == value else None


def exact_call(name: str, arguments: list[Any]) -> Any:
    """Return the exact value of the functions that map fractions to fractions."""
    if not all(isinstance(argument, Fraction) for argument in arguments):
        return None
    whole = all(argument.denominator == 1 for argument in arguments)
    if name == "abs":
        return abs(arguments[0])
    if name in ("floor", "ceil"):
        down = arguments[0].numerator // arguments[0].denominator
        return Fraction(down if name == "floor" or whole else down + 1)
    if (
        name == "binom"
        and whole
        and len(arguments) == 2
        and 0 <= arguments[1] <= arguments[0] <= LARGEST_FACTORIAL
    ):
        return Fraction(comb(int(arguments[0]), int(arguments[1])))
    if name in ("max", "min"):
        return max(arguments) if name == "max" else min(arguments)
    if name in ("gcd", "lcm") and whole:
        numbers = [int(argument) for argument in arguments]
        return Fraction(gcd(*numbers) if name == "gcd" else lcm(*numbers))
    if name[0] in "fgh" and len(name) <= 2:
        return unknown_function(name, arguments)
    return None


def unknown_function(name: str, arguments: list[Fraction]) -> Fraction:
    """Return the value of a function that nobody defined: always the same one at the same place."""
    return Fraction(zlib.crc32(f"{name}{arguments}".encode()) % 9973 + 1, 97)
