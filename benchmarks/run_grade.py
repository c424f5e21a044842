"""Programs in, how many pass out, by the command that users have.

``python run_grade.py PROGRAMS ROWS TASK WORKERS`` runs ``lm-eval-strict grade`` and counts its rows.

A sample passes if it passes the task's strictest pipeline that is not adjudicated.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def main(programs: str, rows: str, task: str, workers: str) -> None:
    """Run ``lm-eval-strict grade`` and count."""
    Path(rows).unlink(missing_ok=True)
    command = [str(Path(sys.executable).with_name("lm-eval-strict")), "grade", "--task", task, programs]
    subprocess.run([*command, "--out", rows, "--workers", workers], check=False)
    pipeline = "plus_strict" if "plus" in task else "base"
    judged = (json.loads(line) for line in Path(rows).read_text().splitlines())
    passed = sum(row["pipeline"] == pipeline and row["verdict"] == "passed" for row in judged)
    print(json.dumps({"passed": passed}))


if __name__ == "__main__":
    main(*sys.argv[1:])
