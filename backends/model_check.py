"""A model's own description and the settings go in; what the model would refuse comes out, nothing sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .faults import BackendFault
from .patience import insist
from .requests import Request
from .settings import THINKING, Settings

if TYPE_CHECKING:
    import anthropic
    from anthropic.types import ModelInfo

SKIP = "preflight=false sends it all the same"


def check_model(client: anthropic.Anthropic, settings: Settings, requests: Sequence[Request]) -> None:
    """Ask the API what the model accepts and refuse what it does not, before anything is sent.

    In a batch a refused setting shows only when the whole batch has ended, as one error for each request.
    """
    import anthropic

    def look_up() -> ModelInfo | None:
        try:
            return client.models.retrieve(settings.model)
        except anthropic.NotFoundError:
            return None

    info = insist(f"looking up {settings.model}", look_up, patience_s=settings.patience_s)
    if info is None:
        raise BackendFault(f"model_args: model={settings.model} is not known to the API; {SKIP}")
    for problem in problems(info, settings, requests):
        raise BackendFault(f"model_args: {problem}; {SKIP}")


def problems(info: ModelInfo, settings: Settings, requests: Sequence[Request]) -> list[str]:
    """What the model's description says against the settings; empty when it does not say."""
    found = []
    longest = max((int(request.params["max_tokens"]) for request in requests), default=0)
    if info.max_tokens is not None and longest > info.max_tokens:
        found.append(f"max_tokens={longest} is above the {info.max_tokens} of {info.id}")
    can = info.capabilities
    if can is None:
        return found
    if settings.batch and not can.batch.supported:
        found.append(f"{info.id} cannot be batched; batch=false sends plain requests")
    if settings.thinking is not None and not getattr(can.thinking.types, settings.thinking).supported:
        names = [name for name in THINKING if getattr(can.thinking.types, name).supported]
        found.append(f"thinking={settings.thinking} is not accepted by {info.id}, but {', '.join(names)}")
    if settings.effort is not None:
        level = getattr(can.effort, settings.effort)
        if not can.effort.supported or level is None or not level.supported:
            found.append(f"effort={settings.effort} is not accepted by {info.id}")
    return found
