"""Sets of real numbers as sorted intervals: read from a tree, united, cut, and compared end by end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .answer_labels import is_label
from .compare_values import close, number
from .math_nodes import Node, UnreadableError
from .node_values import WORKING_DIGITS, context

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "=": "="}


@dataclass(frozen=True)
class Piece:
    """An interval; ``low_closed`` and ``high_closed`` tell whether an end belongs to it."""

    low: Any
    high: Any
    low_closed: bool
    high_closed: bool


RealSet = tuple[Piece, ...]


def infinite(sign: int) -> Any:
    """Return plus or minus infinity."""
    return context(WORKING_DIGITS).inf * sign


def everything() -> RealSet:
    """Return the set of all real numbers."""
    return (Piece(infinite(-1), infinite(1), False, False),)


def same_set(left: RealSet, right: RealSet) -> bool:
    """Tell whether two sets have the same pieces with the same ends."""
    return len(left) == len(right) and all(
        equal(one.low, two.low)
        and equal(one.high, two.high)
        and (one.low_closed, one.high_closed) == (two.low_closed, two.high_closed)
        for one, two in zip(left, right, strict=True)
    )


def equal(left: Any, right: Any) -> bool:
    """Tell whether two ends are the same number."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left == right
    return close(left, right, WORKING_DIGITS) is not False


def below(left: Any, right: Any) -> bool:
    """Tell whether one end is less than another; equal ends are not."""
    if isinstance(left, Fraction) != isinstance(right, Fraction):
        left, right = _inexact(left), _inexact(right)
    return bool(left < right) and not equal(left, right)


def _inexact(value: Any) -> Any:
    return (
        context(WORKING_DIGITS).mpf(value.numerator) / value.denominator
        if isinstance(value, Fraction)
        else value
    )


def united(left: RealSet, right: RealSet) -> RealSet:
    """Return the union, pieces that touch joined."""
    joined: list[Piece] = []
    for piece in _sorted([*left, *right]):
        last = joined[-1] if joined else None
        if last is None or not _touches(last, piece):
            joined.append(piece)
            continue
        if equal(last.high, piece.high):
            high, closed = last.high, last.high_closed or piece.high_closed
        elif below(last.high, piece.high):
            high, closed = piece.high, piece.high_closed
        else:
            high, closed = last.high, last.high_closed
        low_closed = last.low_closed or (equal(last.low, piece.low) and piece.low_closed)
        joined[-1] = Piece(last.low, high, low_closed, closed)
    return tuple(joined)


def _touches(first: Piece, second: Piece) -> bool:
    if equal(first.high, second.low):
        return first.high_closed or second.low_closed
    return below(second.low, first.high)


def _sorted(pieces: Sequence[Piece]) -> list[Piece]:
    ordered: list[Piece] = []
    for piece in pieces:
        place = len(ordered)
        while place and (
            below(piece.low, ordered[place - 1].low)
            or (
                equal(piece.low, ordered[place - 1].low)
                and piece.low_closed
                and not ordered[place - 1].low_closed
            )
        ):
            place -= 1
        ordered.insert(place, piece)
    return ordered


def common(left: RealSet, right: RealSet) -> RealSet:
    """Return the intersection."""
    found: list[Piece] = []
    for one in left:
        for two in right:
            low, low_closed = _inner(one.low, one.low_closed, two.low, two.low_closed, below)
            high, high_closed = _inner(one.high, one.high_closed, two.high, two.high_closed, _above)
            if below(low, high) or (equal(low, high) and low_closed and high_closed):
                found.append(Piece(low, high, low_closed, high_closed))
    return tuple(_sorted(found))


def _above(left: Any, right: Any) -> bool:
    return below(right, left)


def _inner(one: Any, one_closed: bool, two: Any, two_closed: bool, outside: Any) -> tuple[Any, bool]:
    if equal(one, two):
        return one, one_closed and two_closed
    return (two, two_closed) if outside(one, two) else (one, one_closed)


