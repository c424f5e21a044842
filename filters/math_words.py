"""The words that mathematics is written with: functions, constants, Greek letters, and plain short words."""

from __future__ import annotations

from types import MappingProxyType


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


FUNCTIONS = words(
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc asin acos atan acot sinh cosh tanh"
    " coth arcsinh arccosh arctanh log ln lg exp sqrt cbrt abs floor ceil gcd lcm max min det arg Re Im"
)
INVERSES = MappingProxyType(
    {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "acot": "arccot", "lg": "log10"}
)
CONSTANT_WORDS = MappingProxyType(
    {
        "pi": "pi", "infty": "oo", "oo": "oo", "inf": "oo", "infinity": "oo", "Infinity": "oo",
        "emptyset": "empty",
    }
)  # fmt: skip
GREEK = words(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi"
    " psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
# Short words that are words: a run of letters that is none of these may be a product of variables.
_SHORT_WORDS = words(
    "st nd rd th cm mm km in ft yd mi kg mg lb oz ml hr min sec deg rad mph kph sq cu usd the is or and"
    " to of if at by on no not for all are was has one two six ten yes day am pm pi men red box odd any"
    " set per let sum has can may wins east west true base each both only none kmh cents even feet inch"
    " some zero ways with"
)
_LONGEST_PRODUCT = 4


def is_product_of_letters(word: str) -> bool:
    """Tell whether a run of letters is to be read as variables side by side, as in ``xy`` or ``DE``."""
    return (
        len(word) <= _LONGEST_PRODUCT
        and "-" not in word
        and word.lower() not in _SHORT_WORDS
        and not (len(word) > 2 and word in FUNCTIONS)
        and (len(word) < _LONGEST_PRODUCT or not set(word.lower()) & set("aeiou") or word.isupper())
    )
