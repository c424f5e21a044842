"""An answer and a gold that are sets of real numbers in, a decision out: the same points, the same ends."""

from __future__ import annotations

from .answer_labels import is_label
from .compare_values import same_value
from .math_nodes import Node, UnreadableError
from .real_sets import RealSet, same_set
from .set_reading import real_set
from .strict_decision import Decision, decided

_CONDITIONS = frozenset(["rel", "builder", "list"])


def compare_interval(answer: Node, gold: Node) -> Decision:
    """Compare sets with all their ends; where ends hold letters, interval by interval."""
    if _other_variable(answer, gold):
        return decided(False, "names another variable")
    theirs = _set_or_none(gold)
    if theirs is None:
        return _letter_ends(answer, gold)
    mine = _set_or_none(answer)
    if mine is None:
        return decided(False, "no set of numbers")
    rule = "inequality_for_interval" if _is_condition(answer) != _is_condition(gold) else ""
    right = same_set(mine, theirs)
    return decided(right, "same set of numbers", rule if right else "")


def _is_condition(node: Node) -> bool:
    return node.op in _CONDITIONS and node.name not in ("in", "=")


def _set_or_none(node: Node) -> RealSet | None:
    try:
        return real_set(node)
    except (UnreadableError, ArithmeticError, ValueError, TypeError):
        return None


def _variable(node: Node) -> Node | None:
    """Return the plain name that a condition is about."""
    if node.op == "rel" and node.name != "=":
        names = {part for part in node.args if part.op == "name"}
        return names.pop() if len(names) == 1 else None
    if node.op == "list":
        names = {found for part in node.args if (found := _variable(part)) is not None}
        return names.pop() if len(names) == 1 else None
    return None


def _other_variable(answer: Node, gold: Node) -> bool:
    mine, theirs = _variable(answer), _variable(gold)
    return mine is not None and theirs is not None and mine != theirs


def _letter_ends(answer: Node, gold: Node) -> Decision:
    mine, theirs = _pieces(answer), _pieces(gold)
    if mine is None or theirs is None or len(mine) != len(theirs):
        return decided(False, "another set")
    same = all(
        one[2] == two[2] and same_value(one[0], two[0]) and same_value(one[1], two[1])
        for one, two in zip(mine, theirs, strict=True)
    )
    return decided(same, "same ends")


def _pieces(node: Node) -> list[tuple[Node, Node, str]] | None:
    """Return the intervals that a tree writes, as they stand: low end, high end, brackets."""
    if node.op == "group" and len(node.args) == 2 and node.name != "{}":
        return [(node.args[0], node.args[1], node.name)]
    if node.op == "builder":
        return _pieces(node.args[0])
    if node.op == "rel" and node.name in ("in", "="):
        return _pieces(node.args[-1])
    if node.op in ("union", "list"):
        found: list[tuple[Node, Node, str]] = []
        for part in node.args:
            pieces = _pieces(part)
            if pieces is None:
                return None
            found.extend(pieces)
        return found
    if node.op == "rel" and len(node.args) == 3 and is_label(node.args[1]):
        return _chain_piece(node)
    if node.op == "rel" and len(node.args) == 2 and is_label(node.args[0]):
        infinity = Node("const", name="oo")
        if node.name in ("<", "<="):
            return [(Node("neg", (infinity,)), node.args[1], "(" + ("]" if node.name == "<=" else ")"))]
        if node.name in (">", ">="):
            return [(node.args[1], infinity, ("[" if node.name == ">=" else "(") + ")")]
    return None


def _chain_piece(node: Node) -> list[tuple[Node, Node, str]] | None:
    first, second = node.name.split(" ")
    if {first, second} <= {"<", "<="}:
        brackets = ("[" if first == "<=" else "(") + ("]" if second == "<=" else ")")
        return [(node.args[0], node.args[2], brackets)]
    if {first, second} <= {">", ">="}:
        brackets = ("[" if second == ">=" else "(") + ("]" if first == ">=" else ")")
        return [(node.args[2], node.args[0], brackets)]
    return None
