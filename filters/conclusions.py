"""One sentence comes in; the expression in it that states the result goes out, if it states one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .bare_math import Candidate
from .candidates import find_candidates, is_ordinal, is_weak, overwrite
from .equations import is_symbol, result_of
from .restatements import one_of_equals
from .trim_answer import trim_answer

_MAX_SENTENCE = 4000
_FILL = (
    r"(?:\s*(?:approximately|about|roughly|around|exactly|simply|just|only|therefore|thus|then|also|now"
    r"|either|both|all|the|a|an|point|interval|number|numbers|value|values|vector|matrix|fraction|set"
    r"|ordered (?:pair|triple)|line|equation|option|choice|integers?|total(?: of)?|at (?:most|least)"
    r"|equal to|given by|found to be|represented by|indeed|always|still|clearly|expression|inequality"
    r"|coordinates|sum|product|real|polynomial|function|prime|angle|and only|and|\$)\b|\s*\$)*"
)
_STATES = re.compile(
    r"(?:(?<![^\W_])(?:is|are|was|were|be|been|equals?|equal(?:s|ing)? to|get|gets|gives?(?: us)?"
    r"|giving(?: us)?|obtain|find|found|yields?|yielding|becomes?|(?:comes?|came) (?:out )?to|totals?"
    r"|makes?|leaves?|leaving|have|has|had|(?:simplif(?:y|ies)|reduces?|evaluates?|rounds?|amounts?"
    r"|adds up|sums|boils down|converts?|works out|left|corresponds?|leads?|equivalent|simplified"
    r"|equates?) (?:us )?(?:to|with)|being|namely|that is|i\.e\.|in other words|so|thus|hence|therefore"
    r"|conclude(?: that)?|implies|means(?: that)?|costs?|needs?|takes?|must take|earns?|left with|ist|sind"
    r"|es|son|est|sont|vaut|é|são|è|sono|betr[äa]gt|lautet|jest|равно|равен|равна|ergibt|hay|existen|tiene"
    r"|gibt es|exactly|or simply|as|at|of)|[:：=≈→]|\\approx|是|为|為|等于|得|有|共|は|이|은)[,\s]*"
    + _FILL
    + r"[\s(*_`]*$",
    re.IGNORECASE,
)
_CONSEQUENCE = re.compile(r"(?<![^\W_])(?:so|thus|hence|therefore)[,\s$(*]*$", re.IGNORECASE)
_WEAK_STATES = re.compile(
    r"(?<![^\W_])(?:as|at|of|has|have|had|so|thus|hence|therefore|find|makes?)[,\s]*" + _FILL + r"[\s(*_`]*$",
    re.I,
)
_THERE = re.compile(
    r"(?<![^\W_])(?:there (?:are|is|were|will be|would be|must be|remain)|(?:we|they|it|he|she"
    r"|you) (?:have|has|had|needs?|can))\s+(?:\w+ly |a total of |only |at least |at most |about |just )*$",
    re.IGNORECASE,
)
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
# A whole number before what it counts: "36 different pizzas", "passes through 10 lattice points".
_COUNTED = re.compile(
    r"\$?\s(?:different|distinct|possible|unique|such|more|ways|[a-z]+ [a-z]+s\b|[a-z]+s\b)", re.IGNORECASE
)
_DIFFERENT = re.compile(r"\$?\s(?:different|distinct|possible|unique|ways)\b", re.IGNORECASE)
_WAYS = re.compile(r"\$?\s(?:(?:different|distinct|possible|unique) )?ways\b", re.IGNORECASE)
_REJECTED = re.compile(
    r"[\s,$)]*(?:which )?(?:(?:is|are|was|were|can be|must be|being)\s(?:an? )?(?:extraneous|rejected"
    r"|invalid|impossible|discarded|ignored|excluded|not (?:valid|possible|allowed|a solution"
    r"|in the domain|permitted)|ruled out|too (?:small|large|big))|(?:does not|doesn't|cannot|can't"
    r"|fails to) (?:work|hold|satisfy|be))\b",
    re.IGNORECASE,
)
_REJECTING = re.compile(
    r"\b(?:reject(?:ing)?|discard(?:ing)?|ignor(?:e|ing)|exclud(?:e|ing)|except(?: for)?|rather than"
    r"|instead of|not)[\s$(*]*$",
    re.IGNORECASE,
)
_ROUGHLY = re.compile(
    r"(?:approximately|about|roughly|around|nearly|almost|close to|≈|\\approx)\s*\$?$", re.IGNORECASE
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

    ``plainness`` is 2 where a stating word leads to it, 1 where its form or what it counts suggests it.
    """

    text: str
    bold: bool
    end: int
    plainness: int


