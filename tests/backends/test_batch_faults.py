"""Whatever goes wrong between here and the API, each request is answered once and paid for once."""

from __future__ import annotations

import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from asks import backend, instances
from messages_server import KEY, Batch, MessagesServer, World

from lm_eval_strict.backends.anthropic_batches import AnthropicBatches
from lm_eval_strict.backends.batch_ledger import BatchLedger, read_lines
from lm_eval_strict.backends.faults import BackendFault

PROMPTS = [f"question {number}" for number in range(12)]


def each_paid_once(world: World, lm: AnthropicBatches) -> bool:
    return dict(world.paid) == {record.custom_id: 1 for record in lm.reply_records}


def batches_of(lm: AnthropicBatches) -> list[str]:
    assert lm.ledger_path is not None
    events = read_lines(lm.ledger_path / "ledger.jsonl")
    return [event["batch"] for event in events if event["event"] == "accepted"]


@pytest.mark.parametrize(
    "create",
    [
        [429, 429],
        [529],
        ["drop_before"],
        ["drop_after"],
        ["500_after"],
        [500],
        ["garbage_after"],
        [503, 529, 429],
    ],
    ids=str,
)
def test_a_submission_that_fails_is_neither_lost_nor_made_twice(
    server: MessagesServer, create: list[Any]
) -> None:
    server.world.faults.create = deque(create)
    lm = backend(server.address)
    replies = lm.generate_until(instances(PROMPTS))
    assert len(set(replies)) == len(PROMPTS)
    assert each_paid_once(server.world, lm)
    assert len(server.world.batches) == 1


@pytest.mark.parametrize("poll", [[500, 529, 429], ["drop_before", "drop_before"]], ids=str)
def test_a_poll_that_fails_is_asked_again(server: MessagesServer, poll: list[Any]) -> None:
    server.world.faults.poll = deque(poll)
    lm = backend(server.address)
    lm.generate_until(instances(PROMPTS))
    assert each_paid_once(server.world, lm)


@pytest.mark.parametrize("how", ["mid_line", "line_end", "reset"])
def test_a_results_stream_that_breaks_is_read_on_until_whole(server: MessagesServer, how: str) -> None:
    server.world.faults.results = deque([(3, how), (0, how), (7, how), 500])
    server.world.reverse_results = True
    lm = backend(server.address)
    replies = lm.generate_until(instances(PROMPTS))
    assert len(set(replies)) == len(PROMPTS)
    assert each_paid_once(server.world, lm)
    assert lm.ledger_path is not None
    recorded = [line["custom_id"] for line in read_lines(lm.ledger_path / "replies.jsonl")]
    assert sorted(recorded) == sorted(record.custom_id for record in lm.reply_records)


def test_results_out_of_order_are_matched_by_id(server: MessagesServer) -> None:
    expected = backend(server.address).generate_until(instances(PROMPTS))
    server.world.reverse_results = True
    again = backend(server.address, run="b").generate_until(instances(PROMPTS))
    assert [reply.split("\n")[0] for reply in again] == [reply.split("\n")[0] for reply in expected]


@pytest.mark.parametrize("outcome", ["errored", "expired", "canceled"])
def test_a_request_without_an_answer_is_sent_again(server: MessagesServer, outcome: str) -> None:
    server.world.outcome = lambda custom_id, times: "succeeded" if times > 2 else outcome
    lm = backend(server.address, attempts=3)
    lm.generate_until(instances(PROMPTS))
    assert each_paid_once(server.world, lm)
    assert {record.attempts for record in lm.reply_records} == {3}


def test_a_request_that_is_never_answered_becomes_an_empty_reply_with_a_record(
    server: MessagesServer,
) -> None:
    doomed: set[str] = set()

    def outcome(custom_id: str, times: int) -> str:
        if not doomed:
            doomed.add(custom_id)
        return "expired" if custom_id in doomed else "succeeded"

    server.world.outcome = outcome
    lm = backend(server.address, attempts=2)
    replies = lm.generate_until(instances(PROMPTS))
    [failed] = [record for record in lm.reply_records if record.outcome != "succeeded"]
    assert (failed.outcome, failed.attempts, failed.reply, failed.custom_id) == ("expired", 2, "", *doomed)
    assert failed.journal_fields() == {"truncated": "no", "stop_reason": "expired"}
    assert replies.count("") == 1
    assert len(server.world.batches) == 2


