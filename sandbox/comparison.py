"""A value that crossed and the expected one in, whether each suite's rule accepts it out."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .codec_reader import Answer, Opaque

RTOL = 1e-07
FLOAT_ATOL = 1e-6  # EvalPlus' absolute tolerance where the problem states none and floats are expected


def is_floats(expected: object) -> bool:
    """EvalPlus' test for values that get a tolerance although the problem states none (``is_floats`` of
    0.3.1).
    """
    if isinstance(expected, float):
        return True
    if isinstance(expected, (list, tuple)) and expected:
        return all(isinstance(part, float) for part in expected)
    return type(expected).__module__ == "numpy" and getattr(expected, "dtype", None) in ("float64", "float32")


def plus_accepts(answer: Answer, expected: Any, atol: float) -> bool:
    """Judge as EvalPlus 0.3.1's ``unsafe_execute`` does; ``atol`` is the one in force at this input.

    An unequal value counts only if it has the expected type and, for sequences, length, and is close in
    ``numpy.allclose``'s sense with rtol 1e-7.
    """
    out: Any = answer.value
    try:
        equal = out == expected
        if equal or atol == 0:
            return bool(equal)
        if type(out) is not type(expected) or not answer.exact:
            return False
        if isinstance(expected, (list, tuple)) and len(out) != len(expected):
            return False
        import numpy

        return bool(numpy.allclose(out, expected, rtol=RTOL, atol=atol))
    except Exception:
        # Whatever a comparison raises (an array's truth value, text in allclose) is a failure there.
        return False


def strict_accepts(answer: Answer, expected: Any, atol: float) -> bool:
    """Judge by our own rule: same shape and kind at every depth, each number equal or within the tolerance.

    The tolerance is EvalPlus' (the problem's ``atol``, or 1e-6 where the expected value is floats); a
    number where none was stated must be equal. True equals 1; numbers of numpy, Decimal and Fraction are
    numbers.
    """
    tolerance = atol if atol else FLOAT_ATOL if is_floats(expected) else 0.0
    try:
        return _same(answer.value, expected, tolerance)
    except (OverflowError, ValueError, TypeError, ArithmeticError, RecursionError):
        return False


def _same(out: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(out, Opaque):
        return False
    if isinstance(expected, (list, tuple)):
        if type(out) is not type(expected) or len(out) != len(expected):
            return False
        return all(_same(o, e, tolerance) for o, e in zip(out, expected, strict=True))
    if isinstance(expected, dict):
        if type(out) is not dict or out.keys() != expected.keys():
            return False
        return all(_same(out[key], part, tolerance) for key, part in expected.items())
    if isinstance(expected, (set, frozenset)):
        return isinstance(out, (set, frozenset)) and out == expected
    if _is_number(expected):
        return _is_number(out) and _same_number(out, expected, tolerance)
    if type(out).__module__ == "numpy" and type(expected).__module__ != "numpy":
        if getattr(out, "shape", None) != ():
            return False
        out = out.item()
    return type(out) is type(expected) and bool(out == expected)


def _is_number(value: Any) -> bool:
    if isinstance(value, (int, float, complex, Decimal, Fraction)):
        return True
    kind = type(value)
    return kind.__module__ == "numpy" and kind.__name__ != "ndarray" and value.dtype.kind in "biufc"


def _same_number(out: Any, expected: Any, tolerance: float) -> bool:
    if type(out).__module__ == "numpy":
        out = out.item()
    if out == expected:
        return True
    if not tolerance:
        return False
    if isinstance(out, complex) or isinstance(expected, complex):
        return bool(abs(complex(out) - complex(expected)) <= tolerance + RTOL * abs(expected))
    out, expected = float(out), float(expected)
    if math.isinf(out) or math.isinf(expected):
        return False
    return bool(abs(out - expected) <= tolerance + RTOL * abs(expected))
