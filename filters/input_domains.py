"""The arguments of a call and the name of a domain come in; whether the docstring speaks of them goes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType


def _leaves(value: object) -> Iterator[object]:
    """Yield what stands inside nested lists, tuples and dicts."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, (list, tuple, set)):
            stack.extend(item)
        elif isinstance(item, dict):
            stack.extend([*item.keys(), *item.values()])
        else:
            yield item


def _integers(arguments: list[object]) -> bool:
    return all(type(leaf) is int for leaf in _leaves(arguments))


def _numbers(arguments: list[object]) -> bool:
    return all(type(leaf) in (int, float) for leaf in _leaves(arguments))


def _at_least(bound: int) -> Callable[[list[object]], bool]:
    def inside(arguments: list[object]) -> bool:
        return all(type(leaf) is int and leaf >= bound for leaf in _leaves(arguments))

    return inside


def _text(arguments: list[object]) -> bool:
    return all(isinstance(leaf, str) for leaf in arguments)


def _ascii(arguments: list[object]) -> bool:
    return all(isinstance(leaf, str) and leaf.isascii() for leaf in _leaves(arguments))


def _made_of(letters: str) -> Callable[[list[object]], bool]:
    def inside(arguments: list[object]) -> bool:
        return all(isinstance(leaf, str) and set(leaf) <= set(letters) for leaf in _leaves(arguments))

    return inside


def _no_whole_floats(arguments: list[object]) -> bool:
    return not any(type(leaf) is float and leaf.is_integer() for leaf in _leaves(arguments))


def _one_zero(arguments: list[object]) -> bool:
    return sum(type(leaf) in (int, float) and leaf == 0 for leaf in _leaves(arguments)) <= 1


def _words(arguments: list[object]) -> list[str]:
    return [leaf for leaf in _leaves(arguments) if isinstance(leaf, str)]


_A_TO_Z = "abcdefghijklmnopqrstuvwxyz"

DOMAINS: Mapping[str, Callable[[list[object]], bool]] = MappingProxyType(
    {
        "integers": _integers,
        "numbers": _numbers,
        "non_negative_integers": _at_least(0),
        "positive_integers": _at_least(1),
        "no_whole_floats": _no_whole_floats,
        "one_zero": _one_zero,
        "text": _text,
        "ascii": _ascii,
        "ascii_lowercase": _made_of(_A_TO_Z + " "),
        "letters_a_to_z": _made_of(_A_TO_Z),
        "equal_lengths": lambda arguments: len({len(word) for word in _words(arguments)}) <= 1,
        "distinct_words": lambda arguments: len(set(_words(arguments))) == len(_words(arguments)),
        "filled_text": lambda arguments: all(_words(arguments)),
    }
)
"""Name -> whether a list of arguments is of that kind; True and False count as no numbers."""


def inside_domain(arguments: list[object], domain: str) -> bool:
    """Tell whether ``arguments`` are what a docstring of the kind ``domain`` (a key of DOMAINS) speaks of."""
    return DOMAINS[domain](arguments)
