"""Samples in, the verdicts of lm-eval's code path out: ``evaluate``'s code_eval, one document at a time.

The metric's script is on the hub only: CODE_EVAL_PATH names a folder that holds it. Called as ``python
run_code_eval.py PROBLEMS SAMPLES``.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import evaluate


def main(problems_file: str, samples_file: str) -> None:
    """Compute pass@1 of each document as lm-eval's HumanEval task does."""
    metric = evaluate.load(os.environ["CODE_EVAL_PATH"])
    problems = {row["task_id"]: row for row in map(json.loads, Path(problems_file).read_text().splitlines())}
    by_problem: dict[str, list[str]] = {}
    for row in map(json.loads, Path(samples_file).read_text().splitlines()):
        by_problem.setdefault(row["task_id"], []).append(
            problems[row["task_id"]]["prompt"] + row["completion"]
        )
    passed = 0
    for key, programs in by_problem.items():
        test = f"{problems[key]['test']}\ncheck({problems[key]['entry_point']})"
        _, results = metric.compute(references=[test], predictions=[programs], k=[1])
        passed += sum(result["passed"] for _, result in results[0])
    print(json.dumps({"passed": passed}))


if __name__ == "__main__":
    main(*sys.argv[1:])
