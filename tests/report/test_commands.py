"""The commands as a user runs them: exit status, output, files, and one line for a mistake."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner

from lm_eval_strict.report import cli_cite, cli_compare, cli_gate, cli_report, cli_review
from lm_eval_strict.report.command_help import help_text
from lm_eval_strict.report.faults import UsageFault

Row = dict[str, Any]
Make = Callable[..., list[Row]]
Write = Callable[[Path, Iterable[Row]], Path]
Call = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    made = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    for area in (cli_report, cli_compare, cli_review, cli_gate, cli_cite):
        area.register(made)
    return made


@pytest.fixture
def call(app: typer.Typer) -> Call:
    def made(*words: object) -> tuple[int, str]:
        result = CliRunner().invoke(app, [str(word) for word in words])
        if isinstance(result.exception, UsageFault):
            return 2, str(result.exception)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.output

    return made


@pytest.fixture
def good(tmp_path: Path, make_code: Make, write: Write) -> Path:
    return write(tmp_path / "good.jsonl", make_code(1, ability=0.7))


@pytest.fixture
def poor(tmp_path: Path, make_code: Make, write: Write) -> Path:
    return write(tmp_path / "poor.jsonl", make_code(1, ability=0.4))


def test_report_prints_score_interval_ladder_and_both_denominators(call: Call, good: Path) -> None:
    status, text = call("report", good)
    assert status == 0
    for words in ("plus_strict", "95% interval", "The ladder, paired", "over the 163 that EvalPlus can pass"):
        assert words in text


def test_report_prints_the_golden_table(call: Call, good: Path, poor: Path, tmp_path: Path) -> None:
    golden = Path(__file__).with_name("golden_report.txt")
    status, text = call("report", good, poor, "--no-details")
    assert status == 0
    assert "\n".join(line.rstrip() for line in text.splitlines()).rstrip() == golden.read_text().rstrip()


def test_report_json_is_strict_json_with_every_pipeline(call: Call, good: Path) -> None:
    status, text = call("report", good, "--json")
    document = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    task = document["runs"][0]["tasks"][0]
    assert status == 0
    assert [one["pipeline"] for one in task["pipelines"]] == [
        "base",
        "plus",
        "plus_strict",
        "plus_adjudicated",
    ]
    made = task["pipelines"][0]["pass_at"][0]
    assert made["low"] < made["value"] < made["high"]


def test_report_of_a_math_run_has_levels_and_subjects(
    call: Call, tmp_path: Path, make_math: Make, write: Write
) -> None:
    status, text = call("report", write(tmp_path / "math.jsonl", make_math(1)))
    assert status == 0
    assert "strict by subject" in text and "strict by level" in text


def test_report_of_n_samples_has_every_curve(
    call: Call, tmp_path: Path, make_code: Make, write: Write
) -> None:
    path = write(tmp_path / "many.jsonl", make_code(1, problems=30, samples=5))
    status, text = call("report", path)
    assert status == 0
    for words in ("pass@5", "pass^5", "sometimes", "Each sample as one run", "comes from sampling"):
        assert words in text


def test_compare_is_paired_and_names_the_winners(call: Call, good: Path, poor: Path) -> None:
    status, text = call("compare", good, poor, "--power", "5")
    assert status == 0
    assert "exact McNemar" in text and "Only or better in good" in text and "To settle a difference" in text
    document = json.loads(call("compare", good, poor, "--json")[1])
    main = next(one for one in document["pipelines"] if one["pipeline"] == "plus_strict")
    assert main["difference"]["worse"] == len(main["won_by_first"])


def test_compare_warns_when_the_rule_mix_moved(
    call: Call, tmp_path: Path, good: Path, make_code: Make, write: Write
) -> None:
    moved = write(tmp_path / "moved.jsonl", [{**row, "rule": "bare"} for row in make_code(1)])
    assert "the mix of extraction rules moved" in call("compare", good, moved)[1].replace("\n", " ")


def test_compare_of_two_graders_needs_one_run(call: Call, good: Path, poor: Path) -> None:
    assert "base → plus" in call("compare", good, "--graders", "base,plus")[1]
    assert call("compare", good, poor, "--graders", "base,plus")[0] == 2
    assert "no pipeline 'nice'" in call("compare", good, "--graders", "base,nice")[1]


def test_compare_refuses_other_tasks_and_other_data(
    call: Call, tmp_path: Path, good: Path, make_math: Make, make_code: Make, write: Write
) -> None:
    math = write(tmp_path / "math.jsonl", make_math(1))
    assert "no task in common" in call("compare", good, math)[1]
    other = write(tmp_path / "other.jsonl", [{**row, "row_hash": "sha256:other"} for row in make_code(1)])
    assert "is not the same problem" in call("compare", good, other)[1]


def with_header(path: Path, write: Write, rows: list[Row], **request: str) -> Path:
    header = {"rows": 1, "task": rows[0]["task"], "request": request, "model": request.get("model")}
    return write(path, [header, *rows])


def test_runs_that_differ_are_compared_only_across_the_named_field(
    call: Call, tmp_path: Path, make_code: Make, write: Write
) -> None:
    first = with_header(tmp_path / "on.jsonl", write, make_code(1), model="m", thinking="true", prompts="a")
    second = with_header(
        tmp_path / "off.jsonl", write, make_code(2), model="m", thinking="false", prompts="b"
    )
    status, text = call("compare", first, second)
    assert status == 2 and "--across thinking" in text
    assert call("compare", first, second, "--across", "thinking")[0] == 0


def test_gate_passes_an_equal_run_and_fails_a_worse_one(
    call: Call, tmp_path: Path, good: Path, poor: Path
) -> None:
    baseline = tmp_path / "baseline.json"
    assert call("gate", good, "--baseline", baseline, "--update")[0] == 0
    assert call("gate", good, "--baseline", baseline)[0] == 0
    junit, summary = tmp_path / "gate.xml", tmp_path / "gate.md"
    status, text = call("gate", poor, "--baseline", baseline, "--junit", junit, "--markdown", summary)
    assert status == 1 and text.startswith("FAILED")
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    assert "**failed**" in summary.read_text() and "Lost in plus_strict: HumanEval/" in summary.read_text()


def test_gate_allows_a_loss_up_to_the_named_points(
    call: Call, tmp_path: Path, good: Path, poor: Path
) -> None:
    baseline = tmp_path / "baseline.json"
    call("gate", good, "--baseline", baseline, "--update")
    assert call("gate", poor, "--baseline", baseline, "--allow", "60")[0] == 0


def test_gate_does_not_fail_for_a_loss_that_chance_explains(
    call: Call, tmp_path: Path, good: Path, make_code: Make, write: Write
) -> None:
    rows = make_code(1, ability=0.7)
    first = next(row for row in rows if row["pipeline"] == "plus_strict" and row["verdict"] == "passed")
    first["verdict"] = "wrong_answer"
    baseline = tmp_path / "baseline.json"
    call("gate", good, "--baseline", baseline, "--update")
    worse = write(tmp_path / "one.jsonl", rows)
    assert call("gate", worse, "--baseline", baseline)[0] == 0
    assert call("gate", worse, "--baseline", baseline, "--alpha", "1")[0] == 1


def changed(rows: list[Row], **fields: Any) -> list[Row]:
    return [{**row, **fields} for row in rows]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: changed(rows, row_hash="sha256:x"), "other data"),
        (lambda rows: changed(rows, task_digest="sha256:x"), "task digest"),
        (lambda rows: changed(rows, version="2.0.0"), "version 1.0.0 in the baseline, 2.0.0"),
        (lambda rows: [row for row in rows if row["task_id"] != "HumanEval/7"], "lacks HumanEval/7"),
        (lambda rows: [changed(rows[:4], verdict="harness_error"), rows[4:]], "harness errors"),
        (lambda rows: changed(rows, measured={"near_limit": True, "factor": 3.0}), "near a limit"),
        (lambda rows: changed(rows, task="humaneval_strict"), "the baseline is of humaneval_plus_strict"),
    ],
)
def test_gate_exits_two_where_it_cannot_compare(
    call: Call,
    tmp_path: Path,
    good: Path,
    make_code: Make,
    write: Write,
    change: Callable[..., Any],
    words: str,
) -> None:
    baseline, junit = tmp_path / "baseline.json", tmp_path / "gate.xml"
    call("gate", good, "--baseline", baseline, "--update")
    rows = change(make_code(1))
    rows = [*rows[0], *rows[1]] if isinstance(rows[0], list) else rows
    status, text = call("gate", write(tmp_path / "x.jsonl", rows), "--baseline", baseline, "--junit", junit)
    assert status == 2 and "cannot compare" in text and words in text
    assert ElementTree.parse(junit).getroot().get("errors") == "1"


def test_gate_compares_another_version_only_across_it(
    call: Call, tmp_path: Path, good: Path, make_code: Make, write: Write
) -> None:
    baseline = tmp_path / "baseline.json"
    call("gate", good, "--baseline", baseline, "--update")
    newer = write(tmp_path / "new.jsonl", make_code(1, ability=0.7, version="1.1.0"))
    assert call("gate", newer, "--baseline", baseline)[0] == 2
    assert call("gate", newer, "--baseline", baseline, "--across", "version")[0] == 0


def test_gate_update_writes_equal_files_for_equal_runs_and_refuses_harness_errors(
    call: Call, tmp_path: Path, good: Path, make_code: Make, write: Write
) -> None:
    first, second = tmp_path / "one.json", tmp_path / "two.json"
    call("gate", good, "--baseline", first, "--update")
    call("gate", good, "--baseline", second, "--update")
    assert first.read_bytes() == second.read_bytes()
    assert json.loads(first.read_text())["made_with"]["libraries"]["math-verify"]
    broken = write(tmp_path / "broken.jsonl", changed(make_code(1), verdict="harness_error"))
    assert call("gate", broken, "--baseline", first, "--update")[0] == 2


def test_gate_refuses_a_file_that_is_no_baseline(call: Call, tmp_path: Path, good: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert "no baseline of gate" in call("gate", good, "--baseline", other)[1]


def test_cite_names_everything_and_reads_its_own_mark_back(call: Call, tmp_path: Path, good: Path) -> None:
    from lm_eval_strict.report.citation import read_marks

    status, text = call("cite", good)
    assert (
        status == 0
        and "@misc{humaneval_plus_strict_1_0_0" in text
        and "@inproceedings{liu2023evalplus" in text
    )
    fields = read_marks(text.replace("; ", ";\n  "))[0]
    assert fields["task"] == "humaneval_plus_strict" and fields["task_digest"].startswith("sha256:")
    assert fields["isolation"] == "full" and fields["limits"].startswith("cpu_s 10")


def test_cite_refuses_off_lock_runs_and_unfinished_ones(
    call: Call, tmp_path: Path, make_code: Make, make_math: Make, write: Write
) -> None:
    off = write(tmp_path / "off.jsonl", changed(make_math(1), off_lock=["sympy==1.13.1"]))
    assert "off-lock" in call("cite", off)[1]
    waiting = write(tmp_path / "waiting.jsonl", changed(make_code(1), verdict="not_graded"))
    assert "have no verdict" in call("cite", waiting)[1]


def test_cite_check_says_what_does_not_hold(call: Call, tmp_path: Path, good: Path) -> None:
    paper = tmp_path / "paper.bib"
    paper.write_text(call("cite", good)[1])
    status, text = call("cite", paper, "--check")
    assert status == 1
    assert "✗ task digest sha256:humaneval_plus_strict-1.0.0, the pack's is sha256:" in text
    assert "could NOT" in text


def test_cite_check_holds_for_a_run_of_the_installed_pack(
    call: Call, tmp_path: Path, make_math: Make, make_code: Make, write: Write
) -> None:
    from lm_eval_strict.filters.task_spec import read_task

    for rows, version in ((make_math(1), None), (make_code(1), "1.7.3")):
        spec = read_task(rows[0]["task"])
        rows = changed(rows, task_digest=spec.digest, version=version or spec.version)
        path = with_header(
            tmp_path / f"{spec.kind}.jsonl", write, rows, model="m", prompts="p", generation="g"
        )
        paper = tmp_path / f"{spec.kind}.bib"
        paper.write_text(call("cite", path)[1])
        status, text = call("cite", paper, "--check")
        assert (status, "could give this score again" in text) == (0, True), text
        assert call("cite", path, "--check")[0] == 0


def test_readings_print_the_score_as_read_and_every_misjudgement(
    call: Call, tmp_path: Path, make_math: Make, write: Write
) -> None:
    from lm_eval_strict.report.reading_cases import case_key

    rows = make_math(1, problems=40)
    path = write(tmp_path / "math.jsonl", rows)
    exact_no_strict_yes = [row for row in rows if row["pipeline"] == "strict" and row["verdict"] == "right"]
    lines = [{"key": case_key(row), "decision": "right", "note": "read"} for row in exact_no_strict_yes]
    write(tmp_path / "math.decisions.jsonl", lines)
    status, text = call("review", path, "--readings")
    assert status == 0
    for words in ("Score as read", "kappa", "False rejects", "exact"):
        assert words in text
    made = json.loads(call("review", path, "--json")[1])["tasks"][0]
    assert made["agreement"]["strict"]["share"] == 1.0
    assert {miss["pipeline"] for miss in made["false_rejects"]} == {"exact", "normalized"}


@pytest.mark.parametrize("command", ["report", "compare", "review", "gate", "cite"])
def test_help_of_each_command_is_plain_text_that_fits_a_readme(app: typer.Typer, command: str) -> None:
    text = help_text(app, command)
    assert text.startswith(f"Usage: lm-eval-strict {command}")
    assert "--help" in text and "\x1b" not in text
    assert all(len(line) <= 100 and line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize(
    "words",
    [
        ("report", "gone.jsonl"),
        ("compare", "gone.jsonl"),
        ("compare", "gone.jsonl", "gone.jsonl", "--power", "0"),
        ("gate", "gone.jsonl", "--baseline", "gone.json"),
        ("gate", "gone.jsonl", "--baseline", "gone.json", "--allow", "-1"),
        ("cite", "gone.jsonl"),
        ("review", "gone.jsonl"),
    ],
)
def test_a_mistake_is_one_line_and_exit_two(call: Call, tmp_path: Path, words: tuple[str, ...]) -> None:
    placed = [str(tmp_path / word) if word.startswith("gone") else word for word in words]
    status, text = call(*placed)
    assert status == 2 and text and "\n" not in text and "Traceback" not in text
