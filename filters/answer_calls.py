"""Tokens in, the tree of a function's value out: functions, roots, series and matrices."""

from __future__ import annotations

from .answer_sums import SumReader
from .math_nodes import Node, UnreadableError, integer
from .math_words import FUNCTIONS, INVERSES


class CallReader(SumReader):
    """Read functions with their arguments."""

    def read_call(self, name: str, *, whole_radicand: bool = False) -> Node:
        """Read a function with its exponent, index and argument."""
        exponent: Node | None = None
        extra: tuple[Node, ...] = ()
        if name in ("sqrt", "cbrt"):
            return self._root(name, whole_radicand)
        while self.at("^", "_"):
            if self.take().text == "^":
                exponent = self.read_argument(whole_number=True)
            else:
                extra = (self.read_argument(whole_number=True),)
        node = Node("call", self._call_arguments() + extra, INVERSES.get(name, name))
        if exponent is None:
            return node
        if exponent == Node("neg", (integer(1),)) and "arc" + name in FUNCTIONS:
            return Node("call", node.args, INVERSES.get("arc" + name, "arc" + name))
        return Node("pow", (node, exponent))

    def _call_arguments(self) -> tuple[Node, ...]:
        if self.at("(", "[", "{"):
            node = self.read_bracketed()
            return node.args if node.op == "group" else (node,)
        negative = bool(self.at("-") and self.take())
        node = self.read_factor()
        while self.starts_factor() and not self._starts_function():
            node = self.read_beside(node)
        return (Node("neg", (node,)) if negative else node,)

    def _starts_function(self) -> bool:
        token = self.peek()
        return token.kind in ("cmd", "word", "text") and token.text in FUNCTIONS and token.text != "sqrt"

    def _root(self, name: str, whole_radicand: bool) -> Node:
        index: Node = integer(3 if name == "cbrt" else 2)
        if self.at("["):
            self.take()
            index = self.read_sum()
            self.expect("]")
        token = self.peek()
        if token.kind == "num" and len(token.digits) > 1 and not whole_radicand:
            self.notes.append("missing_braces")
        if self.at("(") or whole_radicand:
            return Node("call", (self.read_atom(), index), "root")
        return Node("call", (self.read_argument(whole_number=True), index), "root")

    def read_series(self, name: str) -> Node:
        """Read a sum or product over a range."""
        self.expect("_")
        self.expect("{")
        variable = self.read_atom()
        self.expect("=")
        low = self.read_sum()
        self.expect("}")
        self.expect("^")
        high = self.read_argument(whole_number=True)
        return Node("call", (variable, low, high, self.read_product()), name)

    def read_environment(self) -> Node:
        """Read a matrix; the columns' alignment and extra space between rows say nothing."""
        self.expect("{")
        kind = self.raw_until("}", "{")
        if kind not in ("pmatrix", "bmatrix", "matrix", "array", "Bmatrix", "smallmatrix", "vmatrix"):
            raise UnreadableError(f"the environment {kind[:40]!r}")
        if kind == "array" and self.at("{"):
            self.take()
            self.raw_until("}", "{")
        rows: list[Node] = []
        while not self.at_command("end"):
            cells = [self.read_sum()]
            while self.at("&"):
                self.take()
                cells.append(self.read_sum())
            rows.append(Node("row", tuple(cells)))
            if self.at("\\\\"):
                self.take()
                if self.at("["):
                    self.take()
                    self.raw_until("]", "[")
            elif not self.at_command("end"):
                raise UnreadableError("a matrix that does not end")
        self.take()
        self.expect("{")
        self.raw_until("}", "{")
        if not rows:
            raise UnreadableError("an empty matrix")
        return Node("call", rows[0].args, "det") if kind == "vmatrix" else Node("matrix", tuple(rows))
