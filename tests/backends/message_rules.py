"""The body of a Messages request goes in; why the API would answer 400 comes out, or None."""

from __future__ import annotations

from typing import Any

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from sdk_shapes import mismatch

VERSIONS = ("2023-06-01", "2026-10-21")
SAMPLING = {"temperature": (0.0, 1.0), "top_p": (0.0, 1.0), "top_k": (0, 500)}
MAX_OUTPUT_TOKENS = 128_000
MIN_BUDGET_TOKENS = 1024

# What each model of the tests accepts: thinking types, effort levels, and whether it takes a prefilled reply.
MODELS: dict[str, dict[str, Any]] = {
    "claude-haiku-5-5": {
        "thinking": ("adaptive", "disabled"),
        "effort": ("low", "medium", "high", "xhigh", "max"),
        "prefill": False,
    },
    "claude-sonnet-5-5": {
        "thinking": ("adaptive", "between_tools"),
        "effort": ("low", "medium", "high", "xhigh", "max"),
        "prefill": False,
    },
    "claude-opus-5-5": {
        "thinking": ("adaptive",),
        "effort": ("low", "medium", "high", "max"),
        "prefill": False,
    },
    "claude-haiku-4-5": {"thinking": ("enabled", "disabled"), "effort": (), "prefill": True},
}


def problem(body: Any, version: str) -> str | None:
    """Check a body: first against the SDK's own type, then by the rules that types cannot say."""
    if not isinstance(body, dict):
        return "body: Input should be an object"
    shaped = dict(body)
    if version == "2023-06-01":
        for name, (least, most) in SAMPLING.items():
            value = shaped.pop(name, least)
            if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
                return f"{name}: Input should be from {least} to {most}"
    # These two are headers in the SDK, though they stand in its type.
    for name in ("workspace_id", "user_profile_id"):
        if name in shaped:
            return f"{name}: Extra inputs are not permitted"
    found = mismatch(shaped, MessageCreateParamsNonStreaming)
    if found:
        return found
    rules = (_model, _limits, _messages, _stops, _thinking, _effort, _prefill)
    return next((said for said in (rule(body) for rule in rules) if said), None)


def thinks(body: dict[str, Any]) -> bool:
    """Whether a legal body asks for thinking."""
    return body.get("thinking", {}).get("type") in ("adaptive", "enabled")


def _model(body: dict[str, Any]) -> str | None:
    return None if body["model"] in MODELS else f"model: {body['model']}"


def _limits(body: dict[str, Any]) -> str | None:
    if not 1 <= body["max_tokens"] <= MAX_OUTPUT_TOKENS:
        return f"max_tokens: {body['max_tokens']} is not from 1 to {MAX_OUTPUT_TOKENS}"
    return None


def _messages(body: dict[str, Any]) -> str | None:
    if not body["messages"]:
        return "messages: at least one message is required"
    if body["messages"][0]["role"] != "user":
        return "messages: first message must use the user role"
    for number, turn in enumerate(body["messages"]):
        if not turn["content"]:
            return f"messages.{number}: content must not be empty"
    return None


def _stops(body: dict[str, Any]) -> str | None:
    if any(not stop.strip() for stop in body.get("stop_sequences", [])):
        return "stop_sequences: each stop sequence must contain non-whitespace"
    return None


def _thinking(body: dict[str, Any]) -> str | None:
    thinking = body.get("thinking")
    if thinking is None:
        return None
    kind = thinking["type"]
    if kind not in MODELS[body["model"]]["thinking"]:
        return f"thinking.type: {kind} is not supported on {body['model']}"
    if kind == "enabled" and thinking["budget_tokens"] < MIN_BUDGET_TOKENS:
        return f"thinking.enabled.budget_tokens: should be at least {MIN_BUDGET_TOKENS}"
    if kind == "enabled" and thinking["budget_tokens"] >= body["max_tokens"]:
        return "max_tokens must be greater than thinking.budget_tokens"
    if thinks(body) and body.get("temperature", 1) != 1:
        return "temperature may only be set to 1 when thinking is enabled"
    return None


def _effort(body: dict[str, Any]) -> str | None:
    effort = body.get("output_config", {}).get("effort")
    if effort is None:
        return None
    if effort not in MODELS[body["model"]]["effort"]:
        return f"output_config.effort: {effort} is not supported on {body['model']}"
    off = body.get("thinking", {}).get("type") in ("disabled", "between_tools")
    if off and effort in ("xhigh", "max"):
        return f"output_config.effort: {effort} needs thinking"
    return None


def _prefill(body: dict[str, Any]) -> str | None:
    last = body["messages"][-1]
    if last["role"] != "assistant":
        return None
    if thinks(body) or not MODELS[body["model"]]["prefill"]:
        return "This model does not support assistant message prefill."
    if isinstance(last["content"], str) and last["content"] != last["content"].rstrip():
        return "messages: final assistant content cannot end with trailing whitespace"
    return None
