"""Equations and inequalities in, a decision out: the same curve, the same function, the same named value."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .answer_labels import is_label, stated
from .compare_scalars import compare_scalar
from .compare_values import points, same_value
from .math_nodes import Node, UnreadableError
from .node_values import WORKING_DIGITS, Evaluator
from .real_sets import equal
from .strict_decision import Decision, decided

_TURNED = {">": "<", ">=": "<="}


def compare_equation(answer: Node, gold: Node) -> Decision:
    """Compare two equations by what they say of their variables; a side alone with the gold's right side."""
    if answer.op != "rel":
        return _side_alone(answer, gold)
    if not set(answer.name.split(" ")) <= {"=", "equiv"}:
        return decided(False, "another relation")
    mine, theirs = (answer.args[0], answer.args[-1]), (gold.args[0], gold.args[-1])
    if len(answer.args) > 2 and not same_value(answer.args[1], answer.args[-1]):
        return decided(False, "a chain that is not true")
    rule = ""
    if theirs[0].op == "call" or mine[0].op == "call":
        named = _function_sides(mine, theirs)
        if named is None:
            return decided(False, "another function")
        mine, theirs, rule = named
        return decided(same_value(mine[1], theirs[1]), "same function", rule)
    right = _proportional(_difference(*mine), _difference(*theirs))
    solved_differs = (theirs[0].op == "name") != (mine[0].op == "name") or _zero(theirs[1]) != _zero(mine[1])
    scaled = (
        right
        and not solved_differs
        and not (same_value(mine[0], theirs[0]) and same_value(mine[1], theirs[1]))
    )
    return decided(right, "same equation", "equation_form" if right and (solved_differs or scaled) else "")


def _side_alone(answer: Node, gold: Node) -> Decision:
    left, right = gold.args[0], gold.args[-1]
    if answer.op in ("group", "list", "union", "matrix", "builder", "text"):
        return decided(False, f"a {answer.op} for an equation")
    if is_label(left):
        same = same_value(answer, right)
        return decided(same, "same right side", "right_side_only" if same and left.op != "call" else "")
    same = _zero(right) and same_value(answer, left)
    return decided(False, "an expression for an equation", "zero_side_missing" if same else "")


def _function_sides(mine: Any, theirs: Any) -> Any:
    """Return both definitions with the bound variable named alike; None where the functions differ."""
    if mine[0].op == "call" and theirs[0].op == "call":
        if len(mine[0].args) != len(theirs[0].args) or not all(
            arg.op == "name" for arg in mine[0].args + theirs[0].args
        ):
            return (mine, theirs, "") if mine[0] == theirs[0] else None
        if _captures(mine, theirs):
            return None
        renamed = dict(
            zip((arg.name for arg in mine[0].args), (arg.name for arg in theirs[0].args), strict=True)
        )
        rule = "function_name" if mine[0].name != theirs[0].name else ""
        return (mine[0], _renamed(mine[1], renamed)), theirs, rule
    other = mine[0] if theirs[0].op == "call" else theirs[0]
    return (mine, theirs, "function_name") if other == Node("name", name="y") or is_label(other) else None


def _captures(mine: Any, theirs: Any) -> bool:
    """Tell whether a letter of the gold's function stands free in the answer's, as in ``f(m) = 2n``."""
    own = {part.name for part in mine[0].args}
    return any(part.name not in own and part.name in mine[1].names() for part in theirs[0].args)


def _renamed(node: Node, names: dict[str, str]) -> Node:
    name = names.get(node.name, node.name) if node.op == "name" else node.name
    return Node(node.op, tuple(_renamed(part, names) for part in node.args), name, node.value)


def _difference(left: Node, right: Node) -> Node:
    return Node("add", (left, Node("neg", (right,))))


def _zero(node: Node) -> bool:
    return node.op == "num" and node.value == 0


def _proportional(answer: Node, gold: Node) -> bool:
    """Tell whether one expression is a constant multiple of the other, the constant not zero."""
    ratio, agreeing = None, 0
    if answer.names() != gold.names():
        return False
    for point in points(gold.names()):
        try:
            evaluator = Evaluator(dict(point), WORKING_DIGITS)
            mine, theirs = evaluator.value(answer), evaluator.value(gold)
        except (UnreadableError, ArithmeticError, ValueError, TypeError):
            continue
        if mine == 0 or theirs == 0:
            if mine != theirs:
                return False
            continue
        exact = isinstance(mine, Fraction) and isinstance(theirs, Fraction)
        here = mine / theirs if exact else evaluator.inexact(mine) / evaluator.inexact(theirs)
        if ratio is not None and not equal(here, ratio):
            return False
        ratio, agreeing = here, agreeing + 1
    return agreeing >= 3


def compare_assignment(answer: Node, gold: Node) -> Decision:
    """Compare the values under a name; another plain name is another answer."""
    mine, theirs = stated(answer), stated(gold)
    if theirs is None:
        raise UnreadableError("a gold that states no value")
    if mine is None:
        return decided(False, "a relation for a value")
    value = mine.value
    if value.op == "group" and len(value.args) == 1:
        value = value.args[0]
    if mine.label is not None and theirs.label is not None and _another_name(mine.label, gold):
        return decided(False, "names another variable")
    return compare_scalar(value, theirs.value).noted(
        mine.rule, "approximate_sign" if mine.approximate else ""
    )


def _another_name(label: Node, gold: Node) -> bool:
    names = [part for part in gold.args if part.op == "name"]
    return label.op == "name" and bool(names) and label not in names


def compare_inequality(answer: Node, gold: Node) -> Decision:
    """Compare chains of relations in several variables, turned to point the same way."""
    if answer.op != "rel":
        return decided(False, f"a {answer.op} for an inequality")
    mine, theirs = _upward(answer), _upward(gold)
    if mine.name == theirs.name and len(mine.args) == len(theirs.args):
        same = all(same_value(one, two) for one, two in zip(mine.args, theirs.args, strict=True))
        if same:
            return decided(True, "same inequality")
    if len(mine.args) == len(theirs.args) == 2 and mine.name == theirs.name:
        return decided(_positive_multiple(mine, theirs), "same inequality")
    return decided(False, "another inequality")


def _positive_multiple(mine: Node, theirs: Node) -> bool:
    one, two = _difference(*mine.args), _difference(*theirs.args)
    if not _proportional(one, two):
        return False
    for point in points(two.names()):
        evaluator = Evaluator(dict(point), WORKING_DIGITS)
        left, right = evaluator.inexact(evaluator.value(one)), evaluator.inexact(evaluator.value(two))
        if right != 0:
            return bool(left * right > 0) or mine.name == "!="
    return False


def _upward(node: Node) -> Node:
    relations = node.name.split(" ")
    if not set(relations) <= {">", ">="}:
        return node
    return Node(
        "rel", tuple(reversed(node.args)), " ".join(_TURNED[relation] for relation in reversed(relations))
    )
