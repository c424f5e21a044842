"""Settings and lm-eval's generate_until requests go in, Messages requests with stable ids come out."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .faults import BackendFault
from .settings import DEFAULT_MAX_TOKENS, Settings

# Sampling parameters that tasks set and the API's current version has no more.
SAMPLING = ("temperature", "top_p", "top_k")
RUN_KEY_LENGTH = 16
BODY_HASH_LENGTH = 32


@dataclass(frozen=True)
class Ask:
    """One generate_until request as lm-eval states it: what is asked, and for which task and document."""

    context: str | Sequence[Mapping[str, Any]]  # plain text, or the messages of a chat
    gen_kwargs: Mapping[str, Any]
    task: str | None = None
    doc_id: int | None = None


@dataclass(frozen=True)
class Request:
    """One request on the wire; ``sample`` counts the equal bodies before it: repeats are requests apart."""

    custom_id: str
    params: Mapping[str, Any]
    body_hash: str
    sample: int
    task: str | None
    doc_id: int | None
    local_stops: tuple[str, ...]  # stop strings that the API refuses; the reply is cut at them here


def message_params(settings: Settings, ask: Ask) -> dict[str, Any]:
    """Build the body of one Messages request, with no field that nobody asked for.

    Raises BackendFault where the settings and the request cannot go together.
    """
    system, messages = _split_system(settings, ask.context)
    gen = ask.gen_kwargs
    max_tokens = settings.max_tokens or gen.get("max_tokens") or gen.get("max_gen_toks") or DEFAULT_MAX_TOKENS
    params: dict[str, Any] = {"model": settings.model, "max_tokens": int(max_tokens), "messages": messages}
    if system:
        params["system"] = system
    thinking = thinking_param(settings, int(max_tokens))
    if thinking is not None:
        params["thinking"] = thinking
        if thinking["type"] in ("adaptive", "enabled") and messages[-1]["role"] == "assistant":
            raise BackendFault(
                f"task {ask.task}: its prompt begins the assistant's reply (gen_prefix), which cannot be "
                f"combined with thinking={settings.thinking}"
            )
    if settings.effort is not None:
        params["output_config"] = {"effort": settings.effort}
    stops = [stop for stop in stop_strings(gen) if stop.strip()]
    if stops:
        params["stop_sequences"] = stops
    temperature = gen.get("temperature") if settings.temperature == "task" else settings.temperature
    if temperature is not None:
        params["temperature"] = float(temperature)
    return params


def thinking_param(settings: Settings, max_tokens: int) -> dict[str, Any] | None:
    """The ``thinking`` field for the settings; None when it is not sent."""
    if settings.thinking is None:
        return None
    param: dict[str, Any] = {"type": settings.thinking}
    if settings.budget_tokens is not None:
        if settings.budget_tokens >= max_tokens:
            raise BackendFault(
                f"model_args: budget_tokens={settings.budget_tokens} must be below max_tokens={max_tokens}"
            )
        param["budget_tokens"] = settings.budget_tokens
    if settings.thinking_display is not None:
        param["display"] = settings.thinking_display
    return param


def stop_strings(gen_kwargs: Mapping[str, Any]) -> list[str]:
    """The stop strings of lm-eval's ``until``, each once, none empty."""
    until = gen_kwargs.get("until") or []
    listed = [until] if isinstance(until, str) else list(until)
    return list(dict.fromkeys(stop for stop in listed if stop))


def build_requests(settings: Settings, base_url: str, asks: Sequence[Ask]) -> tuple[str, list[Request]]:
    """Number and name the requests.

    Returns the run key (equal for equal model, settings and bodies, in whatever order the tasks come) and one
    request for each ask, in order. A custom_id is run key, body hash and sample: content-addressed, and
    unique beyond this run, which is what lets a lost batch be recognised by its results.
    """
    bodies = [message_params(settings, ask) for ask in asks]
    hashes = [body_hash(body) for body in bodies]
    seen: Counter[str] = Counter()
    samples = []
    for hash_ in hashes:
        samples.append(seen[hash_])
        seen[hash_] += 1
    identity = {
        "run": settings.run,
        "base_url": base_url,
        "version": settings.api_version,
        "bodies": sorted(f"{hash_}:{count}" for hash_, count in seen.items()),
    }
    key = hashlib.sha256(canonical(identity).encode()).hexdigest()[:RUN_KEY_LENGTH]
    requests = [
        Request(
            custom_id=f"{key}-{hash_[:BODY_HASH_LENGTH]}-{sample}",
            params=body,
            body_hash=hash_,
            sample=sample,
            task=ask.task,
            doc_id=ask.doc_id,
            local_stops=tuple(stop for stop in stop_strings(ask.gen_kwargs) if not stop.strip()),
        )
        for ask, body, hash_, sample in zip(asks, bodies, hashes, samples, strict=True)
    ]
    return key, requests


def unsent(settings: Settings, asks: Sequence[Ask]) -> list[str]:
    """What the tasks ask for and the requests do not say, as lines for people; each once."""
    notes = []
    for ask in asks:
        asked = [f"{name}={ask.gen_kwargs[name]}" for name in SAMPLING if ask.gen_kwargs.get(name)]
        if asked and settings.temperature is None:
            notes.append(
                f"task {ask.task} asks for {', '.join(asked)}, not sent: the API has no such field now "
                "(temperature=task sends the temperature by the API version that has it)"
            )
        limit = ask.gen_kwargs.get("max_tokens") or ask.gen_kwargs.get("max_gen_toks")
        if limit and settings.max_tokens and settings.max_tokens != limit:
            notes.append(
                f"task {ask.task} asks for at most {limit} tokens; max_tokens={settings.max_tokens} is sent"
            )
    return list(dict.fromkeys(notes))


def canonical(value: Any) -> str:
    """JSON text that is equal for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def body_hash(params: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of a request body."""
    return hashlib.sha256(canonical(params).encode()).hexdigest()


def cut_at(text: str, stops: Sequence[str]) -> str:
    """The text up to the first of the stop strings."""
    places = [place for place in (text.find(stop) for stop in stops) if place >= 0]
    return text[: min(places)] if places else text


def _split_system(
    settings: Settings, context: str | Sequence[Mapping[str, Any]]
) -> tuple[str | None, list[dict[str, str]]]:
    """The system text and the messages; a chat's own system turn and ``system=`` exclude each other."""
    if isinstance(context, str):
        return settings.system, [{"role": "user", "content": context}]
    turns = [{"role": str(turn["role"]), "content": str(turn["content"])} for turn in context]
    system = settings.system
    if turns and turns[0]["role"] == "system":
        if system:
            raise BackendFault("model_args: system=... and lm-eval's --system_instruction exclude each other")
        system = turns.pop(0)["content"]
    if not turns:
        raise BackendFault("a chat without a user turn cannot be sent")
    return system, turns
