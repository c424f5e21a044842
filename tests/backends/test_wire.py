"""Settings in; the body on the wire is of the SDK's own type, is what was asked for, and is what arrives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from asks import backend, cases, instances
from lm_eval.models.api_models import JsonChatStr
from message_rules import problem
from messages_server import KEY, MessagesServer
from sdk_shapes import mismatch

from lm_eval_strict.backends.requests import Ask, message_params
from lm_eval_strict.backends.settings import EFFORTS, THINKING, Settings, read_settings

WIRE = cases("backend_wire")
BODY: dict[str, Any] = {
    "model": "claude-haiku-5-5",
    "max_tokens": 64,
    "messages": [{"role": "user", "content": "x"}],
}


@pytest.mark.parametrize("case", WIRE, ids=lambda case: case["name"])
def test_a_body_is_what_was_asked_for_and_of_the_sdks_type(case: dict[str, Any]) -> None:
    settings = read_settings(case["model_args"])
    params = message_params(settings, Ask(case.get("chat", "2+2?"), case["gen_kwargs"]))
    assert params == case["params"]
    typed = {name: value for name, value in params.items() if name != "temperature"}
    assert mismatch(typed, MessageCreateParamsNonStreaming) is None
    assert settings.api_version == case.get("version")


@pytest.mark.parametrize("batch", [True, False], ids=["batch", "plain"])
@pytest.mark.parametrize("case", WIRE, ids=lambda case: case["name"])
def test_a_body_arrives_as_it_was_built_and_is_accepted(
    server: MessagesServer, case: dict[str, Any], batch: bool
) -> None:
    context = JsonChatStr(json.dumps(case["chat"])) if "chat" in case else "2+2?"
    request = instances([context])[0]
    request.arguments = (context, case["gen_kwargs"])
    lm = backend(server.address, batch=batch, **case["model_args"])
    lm.generate_until([request])
    [(path, headers, body)] = server.world.bodies
    assert path == ("/v1/messages/batches" if batch else "/v1/messages")
    assert (body["requests"][0]["params"] if batch else body) == case["params"]
    sent = {name.lower(): value for name, value in headers.items()}
    assert sent["anthropic-version"] == case.get("version", "2026-10-21")
    assert sent["authorization"] == f"Bearer {KEY}"
    assert lm.reply_records[0].outcome == "succeeded"


def test_the_cases_use_every_kind_of_thinking_and_the_settings_know_what_the_sdk_knows() -> None:
    from anthropic.types.thinking_types import ThinkingTypes

    assert set(THINKING) == set(ThinkingTypes.model_fields)
    assert {case["params"]["thinking"]["type"] for case in WIRE if "thinking" in case["params"]} == set(
        THINKING
    )
    for effort in EFFORTS:
        params = message_params(Settings("m", effort=effort), Ask("x", {}))
        assert mismatch(params, MessageCreateParamsNonStreaming) is None


@pytest.mark.parametrize("case", cases("message_refusals"), ids=lambda case: case["name"])
def test_the_loopback_server_refuses_what_the_api_refuses(case: dict[str, Any]) -> None:
    body = {
        name: value for name, value in {**BODY, **case["body"]}.items() if name not in case.get("without", ())
    }
    said = problem(body, case.get("version", "2026-10-21"))
    assert said is not None
    assert case["says"] in said


def test_the_loopback_server_accepts_the_plain_body() -> None:
    assert problem(BODY, "2026-10-21") is None