def test_failures_can_be_asked_again_later(server: MessagesServer) -> None:
    server.world.outcome = lambda custom_id, times: "expired" if custom_id.endswith("-1") else "succeeded"
    asked = instances(["a"], repeats=2)
    assert backend(server.address, attempts=1).generate_until(asked)[1] == ""
    server.world.outcome = lambda custom_id, times: "succeeded"
    assert backend(server.address, attempts=1).generate_until(asked)[1] == ""
    lm = backend(server.address, attempts=1, retry_failed=True)
    assert lm.generate_until(asked)[1] != ""
    assert each_paid_once(server.world, lm)


def test_an_illegal_request_is_sent_once_and_a_run_of_nothing_else_is_a_fault(server: MessagesServer) -> None:
    lm = backend(server.address, model="claude-opus-5-5", thinking="disabled", preflight=False)
    with pytest.raises(BackendFault, match=r"none of 3 requests .* thinking.type: disabled is not supported"):
        lm.generate_until(instances(PROMPTS[:3]))
    assert set(server.world.tried.values()) == {1}


def test_what_the_model_refuses_is_said_before_anything_is_sent(server: MessagesServer) -> None:
    for model_args, says in (
        ({"model": "claude-opus-5-5", "thinking": "disabled"}, "thinking=disabled is not accepted"),
        ({"model": "claude-haiku-4-5", "effort": "low"}, "effort=low is not accepted"),
        ({"model": "claude-nope"}, "model=claude-nope is not known to the API"),
        ({"max_tokens": 128_001}, "max_tokens=128001 is above the 128000"),
    ):
        with pytest.raises(BackendFault, match=says):
            backend(server.address, **model_args).generate_until(instances(PROMPTS))
    assert server.world.bodies == []


