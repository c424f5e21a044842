"""lm-eval itself, over every API path: ours, and its own chat, text and anthropic-chat backends."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import lm_eval
import pytest
import requests
from completions_server import CompletionsServer
from lm_eval.api.registry import get_model, model_registry
from lm_eval.models.dummy import DummyLM
from lm_eval.tasks import TaskManager
from messages_server import KEY, MessagesServer

from lm_eval_strict.backends import register_backends
from lm_eval_strict.backends.faults import BackendFault
from lm_eval_strict.filters.task_spec import tasks_folder

QUESTIONS = [f"what is {number}?" for number in range(4)]
QUICK = "poll_s=0.02,settle_s=0.2"


def keep_all(doc: dict[str, Any], results: list[Any]) -> dict[str, float]:
    """The metric: how many different replies a document got."""
    replies = results[0] if isinstance(results[0], list) else results
    return {"different": float(len(set(replies)))}


def toy_task(**config: Any) -> dict[str, Any]:
    """A task of four questions with two replies each."""
    return {
        "task": "toy",
        "custom_dataset": lambda **_: {
            "test": datasets.Dataset.from_list([{"q": each} for each in QUESTIONS])
        },
        "test_split": "test",
        "doc_to_text": "{{q}}",
        "doc_to_target": "",
        "num_fewshot": 0,
        "repeats": 2,
        "generation_kwargs": {"until": [], "max_gen_toks": 50, "do_sample": False},
        "filter_list": [{"name": "all", "filter": [{"function": "take_first_k", "k": 2}]}],
        "process_results": keep_all,
        "metric_list": [{"metric": "different", "aggregation": "mean", "higher_is_better": True}],
        **config,
    }


def evaluate(model: str, model_args: str, **more: Any) -> dict[str, Any]:
    task = toy_task(**more.pop("config", {}))
    # Reading the 14,000 task files of lm-eval would take most of the time.
    more["task_manager"] = TaskManager(include_defaults=False)
    found: dict[str, Any] = lm_eval.simple_evaluate(
        model=model, model_args=model_args, tasks=[task], log_samples=True, bootstrap_iters=0, **more
    )
    return found


def replies_of(found: dict[str, Any]) -> list[list[str]]:
    return [sample["resps"][0] for sample in found["samples"]["toy"]]


@pytest.fixture(autouse=True)
def no_machine_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    """lm-eval describes the machine in each result (pip, git, compilers), which takes most of a small run."""
    monkeypatch.setattr("lm_eval.evaluator.add_env_info", lambda results: None)
    monkeypatch.setattr("lm_eval.evaluator.get_git_commit_hash", lambda: None)


@pytest.fixture
def completions() -> Iterator[CompletionsServer]:
    running = CompletionsServer()
    yield running
    running.stop()


def test_ours_is_known_only_after_register_backends_and_the_others_stay_known() -> None:
    register_backends()
    register_backends()
    assert get_model("anthropic-batches").__name__ == "AnthropicBatches"
    assert get_model("dummy") is DummyLM
    assert "local-chat-completions" in model_registry


@pytest.mark.parametrize("batch", ["true", "false"])
def test_a_task_runs_over_ours(server: MessagesServer, batch: str) -> None:
    register_backends()
    found = evaluate(
        "anthropic-batches",
        f"model=claude-haiku-5-5,thinking=adaptive,effort=high,base_url={server.address},batch={batch},{QUICK}",
        apply_chat_template=True,
        system_instruction="Be brief.",
    )
    assert found["results"]["toy"]["different,all"] == 2.0
    sent = server.world.bodies[0][2]
    params = sent["requests"][0]["params"] if batch == "true" else sent
    assert params["system"] == "Be brief."
    assert params["thinking"] == {"type": "adaptive"}
    assert "temperature" not in params
    assert all("wonder" not in reply for replies in replies_of(found) for reply in replies)
    assert KEY not in json.dumps(found, default=str)


@pytest.mark.real_data
def test_the_journal_of_a_real_task_says_which_replies_were_cut_and_what_they_used(
    server: MessagesServer, data_folder: Path, home: Path
) -> None:
    register_backends()
    answer = server.world.answer

    def answer_and_cut_one(params: dict[str, Any], *, tier: str) -> dict[str, Any]:
        message = answer(params, tier=tier)
        return {**message, "stop_reason": "max_tokens"} if len(server.world.generated) == 2 else message

    server.world.answer = answer_and_cut_one  # type: ignore[method-assign]
    lm_eval.simple_evaluate(
        model="anthropic-batches",
        model_args=f"model=claude-haiku-5-5,thinking=adaptive,base_url={server.address},{QUICK}",
        tasks=["math500_strict"],
        limit=3,
        apply_chat_template=True,
        bootstrap_iters=0,
        task_manager=TaskManager(
            include_path=str(tasks_folder()), include_defaults=False, metadata={"grade": "later"}
        ),
    )
    [journal] = home.glob("journals/*.jsonl")
    [_, *lines] = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert [line["truncated"] for line in lines] == ["no", "yes", "no"]
    assert [line["stop_reason"] for line in lines] == ["end_turn", "max_tokens", "end_turn"]
    assert {line["model"] for line in lines} == {"claude-haiku-5-5"}
    assert all(line["usage"]["service_tier"] == "batch" for line in lines)
    assert all("wonder" not in line["reply"] for line in lines)


def test_ours_answers_no_task_that_needs_log_probabilities(server: MessagesServer) -> None:
    register_backends()
    with pytest.raises(BackendFault, match="generate_until tasks only"):
        evaluate(
            "anthropic-batches",
            f"model=claude-haiku-5-5,base_url={server.address}",
            config={
                "output_type": "loglikelihood",
                "generation_kwargs": None,
                "repeats": 1,
                "filter_list": None,
            },
        )


def test_local_chat_completions_gets_the_same_seed_for_every_repeat(completions: CompletionsServer) -> None:
    completions.faults = deque([500])
    found = evaluate(
        "local-chat-completions",
        f"model=any,base_url={completions.address}/v1/chat/completions,num_concurrent=2,max_retries=3",
        apply_chat_template=True,
        config={"generation_kwargs": {"until": ["a", "b", "c", "d", "e"], "max_gen_toks": 50}},
    )
    assert [body["messages"][-1]["content"] for _, body in completions.bodies].count(QUESTIONS[0]) == 2
    # The n "samples" of a problem are n copies: what the report has to notice.
    assert found["results"]["toy"]["different,all"] == 1.0
    # Five stop strings were asked for and one was dropped without a word.
    assert all(body["stop"] == ["a", "b", "c", "d"] for _, body in completions.bodies)


def test_local_completions_sends_the_bare_prompt(completions: CompletionsServer) -> None:
    found = evaluate(
        "local-completions",
        f"model=any,base_url={completions.address}/v1/completions,tokenizer_backend=None,tokenized_requests=False",
        config={"generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 50}},
    )
    assert {body["prompt"] for _, body in completions.bodies} == set(QUESTIONS)
    assert replies_of(found)[1][0] == f"echo({QUESTIONS[1]}) seed 1234"


def test_anthropic_chat_of_lm_eval_works_without_thinking(server: MessagesServer) -> None:
    found = evaluate(
        "anthropic-chat",
        f"model=claude-haiku-4-5,base_url={server.address}/v1/messages,num_concurrent=2",
        apply_chat_template=True,
    )
    assert found["results"]["toy"]["different,all"] == 2.0
    path, headers, body = server.world.bodies[0]
    assert {name.lower(): value for name, value in headers.items()}["anthropic-version"] == "2023-06-01"
    # It sends a temperature that nobody asked for, which the newer API version refuses.
    assert (path, body["temperature"]) == ("/v1/messages", 0)


def test_anthropic_chat_of_lm_eval_needs_a_stop_string_or_concurrency(server: MessagesServer) -> None:
    # With one request at a time and no stop string in the task, it sends the stop string null.
    place = f"model=claude-haiku-4-5,base_url={server.address}/v1/messages,max_retries=1"
    with pytest.raises(requests.HTTPError, match="400"):
        evaluate("anthropic-chat", place, apply_chat_template=True)
    assert server.world.bodies[0][2]["stop_sequences"] == [None]
    assert evaluate("anthropic-chat", f"{place},eos_string=</s>", apply_chat_template=True)


def test_anthropic_chat_of_lm_eval_breaks_on_thinking(server: MessagesServer) -> None:
    gen = {"until": ["</s>"], "max_gen_toks": 4096, "temperature": 1, "thinking": {"type": "adaptive"}}
    with pytest.raises(KeyError, match="text"):
        evaluate(
            "anthropic-chat",
            f"model=claude-haiku-5-5,base_url={server.address}/v1/messages,max_retries=1",
            apply_chat_template=True,
            config={"generation_kwargs": gen},
        )
    # The reply had been paid for.
    assert sum(server.world.paid.values()) == 1


def test_the_response_cache_of_lm_eval_makes_no_copies_of_our_repeats(
    server: MessagesServer, tmp_path: Path
) -> None:
    register_backends()
    found = evaluate(
        "anthropic-batches",
        f"model=claude-haiku-5-5,base_url={server.address},{QUICK}",
        apply_chat_template=True,
        use_cache=str(tmp_path / "cache"),
    )
    assert found["results"]["toy"]["different,all"] == 2.0
