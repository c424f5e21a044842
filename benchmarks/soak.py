"""Thousands of samples, some of them hostile, in; whether anything leaked, and whether kills cost a verdict,
out.

Three parts, each a name for ``--parts``. *leaks*: many samples in one run, 5% hostile, while processes,
descriptors, mounts, control groups and memory of the whole tree are watched. *kills*: SIGKILL at the host
process, the broker and a worker, again and again; what is graded afterwards must equal an undisturbed run,
and nothing may be left. *verdicts*: all references, many times, some of them with every processor kept busy
by something else. ``--short`` is CI's form.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from process_tree import children_of, descriptors, memory_mib, tree_of
from run_ours import LIMITS, exam_of
from sample_sets import HEAVY, make_sets

from lm_eval_strict.sandbox.client import broker, end_broker
from lm_eval_strict.sandbox.records import Exam, ExamResult, Limits, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

HERE = Path(__file__).parent
CASES = HERE.parent / "tests" / "cases" / "hostile.jsonl"
SUITES = (Suite.BASE, Suite.PLUS, Suite.PLUS_STRICT)
HOSTILE_LIMITS = Limits(cpu_s=2.0, wall_s=5.0)
HOSTILE_SHARE = 0.05
SLOW_CASES = ("time", "resource")  # they run into a limit each; fewer of them keep the run short


def load_exams(data: Path) -> dict[str, Exam]:
    """Read the published problems."""
    with tempfile.TemporaryDirectory() as name:
        file = make_sets(data, Path(name), [1])[0].exams
        rows = [json.loads(line) for line in file.read_text().splitlines()]
    return {row["task_id"]: exam_of(row, "plus") for row in rows}


def make_submissions(exams: dict[str, Exam], count: int) -> list[Submission]:
    """Mix references of light problems, each with a text of its own, with hostile programs."""
    generator = random.Random(7)
    hostile = [json.loads(line) for line in CASES.read_text().splitlines()]
    quick = [row for row in hostile if row["category"] not in SLOW_CASES]
    light = [exam for key, exam in sorted(exams.items()) if key not in HEAVY]
    asked = []
    for number in range(count):
        if generator.random() < HOSTILE_SHARE:
            row = generator.choice(hostile if number % 10 == 0 else quick)
            asked.append(Submission(row["task_id"], row["program"], SUITES, HOSTILE_LIMITS))
        else:
            exam = light[number % len(light)]
            program = f"{exam.prompt}{exam.canonical_solution}\n# {number}\n"
            asked.append(Submission(exam.exam_id, program, SUITES, LIMITS))
    return asked


def verdicts(results: Sequence[ExamResult]) -> list[Any]:
    """Give all of the results that equal runs share."""
    return [result.suites for result in results]


def host_state() -> dict[str, Any]:
    """Describe what a leak would change outside the tree."""
    groups = sum(1 for root in ("/sys/fs/cgroup",) for _ in Path(root).rglob("cgroup.procs"))
    return {
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "cgroups": groups,
        "shared memory": len(list(Path("/dev/shm").iterdir())),
        "tmp": len(list(Path("/tmp").iterdir())),
    }


def leaks(exams: dict[str, Exam], count: int) -> dict[str, Any]:
    """Grade many samples in one run and compare the tree at the end with the tree after the first tenth."""
    asked = make_submissions(exams, count)
    before = host_state()
    marks: list[dict[str, float]] = []

    def mark(index: int, _result: ExamResult) -> None:
        seen["results"] += 1
        if seen["results"] in (count // 10, count // 2, count - 5):
            pids = tree_of(broker().process.pid)
            marks.append(
                {
                    "processes": len(pids),
                    "descriptors": descriptors(pids),
                    "memory_mib": round(memory_mib(pids), 1),
                }
            )

    seen = {"results": 0}
    started = time.monotonic()
    with Sandbox(workers=2) as sandbox:
        results = sandbox.grade(exams, asked, on_result=mark)
    wall_s = time.monotonic() - started
    words: dict[str, int] = {}
    for result in results:
        word = result.suites[-1].verdict.value
        words[word] = words.get(word, 0) + 1
    end_broker()
    after = host_state()
    return {
        "samples": count,
        "wall_s": round(wall_s, 1),
        "verdicts": words,
        "marks": marks,
        "host_before": before,
        "host_after": after,
        "ok": before == after
        and words.get("harness_error", 0) == 0
        and marks[-1]["processes"] <= marks[0]["processes"] + 4,
    }


def kills(exams: dict[str, Exam], count: int, times: int) -> dict[str, Any]:
    """Kill the broker and a worker within a run, and whole hosts, and compare with an undisturbed run."""
    asked = make_submissions(exams, count)
    with Sandbox(workers=2) as sandbox:
        undisturbed = verdicts(sandbox.grade(exams, asked))
    outcome: dict[str, Any] = {}
    for victim in ("worker", "broker"):
        killed: list[int] = []

        every = max(1, count // (times + 1))
        results_seen = iter(range(1, 1 << 30))

        def kill(
            index: int,
            _result: ExamResult,
            victim: str = victim,
            killed: list[int] = killed,
            every: int = every,
            numbers: Iterator[int] = results_seen,
        ) -> None:
            if next(numbers) % every == 0 and len(killed) < times:
                pid = broker().process.pid
                (nursery,) = children_of(pid)
                killed.append(pid if victim == "broker" else children_of(nursery)[-1])
                os.kill(killed[-1], signal.SIGKILL)

        done: list[ExamResult] = []
        for start in range(0, count, count // 5):  # a broker is replaced only so often within one call
            with Sandbox(workers=2) as sandbox:
                done += sandbox.grade(exams, asked[start : start + count // 5], on_result=kill)
        outcome[victim] = {"killed": len(killed), "equal": verdicts(done) == undisturbed}
    end_broker()
    outcome["host"] = kill_hosts(times)
    outcome["ok"] = (
        all(outcome[victim]["equal"] for victim in ("worker", "broker")) and not outcome["host"]["left"]
    )
    return outcome


HOST = """
import sys; sys.path.insert(0, sys.argv[1])
from pathlib import Path
import soak
exams = soak.load_exams(Path(sys.argv[2]))
with soak.Sandbox(workers=2) as sandbox:
    sandbox.grade(exams, soak.make_submissions(exams, 2000), on_result=lambda *_: print(flush=True))
