"""A cleaned answer in, its tokens out: digit groups joined, commands under one name, words whole."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from .answer_text import closing_brace
from .math_nodes import UnreadableError
from .math_words import words

MOST_TOKENS = 1200
LONGEST_NUMBER = 1500


@dataclass(frozen=True)
class Token:
    """One token: ``kind`` is num, letter, word, text, cmd or sym; ``spaced`` tells of a blank in front."""

    kind: str
    text: str
    spaced: bool = False
    value: Fraction = Fraction(0)
    digits: str = ""


@dataclass(frozen=True)
class Spelling:
    """How commas and blanks between digits are to be read."""

    grouped_commas: bool = True
    grouped_blanks: bool = False
    decimal_comma: bool = False


_SPACE = re.compile(
    r"(?:\s|~|\\[,;:!> ]|\\(?:q?quad|left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|limits|nolimits"
    r"|allowbreak|hfill|rm|bf|it|normalsize|large|Large|thinspace|enspace|,)(?![a-zA-Z])"
    r"|\\[hv]space\*?\{[^{}]*\}|\\[hv]?phantom\{[^{}]*\}|\\color\{\w+\})+"
)
_TEXT = re.compile(
    r"\\(?P<command>text(?:bf|rm|it|sf|tt|sc|normal|color\{\w+\})?|mbox|hbox|mathrm|mathbf|mathit|mathsf|mathtt"
    r"|operatorname|boldsymbol|bm|boxed|emph|underline|textup)\*?\s*(?=\{)"
)
_COMMAND = re.compile(r"\\[a-zA-Z]+|\\.", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")
_JOINED_WORDS = re.compile(r"^(.*\S)[\s,]+(and|or)$")
_SYMBOL = re.compile(r"<=|>=|=>|!=|<>|==|\*\*|\+/-|->|\.\.\.+|(?s:.)")
_GLUED = re.compile(r"\\(sin|cos|tan|cot|sec|csc|ln|log)([a-gi-z])")
_DIGITS = re.compile(r"\d+")
_GROUP_SAFE = re.compile(r"(?:,\\!|\{,\}|,\{\}|\\!|\\,|\\:|\\;|~|\\ )\s*(\d{3})(?!\d)")
_GROUP_COMMA = re.compile(r"(?:,\\,|,)(\d{3})(?!\d)")
_GROUP_BLANK = re.compile(r" +(\d{3})(?!\d)")
_DECIMALS = re.compile(r"\.(\d(?:(?:\\[,!;:]|\{,\})?\d)*)?")
_COMMA_DECIMALS = re.compile(r"(?:,|\{,\})(\d+)(?!\d)")
_REPEATING = re.compile(r"\\(?:overline|bar|dot|overset\{\\cdot\})\s*(?:\{\s*(\d+)\s*\}|(\d))")
_TENS = re.compile(r"[eE]([+-]?\d{1,5})(?![\d.A-Za-z])")
_NOT_DIGIT = re.compile(r"\D")

_SAME = {
    "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "sfrac": "frac", "leq": "<=", "le": "<=",
    "leqslant": "<=",
    "leqq": "<=", "geq": ">=", "ge": ">=", "geqslant": ">=", "geqq": ">=", "ne": "!=", "neq": "!=",
    "lt": "<",
    "gt": ">", "cdot": "*", "times": "*", "ast": "*", "div": "/", "lvert": "|", "rvert": "|", "vert": "|",
    "mid": "|", "lVert": "|", "rVert": "|", "backslash": "setminus", "varnothing": "emptyset",
    "dots": "ldots",
    "cdots": "ldots", "dotsc": "ldots", "dotsb": "ldots", "degree": "circ", "degrees": "circ", "%": "%",
    "$": "dollar",
    "land": "and", "wedge": "and", "lor": "or", "vee": "or", "approxeq": "approx", "simeq": "approx",
    "to": "->",
    "rightarrow": "->", "imath": "i", "dbinom": "binom", "tbinom": "binom", "vartheta": "theta",
    "varphi": "phi",
    "varepsilon": "epsilon", "#": "#", "&": "&", "_": "_", "lbrack": "[", "rbrack": "]", "lparen": "(",
    "rparen": ")", "colon": ":", "prime": "'", "Leftrightarrow": "=>", "Rightarrow": "=>", "implies": "=>",
    "iff": "=>", "lbrace": "{", "rbrace": "}", "coloneqq": "=",
}  # fmt: skip
_AS_SYMBOLS = words("<= >= != < > * / | % & _ [ ] ( ) : ' => -> #")
_UNIT_OF_LETTERS = re.compile(r"[msghLNJWV](?:\s*/\s*[msghL])?(?:\s*\^?\{?-?[23]\}?)?")


def tokenize(text: str, spelling: Spelling) -> tuple[Token, ...]:
    """Split ``text`` into tokens; raise ``UnreadableError`` beyond the bounds on length and digits."""
    tokens: list[Token] = []
    place = depth = 0
    spaced = False
    while place < len(text):
        if len(tokens) > MOST_TOKENS:
            raise UnreadableError("more tokens than are read")
        space = _SPACE.match(text, place)
        if space:
            place, spaced = space.end(), True
            continue
        after_number = bool(tokens) and tokens[-1].kind == "num" and not spaced
        if text[place].isdigit() or (
            text[place] == "." and _starts_decimal(text, place) and not after_number
        ):
            indexed = bool(tokens) and tokens[-1].kind == "sym" and tokens[-1].text in ("_", "^")
            token, place = _number(text, place, spelling, depth > 0 or indexed, spaced)
            tokens.append(token)
        else:
            found, place = _other(text, place, spelling, spaced)
            tokens.extend(found)
            depth += sum(_depth_change(token) for token in found)
        spaced = False
    return tuple(tokens)


def _starts_decimal(text: str, place: int) -> bool:
    match = _DECIMALS.match(text, place)
    return bool(match and (match[1] or _REPEATING.match(text, match.end())))


def _depth_change(token: Token) -> int:
    if token.kind == "sym" and token.text in ("(", "[", "\\{"):
        return 1
    return -1 if token.kind == "sym" and token.text in (")", "]", "\\}") else 0


def _number(text: str, place: int, spelling: Spelling, inside: bool, spaced: bool) -> tuple[Token, int]:
    """Read a number literal with its digit groups, decimals, repeating part and power of ten."""
    whole, place = _whole_part(text, place, spelling, inside)
    fraction = repeating = ""
    match = _DECIMALS.match(text, place)
    point = bool(match and (match[1] or _REPEATING.match(text, match.end())))
    if match and point:
        fraction, place = _NOT_DIGIT.sub("", match[1] or ""), match.end()
    elif spelling.decimal_comma and (match := _COMMA_DECIMALS.match(text, place)):
        fraction, place = match[1], match.end()
    if point and (match := _REPEATING.match(text, place)):
        repeating, place = match[1] or match[2], match.end()
        if place < len(text) and text[place].isdigit():
            raise UnreadableError("digits after a repeating part")
    if len(whole) + len(fraction) + len(repeating) > LONGEST_NUMBER:
        raise UnreadableError("more digits than are read")
    value = Fraction(int((whole or "0") + fraction), 10 ** len(fraction))
    if repeating:
        value += Fraction(int(repeating), (10 ** len(repeating) - 1) * 10 ** len(fraction))
    if fraction and (match := _TENS.match(text, place)):
        if abs(int(match[1])) > LONGEST_NUMBER:
            raise UnreadableError("a power of ten beyond the bound")
        value, place = value * Fraction(10) ** int(match[1]), match.end()
    padded = "padded" if len(whole) > 1 and whole.startswith("0") else "integer"
    form = "repeating" if repeating else "decimal" if fraction else padded
    return Token("num", form, spaced, value, "" if fraction or repeating else whole), place


def _whole_part(text: str, place: int, spelling: Spelling, inside: bool) -> tuple[str, int]:
    match = _DIGITS.match(text, place)
    if not match:
        return "", place
    whole, place = match[0], match.end()
    if not whole.isascii():
        raise UnreadableError("digits of another script")
    if len(whole) > 3 or whole.startswith("0"):
        return whole, place
    patterns = [_GROUP_SAFE]
    if spelling.grouped_commas and not inside:
        patterns.append(_GROUP_COMMA)
    if spelling.grouped_blanks and not inside:
        patterns.append(_GROUP_BLANK)
    for pattern in patterns:
        rest, end = "", place
        while group := pattern.match(text, end):
            rest, end = rest + group[1], group.end()
        if rest:
            return whole + rest, end
    return whole, place


def _other(text: str, place: int, spelling: Spelling, spaced: bool) -> tuple[list[Token], int]:
    """Read a text command, a command, a word or a symbol."""
    match = _TEXT.match(text, place)
    if match:
        end = closing_brace(text, match.end())
        if end < 0:
            raise UnreadableError("a text without an end")
        return _text_tokens(text[match.end() + 1 : end], spelling, spaced), end + 1
    match = _COMMAND.match(text, place)
    if match:
        glued = _GLUED.fullmatch(match[0])
        if glued:
            return [Token("cmd", glued[1], spaced), Token("letter", glued[2])], match.end()
        return [_command(match[0], spaced)], match.end()
    match = _WORD.match(text, place)
    if match:
        kind = "letter" if len(match[0]) == 1 else "word"
        return [Token(kind, match[0], spaced)], match.end()
    match = _SYMBOL.match(text, place)
    symbol = match[0] if match else ""
    plain = {"**": "^", "==": "=", "<>": "!=", "=>": "=>", "+/-": "pm"}.get(symbol, symbol)
    if plain.startswith("..."):
        plain = "ldots"
    kind = "cmd" if plain in ("pm", "ldots") else "sym"
    return [Token(kind, plain, spaced)], place + len(symbol)


def _text_tokens(content: str, spelling: Spelling, spaced: bool) -> list[Token]:
    r"""Tell words from mathematics set in ``\text``: words stay whole, mathematics is read as such."""
    stripped = content.strip().strip("~")
    bare = re.sub(r"\\[,;:! ]|~", " ", stripped).strip()
    if re.search(r"[A-Za-z]{2,}", _COMMAND.sub("", bare)) or _UNIT_OF_LETTERS.fullmatch(bare):
        spaced = spaced or content != content.lstrip()
        joined = _JOINED_WORDS.match(bare)
        if joined:
            return [Token("text", joined[1], spaced), Token("text", joined[2], True)]
        return [Token("text", bare, spaced)]
    if not bare.strip(".,; "):
        return [Token("sym", ",", spaced)] if "," in bare else []
    first, *rest = tokenize(stripped, spelling)
    return [replace(first, spaced=first.spaced or spaced), *rest]


def _command(command: str, spaced: bool) -> Token:
    if command in ("\\{", "\\}", "\\\\", "\\cr"):
        return Token("sym", "\\\\" if command == "\\cr" else command, spaced)
    name = command[1:]
    name = _SAME.get(name, name)
    if name in ("{", "}"):
        return Token("sym", "\\" + name, spaced)
    return Token("sym" if name in _AS_SYMBOLS else "cmd", name, spaced)
