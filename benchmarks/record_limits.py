"""The references of a code task in, its CPU limits out; called as ``python record_limits.py TASK OUT``, with
the published rows in LM_EVAL_STRICT_DATA.

A limit is ten times what the reference used on this machine (the least of three runs, of one where that is
less than 1 s), rounded up to 5 s;
problems for which that is no more than the general 10 s are left out. ``machine._loop`` times the machine
this is recorded on: what a slower one used is brought to the speed that the sandbox reckons with.
"""

from __future__ import annotations

import json
import math
import platform
import sys
from pathlib import Path

from lm_eval_strict.filters.grade_programs import exam_for
from lm_eval_strict.filters.problems import load_problems
from lm_eval_strict.filters.task_spec import read_task
from lm_eval_strict.sandbox import machine
from lm_eval_strict.sandbox.records import CodeVerdict, Limits, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

RUNS = 3
TIMES_REFERENCE = 10
LEAST_S = 10


def main(task: str, out_file: str) -> None:
    """Measure, and write ``{"cpu_s": {task_id: seconds}, ...}``."""
    spec = read_task(task)
    exams = {problem.key: exam_for(spec, problem) for problem in load_problems(spec.dataset)}
    suites = (Suite.PLUS, Suite.PLUS_STRICT)
    limits = Limits(cpu_s=600, wall_s=3600)
    asked = [
        Submission(key, exam.prompt + exam.canonical_solution, suites, limits) for key, exam in exams.items()
    ]
    least: dict[str, float] = {}
    with Sandbox() as sandbox:
        for _ in range(RUNS):
            for submission, result in zip(asked, sandbox.grade(exams, asked), strict=True):
                if {suite.verdict for suite in result.suites} != {CodeVerdict.PASSED}:
                    raise SystemExit(f"the reference of {submission.exam_id} does not pass: {result.suites}")
                used = float(str(result.measured["cpu_s"]))
                least[submission.exam_id] = min(used, least.get(submission.exam_id, used))
            asked = [each for each in asked if TIMES_REFERENCE * least[each.exam_id] > LEAST_S]
    loop_s = min(machine._loop() for _ in range(20))
    slower = max(1.0, loop_s / machine.RECORDED_LOOP_S)
    limits_s = {key: 5 * math.ceil(TIMES_REFERENCE * used / slower / 5) for key, used in least.items()}
    content = {
        "recorded_on": f"{platform.machine()}, Python {platform.python_version()}",
        "loop_s": round(loop_s / slower, 4),
        "times_reference": TIMES_REFERENCE,
        "cpu_s": {key: seconds for key, seconds in limits_s.items() if seconds > LEAST_S},
    }
    Path(out_file).write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
