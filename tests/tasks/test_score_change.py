"""A commit that moves a locked number says so, or is refused: tried in a repository made for the test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lm_eval_strict.filters.lock_file import Block, behaviour_digest, write_lock, write_verdicts

CHECKER = Path(__file__).parents[2] / ".ci" / "score_change.py"
KEPT = {"r1": {"exact": "right"}, "r2": {"exact": "wrong"}}
MOVED = {**KEPT, "r2": {"exact": "right"}}
ADDED = {**KEPT, "r3": {"exact": "right"}}
LINE = "score-change: some_task_v1 exact 0.50 -> 1.00"


class Repository:
    """A repository with one locked task, in which a test commits."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tasks").mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.lock({"some_task_v1": "sha256:a"}, KEPT)
        self.commit("tasks: add some_task")

    def git(self, *arguments: str) -> str:
        author = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        author |= {
            f"GIT_{who}_{what}": "x@example.org"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        ran = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={**os.environ, **author},
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout

    def lock(self, declared: dict[str, str], verdicts: dict[str, dict[str, str]]) -> None:
        write_verdicts(self.folder / "tasks" / "verdicts_some_task_v1.jsonl", verdicts)
        made = {
            task: Block(
                "1.0.0", digest, behaviour_digest(verdicts), len(verdicts), "verdicts_some_task_v1.jsonl"
            )
            for task, digest in declared.items()
        }
        write_lock(self.folder / "tasks", made)
        self.git("add", "tasks")

    def commit(self, message: str) -> None:
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def check(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, CHECKER, *arguments], cwd=self.folder, capture_output=True, text=True
        )

    def check_message(self, message: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "MESSAGE").write_text(message)
        return self.check("message", "MESSAGE")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


CHANGES = {
    "a declared digest": ({"some_task_v1": "sha256:b"}, KEPT),
    "a kept verdict": ({"some_task_v1": "sha256:a"}, MOVED),
    "a task that is gone": ({}, KEPT),
    "another major": ({"some_task_v1": "sha256:a", "some_task_v2": "sha256:b"}, KEPT),
}


@pytest.mark.parametrize(("declared", "verdicts"), CHANGES.values(), ids=CHANGES)
def test_a_moved_number_needs_its_line(
    repository: Repository, declared: dict[str, str], verdicts: dict[str, dict[str, str]]
) -> None:
    repository.lock(declared, verdicts)
    silent = repository.check_message("tasks: tidy\n")
    assert silent.returncode == 1 and "add the line 'score-change: some_task" in silent.stderr
    told = LINE.replace("_v1", "") if "some_task_v2" in declared else LINE
    assert repository.check_message(f"tasks: read a comma\n\n{told}\n").returncode == 0


@pytest.mark.parametrize(
    "line",
    [
        "score-change: another_task exact 0.50 -> 1.00",
        "score-change: some_task_v1 exact",
        "score-change: some_task_v1 0.50 -> 1.00",
        "a score-change: some_task_v1 exact 0.50 -> 1.00",
    ],
)
def test_a_line_of_another_task_or_form_does_not_count(repository: Repository, line: str) -> None:
    repository.lock({"some_task_v1": "sha256:b"}, KEPT)
    assert repository.check_message(f"tasks: tidy\n\n{line}\n").returncode == 1


@pytest.mark.parametrize(
    ("declared", "verdicts"),
    [
        ({"some_task_v1": "sha256:a"}, KEPT),
        ({"some_task_v1": "sha256:a"}, ADDED),
        ({"some_task_v1": "sha256:a", "new_task_v1": "sha256:c"}, KEPT),
    ],
    ids=["nothing", "replies that were added", "a new task"],
)
def test_a_commit_that_moves_no_number_needs_no_line(
    repository: Repository, declared: dict[str, str], verdicts: dict[str, dict[str, str]]
) -> None:
    repository.lock(declared, verdicts)
    assert repository.check_message("tasks: tidy\n").returncode == 0


def test_each_commit_of_a_range_is_checked(repository: Repository) -> None:
    repository.lock({"some_task_v1": "sha256:b"}, KEPT)
    repository.commit(f"tasks: ask otherwise\n\n{LINE}")
    assert repository.check("range", "HEAD~1..HEAD").returncode == 0
    repository.lock({"some_task_v1": "sha256:c"}, KEPT)
    repository.commit("tasks: ask again otherwise")
    repository.commit(f"docs: too late\n\n{LINE}")
    found = repository.check("range", "HEAD~3..HEAD")
    assert found.returncode == 1 and found.stderr.count("\n") == 1
    assert found.stderr.startswith(repository.git("rev-parse", "HEAD~1")[:10])


def test_a_wrong_call_says_how_to_call(repository: Repository) -> None:
    assert repository.check("message").returncode == 2


def test_a_range_that_git_does_not_know_is_no_pass(repository: Repository) -> None:
    assert repository.check("range", "nowhere..HEAD").returncode == 2