def without(left: RealSet, right: RealSet) -> RealSet:
    """Return the difference."""
    rest = left
    for piece in right:
        outside = (
            Piece(infinite(-1), piece.low, False, not piece.low_closed),
            Piece(piece.high, infinite(1), not piece.high_closed, False),
        )
        kept = tuple(part for part in outside if below(part.low, part.high) or _is_point(part))
        rest = common(rest, kept)
    return rest


def _is_point(piece: Piece) -> bool:
    return piece.low_closed and piece.high_closed and equal(piece.low, piece.high)


def half_line(relation: str, bound: Any) -> RealSet:
    """Return the numbers that stand in this relation to ``bound``."""
    below_it = Piece(infinite(-1), bound, False, relation == "<=")
    above_it = Piece(bound, infinite(1), relation == ">=", False)
    point = Piece(bound, bound, True, True)
    if relation in ("<", "<="):
        return (below_it,)
    if relation in (">", ">="):
        return (above_it,)
    if relation == "=":
        return (point,)
    return without(everything(), (point,))


def solved(expression: Node, relation: str, bound: Node) -> RealSet:
    """Solve a relation between an expression in one variable, linear or its absolute value, and a number."""
    limit = _real(bound)
    if is_label(expression) and not (expression.op == "call" and expression.name == "abs"):
        return half_line(relation, limit)
    if expression.op == "call" and expression.name == "abs" and relation != "=":
        inner = expression.args[0]
        negative = Node("neg", (bound,))
        if relation in ("<", "<="):
            return common(solved(inner, relation, bound), solved(inner, _FLIPPED[relation], negative))
        return united(solved(inner, relation, bound), solved(inner, _FLIPPED[relation], negative))
    slope, offset = _linear(expression)
    if not slope:
        raise UnreadableError("a relation that is not linear")
    edge = (
        (limit - offset) / slope
        if isinstance(limit, Fraction)
        else (limit - _inexact(offset)) / _inexact(slope)
    )
    return half_line(relation if slope > 0 else _FLIPPED[relation], edge)


def _linear(expression: Node) -> tuple[Fraction, Fraction]:
    """Return slope and offset of an expression that is linear in its one variable."""
    from .node_values import Evaluator

    (name,) = expression.names() if len(expression.names()) == 1 else ("",)
    if not name:
        raise UnreadableError("a relation in several variables")
    at = [Evaluator({name: Fraction(place)}).value(expression) for place in (0, 1, 2, 7)]
    if not all(isinstance(value, Fraction) for value in at):
        raise UnreadableError("a relation that is not linear")
    slope = at[1] - at[0]
    if at[2] - at[1] != slope or at[3] - at[0] != 7 * slope:
        raise UnreadableError("a relation that is not linear")
    return slope, at[0]


def _real(node: Node) -> Any:
    value = number(node)
    if not isinstance(value, Fraction) and context(WORKING_DIGITS).im(value) != 0:
        raise UnreadableError("an end that is not real")
    return value


def interval(group: Node) -> RealSet:
    """Return the interval of a bracketed pair; ends in the wrong order or closed at infinity are refused."""
    low, high = (_real(end) for end in group.args)
    low_closed, high_closed = group.name[0] == "[", group.name[1] == "]"
    if (low_closed and equal(low, infinite(-1))) or (high_closed and equal(high, infinite(1))):
        raise UnreadableError("an interval closed at infinity")
    if not below(low, high) and not (equal(low, high) and low_closed and high_closed):
        raise UnreadableError("the ends of an interval in the wrong order")
    return (Piece(low, high, low_closed, high_closed),)


def chain(node: Node) -> RealSet:
    """Return the numbers that a chain of relations leaves to its one variable."""
    relations = node.name.split(" ")
    found = everything()
    for left, relation, right in zip(node.args, relations, node.args[1:], strict=False):
        if relation not in _FLIPPED:
            raise UnreadableError(f"the relation {relation!r} in a set")
        if left.names() and right.names():
            left, right = Node("add", (left, Node("neg", (right,)))), Node("num", name="integer")
        if left.names() or is_label(left):
            found = common(found, solved(left, relation, right))
        else:
            found = common(found, solved(right, _FLIPPED[relation], left))
    return found
