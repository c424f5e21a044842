"""A cleaned answer in, what its outer form marks it as out: base numeral, time, choice letter, remainder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

_FROM_TWO = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_BASE_WORDS = {word: base for base, word in enumerate(_FROM_TWO.split(), start=2)}
_NUMERAL = re.compile(
    r"^\(?\{?(?P<digits>[0-9A-Za-z](?:[0-9A-Za-z,.]|\\!)*?)\}?\)?"
    r"(?:_\{?\(?(?P<index>\d{1,2}|[a-z]+)\)?\}?|[,(]?(?:in)?base-?(?P<spoken>\d{1,2}|[a-z]+)\)?)$"
)
_CLOCK = re.compile(
    r"^(?P<hour>\d{1,2})\s*\{?:\}?\s*(?P<minute>[0-5]\d)(?:\s*(?P<half>[ap])\.?\s*m\.?)?$", re.IGNORECASE
)
_CHOICE = re.compile(
    r"^(?:(?:option|choice|answer|letter)\s*:?\s*)?(?P<open>[(\[])?\s*(?P<letter>[A-Ja-j])\s*(?P<close>[)\]])?(?P<rest>.*)$",
    re.DOTALL | re.IGNORECASE,
)
_REMAINDER = re.compile(
    r"^(?P<whole>-?\d+)\s*,?\s*(?:R|r|rem(?:ainder)?\.?|with (?:a )?remainder(?: of)?)\s*(?P<rest>\d+)$"
)
_MARKUP = re.compile(
    r"\\(?:text(?:bf|rm|it|sf|tt)?|mbox|mathrm|mathbf|mathit|mathsf|boxed|operatorname)\s*\{"
)


@dataclass(frozen=True)
class BaseNumeral:
    """Digits written in a base."""

    digits: str
    base: int

    @property
    def value(self) -> Fraction:
        """The number that the numeral writes."""
        whole, _, part = self.digits.partition(".")
        return Fraction(int(whole + part, self.base), self.base ** len(part))


@dataclass(frozen=True)
class Clock:
    """A time of day; ``half`` is a, p or empty."""

    hour: int
    minute: int
    half: str

    @property
    def in_24_hours(self) -> tuple[int, int]:
        """Hour and minute after midnight."""
        if not self.half:
            return self.hour, self.minute
        return self.hour % 12 + (12 if self.half == "p" else 0), self.minute


def base_numeral(clean: str) -> BaseNumeral | None:
    """Read ``2516_8``, ``(2516)_{8}`` or ``2516 base 8``; the last side of an equation counts."""
    if len(clean) > 400 or ("_" not in clean and "base" not in clean):
        return None
    text = re.sub(r"\s|\{,\}", "", without_markup(clean.rsplit("=", 1)[-1]))
    match = _NUMERAL.match(text)
    if not match:
        return None
    word = match["index"] or match["spoken"]
    base = int(word) if word.isdigit() else _BASE_WORDS.get(word, 0)
    digits = re.sub(r"[,\\!]", "", match["digits"]).upper()
    if not 2 <= base <= 36 or digits.count(".") > 1 or (len(digits) == 1 and digits.isalpha()):
        return None
    if not all(sign == "." or int(sign, 36) < base for sign in digits):
        return None
    return BaseNumeral(digits.lstrip("0") or "0", base)


def clock(clean: str) -> Clock | None:
    """Read a time of day such as ``5:30`` or ``5:30 p.m.``."""
    match = _CLOCK.match(re.sub(r"\s+", " ", without_markup(clean.replace("\\colon", ":"))).strip())
    if not match or int(match["hour"]) > 24:
        return None
    return Clock(int(match["hour"]), int(match["minute"]), (match["half"] or "").lower())


def without_markup(text: str) -> str:
    r"""Return the text without ``\text{}`` and its like; what stood inside stays."""
    found = re.sub(r"\\[,;:! ]|~", " ", text)
    while match := _MARKUP.search(found):
        depth, place = 1, match.end()
        while place < len(found) and depth:
            depth += {"{": 1, "}": -1}.get(found[place], 0)
            place += 1
        found = found[: match.start()] + found[match.end() : place - (0 if depth else 1)] + found[place:]
    return found.replace("\\left", "").replace("\\right", "")


def choice_letter(text: str, clean: str, *, gold: bool = False) -> str | None:
    """Return the letter of a multiple-choice answer, as written; None where the text names none or several.

    A gold is a choice only where it stands in brackets, in text, or alone as one of A to E.
    """
    plain = without_markup(clean).strip(" .$*")
    if gold:
        match = re.fullmatch(r"\(([A-J])\)|([A-E])", plain)
        return (match[1] or match[2]) if match else None
    match = _CHOICE.match(plain)
    if not match:
        return None
    rest = match["rest"].strip()
    if match["open"] and not match["close"]:
        return None
    separated = bool(match["close"]) or match["rest"][:1] in (" ", ".", ":", "\n", "")
    readable = bool(re.match(r"^[.:)]?\s*\(?[A-Za-z$\\\d]", rest)) or not rest.strip(".:) ")
    if rest and not (separated and readable):
        return None
    if re.search(r"\b(?:or|and|not)\b|\([A-Ja-j]\)|(?:^|[\s,])[B-HJ](?![\w'])", rest) or "=" in rest:
        return None
    return match["letter"]


def remainder(clean: str) -> tuple[int, int] | None:
    """Read a quotient with its remainder, such as ``3 R 2``."""
    match = _REMAINDER.match(re.sub(r"\s+", " ", without_markup(clean)).strip())
    return (int(match["whole"]), int(match["rest"])) if match and len(match[0]) < 60 else None
