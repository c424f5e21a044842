"""lm-eval's model_args go in, checked and typed settings of the batch backend come out."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from .faults import BackendFault

THINKING = ("disabled", "adaptive", "between_tools", "enabled")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
DISPLAYS = ("summarized", "omitted")

# The documented limits of one Message Batch.
MAX_BATCH_REQUESTS = 100_000
MAX_BATCH_MB = 256

# The API version of the SDK has no sampling parameters; the one before it still has `temperature`.
VERSION_WITH_TEMPERATURE = "2023-06-01"

MIN_BUDGET_TOKENS = 1024
DEFAULT_MAX_TOKENS = 4096

# lm-eval hands these to every model; they mean nothing to a remote API.
IGNORED = frozenset({"batch_size", "max_batch_size", "device"})


@dataclass(frozen=True)
class Settings:
    """How to ask: each field is one key of ``--model_args``."""

    model: str
    # -- what is asked of the model
    max_tokens: int | None = None  # None: what the task says, else DEFAULT_MAX_TOKENS
    thinking: str | None = None  # None: the field is not sent, the model's own default holds
    budget_tokens: int | None = None
    thinking_display: str | None = None
    effort: str | None = None
    temperature: float | str | None = None  # "task": what the task says; None: the field is not sent
    system: str | None = None  # "@file": the file's text
    # -- how it is sent
    batch: bool = True
    concurrency: int = 8
    attempts: int = 3
    batch_requests: int = MAX_BATCH_REQUESTS
    batch_mb: float = MAX_BATCH_MB
    base_url: str | None = None
    # -- patience, in seconds
    poll_s: float = 30.0
    settle_s: float = 60.0
    timeout_s: float = 600.0
    patience_s: float = 1800.0
    # -- what to do
    run: str = ""
    preflight: bool = True
    retry_failed: bool = False
    resend_lost: bool = False
    dry_run: bool = False
    prices: str | None = None

    def __post_init__(self) -> None:
        _check_choices(self)
        _check_thinking(self)
        _check_numbers(self)

    @property
    def api_version(self) -> str | None:
        """The ``anthropic-version`` to send; None means the SDK's own."""
        return VERSION_WITH_TEMPERATURE if self.temperature is not None else None


def read_settings(model_args: Mapping[str, Any]) -> Settings:
    """Check model_args and build the settings.

    Raises BackendFault, one line that names the argument, the value got and the values allowed.
    """
    if "api_key" in model_args or "auth_token" in model_args:
        raise BackendFault(
            "model_args: api_key is refused, because lm-eval writes model_args into the results file; "
            "set ANTHROPIC_API_KEY in the environment"
        )
    known = {field.name: field for field in fields(Settings)}
    values: dict[str, Any] = {}
    for name, value in model_args.items():
        if name in IGNORED:
            continue
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise BackendFault(f"model_args: {name}={value!r} is not known; {hint}")
        if value is not None:
            values[name] = _typed(name, value, str(known[name].type))
    if not values.get("model"):
        raise BackendFault("model_args: model=... is missing, for example model=claude-haiku-5-5")
    if str(values.get("system", "")).startswith("@"):
        values["system"] = _read_text(values["system"][1:])
    return Settings(**values)


def _typed(name: str, value: Any, annotation: str) -> Any:
    """The value as the field's type; lm-eval has turned digits and true/false into numbers and booleans."""
    wanted = annotation.removesuffix(" | None")
    fault = BackendFault(f"model_args: {name}={value!r} must be {wanted}")
    try:
        if wanted == "bool":
            if isinstance(value, bool):
                return value
            raise fault
        if isinstance(value, bool):
            raise fault
        if wanted == "int":
            if isinstance(value, float) and not value.is_integer():
                raise fault
            return int(value)
        if wanted == "float":
            return float(value)
        if wanted == "float | str":
            return value if value == "task" else float(value)
    except ValueError:
        raise fault from None
    return str(value)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise BackendFault(f"model_args: system=@{path} cannot be read ({error.strerror})") from None


def _check_choices(settings: Settings) -> None:
    for name, value, allowed in (
        ("thinking", settings.thinking, THINKING),
        ("effort", settings.effort, EFFORTS),
        ("thinking_display", settings.thinking_display, DISPLAYS),
    ):
        if value is not None and value not in allowed:
            raise BackendFault(f"model_args: {name}={value!r} is not one of {', '.join(allowed)}")


def _check_thinking(settings: Settings) -> None:
    thinking = settings.thinking
    if (thinking == "enabled") != (settings.budget_tokens is not None):
        raise BackendFault(
            "model_args: thinking=enabled and budget_tokens=... belong together; "
            f"got thinking={thinking}, budget_tokens={settings.budget_tokens}"
        )
    if settings.budget_tokens is not None and settings.budget_tokens < MIN_BUDGET_TOKENS:
        raise BackendFault(
            f"model_args: budget_tokens={settings.budget_tokens} must be at least {MIN_BUDGET_TOKENS}"
        )
    thinks = thinking in ("adaptive", "enabled")
    if settings.thinking_display is not None and not thinks:
        raise BackendFault("model_args: thinking_display needs thinking=adaptive or thinking=enabled")
    if settings.temperature is not None and thinks:
        raise BackendFault(f"model_args: temperature cannot be sent with thinking={thinking}; leave one out")


def _check_numbers(settings: Settings) -> None:
    temperature = settings.temperature
    if isinstance(temperature, float) and not 0.0 <= temperature <= 1.0:
        raise BackendFault(f"model_args: temperature={temperature} must be from 0 to 1, or 'task'")
    if not 1 <= settings.batch_requests <= MAX_BATCH_REQUESTS:
        raise BackendFault(
            f"model_args: batch_requests={settings.batch_requests} must be from 1 to {MAX_BATCH_REQUESTS}"
        )
    if not 0 < settings.batch_mb <= MAX_BATCH_MB:
        raise BackendFault(
            f"model_args: batch_mb={settings.batch_mb} must be above 0 and at most {MAX_BATCH_MB}"
        )
    for name in ("max_tokens", "concurrency", "attempts"):
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise BackendFault(f"model_args: {name}={value} must be at least 1")
    for name in ("poll_s", "timeout_s"):
        if getattr(settings, name) <= 0:
            raise BackendFault(f"model_args: {name}={getattr(settings, name)} must be above 0")
    for name in ("settle_s", "patience_s"):
        if getattr(settings, name) < 0:
            raise BackendFault(f"model_args: {name}={getattr(settings, name)} must not be negative")
