"""Where the sandbox can be used, and that nothing outlives whoever used it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lm_eval_strict.sandbox.client import broker
from lm_eval_strict.sandbox.errors import SandboxUnavailable
from lm_eval_strict.sandbox.records import CodeVerdict, Exam, Isolation, Limits, Submission, Suite
from lm_eval_strict.sandbox.session import Sandbox

PREAMBLE = """
import os, sys, threading, time
from lm_eval_strict.sandbox.records import *
from lm_eval_strict.sandbox.session import Sandbox
exam = Exam("e", "e", "f", "def f(x):\\n", "    return x\\n", "def check(c):\\n    assert c(1) == 1\\n")
right = Submission("e", "def f(x):\\n    return x\\n", (Suite.BASE,))
sleeper = Submission("e", "import time\\ntime.sleep(500)", (Suite.BASE,), Limits(cpu_s=99, wall_s=500))
spinner = Submission("e", "while True: pass", (Suite.BASE,), Limits(cpu_s=99, wall_s=500))
def grade(*submissions, **more):
    with Sandbox(workers=2) as sandbox:
        return [r.suites[0].verdict.value for r in sandbox.grade({"e": exam}, submissions, **more)]
"""


def script(body: str) -> list[str]:
    return [sys.executable, "-c", PREAMBLE + textwrap.dedent(body)]


def processes_of(session_leader_of: int) -> set[int]:
    """Give the live processes that descend from a process, by the parents that /proc shows now."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended in between
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found, grown = {session_leader_of}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found - {session_leader_of}


