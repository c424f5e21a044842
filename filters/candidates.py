"""One sentence comes in; the expressions in it that might be its result go out, with how each is marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .bare_math import Candidate, find_bare
from .equations import is_symbol
from .math_spans import find_math
from .sentences import mask_math

_BOLD = re.compile(r"(?P<mark>\*\*|__)(?P<content>[^\n*](?:[^\n]{0,300}?[^\n*\\])??)(?P=mark)")
_CODE = re.compile(r"`(?P<content>[^`\n]{1,120})`")
_LABEL_WORDS = re.compile(
    r"[^\w]*(?:note|step|solution|answer|verification|check|difficulty|topic|hint|remark|explanation"
    r"|result|conclusion|proof|given|final|case|part|example|method|approach|summary|rule|formula|key"
    r"|definition|theorem|important|reasoning|thus|therefore|hence|so|total|problem|subject|level"
    r"|confidence|source|注意|解|注)\b[^\d$\\]*$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"\W*(?:step|part|case|method|example|problem|question|section)s?\s*[\dA-Za-z]{1,2}\W*", re.I
)
_EMPTY_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{\s*\}|\\boxed(?![{\s\dA-Za-z])")
_CONTENT = re.compile(r"(?<!\\)\b[^\W_]|[^\x00-\x7f]|\\(?!q?quad|[,;:! ])[A-Za-z]")
_ORDINAL = re.compile(
    r"\d+\s?(?:st|nd|rd|th)|.*\^\s*\{?\s*(?:\\(?:text|mathrm|textrm)\s*\{)?\s*(?:st|nd|rd|th)\b.*"
)


def find_candidates(sentence: str) -> list[Candidate]:
    """Return the expressions of ``sentence`` in order: bold ones, delimited ones, code, and bare ones."""
    taken = [*_bold(sentence)]
    covered = _Cover(taken)
    for span in find_math(sentence):
        if _CONTENT.search(_EMPTY_BOX.sub("", span.body)) and not covered.overlaps(span.start, span.end):
            taken.append(Candidate(span.start, span.end, span.body, "math"))
    covered = _Cover(taken)
    masked = overwrite(mask_math(sentence), taken)
    for code in _CODE.finditer(masked):
        if re.search(r"\d", code["content"]) and not covered.overlaps(code.start(), code.end()):
            taken.append(Candidate(code.start(), code.end(), code["content"], "code"))
    masked = overwrite(masked, taken)
    taken.extend(find_bare(sentence, masked))
    found = (candidate for candidate in taken if not _is_label(candidate, sentence))
    return sorted(found, key=lambda candidate: candidate.start)


def is_ordinal(found: Candidate) -> bool:
    """Say whether an expression is a place in an order ("12th")."""
    return _ORDINAL.fullmatch(found.text.strip()) is not None


def is_weak(found: Candidate) -> bool:
    """Say whether an expression only names something ("$x$", "$AB$") or a place in an order ("12th")."""
    if is_ordinal(found):
        return True
    return found.mark in ("math", "bare") and (
        is_symbol(found.text)
        or bool(
            re.fullmatch(r"\s*\\(?:text|mathrm|angle|overline|triangle|vec)\W.*", found.text)
            and "=" not in found.text
            and not re.search(r"\d", found.text)
            and found.text.count("\\text") == 0
        )
    )


def _bold(sentence: str) -> Iterator[Candidate]:
    for bold in _BOLD.finditer(sentence):
        content = bold["content"].strip()
        if re.search(r"\d|[$\\π√∞]", content) or not content.endswith((":", "：")):
            yield Candidate(bold.start(), bold.end(), content, "bold")


def _is_label(found: Candidate, sentence: str) -> bool:
    if found.mark != "bold":
        return False
    if _NUMBERED.fullmatch(found.text):
        return True
    if found.text.rstrip().endswith((":", "：")) or sentence[found.end :].lstrip()[:1] in (":", "："):
        return not re.search(r"=", found.text)
    return bool(_LABEL_WORDS.match(found.text)) or not re.search(r"\d|[$\\π√∞]", found.text)


class _Cover:
    """The stretches of a sentence that are spoken for."""

    def __init__(self, taken: Sequence[Candidate]) -> None:
        self.stretches = [(found.start, found.end) for found in taken]

    def overlaps(self, start: int, end: int) -> bool:
        return any(start < other_end and other_start < end for other_start, other_end in self.stretches)


def overwrite(text: str, taken: Sequence[Candidate]) -> str:
    """Return ``text`` with the stretches of ``taken`` filled by a sign that no pattern looks for."""
    for found in taken:
        text = text[: found.start] + "\x1a" * (found.end - found.start) + text[found.end :]
    return text
