"""SIGKILL at the processes of an evaluation in, whether a verdict was lost or anything left behind out.

Victims: lm-eval's process and the ``grade`` command while programs run (what was kept is then graded on), and
the broker and a worker within a running ``grade`` (which goes on by itself). Every run's rows must equal an
undisturbed one's, and 2 s after the death of a process its tree must be gone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from process_tree import children_of, tree_of

from lm_eval_strict.filters.problems import load_problems

HERE = Path(__file__).parent
TASK = "humaneval_strict"
GONE_S = 2.0
START_S = 120.0
COMMAND = [str(Path(sys.executable).with_name("lm-eval-strict")), "grade", "--task", TASK]
BURN = "\nimport time as _time\nwhile _time.process_time() < 0.1:\n    pass\n"
WRONG_SHARE = 5  # one reply in so many is made wrong, so that equal rows are not just all passes


class Kills:
    """The kills of one soak, in ``folder``, each victim ``times`` times."""

    def __init__(self, folder: Path, problems: int, times: int) -> None:
        self.folder = folder
        self.problems = problems
        self.times = times
        self.replies = self._write_replies()
        self.environment = {**os.environ, "LM_EVAL_STRICT_HOME": str(folder / "home")}
        self._grade(self.replies, "undisturbed")
        self.undisturbed = self._rows("undisturbed")

    def _write_replies(self) -> Path:
        """Write a reply for every problem; the first burn 0.1 s each, so that kills hit running programs."""
        lines = []
        for number, problem in enumerate(load_problems("humaneval")):
            body = "    pass\n" if number % WRONG_SHARE == 0 else problem["canonical_solution"]
            reply = f"```python\n{problem['prompt']}{body}{BURN if number < self.problems else ''}```\n"
            lines.append(json.dumps({"id": problem.key + "#0", "task_id": problem.key, "reply": reply}))
        file = self.folder / "replies.jsonl"
        file.write_text("\n".join(lines) + "\n")
        return file

    def _grade(self, replies: Path, name: str, *options: str) -> None:
        subprocess.run(
            [*COMMAND, str(replies), "--out", str(self.folder / name), *options],
            env=self.environment,
            stderr=subprocess.DEVNULL,
            check=True,
        )

    def _rows(self, name: str) -> list[dict[str, Any]]:
        """Read rows without what was measured and where the reply came from."""
        rows = [json.loads(line) for line in (self.folder / name).read_text().splitlines()]
        return [{key: row[key] for key in ("id", "pipeline", "verdict", "rule", "detail")} for row in rows]

    def run(self) -> dict[str, Any]:
        """Kill all victims; say what was seen."""
        found: dict[str, Any] = {
            "lm-eval": self._each(self.kill_lm_eval),
            "grade": self._each(self.kill_grade),
            "broker": self._each(lambda number: self.kill_inside(number, "broker")),
            "worker": self._each(lambda number: self.kill_inside(number, "worker")),
        }
        found["ok"] = all(
            part["equal"] == part["killed"] == self.times and not part["left"] for part in found.values()
        )
        return found

    def _each(self, kill: Callable[[int], tuple[bool, int]]) -> dict[str, int]:
        outcomes = [kill(number) for number in range(self.times)]
        return {
            "killed": len(outcomes),
            "equal": sum(equal for equal, _ in outcomes),
            "left": sum(left for _, left in outcomes),
        }

    def kill_lm_eval(self, number: int) -> tuple[bool, int]:
        """Kill lm-eval while it grades, grade its journal; say if the rows are equal, and what was left."""
        command = [sys.executable, str(HERE / "run_lm_eval.py"), TASK, str(self.replies)]
        home = self.folder / f"lm-eval-{number}"
        left = self._kill_midway(command, {"LM_EVAL_STRICT_HOME": str(home)}, number)
        (journal,) = (home / "journals").glob("*.jsonl")
        name = f"lm-eval-{number}.rows"
        self._grade(journal, name)
        return self._rows(name) == self.undisturbed, left

    def kill_grade(self, number: int) -> tuple[bool, int]:
        """Kill ``grade`` midway and go on with ``--resume``."""
        name = f"grade-{number}.rows"
        command = [*COMMAND, str(self.replies), "--out", str(self.folder / name)]
        left = self._kill_midway(command, {}, number)
        self._grade(self.replies, name, "--resume")
        return self._rows(name) == self.undisturbed, left

    def kill_inside(self, number: int, victim: str) -> tuple[bool, int]:
        """Kill a process of a running ``grade``, which is to go on by itself, and to leave nothing."""
        name = f"{victim}-{number}.rows"
        process = self._start([*COMMAND, str(self.replies), "--out", str(self.folder / name)], {})
        self._await_samples(process.pid, number)
        broker = _broker_below(process.pid)
        workers = [worker for nursery in children_of(broker) for worker in children_of(nursery)]
        killed = broker if victim == "broker" else workers[number % len(workers)]
        below = {killed} if victim == "worker" else tree_of(broker)
        os.kill(killed, signal.SIGKILL)
        left = _still_there(below)
        process.wait()
        return process.returncode == 0 and self._rows(name) == self.undisturbed, left

    def _start(self, command: Sequence[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            env={**self.environment, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _kill_midway(self, command: Sequence[str], environment: dict[str, str], number: int) -> int:
        """Kill a command while its samples run; count what of its tree is there 2 s later."""
        process = self._start(command, environment)
        self._await_samples(process.pid, number)
        below = tree_of(process.pid) - {process.pid}
        process.kill()
        process.wait()
        return _still_there(below)

    def _await_samples(self, pid: int, number: int) -> None:
        """Wait until a worker below ``pid`` has a sample running, then a moment that is longer each time."""
        deadline = time.monotonic() + START_S
        while not _has_samples(pid):
            if time.monotonic() > deadline:
                raise TimeoutError(f"no sample ran below process {pid} within {START_S:.0f} s")
            time.sleep(0.02)
        time.sleep(0.3 * number / self.times)


def _broker_below(pid: int) -> int:
    for child in children_of(pid):
        if Path(f"/proc/{child}/cmdline").read_bytes().find(b"lm_eval_strict.sandbox.broker") >= 0:
            return child
    raise ProcessLookupError(f"process {pid} has no broker")


def _has_samples(pid: int) -> bool:
    """Say whether a grandchild of a nursery lives below ``pid``: a sample of a locked-in worker."""
    try:
        broker = _broker_below(pid)
        return any(children_of(worker) for nursery in children_of(broker) for worker in children_of(nursery))
    except (OSError, ProcessLookupError):
        return False


def _still_there(pids: set[int]) -> int:
    """Count the processes that have not ended within 2 s."""
    deadline = time.monotonic() + GONE_S
    while True:
        left = sum(_runs(pid) for pid in pids)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False
