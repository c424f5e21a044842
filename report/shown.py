"""Shares in, the text that tables and pages print out: one place for every number's form."""

from __future__ import annotations

import math

from .statistics import Interval

NOTHING = "–"


def percent(share: float) -> str:
    """Write a share as a percentage with one decimal: 56.7."""
    return NOTHING if math.isnan(share) else f"{100 * share:.1f}"


def points(share: float) -> str:
    """Write a difference of shares in points, signed: −8.5."""
    if math.isnan(share):
        return NOTHING
    text = f"{100 * share:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text


def span(interval: Interval, *, signed: bool = False) -> str:
    """Write the bounds of an interval: 49.1–64.1, or with signs −12.8 to −4.3."""
    if math.isnan(interval.low):
        return NOTHING
    if signed:
        return f"{points(interval.low)} to {points(interval.high)}"
    return f"{percent(interval.low)}–{percent(interval.high)}"


def p_text(p_value: float) -> str:
    """Write a p-value: four decimals, or that it is smaller."""
    if math.isnan(p_value):
        return NOTHING
    return "< 0.0001" if p_value < 0.00005 else f"{p_value:.4f}"


def count(number: int) -> str:
    """Write a count; zero is a quiet dash."""
    return f"{number:,}" if number else NOTHING


def printable(text: str) -> str:
    """Replace what a terminal would act on: a model's text may hold escape sequences."""
    return "".join(sign if sign.isprintable() else "�" for sign in text)


def shorten(text: str, width: int) -> str:
    """Keep a text's first ``width`` characters on one line, with an ellipsis where it is longer."""
    text = printable(" ".join(text.split()))
    return text if len(text) <= width else text[: width - 1] + "…"
