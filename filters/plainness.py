"""A sentence and an expression in it come in; how plainly the sentence states the expression goes out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .bare_math import Candidate

# Ratings. A stating word leads to the expression; it counts something out; its form or place suggests it.
STATED, COUNTED_OUT, SUGGESTED, MENTIONED = 3, 2, 1, 0

_FILL = (
    r"(?:\s*(?:approximately|about|roughly|around|exactly|simply|just|only|therefore|thus|then|also|now"
    r"|either|both|all|the|a|an|point|interval|number|numbers|value|values|vector|matrix|fraction|set"
    r"|ordered (?:pair|triple)|line|equation|option|choice|integers?|total(?: of)?|at (?:most|least)"
    r"|equal to|given by|found to be|represented by|indeed|always|still|clearly|expression|inequality"
    r"|coordinates|sum|product|real|polynomial|function|prime|angle|and only|and|\$)\b|\s*\$)*"
)
_STATES = re.compile(
    r"(?:(?<![^\W_])(?:is|are|was|were|be|been|equals?|equal(?:s|ing)? to|get|gets|gives?(?: us)?"
    r"|giving(?: us)?|obtain|found|yields?|yielding|becomes?|(?:comes?|came) (?:out )?to|totals?|measures?"
    r"|leaves?|leaving|(?:simplif(?:y|ies)|reduces?|evaluates?|rounds?|amounts?|adds up|sums|boils down"
    r"|converts?|works out|expands?|factors?|left|corresponds?|leads?|equivalent|simplified"
    r"|equates?) (?:us )?(?:to|with)|being|namely|that is|i\.e\.|in other words|conclude(?: that)?|implies"
    r"|means(?: that)?|costs?|needs?|takes?|must take|earns?|left with|ist|sind|es|son|est|sont|vaut|é|são"
    r"|è|sono|betr[äa]gt|lautet|jest|равно|равен|равна|ergibt|hay|existen|tiene|gibt es|or simply)"
    r"|[:：=≈→]|\\approx|是|为|為|等于|得|有|共|は|이|은)[,\s]*" + _FILL + r"[\s(*_`]*$",
    re.IGNORECASE,
)
_CONSEQUENCE = re.compile(r"(?<![^\W_])(?:so|thus|hence|whence|therefore)[,\s$(*]*$", re.IGNORECASE)
_WEAK_STATES = re.compile(
    r"(?<![^\W_])(?:as|at|of|has|have|had|so|thus|hence|whence|therefore|find|makes?)[,\s]*"
    + _FILL
    + r"[\s(*_`]*$",
    re.I,
)
_THERE = re.compile(
    r"(?<![^\W_])(?:there (?:are|is|were|will be|would be|must be|remain)|(?:we|they|it|he|she"
    r"|you) (?:have|has|had|needs?|can))\s+(?:\w+ly |a total of |only |at least |at most |about |just )*$",
    re.IGNORECASE,
)
# A whole number before what it counts: "36 different pizzas", "passes through 10 lattice points".
_COUNTED = re.compile(
    r"\$?\s(?:different|distinct|possible|unique|such|more|ways|[a-z]+ [a-z]+s\b|[a-z]+s\b|feet\b|people\b"
    r"|children\b|men\b|women\b|pieces\b)",
    re.IGNORECASE,
)
_DIFFERENT = re.compile(r"\$?\s(?:different|distinct|possible|unique|ways)\b", re.IGNORECASE)
_WAYS = re.compile(r"\$?\s(?:(?:different|distinct|possible|unique) )?ways\b", re.IGNORECASE)
_REJECTED = re.compile(
    r"[\s,$)]*(?:which )?(?:(?:is|are|was|were) not\b(?! only)|(?:is|are|was|were|can be|must be"
    r"|being)\s(?:an? )?(?:extraneous|rejected|invalid|impossible|discarded|ignored|excluded|not (?:valid"
    r"|possible|allowed|a solution|in the domain|permitted)|ruled out|too (?:small|large|big))|(?:does not"
    r"|doesn't|cannot|can't|fails to) (?:work|hold|satisfy|be))\b",
    re.IGNORECASE,
)
_REJECTING = re.compile(
    r"\b(?:reject(?:ing)?|discard(?:ing)?|ignor(?:e|ing)|exclud(?:e|ing)|except(?: for)?|rather than"
    r"|instead of|not|the (?:square root|cube root|square|cube|half|sum|difference|product|quotient"
    r"|reciprocal|negative|opposite|logarithm) of)[\s$(*]*$",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:will|would|can|could|must|should|did|does)(?: have)?(?: to)? [a-z]+\s*(?:about |exactly "
    r"|up to )?[$(*]*$"
)
_IS_THE = re.compile(
    r"[\s$)]*(?:is|are|was|were) the (?:only|smallest|largest|least|greatest|desired|required|correct"
    r"|final|total|maximum|minimum|number|value|result)\b",
    re.IGNORECASE,
)
_OWN_RELATION = re.compile(r"[A-Za-z\d)}]\s*(?:=|∈|\\in\b)\s*\S")


def rate(sentence: str, candidates: Sequence[Candidate], number: int) -> int:
    """Rate how plainly the words around candidate ``number`` state it as the sentence's result."""
    found = candidates[number]
    before = sentence[max(0, found.start - 60, candidates[number - 1].end if number else 0) : found.start]
    if _THERE.search(before) or _IS_THE.match(sentence, found.end):
        return STATED
    if _STATES.search(before):
        return STATED
    if found.mark == "bare" and before.endswith("$"):
        return COUNTED_OUT
    whole = _is_whole(found)
    if whole and _DIFFERENT.match(sentence, found.end):
        return COUNTED_OUT
    if _WEAK_STATES.search(before):
        follows = number > 0 and "=" in found.text and _CONSEQUENCE.search(before)
        return STATED if follows else SUGGESTED
    counts = whole and _COUNTED.match(sentence, found.end)
    return SUGGESTED if counts or _MODAL.search(before) or _OWN_RELATION.search(found.text) else MENTIONED


def _is_whole(found: Candidate) -> bool:
    return found.text.strip().replace(",", "").isdigit()


def first_counted(sentence: str, candidates: Sequence[Candidate], pool: Sequence[int]) -> int | None:
    """Return the candidate of ``pool`` that counts ways, else the first that counts different things."""
    for pattern in (_WAYS, _DIFFERENT):
        for number in pool:
            if pattern.match(sentence, candidates[number].end):
                return number
    for number in pool:
        start = candidates[number].start
        if _is_whole(candidates[number]) and _THERE.search(sentence[max(0, start - 40) : start]):
            return number
    return None


def is_rejected(sentence: str, found: Candidate) -> bool:
    """Say whether the words around a candidate turn it down ("... is extraneous", "we reject ...")."""
    after = _REJECTED.match(sentence, found.end)
    return (
        after is not None or _REJECTING.search(sentence[max(0, found.start - 30) : found.start]) is not None
    )
