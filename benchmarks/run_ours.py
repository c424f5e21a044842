"""Samples in, our sandbox's verdicts out; called as ``python run_ours.py PROBLEMS SAMPLES WORKERS SUITES``.

PROBLEMS are rows with the fields of ``Exam``; SUITES is a list with commas; the state folder (the cache of
prepared exams) comes from LM_EVAL_STRICT_HOME.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lm_eval_strict.sandbox.records import Exam, Limits, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

HERE = Path(__file__).parent
LIMITS = Limits(cpu_s=150, wall_s=600)  # above every reference, wherever it runs


def task_limits() -> dict[str, Limits]:
    """Read the limits of the problems for which humaneval_plus_strict declares more than the default."""
    declared = json.loads((HERE.parent / "tasks" / "humaneval_plus_cpu_limits.json").read_text())
    return {key: Limits(cpu_s=cpu_s, wall_s=3 * cpu_s) for key, cpu_s in declared["cpu_s"].items()}


def exam_of(row: dict[str, str], suites: str) -> Exam:
    """Build an exam; without a plus suite its test is not needed, and HumanEval/32 is judged by its base
    test.
    """
    plus = None if suites == "base" or row["task_id"] == "HumanEval/32" else row["plus_test"]
    return Exam(
        exam_id=row["task_id"],
        task_id=row["task_id"],
        entry_point=row["entry_point"],
        prompt=row["prompt"],
        canonical_solution=row["canonical_solution"],
        base_test=row["base_test"],
        plus_test=plus,
    )


def main(problems_file: str, samples_file: str, workers: str, suites: str) -> None:
    """Judge every sample by the named suites; a sample passes if it passes the last of them."""
    asked = tuple(Suite(name) for name in suites.split(","))
    with Sandbox(workers=int(workers)) as sandbox:
        rows = [json.loads(line) for line in Path(problems_file).read_text().splitlines()]
        exams = {row["task_id"]: exam_of(row, suites) for row in rows}
        limits = task_limits()
        submissions = [
            Submission(key, exams[key].prompt + row["completion"], asked, limits.get(key, Limits()))
            for row in map(json.loads, Path(samples_file).read_text().splitlines())
            for key in [row["task_id"]]
        ]
        results = sandbox.grade(exams, submissions)
    print(json.dumps({"passed": sum(result.suites[-1].verdict.value == "passed" for result in results)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
