"""Two equal values in, whether the answer is written in another form than the gold out.

Only forms that a problem is known to ask for count: lowest terms, decimal or fraction, mixed or improper,
simplest radical, worked out, factored or expanded.
"""

from __future__ import annotations

from math import gcd

from .math_nodes import Node


def other_form(answer: Node, gold: Node) -> str:
    """Return ``other_form`` where the answer's form is another one, else an empty text."""
    return "" if _form(answer) == _form(gold) else "other_form"


def _form(node: Node) -> str:
    if node.op == "neg":
        return _form(node.args[0])
    if node.op == "num":
        return "integer" if node.value.denominator == 1 else node.name
    if node.op == "div" and all(_is_whole(part) for part in node.args):
        above, below = (int(_literal(part).value) for part in node.args)
        return "fraction" if gcd(above, below) == 1 else "unreduced fraction"
    if node.names():
        return _expression_form(node)
    if node.has("const"):
        unworked = node.op == "mul" and node.has_constant("i") and node.has("add")
        return "product of constants" if unworked else "constants"
    if any(part.op == "call" for part in node.walk()) or node.has("pow"):
        return _radical_form(node)
    return "unevaluated"


def _expression_form(node: Node) -> str:
    called = ",".join(sorted({part.name for part in node.walk() if part.op == "call"} - {"root"}))
    return f"{_sum_or_product(node)} {called}"


def _sum_or_product(node: Node) -> str:
    if node.op == "add":
        inner = any(part.op == "mul" and any(side.op == "add" for side in part.args) for part in node.walk())
        return "sum of products" if inner else "sum"
    factors = [
        part
        for part in _factors(node)
        if part.op in ("add",) or (part.op == "pow" and part.args[0].op == "add")
    ]
    return "product of sums" if len(factors) > 1 or (factors and node.op == "pow") else "product"


def _factors(node: Node) -> list[Node]:
    return [found for part in node.args for found in _factors(part)] if node.op == "mul" else [node]


def _radical_form(node: Node) -> str:
    for part in node.walk():
        if part.op == "div" and part.args[1].has("call"):
            return "unsimplified radical"
        if part.op == "call" and part.name == "root":
            inside, order = part.args
            if inside.op == "num" and order.op == "num" and _has_power(int(inside.value), int(order.value)):
                return "unsimplified radical"
    if any(part.op == "num" and part.name == "decimal" for part in node.walk()):
        return "decimal radical"
    return "radical" if node.has("call") else "unevaluated"


def _has_power(number: int, order: int) -> bool:
    """Tell whether a small number holds a factor that could be taken out of its root."""
    if order < 2 or number > 10**6:
        return False
    return any(
        number % base**order == 0
        for base in range(2, 1 + int(number ** (1 / order)) + 1)
        if base**order <= number
    )


def _is_whole(node: Node) -> bool:
    literal = _literal(node)
    return literal.op == "num" and literal.name == "integer"


def _literal(node: Node) -> Node:
    return node.args[0] if node.op == "neg" else node