"""


def kill_hosts(times: int) -> dict[str, Any]:
    """Kill a grading host process and count what of its tree is still there after 2 s."""
    left = 0
    for number in range(times):
        host = subprocess.Popen(
            [sys.executable, "-c", HOST, str(HERE), os.environ["LM_EVAL_STRICT_DATA"]],
            stdout=subprocess.PIPE,
        )
        assert host.stdout is not None
        for _ in range(1 + 20 * number):
            host.stdout.readline()
        tree = tree_of(host.pid) - {host.pid}
        host.kill()
        host.wait()
        time.sleep(2.0)
        left += sum(Path(f"/proc/{pid}").exists() for pid in tree)
    return {"killed": times, "left": left}


@contextmanager
def busy_machine() -> Iterator[None]:
    """Keep every processor busy with something else."""
    spinners = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def same_verdicts(exams: dict[str, Exam], runs: int, busy_runs: int, light_only: bool) -> dict[str, Any]:
    """Grade every reference again and again, the last runs on a busy machine."""
    chosen = {key: exam for key, exam in exams.items() if not (light_only and key in HEAVY)}
    asked = [Submission(k, e.prompt + e.canonical_solution, SUITES, LIMITS) for k, e in chosen.items()]
    first: list[Any] = []
    same = 0
    for number in range(runs):
        with Sandbox(workers=2) as sandbox:
            if number >= runs - busy_runs:
                with busy_machine():
                    found = verdicts(sandbox.grade(chosen, asked))
            else:
                found = verdicts(sandbox.grade(chosen, asked))
        first = first or found
        same += found == first
    passed = sum(all(suite.verdict.value == "passed" for suite in suites) for suites in first)
    ok = same == runs and passed == len(chosen)
    return {
        "runs": runs,
        "busy": busy_runs,
        "same": same,
        "references": len(chosen),
        "passed": passed,
        "ok": ok,
    }


def main() -> None:
    """Run the parts that are asked for and write what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="leaks,kills,verdicts")
    parser.add_argument("--short", action="store_true", help="CI's form: two minutes instead of an hour")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "soak.json")
    options = parser.parse_args()
    exams = load_exams(Path(os.environ["LM_EVAL_STRICT_DATA"]))
    parts = options.parts.split(",")
    found: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), "short": options.short}
    if "leaks" in parts:
        found["leaks"] = leaks(exams, 400 if options.short else 10_000)
    if "kills" in parts:
        found["kills"] = kills(exams, 150 if options.short else 1_000, 2 if options.short else 10)
    if "verdicts" in parts:
        found["verdicts"] = same_verdicts(exams, *((3, 1, True) if options.short else (20, 5, False)))
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))
    if not all(part["ok"] for part in found.values() if isinstance(part, dict)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
