"""Answers of several parts in, a decision out: lists and sets free of order, tuples in order."""

from __future__ import annotations

from itertools import product

from .answer_labels import Stated, stated
from .compare_equations import compare_equation
from .compare_scalars import compare_scalar
from .math_nodes import Node, UnreadableError
from .strict_decision import Decision, decided

MOST_ITEMS = 60
_ALPHABETS = ("xyzw", "abcdefgh", "pqrs", "mn", "uv", "klmn", "hk")


def compare_part(answer: Node, gold: Node) -> Decision:
    """Compare one part of an answer with one of the gold by the sort of the gold's part."""
    if gold.op == "dots" or answer.op == "dots":
        return decided(answer.op == gold.op, "an ellipsis")
    if gold.op == "group":
        return compare_list(answer, gold) if gold.name == "{}" else compare_tuple(answer, gold)
    if gold.op == "rel" and answer.op == "rel":
        return compare_equation(answer, gold)
    if gold.has("matrix"):
        from .compare_matrices import compare_matrix

        return compare_matrix(answer, gold)
    mine, theirs = stated(answer), stated(gold)
    if mine is None or theirs is None:
        return decided(False, "a relation for a value")
    return compare_scalar(_single(mine.value), _single(theirs.value))


def _single(node: Node) -> Node:
    return node.args[0] if node.op == "group" and len(node.args) == 1 else node


def compare_tuple(answer: Node, gold: Node) -> Decision:
    """Compare in order; labels such as ``y=4, x=2`` put the parts in their order first."""
    found = _parts_in_order(answer, len(gold.args))
    if found is None:
        same = answer.op == "group" and answer.name == "{}" and compare_list(answer, gold).right
        return decided(False, "no tuple", "set_for_tuple" if same else "")
    parts, rule = found
    unordered = answer.op in ("list", "group") and not any(part.op == "rel" for part in parts)
    if len(parts) != len(gold.args):
        return decided(False, f"{len(parts)} parts for {len(gold.args)}")
    decisions = [compare_part(mine, theirs) for mine, theirs in zip(parts, gold.args, strict=True)]
    if all(decision.right for decision in decisions):
        return decided(True, "equal in order", rule, *(decision.debatable for decision in decisions))
    swapped = answer.op == "list" and unordered and _same_items(parts, list(gold.args)).right
    return decided(False, "equal in order", "order_of_tuple" if swapped else "")


def _parts_in_order(answer: Node, length: int) -> tuple[list[Node], str] | None:
    if answer.op == "list":
        return _labelled_parts(list(answer.args)), ""
    if answer.op == "group" and answer.name in ("()", "<>"):
        return list(answer.args), ""
    if answer.op == "group" and answer.name == "[]" and length != 2:
        return list(answer.args), "tuple_in_brackets"
    if answer.op == "matrix" and 1 in (len(answer.args), len(answer.args[0].args)):
        return [cell for row in answer.args for cell in row.args], "vector_for_tuple"
    if answer.op in ("rel", "mul"):
        inner = stated(answer)
        if inner is not None and inner.label is not None and inner.value.op in ("group", "matrix"):
            return _parts_in_order(inner.value, length)
    return None


def _labelled_parts(items: list[Node]) -> list[Node]:
    """Put ``y=4, x=2`` in the order of the alphabet; other labels keep the order in which they come."""
    labels = [item.args[0].name if item.op == "rel" and item.name == "=" else "" for item in items]
    for alphabet in _ALPHABETS:
        if all(label and label in alphabet for label in labels) and len(set(labels)) == len(labels):
            order = sorted(range(len(items)), key=lambda place: alphabet.index(labels[place]))
            return [items[place] for place in order]
    return items


def compare_list(answer: Node, gold: Node) -> Decision:
    """Compare as sets: order is free, plus-minus gives two; a gold that repeats values asks for as many."""
    theirs = _stated_items(gold)
    mine = _stated_items(answer)
    if mine is None or theirs is None:
        return decided(False, "no list")
    if _distinct_labels(theirs):
        return _by_labels(mine, theirs)
    if _other_names(mine, theirs):
        return decided(False, "names another variable")
    values = [value for item in mine for value in expanded(item.value)]
    golds = [value for item in theirs for value in expanded(item.value)]
    if max(len(values), len(golds)) > MOST_ITEMS:
        raise UnreadableError("more items than are compared")
    rule = _bracket_rule(answer)
    if (
        rule == "list_in_brackets"
        and golds
        and all(g.op == "group" and len(g.args) == len(answer.args) for g in golds)
    ):
        values, rule = expanded(answer), ""
    if rule == "interval":
        return decided(False, "an interval for a list")
    return _same_items(values, golds).noted(rule)


