"""Parts of one answer come in; where they are one number written in several ways, one of them goes out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

_FRACTION = re.compile(
    r"(?P<sign>[-−]?)(?:(?P<whole>\d{1,9})\s*(?=\\|\s))?(?:\\[dt]?frac\s*\{\s*(?P<top>\d{1,9})\s*\}\s*\{\s*(?P<bottom>\d{1,9})\s*\}|\s*(?P<plain_top>\d{1,9})\s*/\s*(?P<plain_bottom>\d{1,9}))"
)
_DECIMAL = re.compile(r"(?P<sign>[-−]?)(?P<digits>\d{1,12}(?:\.\d{1,12})?|\.\d{1,12})\s*(?P<percent>\\?%)?")
_OR = re.compile(r"\s*,?\s*(?:\bor\b|\bi\.e\.|\\text\s*\{\s*,?\s*or\s*\})\s*")


def one_of_equals(parts: Sequence[str]) -> str | None:
    """Return one of ``parts`` where all are the same number (the first that is no percentage), else None."""
    numbers = [_read_number(part) for part in parts]
    if len(parts) < 2 or None in numbers or len(set(numbers)) != 1:
        return None
    plain = [part for part in parts if "%" not in part]
    return (plain or list(parts))[0]


def drop_restatement(answer: str) -> str:
    """Reduce "1/2 or 50%" to one of its ways of writing; leave "3 or 5" as it is."""
    if len(answer) > 80 or ("or" not in answer and "i.e." not in answer):
        return answer
    parts = [part.strip().strip("$") for part in _OR.split(answer)]
    return one_of_equals(parts) or answer


def _read_number(text: str) -> Fraction | None:
    stripped = text.strip()
    fraction = _FRACTION.fullmatch(stripped)
    if fraction:
        top, bottom = fraction["top"] or fraction["plain_top"], fraction["bottom"] or fraction["plain_bottom"]
        if int(bottom) == 0:
            return None
        value = Fraction(int(fraction["whole"] or 0)) + Fraction(int(top), int(bottom))
        return -value if fraction["sign"] else value
    decimal = _DECIMAL.fullmatch(stripped)
    if decimal is None:
        return None
    value = Fraction(decimal["digits"]) / (100 if decimal["percent"] else 1)
    return -value if decimal["sign"] else value
