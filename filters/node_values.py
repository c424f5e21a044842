"""A tree and values for its variables in, its number out: a fraction where it can be, else many digits.

Bounds are checked before every step that could be expensive, so an evaluation always ends quickly.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import factorial
from typing import Any

from .exact_functions import LARGEST_FACTORIAL, exact_call, exact_root
from .math_nodes import Node, UnreadableError
from .value_functions import apply_function

Value = Any
"""A ``Fraction``, or a real or complex number of mpmath."""

MOST_BITS = 60_000
LARGEST_EXPONENT = 10**8
LONGEST_SERIES = 2000
MOST_STEPS = 20_000
WORKING_DIGITS = 60


class BeyondBoundsError(UnreadableError):
    """The value exists, but computing it would take longer than an answer may."""


class NoValueError(UnreadableError):
    """The tree has no value there: a division by zero, an interval, words."""


class Evaluator:
    """Evaluate trees at one point with ``digits`` digits; ``sign`` decides what plus-minus means."""

    def __init__(self, values: Mapping[str, Fraction], digits: int = WORKING_DIGITS, sign: int = 1) -> None:
        self.values = dict(values)
        self.sign = sign
        self.context = context(digits)
        self._steps = 0

    def value(self, node: Node) -> Value:
        """Return the value of ``node``; raise ``BeyondBoundsError`` or ``NoValueError``."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise BeyondBoundsError("more steps than are computed")
        operation = getattr(self, "_" + node.op, None)
        if operation is None:
            raise NoValueError(f"no value of {node.op}")
        return operation(node)

    def inexact(self, value: Value) -> Value:
        """Return a value as a number of mpmath."""
        if isinstance(value, Fraction):
            return self.context.mpf(value.numerator) / value.denominator
        return value

    def _num(self, node: Node) -> Value:
        return node.value

    def _name(self, node: Node) -> Value:
        if node.name not in self.values:
            raise NoValueError(f"no value of {node.name}")
        return self.values[node.name]

    def _const(self, node: Node) -> Value:
        if node.name == "pi":
            return +self.context.pi
        if node.name == "e":
            return +self.context.e
        if node.name == "i":
            return self.context.mpc(0, 1)
        if node.name == "oo":
            return self.context.inf
        raise NoValueError(f"no value of {node.name}")

    def _add(self, node: Node) -> Value:
        total = self.value(node.args[0])
        for part in node.args[1:]:
            total = self._binary(total, self.value(part), lambda left, right: left + right)
        return total

    def _mul(self, node: Node) -> Value:
        product = self.value(node.args[0])
        for part in node.args[1:]:
            product = self._binary(product, self.value(part), lambda left, right: left * right)
        return product

    def _div(self, node: Node) -> Value:
        above, below = (self.value(part) for part in node.args)
        if below == 0:
            raise NoValueError("division by zero")
        return self._binary(above, below, lambda left, right: left / right)

    def _binary(self, left: Value, right: Value, operation: Any) -> Value:
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            return _bounded(operation(left, right))
        return operation(self.inexact(left), self.inexact(right))

    def _neg(self, node: Node) -> Value:
        return -self.value(node.args[0])

    def _pm(self, node: Node) -> Value:
        return self._signed(node, self.sign)

    def _mp(self, node: Node) -> Value:
        return self._signed(node, -self.sign)

    def _signed(self, node: Node, sign: int) -> Value:
        value = sign * self.value(node.args[-1])
        if len(node.args) == 1:
            return value
        return self._binary(self.value(node.args[0]), value, lambda left, right: left + right)

    def _percent(self, node: Node) -> Value:
        return self.value(node.args[0]) / 100

    def _degree(self, node: Node) -> Value:
        return self.inexact(self.value(node.args[0])) * self.context.pi / 180

    def _fact(self, node: Node) -> Value:
        number = self.value(node.args[0])
        if isinstance(number, Fraction) and number.denominator == 1 and number >= 0:
            if number > LARGEST_FACTORIAL:
                raise BeyondBoundsError("a factorial beyond the bound")
            return Fraction(factorial(int(number)))
        number = self.inexact(number)
        if abs(number) > LARGEST_FACTORIAL:
            raise BeyondBoundsError("a factorial beyond the bound")
        return self.context.gamma(number + 1)

    def _pow(self, node: Node) -> Value:
        return self.power(self.value(node.args[0]), self.value(node.args[1]))

    def power(self, base: Value, exponent: Value) -> Value:
        """Return ``base`` to the ``exponent``; real roots of odd order of negative numbers are real."""
        if not isinstance(exponent, Fraction):
            return self._inexact_power(base, exponent)
        if base == 0:
            if exponent <= 0:
                raise NoValueError("zero to a power that is not positive")
            return Fraction(0)
        if exponent.denominator == 1:
            return self._whole_power(base, int(exponent))
        if isinstance(base, Fraction):
            exact = exact_root(base, exponent.denominator)
            if exact is not None:
                return self._whole_power(exact, exponent.numerator)
            if base < 0 and exponent.denominator % 2:
                root = -self._inexact_power(-base, exponent)
                return root if exponent.numerator % 2 else -root
        return self._inexact_power(base, exponent)

    def _whole_power(self, base: Value, exponent: int) -> Value:
        if isinstance(base, Fraction):
            bits = max(base.numerator.bit_length(), base.denominator.bit_length())
            if abs(exponent) * bits <= MOST_BITS or abs(base) == 1:
                return base ** (exponent if abs(base) != 1 else exponent % 2)
        if abs(exponent) > LARGEST_EXPONENT:
            raise BeyondBoundsError("an exponent beyond the bound")
        return self._finite(self.inexact(base) ** exponent)

    def _inexact_power(self, base: Value, exponent: Value) -> Value:
        base, exponent = self.inexact(base), self.inexact(exponent)
        if not self.context.isfinite(exponent) or abs(exponent) > LARGEST_EXPONENT:
            raise BeyondBoundsError("an exponent beyond the bound")
        if base == 0:
            raise NoValueError("a power of zero")
        if abs(exponent) > 10**4 and abs(self.context.log(abs(base))) * abs(exponent) > LARGEST_EXPONENT:
            raise BeyondBoundsError("a power beyond the bound")
        return self._finite(self.context.power(base, exponent))

    def _finite(self, value: Value) -> Value:
        if value != 0 and self.context.isfinite(value) and abs(self.context.mag(value)) > 10**10:
            raise BeyondBoundsError("a number beyond the bound")
        return value

    def _call(self, node: Node) -> Value:
        if node.name in ("sum", "prod"):
            return self._series(node)
        arguments = [self.value(part) for part in node.args]
        if node.name == "root":
            return self._root(*arguments)
        exact = exact_call(node.name, arguments)
        if exact is not None:
            return exact
        return apply_function(self.context, node.name, [self.inexact(part) for part in arguments])

    def _root(self, radicand: Value, index: Value) -> Value:
        if not isinstance(index, Fraction) or index == 0:
            raise NoValueError("a root of an order that is no number")
        return self.power(radicand, 1 / index)

    def _series(self, node: Node) -> Value:
        variable, low, high, body = node.args
        first, last = self.value(low), self.value(high)
        whole = all(isinstance(end, Fraction) and end.denominator == 1 for end in (first, last))
        if variable.op != "name" or not whole or last - first > LONGEST_SERIES:
            raise BeyondBoundsError("a series beyond the bound")
        total: Value = Fraction(0 if node.name == "sum" else 1)
        shadowed = self.values.get(variable.name)
        for step in range(int(first), int(last) + 1):
            self.values[variable.name] = Fraction(step)
            term = self.value(body)
            if node.name == "sum":
                total = self._binary(total, term, lambda left, right: left + right)
            else:
                total = self._binary(total, term, lambda left, right: left * right)
        self.values.pop(variable.name)
        if shadowed is not None:
            self.values[variable.name] = shadowed
        return total


@lru_cache(maxsize=8)
def _context(digits: int, thread: int) -> Any:
    import mpmath

    made = mpmath.MPContext()
    made.dps = digits
    return made


def context(digits: int) -> Any:
    """Return an mpmath context of this precision that no other thread uses."""
    import threading

    return _context(digits, threading.get_ident())


def _bounded(value: Fraction) -> Fraction:
    if value.numerator.bit_length() > MOST_BITS or value.denominator.bit_length() > MOST_BITS:
        raise BeyondBoundsError("a fraction beyond the bound")
    return value
