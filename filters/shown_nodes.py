"""A tree in, the answer as it was read out, in one plain line for people."""

from __future__ import annotations

from fractions import Fraction

from .math_nodes import Node

LONGEST_SHOWN = 300

_CONSTANTS = {
    "pi": "π", "oo": "∞", "empty": "∅", "reals": "ℝ", "integers": "ℤ", "naturals": "ℕ", "rationals": "ℚ",
}  # fmt: skip
_RELATIONS = {"<=": "≤", ">=": "≥", "!=": "≠", "approx": "≈", "equiv": "≡", "in": "∈", "notin": "∉"}
_SETS = {"union": "∪", "cap": "∩", "minus": "∖"}
_LOOSE = frozenset(["add", "neg", "pm", "mp"])
_POSTFIX = {"fact": "!", "percent": "%", "degree": "°"}


def shown(node: Node) -> str:
    """Return a tree as text, cut at ``LONGEST_SHOWN`` characters."""
    text = _shown(node)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def _shown(node: Node) -> str:
    parts = [_shown(part) for part in node.args]
    if node.op == "num":
        return _decimal(node.value) if node.name == "decimal" else _number(node.value)
    if node.op == "const":
        return _CONSTANTS.get(node.name, node.name)
    if node.op in ("name", "text"):
        return node.name
    if node.op in ("add", "neg", "pm", "mp"):
        return _sum(node, parts)
    if node.op in ("mul", "div", "pow"):
        sign = {"mul": "·", "div": "/", "pow": "^"}[node.op]
        return sign.join(_tight(part, node.op) for part in node.args)
    if node.op in _POSTFIX:
        return _tight(node.args[0], "pow") + _POSTFIX[node.op]
    if node.op == "call":
        return _call(node, parts)
    if node.op == "based":
        return f"{node.name}_{parts[0]}"
    if node.op == "quantity":
        return f"{parts[0]} {node.name}"
    return _structure(node, parts)


def _structure(node: Node, parts: list[str]) -> str:
    if node.op == "group":
        return node.name[:1] + ", ".join(parts) + node.name[1:]
    if node.op == "list":
        return (f" {node.name} " if node.name.isalpha() else ", ").join(parts)
    if node.op == "rel":
        text = parts[0]
        for relation, part in zip(node.name.split(" "), parts[1:], strict=False):
            text += f" {_RELATIONS.get(relation, relation)} {part}"
        return text
    if node.op in _SETS:
        return f" {_SETS[node.op]} ".join(parts)
    if node.op == "builder":
        return f"{{{node.name} | {parts[0]}}}"
    if node.op in ("matrix", "row"):
        return "[" + ", ".join(parts) + "]"
    return "…" if node.op == "dots" else f"{node.op}({', '.join(parts)})"


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def _decimal(value: Fraction) -> str:
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def _sum(node: Node, parts: list[str]) -> str:
    if node.op == "neg":
        return "-" + _tight(node.args[0], "mul")
    if node.op in ("pm", "mp"):
        sign = "±" if node.op == "pm" else "∓"
        return sign + parts[0] if len(parts) == 1 else f"{parts[0]} {sign} {_tight(node.args[1], 'mul')}"
    text = parts[0]
    for part in node.args[1:]:
        negative = part.op == "neg"
        inner = _tight(part.args[0], "mul") if negative else _shown(part)
        text += (" - " if negative else " + ") + inner
    return text


def _call(node: Node, parts: list[str]) -> str:
    if node.name == "root":
        sign = {"2": "√", "3": "∛"}.get(parts[1], f"root{parts[1]} ")
        return f"{sign}{parts[0]}" if node.args[0].op in ("num", "name") else f"{sign}({parts[0]})"
    return f"{node.name}({', '.join(parts)})"


def _tight(node: Node, inside: str) -> str:
    """Return a part of a product or power, in brackets where it would be misread."""
    text = _shown(node)
    fraction = node.op == "num" and node.value.denominator != 1
    loose = node.op in _LOOSE or (inside != "mul" and (node.op in ("mul", "div", "pow") or fraction))
    return f"({text})" if loose else text
