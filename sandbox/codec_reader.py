"""Bytes that a program wrote in, the plain value they stand for out, or UnreadableAnswer: our own bounded
reader.

``marshal.loads`` trusts its input, so it is never called on foreign bytes. This reader takes the subset of
that format that ``codec`` writes, and bounds depth, number of parts, members of hashed containers and the
size of integers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from .codec import MAX_DEPTH

MAX_PARTS = 4_000_000
MAX_HASHED = 5_000  # members of a set or dict: many with one hash would cost a square
_DTYPES = frozenset(
    order + kind + str(size)
    for order, kind, sizes in (
        ("|", "b", (1,)),
        ("|", "i", (1,)),
        ("|", "u", (1,)),
        ("<", "i", (2, 4, 8)),
        ("<", "u", (2, 4, 8)),
        ("<", "f", (2, 4, 8, 16)),
        ("<", "c", (8, 16, 32)),
    )
    for size in sizes
)


MATCH = "Match"  # the type name of what `re` finds: always true


class UnreadableAnswer(Exception):
    """The bytes are not an answer, or go beyond a bound."""


class Opaque:
    """Stands for an object that cannot cross; equal to nothing, itself included."""

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        if self.kind == MATCH:
            return True
        raise TypeError(f"a {self.kind} object has no truth value here")

    def __repr__(self) -> str:
        return f"<{self.kind} object>"


class Answer:
    """One value as it was read; ``exact`` says whether its own type is that of ``value``."""

    __slots__ = ("exact", "value")

    def __init__(self, value: object, exact: bool) -> None:
        self.value = value
        self.exact = exact


def read_answer(payload: bytes) -> Answer:
    """Read one payload; raise UnreadableAnswer for anything that ``codec`` does not write."""
    reader = _Reader(payload)
    exact = not payload.startswith(b"b")
    try:
        value = reader.take(MAX_DEPTH + 1)
    except (
        struct.error,
        IndexError,
        ValueError,
        TypeError,
        OverflowError,
        UnicodeError,
        ArithmeticError,
    ) as bad:
        raise UnreadableAnswer(str(bad)) from bad
    if reader.at != len(payload):
        raise UnreadableAnswer("bytes are left over")
    return Answer(value, exact)


class _Reader:
    """Reads one payload from the front."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.parts = 0

    def take(self, depth: int) -> Any:
        """Read one value, at most ``depth`` levels deep."""
        self.parts += 1
        if depth < 0 or self.parts > MAX_PARTS:
            raise UnreadableAnswer("nested too deeply or too many parts")
        tag = self.data[self.at]
        self.at += 1
        method = _METHODS.get(tag)
        if method is None:
            raise UnreadableAnswer(f"unknown tag {tag}")
        return method(self, depth)

    def raw(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise UnreadableAnswer("cut short")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, form: str, size: int) -> Any:
        return struct.unpack(form, self.raw(size))[0]

    def blob(self) -> bytes:
        return self.raw(self.number("<I", 4))

    def text(self) -> str:
        return self.blob().decode("utf-8", "surrogatepass")

    def long(self, depth: int) -> int:
        count = self.number("<i", 4)
        digits = self.raw(2 * abs(count))
        value = _from_digits(struct.unpack(f"<{abs(count)}H", digits))
        return -value if count < 0 else value

    def complex_number(self, depth: int) -> complex:
        return complex(self.number("<d", 8), self.number("<d", 8))

    def sequence(self, depth: int) -> list[Any]:
        count = self.number("<i", 4)
        if count < 0 or count > len(self.data) - self.at:
            raise UnreadableAnswer("more parts than bytes")
        return [self.take(depth - 1) for _ in range(count)]

    def members(self, depth: int) -> list[Any]:
        found = self.sequence(depth)
        if len(found) > MAX_HASHED:
            raise UnreadableAnswer("too many members")
        return found

    def mapping(self, depth: int) -> dict[Any, Any]:
        pairs: dict[Any, Any] = {}
        for _ in range(MAX_HASHED):
            if self.data[self.at] == ord("0"):
                self.at += 1
                return pairs
            key = self.take(depth - 1)
            pairs[key] = self.take(depth - 1)
        raise UnreadableAnswer("too many members")

    def subclass(self, depth: int) -> Any:
        self.text()
        return self.take(depth - 1)

    def decimal(self, depth: int) -> Decimal:
        try:
            return Decimal(self.text())
        except InvalidOperation as bad:
            raise UnreadableAnswer("not a decimal") from bad

    def fraction(self, depth: int) -> Fraction:
        numerator, denominator = self.take(0), self.take(0)
        if type(numerator) is not int or type(denominator) is not int or denominator == 0:
            raise UnreadableAnswer("not a fraction")
        return Fraction(numerator, denominator)

    def array(self, depth: int, scalar: bool = False) -> Any:
        import numpy

        name = self.text()
        if name not in _DTYPES and not (name.startswith("<U") and name[2:].isdecimal() and len(name) < 9):
            raise UnreadableAnswer("not a dtype")
        dimensions = self.raw(1)[0]
        shape = struct.unpack(f"<{dimensions}I", self.raw(4 * dimensions))
        flat = numpy.frombuffer(self.blob(), dtype=numpy.dtype(name))
        if scalar:
            return flat[0]
        return flat.reshape(shape).copy()


def _from_digits(digits: tuple[int, ...]) -> int:
    """Join 15-bit digits, lowest first, by halves: a plain loop is quadratic."""
    if len(digits) <= 64:
        value = 0
        for digit in reversed(digits):
            if digit >= 1 << 15:
                raise UnreadableAnswer("not a digit")
            value = value << 15 | digit
        return value
    half = len(digits) // 2
    return _from_digits(digits[half:]) << 15 * half | _from_digits(digits[:half])


_METHODS: dict[int, Callable[[_Reader, int], Any]] = {
    ord("N"): lambda reader, depth: None,
    ord("T"): lambda reader, depth: True,
    ord("F"): lambda reader, depth: False,
    ord("i"): lambda reader, depth: reader.number("<i", 4),
    ord("l"): _Reader.long,
    ord("g"): lambda reader, depth: reader.number("<d", 8),
    ord("y"): _Reader.complex_number,
    ord("s"): lambda reader, depth: reader.blob(),
    ord("u"): lambda reader, depth: reader.text(),
    ord("("): lambda reader, depth: tuple(reader.sequence(depth)),
    ord("["): _Reader.sequence,
    ord("<"): lambda reader, depth: set(reader.members(depth)),
    ord(">"): lambda reader, depth: frozenset(reader.members(depth)),
    ord("{"): _Reader.mapping,
    ord("D"): _Reader.decimal,
    ord("Q"): _Reader.fraction,
    ord("a"): _Reader.array,
    ord("n"): lambda reader, depth: reader.array(depth, scalar=True),
    ord("b"): _Reader.subclass,
    ord("o"): lambda reader, depth: Opaque(reader.text()),
}
