"""An answer's tree and a gold in, the tree with the gold's letter for a free whole number out."""

from __future__ import annotations

import re

from .math_nodes import Node

_LETTERS = frozenset("klmntjrzKNMZ")
_SETS = frozenset(["integers", "naturals", "rationals", "reals", "complexes"])
_TOLD = re.compile(r"\b(?:integers?|whole numbers?|arbitrary)\b", re.IGNORECASE)


def without_domains(node: Node) -> Node:
    """Leave out items that only say where a letter comes from, as in ``x = k\\pi, k \\in \\mathbb{Z}``."""
    if node.op != "list":
        return node
    kept = tuple(item for item in node.args if not _is_domain(item))
    if not kept or len(kept) == len(node.args):
        return node
    return kept[0] if len(kept) == 1 else Node("list", kept, node.name)


def _is_domain(item: Node) -> bool:
    return (
        item.op == "rel"
        and item.name in ("in", "= in")
        and item.args[0].op == "name"
        and _is_set(item.args[-1])
    )


def _is_set(node: Node) -> bool:
    base = node.args[0] if node.op == "pow" else node
    return base.op == "const" and base.name in _SETS


def with_letter_of_gold(answer: Node, gold: Node, remarks: tuple[str, ...]) -> Node:
    """Rename the one free letter: a multiple of pi by any whole number is periodic, or the answer says so."""
    mine, theirs = _free(answer), _free(gold)
    if len(mine) != 1 or len(theirs) != 1 or mine == theirs:
        return answer
    (old,), (new,) = mine, theirs
    periodic = old in _LETTERS and new in _LETTERS and answer.has_constant("pi") and gold.has_constant("pi")
    told = any(_TOLD.search(remark) for remark in remarks)
    return _renamed(answer, old, new) if periodic or told else answer


def _free(node: Node) -> frozenset[str]:
    """Return the letters of a tree without those that only name its values."""
    if node.op == "rel" and node.name == "=":
        return node.args[-1].names()
    if node.op == "list":
        return frozenset[str]().union(*(_free(item) for item in node.args))
    return node.names()


def _renamed(node: Node, old: str, new: str) -> Node:
    name = new if node.op == "name" and node.name == old else node.name
    return Node(node.op, tuple(_renamed(part, old, new) for part in node.args), name, node.value)
