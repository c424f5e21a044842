"""Matrices in, a decision out: same shape, same entry at each place; scalar factors are multiplied in."""

from __future__ import annotations

from .answer_labels import stated
from .compare_scalars import compare_scalar
from .math_nodes import Node, UnreadableError, integer
from .strict_decision import Decision, decided

Rows = list[list[Node]]


def compare_matrix(answer: Node, gold: Node) -> Decision:
    """Compare by place; a vector written as a row, a column or a tuple is debatable."""
    theirs = _rows(_value(gold), 0)
    size = len(theirs) if len(theirs) == len(theirs[0]) else 0
    try:
        mine = _rows(_value(answer), size)
    except UnreadableError as error:
        return decided(False, f"no matrix: {error}")
    rule = "identity_symbol" if size and not _value(answer).has("matrix", "group") else ""
    vectors = 1 in (len(theirs), len(theirs[0])) and 1 in (len(mine), len(mine[0]))
    if (len(mine), len(mine[0])) != (len(theirs), len(theirs[0])) or not _value(answer).has("matrix"):
        if not vectors and not rule:
            return decided(False, "another shape")
        rule = rule or "row_for_column"
    cells, golds = [cell for row in mine for cell in row], [cell for row in theirs for cell in row]
    if len(cells) != len(golds):
        return decided(False, "another shape")
    decisions = [compare_scalar(cell, other) for cell, other in zip(cells, golds, strict=True)]
    right = all(decision.right for decision in decisions)
    return decided(right, "equal by place", rule if right else "")


def _value(node: Node) -> Node:
    found = stated(node)
    if found is None:
        raise UnreadableError("a relation")
    return found.value


def _rows(node: Node, size: int) -> Rows:
    """Return the entries of a matrix expression; ``size`` is what an identity matrix's symbol stands for."""
    if node.op == "matrix":
        rows = [list(row.args) for row in node.args]
        if len({len(row) for row in rows}) != 1:
            raise UnreadableError("rows of unequal length")
        return rows
    if node.op == "group" and node.name in ("()", "<>", "[]") and len(node.args) > 1:
        return [list(node.args)]
    if node.op == "group" and len(node.args) == 1:
        return _rows(node.args[0], size)
    if node.op == "pow" and node.args[1].name in ("T", "top", "intercal"):
        return [list(column) for column in zip(*_rows(node.args[0], size), strict=True)]
    if node.op == "neg":
        return _scaled(integer(-1), _rows(node.args[0], size))
    if node.op == "mul" and len(node.args) == 2:
        factor, matrix = node.args if not node.args[0].has("matrix") else reversed(node.args)
        return _scaled(factor, _rows(matrix, size))
    if node.op == "div":
        return _scaled(Node("div", (integer(1), node.args[1])), _rows(node.args[0], size))
    if node.op == "name" and size and node.name.split("_")[0] in ("I", "E"):
        return [[integer(int(row == column)) for column in range(size)] for row in range(size)]
    raise UnreadableError(f"no matrix: {node.op}")


def _scaled(factor: Node, rows: Rows) -> Rows:
    return [[Node("mul", (factor, cell)) for cell in row] for row in rows]
