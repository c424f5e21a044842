"""The graders that follow published sources: exact, normalized and symbolic."""

from __future__ import annotations

import gzip
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_strict.filters.grade_normalized import grade as grade_normalized
from lm_eval_strict.filters.math_graders import GRADERS
from lm_eval_strict.filters.rows import MathVerdict
from lm_eval_strict.filters.versions import FUNCTIONS

CASES = Path(__file__).parents[1] / "cases"
EXAMPLES = [json.loads(line) for line in (CASES / "math_grader_examples.jsonl").read_text().splitlines()]
PUBLISHED = ("exact", "normalized", "symbolic")


@pytest.mark.parametrize("row", EXAMPLES, ids=lambda row: f"{row['answer']} for {row['gold']}")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_graders_give_the_verdict_of_their_source(row: dict[str, str], name: str) -> None:
    assert GRADERS[name](row["answer"], row["gold"]).verdict.value == row[name]


def test_every_grader_has_a_version() -> None:
    assert set(GRADERS) <= {name for name, _ in FUNCTIONS}


def test_normalized_compares_raw_text_where_the_published_code_fails() -> None:
    # Two units make the published code raise; it then compares both sides as they are.
    text = "5 \\text{ cm} and 6 \\text{ cm}"
    assert grade_normalized(text, text).comparison == "equal_text"
    assert grade_normalized(text + " ", text).verdict is MathVerdict.WRONG


@given(st.text(max_size=60), st.text(max_size=60))
def test_exact_and_normalized_give_a_verdict_on_any_text(answer: str, gold: str) -> None:
    for name in ("exact", "normalized"):
        assert GRADERS[name](answer, gold).verdict in (MathVerdict.RIGHT, MathVerdict.WRONG)
        assert GRADERS[name](gold, gold).verdict is MathVerdict.RIGHT


def test_symbolic_works_in_a_thread() -> None:
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(GRADERS["symbolic"]("\\frac12", "0.5")))
    thread.start()
    thread.join()
    assert [judgement.verdict for judgement in seen] == [MathVerdict.RIGHT]


@pytest.mark.real_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_every_math500_gold_is_right_against_itself(name: str, data_folder: Path) -> None:
    with gzip.open(data_folder / "MATH-500.jsonl.gz", "rt", encoding="utf-8") as lines:
        golds = [json.loads(line)["answer"] for line in lines]
    assert len(golds) == 500
    assert [gold for gold in golds if GRADERS[name](gold, gold).verdict is not MathVerdict.RIGHT] == []
