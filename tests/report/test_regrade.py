"""Replies out of every kind of file, and graded again on real workers with the verdicts before compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from lm_eval_strict.report import cli_regrade
from lm_eval_strict.report.faults import UsageFault
from lm_eval_strict.report.reply_lines import open_source

Row = dict[str, Any]
Make = Callable[..., list[Row]]
Write = Callable[[Path, Iterable[Row]], Path]


def lines_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in open_source(path).lines(lambda problem: f"# {problem}\n")]


def test_an_lm_eval_samples_file_gives_each_reply_once_over_all_pipelines(
    tmp_path: Path, make_code: Make, write: Write
) -> None:
    rows = make_code(1, problems=2, samples=2)
    lines = []
    for pipeline in ("base", "plus"):
        for problem in ("HumanEval/0", "HumanEval/1"):
            chosen = [row for row in rows if (row["pipeline"], row["task_id"]) == (pipeline, problem)]
            replies = [f"{problem} {row['sample']}" for row in chosen]
            lines.append({"doc": {}, "resps": [replies], "filtered_resps": [chosen]})
    source = open_source(write(tmp_path / "samples_x.jsonl", lines))
    assert (source.kind, source.task, source.has_verdicts) == (
        "lm-eval samples",
        "humaneval_plus_strict",
        True,
    )
    found = lines_of(source.path)
    assert [(one["task_id"], one["sample"], one["reply"]) for one in found] == [
        (problem, sample, f"{problem} {sample}")
        for problem in ("HumanEval/0", "HumanEval/1")
        for sample in (0, 1)
    ]


def test_a_samples_file_of_another_task_gives_its_replies_by_the_documents_key(
    tmp_path: Path, write: Write
) -> None:
    line = {"doc": {"task_id": "HumanEval/3"}, "resps": [["text"]], "filtered_resps": ["x"]}
    source = open_source(write(tmp_path / "samples_humaneval.jsonl", [line]))
    assert source.task == "" and not source.has_verdicts
    assert lines_of(source.path) == [{"sample": 0, "task_id": "HumanEval/3", "reply": "text"}]


def test_human_eval_completions_are_put_behind_their_prompt(tmp_path: Path, write: Write) -> None:
    lines = [{"task_id": "HumanEval/0", "completion": "  a"}, {"task_id": "HumanEval/0", "solution": "b"}]
    found = lines_of(write(tmp_path / "samples.jsonl", lines))
    assert [(one["sample"], one["program"]) for one in found] == [(0, "# HumanEval/0\n  a"), (1, "b")]


def test_rows_of_grade_give_what_was_extracted(tmp_path: Path, make_math: Make, write: Write) -> None:
    rows = make_math(1, problems=3)
    found = lines_of(write(tmp_path / "rows.jsonl", rows))
    assert [one["answer"] for one in found] == [row["answer"] for row in rows if row["pipeline"] == "exact"]


def test_an_inspect_log_gives_replies_and_exact_truncation(tmp_path: Path) -> None:
    choice = {"message": {"role": "assistant", "content": "text"}, "stop_reason": "max_tokens"}
    log = {
        "status": "success",
        "eval": {"task": "humaneval"},
        "samples": [{"id": "HumanEval/0", "epoch": 2, "output": {"choices": [choice]}}],
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    found = lines_of(path)[0]
    assert (found["task_id"], found["sample"], found["truncated"]) == ("HumanEval/0", 1, "yes")


def test_a_cut_off_line_goes_through_to_be_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text('{"task_id": "HumanEval/0", "reply": "a"}\n{"task_id": "Hum')
    assert len(list(open_source(path).lines(str))) == 2


@pytest.mark.parametrize("content", ["", '{"question": 1}\n', "\x00\x01"])
def test_a_file_without_replies_is_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    with pytest.raises(UsageFault, match=r"x\.jsonl"):
        open_source(path)


@pytest.mark.real_data
def test_regrade_says_what_it_read_and_compares_with_the_verdicts_before(
    tmp_path: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    from lm_eval_strict.filters.problems import load_problems

    monkeypatch.setenv("LM_EVAL_STRICT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LM_EVAL_STRICT_DATA", str(data_folder))
    app = typer.Typer(pretty_exceptions_enable=False)
    cli_regrade.register(app)
    problems = list(load_problems("math500"))[:6]
    replies: list[Row] = [
        {"unique_id": problem.key, "reply": f"The answer is $\\boxed{{{problem['answer']}}}$."}
        for problem in problems
    ]
    source = write(tmp_path / "replies.jsonl", [*replies, {"unique_id": "nobody", "reply": "x"}])
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    made = CliRunner().invoke(app, [str(source), "--task", "math500_strict", "--out", str(first)])
    assert made.exit_code == 0, made.output
    assert "6 replies" in made.output and "'nobody' is no problem" in made.output
    strict = [row for row in map(json.loads, first.open()) if row["pipeline"] == "strict"]
    assert [row["verdict"] for row in strict] == ["right"] * 6 + ["not_graded"]
    rows = [json.loads(line) for line in first.open()]
    flipped = [{**row, "verdict": "wrong"} if row["verdict"] == "right" else row for row in rows]
    again = CliRunner().invoke(app, [str(write(tmp_path / "old.jsonl", flipped)), "--out", str(second)])
    assert again.exit_code == 0, again.output
    assert "the verdicts before" in again.output and "+100.0" in again.output


def test_regrade_needs_a_task_where_the_files_state_none(tmp_path: Path, write: Write) -> None:
    app = typer.Typer(pretty_exceptions_enable=False)
    cli_regrade.register(app)
    source = write(tmp_path / "replies.jsonl", [{"task_id": "HumanEval/0", "reply": "x"}])
    made = CliRunner().invoke(app, [str(source), "--out", str(tmp_path / "o.jsonl")])
    assert isinstance(made.exception, UsageFault) and "name it with --task" in str(made.exception)
