"""A value that a program returned in, one answer frame out; runs beside the program, so nobody trusts what
it writes.

Exact built-in values go through ``marshal.dumps(value, 2)``, which is fast and, within one process tree,
gives equal bytes for equal values in all that matters here. All else takes the slow encoder: a subclass
arrives as its base type's own value, read with the base type's methods, so that nothing it overrides is
ever called; known library values (Decimal, Fraction, numpy scalars and arrays) arrive as themselves;
anything else is opaque. A frame is ``<tag: 1 byte> <payload length: 4 bytes> <payload>``.
"""

from __future__ import annotations

import marshal
import struct
import sys
from typing import Any

FRAME = struct.Struct("<BI")
VALUE = ord("V")  # payload: marshal version 2 of exact built-in types
SLOW = ord("S")  # payload: the same format with our own tags D Q n a b o
RAISED = ord("X")  # payload: text
IMPORT_RAISED = ord("I")  # payload: text
LEFT = ord("E")  # SystemExit; payload: text
SYNTAX = ord("Y")  # payload: text
NO_ENTRY = ord("N")
NO_MEMORY = ord("M")
TOO_BIG = ord("B")  # the value is larger than the examiner reads

MAX_DEPTH = 150
MAX_NODES = 2_000_000
NO_MEMORY_FRAME = FRAME.pack(NO_MEMORY, 0)
TOO_BIG_FRAME = FRAME.pack(TOO_BIG, 0)

_ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes))
_SEQUENCES = frozenset((list, tuple, set, frozenset))
_SEQUENCE_TAGS: dict[type, bytes] = {list: b"[", tuple: b"(", set: b"<", frozenset: b">"}
_ARRAY_KINDS = "biufcU"
_dumps = marshal.dumps
_pack = FRAME.pack


class Unencodable(Exception):
    """The value is nested too deeply or has too many parts."""


def is_plain(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Say whether ``value`` consists of exact built-in types only, at most ``depth`` deep.

    ``marshal`` alone cannot tell: it writes any buffer (an array, a numpy scalar) as bytes.
    """
    kind = type(value)
    if kind in _ATOMS:
        return True
    if depth == 0:
        return False
    if kind in _SEQUENCES:
        if set(map(type, value)) <= _ATOMS:
            return True
        return all(is_plain(part, depth - 1) for part in value)
    if kind is dict:
        if set(map(type, value)) <= _ATOMS and set(map(type, value.values())) <= _ATOMS:
            return True
        return all(is_plain(k, depth - 1) and is_plain(v, depth - 1) for k, v in value.items())
    return False


def encode(value: Any, max_bytes: int) -> bytes:
    """Encode one returned value as a frame of at most ``max_bytes`` payload; larger ones become TOO_BIG."""
    if is_plain(value):
        payload = _dumps(value, 2)
        tag = VALUE
    else:
        payload = encode_slowly(value)
        tag = SLOW
    if len(payload) > max_bytes:
        return TOO_BIG_FRAME
    return _pack(tag, len(payload)) + payload


def encode_slowly(value: object) -> bytes:
    """Encode any value, part by part; what cannot be taken apart is opaque."""
    try:
        out: list[bytes] = []
        _Encoder(out).put(value, MAX_DEPTH)
        return b"".join(out)
    except Unencodable:
        return b"o" + _text(type(value).__name__ + ", nested too deeply or too large")


def _loaded(module: str, name: str) -> object:
    """Give a library's type if the program, or what it imports, has loaded it: else no value is of it."""
    return getattr(sys.modules.get(module), name, None)


def _text(text: str) -> bytes:
    raw = str.encode(text[:200], "utf-8", "surrogatepass")
    return struct.pack("<I", len(raw)) + raw


class _Encoder:
    """Appends the parts of one value to ``out``."""

    def __init__(self, out: list[bytes]) -> None:
        self.out = out
        self.nodes = 0

    def put(self, value: Any, depth: int) -> None:
        """Append ``value``, at most ``depth`` levels deep."""
        self.nodes += 1
        if depth < 0 or self.nodes > MAX_NODES:
            raise Unencodable
        kind = type(value)
        if kind in _ATOMS:
            self.out.append(_dumps(value, 2))
        elif kind in _SEQUENCES or kind is dict:
            self._put_container(value, kind, depth)
        elif kind is _loaded("decimal", "Decimal"):
            self.out.append(b"D" + _text(str(value)))
        elif kind is _loaded("fractions", "Fraction"):
            self.out.append(b"Q")
            for part in (value.numerator, value.denominator):
                self.out.append(_dumps(part if type(part) is int else 0, 2))
        elif self._put_numpy(value, kind):
            return
        else:
            self._put_subclass(value, kind, depth)

    def _put_container(self, value: Any, base: type, depth: int) -> None:
        if base is dict:
            self.out.append(b"{")
            for key, part in dict.items(value):
                self.put(key, depth - 1)
                self.put(part, depth - 1)
            self.out.append(b"0")
            return
        parts = list(base.__iter__(value))  # type: ignore[attr-defined]
        tag = _SEQUENCE_TAGS[base]
        self.out.append(tag + struct.pack("<i", len(parts)))
        for part in parts:
            self.put(part, depth - 1)

    def _put_numpy(self, value: Any, kind: type) -> bool:
        numpy = sys.modules.get("numpy")
        if numpy is None or type.__getattribute__(kind, "__module__") != "numpy":
            return False
        if kind is numpy.ndarray:
            dtype, tag = value.dtype, b"a"
        elif issubclass(kind, numpy.generic):
            dtype, tag = value.dtype, b"n"
        else:
            return False
        if dtype.kind not in _ARRAY_KINDS:
            return False
        shape = value.shape if tag == b"a" else ()
        raw = value.tobytes()
        self.out.append(tag + _text(dtype.str) + bytes([len(shape)]))
        self.out.append(struct.pack(f"<{len(shape)}I", *shape) + struct.pack("<I", len(raw)) + raw)
        return True

    def _put_subclass(self, value: Any, kind: type, depth: int) -> None:
        for base in type.__getattribute__(kind, "__mro__"):
            if base in _ATOMS or base in _SEQUENCES or base is dict:
                break
        else:
            self.out.append(b"o" + _text(type.__getattribute__(kind, "__name__")))
            return
        self.out.append(b"b" + _text(type.__getattribute__(kind, "__name__")))
        if base in _ATOMS:
            self.put(_base_value(value, base), depth - 1)
        else:
            self._put_container(value, base, depth)


def _base_value(value: Any, base: type) -> object:
    """Read a subclass's value with the methods of its base type alone."""
    if base is int:
        return int.__add__(value, 0)
    if base is float:
        return float.__mul__(value, 1.0)
    if base is str:
        return str.__getitem__(value, slice(None))
    if base is bytes:
        return bytes.__getitem__(value, slice(None))
    return complex(complex.real.__get__(value), complex.imag.__get__(value))
