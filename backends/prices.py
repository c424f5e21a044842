"""A dated price table goes in, the dollars for a usage block come out, or None where the table is silent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any

from .faults import BackendFault

TOKENS_PER_PRICE = Decimal(1_000_000)
KINDS = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
DATED_ID = re.compile(r"^(?P<name>.+)-\d{8}$")


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens from a date on, for prompts of at most ``max_prompt_tokens`` (None: any)."""

    valid_from: str  # ISO date
    max_prompt_tokens: int | None
    dollars: Mapping[str, Decimal]  # kind of token -> price; a kind that is missing is unknown

    @property
    def longest_prompt(self) -> float:
        """The most prompt tokens that this price is for."""
        return float("inf") if self.max_prompt_tokens is None else self.max_prompt_tokens


@dataclass(frozen=True)
class PriceTable:
    """Prices by model id, and what a batch pays of them."""

    read_on: str
    batch_factor: Decimal
    models: Mapping[str, Sequence[Price]]

    def price(self, model: str, day: str, prompt_tokens: int) -> Price | None:
        """The price that held for a model on a day (ISO date) for a prompt of so many tokens, or None.

        A dated snapshot (``claude-haiku-4-5-20251001``) costs what its name without the date costs.
        """
        dated = DATED_ID.match(model)
        listed = self.models.get(model) or (self.models.get(dated["name"]) if dated else None)
        valid = [price for price in listed or () if price.valid_from <= day]
        if not valid:
            return None
        newest = max(price.valid_from for price in valid)
        bands = [price for price in valid if price.valid_from == newest]
        fitting = [price for price in bands if prompt_tokens <= price.longest_prompt]
        return min(fitting, key=lambda price: price.longest_prompt, default=None)

    def dollars(self, model: str, usage: Mapping[str, Any], *, batch: bool, day: str) -> Decimal | None:
        """What one reply costs; None when any part of it has no price here."""
        tokens = token_counts(usage)
        if usage.get("speed") == "fast" or usage.get("service_tier") == "priority" or other_charges(usage):
            return None
        prompt = sum(count for kind, count in tokens.items() if kind != "output")
        price = self.price(model, day, prompt)
        if price is None or any(count and kind not in price.dollars for kind, count in tokens.items()):
            return None
        whole = sum((price.dollars[kind] * count for kind, count in tokens.items() if count), Decimal(0))
        return whole / TOKENS_PER_PRICE * (self.batch_factor if batch else 1)


def token_counts(usage: Mapping[str, Any]) -> dict[str, int]:
    """The billed tokens of a usage block by kind of price. Thinking is part of the output tokens."""
    written = int(usage.get("cache_creation_input_tokens") or 0)
    written_1h = int((usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0)
    return {
        "input": int(usage.get("input_tokens") or 0),
        "output": int(usage.get("output_tokens") or 0),
        "cache_write_5m": written - written_1h,
        "cache_write_1h": written_1h,
        "cache_read": int(usage.get("cache_read_input_tokens") or 0),
    }


def other_charges(usage: Mapping[str, Any]) -> bool:
    """Whether a usage block has what this table does not price: server tools, or a region's surcharge."""
    geo = usage.get("inference_geo")
    tools = usage.get("server_tool_use") or {}
    return any(tools.values()) or geo not in (None, "", "global", "not_available")


def load_prices(path: str | None = None) -> PriceTable:
    """Read the price table of the package, with the models of the user's own file put over it.

    The user's file has the same shape; ``batch_factor`` and any model in it replace ours.
    """
    ours = json.loads(resources.files(__package__).joinpath("prices.json").read_text(encoding="utf-8"))
    if path is None:
        return _table(ours)
    try:
        own = json.loads(Path(path).read_text(encoding="utf-8"))
        return _table({**ours, **own, "models": {**ours["models"], **own["models"]}})
    except OSError as error:
        raise BackendFault(f"prices {path}: cannot be read ({error.strerror})") from None
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise BackendFault(f"prices {path}: not a price table ({type(error).__name__}: {error})") from None


def _table(data: Mapping[str, Any]) -> PriceTable:
    return PriceTable(
        read_on=str(data["read_on"]),
        batch_factor=Decimal(str(data["batch_factor"])),
        models={model: [_price(row) for row in rows] for model, rows in data["models"].items()},
    )


def _price(row: Mapping[str, Any]) -> Price:
    unknown = set(row) - {"from", "max_prompt_tokens", *KINDS}
    if unknown:
        raise ValueError(f"unknown fields {', '.join(sorted(unknown))}")
    return Price(
        valid_from=str(row["from"]),
        max_prompt_tokens=row.get("max_prompt_tokens"),
        dollars={kind: Decimal(str(row[kind])) for kind in KINDS if row.get(kind) is not None},
    )
