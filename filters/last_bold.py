"""A reply's prose comes in; the last phrase that it sets in bold as a result goes out."""

from __future__ import annotations

import re

from .final_paragraph import is_aside
from .result_phrases import is_result_phrase
from .sentences import split_paragraphs, split_sentences
from .trim_answer import trim_answer

_TAIL = 6000
_BOLD = re.compile(r"\*\*(?P<stars>[^*\n]{1,200})\*\*|__(?P<lines>[^_\n]{1,200})__")


def last_bold_phrase(text: str) -> str | None:
    """Return the last bold phrase of the final paragraph that is no label or refusal; None without one."""
    paragraphs = [found for found in split_paragraphs(text[-_TAIL:]) if not is_aside(found)]
    if not paragraphs:
        return None
    for sentence in reversed(split_sentences(paragraphs[-1])):
        if is_aside(sentence) or sentence.rstrip("*_ ").endswith("?"):
            continue
        for bold in reversed(list(_BOLD.finditer(sentence))):
            phrase = (bold["stars"] or bold["lines"]).strip()
            if is_result_phrase(phrase) and sentence[bold.end() :].lstrip()[:1] not in (":", "："):
                return trim_answer(phrase)
    return None
