"""A page's name in, the folder for its examples out: small runs of our own, or a copy of the pack."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from command_lines import ROOT

FOLDERS_OF_OURS = ("backends", "filters", "report", "sandbox", "tasks")
Row = dict[str, Any]


def load(path: Path) -> Any:
    """Import a module of the tests by its path."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Made with a seed by the generator that the tests of the report use.
_rows = load(ROOT / "tests" / "report" / "conftest.py")


def prepare(page: str, folder: Path) -> None:
    """Fill ``folder`` with what the examples of a page find there."""
    if page == "adding":
        for name in FOLDERS_OF_OURS:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    elif page == "ci":
        _write(folder / "monday", [_request("off"), *_rows.code_rows(1)])
        _write(folder / "tuesday", [_request("off"), *_rows.code_rows(1, ability=0.5)])
    elif page == "comparison":
        shutil.copytree(ROOT / "docs" / "comparison", folder / "docs" / "comparison")
    elif page in ("experiment", "scores"):
        write_runs(folder / "runs")


def write_runs(folder: Path) -> None:
    """Write the runs of the experiment: code and math, thinking on and off, one reply and ten."""
    off, on = _request("off"), _request("on")
    _write(folder / "plus", [off, *_with_known_failures(_rows.code_rows(1))])
    _write(folder / "plus-thinking", [on, *_rows.code_rows(1, ability=0.75)])
    _write(folder / "math", [off, *_rows.math_rows(2)])
    _write(folder / "math-thinking", [on, *_rows.math_rows(3, ability=0.8)])
    _write(
        folder / "plus-10",
        [off, *_rows.code_rows(4, problems=40, samples=10, task="humaneval_plus_strict_10")],
    )


def _request(thinking: str) -> Row:
    return {"rows": 1, "model": "model-a", "request": {"thinking": thinking}}


def _with_known_failures(rows: list[Row]) -> list[Row]:
    """Give three replies that pass ``base`` a failure of each kind that ``explain`` tells from a bug."""
    quirks = [json.loads(line) for line in (ROOT / "tasks" / "humaneval_plus_quirks.jsonl").open()]
    quirk = next(each for each in quirks if each["input"])
    integers = next(each for each in quirks if each.get("domain") == "integers")
    by_key = {(row["task_id"], row["pipeline"]): row for row in rows}
    for key in (quirk["task_id"], integers["task_id"], "HumanEval/1"):
        by_key[key, "base"]["verdict"] = "passed"
    failing = ("plus", "plus_strict", "plus_adjudicated")
    for pipeline in failing:
        got = {"input": quirk["input"][1:-1], "expected": "True", "got": quirk["careful_output"]}
        given = pipeline == "plus_adjudicated"
        by_key[quirk["task_id"], pipeline].update(
            verdict="passed" if given else "wrong_answer", first_failure=None if given else got
        )
        by_key[integers["task_id"], pipeline].update(
            verdict="wrong_answer", first_failure={"input": "[1.5]", "expected": "1.5", "got": "1"}
        )
        by_key["HumanEval/1", pipeline].update(
            verdict="timed_out", detail="longer than 10 s", first_failure=None
        )
    return rows


def _write(folder: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    folder.mkdir(parents=True)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
