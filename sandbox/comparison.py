"""A value that crossed and the expected one in, whether each suite's rule accepts it out."""

from __future__ import annotations

import math
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from .codec_reader import MATCH, Answer, Opaque

RTOL = 1e-07
FLOAT_ATOL = 1e-6  # EvalPlus' absolute tolerance where the problem states none and floats are expected


class Rule(str, Enum):
    """How a published test compares: the ``plus`` suite follows it, ``plus_strict`` is ours beside it."""

    EVALPLUS = "evalplus"  # HumanEval+, as EvalPlus 0.3.1 itself judges
    AS_WRITTEN = "as_written"  # MBPP+: the test's own text
    AS_SETS = "as_sets"  # MBPP+: both sides are made sets first
    AS_MATCH = "as_match"  # MBPP+: a bool, or a value whose being there says yes


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


def written_accepts(answer: Answer, expected: Any, atol: float, rule: Rule) -> bool:
    """Judge as the text of an MBPP+ test does, ``numpy.allclose`` that broadcasts included."""
    out: Any = answer.value
    try:
        if rule is Rule.AS_MATCH:
            return bool(out == expected) if isinstance(out, bool) else expected == (out is not None)
        if atol == 0 and (is_floats(expected) or expected in ([], ())):
            atol = FLOAT_ATOL
        if rule is Rule.AS_SETS:
            out, expected = set(out), set(expected)
        if out != expected and atol != 0:
            import numpy

            return bool(numpy.allclose(out, expected, rtol=RTOL, atol=atol))
        return bool(out == expected)
    except Exception:
        # As in the test: whatever a comparison raises fails it.
        return False


def strict_accepts(answer: Answer, expected: Any, atol: float, rule: Rule = Rule.EVALPLUS) -> bool:
    """Judge by our own rule: same shape and kind at every depth, each number equal or within the tolerance.

    Where the published test compares sets, any list, tuple or set with the same members is right; where it
    asks whether a match is there, True or a match object is yes, False or None is no, and all else is wrong.

    The tolerance is EvalPlus' (the problem's ``atol``, or 1e-6 where the expected value is floats); a
    number where none was stated must be equal. True equals 1; numbers of numpy, Decimal and Fraction are
    numbers.
    """
    tolerance = atol if atol else FLOAT_ATOL if is_floats(expected) else 0.0
    try:
        if rule is Rule.AS_MATCH:
            return _as_match(answer.value) is expected
        if rule is Rule.AS_SETS:
            return isinstance(answer.value, _COLLECTIONS) and set(answer.value) == set(expected)
        return _same(answer.value, expected, tolerance)
    except (OverflowError, ValueError, TypeError, ArithmeticError, RecursionError):
        return False


_COLLECTIONS = (list, tuple, set, frozenset)


def _as_match(out: Any) -> bool | None:
    """Say whether a value is a match, by its kind alone; None for a value of another kind."""
    if isinstance(out, bool):
        return out
    if isinstance(out, Opaque) and out.kind == MATCH:
        return True
    return False if out is None else None


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
