"""A run that is killed goes on, answers every request exactly once and pays for it exactly once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter, deque
from pathlib import Path
from typing import Any

import pytest
from messages_server import MessagesServer

from lm_eval_strict.backends.batch_ledger import read_lines

CLIENT = Path(__file__).parent / "batch_client.py"


class Client:
    """One process of the run."""

    def __init__(
        self, server: MessagesServer, problems: int, repeats: int, others: int, **settings: Any
    ) -> None:
        arguments = [server.address, str(problems), str(repeats), str(others), json.dumps(settings)]
        self.process = subprocess.Popen(
            [sys.executable, str(CLIENT), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)

    def killed(self) -> bool:
        self.process.communicate(timeout=60)
        return self.process.returncode == -signal.SIGKILL

    def finish(self) -> dict[str, Any]:
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        done: dict[str, Any] = json.loads(out)
        return done


def test_a_whole_benchmark_survives_faults_and_two_kills(server: MessagesServer, home: Path) -> None:
    world = server.world
    world.reverse_results = True
    # One request in fifty needs a second try, whatever its trouble.
    trouble = {0: "errored", 1: "expired", 2: "canceled"}
    world.outcome = lambda custom_id, times: (
        trouble.get(int(custom_id[17:21], 16) % 150, "succeeded") if times == 1 else "succeeded"
    )
    run: dict[str, Any] = {"problems": 164, "repeats": 10, "others": 500, "batch_requests": 600}

    # First kill: the second batch is taken by the server, but its id never reaches the client.
    world.faults.create = deque([429, 529])
    first = Client(server, **run)
    world.on_created = lambda batch: first.kill() if len(world.batches) == 2 else None
    assert first.killed()
    taken = [custom_id for batch in world.batches.values() for custom_id in map(_custom_id, batch.requests)]
    assert len(taken) == 1200

    # Second kill: in the middle of a results stream, after another stream was cut short.
    world.on_created = lambda batch: None
    world.faults.create = deque(["ok", "drop_after"])
    world.faults.results = deque([(600, "whole")] * 1 + [(200, "mid_line"), (450, "line_end")])
    world.faults.poll = deque([500, "ok", 529, "drop_before"])
    second = Client(server, **run)

    def kill_while_streaming(lines_sent: int) -> None:
        if lines_sent % 50 == 0 and len(recorded(home)) > 100:
            second.kill()

    world.on_result_line = kill_while_streaming
    assert second.killed()
    world.on_result_line = lambda lines_sent: None
    assert 100 < len(recorded(home)) < 2140

    world.faults.results = deque([(300, "reset"), (0, "line_end")])
    done = Client(server, **run).finish()

    asked = [record[0] for record in done["records"]]
    assert len(done["replies"]) == len(set(asked)) == 2140
    assert {record[2] for record in done["records"]} == {"succeeded"}
    assert Counter(record[1] for record in done["records"]) == {"code_10": 1640, "math": 500}
    # Paid once: the server has billed each request exactly once, and nothing else.
    assert dict(world.paid) == dict.fromkeys(asked, 1)
    # Answered once: the ledger has one success for each, and n repeats are n different replies.
    lines = recorded(home)
    assert Counter(line["custom_id"] for line in lines if line["outcome"] == "succeeded") == Counter(asked)
    assert all(len(set(done["replies"][start : start + 10])) == 10 for start in range(0, 1640, 10))
    # Sent twice: only those that had no answer the first time.
    again = {custom_id for custom_id, times in world.tried.items() if times > 1}
    assert again == {line["custom_id"] for line in lines if line["outcome"] != "succeeded"}
    assert 10 < len(again) < 200


@pytest.mark.parametrize("moment", ["on_arrival", "on_created"])
def test_a_kill_at_the_submission_neither_loses_nor_doubles_it(server: MessagesServer, moment: str) -> None:
    client = Client(server, 4, 3, 5)
    if moment == "on_arrival":

        def kill_and_forget() -> None:
            server.world.on_arrival = lambda: None
            client.kill()
            raise ConnectionAbortedError

        server.world.on_arrival = kill_and_forget
    else:
        server.world.on_created = lambda batch: client.kill()
    assert client.killed()
    server.world.on_created = lambda batch: None
    assert len(server.world.batches) == (0 if moment == "on_arrival" else 1)
    done = Client(server, 4, 3, 5).finish()
    assert dict(server.world.paid) == {record[0]: 1 for record in done["records"]}
    assert len(server.world.batches) == 1


def test_a_kill_of_plain_requests_keeps_what_had_arrived(server: MessagesServer) -> None:
    server.world.faults.slow_s = 0.01
    client = Client(server, 20, 2, 0, batch=False, concurrency=4)
    plenty = Counter[str]()

    def answer_and_kill(params: dict[str, Any], *, tier: str) -> dict[str, Any]:
        plenty["answers"] += 1
        if plenty["answers"] == 20:
            client.kill()
        return answer(params, tier=tier)

    answer = server.world.answer
    server.world.answer = answer_and_kill  # type: ignore[method-assign]
    assert client.killed()
    server.world.answer = answer  # type: ignore[method-assign]
    done = Client(server, 20, 2, 0, batch=False, concurrency=4).finish()
    assert {record[2] for record in done["records"]} == {"succeeded"}
    assert 40 <= sum(server.world.paid.values()) <= 44


def recorded(home: Path) -> list[dict[str, Any]]:
    return [line for file in home.glob("batches/*/replies.jsonl") for line in read_lines(file)]


def _custom_id(request: dict[str, Any]) -> str:
    return str(request["custom_id"])
