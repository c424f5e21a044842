"""A comparison in, its tables on the terminal out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from .comparison import Comparison, PipelineComparison
from .show_report import new_table
from .shown import p_text, percent, points, shorten, span

RULES_SHOWN = 6
PROBLEMS_SHOWN = 12


def show_comparison(console: Console, made: Comparison) -> None:
    """Print the paired table, who won which problems, the rule mix, the plan and the warnings."""
    title = f"{escape(made.task)} {escape(made.version)}  [dim]{made.problems} problems, paired[/dim]"
    table = new_table(title, "pipeline", "A", "B", "points", "95% interval", "A wins", "B wins", "p")
    for one in made.pipelines:
        found = one.difference
        table.add_row(
            escape(one.pipeline),
            percent(found.first),
            percent(found.second),
            points(found.change.value),
            span(found.change, signed=True),
            str(found.worse),
            str(found.better),
            p_text(found.p_value),
            style="bold" if one.pipeline == made.headline else "",
        )
    console.print(f"A = {escape(made.first)}\nB = {escape(made.second)}", style="dim")
    console.print(table)
    main = next(one for one in made.pipelines if one.pipeline == made.headline)
    test = "exact McNemar" if main.difference.mcnemar else "normal approximation over problems"
    console.print(f"[dim]p: {test}, two-sided; intervals resample problems.[/dim]")
    _show_winners(console, made, main)
    _show_rules(console, made)
    if main.power:
        _show_power(console, main)
    for warning in made.warnings:
        console.print(f"[yellow]![/] {escape(warning)}")


def _show_winners(console: Console, made: Comparison, main: PipelineComparison) -> None:
    for name, won in ((made.first, main.won_by_first), (made.second, main.won_by_second)):
        if won:
            console.print(
                f"Only or better in {escape(shorten(name, 40))} ({len(won)}): {escape(_listed(won))}"
            )


def _listed(problems: Sequence[str]) -> str:
    rest = len(problems) - PROBLEMS_SHOWN
    return ", ".join(problems[:PROBLEMS_SHOWN]) + (f" and {rest} more (--json has all)" if rest > 0 else "")


def _show_rules(console: Console, made: Comparison) -> None:
    if len(made.rules) < 2 and not any(shift.first != shift.second for shift in made.rules):
        return
    table = new_table("Extraction rules, % of replies", "rule", "A", "B", "points")
    for shift in made.rules[:RULES_SHOWN]:
        table.add_row(
            escape(shift.rule or "(none)"),
            percent(shift.first),
            percent(shift.second),
            points(shift.second - shift.first),
        )
    console.print(table)


def _show_power(console: Console, main: PipelineComparison) -> None:
    plan = main.power
    assert plan is not None
    if math.isnan(plan.least_difference):
        console.print("The runs differ on no problem: nothing to plan from.")
        return
    wanted = f"{100 * plan.points:g} points"
    console.print(
        f"To settle a difference of {wanted} with power {100 * plan.power:.0f}%: "
        f"[bold]{plan.problems_needed:,}[/bold] problems like these (there are {plan.problems:,})."
    )
    if plan.problems_needed > plan.problems:
        if plan.samples_needed:
            more = f"Or [bold]{plan.samples_needed:,}[/bold] samples a problem on the problems at hand."
        elif plan.sampling_known:
            more = "No number of samples on the problems at hand would do."
        else:
            more = "Whether more samples would do cannot be told from one sample a problem."
        console.print(more)
    console.print(
        f"The smallest difference that these runs would find is {100 * plan.least_difference:.1f} points."
    )