def _bracket_rule(answer: Node) -> str:
    if answer.op == "rel":
        answer = answer.args[-1]
    if answer.op != "group" or answer.name == "{}":
        return ""
    if len(answer.args) == 2 and answer.name != "()":
        return "interval"
    return "list_in_brackets"


def _same_items(values: list[Node], golds: list[Node]) -> Decision:
    repeats = len(_unique(golds)) < len(golds)
    distinct = values if repeats else _unique(values)
    rule = "repeated_element" if len(distinct) < len(values) else ""
    if len(distinct) != len(golds):
        return decided(False, f"{len(distinct)} values for {len(golds)}")
    waiting, rules = list(distinct), [rule]
    for gold in golds:
        for place, value in enumerate(waiting):
            decision = _quiet(value, gold)
            if decision.right:
                rules.append(decision.debatable)
                del waiting[place]
                break
        else:
            return decided(False, "equal as sets")
    return decided(True, "equal as sets", *rules)


def _quiet(value: Node, gold: Node) -> Decision:
    try:
        return compare_part(value, gold)
    except UnreadableError:
        return decided(False, "not comparable")


def _unique(values: list[Node]) -> list[Node]:
    kept: list[Node] = []
    for value in values:
        if not any(value == other or _quiet(value, other).right for other in kept):
            kept.append(value)
    return kept


def _stated_items(node: Node) -> list[Stated] | None:
    """Return the values that a list states, or None for what is no list."""
    if node.op == "list":
        found: list[Stated] = []
        for item in node.args:
            if item.op == "rel" and _keeps_relation(item):
                found.append(Stated(item))
                continue
            value = stated(item)
            if value is None:
                return None
            found.append(value)
        return found
    if node.op == "group":
        return [Stated(part) for part in node.args]
    if node.op == "builder":
        return _stated_items(node.args[0])
    if node.op == "const" and node.name == "empty":
        return []
    if node.op == "rel":
        inner = stated(node)
        return _stated_items(inner.value) if inner is not None and inner.label is not None else None
    return [Stated(node)] if node.op not in ("union", "builder", "cap", "minus", "text", "matrix") else None


def _keeps_relation(item: Node) -> bool:
    """Tell whether an item is an equation of its own (``f(x) = 2x``), not a name with its value."""
    return item.args[0].op == "call" and bool(item.args[-1].names())


def _distinct_labels(items: list[Stated]) -> bool:
    names = [item.label.name.split("_")[0] if item.label is not None else "" for item in items]
    return len(names) > 1 and all(names) and len(set(names)) == len(names)


def _plain_names(items: list[Stated]) -> set[str]:
    """Return the letters that name the values of a list, indices aside."""
    labels = [item.label for item in items]
    return {label.name.split("_")[0] for label in labels if label is not None and label.op == "name"}


def _other_names(mine: list[Stated], theirs: list[Stated]) -> bool:
    own, golds = _plain_names(mine), _plain_names(theirs)
    return len(golds) == 1 and bool(own) and own.isdisjoint(golds)


def _by_labels(mine: list[Stated], theirs: list[Stated]) -> Decision:
    if all(item.label is None for item in mine):
        pairs = [(item.value, other.value) for item, other in zip(mine, theirs, strict=False)]
        same_length = len(mine) == len(theirs)
    else:
        by_label = {item.label: item.value for item in mine}
        pairs = [(by_label[item.label], item.value) for item in theirs if item.label in by_label]
        same_length = len(pairs) == len(theirs) == len(mine)
    if not same_length:
        return decided(False, "other names")
    decisions = [compare_part(value, gold) for value, gold in pairs]
    return decided(all(decision.right for decision in decisions), "equal by name").noted(
        *(decision.debatable for decision in decisions)
    )


def expanded(node: Node) -> list[Node]:
    """Return both values of a plus-minus; the parts of a tuple take their signs independently."""
    if not node.has("pm", "mp"):
        return [node]
    if node.op == "group":
        choices = [expanded(part) for part in node.args]
        count = 1
        for choice in choices:
            count *= len(choice)
        if count > MOST_ITEMS:
            raise UnreadableError("more sign combinations than are compared")
        return [Node("group", parts, node.name) for parts in product(*choices)]
    return [_with_sign(node, sign) for sign in (1, -1)]


def _with_sign(node: Node, sign: int) -> Node:
    parts = tuple(_with_sign(part, sign) for part in node.args)
    if node.op not in ("pm", "mp"):
        return Node(node.op, parts, node.name, node.value)
    positive = (sign == 1) == (node.op == "pm")
    last = parts[-1] if positive else Node("neg", (parts[-1],))
    return last if len(parts) == 1 else Node("add", (parts[0], last))
