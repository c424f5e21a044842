"""An answer and a gold in, ``right`` out where the MATH repository's normalization makes them the same text.

The rules, their order and their quirks are those of ``modeling/math_equivalence.py`` in the repository
hendrycks/math (Hendrycks et al., *Measuring Mathematical Problem Solving With the MATH Dataset*, 2021), as
published at commit 08e65fc: a published score can be reproduced only with its quirks, so none is mended here.
"""

from __future__ import annotations

from .rows import Judgement, MathVerdict

_PLAIN_REPLACEMENTS = (
    ("\n", ""),
    ("\\!", ""),
    ("\\\\", "\\"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
    ("^{\\circ}", ""),
    ("^\\circ", ""),
    ("\\$", ""),
)
_UNIT_MARK = "\\text{ "
_LONGEST_NAME = 2


def grade(answer: str, gold: str) -> Judgement:
    """Compare two texts after normalization; where either cannot be normalized, compare them as they are."""
    try:
        read_answer, read_gold = normalized(answer), normalized(gold)
        comparison = "equal_normalized_text"
    except _NotNormalizableError:
        read_answer, read_gold = answer, gold
        comparison = "equal_text"
    verdict = MathVerdict.RIGHT if read_answer == read_gold else MathVerdict.WRONG
    return Judgement(
        verdict, kind="text", comparison=comparison, read_answer=read_answer, read_gold=read_gold
    )


def normalized(text: str) -> str:
    """Return ``text`` in the one spelling that the MATH repository compares.

    Raises ``_NotNormalizableError`` where the published code ends in an exception of its own.
    """
    for old, new in _PLAIN_REPLACEMENTS:
        text = text.replace(old, new)
    text = _without_unit(text)
    text = text.replace("\\%", "").replace("%", "")
    text = text.replace(" .", " 0.").replace("{.", "{0.")
    if not text:
        return text
    if text.startswith("."):
        text = "0" + text
    text = _without_short_name(text)
    text = _braced_roots(text).replace(" ", "")
    text = _braced_fractions(text)
    if text == "0.5":
        text = "\\frac{1}{2}"
    return _slash_as_fraction(text)


class _NotNormalizableError(Exception):
    """The published normalization fails on this text and falls back to the text itself."""


def _without_unit(text: str) -> str:
    if _UNIT_MARK not in text:
        return text
    parts = text.split(_UNIT_MARK)
    if len(parts) != 2:
        raise _NotNormalizableError(text)
    return parts[0]


def _without_short_name(text: str) -> str:
    """Drop ``k =`` in front; the blank before the sign counts as one of the two characters allowed."""
    sides = text.split("=")
    if len(sides) == 2 and len(sides[0]) <= _LONGEST_NAME:
        return sides[1]
    return text


def _braced_roots(text: str) -> str:
    first, *rest = text.split("\\sqrt")
    pieces = [first]
    for part in rest:
        if not part:
            raise _NotNormalizableError(text)
        pieces.append("\\sqrt" + (part if part[0] == "{" else "{" + part[0] + "}" + part[1:]))
    return "".join(pieces)


def _braced_fractions(text: str) -> str:
    r"""Brace the arguments of ``\frac12`` and ``\frac1{72}``; a fraction with one character left stays."""
    first, *rest = text.split("\\frac")
    pieces = [first]
    for part in rest:
        if not part:
            raise _NotNormalizableError(text)
        if part[0] == "{":
            pieces.append("\\frac" + part)
        elif len(part) < 2:
            return text
        elif part[1] == "{":
            pieces.append("\\frac{" + part[0] + "}" + part[1:])
        else:
            pieces.append("\\frac{" + part[0] + "}{" + part[1] + "}" + part[2:])
    return "".join(pieces)


def _slash_as_fraction(text: str) -> str:
    parts = text.split("/")
    if len(parts) != 2 or max(len(part) for part in parts) > _LONGEST_NUMBER:
        return text
    try:
        above, below = int(parts[0]), int(parts[1])
    except ValueError:
        return text
    return f"\\frac{{{above}}}{{{below}}}" if text == f"{above}/{below}" else text


# CPython refuses to read longer integers, and the published code then leaves the text as it is.
_LONGEST_NUMBER = 4300
