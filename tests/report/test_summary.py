"""What the report says of a run, from rows alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lm_eval_strict.report.read_run import read_run
from lm_eval_strict.report.summary import summarize_run
from lm_eval_strict.report.summary_records import TaskSummary

Row = dict[str, Any]
Make = Callable[..., list[Row]]
Write = Callable[[Path, Iterable[Row]], Path]


@pytest.fixture
def summarize(tmp_path: Path, write: Write) -> Callable[[Iterable[Row]], TaskSummary]:
    def made(rows: Iterable[Row]) -> TaskSummary:
        run = read_run([write(tmp_path / "rows.jsonl", rows)])
        return summarize_run(run, np.random.default_rng(0)).tasks[0]

    return made


Summarize = Callable[[Iterable[Row]], TaskSummary]


def verdicts(rows: list[Row], pipeline: str, **changes: Callable[[Row], Any]) -> list[Row]:
    return [
        {**row, **{name: change(row) for name, change in changes.items()}}
        if row["pipeline"] == pipeline
        else row
        for row in rows
    ]


def test_ladder_steps_pair_the_same_problems(summarize: Summarize, make_code: Make) -> None:
    task = summarize(make_code(3))
    named = {(step.first, step.second): step.difference for step in task.steps}
    assert list(named) == [
        ("base", "plus"),
        ("plus", "plus_strict"),
        ("plus_strict", "plus_adjudicated"),
        ("base", "plus_adjudicated"),
    ]
    drop = named["base", "plus"]
    base, plus = task.pipeline("base"), task.pipeline("plus")
    assert drop.worse - drop.better == base.passed - plus.passed
    assert drop.relative == pytest.approx((plus.passed - base.passed) / base.passed)


def test_harness_errors_are_in_no_score_and_shown_loudly(summarize: Summarize, make_code: Make) -> None:
    rows = make_code(1, problems=10)
    broken = [
        {**row, "verdict": "harness_error"} if row["task_id"] in ("HumanEval/0", "HumanEval/1") else row
        for row in rows
    ]
    task = summarize(broken)
    main = task.pipeline("plus_strict")
    assert (main.harness_errors, main.problems, main.replies) == (2, 8, 8)
    assert any(note.startswith("HARNESS ERRORS: 2 replies") for note in task.notes)


def test_a_run_that_is_not_graded_has_no_score(summarize: Summarize, make_code: Make) -> None:
    task = summarize([{**row, "verdict": "not_graded"} for row in make_code(1, problems=4)])
    assert task.pipeline("plus_strict").pass_at == ()
    assert any("not graded yet" in note for note in task.notes)


def test_copies_of_one_reply_are_told(summarize: Summarize, make_code: Make) -> None:
    rows = [{**row, "program": f"same {row['task_id']}"} for row in make_code(1, problems=6, samples=4)]
    assert any(note.startswith("COPIES") for note in summarize(rows).notes)


def test_copies_on_some_problems_are_counted(summarize: Summarize, make_code: Make) -> None:
    rows = make_code(1, problems=6, samples=4)
    rows = [
        {**row, "program": "same" if row["task_id"] == "HumanEval/0" else f"{row['sample']}"} for row in rows
    ]
    assert any(note.startswith("on 1 of 6 problems all samples are copies") for note in summarize(rows).notes)


def test_fewer_samples_on_some_problems_end_the_curve(summarize: Summarize, make_code: Make) -> None:
    rows = [
        row
        for row in make_code(1, problems=5, samples=6)
        if row["task_id"] != "HumanEval/2" or row["sample"] < 4
    ]
    task = summarize(rows)
    assert len(task.pipeline("plus_strict").pass_at) == 4
    assert any("4 to 6 samples" in note for note in task.notes)


def test_score_is_printed_over_164_and_over_the_163_that_evalplus_can_pass(
    summarize: Summarize, make_code: Make
) -> None:
    rows = make_code(1)
    rows = [
        {**row, "verdict": "wrong_answer" if row["task_id"] == "HumanEval/32" else row["verdict"]}
        for row in rows
    ]
    one = summarize(rows).pipeline("plus")
    assert one.over_163 is not None
    assert one.over_163.value == pytest.approx(one.passed / 163)
    assert one.pass_at[0].value == pytest.approx(one.passed / 164)


def test_base_has_no_163(summarize: Summarize, make_code: Make) -> None:
    assert summarize(make_code(1)).pipeline("base").over_163 is None


def test_near_limit_adjudication_truncation_isolation_and_off_lock_are_told(
    summarize: Summarize, make_code: Make
) -> None:
    rows = make_code(1, problems=8)
    for row in rows:
        row["measured"] = {"near_limit": row["task_id"] == "HumanEval/3", "factor": 2.0}
        row["isolation"] = "reduced"
        row["off_lock"] = ["sympy==1.13.1"]
        row["truncated"] = "yes" if row["task_id"] == "HumanEval/4" else "no"
        if row["pipeline"] == "plus_adjudicated":
            row["verdict"], row["quirks_used"] = "passed", ["q"] if row["task_id"] == "HumanEval/5" else []
    text = "\n".join(summarize(rows).notes)
    assert "1 verdict was near a limit (machine factor 2)" in text
    assert "adjudication gave 1 pass:" in text
    assert "1 of 8 replies were truncated (stated by the source)" in text
    assert "isolation reduced, not full" in text
    assert "off-lock: sympy==1.13.1" in text


def test_score_is_told_both_ways_where_a_written_rule_decided(summarize: Summarize, make_math: Make) -> None:
    rows = make_math(1, problems=6)
    for row in rows:
        row["verdict"] = (
            "right" if row["unique_id"].startswith(("test/algebra/0.", "test/algebra/1.")) else "wrong"
        )
    ruled = [row for row in rows if row["pipeline"] == "strict"][:3]
    for row, rule in zip(ruled, ("other_form", "other_form", "rounded_value"), strict=True):
        row["debatable"] = rule
        row["verdict_otherwise"] = "wrong" if row["verdict"] == "right" else "right"
    text = "\n".join(summarize(rows).notes)
    assert "3 of 6 verdicts of strict rest on a written rule" in text
    assert "(other_form 2, rounded_value 1): 2 accepted as the rules say, 1 the other way round" in text


def test_problems_are_counted_as_solved_always_sometimes_never(summarize: Summarize, make_code: Make) -> None:
    def chosen(row: Row) -> str:
        number = int(row["task_id"].split("/")[1])
        return "passed" if number == 0 or (number == 1 and row["sample"] == 0) else "raised"

    rows = verdicts(make_code(1, problems=5, samples=3), "plus_strict", verdict=chosen)
    main = summarize(rows).pipeline("plus_strict")
    assert (main.solved.always, main.solved.sometimes, main.solved.never) == (1, 1, 3)
    assert main.by_sample == pytest.approx((0.4, 0.2, 0.2))


def test_math_is_grouped_by_subject_and_level(summarize: Summarize, make_math: Make) -> None:
    groups = summarize(make_math(1)).pipeline("strict").groups
    assert [group.name for group in groups["subject"]] == ["Algebra", "Geometry", "Number Theory"]
    assert sum(group.problems for group in groups["level"]) == 100


def test_rules_count_replies_and_accepts_of_the_headline(summarize: Summarize, make_math: Make) -> None:
    task = summarize(make_math(1))
    assert sum(rule.replies for rule in task.rules) == 100
    assert sum(rule.accepted for rule in task.rules) == task.pipeline("strict").passed


def test_equal_seeds_give_equal_summaries(summarize: Summarize, make_code: Make) -> None:
    rows = make_code(2, problems=20, samples=5)
    first, second = summarize(rows), summarize(rows)
    assert first.pipelines[0].pass_at == second.pipelines[0].pass_at
    assert not math.isnan(first.pipelines[0].pass_at[0].low)
