"""A tree in, the value that it states out: names in front of it and true chains of equations resolved."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .compare_values import number, same_value
from .math_nodes import Node, UnreadableError
from .node_values import WORKING_DIGITS, context

_EQUALITIES = frozenset(["=", "approx", "equiv"])


@dataclass(frozen=True)
class Stated:
    """A value and the name that the answer gives it (None where it gives none)."""

    value: Node
    label: Node | None = None
    approximate: bool = False
    rule: str = ""


def stated(node: Node) -> Stated | None:
    """Return what ``node`` states; None where it is a relation that states no single value.

    ``x = 5``, ``\\text{Area} = 5``, ``f(3) = 9 - 4 = 5`` and ``10/2 = 5`` state 5; ``x + 2 = 5``, ``2x = 5``
    and ``2 + 3 = 6`` state nothing.
    """
    if node.op == "mul" and _is_named_group(node):
        return Stated(node.args[1], node.args[0])
    if node.op != "rel":
        return Stated(node)
    relations = node.name.split(" ")
    if relations == ["in"]:
        return Stated(node.args[1], node.args[0]) if is_label(node.args[0]) else None
    if relations == [":"]:
        return Stated(node.args[1], node.args[0]) if node.args[0].op in ("text", "name") else None
    if not set(relations) <= _EQUALITIES:
        return None
    return _chain(node.args, relations)


def _chain(operands: tuple[Node, ...], relations: list[str]) -> Stated | None:
    """Resolve ``label = a = b`` where a and b are the same, and ``exact ≈ rounded`` to its exact side."""
    approximate = False
    labels = [part for part in operands if is_label(part)]
    rule = ""
    if not labels and _is_named_value(operands[0], operands):
        labels, rule = [operands[0]], "value_of_expression"
    values = [part for part in operands if part not in labels]
    if not values:
        labels, values = list(operands[:-1]), [operands[-1]]
    if relations[-1] == "approx":
        if len(values) > 1:
            if not _approximates(values[-1], values[-2]):
                return None
            values = values[:-1]
        else:
            approximate = True
    if values[-1].has_call("mod"):
        return None
    for earlier in values[:-1]:
        try:
            if not same_value(earlier, values[-1]):
                return None
        except UnreadableError:
            return None
    return Stated(values[-1], labels[0] if labels else None, approximate, rule)


def _approximates(rounded: Node, exact: Node) -> bool:
    """Tell whether a decimal can stand for a value: it is off by no more than its last digit."""
    try:
        value, near = number(exact), number(rounded)
    except UnreadableError:
        return True
    if not isinstance(near, Fraction):
        return True
    places = 0
    while places < 30 and (near * 10**places).denominator != 1:
        places += 1
    working = context(WORKING_DIGITS)
    value = working.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else value
    return bool(abs(value - working.mpf(near.numerator) / near.denominator) <= working.mpf(10) ** -places)


def is_label(node: Node) -> bool:
    """Tell whether a tree only names a quantity: no number stands in it but as an argument or index."""
    if node.op in ("text", "name"):
        return True
    if node.op == "call" and node.name[0] in "fgh" and len(node.name) <= 2:
        return True
    if node.op == "group":
        return all(is_label(part) for part in node.args)
    if node.op == "mul" and node.args[0].op == "name" and len(node.args) == 2:
        second = node.args[1]
        if second.op in ("num", "rel") or is_label(second):
            return True
    if node.op in ("add", "mul", "neg") and any(part.op == "call" for part in node.args):
        return all(is_label(part) for part in node.args)
    return bool(node.names()) and not node.has(
        "num", "pm", "mp", "const", "list", "rel", "percent", "degree", "neg"
    )


def _is_named_value(first: Node, operands: tuple[Node, ...]) -> bool:
    """Tell whether ``x^2 + y^3 = 9`` gives the value of an expression in several letters."""
    named = len(first.names()) > 1 and not operands[-1].names() and first.op not in ("group", "list")
    return named and not _has_coefficient(first)


def _has_coefficient(node: Node) -> bool:
    if node.op == "num":
        return True
    parts = node.args[:1] if node.op == "pow" else node.args
    return any(_has_coefficient(part) for part in parts)


def _is_named_group(node: Node) -> bool:
    """Tell whether a tree is a point with its name in front, as in ``P(8,-2)``."""
    name, group = node.args[0], node.args[-1]
    return len(node.args) == 2 and name.op == "name" and group.op == "group" and len(group.args) > 1
