"""lm-eval's results JSON, a journal's or an Inspect log's head in, what is known of the run out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Naming the one field on the left also lets the fields on the right differ: they follow from it.
FOLLOWS = {
    "model": ("revision", "dtype", "chat_template", "prompts", "backend", "request", "thinking", "system"),
    "thinking": ("prompts", "chat_template", "generation", "request"),
    "chat_template": ("prompts", "request"),
    "system": ("prompts", "request"),
    "prompts": ("request",),
    "generation": ("request",),
    "backend": ("request", "dtype", "revision"),
    "revision": ("request",),
    "dtype": ("request",),
    "task": ("task_digest", "version", "prompts", "request"),
    "version": ("task_digest", "prompts", "request"),
    "grader": ("task_digest", "version"),
}


@dataclass(frozen=True)
class RunFacts:
    """What is known of a run beside its rows; every value is text, unknown ones are left out.

    ``request`` holds the named fields of the request (model, revision, generation, ...) by task; key "" is
    for all tasks. ``machine`` holds GPU and driver, ``libraries`` versions; ``versions`` are the tasks'
    versions as lm-eval's table prints them.
    """

    model: str = ""
    request: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def request_of(self, task: str) -> dict[str, str]:
        """Give the request fields that hold for ``task``."""
        return {**self.request.get("", {}), **self.request.get(plain_name(task), {})}

    def request_digest(self, task: str) -> str:
        """Give the digest that the source states, else one over the fields known; "" where none is."""
        fields = self.request_of(task)
        return fields.get("request") or (digest_of(fields) if len(fields) > 1 else "")


UNKNOWN = ("Could not collect", "N/A", "None")


def plain_name(task: str) -> str:
    """Give a task's name without its frozen major, as rows have it."""
    return re.sub(r"_v\d+$", "", task)


def digest_of(value: object) -> str:
    """Give a SHA-256 over the value's canonical JSON."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def merge(first: RunFacts, second: RunFacts) -> RunFacts:
    """Join what two files of one run say; the second wins where both speak."""
    request = {key: dict(fields) for key, fields in first.request.items()}
    for key, fields in second.request.items():
        request[key] = {**request.get(key, {}), **fields}
    return RunFacts(
        model=second.model or first.model,
        request=request,
        libraries={**first.libraries, **second.libraries},
        machine={**first.machine, **second.machine},
        versions={**first.versions, **second.versions},
    )


def from_header(header: Mapping[str, Any]) -> RunFacts:
    """Read the first line of a journal, or of a file of rows that states its run."""
    fields = {str(key): _text(value) for key, value in (header.get("request") or {}).items()}
    for name, key in (("request_digest", "request"), ("model", "model")):
        if header.get(name):
            fields[key] = _text(header[name])
    return RunFacts(
        model=str(header.get("model") or ""),
        request={plain_name(str(header.get("task") or "")): fields} if fields else {},
        libraries={str(key): str(value) for key, value in (header.get("libraries") or {}).items()},
        machine={str(key): str(value) for key, value in (header.get("machine") or {}).items()},
    )


def from_results(results: Mapping[str, Any]) -> RunFacts:
    """Read lm-eval's results JSON."""
    config = results.get("config") or {}
    arguments = config.get("model_args") or {}
    shared = {
        "model": results.get("model_name") or config.get("model"),
        "backend": config.get("model"),
        "revision": config.get("model_sha") or config.get("model_revision"),
        "dtype": config.get("model_dtype"),
        "chat_template": results.get("chat_template_sha"),
        "system": results.get("system_instruction_sha"),
        "thinking": _thinking(arguments, config.get("gen_kwargs")),
    }
    request = {"": {key: _text(value) for key, value in shared.items() if value not in (None, "")}}
    for task, settings in (results.get("configs") or {}).items():
        generation = {**(settings.get("generation_kwargs") or {}), **_as_mapping(config.get("gen_kwargs"))}
        fields = request.setdefault(plain_name(task), {})
        fields["generation"] = _text(generation)
        prompts = (results.get("task_hashes") or {}).get(task)
        if prompts:
            fields["prompts"] = str(prompts)
    return RunFacts(
        model=str(shared["model"] or ""),
        request=request,
        libraries=_libraries(results),
        machine=_machine(str(results.get("pretty_env_info") or "")),
        versions={
            plain_name(task): str(version) for task, version in (results.get("versions") or {}).items()
        },
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def _as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {"gen_kwargs": value} if value else {}


def _thinking(*settings: object) -> str:
    """Find the switch that turns thinking on or off, in model_args or gen_kwargs, text or mapping."""
    for setting in settings:
        found = re.search(r'"?(?:enable_thinking|thinking\w*)"?\s*[=:]\s*("?[\w.]+)', _text(setting or ""))
        if found:
            return found.group(1).strip('"').lower()
    return ""


def _libraries(results: Mapping[str, Any]) -> dict[str, str]:
    named = {"lm_eval": "lm_eval_version", "transformers": "transformers_version"}
    return {name: str(results[key]) for name, key in named.items() if results.get(key)}


def _machine(environment: str) -> dict[str, str]:
    """Read GPU and driver from the text that torch's collect_env printed."""
    patterns = {
        "gpu": r"GPU models and configuration:\s*(.+)",
        "driver": r"Nvidia driver version:\s*(.+)",
        "torch": r"PyTorch version:\s*(.+)",
        "cuda": r"CUDA runtime version:\s*(.+)",
    }
    found = {name: re.search(pattern, environment) for name, pattern in patterns.items()}
    texts = {name: match.group(1).strip() for name, match in found.items() if match}
    return {name: text for name, text in texts.items() if text not in UNKNOWN}
