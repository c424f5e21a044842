"""Replies to a question that shows no signature, only words and an assert, as MBPP asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lm_eval_strict.filters.program_extraction import extract_program

CASES = Path(__file__).parents[1] / "cases" / "code_extract_questions.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
PROMPT = '"""\nWrite a function to count the vowels of a word.\nassert count_vowels("tree") == 2\n"""\n'


@pytest.mark.parametrize("case", ROWS, ids=lambda case: f"{case['id']}: {case['reason']}")
def test_reply_to_a_question_hands_in_the_function_that_it_names(case: dict[str, Any]) -> None:
    found = extract_program(
        case["reply"].replace("{{PROMPT}}", PROMPT),
        prompt=PROMPT,
        entry_point="count_vowels",
        mode=case["mode"],
    )
    scope: dict[str, Any] = {"__name__": "handed_in"}
    exec(found.program or "", scope)
    function = scope.get("count_vowels", lambda word: None)
    assert (function("tree") == 2 and function("sky") == 0) is (case["expected"] == "pass")
