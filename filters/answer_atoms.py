"""Tokens in, the tree of one atom out: numbers, names, constants, fractions and brackets."""

from __future__ import annotations

from fractions import Fraction

from .answer_calls import CallReader
from .answer_sums import number_node
from .answer_tokens import Token
from .math_nodes import Node, UnreadableError, const, integer
from .math_words import CONSTANT_WORDS, FUNCTIONS, GREEK, is_product_of_letters, words

_BRACKETS = {"(": ")", "[": "]"}
_SETS = {"R": "reals", "Z": "integers", "N": "naturals", "Q": "rationals", "C": "complexes"}
_UNICODE_CALLS = {"surd": "sqrt", "cbrt": "cbrt"}
_NAMING = words(
    "angle triangle measuredangle overline vec hat bar overrightarrow tilde widehat mathcal mathscr mathfrak"
    " arc ell hbar pmb"
)


class AtomReader(CallReader):
    """Read atoms."""

    def read_argument(self, whole_number: bool = False) -> Node:
        """Read a command's argument: a braced one, or one token; an unbraced number gives one digit."""
        if self.at("{"):
            return self.read_braced()
        token = self.peek()
        if token.kind == "num" and len(token.digits) > 1 and not whole_number:
            self.tokens[self.place] = Token(
                "num", "integer", False, Fraction(int(token.digits[1:])), token.digits[1:]
            )
            return integer(int(token.digits[0]))
        if token.kind == "text":
            return Node("text", name=self.take().text)
        return self.read_atom()

    def read_braced(self) -> Node:
        """Read what stands in braces."""
        self.expect("{")
        with self.deeper():
            if self.peek().kind == "text" and self.at("}", ahead=1):
                node = Node("text", name=self.take().text)
            else:
                node = self.read_items("}")
                if self.at_command("over", "choose"):
                    name = self.take().text
                    below = self.read_items("}")
                    node = (
                        Node("div", (node, below)) if name == "over" else Node("call", (node, below), "binom")
                    )
        self.expect("}")
        return Node("group", node.args, "{}") if node.op == "list" else node

    def read_atom(self) -> Node:
        """Read a number, a name, a function, a command or a bracket."""
        with self.deeper():
            token = self.peek()
            if token.kind == "num":
                self.take()
                return self._indexed_number(token)
            if token.kind == "letter":
                self.take()
                return self._letter(token.text)
            if token.kind in ("word", "text"):
                return self._word(token.text)
            if token.kind == "cmd":
                self.take()
                return self._command(token.text)
            return self.read_bracketed()

    def _indexed_number(self, token: Token) -> Node:
        if not self.at("_"):
            return number_node(token)
        self.take()
        index = self.read_argument(whole_number=True)
        return Node("based", (index,), name=token.digits or "0", value=token.value)

    def _letter(self, letter: str) -> Node:
        if letter == "C" and self.at("(") and self.peek(1).kind == "num" and self.at(",", ahead=2):
            group = self.read_bracketed()
            return Node("call", group.args, "binom")
        name = letter + self.read_index()
        while self.at("'"):
            self.take()
            name += "'"
        if name in ("e", "i"):
            return const(name)
        if name[0] in "fgh" and self.at("("):
            argument = self.read_bracketed()
            return Node("call", argument.args if argument.op == "group" else (argument,), name)
        return Node("name", name=name)

    def read_index(self) -> str:
        """Read a subscript as it is written; it belongs to the name in front of it."""
        if not self.at("_"):
            return ""
        self.take()
        if self.at("{"):
            self.take()
            return "_" + self.raw_until("}", "{")
        token = self.take()
        if token.kind == "end":
            raise UnreadableError("no subscript")
        return "_" + (token.digits if token.kind == "num" else token.text)

    def _word(self, word: str) -> Node:
        plain = word.strip()
        if plain in FUNCTIONS:
            self.take()
            return self.read_call(plain)
        if plain in CONSTANT_WORDS:
            self.take()
            return const(CONSTANT_WORDS[plain])
        if plain in GREEK:
            self.take()
            return Node("name", name=plain + self.read_index())
        if len(plain) == 1 or (self.peek().kind == "word" and is_product_of_letters(plain)):
            self.take()
            if len(plain) == 1:
                return Node("name", name=plain + self.read_index())
            letters = [self._letter(letter) for letter in plain[:-1]] + [self._letter(plain[-1])]
            return Node("mul", tuple(letters))
        raise UnreadableError(f"the word {plain[:40]!r} in a formula")

    def _command(self, name: str) -> Node:
        if name in ("frac",):
            above = self.read_argument()
            return Node("div", (above, self.read_argument()))
        if name == "binom":
            above = self.read_argument()
            return Node("call", (above, self.read_argument()), "binom")
        if name in _UNICODE_CALLS or name in FUNCTIONS:
            return self.read_call(_UNICODE_CALLS.get(name, name), whole_radicand=name in _UNICODE_CALLS)
        if name in CONSTANT_WORDS:
            return const(CONSTANT_WORDS[name])
        if name in GREEK:
            return self._letter_command(name)
        if name in _NAMING:
            return self._named_thing(name)
        if name in ("mathbb", "Bbb"):
            letter = self.read_argument()
            return const(_SETS.get(letter.name, "unknown_set"))
        if name in ("lfloor", "lceil", "langle"):
            closing = {"lfloor": "rfloor", "lceil": "rceil", "langle": "rangle"}[name]
            return self._fenced(name, closing)
        if name == "begin":
            return self.read_environment()
        if name in ("sum", "prod"):
            return self.read_series(name)
        if name in ("ldots",):
            return Node("dots")
        raise UnreadableError(f"the command {name[:40]!r}")

    def _letter_command(self, name: str) -> Node:
        return Node("name", name=name + self.read_index())

    def _named_thing(self, name: str) -> Node:
        """Read what a sign names (an angle, a segment) as one name."""
        if name in ("ell", "hbar"):
            return Node("name", name=name + self.read_index())
        if self.at("{"):
            self.take()
            return Node("name", name=f"{name} {self.raw_until('}', '{')}" + self.read_index())
        token = self.take()
        if token.kind not in ("letter", "word", "cmd"):
            raise UnreadableError(f"{name} of {token.text!r}")
        label = token.text
        while self.peek().kind in ("letter",) and name in ("angle", "triangle"):
            label += self.take().text
        return Node("name", name=f"{name} {label}" + self.read_index())

    def _fenced(self, opening: str, closing: str) -> Node:
        node = self.read_items()
        if not self.at_command(closing):
            raise UnreadableError(f"no {closing}")
        self.take()
        if opening == "langle":
            return Node("group", node.args if node.op == "list" else (node,), "<>")
        return Node("call", (node,), "floor" if opening == "lfloor" else "ceil")

    def read_bracketed(self) -> Node:
        """Read brackets of any sort; several items make a group."""
        if self.at("|"):
            self.take()
            self.bars += 1
            node = self.read_sum()
            self.bars -= 1
            self.expect("|")
            return Node("call", (node,), "abs")
        if self.at("{"):
            return self.read_braced()
        if self.at("\\{"):
            return self.read_set()
        if self.at("]"):
            return self._outward()
        opening = self.expect("(", "[").text
        bars, self.bars = self.bars, 0
        node = self.read_items(")", "]")
        self.bars = bars
        closing = self.expect(")", "]").text
        if node.op == "list":
            return Node("group", node.args, opening + closing)
        if closing != _BRACKETS[opening]:
            raise UnreadableError("brackets that do not match")
        return node if opening == "(" else Node("group", (node,), "[]")

    def _outward(self) -> Node:
        """Read an interval in Bourbaki's notation: ``]3,4]`` is ``(3,4]``."""
        self.expect("]")
        self.notes.append("outward_brackets")
        node = self.read_items("[", "]")
        closing = ")" if self.expect("[", "]").text == "[" else "]"
        return Node("group", node.args, "(" + closing)
