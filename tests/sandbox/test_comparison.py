"""Which values ``plus`` (EvalPlus 0.3.1's rule) and ``plus_strict`` (ours) accept."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pytest

from lm_eval_strict.sandbox.codec_reader import Answer, Opaque
from lm_eval_strict.sandbox.comparison import is_floats, plus_accepts, strict_accepts

# value returned, expected value, the problem's tolerance, accepted by plus, accepted by plus_strict
TABLE: list[tuple[Any, Any, float, bool, bool]] = [
    (3, 3, 0, True, True),
    (True, 1, 0, True, True),
    (1, True, 0, True, True),
    (3.0, 3, 0, True, True),
    (4, 3, 0, False, False),
    ((1, 2), [1, 2], 0, False, False),
    ([1, 2], (1, 2), 0, False, False),
    ([[1], (2,)], [[1], [2]], 0, False, False),
    ("a", "a", 0, True, True),
    ("a", b"a", 0, False, False),
    (None, None, 0, True, True),
    (0, None, 0, False, False),
    (None, False, 0, False, False),
    (0.30000000000000004, 0.3, 0, True, True),
    (0.3001, 0.3, 0, False, False),
    (0.5000004, 0.5, 1e-6, True, True),
    ([0.1 + 0.2], [0.3], 0, True, True),
    ([0.3], [[0.3]], 0, False, False),
    ([], 0.5, 1e-6, False, False),
    ([], [0.5], 1e-6, False, False),
    (0.5, [], 1e-6, False, False),
    ([0.5, 0.5], [0.5], 1e-6, False, False),
    (0, 0.5, 1e-6, False, False),
    (1, 1.0000000001, 0, False, True),
    (numpy.int64(3), 3, 0, True, True),
    (numpy.float64(0.1 + 0.2), 0.3, 0, False, True),
    (numpy.bool_(True), True, 0, True, True),
    (numpy.array([1, 2]), [1, 2], 0, False, False),
    (numpy.array([1]), [1], 0, True, False),
    (Fraction(1, 2), 0.5, 0, True, True),
    (Decimal("0.5"), 0.5, 0, True, True),
    ({"a": 1.0}, {"a": 1}, 0, True, True),
    ({"a": [1]}, {"a": (1,)}, 0, False, False),
    ({"a": 1, "b": 2}, {"a": 1}, 0, False, False),
    ({1, 2}, {2, 1}, 0, True, True),
    (frozenset({1}), {1}, 0, True, True),
    ([1], {1}, 0, False, False),
    (float("nan"), 0.5, 1e-6, False, False),
    (float("inf"), 0.5, 1e-6, False, False),
    ([float("nan")], [0.5], 0, False, False),
    (1j, 0.5, 1e-6, False, False),
    (Opaque("generator"), [1], 0, False, False),
    ([Opaque("map")], [1], 0, False, False),
    (10**400, 0.5, 1e-6, False, False),
    ("nan", float("nan"), 1e-6, False, False),
]


@pytest.mark.parametrize(("out", "expected", "atol", "plus", "strict"), TABLE)
def test_each_rule_accepts_what_the_table_says(
    out: Any, expected: Any, atol: float, plus: bool, strict: bool
) -> None:
    in_force = 1e-6 if atol == 0 and is_floats(expected) else atol
    assert plus_accepts(Answer(out, True), expected, in_force) is plus
    assert strict_accepts(Answer(out, True), expected, atol) is strict


def test_a_close_value_of_a_subclass_fails_evalplus_type_rule_and_passes_ours() -> None:
    answer = Answer(0.1 + 0.2, exact=False)
    assert not plus_accepts(answer, 0.3, 1e-6)
    assert strict_accepts(answer, 0.3, 0)


def test_an_empty_list_is_no_list_of_floats() -> None:
    assert not is_floats([])
    assert is_floats([0.5])
    assert not is_floats([0.5, 1])
