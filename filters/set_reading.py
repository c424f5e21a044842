"""A tree in, the set of real numbers out: intervals, unions, inequalities, sets by a condition."""

from __future__ import annotations

from .answer_labels import is_label
from .compare_values import number
from .math_nodes import Node, UnreadableError
from .real_sets import Piece, RealSet, chain, common, everything, interval, united, without

_PAIRS = frozenset(["()", "[]", "(]", "[)"])


def real_set(node: Node) -> RealSet:
    """Return the set that a tree writes; raise ``UnreadableError`` for what writes none."""
    if node.op == "const" and node.name == "reals":
        return everything()
    if node.op == "const" and node.name == "empty":
        return ()
    if node.op == "group" and node.name in _PAIRS and len(node.args) == 2:
        return interval(node)
    if node.op == "group" and node.name == "{}":
        return _points(node)
    if node.op == "builder":
        names = {name.split("_")[0] for name in node.args[0].names()}
        if names and node.name not in names:
            raise UnreadableError("a condition on another variable")
        return real_set(node.args[0])
    if node.op in ("union", "cap", "minus"):
        left, right = (real_set(part) for part in node.args)
        return {"union": united, "cap": common, "minus": without}[node.op](left, right)
    if node.op == "add" and len(node.args) == 2 and node.args[1].op == "neg":
        return without(real_set(node.args[0]), real_set(node.args[1].args[0]))
    if node.op == "rel":
        return _relation(node)
    if node.op == "list":
        return _list(node)
    raise UnreadableError(f"no set of real numbers: {node.op}")


def _points(node: Node) -> RealSet:
    found: RealSet = ()
    for item in node.args:
        value = number(item)
        found = united(found, (Piece(value, value, True, True),))
    return found


def _relation(node: Node) -> RealSet:
    relations = node.name.split(" ")
    if relations == ["in"]:
        return real_set(node.args[1])
    if relations == ["notin"]:
        return without(everything(), real_set(node.args[1]))
    last = node.args[-1]
    if (
        set(relations) == {"="}
        and is_label(node.args[0])
        and (last.op in ("group", "union", "const", "minus", "builder"))
    ):
        return real_set(last)
    return chain(node)


def _list(node: Node) -> RealSet:
    """Join items: conditions beside each other hold together, sets and what ``or`` joins are united."""
    sets = [real_set(item) for item in node.args]
    conditions = [item.op == "rel" and item.name != "in" for item in node.args]
    united_sets = sets[0]
    for other in sets[1:]:
        united_sets = united(united_sets, other)
    if node.name == "or" or not any(conditions):
        return united_sets
    together = sets[0]
    for other in sets[1:]:
        together = common(together, other)
    return together or united_sets
