"""One sentence comes in; the expression in it that states the result goes out, if it states one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .bare_math import Candidate
from .candidates import find_candidates, is_ordinal, is_weak, overwrite
from .equations import is_symbol, result_of
from .plainness import COUNTED_OUT, MENTIONED, STATED, SUGGESTED, first_counted, is_rejected, rate
from .restatements import one_of_equals
from .trim_answer import trim_answer

_MAX_SENTENCE = 4000
_TURN = re.compile(
    r"(?:[,;]?\s(?:since|because|where(?!as)|whereas|while|when(?:ever)?|if|rather than|instead of|not"
    r"|unlike|although|but not|as (?:desired|required|claimed|shown|expected|can be)|for (?:all|any|every"
    r"|each|which|some)|such that|after|before|out of)\b|,\swhich\b(?!\s(?:gives|yields|means|simplifies"
    r"|implies|equals|leads|reduces|comes|evaluates|is equal to|(?:is|are)(?: just| simply"
    r"| exactly)?\s\$?[-−\d\\(√]))|,\s(?:who|whose|with|as|making|meaning)\b|\s\((?=[a-z ]{3,})|\s[—–]\s)",
    re.IGNORECASE,
)
# A condition may stand before the statement itself: "f when x = 4 is 19".
_CONDITION = re.compile(r"[,;]?\s(?:when|if|where|for|after|before|out of|as|such that)\b", re.IGNORECASE)
# An approximation that repeats the exact value before it ("$5\\sqrt2$, or about $7.07$").
_ROUGHLY = re.compile(
    r"(?:[,(]|\bor)\s*(?:which is |that is |i\.e\.,? )?(?:approximately|about|roughly|around|nearly|almost"
    r"|close to|≈|\\approx)\s*\$?$",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"\s*(?:,|;|、|，)?\s*(?:\b(?:and|or|und|oder|et|ou|y|o|e|и|или|as well as)\b|和|或|与|及|,|;|、"
    r"|，)\s*(?:\$(?=\d))?",
    re.IGNORECASE,
)
_RELATION = re.compile(r"[=<>≤≥≈≡]|\\(?:leq?|geq?|lt|gt|equiv|approx|in|neq?)(?![A-Za-z])")

_NO_ORDER = frozenset({"=", "≡", "≈", "\\equiv", "\\approx", "\\in", "\\neq", "\\ne"})


@dataclass(frozen=True)
class Result:
    """The result of a sentence: its text, whether it stood in bold, and where in the sentence it ends.

    ``plainness`` rates how plainly the words around it state it; ``equation`` says that it was read off one.
    """

    text: str
    bold: bool
    end: int
    plainness: int
    equation: bool = False


def state_result(sentence: str, *, keep_assignment: bool = False) -> Result | None:
    """Choose the expression that ``sentence`` states as its result, with its value read and lists joined.

    A candidate that follows a stating word ("is", "equals", ":", "so") beats others, the last such one wins,
    and what follows a turn ("since ...", ", which is roughly ...") is not looked at once there is one.
    """
    sentence = sentence[-_MAX_SENTENCE:]
    candidates = [found for found in find_candidates(sentence) if not is_rejected(sentence, found)]
    ratings = [rate(sentence, candidates, number) for number in range(len(candidates))]
    limit = _turn_after_statement(sentence, candidates, ratings)
    if limit is not None:
        candidates = [found for found in candidates if found.end <= limit]
        ratings = ratings[: len(candidates)]
    number = _choose(sentence, candidates, ratings)
    if number is None:
        return None
    first, last = _list_around(sentence, candidates, number, ratings)
    chosen = candidates[number]
    result = _merge(candidates[first : last + 1], keep_assignment, ratings[number])
    return replace(result, equation="=" in chosen.text) if result else None


def _choose(sentence: str, candidates: Sequence[Candidate], ratings: Sequence[int]) -> int | None:
    strong = [n for n, found in enumerate(candidates) if not is_weak(found)]
    if not strong:
        named = [
            n
            for n, found in enumerate(candidates)
            if ratings[n] == STATED or (ratings[n] and is_ordinal(found))
        ]
        return named[-1] if named else None
    best = max(ratings[n] for n in strong)
    pool = [n for n in strong if ratings[n] == best]
    if best == MENTIONED:
        return pool[-1]
    exact = [n for n in pool if not _ROUGHLY.search(sentence[: candidates[n].start].rstrip())] or pool
    counted = first_counted(sentence, candidates, exact) if best >= COUNTED_OUT else None
    if counted is not None:
        return counted
    bold = [n for n in exact if candidates[n].mark == "bold"]
    return (bold or exact)[-1]


def _turn_after_statement(
    sentence: str, candidates: Sequence[Candidate], ratings: Sequence[int]
) -> int | None:
    """Find where the sentence turns away from its statement to a reason, a condition or an approximation."""
    masked = overwrite(sentence, candidates)
    for number, found in enumerate(candidates):
        if ratings[number] == MENTIONED or is_weak(found):
            continue
        turn = _TURN.search(masked, found.end)
        if turn is None:
            return None
        later_states = any(
            ratings[later] >= COUNTED_OUT and candidates[later].start > turn.start()
            for later in range(number + 1, len(candidates))
        )
        if not (later_states and ratings[number] <= SUGGESTED and _CONDITION.match(turn.group())):
            return turn.start()
    turn = re.search(r"[,\s](?:since|because)\b", masked)
    return turn.start() if turn and any(found.end <= turn.start() for found in candidates) else None


def _list_around(
    sentence: str, candidates: Sequence[Candidate], number: int, ratings: Sequence[int]
) -> tuple[int, int]:
    """Extend over the neighbours that stand in one list with the chosen candidate."""
    first = last = number

    def listed(left: int) -> bool:
        gap = sentence[candidates[left].end : candidates[left + 1].start]
        return _LISTED.fullmatch(gap) is not None and _alike(candidates[left], candidates[left + 1])

    while last + 1 < len(candidates) and listed(last):
        last += 1
    if ratings[number] < STATED or "=" in candidates[number].text:
        while first > 0 and listed(first - 1):
            first -= 1
    return first, last


def _alike(left: Candidate, right: Candidate) -> bool:
    """Say whether two candidates may be items of one list: both values, or both values with their letters."""
    if is_weak(left) or is_weak(right):
        return False
    relations = [_RELATION.search(found.text) for found in (left, right)]
    if not any(relations):
        return True
    named = [
        relation is not None
        and relation.group() == "="
        and is_symbol(found.text[: relation.start()].strip(" $"))
        for relation, found in zip(relations, (left, right), strict=True)
    ]
    return (
        all(named)
        or (named[0] and relations[1] is None)
        or all(relation is not None and relation.group() not in _NO_ORDER for relation in relations)
    )


def _merge(chosen: Sequence[Candidate], keep_assignment: bool, plainness: int) -> Result | None:
    values = [_read(found, keep_assignment and len(chosen) == 1, plainness >= STATED) for found in chosen]
    if not all(values):
        return None
    bold = any(found.mark == "bold" for found in chosen)
    text = one_of_equals(values) or ", ".join(dict.fromkeys(values))
    return Result(text, bold, chosen[-1].end, plainness)


def _read(found: Candidate, keep_assignment: bool, exact: bool) -> str:
    text = trim_answer(found.text)
    if found.mark == "bold" and re.search(r"[A-Za-z]{3,}:? \S", re.sub(r"\\[a-z]+", "", text)):
        inner = state_result(found.text.strip("*_"), keep_assignment=keep_assignment)
        return inner.text if inner else text
    return trim_answer(result_of(text, keep_assignment=keep_assignment, exact=exact))
