"""``cost``: the figure that hand calculation from the usage blocks gives, and never a free unknown."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import typer
from asks import backend, instances
from messages_server import MessagesServer
from typer.testing import CliRunner

from lm_eval_strict.backends.cost import cost_lines, estimate, paid_of_run
from lm_eval_strict.backends.faults import BackendFault
from lm_eval_strict.backends.prices import load_prices
from lm_eval_strict.backends.requests import Ask, build_requests
from lm_eval_strict.backends.settings import Settings
from lm_eval_strict.report import cli_cost
from lm_eval_strict.report.faults import UsageFault

DAY = "2026-12-01"
HAIKU = "claude-haiku-5-5"


def dollars(
    usage: dict[str, Any], model: str = HAIKU, *, batch: bool = False, day: str = DAY
) -> Decimal | None:
    return load_prices().dollars(model, usage, batch=batch, day=day)


def run_cost(*arguments: str) -> str:
    app = typer.Typer()
    app.command("other")(lambda: None)
    cli_cost.register(app)
    result = CliRunner().invoke(app, ["cost", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_a_usage_block_costs_what_a_hand_finds() -> None:
    # 1,200 * $0.10 + 3,400 * $0.50 per million = $0.00012 + $0.0017
    usage = {"input_tokens": 1200, "output_tokens": 3400}
    assert dollars(usage) == Decimal("0.00182")
    assert dollars(usage, batch=True) == Decimal("0.00091")
    # Thinking tokens are output tokens and are not counted again.
    assert dollars({**usage, "output_tokens_details": {"thinking_tokens": 3000}}) == Decimal("0.00182")
    # Writing 1,000 to the cache for five minutes, 500 for an hour, reading 10,000.
    cached = {
        **usage,
        "cache_creation_input_tokens": 1500,
        "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 500},
        "cache_read_input_tokens": 10_000,
    }
    assert dollars(cached) == Decimal("0.00182") + Decimal("0.000125") + Decimal("0.0001") + Decimal("0.0001")


def test_a_long_prompt_has_its_own_price() -> None:
    assert dollars({"input_tokens": 100_000, "output_tokens": 0}) == Decimal("0.01")
    assert dollars({"input_tokens": 100_001, "output_tokens": 0}) == Decimal("0.0500005")
    assert dollars({"input_tokens": 1, "cache_read_input_tokens": 100_000, "output_tokens": 0}) is None


def test_the_price_of_the_day_holds() -> None:
    usage = {"input_tokens": 0, "cache_read_input_tokens": 1_000_000, "output_tokens": 0}
    assert dollars(usage, "claude-sonnet-5-5", day="2026-10-06") == Decimal("0.2")
    assert dollars(usage, "claude-sonnet-5-5", day="2026-10-07") == Decimal("0.1")
    assert dollars(usage, "claude-sonnet-5-5", day="2026-08-01") is None


def test_a_dated_snapshot_costs_what_its_model_costs() -> None:
    usage = {"input_tokens": 1_000_000, "output_tokens": 0}
    assert dollars(usage, "claude-haiku-4-5-20251001") == dollars(usage, "claude-haiku-4-5") == 1


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("claude-nope", {}),
        (HAIKU, {"speed": "fast"}),
        (HAIKU, {"service_tier": "priority"}),
        (HAIKU, {"inference_geo": "us"}),
        (HAIKU, {"server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 0}}),
        ("claude-sonnet-4-6", {"cache_read_input_tokens": 5}),
    ],
)
def test_what_the_table_does_not_price_is_unknown_and_not_free(model: str, more: dict[str, Any]) -> None:
    assert dollars({"input_tokens": 10, "output_tokens": 10, **more}, model) is None


def test_every_price_of_the_table_has_input_output_and_a_date() -> None:
    table = load_prices()
    assert table.batch_factor == Decimal("0.5")
    for model, prices in table.models.items():
        for price in prices:
            assert {"input", "output"} <= set(price.dollars), model
            assert "2025" < price.valid_from <= table.read_on


def test_the_cost_of_a_run_is_the_sum_of_its_usage_blocks(server: MessagesServer) -> None:
    expired = {"done": False}

    def outcome(custom_id: str, times: int) -> str:
        if expired["done"]:
            return "succeeded"
        expired["done"] = True
        return "expired"

    server.world.outcome = outcome
    lm = backend(server.address, thinking="adaptive", effort="high", max_tokens=500)
    asked = instances(["a", "CUT b"], task="code_10", repeats=5) + instances(["c" * 999], task="math")
    lm.generate_until(asked)

    by_hand: dict[str, Decimal] = {"code_10": Decimal(0), "math": Decimal(0)}
    for record in lm.reply_records:
        assert record.usage is not None
        tokens_in, tokens_out = record.usage["input_tokens"], record.usage["output_tokens"]
        by_hand[str(record.task)] += (
            (tokens_in * Decimal("0.10") + tokens_out * Decimal("0.50")) / 1_000_000 / 2
        )
    lines = cost_lines(paid_of_run(str(lm.ledger_path)), load_prices())
    assert {line.task: line.dollars for line in lines} == by_hand
    assert [(line.replies, line.failures, line.cut_replies) for line in lines] == [(10, 1, 5), (1, 0, 0)]
    assert {line.setting for line in lines} == {"thinking=adaptive,effort=high,max_tokens=500"}
    assert lines[0].thinking_tokens == 70

    shown = run_cost(str(lm.run_key)[:6])
    assert f"total ${sum(by_hand.values()):.4f}" in shown
    data = json.loads(run_cost(str(lm.run_key), "--json"))
    assert Decimal(data["dollars"]) == sum(by_hand.values())
    assert [line["replies"] for line in data["lines"]] == [10, 1]


def test_a_plain_run_pays_the_full_price(server: MessagesServer) -> None:
    lm = backend(server.address, batch=False)
    lm.generate_until(instances(["a"]))
    [record] = lm.reply_records
    assert record.usage is not None
    [line] = cost_lines(paid_of_run(str(lm.run_key)), load_prices())
    assert line.dollars == dollars(dict(record.usage), batch=False)


def test_an_unknown_model_is_said_to_be_unknown(server: MessagesServer, tmp_path: Path) -> None:
    table = tmp_path / "prices.json"
    table.write_text(json.dumps({"models": {HAIKU: []}}), encoding="utf-8")
    lm = backend(server.address)
    lm.generate_until(instances(["a"]))
    shown = run_cost(str(lm.run_key), "--prices", str(table))
    assert "total unknown" in shown
    assert f"no price for {HAIKU}" in shown
    assert json.loads(run_cost(str(lm.run_key), "--prices", str(table), "--json"))["dollars"] is None


def test_a_users_table_goes_over_the_built_in_one(tmp_path: Path) -> None:
    table = tmp_path / "prices.json"
    own = {"models": {"my-model": [{"from": "2026-01-01", "input": 1, "output": 2}]}, "batch_factor": 0.25}
    table.write_text(json.dumps(own), encoding="utf-8")
    prices = load_prices(str(table))
    usage = {"input_tokens": 1_000_000, "output_tokens": 1_000_000}
    assert prices.dollars("my-model", usage, batch=True, day=DAY) == Decimal("0.75")
    assert prices.dollars("claude-opus-5-5", usage, batch=False, day=DAY) == 24


@pytest.mark.parametrize(
    "text", ["not json", "[]", '{"models": {"m": [{"input": 1}]}}', '{"models": {"m": 1}}']
)
def test_a_broken_table_is_one_line(tmp_path: Path, text: str) -> None:
    table = tmp_path / "prices.json"
    table.write_text(text, encoding="utf-8")
    with pytest.raises(BackendFault, match="not a price table"):
        load_prices(str(table))
    with pytest.raises(BackendFault, match="cannot be read"):
        load_prices(str(tmp_path / "none.json"))


def test_the_cost_of_a_journal_is_found_too(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    usage = {"input_tokens": 1_000_000, "output_tokens": 0, "service_tier": "batch"}
    rows = [
        {"journal": 1, "task": "math500_strict", "model": HAIKU},
        {"task": "math500_strict", "reply": "4", "usage": usage},
        {"task": "math500_strict", "reply": "5"},
    ]
    journal.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    [line] = cost_lines(paid_of_run(str(journal)), load_prices())
    # A million tokens are a long prompt: $0.50, halved; the reply without usage has no known price.
    assert (line.known_dollars, line.unpriced_replies, line.dollars) == (Decimal("0.25"), 1, None)


def test_a_run_that_there_is_not_is_one_line(home: Path) -> None:
    with pytest.raises(UsageFault, match="no run of that key"):
        run_cost("0123")
    (home / "batches" / "0123aa").mkdir(parents=True)
    (home / "batches" / "0123bb").mkdir(parents=True)
    with pytest.raises(UsageFault, match="2 runs of that key"):
        run_cost("0123")
    with pytest.raises(UsageFault, match="not the folder of a run"):
        run_cost("0123aa")


def test_an_estimate_bounds_what_is_paid_afterwards(server: MessagesServer) -> None:
    prompts = [f"{number} " * 40 for number in range(5)]
    lm = backend(server.address)
    lm.generate_until(instances(prompts))
    asks = [Ask(prompt, {"max_gen_toks": 100}) for prompt in prompts]
    _, wire = build_requests(Settings(HAIKU), server.address, asks)
    bounds = estimate(wire, load_prices(), batch=True, day=DAY)
    [line] = cost_lines(paid_of_run(str(lm.run_key)), load_prices())
    assert line.dollars is not None
    assert bounds.least_dollars is not None
    assert bounds.most_dollars is not None
    assert bounds.least_dollars < line.dollars < bounds.most_dollars
    assert "5 requests" in bounds.text()
    unknown = estimate(build_requests(Settings("nope"), "", asks)[1], load_prices(), batch=True, day=DAY)
    assert "the price of this model is unknown" in unknown.text()
