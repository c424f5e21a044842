"""The command ``cost``: a run of the Claude backend in, its tokens and dollars by task and setting out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .faults import UsageFault

if TYPE_CHECKING:
    from lm_eval_strict.backends.cost import CostLine
    from lm_eval_strict.backends.prices import PriceTable

UNKNOWN = "unknown"


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("cost")(cost)


def cost(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="A run key (printed when a run starts) or its beginning, a run's folder, or a journal.",
        ),
    ],
    prices: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A price table (JSON) whose models are put over the built-in ones."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,
) -> None:
    """Say what a run cost: tokens and dollars by task and setting, batch discount included.

    A model that the price table does not list is unknown, never free.
    """
    from lm_eval_strict.backends.cost import cost_lines, paid_of_run
    from lm_eval_strict.backends.faults import BackendFault
    from lm_eval_strict.backends.prices import load_prices

    try:
        table = load_prices(prices)
        lines = cost_lines(paid_of_run(run), table)
    except BackendFault as fault:
        raise UsageFault(str(fault)) from None
    if not lines:
        raise UsageFault(f"RUN={run!r}: no reply has arrived yet")
    if as_json:
        typer.echo(json.dumps(as_data(lines, table), indent=1))
    else:
        _show(lines, table)


def as_data(lines: Sequence[CostLine], table: PriceTable) -> dict[str, Any]:
    """The figures as plain data; dollars are text with every digit, or null where a price is unknown."""
    return {
        "cost": 1,
        "prices_read_on": table.read_on,
        "batch_factor": str(table.batch_factor),
        "dollars": _digits(total(lines)),
        "lines": [
            {
                "task": line.task,
                "setting": line.setting,
                "model": line.model,
                "replies": line.replies,
                "failures": line.failures,
                "cut_replies": line.cut_replies,
                "tokens": line.tokens,
                "thinking_tokens": line.thinking_tokens,
                "dollars": _digits(line.dollars),
                "unpriced_replies": line.unpriced_replies,
            }
            for line in lines
        ],
    }


def total(lines: Sequence[CostLine]) -> Decimal | None:
    """The sum in dollars; None as soon as one line has none."""
    known = [line.dollars for line in lines if line.dollars is not None]
    return sum(known, Decimal(0)) if len(known) == len(lines) else None


def _digits(dollars: Decimal | None) -> str | None:
    return None if dollars is None else f"{dollars.normalize():f}"


def _show(lines: Sequence[CostLine], table: PriceTable) -> None:
    heads = ("replies", "cut", "failed", "tokens in", "tokens out", "thinking", "dollars")
    width = max(len("task"), *(len(line.task) for line in lines))
    for model, setting in dict.fromkeys((line.model, line.setting) for line in lines):
        typer.echo(f"{model}: {setting}")
        typer.echo("  ".join([f"{'task':{width}}", *(f"{head:>10}" for head in heads)]))
        for line in lines:
            if (line.model, line.setting) == (model, setting):
                typer.echo("  ".join([f"{line.task:{width}}", *(f"{cell:>10}" for cell in _cells(line))]))
    whole = total(lines)
    typer.echo(
        f"total {UNKNOWN if whole is None else f'${whole:.4f}'}; prices read on {table.read_on}, "
        f"batches at {table.batch_factor} of them; failed requests are not billed"
    )
    unknown = sorted({line.model for line in lines if line.unpriced_replies})
    if unknown:
        typer.echo(f"no price for {', '.join(unknown)} or some of its tokens: --prices FILE")


def _cells(line: CostLine) -> list[str]:
    tokens_in = sum(count for kind, count in line.tokens.items() if kind != "output")
    counts = (line.replies, line.cut_replies, line.failures, tokens_in, line.tokens.get("output", 0))
    return [
        *(f"{count:,}" for count in (*counts, line.thinking_tokens)),
        UNKNOWN if line.dollars is None else f"{line.dollars:.4f}",
    ]
