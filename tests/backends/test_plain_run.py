"""``batch=false``: plain requests, several at a time, each kept as it comes."""

from __future__ import annotations

import threading
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from asks import backend, instances
from messages_server import MessagesServer

from lm_eval_strict.backends.batch_ledger import read_lines
from lm_eval_strict.backends.faults import BackendFault

PROMPTS = [f"question {number}" for number in range(10)]


def test_replies_come_in_order_and_repeats_are_different_requests(server: MessagesServer) -> None:
    lm = backend(server.address, batch=False, concurrency=1)
    replies = lm.generate_until(instances(PROMPTS, repeats=3))
    assert len(set(replies)) == 30
    assert [reply.rsplit(" ", 1)[1] for reply in replies] == ["1", "2", "3"] * 10
    assert [record.sample for record in lm.reply_records] == [0, 1, 2] * 10
    assert {record.batch for record in lm.reply_records} == {None}


def test_as_many_requests_at_a_time_as_asked_for(server: MessagesServer) -> None:
    # The server answers only when three requests have come together.
    together = threading.Barrier(3, timeout=20)
    answer = server.world.answer

    def answer_three(params: dict[str, Any], *, tier: str) -> dict[str, Any]:
        together.wait()
        return answer(params, tier=tier)

    server.world.answer = answer_three  # type: ignore[method-assign]
    assert "" not in backend(server.address, batch=False, concurrency=3).generate_until(
        instances(PROMPTS[:9])
    )
    assert server.world.in_flight_most == 3


@pytest.mark.parametrize(
    "faults",
    [[429] * 5, [529, 529, 529, 529], [500, "ok", 503], ["drop_before", "ok", "drop_before"]],
    ids=str,
)
def test_a_failure_is_asked_again(server: MessagesServer, faults: list[int | str]) -> None:
    server.world.faults.plain = deque(faults)
    lm = backend(server.address, batch=False, concurrency=2, attempts=3)
    assert "" not in lm.generate_until(instances(PROMPTS))


def test_a_server_that_is_busy_for_good_is_left_when_patience_ends(server: MessagesServer) -> None:
    server.world.faults.plain = deque([529] * 10_000)
    lm = backend(server.address, batch=False, patience_s=0.2)
    with pytest.raises(BackendFault, match="HTTP 529 overloaded_error"):
        lm.generate_until(instances(PROMPTS[:2]))
    assert {record.error["type"] for record in lm.reply_records if record.error} == {"overloaded_error"}


def test_attempts_bound_server_errors(server: MessagesServer) -> None:
    server.world.faults.plain = deque([500, 500, "ok"])
    lm = backend(server.address, batch=False, concurrency=1, attempts=2)
    replies = lm.generate_until(instances(PROMPTS))
    assert replies.count("") == 1
    assert [record.outcome for record in lm.reply_records].count("errored") == 1


def test_an_answer_limit_beyond_ten_minutes_is_no_obstacle(server: MessagesServer) -> None:
    lm = backend(server.address, batch=False, max_tokens=128_000)
    assert "" not in lm.generate_until(instances(PROMPTS[:1]))


def test_a_batch_under_way_is_collected_before_plain_requests_are_sent(server: MessagesServer) -> None:
    # Four of ten requests are in a batch when the user turns batches off.
    server.world.outcome = lambda custom_id, times: "succeeded" if int(custom_id[17], 16) < 8 else "expired"
    batched = backend(server.address, attempts=1)
    batched.generate_until(instances(PROMPTS))
    by_batch = {record.custom_id for record in batched.reply_records if record.outcome == "succeeded"}
    assert 0 < len(by_batch) < 10
    lm = backend(server.address, batch=False, retry_failed=True)
    assert "" not in lm.generate_until(instances(PROMPTS))
    assert {record.custom_id for record in lm.reply_records if record.batch} == by_batch
    assert len(server.world.bodies) == 1 + 10 - len(by_batch)


def test_thinking_never_reaches_the_reply_and_is_kept(server: MessagesServer, home: Path) -> None:
    lm = backend(server.address, batch=False, model="claude-haiku-5-5", thinking="adaptive")
    [reply, cut] = lm.generate_until(instances(["x", "CUT y"]))
    assert "wonder" not in reply
    assert reply.startswith("answer")
    [whole, stopped] = lm.reply_records
    assert (whole.truncated, whole.stop_reason, whole.thinking_tokens) == ("no", "end_turn", 7)
    assert whole.thinking_chars == len("I wonder about 123456.")
    assert (cut, stopped.truncated, stopped.stop_reason) == ("", "yes", "max_tokens")
    assert stopped.journal_fields()["stop_reason"] == "max_tokens"
    assert whole.journal_fields()["usage"]["output_tokens"] > 7
    lines = list(read_lines(home / "batches" / str(lm.run_key) / "replies.jsonl"))
    assert all("I wonder" in line["message"]["content"][0]["thinking"] for line in lines)


def test_a_stop_string_that_the_api_refuses_is_applied_here(server: MessagesServer) -> None:
    lm = backend(server.address, batch=False)
    [reply] = lm.generate_until(instances(["x"], until=["\n\n", "Q:"]))
    assert reply.startswith("answer ")
    assert "\n" not in reply
    assert lm.reply_records[0].cut_here_at == "\n\n"
    assert server.world.bodies[0][2]["stop_sequences"] == ["Q:"]


def test_a_dry_run_sends_nothing_and_ends_well(
    server: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    lm = backend(server.address, dry_run=True)
    with pytest.raises(SystemExit) as ended:
        lm.generate_until(instances(PROMPTS, repeats=10))
    assert ended.value.code == 0
    assert "nothing sent. to send: 100 requests" in capsys.readouterr().out
    assert server.world.bodies == []
