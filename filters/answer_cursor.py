"""Tokens in, one after another out, within a bound on depth; what a reader's parts offer each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .answer_tokens import Token
from .math_nodes import Node, UnreadableError
from .math_words import CONSTANT_WORDS, FUNCTIONS, is_product_of_letters

DEEPEST = 40
_END = Token("end", "")


class TokenCursor:
    """A place in a sequence of tokens, and what the reader noticed on the way.

    ``notes`` collects short names of what careful readers may read otherwise; ``remarks`` the words that
    were taken for a remark beside the answer.
    """

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self.tokens = list(tokens)
        self.place = 0
        self.notes: list[str] = []
        self.remarks: list[str] = []
        self._depth = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return a coming token without taking it; past the end it is of kind ``end``."""
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else _END

    def take(self) -> Token:
        """Return the next token and step over it."""
        token = self.peek()
        self.place += 1
        return token

    def at(self, *symbols: str, ahead: int = 0) -> bool:
        """Tell whether a coming token is one of these symbols."""
        token = self.peek(ahead)
        return token.kind == "sym" and token.text in symbols

    def at_command(self, *names: str, ahead: int = 0) -> bool:
        """Tell whether a coming token is one of these commands or the same word written plainly."""
        token = self.peek(ahead)
        return token.kind in ("cmd", "word", "text") and token.text in names

    def union_letter(self) -> bool:
        """Tell whether a capital U between two brackets comes: a union in plain text."""
        token = self.peek()
        return (
            token.kind == "letter"
            and token.text == "U"
            and self.at("(", "[", ahead=1)
            and self.at(")", "]", ahead=-1)
        )

    def words_in_brackets(self) -> bool:
        """Tell whether a bracket with words comes: a remark, no factor."""
        token = self.peek(1)
        plain = (
            token.kind in ("word", "text")
            and token.text not in FUNCTIONS
            and token.text not in CONSTANT_WORDS
        )
        return self.at("(") and plain and (token.kind == "text" or not is_product_of_letters(token.text))

    def expect(self, *symbols: str) -> Token:
        """Take one of these symbols or raise ``UnreadableError``."""
        if not self.at(*symbols):
            raise UnreadableError(f"expected {' or '.join(symbols)}, found {self.peek().text!r}")
        return self.take()

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count one level of nesting; raise ``UnreadableError`` beyond the bound."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise UnreadableError("nested deeper than is read")
        try:
            yield
        finally:
            self._depth -= 1

    def raw_until(self, closing: str, opening: str) -> str:
        """Take tokens up to the matching ``closing`` and return their text without blanks."""
        pieces: list[str] = []
        depth = 1
        while self.peek().kind != "end":
            token = self.take()
            if token.kind == "sym" and token.text == opening:
                depth += 1
            elif token.kind == "sym" and token.text == closing:
                depth -= 1
                if depth == 0:
                    return "".join(pieces)
            pieces.append(str(token.value) if token.kind == "num" else token.text)
        raise UnreadableError(f"no {closing} to close {opening}")


class Reader(TokenCursor):
    """What the parts of the reader offer each other; each part is a class above this one."""

    bars = 0
    letter_units = False

    def read_items(self, *closing: str) -> Node:
        """Read items separated by commas and words, up to a closing symbol, which stays."""
        raise NotImplementedError

    def read_set(self) -> Node:
        """Read a set in braces."""
        raise NotImplementedError

    def read_sum(self) -> Node:
        """Read products joined by plus, minus and plus-minus."""
        raise NotImplementedError

    def read_product(self) -> Node:
        """Read factors joined by signs or side by side."""
        raise NotImplementedError

    def read_factor(self) -> Node:
        """Read an atom with what is written behind it."""
        raise NotImplementedError

    def read_beside(self, left: Node) -> Node:
        """Join a factor that stands beside ``left``."""
        raise NotImplementedError

    def starts_factor(self) -> bool:
        """Tell whether a factor comes."""
        raise NotImplementedError

    def read_atom(self) -> Node:
        """Read a number, a name, a function's value or a bracket."""
        raise NotImplementedError

    def read_argument(self, whole_number: bool = False) -> Node:
        """Read a command's argument: a braced one, or one token; an unbraced number gives one digit."""
        raise NotImplementedError

    def read_bracketed(self) -> Node:
        """Read what stands in brackets."""
        raise NotImplementedError

    def read_call(self, name: str, *, whole_radicand: bool = False) -> Node:
        """Read a function with its exponent, index and argument."""
        raise NotImplementedError

    def read_series(self, name: str) -> Node:
        """Read a sum or product over a range."""
        raise NotImplementedError

    def read_environment(self) -> Node:
        """Read a matrix."""
        raise NotImplementedError
