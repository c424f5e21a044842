"""A gold in, its kind and its reading out: the kind decides how predictions are read and compared."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from .answer_labels import is_label
from .answer_reader import Reading, read_answer
from .answer_text import clean_answer
from .answer_tokens import Spelling
from .free_parameters import without_domains
from .marked_answers import BaseNumeral, Clock, base_numeral, choice_letter, clock, remainder
from .math_nodes import Node, UnreadableError


class Kind(str, Enum):
    """The kinds of golds."""

    NUMBER = "number"
    MIXED_NUMBER = "mixed number"
    PERCENTAGE = "percentage"
    ANGLE = "angle"
    QUANTITY = "quantity"
    EXPRESSION = "expression"
    ASSIGNMENT = "assignment"
    EQUATION = "equation"
    INEQUALITY = "inequality"
    INTERVAL = "interval"
    PAIR = "point or open interval"
    TUPLE = "tuple"
    LIST = "list"
    MATRIX = "matrix"
    RATIO = "ratio"
    BASE_NUMERAL = "base numeral"
    CLOCK = "time"
    REMAINDER = "remainder"
    CHOICE = "choice letter"
    TEXT = "text"


@dataclass(frozen=True)
class Gold:
    """A gold as it was read; ``node`` is None for the kinds that are no formula."""

    text: str
    clean: str
    kind: Kind
    node: Node | None = None
    numeral: BaseNumeral | None = None
    time: Clock | None = None


@lru_cache(maxsize=4096)
def read_gold(text: str) -> Gold:
    """Decide the kind of a gold and read it; a gold that is no formula is text."""
    clean = clean_answer(text)
    if letter := choice_letter(text, clean, gold=True):
        return Gold(text, letter, Kind.CHOICE)
    if numeral := base_numeral(clean):
        return Gold(text, clean, Kind.BASE_NUMERAL, numeral=numeral)
    if time := clock(clean):
        return Gold(text, clean, Kind.CLOCK, time=time)
    if remainder(clean):
        return Gold(text, clean, Kind.REMAINDER)
    try:
        reading: Reading = read_answer(clean, Spelling())
    except (UnreadableError, RecursionError):
        return Gold(text, clean, Kind.TEXT)
    node = without_domains(reading.node)
    return Gold(text, clean, kind_of(node), node)


def kind_of(node: Node) -> Kind:
    """Return the kind of a gold that is a formula."""
    if node.op == "list":
        return _list_kind(node)
    if node.op == "rel":
        return _relation_kind(node)
    if node.op == "group":
        return _group_kind(node)
    if node.op in ("union", "cap", "minus", "builder") or (
        node.op == "const" and node.name in ("reals", "empty")
    ):
        return Kind.INTERVAL
    if node.op == "add" and node.args[0].op in ("builder", "group"):
        return Kind.INTERVAL
    if node.has("matrix"):
        return Kind.MATRIX
    if node.op == "mul" and node.args[0].op == "name" and node.args[-1].op == "group" and len(node.args) == 2:
        return kind_of(node.args[-1])
    if node.has("pm", "mp"):
        return Kind.LIST
    if node.op == "text":
        return Kind.TEXT
    return _scalar_kind(node)


def _scalar_kind(node: Node) -> Kind:
    if node.op == "quantity":
        return Kind.QUANTITY
    if node.op == "percent":
        return Kind.PERCENTAGE
    if node.op == "degree":
        return Kind.ANGLE
    if node.op == "num" and node.name == "mixed":
        return Kind.MIXED_NUMBER
    return Kind.EXPRESSION if node.names() else Kind.NUMBER


def _list_kind(node: Node) -> Kind:
    kinds = [kind_of(item) for item in node.args]
    if any(kind in (Kind.INTERVAL, Kind.INEQUALITY) for kind in kinds):
        return Kind.INTERVAL
    return Kind.LIST


def _group_kind(node: Node) -> Kind:
    if node.name == "{}":
        return Kind.LIST
    if len(node.args) != 2:
        return Kind.TUPLE if node.name in ("()", "<>") else Kind.LIST
    if node.name in ("(]", "[)", "[]"):
        return Kind.INTERVAL
    if any(end.has_constant("oo") for end in node.args):
        return Kind.INTERVAL
    return Kind.PAIR if node.name == "()" else Kind.TUPLE


def _relation_kind(node: Node) -> Kind:
    relations = set(node.name.split(" "))
    last = node.args[-1]
    if relations == {":"}:
        return Kind.RATIO
    if relations == {"in"}:
        return Kind.INTERVAL if kind_of(last) is not Kind.LIST else Kind.LIST
    if not relations <= {"=", "equiv", "approx"}:
        names = frozenset[str]().union(*(part.names() for part in node.args if not is_label(part)))
        labels = {part for part in node.args if is_label(part)}
        if not names and not labels:
            return Kind.INEQUALITY
        return (
            Kind.INTERVAL
            if len(names) + len(labels) <= 1 or (len(names) <= 1 and not labels)
            else Kind.INEQUALITY
        )
    if is_label(node.args[0]) and not _defines(node):
        kind = kind_of(last)
        if kind is Kind.PAIR and node.args[0].op == "name":
            return Kind.INTERVAL
        return kind if kind not in (Kind.NUMBER, Kind.EXPRESSION) else Kind.ASSIGNMENT
    return Kind.ASSIGNMENT if len(node.args) > 2 or "approx" in relations else Kind.EQUATION


def _defines(node: Node) -> bool:
    """Tell whether ``y = 2x`` gives a curve or a function, not a value under a name."""
    label, value = node.args[0], node.args[-1]
    named = (
        label.op in ("call", "mul") or label == Node("name", name="y") or bool(label.names() & value.names())
    )
    return bool(value.names()) and named
