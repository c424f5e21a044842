"""A phrase set in bold comes in; whether it reads as a result, not as a label or heading, goes out."""

from __future__ import annotations

import re

from .answer_words import REFUSAL

_REFUSAL = re.compile(REFUSAL, re.IGNORECASE)
_HEADING = re.compile(
    r"[^\w]*(?:step|part|case|note|solution|answer|final|verification|check|method|approach|given"
    r"|explanation|conclusion|summary|problem|question|difficulty|topic|hint|remark|proof|result|key"
    r"|important|example|therefore|thus|so|hence|not|definition|theorem|formula|analysis|understanding"
    r"|reasoning|calculation)\b",
    re.IGNORECASE,
)
_MAX_WORDS = 4


def is_result_phrase(phrase: str) -> bool:
    """Say whether ``phrase`` is short, says something, and neither labels, heads nor refuses."""
    if phrase.rstrip().endswith((":", "：", "?")) or _HEADING.match(phrase) or _REFUSAL.search(phrase):
        return False
    return bool(re.search(r"\w", phrase)) and len(phrase.split()) <= _MAX_WORDS
