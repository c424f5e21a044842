"""The files of a run: what a kill leaves behind is read again, whole lines only."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest
from asks import instances
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_strict.backends.batch_ledger import BatchLedger, is_under_way
from lm_eval_strict.backends.chunking import chunks, wire_bytes
from lm_eval_strict.backends.faults import BackendFault
from lm_eval_strict.backends.replies import ReplyText
from lm_eval_strict.backends.requests import Ask, Request, build_requests, unsent
from lm_eval_strict.backends.settings import Settings


def requests_for(prompts: list[str], **settings: str) -> tuple[str, list[Request]]:
    asks = [Ask(prompt, {"max_gen_toks": 10}, task="toy") for prompt in prompts]
    return build_requests(Settings("m", **settings), "http://x", asks)  # type: ignore[arg-type]


def test_an_intent_is_open_until_it_is_settled(tmp_path: Path) -> None:
    ledger = BatchLedger(tmp_path)
    first = ledger.intend(["a", "b"], mark=("m1", "2026-12-01T00:00:00+00:00"))
    second = ledger.intend(["c"], mark=None)
    third = ledger.intend(["d"], mark=None)
    ledger.accept(first, "batch1")
    ledger.reject(third, "busy")
    ledger.disown("stranger")
    ledger.close()

    ledger = BatchLedger(tmp_path)
    assert ledger.events.open_intents == [second]
    assert ledger.events.outstanding == {"batch1": first}
    assert ledger.events.in_flight() == {"a", "b", "c"}
    assert ledger.events.known_batches == {"batch1", "stranger"}
    ledger.collect("batch1")
    ledger.close()
    assert BatchLedger(tmp_path).events.in_flight() == {"c"}


def test_a_run_is_under_way_until_every_batch_is_collected(tmp_path: Path) -> None:
    assert not is_under_way(tmp_path)
    ledger = BatchLedger(tmp_path)
    intent = ledger.intend(["a"], mark=None)
    assert is_under_way(tmp_path)
    ledger.accept(intent, "batch1")
    assert is_under_way(tmp_path)
    ledger.collect("batch1")
    assert not is_under_way(tmp_path)


@pytest.mark.parametrize("name", ["ledger.jsonl", "replies.jsonl"])
def test_half_a_line_at_the_end_is_cut_off(tmp_path: Path, name: str) -> None:
    ledger = BatchLedger(tmp_path)
    ledger.intend(["a"], mark=None)
    ledger.add_result({"custom_id": "a", "batch": "b1", "outcome": "succeeded", "message": {"content": []}})
    ledger.close()
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole + whole[: len(whole) // 2])

    ledger = BatchLedger(tmp_path)
    assert len(ledger.events.open_intents) == 1
    assert len(ledger.lines("a")) == 1
    ledger.add_result({"custom_id": "b", "batch": "b1", "outcome": "expired"})
    ledger.intend(["b"], mark=None)
    ledger.close()
    again = BatchLedger(tmp_path)
    assert [len(again.lines(name)) for name in "ab"] == [1, 1]
    assert len(again.events.open_intents) == 2


def test_a_run_is_named_by_what_is_asked_and_not_by_the_order_of_tasks() -> None:
    key, requests = requests_for(["a", "b", "a"])
    assert [request.sample for request in requests] == [0, 0, 1]
    assert len({request.custom_id for request in requests}) == 3
    assert requests_for(["b", "a", "a"])[0] == key
    assert requests_for(["a", "b"])[0] != key
    assert requests_for(["a", "b", "a"], run="2")[0] != key
    assert requests_for(["a", "b", "a"], effort="low")[0] != key


def test_a_custom_id_is_one_that_the_api_allows() -> None:
    _, requests = requests_for(["a"] * 12)
    assert all(len(request.custom_id) <= 64 for request in requests)
    assert requests[11].custom_id.endswith("-11")


@given(
    st.lists(st.text(max_size=300), min_size=1, max_size=40),
    st.integers(min_value=1, max_value=7),
    st.integers(min_value=2600, max_value=9000),
)
def test_chunks_keep_order_and_both_limits(prompts: list[str], most: int, most_bytes: int) -> None:
    _, requests = requests_for([f"x{prompt}" for prompt in prompts])
    cut = list(chunks(requests, max_requests=most, max_bytes=most_bytes))
    assert [request for chunk in cut for request in chunk] == requests
    assert all(1 <= len(chunk) <= most for chunk in cut)
    assert all(sum(wire_bytes(request) for request in chunk) <= most_bytes for chunk in cut)


def test_a_request_larger_than_a_batch_is_a_fault() -> None:
    _, requests = requests_for(["x" * 5000])
    with pytest.raises(BackendFault, match="more than a batch may have"):
        list(chunks(requests, max_requests=10, max_bytes=4000))


def test_what_a_task_asks_for_and_does_not_get_is_said_once() -> None:
    asks = [Ask("x", {"max_gen_toks": 10, "temperature": 0.8, "top_p": 0.95}, task="t")] * 3
    [sampling, limit] = unsent(Settings("m", max_tokens=99), asks)
    assert "task t asks for temperature=0.8, top_p=0.95, not sent" in sampling
    assert "task t asks for at most 10 tokens; max_tokens=99 is sent" in limit
    assert unsent(Settings("m", temperature="task"), asks) == []
    assert unsent(Settings("m"), [Ask("x", {"max_gen_toks": 10, "temperature": 0.0})]) == []


def test_a_reply_text_is_a_text_that_keeps_its_facts_through_copies() -> None:
    text = ReplyText("4", {"truncated": "yes"})
    assert text == "4"
    assert json.dumps([text]) == '["4"]'
    for again in (copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert (again, again.facts) == ("4", {"truncated": "yes"})


def test_instances_are_repeated_as_lm_eval_repeats_them() -> None:
    made = instances(["a", "b"], repeats=2)
    assert made[0] is made[1]
    assert made[1] is not made[2]
