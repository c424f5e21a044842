"""Samples in, EvalPlus' verdicts out; called as ``python run_evalplus.py SAMPLES WORKERS``, the data in
HUMANEVAL_OVERRIDE_PATH and its cache in XDG_CACHE_HOME.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from evalplus.evaluate import evaluate


def main(samples_file: str, workers: str) -> None:
    """Judge with EvalPlus' own command, its limits at their defaults."""
    results = Path(samples_file.replace(".jsonl", "_eval_results.json"))
    results.unlink(missing_ok=True)
    evaluate(dataset="humaneval", samples=samples_file, parallel=int(workers), i_just_wanna_run=True)
    judged = [sample for task in json.loads(results.read_text())["eval"].values() for sample in task]
    print(json.dumps({"passed": sum(s["base_status"] == s["plus_status"] == "pass" for s in judged)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
