"""For any text the extraction ends with a record, and an answer that was wrapped comes out again."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_strict.filters.answer_extraction import extract_answer
from lm_eval_strict.filters.grade_normalized import grade
from lm_eval_strict.filters.rows import MathVerdict

RULES = {"boxed", "answer_line", "bold_answer", "final_math", "bold_phrase", "none"}
_MARKUP = r"""\boxed{ } { $ $$ \( \) \[ \] ** __ ``` #### <think> </think> =
\frac{1}{2} 12 x so \\ & | ( ) [ ] , . ? ≈
\text{ - \begin{align*} 答案是 <|code|> <|endofblock|> Problem: and Check: Answer:"""
PIECES = [*_MARKUP.split(), "\n", "\n\n", " ", "The answer is "]
UNITS = [
    *PIECES,
    "| a ",
    "1, ",
    "_",
    "answer to the ",
    r"\boxed{\boxed{",
    "(a ",
    "<code>",
    "So x = 1. ",
    "$5 ",
    "a_",
    "1 ",
]
integers = st.integers(-(10**6), 10**6)
answers = st.one_of(
    integers.map(str),
    st.tuples(integers, st.integers(1, 999)).map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}}"),
    st.tuples(integers, integers).map(lambda pair: f"({pair[0]}, {pair[1]})"),
    st.tuples(st.integers(2, 99), st.integers(2, 99)).map(lambda pair: rf"{pair[0]}\sqrt{{{pair[1]}}}"),
    st.tuples(st.integers(2, 99), st.integers(1, 99)).map(lambda pair: f"{pair[0]}x^2 + {pair[1]}"),
)
WRAPPINGS = [
    r"We get $\boxed{%s}$.",
    r"\[ \boxed{%s} \]",
    "The answer is $%s$.",
    "**Answer:** $%s$",
    "**Answer: $%s$**\n\nHope this helps!",
    "Final answer:\n\n$$%s$$",
    "<think>\nMaybe 17, \\boxed{18}.\n</think>\nThe final answer is \\(%s\\).",
    "Therefore the value is $%s$.",
    "So we get\n\\[\n%s\n\\]",
    r"$\text{Answer: } %s$",
    "<answer>%s</answer>",
]


@given(st.text())
def test_any_text_ends_with_a_record(reply: str) -> None:
    found = extract_answer(reply)
    assert found.rule in RULES
    assert (found.answer is None) == (found.rule == "none")


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from(["chat", "base", "gen_prefix"]))
def test_any_heap_of_markup_ends_with_a_record(pieces: list[str], mode: str) -> None:
    found = extract_answer("".join(pieces), mode=mode)
    assert (found.answer is None) == (found.rule == "none")


_TALK = """so therefore the answer value is are equals not 12 $x$ $x=3$ 3/4 and or , . ? : which gives since
because when we need to find there no solution Evelyn would earn most note check **7** `5` (B) option square
root of about 5 cm 1st 2:30 p.m. - | \\ %"""
WORDS = [*_TALK.split(), "\n", "\n\n"]


@given(st.lists(st.sampled_from(WORDS), max_size=60), st.sampled_from([" ", ""]))
def test_any_heap_of_words_ends_with_a_record(words: list[str], joint: str) -> None:
    found = extract_answer(joint.join(words))
    assert (found.answer is None) == (found.rule == "none")
    assert found.answer is None or found.answer.strip() == found.answer != ""


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@given(answer=answers)
def test_a_wrapped_answer_comes_out_again(wrapping: str, answer: str) -> None:
    found = extract_answer(wrapping % answer)
    assert found.answer is not None
    assert re.sub(r"\s", "", found.answer) == re.sub(r"\s", "", answer)


@given(answers)
def test_what_was_extracted_is_extracted_from_its_own_box(answer: str) -> None:
    assert extract_answer(rf"\boxed{{{answer}}}").answer == answer


@pytest.mark.parametrize("unit", UNITS)
def test_long_noise_ends_with_a_record(unit: str) -> None:
    found = extract_answer(unit * (60_000 // len(unit)) + " \\boxed{7}")
    assert found.rule in RULES


@pytest.mark.real_data
def test_every_gold_of_math_500_comes_out_of_a_box(data_folder: Path) -> None:
    with gzip.open(data_folder / "MATH-500.jsonl.gz", "rt", encoding="utf-8") as lines:
        golds = [json.loads(line)["answer"] for line in lines]
    lost = [
        gold
        for gold in golds
        if grade(extract_answer(rf"So the answer is $\boxed{{{gold}}}$.").answer or "", gold).verdict
        is not MathVerdict.RIGHT
    ]
    assert lost == []
    assert len(golds) == 500


@pytest.mark.real_data
def test_every_solution_of_math_500_gives_its_gold(data_folder: Path) -> None:
    with gzip.open(data_folder / "MATH-500.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    lost = [
        row["unique_id"]
        for row in rows
        if grade(extract_answer(row["solution"]).answer or "", row["answer"]).verdict is not MathVerdict.RIGHT
    ]
    assert lost == []