def state_result(sentence: str, *, keep_assignment: bool = False) -> Result | None:
    """Choose the expression that ``sentence`` states as its result, with its value read and lists joined.

    A candidate that follows a stating word ("is", "equals", ":", "so") beats others, the last such one wins,
    and what follows a turn ("since ...", ", which is roughly ...") is not looked at once there is one.
    """
    sentence = sentence[-_MAX_SENTENCE:]
    candidates = [found for found in find_candidates(sentence) if not _rejected(sentence, found)]
    ratings = [_rate(sentence, candidates, number) for number in range(len(candidates))]
    limit = _turn_after_statement(sentence, candidates, ratings)
    if limit is not None:
        candidates = [found for found in candidates if found.end <= limit]
        ratings = ratings[: len(candidates)]
    number = _choose(sentence, candidates, ratings)
    if number is None:
        return None
    first, last = _list_around(sentence, candidates, number, ratings)
    chosen = candidates[number]
    plain = "=" in chosen.text or sentence[: chosen.start].endswith("$")
    return _merge(candidates[first : last + 1], keep_assignment, 2 if plain else ratings[number])


def _choose(sentence: str, candidates: Sequence[Candidate], ratings: Sequence[int]) -> int | None:
    strong = [n for n, found in enumerate(candidates) if not is_weak(found)]
    if not strong:
        named = [
            n for n, found in enumerate(candidates) if ratings[n] == 2 or (ratings[n] and is_ordinal(found))
        ]
        return named[-1] if named else None
    best = max(ratings[n] for n in strong)
    pool = [n for n in strong if ratings[n] == best]
    if best == 0:
        return pool[-1]
    exact = [n for n in pool if not _ROUGHLY.search(sentence[: candidates[n].start].rstrip())] or pool
    for pattern in (_WAYS, _DIFFERENT):
        counting = [n for n in exact if pattern.match(sentence, candidates[n].end)]
        if counting:
            return counting[0]
    there = [
        n for n in exact if _THERE.search(sentence[max(0, candidates[n].start - 40) : candidates[n].start])
    ]
    bold = [n for n in exact if candidates[n].mark == "bold"]
    return (there[:1] or bold[-1:] or exact[-1:])[0]


def _rate(sentence: str, candidates: Sequence[Candidate], number: int) -> int:
    """Rate how plainly the words around a candidate state it: 2 plainly, 1 perhaps, 0 not at all."""
    found = candidates[number]
    before = sentence[max(0, found.start - 60, candidates[number - 1].end if number else 0) : found.start]
    if _THERE.search(before) or (_counts(found) and _DIFFERENT.match(sentence, found.end)):
        return 2
    if _STATES.search(before):
        follows = number > 0 and "=" in found.text and _CONSEQUENCE.search(before)
        return 1 if _WEAK_STATES.search(before) and not follows else 2
    counts = _counts(found) and _COUNTED.match(sentence, found.end)
    return 1 if counts or re.search(r"[A-Za-z\d)}]\s*(?:=|∈|\\in\b)\s*\S", found.text) else 0


def _rejected(sentence: str, found: Candidate) -> bool:
    """Say whether the words around a candidate turn it down ("... is extraneous", "we reject ...")."""
    after = _REJECTED.match(sentence, found.end)
    return (
        after is not None or _REJECTING.search(sentence[max(0, found.start - 30) : found.start]) is not None
    )


def _counts(found: Candidate) -> bool:
    return found.text.strip().replace(",", "").isdigit()


def _turn_after_statement(
    sentence: str, candidates: Sequence[Candidate], ratings: Sequence[int]
) -> int | None:
    """Find where the sentence turns away from its statement to a reason, a condition or an approximation."""
    masked = overwrite(sentence, candidates)
    for number, found in enumerate(candidates):
        if ratings[number] == 0 or is_weak(found):
            continue
        turn = _TURN.search(masked, found.end)
        if turn is None:
            return None
        later_states = any(
            ratings[later] == 2 and candidates[later].start > turn.start()
            for later in range(number + 1, len(candidates))
        )
        if not (later_states and ratings[number] < 2 and _CONDITION.match(turn.group())):
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
    if ratings[number] < 2 or "=" in candidates[number].text:
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
    values = [_read(found, keep_assignment and len(chosen) == 1) for found in chosen]
    if not all(values):
        return None
    bold = any(found.mark == "bold" for found in chosen)
    text = one_of_equals(values) or ", ".join(dict.fromkeys(values))
    return Result(text, bold, chosen[-1].end, plainness)


def _read(found: Candidate, keep_assignment: bool) -> str:
    text = trim_answer(found.text)
    if found.mark == "bold" and re.search(r"[A-Za-z]{3,}:? \S", re.sub(r"\\[a-z]+", "", text)):
        inner = state_result(found.text.strip("*_"), keep_assignment=keep_assignment)
        return inner.text if inner else text
    return trim_answer(result_of(text, keep_assignment=keep_assignment))
