"""Samples in, the least time in which they can be judged out: one process, no isolation, tests compiled once.

Each candidate runs once a sample and each reference once a problem; an answer is compared once. Called as
``python run_floor.py PROBLEMS SAMPLES CACHE``.
"""

from __future__ import annotations

import contextlib
import io
import json
import marshal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def reference_once(scope: dict[str, Any], kept: dict[str, Any]) -> None:
    """Let a test's ``ref_func`` compute each value for the first sample of the problem only."""
    compute: Callable[..., Any] = scope["ref_func"]

    def looked_up(*arguments: Any) -> Any:
        key = marshal.dumps(arguments, 2)
        if key not in kept:
            kept[key] = compute(*arguments)
        return kept[key]

    scope["ref_func"] = looked_up


def main(problems_file: str, samples_file: str, cache_folder: str) -> None:
    """Run every sample against its problem's own test."""
    problems = {row["task_id"]: row for row in map(json.loads, Path(problems_file).read_text().splitlines())}
    cache = Path(cache_folder)
    cache.mkdir(parents=True, exist_ok=True)
    passed, current, code, kept = 0, "", None, {}
    for row in map(json.loads, Path(samples_file).read_text().splitlines()):
        problem = problems[row["task_id"]]
        if row["task_id"] != current:
            current, kept = row["task_id"], {}
            file = cache / (current.replace("/", "_") + ".code")
            if not file.exists():
                file.write_bytes(marshal.dumps(compile(problem["test"], "<test>", "exec")))
            code = marshal.loads(file.read_bytes())
        scope: dict[str, Any] = {"__name__": "sample"}
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
            exec(problem["prompt"] + row["completion"], scope)
            exec(code, scope)
            if "ref_func" in scope:
                reference_once(scope, kept)
            scope["check"](scope[problem["entry_point"]])
            passed += 1
    print(json.dumps({"passed": passed}))


if __name__ == "__main__":
    main(*sys.argv[1:])
