"""Two unequal values in, the written rule out under which careful readers may still call them equal."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .compare_values import number, same_value
from .math_nodes import Node, UnreadableError
from .node_values import WORKING_DIGITS, context
from .strict_decision import Decision, decided

GOLD_DIGITS = 4
ANSWER_DIGITS = 3


def near(answer: Node, gold: Node) -> Decision:
    """Decide on two values that differ: rounded, another letter case, an engineer's ``j`` for ``i``."""
    mine, theirs = _decimals(answer), _decimals(gold)
    if theirs is not None and mine is None and _significant(gold) >= GOLD_DIGITS and not answer.names():
        exact = number(answer)
        if not _terminates(exact) and _rounded(exact, theirs) == number(gold):
            return decided(True, "exact value of a rounded gold", "rounded_gold")
    if mine is not None and not gold.names() and _significant(answer) >= ANSWER_DIGITS:
        value = number(answer)
        if _rounded(number(gold), mine) == value:
            return decided(False, "a rounded value", "rounded_value")
    if gold.names() and answer.names() != gold.names() and _small(answer).names() == _small(gold).names():
        same = same_value(_small(answer), _small(gold))
        return decided(False, "same value", "letter_case" if same else "")
    if (
        gold.has_constant("i")
        and "j" in answer.names()
        and "j" not in gold.names()
        and not answer.has_constant("i")
    ):
        same = same_value(_with_i(answer), gold)
        return decided(same, "same value", "engineers_j" if same else "")
    return decided(False, "same value")


def _decimals(node: Node) -> int | None:
    """Return how many decimals a decimal literal has; None for anything else."""
    literal = node.args[0] if node.op == "neg" else node
    if literal.op != "num" or literal.name != "decimal":
        return None
    places, below = 0, literal.value.denominator
    while 10**places % below:
        places += 1
    return places


def _significant(node: Node) -> int:
    literal = node.args[0] if node.op == "neg" else node
    places = _decimals(node) or 0
    return len(str(int(abs(literal.value) * 10**places)))


def _terminates(value: Any) -> bool:
    if not isinstance(value, Fraction):
        return False
    below = value.denominator
    for prime in (2, 5):
        while below % prime == 0:
            below //= prime
    return below == 1


def _rounded(value: Any, places: int) -> Fraction | None:
    """Round half away from zero; None for what is not real and finite."""
    working = context(WORKING_DIGITS)
    if not isinstance(value, Fraction):
        if not working.isfinite(value) or working.im(value) != 0 or abs(value) > 10**20:
            return None
        value = Fraction(int(working.floor(working.re(value) * 10**30)), 10**30)
    if places > 25:
        return None
    shifted = abs(value) * 10**places + Fraction(1, 2)
    whole = Fraction(shifted.numerator // shifted.denominator, 10**places)
    return -whole if value < 0 else whole


def _small(node: Node) -> Node:
    name = node.name.lower() if node.op == "name" else node.name
    return Node(node.op, tuple(_small(part) for part in node.args), name, node.value)


def _with_i(node: Node) -> Node:
    if node == Node("name", name="j"):
        return Node("const", name="i")
    return Node(node.op, tuple(_with_i(part) for part in node.args), node.name, node.value)


def near_or_wrong(answer: Node, gold: Node) -> Decision:
    """Return ``near``'s decision, or plainly wrong where either side has no value."""
    try:
        return near(answer, gold)
    except (UnreadableError, ArithmeticError, ValueError, TypeError):
        return decided(False, "same value")
