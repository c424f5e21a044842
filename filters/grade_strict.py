"""An answer and a gold in, the headline verdict out: the gold's kind decides how the answer is read.

Nothing of the answer is ever run: it is read into a tree by ``answer_reader`` within bounds on length, depth
and digits, and compared by exact arithmetic and at fixed points to many digits. Every rule on which careful
readers differ has a name; a verdict that such a rule decided carries the name and the verdict otherwise.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .answer_reader import Reading, read_answer
from .answer_text import LONGEST_ANSWER, clean_answer
from .answer_tokens import Spelling
from .compare_by_kind import COMPARISONS
from .compare_intervals import compare_interval
from .compare_marked import (
    compare_clock,
    compare_numeral,
    compare_remainder,
    numeral_for_number,
    odd_number,
)
from .compare_texts import compare_choice, compare_text
from .free_parameters import with_letter_of_gold, without_domains
from .gold_kinds import Gold, Kind, read_gold
from .marked_answers import without_markup
from .math_nodes import Node, UnreadableError
from .rows import Judgement, MathVerdict
from .shown_nodes import LONGEST_SHOWN, shown
from .strict_decision import Decision, decided

_SAME_TEXT = re.compile(
    r"\\(?:left|right)(?![a-zA-Z])|\$|(?<![\w,.])(?:\s|\\[,!;: ])+|(?:\s|\\[,!;: ])+(?!\w)"
)
_WORDS_ONLY = re.compile(r"[A-Za-z][A-Za-z ,.'-]+[A-Za-z.]")
_GROUPED = Spelling(grouped_commas=True, grouped_blanks=True)
_SEPARATED = Spelling(grouped_commas=False)
_JOINED = Spelling(grouped_commas=True)
_LOOSE = frozenset({Kind.LIST, Kind.TUPLE, Kind.PAIR, Kind.INTERVAL})
_NUMBERS = frozenset(
    {Kind.NUMBER, Kind.MIXED_NUMBER, Kind.PERCENTAGE, Kind.ANGLE, Kind.QUANTITY, Kind.ASSIGNMENT}
)


def grade(answer: str, gold: str) -> Judgement:
    """Judge an answer: ``unreadable`` where no reading could be compared; an empty gold is our fault."""
    if not gold.strip():
        return Judgement(MathVerdict.HARNESS_ERROR, comparison="the gold is empty")
    if len(answer) > LONGEST_ANSWER or len(gold) > LONGEST_ANSWER:
        return _beyond_length(answer, gold)
    read = read_gold(gold)
    clean = clean_answer(answer)
    if _plain(clean) == _plain(read.clean) or _plain(answer) == _plain(gold):
        same = Decision(True, "same text", read_answer=shown(read.node) if read.node is not None else "")
        return _judgement(same, read, clean)
    try:
        return _judgement(_decide(answer, clean, read), read, clean)
    except (UnreadableError, RecursionError, ArithmeticError, ValueError, TypeError) as error:
        if _WORDS_ONLY.fullmatch(without_markup(clean)):
            return _judgement(decided(False, "words for a formula"), read, clean)
        return Judgement(
            MathVerdict.UNREADABLE,
            kind=read.kind.value,
            comparison=f"not comparable: {error}"[:LONGEST_SHOWN],
            read_answer=clean[:LONGEST_SHOWN],
            read_gold=read.clean[:LONGEST_SHOWN],
        )


def _beyond_length(answer: str, gold: str) -> Judgement:
    verdict = MathVerdict.RIGHT if answer.strip() == gold.strip() else MathVerdict.UNREADABLE
    return Judgement(verdict, comparison="longer than is read", read_answer=answer[:LONGEST_SHOWN])


def _plain(text: str) -> str:
    return _SAME_TEXT.sub("", text)


def _judgement(decision: Decision, gold: Gold, clean: str) -> Judgement:
    verdict, other = MathVerdict.RIGHT, MathVerdict.WRONG
    if not decision.right:
        verdict, other = other, verdict
    return Judgement(
        verdict,
        kind=gold.kind.value,
        comparison=decision.comparison,
        read_answer=decision.read_answer or clean[:LONGEST_SHOWN],
        read_gold=shown(gold.node) if gold.node is not None else gold.clean[:LONGEST_SHOWN],
        debatable=decision.debatable,
        verdict_otherwise=other if decision.debatable else None,
    )


def _decide(answer: str, clean: str, gold: Gold) -> Decision:
    if not clean:
        raise UnreadableError("nothing is left of the answer")
    if gold.kind is Kind.CHOICE:
        return compare_choice(answer, clean, gold.clean)
    if gold.kind is Kind.TEXT:
        return compare_text(clean, gold.clean)
    if gold.kind is Kind.BASE_NUMERAL and gold.numeral is not None:
        return compare_numeral(clean, gold.numeral)
    if gold.kind is Kind.CLOCK and gold.time is not None:
        return compare_clock(clean, gold.time)
    if gold.kind is Kind.REMAINDER:
        return compare_remainder(clean, gold.clean)
    if gold.node is None:
        raise UnreadableError("a gold without a reading")
    special = _special(clean, gold.node, gold.kind)
    if special is not None:
        return special
    return _best_reading(clean, gold.node, gold.kind)


def _special(clean: str, node: Node, kind: Kind) -> Decision | None:
    """Try the readings that only a gold of this kind makes likely."""
    if kind in _NUMBERS or kind is Kind.EXPRESSION:
        if "_" in clean or "base" in clean:
            numeral = numeral_for_number(clean, node) if not node.names() else None
            if numeral is not None:
                return numeral
        odd = odd_number(clean, node)
        if odd is not None and (odd.right or odd.debatable):
            return odd
    if kind is Kind.PAIR and re.fullmatch(r"\d{1,3},\d{3}", clean):
        return _best_reading(clean, node, kind).noted("pair_or_number")
    if kind is Kind.INTERVAL:
        return _set_in_words(clean, node)
    return None


def _set_in_words(clean: str, node: Node) -> Decision | None:
    """Read ``all real numbers`` and ``no solution``; None for anything else."""
    words = re.sub(r"[^a-z ]", "", clean.lower()).split()
    if "real" in words and ("all" in words or "numbers" in words) and not {"except", "not"} & set(words):
        return compare_interval(Node("const", name="reals"), node)
    if words in (["no", "solution"], ["none"], ["no", "solutions"]) and node == Node("const", name="empty"):
        return decided(True, "both say that there is none", "empty_set_for_none")
    return None


def _best_reading(clean: str, node: Node, kind: Kind) -> Decision:
    """Compare each reading that the spelling allows; the first right one counts."""
    spellings = (_SEPARATED, _JOINED) if kind in _LOOSE else (_GROUPED,)
    decision: Decision | None = None
    failure: UnreadableError | None = None
    for spelling in spellings:
        try:
            reading = read_answer(clean, spelling, letter_units=not node.names())
            decision = _compare(reading, node, kind, spelling)
        except UnreadableError as error:
            failure = error
            continue
        if decision.right:
            return decision
    if decision is not None:
        return decision
    value = _value_of_unread_name(clean)
    if value is None or kind not in (*_NUMBERS, Kind.EXPRESSION):
        raise failure or UnreadableError("no reading")
    return _best_reading(value, node, kind)


def _value_of_unread_name(clean: str) -> str | None:
    """Return the right side of ``name = value`` where only the name cannot be read: ``P(A|B) = 1/2``."""
    name, sign, value = clean.rpartition("=")
    if not sign or not re.search(r"[A-Za-z]", name) or name[-1:] in "<>!:\\" or not value.strip():
        return None
    try:
        read_answer(name, _GROUPED)
    except UnreadableError:
        return None if re.search(r"\bnot\b|\\ne|\\not", name) else value
    return None


def _compare(reading: Reading, gold: Node, kind: Kind, spelling: Spelling) -> Decision:
    answer = with_letter_of_gold(without_domains(reading.node), gold, reading.remarks)
    if kind in _LOOSE and not spelling.grouped_commas and _has_padded_number(answer):
        raise UnreadableError("digit groups read as items")
    decision = COMPARISONS[kind](answer, gold).noted(*reading.notes)
    return replace(decision, read_answer=shown(reading.node))


def _has_padded_number(node: Node) -> bool:
    return any(part.op == "num" and part.name == "padded" for part in node.walk())
