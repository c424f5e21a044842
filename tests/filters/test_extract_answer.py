"""Every labelled reply gives the answer that a careful reader takes from it, by the rule that should fire."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lm_eval_strict.filters.answer_extraction import extract_answer
from lm_eval_strict.filters.grade_normalized import grade
from lm_eval_strict.filters.rows import MathVerdict, Truncated

CASES = Path(__file__).parent.parent / "cases"
SHARED = [
    json.loads(line) for line in (CASES / "math_extract.jsonl").read_text(encoding="utf-8").splitlines()
]
OWN = [
    json.loads(line) for line in (CASES / "math_extract_own.jsonl").read_text(encoding="utf-8").splitlines()
]

# The value stands in bold inside a sentence that announces it: we name the announcement, which is the
# stronger of the two; the answer is the same.
OTHER_RULE = {"e-f5321296": "answer_line"}


def same_answer(answer: str | None, expected: str | None) -> bool:
    """Equal but for spacing, or equal after MATH's own normalization."""
    if answer is None or expected is None:
        return answer is expected
    if re.sub(r"\s", "", answer) == re.sub(r"\s", "", expected):
        return True
    return grade(answer, expected).verdict is MathVerdict.RIGHT


@pytest.mark.parametrize("case", SHARED, ids=[case["id"] for case in SHARED])
def test_shared_reply_gives_the_answer_a_careful_reader_takes(case: Mapping[str, Any]) -> None:
    found = extract_answer(case["prediction"])
    assert same_answer(found.answer, case["expected"]), found
    assert found.rule == OTHER_RULE.get(case["id"], case["rule"])


@pytest.mark.parametrize("case", OWN, ids=[case["id"] for case in OWN])
def test_own_reply_gives_the_answer_a_careful_reader_takes(case: Mapping[str, Any]) -> None:
    found = extract_answer(case["prediction"], mode=case.get("mode", "chat"))
    assert same_answer(found.answer, case["expected"]), found
    assert found.rule == case["rule"]
    assert case.get("truncated") in (None, found.truncated.value)


@pytest.mark.parametrize("case", [case for case in SHARED if "truncated" in case["category"]])
def test_a_cut_off_reply_is_said_to_be_cut_off(case: Mapping[str, Any]) -> None:
    assert extract_answer(case["prediction"]).truncated is Truncated.LIKELY


def test_a_started_box_that_says_the_same_keeps_the_finished_one() -> None:
    assert extract_answer(r"So $\boxed{12}$. Again $\boxed{1").answer == "12"


def test_a_started_box_that_says_something_else_leaves_no_answer() -> None:
    assert extract_answer(r"So $\boxed{12}$. Rather $\boxed{5").answer is None


def test_the_rules_fire_in_their_order() -> None:
    reply = "**Total: 1**\n\nSo $x=2$.\n\nThe answer is 3.\n\n$\\boxed{4}$"
    assert extract_answer(reply).rule == "boxed"
    assert extract_answer(reply.split("\n\n$")[0]).rule == "answer_line"
    assert extract_answer(reply.split("\n\nThe")[0]).rule == "final_math"
    assert extract_answer("**Total: 1**").rule == "bold_phrase"
