"""A value and one of the SDK's request types go in; where the value is not of that type comes out."""

from __future__ import annotations

import collections.abc
import types
import typing
from typing import Any, Union, get_args, get_origin, get_type_hints

from typing_extensions import NotRequired, Required, is_typeddict


def mismatch(value: Any, wanted: Any, path: str = "") -> str | None:
    """The first mismatch in the API's words ("thinking.budget: Extra inputs are not permitted"), or None."""
    origin = get_origin(wanted)
    if origin in (Required, NotRequired, typing.Annotated):
        return mismatch(value, get_args(wanted)[0], path)
    if origin in (Union, types.UnionType):
        return _union(value, get_args(wanted), path)
    if origin is typing.Literal:
        allowed = get_args(wanted)
        return None if value in allowed else f"{path}: Input should be one of {', '.join(map(repr, allowed))}"
    if is_typeddict(wanted):
        return _typed_dict(value, wanted, path)
    if wanted is str:
        return None if isinstance(value, str) else f"{path}: Input should be a valid string"
    if wanted is bool:
        return None if isinstance(value, bool) else f"{path}: Input should be a valid boolean"
    if wanted in (int, float):
        good = isinstance(value, int | float if wanted is float else int) and not isinstance(value, bool)
        return None if good else f"{path}: Input should be a valid number"
    if wanted is type(None):
        return None if value is None else f"{path}: Input should be null"
    if wanted is object or wanted is Any:
        return None
    if origin in (dict, collections.abc.Mapping):
        return None if isinstance(value, dict) else f"{path}: Input should be an object"
    if origin in (list, collections.abc.Iterable, collections.abc.Sequence) or "SequenceNotStr" in str(
        origin
    ):
        return _array(value, get_args(wanted)[0], path)
    return f"{path}: Input is of no type that a request can have"


def _array(value: Any, item: Any, path: str) -> str | None:
    if not isinstance(value, list):
        return f"{path}: Input should be a valid array"
    for number, element in enumerate(value):
        found = mismatch(element, item, f"{path}.{number}")
        if found:
            return found
    return None


def _union(value: Any, members: tuple[Any, ...], path: str) -> str | None:
    found = [mismatch(value, member, path) for member in members]
    if any(each is None for each in found):
        return None
    # Tell the mismatch of the member that has the same `type`, which is the one that was meant.
    if isinstance(value, dict):
        for member, each in zip(members, found, strict=True):
            if is_typeddict(member) and value.get("type", value.get("role")) in _tags(member):
                return each
    return next((each for each in found if each), None)


def _tags(wanted: Any) -> tuple[Any, ...]:
    hints = get_type_hints(wanted, include_extras=True)
    tag = hints.get("type", hints.get("role"))
    while get_origin(tag) in (Required, NotRequired):
        tag = get_args(tag)[0]
    return get_args(tag)


def _typed_dict(value: Any, wanted: Any, path: str) -> str | None:
    if not isinstance(value, dict):
        return f"{path}: Input should be an object"
    hints = get_type_hints(wanted, include_extras=True)
    for name in value:
        if name not in hints:
            return f"{path}.{name}".lstrip(".") + ": Extra inputs are not permitted"
    for name, hint in hints.items():
        if get_origin(hint) is Required and name not in value:
            return f"{path}.{name}".lstrip(".") + ": Field required"
        if name in value:
            found = mismatch(value[name], hint, f"{path}.{name}".lstrip("."))
            if found:
                return found
    return None
