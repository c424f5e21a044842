"""Replies in, lm-eval's own evaluation of them out: ``python run_lm_eval.py TASK REPLIES.jsonl``.

A stock lm-eval with a model that hands out the given replies (``task_id``, ``reply``) in the place of a real
one; the journal goes where LM_EVAL_STRICT_HOME says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def main(task: str, replies_file: str) -> None:
    """Evaluate, and print the results."""
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    from lm_eval_strict.filters.task_spec import tasks_folder

    rows = map(json.loads, Path(replies_file).read_text().splitlines())
    replies = {row["task_id"]: row["reply"] for row in rows}

    class Replies(LM):
        def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
            return [replies[request.doc["task_id"]] for request in requests]

        def loglikelihood(self, requests: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=[str(tasks_folder())], include_defaults=False)
    done = lm_eval.simple_evaluate(
        model=Replies(), tasks=[task], task_manager=manager, bootstrap_iters=0, log_samples=False
    )
    print(json.dumps(done["results"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
