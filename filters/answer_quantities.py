"""Tokens in, a value with its unit out: currencies, units, percents and degrees; remarks are left aside."""

from __future__ import annotations

import re
from fractions import Fraction

from .answer_atoms import AtomReader
from .answer_units import UNIT_LETTERS, is_unit_word
from .math_nodes import Node, UnreadableError, const

JOINERS = frozenset(["and", "or", "and/or", "or else", "as well as", "plus"])
_SCALES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}
_HEDGES = ("approx", "about", "roughly", "around", "nearly", "almost", "maybe", "probably", "perhaps")
_CHANGES_MEANING = re.compile(
    r"^(?:R|r|rem|remainder|roots?)\b|\b(?:not|no|never|except|excluding|unless|if|when|otherwise|or|neither"
    r"|less|more|greater|fewer|another|roots? of|power"
    r"|squared|cubed|choose|modulo|mod|hundredths?|tenths?|thousandths?|quarters?|halves|half|thirds?|fifths?)\b",
    re.IGNORECASE,
)
_GENERAL = ("for", "where", "since", "because", "with", "as")


class QuantityReader(AtomReader):
    """Read set expressions with what is said of them."""

    def read_quantity(self) -> Node:
        """Read a set expression with the unit and the remark that stand beside it."""
        currency = self._currency()
        node = self._set_expression()
        if currency:
            node = Node("quantity", (node,), currency)
        while self.peek().kind != "end":
            follower = self._behind(node)
            if follower is None:
                return node
            node = follower
        return node

    def _currency(self) -> str:
        if self.at_command("dollar", "euro", "pound", "USD", "US"):
            name = self.take().text
            if name == "US":
                self.take()
            return "dollar" if name in ("USD", "US") else name
        return ""

    def _behind(self, node: Node) -> Node | None:
        """Read one unit or remark behind ``node``; None where something else comes."""
        token = self.peek()
        if self.words_in_brackets():
            return self._remark(node)
        if self.at("'", '"') and node.op == "num":
            self.take()
            if token.text == "'":
                return Node("quantity", (node,), "minute_or_foot")
            return Node("quantity", (node,), "inch")
        if self.at_command("dollar", "cent", "euro", "pound") and token.kind == "cmd":
            return Node("quantity", (node,), self.take().text)
        if self.at_command("pmod", "bmod", "mod"):
            self.take()
            return Node(
                "call",
                (node, self.read_argument(whole_number=True) if not self.at("(") else self.read_bracketed()),
                "mod",
            )
        if token.kind == "letter" and self.letter_units and token.spaced and token.text in UNIT_LETTERS:
            return self._unit(node)
        if token.kind not in ("word", "text") or token.text.lower().strip(" ,;.") in JOINERS:
            return None
        if token.text.strip() in ("is", "equals"):
            return None
        return self._words_behind(node, token.text.strip())

    def _words_behind(self, node: Node, words: str) -> Node:
        if words.lower() in _SCALES:
            self.take()
            return Node("mul", (node, Node("num", name="integer", value=Fraction(_SCALES[words.lower()]))))
        if words in ("st", "nd", "rd", "th") and node.op in ("num", "name"):
            self.take()
            return node
        if words.lower() in ("degrees", "degree", "deg"):
            self.take()
            return Node("degree", (node,))
        if words.lower() in ("percent", "per cent", "pct"):
            self.take()
            return Node("percent", (node,))
        if all(is_unit_word(word) for word in re.split(r"[\s/*]+|\^\{?\d\}?", words) if word):
            return self._unit(node)
        return self._remark(node)

    def _unit(self, node: Node) -> Node:
        """Take the tokens of a unit phrase."""
        phrase: list[str] = []
        while True:
            token = self.peek()
            if token.kind in ("word", "text", "letter"):
                if not all(
                    is_unit_word(word) for word in re.split(r"[\s/*]+|\^\{?\d\}?", token.text) if word
                ):
                    break
                phrase.append(" " + self.take().text)
            elif self.at("/", "*", ".") and self.peek(1).kind in ("word", "text", "letter"):
                phrase.append(self.take().text.replace(".", " "))
            elif self.at("^") or (self.at(".") and self.at("^", ahead=1)):
                self.place += 1 if self.at(".") else 0
                self.take()
                power = self.read_argument(whole_number=True)
                sign, power = ("-", power.args[0]) if power.op == "neg" else ("", power)
                if power.op != "num" or power.value.denominator != 1:
                    raise UnreadableError("a unit to an odd power")
                phrase.append(f"^{sign}{power.value}")
            else:
                break
        return Node("quantity", (node,), "".join(phrase).strip())

    def _remark(self, node: Node) -> Node:
        """Leave aside words behind a value, up to the next separator; refuse words that change the value."""
        words: list[str] = []
        opened = 0
        general = self.peek().text.lower().lstrip("( ").startswith(_GENERAL)
        while self.peek().kind != "end":
            token = self.peek()
            word = token.text.lower().strip(" ,;.") if token.kind in ("word", "text") else ""
            if opened <= 0 and (self.at(")", "]", "}", "\\}") or word in ("and", "or")):
                break
            if opened <= 0 and self.at(",", ";") and (not general or self.at_command("and", "or", ahead=1)):
                break
            opened += _count(token.text, "([{") - _count(token.text, ")]}")
            words.append(self.take().text)
        remark = " ".join(words)
        if _CHANGES_MEANING.search(remark):
            raise UnreadableError(f"words that change the value: {remark[:60]!r}")
        if any(hedge in remark.lower() for hedge in _HEDGES):
            self.notes.append("hedged")
        self.remarks.append(remark)
        return node

    def _set_expression(self) -> Node:
        if self.at_command("emptyset"):
            self.take()
            return const("empty")
        node = self.read_sum()
        while self.union_letter() or (
            self.peek().kind == "cmd" and self.peek().text in ("cup", "cap", "setminus")
        ):
            name = self.take().text
            right = const("empty") if self.at_command("emptyset") and self.take() else self.read_sum()
            node = Node({"cap": "cap", "setminus": "minus"}.get(name, "union"), (node, right))
        return node


def _count(text: str, signs: str) -> int:
    return sum(text.count(sign) for sign in signs)
