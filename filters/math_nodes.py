"""The tree that a math answer is read into: plain data, compared by structure, never evaluated by name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


class UnreadableError(Exception):
    """The text is no answer that the reader knows; the message says where it stopped."""


@dataclass(frozen=True)
class Node:
    """One node of an answer.

    ``op`` is the node's sort and decides what the other fields hold:

    ============ ===================================================================================
    num          ``value``; ``name`` is the literal's form: integer, decimal, repeating or mixed
    name         ``name`` of a variable, subscript included (``x_1``)
    const        ``name``: pi, e, i, oo, empty, reals, integers, naturals, rationals, undefined
    text         ``name``: words that are no mathematics
    add mul      two or more ``args``
    div pow      two ``args``
    neg pm mp    one ``args`` (sign in front) or two (``a \\pm b``)
    call         ``name`` of the function, ``args``
    fact percent degree minute  one ``args`` (postfix signs)
    group        ``name`` is the pair of brackets, ``args`` the comma-separated items
    builder      a set by a condition: ``args`` are the condition's items
    rel          ``name`` is the blank-separated chain of relations, ``args`` what stands between them
    union cap minus  operations on sets, two ``args``
    matrix       ``args`` are rows, each a ``row``
    list         ``args`` are items; ``name`` is the word that joins them: ``,``, ``and`` or ``or``
    dots         an ellipsis
    ============ ===================================================================================
    """

    op: str
    args: tuple[Node, ...] = ()
    name: str = ""
    value: Fraction = Fraction(0)

    def walk(self) -> list[Node]:
        """Return this node and every node below it."""
        found, waiting = [], [self]
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting.extend(node.args)
        return found

    def names(self) -> frozenset[str]:
        """Return the variables that occur in the tree."""
        return frozenset(node.name for node in self.walk() if node.op == "name")

    def has(self, *ops: str) -> bool:
        """Tell whether a node of one of these sorts occurs in the tree."""
        return any(node.op in ops for node in self.walk())

    def has_call(self, name: str) -> bool:
        """Tell whether this function is called in the tree."""
        return any(node.op == "call" and node.name == name for node in self.walk())

    def has_constant(self, name: str) -> bool:
        """Tell whether this constant occurs in the tree."""
        return any(node.op == "const" and node.name == name for node in self.walk())


def integer(value: int) -> Node:
    """Return the node of an integer literal."""
    return Node("num", name="integer", value=Fraction(value))


def const(name: str) -> Node:
    """Return the node of a named constant."""
    return Node("const", name=name)
