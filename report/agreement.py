"""A grader's accepts and a reader's decisions in, their agreement and Cohen's kappa out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """How one grader agrees with the reading; ``kappa`` is NaN where chance alone would agree always."""

    items: int
    agreed: int
    share: float
    kappa: float
    false_accepts: int
    false_rejects: int


def cohens_kappa(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Give Cohen's kappa of two raters over the same items (Cohen 1960); NaN if chance agreement is 1."""
    if len(first) != len(second):
        raise ValueError(f"first has {len(first)} items and second {len(second)}: they must be the same")
    if not len(first):
        raise ValueError("first and second are empty: at least 1 item is needed")
    items = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / items
    yes_a, yes_b = sum(first) / items, sum(second) / items
    chance = yes_a * yes_b + (1 - yes_a) * (1 - yes_b)
    return math.nan if chance == 1 else (observed - chance) / (1 - chance)


def agreement(accepted: Sequence[bool], read_right: Sequence[bool]) -> Agreement:
    """Compare a grader's accepts with the reader's decisions, item by item."""
    kappa = cohens_kappa(accepted, read_right)
    pairs = list(zip(accepted, read_right, strict=True))
    agreed = sum(a == b for a, b in pairs)
    return Agreement(
        items=len(pairs),
        agreed=agreed,
        share=agreed / len(pairs),
        kappa=kappa,
        false_accepts=sum(a and not b for a, b in pairs),
        false_rejects=sum(b and not a for a, b in pairs),
    )
