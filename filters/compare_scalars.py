"""An answer's value and a gold value in, a decision out: units, percents and degrees are read first."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .answer_units import Unit, read_unit
from .compare_values import number, same_value
from .math_nodes import Node, UnreadableError, const
from .near_values import near_or_wrong
from .strict_decision import Decision, decided
from .value_forms import other_form

_UNITLESS = frozenset(["unit"])
_CURRENCIES = {"dollar": "dollar", "cent": "cent", "euro": "euro", "pound": "pounds sterling"}


@dataclass(frozen=True)
class Measured:
    """A value with what stood beside it: ``sign`` is percent, degree or empty."""

    value: Node
    unit: Unit | None = None
    sign: str = ""


def measured(node: Node) -> Measured:
    """Take the unit, the percent sign or the degree sign off a value."""
    if node.op == "quantity":
        phrase = _CURRENCIES.get(node.name, node.name)
        unit = read_unit(phrase) or Unit((("unknown " + phrase, 1),))
        if unit.measures == (("angle", 1),):
            return Measured(node.args[0], sign="degree")
        inner = measured(node.args[0])
        return Measured(inner.value, unit, inner.sign)
    if node.op in ("percent", "degree"):
        return Measured(node.args[0], sign=node.op)
    if node.op in ("div", "mul") and node.args[-1].op in ("percent", "degree"):
        # The sign behind the last factor is meant for all of them: 270/7° is no division by degrees.
        last = node.args[-1]
        return Measured(Node(node.op, (*node.args[:-1], last.args[0])), sign=last.op)
    if node.op == "neg":
        inner = measured(node.args[0])
        return Measured(Node("neg", (inner.value,)), inner.unit, inner.sign)
    return Measured(node)


def compare_scalar(answer: Node, gold: Node) -> Decision:
    """Compare two values, each with its unit or sign."""
    if answer.has("pm", "mp") != gold.has("pm", "mp"):
        return decided(False, "one value against several")
    if (
        answer.op in ("group", "builder", "union", "list", "matrix", "rel", "text", "dots")
        and answer.op != gold.op
    ):
        return decided(False, f"a {answer.op} for a value")
    mine, theirs = measured(answer), measured(gold)
    if "degree" in (mine.sign, theirs.sign) or _is_radian(mine.unit) or _is_radian(theirs.unit):
        return _angles(mine, theirs, answer, gold)
    if "percent" in (mine.sign, theirs.sign):
        return _percents(mine, theirs)
    if mine.unit is None and theirs.unit is None:
        return _plain(mine.value, theirs.value)
    return _quantities(mine, theirs)


def _plain(answer: Node, gold: Node) -> Decision:
    if same_value(answer, gold):
        return decided(True, "same value", other_form(answer, gold))
    return near_or_wrong(answer, gold)


def _quantities(mine: Measured, theirs: Measured) -> Decision:
    """A missing unit is no fault, another measure is, the same quantity in another unit is not."""
    if mine.unit is None:
        return _plain(mine.value, theirs.value).by("same number, unit left out")
    if theirs.unit is None:
        return _plain(mine.value, theirs.value).by("same number, gold without unit").noted("unit_not_in_gold")
    if _generic(mine.unit) or _generic(theirs.unit):
        fits = sum(power for _, power in mine.unit.measures) == sum(
            power for _, power in theirs.unit.measures
        )
        return decided(fits and same_value(mine.value, theirs.value), "same quantity")
    if mine.unit.measures != theirs.unit.measures:
        same_number = same_value(mine.value, theirs.value)
        kin = {name for name, _ in mine.unit.measures} == {name for name, _ in theirs.unit.measures}
        return decided(False, "another unit", "unit_power" if same_number and kin else "")
    if mine.unit.scale == theirs.unit.scale:
        return decided(same_value(mine.value, theirs.value), "same quantity")
    factor = Node("num", name="decimal", value=mine.unit.scale / theirs.unit.scale)
    right = same_value(Node("mul", (mine.value, factor)), theirs.value)
    return decided(right, "same quantity in another unit", "converted_unit" if right else "")


def _generic(unit: Unit) -> bool:
    return {name for name, _ in unit.measures} <= _UNITLESS


def _is_radian(unit: Unit | None) -> bool:
    return unit is not None and unit.measures == (("radian", 1),)


def _angles(mine: Measured, theirs: Measured, answer: Node, gold: Node) -> Decision:
    """A degree sign may be left out; an angle in the other measure is right where both measures are told."""
    if mine.sign == theirs.sign and not _is_radian(mine.unit) and not _is_radian(theirs.unit):
        return _plain(mine.value, theirs.value).by("same angle")
    if theirs.sign == "degree":
        if _is_radian(mine.unit):
            right = same_value(mine.value, Node("degree", (theirs.value,)))
            return decided(right, "same angle in radians", "angle_in_other_measure" if right else "")
        if mine.unit is not None:
            return decided(False, "another unit")
        if mine.value.op == "pow" and mine.value.args[1] == Node("num", name="integer"):
            return decided(same_value(mine.value.args[0], theirs.value), "same angle", "degree_as_power")
        decision = _plain(mine.value, theirs.value).by("same angle, degree sign left out")
        if not decision.right and mine.value.has_constant("pi"):
            radians = same_value(mine.value, Node("degree", (theirs.value,)))
            return decided(False, decision.comparison, "angle_in_other_measure") if radians else decision
        return decision
    if mine.sign != "degree":
        stated = _is_radian(theirs.unit) or gold.has_constant("pi")
        return _plain(mine.value, theirs.value).by("same angle").noted("" if stated else "unit_not_in_gold")
    if gold.has_constant("pi"):
        right = same_value(Node("degree", (mine.value,)), theirs.value)
        return decided(right, "same angle in degrees", "angle_in_other_measure" if right else "")
    if theirs.unit is not None:
        return decided(False, "another unit")
    return (
        _plain(mine.value, theirs.value).by("same number, gold without degree sign").noted("unit_not_in_gold")
    )


def _percents(mine: Measured, theirs: Measured) -> Decision:
    """``40`` is 40%, ``0.4`` is not; a percentage for a plain gold is its number, below 1 its value."""
    if mine.unit is not None or theirs.unit is not None:
        return decided(False, "a percentage against a quantity")
    if mine.sign == theirs.sign:
        return decided(same_value(mine.value, theirs.value), "same percentage")
    hundredth = Node("num", name="decimal", value=Fraction(1, 100))
    if theirs.sign == "percent":
        right = same_value(mine.value, theirs.value)
        equal = not right and same_value(mine.value, Node("mul", (theirs.value, hundredth)))
        if equal and mine.value.op == "div":
            return decided(True, "same value", "number_for_percentage")
        return decided(right, "same percentage, sign left out", "number_for_percentage" if equal else "")
    as_value = same_value(Node("mul", (mine.value, hundredth)), theirs.value)
    if as_value and _small(theirs.value):
        return decided(True, "same value", "percentage_for_number")
    if _small(theirs.value) and not _whole(theirs.value):
        return decided(False, "same value")
    right = same_value(mine.value, theirs.value)
    return decided(right, "same percentage, gold without sign", "percentage_for_number" if as_value else "")


def _small(node: Node) -> bool:
    try:
        return bool(abs(number(node)) <= 1)
    except UnreadableError:
        return False


def _whole(node: Node) -> bool:
    value = number(node)
    return isinstance(value, Fraction) and value.denominator == 1


def is_infinite(node: Node) -> bool:
    """Tell whether a value is plus or minus infinity."""
    return node in (const("oo"), Node("neg", (const("oo"),)))
