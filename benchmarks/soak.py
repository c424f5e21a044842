"""Thousands of samples, some of them hostile, in; whether anything leaked, and whether kills cost a verdict,
out.

Three parts, each a name for ``--parts``. *leaks*: many samples in one run, 5% hostile, while processes,
descriptors, mounts, control groups and memory of the whole tree are watched. *kills*: SIGKILL at lm-eval's
process, the ``grade`` command, the broker and a worker (``soak_kills``). *verdicts*: all references, many
times, some of them with every processor kept busy by something else. ``--short`` is CI's form.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from process_tree import children_of, descriptors, memory_mib
from run_ours import LIMITS, exam_of
from sample_sets import HEAVY, make_sets
from soak_kills import Kills

from lm_eval_strict.sandbox.client import broker, end_broker
from lm_eval_strict.sandbox.records import Exam, ExamResult, Limits, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

HERE = Path(__file__).parent
CASES = HERE.parent / "tests" / "cases" / "hostile.jsonl"
SUITES = (Suite.BASE, Suite.PLUS, Suite.PLUS_STRICT)
HOSTILE_LIMITS = Limits(cpu_s=2.0, wall_s=5.0)
HOSTILE_SHARE = 0.05
MEMORY_SLACK_MIB = 60  # an examiner with a heavy problem at hand
OURS = "lm-eval-strict-*"  # the names of all folders and control groups that we make
SLOW_CASES = ("time", "resource")  # they run into a limit each; fewer of them keep the run short


def load_exams(data: Path) -> dict[str, Exam]:
    """Read the published problems."""
    with tempfile.TemporaryDirectory() as name:
        file = next(made.exams for made in make_sets(data, Path(name), [1]) if made.plus)
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
    return {
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "cgroups": sum(1 for _ in Path("/sys/fs/cgroup").rglob(OURS)),
        "shared memory": len(list(Path("/dev/shm").glob(OURS))),
        "tmp": len(list(Path("/tmp").glob(OURS))),
        "message queues, semaphores, segments": sum(
            len(Path(f"/proc/sysvipc/{kind}").read_text().splitlines()) for kind in ("msg", "sem", "shm")
        ),
    }


def lasting_processes() -> set[int]:
    """Give the broker, its nursery and the workers: all but the samples, each of which ends by itself."""
    root = broker().process.pid
    nurseries = children_of(root)
    return {root, *nurseries, *(worker for nursery in nurseries for worker in children_of(nursery))}


def leaks(exams: dict[str, Exam], count: int) -> dict[str, Any]:
    """Grade many samples in one run and compare the tree at the end with the tree after the first tenth."""
    asked = make_submissions(exams, count)
    before = host_state()
    marks: list[dict[str, float]] = []

    def mark(index: int, _result: ExamResult) -> None:
        seen["results"] += 1
        if seen["results"] in (count // 10, count // 2, count - 5):
            pids = lasting_processes()
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
    memory = [mark["memory_mib"] for mark in marks]
    return {
        "samples": count,
        "wall_s": round(wall_s, 1),
        "verdicts": words,
        "marks": marks,
        "host_before": before,
        "host_after": after,
        "ok": all(after[what] <= before[what] for what in before)
        and words.get("harness_error", 0) == 0
        and marks[-1]["processes"] <= marks[0]["processes"] + 4
        and marks[-1]["descriptors"] <= marks[0]["descriptors"] + 20
        and memory[-1] <= max(memory[:-1]) + MEMORY_SLACK_MIB,
    }


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
        with tempfile.TemporaryDirectory() as name:
            found["kills"] = Kills(Path(name), *((40, 1) if options.short else (164, 10))).run()
    if "verdicts" in parts:
        found["verdicts"] = same_verdicts(exams, *((3, 1, True) if options.short else (20, 5, False)))
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))
    if not all(part["ok"] for part in found.values() if isinstance(part, dict)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
