"""Two trees in, whether they are the same function of their variables out.

Numbers are compared exactly where both are fractions; where one is not, a difference shows in
``WORKING_DIGITS`` digits and equality must hold in ``MANY_DIGITS``. Expressions are compared at fixed points:
positive and negative fractions and whole numbers. A rational function that vanishes at so many unrelated
points vanishes everywhere.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .math_nodes import Node, UnreadableError
from .node_values import WORKING_DIGITS, BeyondBoundsError, Evaluator, context

MANY_DIGITS = 220
_AGREEING_POINTS = 5
# Steps between whole numbers hide a difference from a few points.
_STEPS = frozenset(["floor", "ceil", "fact", "binom", "max", "min", "gcd", "lcm", "sum", "prod"])
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)


def same_value(answer: Node, gold: Node) -> bool:
    """Tell whether two trees have the same value wherever the gold has one.

    Raises ``UnreadableError`` where either cannot be evaluated anywhere.
    """
    if answer == gold:
        return True
    agreeing, failure = 0, None
    needed = 99 if any(part.op == "fact" or part.name in _STEPS for part in gold.walk()) else _AGREEING_POINTS
    for point in points(answer.names() | gold.names()):
        try:
            expected = _cached_value(gold, point, WORKING_DIGITS)
        except BeyondBoundsError:
            raise
        except UnreadableError as error:
            failure = failure or error
            continue
        if not _is_usable(expected, gold):
            continue
        try:
            found = _cached_value(answer, point, WORKING_DIGITS)
        except BeyondBoundsError:
            raise
        except UnreadableError as error:
            if not answer.names() or agreeing:
                raise
            failure = failure or error
            continue
        if not _equal_at(answer, gold, point, found, expected):
            return False
        agreeing += 1
        if agreeing >= needed or not point:
            return True
    if agreeing < 2:
        raise failure or UnreadableError("no point where both sides have a value")
    return True


def number(node: Node, digits: int = WORKING_DIGITS) -> Any:
    """Return the value of a tree without variables; raise ``UnreadableError`` where it has none."""
    return _cached_value(node, (), digits)


def points(names: frozenset[str]) -> Iterator[tuple[tuple[str, Fraction], ...]]:
    """Yield the points at which expressions in these variables are compared, always the same ones."""
    ordered = sorted(names)
    if not ordered:
        yield ()
        return
    for index, denominator in enumerate((241, 251, 97, 7)):
        yield tuple((name, Fraction(_draw(name, index) % 211 + 23, denominator)) for name in ordered)
    for index in range(4, 6):
        signs = [1 if _draw(name, index) & 4096 else -1 for name in ordered]
        signs[0] = -1
        yield tuple(
            (name, sign * Fraction(_draw(name, index) % 211 + 23, 89))
            for name, sign in zip(ordered, signs, strict=True)
        )
    for index in range(6, 10):
        offset = _draw("".join(ordered), index)
        yield tuple(
            (name, Fraction(_PRIMES[(offset + 2 * place) % 9] + index - 5 + 9 * (place // 4)))
            for place, name in enumerate(ordered)
        )


def _draw(name: str, index: int) -> int:
    return zlib.crc32(f"{index}:{name}".encode())


@lru_cache(maxsize=8192)
def _cached_value(node: Node, point: tuple[tuple[str, Fraction], ...], digits: int) -> Any:
    try:
        return Evaluator(dict(point), digits).value(node)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError, ArithmeticError) as error:
        raise UnreadableError(str(error)) from error


def _is_usable(value: Any, node: Node) -> bool:
    """Leave out points where an expression that is meant to be real is not."""
    if isinstance(value, Fraction) or node == Node("const", name="oo"):
        return True
    working = context(WORKING_DIGITS)
    if not working.isfinite(value):
        return not node.names()
    return bool(working.im(value) == 0 or not node.names() or node.has_constant("i"))


def _equal_at(answer: Node, gold: Node, point: Any, found: Any, expected: Any) -> bool:
    if isinstance(found, Fraction) and isinstance(expected, Fraction):
        return found == expected
    verdict = close(found, expected, WORKING_DIGITS)
    if verdict is False or (verdict and point):
        return verdict
    found, expected = _cached_value(answer, point, MANY_DIGITS), _cached_value(gold, point, MANY_DIGITS)
    return bool(close(found, expected, MANY_DIGITS))


def close(left: Any, right: Any, digits: int) -> bool | None:
    """Compare two numbers of that many digits; None where more digits must decide."""
    working = context(digits)
    left, right = (
        working.mpf(side.numerator) / side.denominator if isinstance(side, Fraction) else side
        for side in (left, right)
    )
    if not (working.isfinite(left) and working.isfinite(right)):
        return bool(left == right)
    difference, size = abs(left - right), max(abs(left), abs(right))
    if difference <= size * working.mpf(10) ** (15 - digits):
        return True
    if difference <= working.mpf(10) ** (20 - digits) * max(1, size):
        return None if digits < MANY_DIGITS else True
    return False
