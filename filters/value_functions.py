"""A function's name and inexact arguments in, its value out, within bounds on the arguments."""

from __future__ import annotations

from typing import Any

from .math_nodes import UnreadableError
from .math_words import words

LARGEST_ANGLE = 10**15
LARGEST_EXP = 10**7

_PLAIN = words(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan arccot arcsec arccsc arcsinh arccosh"
    " arctanh"
)
_MPMATH_NAMES = {
    "arc" + name: "a" + name for name in ("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh")
}


def apply_function(context: Any, name: str, arguments: list[Any]) -> Any:
    """Return the value of a function of mpmath; raise ``UnreadableError`` for one that is not known."""
    if name in _PLAIN and len(arguments) == 1:
        _bound(arguments[0], LARGEST_ANGLE)
        return getattr(context, _MPMATH_NAMES.get(name, name))(arguments[0])
    if name == "exp" and len(arguments) == 1:
        _bound(arguments[0], LARGEST_EXP)
        return context.exp(arguments[0])
    if name in ("ln", "log", "log10"):
        return _logarithm(context, name, arguments)
    if name == "abs" and len(arguments) == 1:
        return abs(arguments[0])
    if name in ("floor", "ceil") and len(arguments) == 1:
        _bound(arguments[0], LARGEST_ANGLE)
        return getattr(context, name)(arguments[0])
    if name in ("max", "min") and all(context.im(argument) == 0 for argument in arguments):
        return max(arguments) if name == "max" else min(arguments)
    if name == "binom" and len(arguments) == 2:
        _bound(arguments[0], 10**4)
        _bound(arguments[1], 10**4)
        return context.binomial(*arguments)
    if name in ("Re", "Im", "arg") and len(arguments) == 1:
        return {"Re": context.re, "Im": context.im, "arg": context.arg}[name](arguments[0])
    raise UnreadableError(f"the function {name!r} of {len(arguments)} arguments")


def _logarithm(context: Any, name: str, arguments: list[Any]) -> Any:
    """``log`` without a base is the decadic one; with a base it is the second argument."""
    if arguments[0] == 0:
        raise UnreadableError("the logarithm of zero")
    natural = context.log(arguments[0])
    if len(arguments) == 2:
        if arguments[1] in (0, 1):
            raise UnreadableError("a logarithm to that base")
        return natural / context.log(arguments[1])
    return natural if name == "ln" else natural / context.log(10)


def _bound(argument: Any, largest: float) -> None:
    if not abs(argument) < largest:
        raise UnreadableError("an argument beyond the bound")
