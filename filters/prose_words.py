"""A text comes in; the words in it that are neither mathematics nor units go out."""

from __future__ import annotations

import re

from .sentences import mask_math

_TEXT_GROUP = re.compile(r"\\(?:text|mbox|textbf|mathrm)\s?\{[^{}\n]*\}")
_UNIT_WORD = re.compile(
    r"(?:square|cubic|sq|cu|inch(?:es)?|in|feet|foot|ft|yards?|yd|miles?|mi|mph|met(?:er|re)s?|m|cm|mm|km"
    r"|centimet(?:er|re)s?|kilomet(?:er|re)s?|millimet(?:er|re)s?|grams?|kg|kilograms?|pounds?|lbs?"
    r"|ounces?|oz|tons?|lit(?:er|re)s?|ml|gallons?|quarts?|pints?|seconds?|sec|s|minutes?|mins?|hours?"
    r"|hrs?|days?|weeks?|months?|years?|dollars?|cents?|euros?|degrees?|radians?|percent|units?|per|pm|am"
    r"|noon|calories|a\.m|p\.m|and|or|pi|sqrt|infinity|mod|sin|cos|tan|cot|sec|csc|ln|log|theta|base|to)",
    re.IGNORECASE,
)


def prose_words(text: str) -> list[str]:
    """Return the words of ``text`` outside mathematics that name no unit."""
    bare = re.sub(r"\\[A-Za-z]+", " ", mask_math_and_text(text))
    return [
        word for word in re.findall(r"[^\W\d_]{2,}(?:\.[^\W\d_])?", bare) if not _UNIT_WORD.fullmatch(word)
    ]


def mask_math_and_text(text: str) -> str:
    """Overwrite mathematics, and words inside it, so that no turn of speech is found there."""
    return _TEXT_GROUP.sub(lambda group: "\x1a" * len(group.group()), mask_math(text))
