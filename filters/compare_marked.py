"""Answers marked by their outer form in, a decision out: base numerals, times, ratios, digit groups."""

from __future__ import annotations

import re
from fractions import Fraction

from .answer_labels import stated
from .compare_scalars import compare_scalar
from .compare_values import number, same_value
from .marked_answers import BaseNumeral, Clock, base_numeral, clock, remainder, without_markup
from .math_nodes import Node, UnreadableError
from .strict_decision import Decision, decided

_GROUPS = re.compile(r"^(?P<open>[(]|\\\{|)\s*(?P<digits>\d{1,3}(?:\s*,\s*\d{3})+)\s*(?:[)]|\\\}|)$")
_DOTTED = re.compile(r"^\d{1,3}(?:\.\d{3})+$")
_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS = {word: value for value, word in enumerate(_TO_TWENTY.split())} | {
    word: 10 * tens for tens, word in enumerate(_TENS.split(), start=3)
}


def compare_numeral(answer: str, gold: BaseNumeral) -> Decision:
    """Compare digits in their base; digits without a base are debatable, and so is the number in base ten."""
    mine = base_numeral(answer)
    bare = re.sub(r"[\s,{}()]|\\[,!]", "", without_markup(answer)).lstrip("0").upper()
    if mine is None:
        if bare == gold.digits:
            return decided(True, "same digits", "dropped_base")
        same = bare.isdigit() and len(bare) < 100 and Fraction(int(bare)) == gold.value
        return decided(False, "other digits", "value_in_base_ten" if same else "")
    if mine.base == gold.base:
        return decided(mine.digits == gold.digits, "same digits in the same base")
    same = mine.value == gold.value
    return decided(False, "another base", "value_in_another_base" if same else "")


def numeral_for_number(answer: str, gold: Node) -> Decision | None:
    """Compare a base numeral with a plain gold; None where the answer is no base numeral."""
    mine = base_numeral(answer)
    if mine is None:
        return None
    same = number(gold) == mine.value
    if mine.base == 10:
        return decided(same, "same number")
    return decided(False, "another base", "value_in_another_base" if same else "")


def compare_clock(answer: str, gold: Clock) -> Decision:
    """Compare times of day; a missing half of the day and the 24-hour clock are debatable."""
    mine = clock(answer)
    if mine is None:
        return decided(False, "no time of day")
    if mine.half == gold.half:
        return decided((mine.hour, mine.minute) == (gold.hour, gold.minute), "same time")
    if not mine.half and (mine.hour, mine.minute) == (gold.hour, gold.minute):
        return decided(True, "same time", "half_of_day_missing")
    if not mine.half or not gold.half:
        same = mine.in_24_hours == gold.in_24_hours
        return decided(same, "same time", "other_clock" if same else "")
    return decided(False, "other half of the day")


def compare_remainder(answer: str, gold: str) -> Decision:
    """Compare quotient and remainder."""
    return decided(remainder(answer) == remainder(gold), "same quotient and remainder")


def compare_ratio(answer: Node, gold: Node) -> Decision:
    """Compare ratios term by term; other terms in the same proportion, or a quotient, are debatable."""
    found = stated(answer) if answer.op == "rel" and ":" not in answer.name else None
    answer = found.value if found is not None else answer
    if answer.op == "rel" and set(answer.name.split(" ")) == {":"}:
        if len(answer.args) != len(gold.args):
            return decided(False, "another number of terms")
        pairs = list(zip(answer.args, gold.args, strict=True))
        if any((mine.op == "dots") != (theirs.op == "dots") for mine, theirs in pairs):
            return decided(False, "another ratio")
        values = [(mine, theirs) for mine, theirs in pairs if theirs.op != "dots"]
        if all(same_value(mine, theirs) for mine, theirs in values):
            return decided(True, "same terms")
        same = _same_proportion(answer, gold)
        return decided(same, "same proportion", "unreduced_ratio" if same else "")
    if len(gold.args) == 2 and answer.op not in ("list", "group", "rel"):
        quotient = Node("div", gold.args)
        same = compare_scalar(answer, quotient).right
        return decided(same, "same quotient", "ratio_as_fraction" if same else "")
    return decided(False, "no ratio")


def _same_proportion(answer: Node, gold: Node) -> bool:
    first, other = answer.args[0], gold.args[0]
    return all(
        same_value(Node("mul", (mine, other)), Node("mul", (theirs, first)))
        for mine, theirs in zip(answer.args[1:], gold.args[1:], strict=True)
        if theirs.op != "dots"
    )


def odd_number(answer: str, gold: Node) -> Decision | None:
    """Read digit groups, decimal commas and number words as a plain gold makes them likely; None if none."""
    plain = without_markup(answer).strip()
    match = _GROUPS.match(plain)
    if match:
        same = Fraction(re.sub(r"[\s,]", "", match["digits"])) == _value(gold)
        if match["open"]:
            return decided(False, "digits in brackets", "digit_groups_in_brackets" if same else "")
        return decided(same, "same number", "spaced_digit_groups" if same else "")
    if re.fullmatch(r"-?\d+,\d+", plain):
        same = Fraction(plain.replace(",", ".")) == _value(gold)
        return decided(same, "same number", "decimal_comma" if same else "")
    if _DOTTED.match(plain):
        same = Fraction(plain.replace(".", "")) == _value(gold)
        return decided(False, "another number", "dot_between_digit_groups" if same else "")
    words = plain.lower().replace("-", " ").split()
    if 1 <= len(words) <= 2 and all(word in NUMBER_WORDS for word in words):
        total = sum(NUMBER_WORDS[word] for word in words)
        fits = len(words) == 1 or (NUMBER_WORDS[words[0]] >= 20 and 0 < NUMBER_WORDS[words[1]] < 10)
        return decided(fits and _value(gold) == total, "same number").noted("number_word")
    return None


def _value(gold: Node) -> Fraction | None:
    try:
        value = number(gold)
    except UnreadableError:
        return None
    return value if isinstance(value, Fraction) else None
