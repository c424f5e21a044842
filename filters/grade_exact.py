"""An answer and a gold in, ``right`` out where they are the same text after trimming."""

from __future__ import annotations

from .rows import Judgement, MathVerdict


def grade(answer: str, gold: str) -> Judgement:
    """Compare two texts character by character, white space at both ends aside."""
    read_answer, read_gold = answer.strip(), gold.strip()
    verdict = MathVerdict.RIGHT if read_answer == read_gold else MathVerdict.WRONG
    return Judgement(
        verdict, kind="text", comparison="equal_text", read_answer=read_answer, read_gold=read_gold
    )
