"""Score one program that ends itself before the test, with inspect_evals' own HumanEval scorer.

python inspect_early_exit.py   (needs inspect_evals; no network and no model: the reply is given)

Prints the score: C is correct, I is incorrect.
"""

from __future__ import annotations

import tempfile

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_evals.humaneval.humaneval import verify

REPLY = "```python\ndef add(x, y):\n    pass\nimport os\nos._exit(0)\n```"
PROBLEM = {
    "prompt": "def add(x, y):\n",
    "test": "def check(candidate):\n    assert candidate(2, 3) == 5\n",
    "entry_point": "add",
}


@solver
def given() -> Solver:
    """Answer every problem with REPLY."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("given", REPLY)
        return state

    return solve


sample = Sample(input="add two numbers", metadata=PROBLEM)
task = Task(dataset=[sample], solver=given(), scorer=verify(), sandbox="local")
(log,) = eval(task, model="mockllm/model", display="none", log_dir=tempfile.mkdtemp())
for score in log.samples[0].scores.values():
    print(score.value)