def gone(pids: set[int], within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return not any(alive(pid) for pid in pids)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    "body",
    [
        "print(grade(right), grade(right))",
        "t = threading.Thread(target=lambda: print(grade(right), grade(right)))\nt.start(); t.join()",
        "import numpy; numpy.ones((300, 300)) @ numpy.ones((300, 300))\nprint(grade(right), grade(right))",
        "os.environ.clear(); os.chdir('/')\nprint(grade(right), grade(right))",
        "sys.stdin.close(); sys.stderr.close(); os.close(0)\nprint(grade(right), grade(right))",
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nprint(grade(right), grade(right))",
    ],
)
def test_it_works_in_a_script_without_a_main_guard(body: str, tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(PREAMBLE + body)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["['passed']", "['passed']"], done.stderr


@pytest.mark.slow
def test_it_works_after_a_torch_matmul() -> None:
    pytest.importorskip("torch")
    body = "import torch; torch.randn(500, 500) @ torch.randn(500, 500)\nprint(grade(right))"
    done = subprocess.run(script(body), capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["['passed']"], done.stderr


def test_it_works_after_a_fork_of_the_host_and_in_the_child() -> None:
    body = """
    first = grade(right)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if grade(right) == ["passed"] else 1)
    print(first, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), grade(right))
    """
    done = subprocess.run(script(body), capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["['passed']", "0", "['passed']"], done.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("what", ["sleeper", "spinner"])
def test_nothing_is_left_when_the_host_is_killed(number: signal.Signals, what: str) -> None:
    body = f"grade(right, {what}, {what}, on_result=lambda *_: print('on', flush=True))"
    host = subprocess.Popen(script(body), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert host.stdout is not None and host.stdout.readline() == b"on\n"
    started = processes_of(host.pid)
    assert len(started) >= 9  # a broker, its two nurseries, and two workers of three processes each
    host.send_signal(number)
    host.wait(timeout=10)
    assert gone(started, within_s=2.0)


def test_nothing_is_left_when_the_host_ends_in_good_order() -> None:
    host = subprocess.Popen(script("print(grade(right)); time.sleep(0.3)"), stdout=subprocess.PIPE)
    assert host.stdout is not None and host.stdout.readline() == b"['passed']\n"
    started = processes_of(host.pid)
    host.wait(timeout=30)
    assert gone(started, within_s=2.0)


def test_nothing_runs_on_when_a_grading_is_interrupted(exam_of: Callable[..., Exam]) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    asked = [Submission("e", "def f(x): return x + 1", (Suite.BASE,))]
    asked += [Submission("e", "while True: pass", (Suite.BASE,), Limits(99, 500))] * 2
    before = processes_of(os.getpid())
    with Sandbox(workers=2) as sandbox:
        with pytest.raises(Interrupted):
            sandbox.grade({"e": exam_of()}, asked, on_result=interrupt)
        assert gone(processes_of(os.getpid()) - before - infrastructure(), within_s=2.0)
        (again,) = sandbox.grade({"e": exam_of()}, asked[:1])
        assert again.suites[0].verdict is CodeVerdict.PASSED


def infrastructure() -> set[int]:
    """The broker and its nurseries stay for the next job."""
    pid = broker().process.pid
    return {pid, *children_of(pid)}


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def worker_processes() -> list[int]:
    """Give examiners and examinees' parents, those that wait for their first program included."""
    return [child for nursery in children_of(broker().process.pid) for child in children_of(nursery)]


@pytest.mark.parametrize("victim", ["broker", "nursery", "examinee nursery", "worker"])
def test_a_killed_process_of_ours_costs_no_verdict(exam_of: Callable[..., Exam], victim: str) -> None:
    exam = exam_of()
    program = "def f(x):\n    return x + 1\n"
    asked = [Submission("e", f"{program}\n# {n}\n", (Suite.PLUS, Suite.PLUS_STRICT)) for n in range(300)]
    killed: list[int] = []

    def kill(index: int, _result: object) -> None:
        if len(killed) < 3 and index % 40 == 39:
            pid = broker().process.pid
            target = {
                "broker": lambda: pid,
                "nursery": lambda: children_of(pid)[0],
                "examinee nursery": lambda: children_of(pid)[1],
                "worker": lambda: worker_processes()[len(killed)],
            }[victim]()
            os.kill(target, signal.SIGKILL)
            killed.append(target)

    with Sandbox(workers=2) as sandbox:
        results = sandbox.grade({"e": exam}, asked, on_result=kill)
    assert len(killed) == 3
    assert {suite.verdict for result in results for suite in result.suites} == {CodeVerdict.PASSED}
    assert gone(set(killed), within_s=2.0)


def test_a_worker_that_is_killed_while_it_is_given_another_exam_costs_no_verdict(
    exam_of: Callable[..., Exam],
) -> None:
    exams = {f"e{n}": exam_of(lambda x, n=n: x + n, body=f"    return x + {n}\n") for n in range(60)}
    exams = {key: replace(exam, exam_id=key) for key, exam in exams.items()}
    asked = [Submission(f"e{n}", f"def f(x):\n    return x + {n}\n", (Suite.PLUS,)) for n in range(60)]
    killed: list[int] = []

    def kill(index: int, _result: object) -> None:
        workers = worker_processes()
        if len(killed) < 12 and index % 4 == 3 and workers:
            killed.append(workers[index // 4 % len(workers)])
            os.kill(killed[-1], signal.SIGKILL)

    with Sandbox(workers=2) as sandbox:
        results = sandbox.grade(exams, asked, on_result=kill)
    assert len(killed) == 12
    assert {(r.suites[0].verdict, r.suites[0].detail) for r in results} == {(CodeVerdict.PASSED, "")}


def test_a_worker_that_is_killed_at_its_start_costs_no_verdict(exam_of: Callable[..., Exam]) -> None:
    with Sandbox(workers=1) as sandbox:
        deadline = time.monotonic() + 30
        while not worker_processes() and time.monotonic() < deadline:
            time.sleep(0.001)
        for pid in worker_processes():
            os.kill(pid, signal.SIGKILL)
        asked = [Submission("e", "def f(x):\n    return x + 1\n", (Suite.PLUS,))]
        (result,) = sandbox.grade({"e": exam_of()}, asked)
    assert result.suites[0].verdict is CodeVerdict.PASSED


def test_two_sandboxes_grade_at_the_same_time(exam_of: Callable[..., Exam]) -> None:
    exam = exam_of()
    asked = [Submission("e", f"def f(x):\n    return x + 1\n# {n}", (Suite.PLUS,)) for n in range(40)]
    verdicts: list[set[CodeVerdict]] = []

    def work() -> None:
        with Sandbox(workers=1) as sandbox:
            verdicts.append({r.suites[0].verdict for r in sandbox.grade({"e": exam}, asked)})

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == [{CodeVerdict.PASSED}] * 2


def test_the_weaker_levels_are_had_by_name_and_said_in_the_result(exam_of: Callable[..., Exam]) -> None:
    for level in (Isolation.REDUCED, Isolation.NONE):
        with Sandbox(isolation=level, workers=1) as sandbox:
            (result,) = sandbox.grade(
                {"e": exam_of()}, [Submission("e", "def f(x): return x + 1", tuple(Suite))]
            )
        assert result.isolation is level
        assert {suite.verdict for suite in result.suites} == {CodeVerdict.PASSED}


def test_no_descriptor_of_the_host_and_no_environment_reaches_a_program(exam_of: Callable[..., Exam]) -> None:
    program = (
        "import os\n"
        "def is_open(fd):\n    try: return os.fstat(fd) and 1\n    except OSError: return 0\n"
        "def f(x):\n    return [sum(map(is_open, range(3, 500))), 'MY_API_KEY' in os.environ]\n"
    )
    exam = exam_of(
        lambda x: [1, False], [[0]], body="    return [1, False]\n", base_test="def check(c): pass"
    )
    with pytest.MonkeyPatch.context() as patch, Path("/etc/hostname").open() as leak:
        patch.setenv("MY_API_KEY", "secret")
        os.set_inheritable(leak.fileno(), True)
        with Sandbox(workers=1) as sandbox:
            (result,) = sandbox.grade({"e": exam}, [Submission("e", program, (Suite.PLUS,))])
    assert result.suites[0].verdict is CodeVerdict.PASSED, result.suites[0].first_failure


def test_without_linux_the_sandbox_refuses_in_one_line(
    monkeypatch: pytest.MonkeyPatch, exam_of: Callable[..., Exam]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxUnavailable, match="Linux only") as refused:
        Sandbox().grade({"e": exam_of()}, [Submission("e", "", (Suite.BASE,))])
    assert "\n" not in str(refused.value)
