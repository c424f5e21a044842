"""A gold's kind in, the comparison that decides for it out; the comparisons of single values and of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .answer_labels import stated
from .compare_equations import compare_assignment, compare_equation, compare_inequality
from .compare_intervals import compare_interval
from .compare_marked import compare_ratio
from .compare_matrices import compare_matrix
from .compare_scalars import compare_scalar
from .compare_structures import compare_list, compare_tuple
from .gold_kinds import Kind
from .math_nodes import Node
from .strict_decision import Decision, decided


def compare_value(answer: Node, gold: Node) -> Decision:
    """Compare what an answer states with a single value."""
    if answer.op == "list":
        return _alternatives(answer, gold)
    mine = stated(answer)
    if mine is None:
        return _as_ratio(answer, gold)
    value = mine.value
    if value.op == "group" and len(value.args) == 1:
        value = value.args[0]
    return compare_scalar(value, gold).noted(mine.rule, "approximate_sign" if mine.approximate else "")


def _alternatives(answer: Node, gold: Node) -> Decision:
    """Several values for one are right only where all are the gold, as in ``1/2 or 0.5``."""
    found = [stated(item) for item in answer.args]
    labels = {one.label for one in found if one is not None and one.label is not None}
    if None in found or len(labels) > 1:
        return decided(False, "several values for one")
    decisions = [compare_scalar(one.value, gold) for one in found if one is not None]
    if all(decision.right for decision in decisions):
        return decided(True, "same value, given more than once", "repeated_element")
    return decided(False, "several values for one")


def _as_ratio(answer: Node, gold: Node) -> Decision:
    """A ratio of two terms may stand for a quotient that is written as a fraction."""
    if answer.name == ":" and len(answer.args) == 2 and gold.op == "div":
        right = compare_scalar(Node("div", answer.args), gold).right
        return decided(right, "same quotient").noted("ratio_as_fraction")
    return decided(False, "a relation for a value")


def _compare_tuple(answer: Node, gold: Node) -> Decision:
    return compare_tuple(answer, _unlabelled(gold))


def _compare_pair(answer: Node, gold: Node) -> Decision:
    """A pair is a point, but where an end is no whole number it may be an open interval."""
    group = _unlabelled(gold)
    if answer.op in ("union", "builder", "cap", "minus") or (answer.op == "rel" and answer.name != "="):
        decision = compare_interval(answer, group)
        if not decision.right:
            return decision
        whole = all(end.op in ("num", "neg") and not end.has("root") and _is_whole(end) for end in group.args)
        return decided(not whole, decision.comparison, "point_or_interval")
    return compare_tuple(answer, group)


def _is_whole(node: Node) -> bool:
    return all(part.op == "neg" or (part.op == "num" and part.name == "integer") for part in node.walk())


def _unlabelled(gold: Node) -> Node:
    found = stated(gold)
    return found.value if found is not None else gold


COMPARISONS: Mapping[Kind, Callable[[Node, Node], Decision]] = MappingProxyType(
    {
        Kind.NUMBER: compare_value,
        Kind.MIXED_NUMBER: compare_value,
        Kind.PERCENTAGE: compare_assignment,
        Kind.ANGLE: compare_assignment,
        Kind.QUANTITY: compare_assignment,
        Kind.EXPRESSION: compare_value,
        Kind.ASSIGNMENT: compare_assignment,
        Kind.EQUATION: compare_equation,
        Kind.INEQUALITY: compare_inequality,
        Kind.INTERVAL: compare_interval,
        Kind.PAIR: _compare_pair,
        Kind.TUPLE: _compare_tuple,
        Kind.LIST: compare_list,
        Kind.MATRIX: compare_matrix,
        Kind.RATIO: compare_ratio,
    }
)
