"""The parts of the strict grader: reading within bounds, values, sets of numbers, units, kinds of golds."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lm_eval_strict.filters.answer_reader import read_answer
from lm_eval_strict.filters.answer_text import clean_answer
from lm_eval_strict.filters.answer_tokens import Spelling
from lm_eval_strict.filters.answer_units import read_unit
from lm_eval_strict.filters.compare_values import same_value
from lm_eval_strict.filters.gold_kinds import read_gold
from lm_eval_strict.filters.math_nodes import Node, UnreadableError
from lm_eval_strict.filters.node_values import BeyondBoundsError, Evaluator
from lm_eval_strict.filters.real_sets import Piece, RealSet, common, same_set, united, without
from lm_eval_strict.filters.shown_nodes import shown


def read(text: str, spelling: Spelling | None = None) -> Node:
    return read_answer(clean_answer(text), spelling or Spelling()).node


def number(text: str) -> object:
    return Evaluator({}).value(read(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.\\overline{12}", Fraction(4, 33)),
        ("1\\frac{3}{4}", Fraction(7, 4)),
        ("-2\\frac13", Fraction(-7, 3)),
        ("12{,}345{,}678", Fraction(12345678)),
        ("6.02e3", Fraction(6020)),
        ("2^{-3}", Fraction(1, 8)),
        ("\\sqrt[3]{-27}", Fraction(-3)),
        ("8^{2/3}", Fraction(4)),
        ("\\binom{6}{2}", Fraction(15)),
        ("½", Fraction(1, 2)),
        ("3 \\div 4", Fraction(3, 4)),
        ("\\sum_{k=1}^{4} k^2", Fraction(30)),
        ("\\lfloor -2.5 \\rfloor", Fraction(-3)),
        ("|{-7}|", Fraction(7)),
        ("-3^2", Fraction(-9)),
        ("2/3/4", Fraction(1, 6)),
    ],
)
def test_rational_values_are_exact(text: str, value: Fraction) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "(" * 60 + "1" + ")" * 60,
        "x+" * 2000 + "x",
        "1" * 2000,
        "\\frac{1}{",
        "((1)",
        "1 2",
        "\\unknown{1}",
        "4\\ln",
        "",
    ],
)
def test_text_beyond_the_bounds_or_without_sense_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        read(text)


@pytest.mark.parametrize("text", ["9^{9^{9^{9}}}", "2000!", "\\prod_{n=1}^{2000} n^{999}", "3^{10^{9}}"])
def test_values_beyond_the_bounds_are_refused_before_they_are_computed(text: str) -> None:
    with pytest.raises(BeyondBoundsError):
        number(text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("\\sqrt{6+4\\sqrt2}", "2+\\sqrt2", True),
        ("e^{\\pi\\sqrt{163}}", "262537412640768744", False),
        ("\\pi+10^{-100}", "\\pi", False),
        ("\\sin\\frac{\\pi}{10}", "\\frac{\\sqrt5-1}{4}", True),
        ("\\arctan 1 + \\arctan 2 + \\arctan 3", "\\pi", True),
        ("\\sin\\pi", "0", True),
        ("10^{-60}\\pi", "0", False),
        ("(x+1)^{12}-(x-1)^{12}", "24x^{11}+440x^9+1584x^7+1584x^5+440x^3+24x", True),
        ("(x+1)^{12}-(x-1)^{12}", "24x^{11}+440x^9+1584x^7+1584x^5+440x^3+25x", False),
        ("\\sqrt{x^2}", "x", False),
        ("\\ln(x^2)", "2\\ln x", True),
        ("\\frac{x^2-1}{x-1}", "x+1", True),
        ("n!", "n(n-1)!", True),
        ("x^{1/3}", "\\sqrt[3]{x}", True),
        ("xy", "yx", True),
        ("x_1", "x_2", False),
    ],
)
def test_values_are_the_same_or_not(one: str, other: str, same: bool) -> None:
    assert same_value(read(one), read(other)) is same


ENDS = st.integers(-6, 6)


@st.composite
def real_sets(draw: st.DrawFn) -> RealSet:
    found: RealSet = ()
    for low, high in pairwise(sorted(draw(st.lists(ENDS, min_size=2, max_size=6, unique=True)))):
        if draw(st.booleans()):
            piece = Piece(Fraction(low), Fraction(high), draw(st.booleans()), draw(st.booleans()))
            found = united(found, (piece,))
    return found


def holds(numbers: RealSet, point: Fraction) -> bool:
    return any(
        (piece.low < point or (piece.low == point and piece.low_closed))
        and (point < piece.high or (piece.high == point and piece.high_closed))
        for piece in numbers
    )


@settings(max_examples=200, deadline=None)
@given(real_sets(), real_sets())
def test_set_operations_hold_point_by_point(one: RealSet, two: RealSet) -> None:
    union, both, rest = united(one, two), common(one, two), without(one, two)
    for halves in range(-14, 15):
        point = Fraction(halves, 2)
        inside = holds(one, point), holds(two, point)
        assert holds(union, point) == any(inside)
        assert holds(both, point) == all(inside)
        assert holds(rest, point) == (inside[0] and not inside[1])
    assert same_set(united(two, one), union)


def test_units_know_measure_power_and_scale() -> None:
    square = read_unit("square inches")
    assert square == read_unit("in^2") == read_unit("sq. in.")
    speed, other = read_unit("miles per hour"), read_unit("m/s")
    assert speed is not None and other is not None and speed.measures == other.measures
    assert speed.scale / other.scale == Fraction(1609344, 3600 * 1000)
    assert read_unit("license plates") is None


@pytest.mark.parametrize(
    ("gold", "kind"),
    [
        ("42", "number"),
        ("1\\frac{4}{5}", "mixed number"),
        ("40\\%", "percentage"),
        ("90^\\circ", "angle"),
        ("\\$18.90", "quantity"),
        ("15\\mbox{ cm}^2", "quantity"),
        ("2k+2", "expression"),
        ("x=5", "assignment"),
        ("y = 2x + 3", "equation"),
        ("f(x)=x", "equation"),
        ("a<b<c", "inequality"),
        ("x \\ge \\frac12", "interval"),
        ("(3,4]", "interval"),
        ("(0,9) \\cup (9,36)", "interval"),
        ("(2,4)", "point or open interval"),
        ("(6,31,-1)", "tuple"),
        ("3, 5, 7", "list"),
        ("1 \\pm \\sqrt{19}", "list"),
        ("\\{1,0\\}", "list"),
        ("\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "matrix"),
        ("2:3", "ratio"),
        ("2516_8", "base numeral"),
        ("5:30", "time"),
        ("3 \\text{ R } 2", "remainder"),
        ("\\text{(C)}", "choice letter"),
        ("\\text{Evelyn}", "text"),
    ],
)
def test_a_gold_has_its_kind(gold: str, kind: str) -> None:
    assert read_gold(gold).kind.value == kind


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\\frac{-1\\pm\\sqrt{3}}{2}", "(-1 ± √3)/2"),
        ("1 4/5", "9/5"),
        ("6.720 \\text{ m}^2", "6.72 m^2"),
        ("-0.05", "-0.05"),
        ("x\\in(-\\infty,2]\\cup\\{3\\}", "x ∈ (-∞, 2] ∪ {3}"),
        ("3<x\\le4", "3 < x ≤ 4"),
        ("(\\sin x)^2-\\sqrt[3]{x+1}", "sin(x)^2 - ∛(x + 1)"),
        ("40\\%", "40%"),
        ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "[[1, 2], [3, 4]]"),
        ("2(k+1)", "2·(k + 1)"),
        ("5! - 90^\\circ", "5! - 90°"),
    ],
)
def test_a_reading_is_shown_in_one_plain_line(text: str, line: str) -> None:
    assert shown(read(text)) == line
