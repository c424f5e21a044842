"""Tokens in, the tree of a sum out: products, factors side by side, mixed numbers, powers, postfix signs."""

from __future__ import annotations

from .answer_cursor import Reader
from .answer_tokens import Token
from .answer_units import UNIT_LETTERS
from .math_nodes import Node, UnreadableError
from .math_words import CONSTANT_WORDS, FUNCTIONS, is_product_of_letters, words

_STOPPERS = words(
    "cup cap setminus in notin ni approx equiv sim and or pm mp choose over end rceil rfloor rangle pmod bmod"
    " mod dollar cent euro pound subset cong propto circ where not infty ldots emptyset"
)


class SumReader(Reader):
    """Read sums, products and powers."""

    def read_sum(self) -> Node:
        """Read products joined by plus, minus and plus-minus."""
        with self.deeper():
            parts = [self._signed_product()]
            while self.at("+", "-") or self.at_command("pm", "mp"):
                token = self.take()
                product = self._signed_product()
                if token.text in ("pm", "mp"):
                    left = parts[0] if len(parts) == 1 else Node("add", tuple(parts))
                    parts = [Node(token.text, (left, product))]
                else:
                    parts.append(product if token.text == "+" else Node("neg", (product,)))
            return parts[0] if len(parts) == 1 else Node("add", tuple(parts))

    def _signed_product(self) -> Node:
        signs: list[str] = []
        while self.at("+", "-") or self.at_command("pm", "mp"):
            signs.append(self.take().text)
            if len(signs) > 3:
                raise UnreadableError("more signs than are read")
        node = self.read_product()
        for sign in reversed(signs):
            if sign != "+":
                node = Node("neg" if sign == "-" else sign, (node,))
        return node

    def read_product(self) -> Node:
        """Read factors joined by signs or side by side."""
        node = self.read_factor()
        while True:
            if self.at("*", "/"):
                divides = self.take().text == "/"
                negative = bool(self.at("-") and self.take())
                right = self.read_factor()
                right = Node("neg", (right,)) if negative else right
                node = Node("div" if divides else "mul", (node, right))
            elif self.starts_factor():
                if node.op == "div" and self.peek(-1).kind == "num" and self.peek().kind == "letter":
                    self.notes.append("letter_after_slash")
                node = self.read_beside(node)
            else:
                return node

    def read_beside(self, left: Node) -> Node:
        """Join a factor that stands beside ``left``: a mixed number, or a product without a sign."""
        token = self.peek()
        whole = left.op == "num" and left.name == "integer"
        if token.kind == "num":
            if whole and token.spaced and self.at("/", ahead=1) and self.peek(2).kind == "num":
                return self._with_signs_behind(self._mixed(left, self._plain_fraction()))
            raise UnreadableError("a number beside a factor")
        right = self.read_factor()
        sign = right.op if right.op in ("percent", "degree") else ""
        part = right.args[0] if sign else right
        if (
            whole
            and part.op == "div"
            and all(side.op == "num" and side.name == "integer" for side in part.args)
        ):
            mixed = self._mixed(left, part)
            return Node(sign, (mixed,)) if sign else mixed
        return Node("mul", (left, right))

    def _plain_fraction(self) -> Node:
        above = self.take()
        self.take()
        below = self.take()
        return Node("div", (number_node(above), number_node(below)))

    def _mixed(self, whole: Node, part: Node) -> Node:
        above, below = part.args
        if not below.value:
            raise UnreadableError("division by zero")
        return Node("num", name="mixed", value=whole.value + above.value / below.value)

    def starts_factor(self) -> bool:
        """Tell whether a factor comes."""
        token = self.peek()
        if self.letter_units and token.kind == "letter" and token.spaced and token.text in UNIT_LETTERS:
            return False
        if self.union_letter() or self.words_in_brackets():
            return False
        if token.kind in ("num", "letter"):
            return True
        if token.kind == "word":
            return (
                token.text in FUNCTIONS or token.text in CONSTANT_WORDS or is_product_of_letters(token.text)
            )
        if token.kind == "cmd":
            return token.text not in _STOPPERS
        if token.kind == "text":
            return token.text in FUNCTIONS
        return self.at("(", "[", "{") or (self.at("|") and not self.bars)

    def read_factor(self) -> Node:
        """Read an atom with what is written behind it: power, factorial, percent, degree."""
        return self._with_signs_behind(self.read_atom())

    def _with_signs_behind(self, node: Node) -> Node:
        while True:
            if self.at("^"):
                self.take()
                node = self._power(node)
            elif self.at("!"):
                self.take()
                if self.at("!"):
                    raise UnreadableError("double factorial")
                node = Node("fact", (node,))
            elif self.at("%"):
                self.take()
                node = Node("percent", (node,))
            elif self.at_command("circ"):
                self.take()
                node = Node("degree", (node,))
            else:
                return node

    def _skip_ordinal(self) -> bool:
        """Step over the raised ending of an ordinal number, as in ``7^{th}``."""
        inner = 1 if self.at("{") else 0
        token = self.peek(inner)
        if token.kind not in ("word", "text") or token.text not in ("st", "nd", "rd", "th"):
            return False
        self.place += inner + 1
        if inner:
            self.expect("}")
        return True

    def _power(self, base: Node) -> Node:
        if self.at_command("circ") or (
            self.at("{") and self.at_command("circ", ahead=1) and self.at("}", ahead=2)
        ):
            self.place += 1 if self.at_command("circ") else 3
            return Node("degree", (base,))
        if self._skip_ordinal():
            return base
        braced = self.at("{")
        with self.deeper():
            if self.at("-", "+"):
                negative = self.take().text == "-"
                exponent = self.read_factor()
                exponent = Node("neg", (exponent,)) if negative else exponent
            else:
                exponent = self.read_argument(whole_number=True)
        plain = base.op == "num" or (base.op == "div" and not base.names())
        if plain and exponent == Node("name", name="o"):
            self.notes.append("degree_as_power")
            return Node("degree", (base,))
        if exponent.op == "num" and not braced and exponent.value > 9:
            self.notes.append("missing_braces")
        return Node("pow", (base, exponent))


def number_node(token: Token) -> Node:
    """Return the node of a number literal."""
    return Node("num", name=token.text, value=token.value)
