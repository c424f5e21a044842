"""A cleaned answer in, its tree out: items, relations, sets and quantities round the algebraic terms."""

from __future__ import annotations

from dataclasses import dataclass

from .answer_quantities import JOINERS, QuantityReader
from .answer_tokens import Spelling, Token, tokenize
from .math_nodes import Node, UnreadableError, const
from .math_words import FUNCTIONS, words

_RELATIONS = frozenset(["=", "<", ">", "<=", ">=", "!=", ":"])
_RELATION_COMMANDS = frozenset(
    ["approx", "equiv", "in", "notin", "ni", "sim", "propto", "cong", "subset", "subseteq", "doteq"]
)
_DROPPED_IN_FRONT = words(
    "either both the is are answer answers only solution solutions exactly so then we have get has just"
    " simply a an all for where when let"
)


@dataclass(frozen=True)
class Reading:
    """An answer as it was read: its tree, what careful readers may read otherwise, remarks left aside."""

    node: Node
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_answer(text: str, spelling: Spelling, *, letter_units: bool = False) -> Reading:
    """Read a cleaned answer; raise ``UnreadableError`` for no mathematics or too much of it.

    ``letter_units`` reads ``12 m`` as twelve metres: right where no variable can be meant.
    """
    reader = AnswerReader(_without_empty_groups(tokenize(text, spelling)))
    reader.letter_units = letter_units
    node = reader.read_items()
    if reader.peek().kind != "end":
        raise UnreadableError(f"{reader.peek().text[:40]!r} after the answer")
    return Reading(node, tuple(dict.fromkeys(reader.notes)), tuple(reader.remarks))


def _without_empty_groups(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    kept: list[Token] = []
    for token in tokens:
        if token.kind == "sym" and token.text == "}" and _opens_nothing(kept):
            kept.pop()
        else:
            kept.append(token)
    return tuple(kept)


def _opens_nothing(kept: list[Token]) -> bool:
    """Tell whether a brace has just been opened that is no command's argument."""
    if not kept or (kept[-1].kind, kept[-1].text) != ("sym", "{"):
        return False
    return len(kept) < 2 or (kept[-2].kind != "cmd" and kept[-2].text not in "}^_")


class AnswerReader(QuantityReader):
    """Read items separated by commas and words, each a relation or a quantity."""

    def read_items(self, *closing: str) -> Node:
        """Read items separated by commas and words, up to a closing symbol, which stays."""
        with self.deeper():
            items, joiner = [self._item()], ""
            while True:
                found = self._separator()
                if not found:
                    break
                joiner = found if joiner in ("", ",", ";") else joiner
                if self.peek().kind == "end" or (closing and self.at(*closing)):
                    break
                items.append(self._item())
            return items[0] if len(items) == 1 else Node("list", tuple(items), joiner)

    def _separator(self) -> str:
        """Take a comma, a semicolon, ``and`` or ``or``, or a run of them, and return the strongest."""
        found = ""
        while True:
            token = self.peek()
            word = token.text.lower().strip(" ,;.") if token.kind in ("word", "text", "cmd") else ""
            if self.at(",", ";"):
                found = found or self.take().text
                self.place += 1 if self.at(",", ";") else 0
            elif word in JOINERS:
                self.take()
                found = "or" if word == "or" else "and"
            elif self.at("&") and found:
                self.take()
            else:
                return found

    def _item(self) -> Node:
        self._drop_words_in_front()
        operands, relations = [self._labelled()], []
        while True:
            relation = self._relation()
            if not relation:
                break
            relations.append(relation)
            operands.append(self._labelled() if relation in ("=", ":") else self.read_quantity())
        if not relations:
            return operands[0]
        return _united_conditions(Node("rel", tuple(operands), " ".join(relations)))

    def _relation(self) -> str:
        token = self.peek()
        if token.kind == "sym" and token.text in _RELATIONS:
            return self.take().text
        if token.kind == "cmd" and token.text in _RELATION_COMMANDS:
            return self.take().text
        if token.kind in ("word", "text") and token.text.strip() in ("is", "equals", "is in"):
            self.take()
            return "="
        return ""

    def _drop_words_in_front(self) -> None:
        while True:
            token = self.peek()
            found = token.text.lower().strip(" ,:").split() if token.kind in ("word", "text") else []
            if not found or not all(word in _DROPPED_IN_FRONT for word in found):
                break
            self.take()
        if self.at_command("approx"):
            self.take()
            self.notes.append("approximate_sign")

    def _labelled(self) -> Node:
        """Read words that label a value (``Area =``, ``Minimum:``), or a quantity."""
        token = self.peek()
        if token.kind in ("word", "text") and token.text not in FUNCTIONS:
            label, ahead = token.text, 1
            while self.peek(ahead).kind in ("word", "text", "num"):
                follower = self.peek(ahead)
                label += " " + (follower.text if follower.kind != "num" else follower.digits)
                ahead += 1
            if self.at("=", ":", ahead=ahead) or (ahead == 1 and self.at_command("approx", ahead=ahead)):
                self.place += ahead
                return Node("text", name=label)
        return self.read_quantity()

    def read_set(self) -> Node:
        """Read a set in braces: its items or its condition."""
        self.expect("\\{")
        if self.at("\\}"):
            self.take()
            return const("empty")
        if self._builder_ahead():
            variable = self.peek().text
            while not self.at("|", ":"):
                self.take()
            self.take()
            node = self.read_items("\\}")
            self.expect("\\}")
            return Node("builder", (node,), variable)
        bars, self.bars = self.bars, 0
        node = self.read_items("\\}")
        self.bars = bars
        self.expect("\\}")
        return Node("group", node.args if node.op == "list" else (node,), "{}")

    def _builder_ahead(self) -> bool:
        """Tell whether ``x |``, ``x :`` or ``x in S |`` comes: the head of a set by a condition."""
        name = self.peek()
        if name.kind != "letter" and not (name.kind == "cmd" and name.text not in ("frac", "sqrt", "pm")):
            return False
        if self.at("|", ":", ahead=1):
            return True
        if not self.at_command("in", ahead=1):
            return False
        ahead = 2
        while self.peek(ahead).kind != "end" and not self.at("|", ":", "\\}", ahead=ahead):
            ahead += 1
        return self.at("|", ":", ahead=ahead)


def _united_conditions(node: Node) -> Node:
    """Split ``0 < x < 1 \\cup 2 < x < 3``, where a union joins two chains and not two numbers."""
    for place, part in enumerate(node.args):
        if part.op == "union" and 0 < place < len(node.args) - 1 and not part.has("group", "builder"):
            relations = node.name.split(" ")
            left = Node("rel", (*node.args[:place], part.args[0]), " ".join(relations[:place]))
            right = Node("rel", (part.args[1], *node.args[place + 1 :]), " ".join(relations[place:]))
            return Node("list", (left, right), "or")
    return node