def test_a_wrong_key_is_one_line(server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-wrong")
    with pytest.raises(BackendFault, match="401 authentication_error") as caught:
        backend(server.address).generate_until(instances(PROMPTS))
    assert "sk-wrong" not in str(caught.value)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(BackendFault, match="set ANTHROPIC_API_KEY"):
        backend(server.address).generate_until(instances(PROMPTS))


def test_the_server_may_be_restarted_under_a_run(server: MessagesServer) -> None:
    server.world.processing_s = 1.0

    def restart() -> None:
        time.sleep(0.15)
        server.stop()
        time.sleep(0.3)
        server.start()

    thread = threading.Thread(target=restart)
    thread.start()
    lm = backend(server.address, poll_s=0.1)
    lm.generate_until(instances(PROMPTS))
    thread.join()
    assert each_paid_once(server.world, lm)
    assert len(server.world.batches) == 1


def test_a_slow_server_changes_nothing(server: MessagesServer) -> None:
    server.world.faults.slow_s = 0.15
    lm = backend(server.address)
    lm.generate_until(instances(PROMPTS))
    assert each_paid_once(server.world, lm)


def test_a_server_that_times_out_after_taking_a_batch_is_not_sent_a_second(server: MessagesServer) -> None:
    server.world.on_created = lambda batch: time.sleep(1.0)
    lm = backend(server.address, timeout_s=0.4)
    lm.generate_until(instances(PROMPTS))
    assert each_paid_once(server.world, lm)
    assert len(server.world.batches) == 1


def test_a_lost_batch_that_is_still_being_processed_is_waited_for(server: MessagesServer) -> None:
    server.world.processing_s = 1.0
    server.world.faults.create = deque(["drop_after"])
    lm = backend(server.address, settle_s=0.1)
    lm.generate_until(instances(PROMPTS))
    assert each_paid_once(server.world, lm)
    assert len(server.world.batches) == 1


def test_chunks_become_batches_and_every_reply_finds_its_place(server: MessagesServer) -> None:
    server.world.faults.create = deque(["ok", "drop_after", "ok"])
    lm = backend(server.address, batch_requests=5)
    replies = lm.generate_until(instances(PROMPTS))
    assert [len(batch.requests) for batch in server.world.batches.values()] == [5, 5, 2]
    assert len(set(replies)) == len(PROMPTS)
    assert each_paid_once(server.world, lm)


def test_another_process_batch_of_the_same_size_is_not_taken_for_ours(server: MessagesServer) -> None:
    # While ours is on its way and its answer is lost, somebody else submits as many requests.
    stranger = [
        {
            "custom_id": f"other-{number}",
            "params": {"model": "claude-haiku-5-5", "max_tokens": 9, "messages": []},
        }
        for number in range(len(PROMPTS))
    ]
    server.world.on_created = lambda batch: (
        server.world.add_batch(stranger, "2026-10-21") and None if batch.id == "msgbatch_0001" else None
    )
    server.world.faults.create = deque(["drop_after"])
    lm = backend(server.address)
    lm.generate_until(instances(PROMPTS))
    assert batches_of(lm) == ["msgbatch_0001"]
    assert all(server.world.paid[record.custom_id] == 1 for record in lm.reply_records)


def test_a_batch_of_another_workspace_is_not_resent_in_silence(server: MessagesServer) -> None:
    world = server.world
    backend(server.address, run="earlier").generate_until(instances(["x"]))
    elsewhere = dict(world.batches)

    # The submission is lost on its way, and the next look is through the key of another workspace.
    def change_workspace() -> None:
        world.on_arrival = lambda: None
        world.batches.clear()
        raise ConnectionAbortedError

    world.on_arrival = change_workspace
    with pytest.raises(BackendFault, match="does not know msgbatch_0001"):
        backend(server.address).generate_until(instances(PROMPTS))
    assert len(world.bodies) == 2
    world.batches.update(elsewhere)
    lm = backend(server.address)
    lm.generate_until(instances(PROMPTS))
    assert all(world.paid[record.custom_id] == 1 for record in lm.reply_records)


@pytest.mark.parametrize("loss", ["deleted", "archived"])
def test_a_batch_that_vanished_is_given_up_only_on_request(server: MessagesServer, loss: str) -> None:
    world = server.world

    def lose(batch: Batch) -> None:
        if loss == "deleted":
            world.batches.clear()
        batch.archived = True

    world.on_created = lose
    with pytest.raises(BackendFault, match="resend_lost=true gives this batch up"):
        backend(server.address).generate_until(instances(PROMPTS))
    world.on_created = lambda batch: None
    with pytest.raises(BackendFault, match="resend_lost=true gives this batch up"):
        backend(server.address).generate_until(instances(PROMPTS))
    assert len(world.bodies) == 1
    lm = backend(server.address, resend_lost=True)
    lm.generate_until(instances(PROMPTS))
    assert {record.batch for record in lm.reply_records} == {"msgbatch_0002"}
    assert len(world.bodies) == 2


def test_two_processes_do_not_work_on_one_run(server: MessagesServer) -> None:
    lm = backend(server.address)
    lm.generate_until(instances(PROMPTS))
    assert lm.ledger_path is not None
    held = BatchLedger(lm.ledger_path)
    with pytest.raises(BackendFault, match="another process works on this run"):
        backend(server.address).generate_until(instances(PROMPTS))
    held.close()
    assert backend(server.address).generate_until(instances(PROMPTS))


def test_a_finished_run_is_replayed_without_asking(server: MessagesServer) -> None:
    first = backend(server.address).generate_until(instances(PROMPTS, repeats=2))
    posts = len(server.world.bodies)
    assert backend(server.address).generate_until(instances(PROMPTS, repeats=2)) == first
    assert len(server.world.bodies) == posts
    assert backend(server.address, run="2").generate_until(instances(PROMPTS, repeats=2)) != first


@pytest.mark.parametrize("batch", [True, False], ids=["batch", "plain"])
def test_the_key_is_in_no_file_and_no_output(
    server: MessagesServer, home: Path, batch: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    server.world.faults.create = deque([500, 429])
    server.world.faults.plain = deque([500, 429])
    backend(server.address, batch=batch).generate_until(instances(PROMPTS))
    seen = capfd.readouterr()
    assert "12 of 12 requests answered" in seen.err
    assert KEY not in seen.out + seen.err
    files = [path for path in home.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"run.json", "requests.jsonl", "ledger.jsonl", "replies.jsonl"}
    assert not [path for path in files if KEY in path.read_text(encoding="utf-8")]
