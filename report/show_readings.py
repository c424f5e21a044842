"""What the readings say in, tables on the terminal out."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from .readings import Misjudged, Readings
from .show_report import new_table
from .shown import NOTHING, percent, shorten, span

MISSES_SHOWN = 15
TEXT_SHOWN = 40


def show_readings(console: Console, made: Readings) -> None:
    """Print the score as read, each grader's agreement, and the false accepts and rejects."""
    console.print(f"[bold]{escape(made.task)}[/bold]  {made.decided} of {made.cases} cases decided")
    console.print(
        f"Score as read [bold]{percent(made.score.value)}[/bold] ({span(made.score)}); {made.headline} gave "
        f"{percent(made.graded_score.value)}. Unread replies count as {made.headline} has them."
    )
    if made.debatable:
        most = percent(made.score_debatable_right.value)
        console.print(f"{made.debatable} cases are debatable: {most} if all of them were right.")
    if made.read_accepted < made.accepted_cases:
        console.print(
            f"[yellow]![/] {made.read_accepted} of {made.accepted_cases} accepted cases were read: false "
            "accepts are known among those only (review --sample N)"
        )
    table = new_table(
        "Agreement with the reading, by reply",
        "grader",
        "replies",
        "agree",
        "kappa",
        "false accepts",
        "false rejects",
    )
    for name, one in made.agreement.items():
        kappa = f"{one.kappa:.3f}" if one.kappa == one.kappa else NOTHING
        table.add_row(
            escape(name),
            str(one.items),
            f"{percent(one.share)}%",
            kappa,
            str(one.false_accepts),
            str(one.false_rejects),
        )
    console.print(table)
    _show_misses(console, "False accepts", made.false_accepts)
    _show_misses(console, "False rejects", made.false_rejects)


def _show_misses(console: Console, title: str, misses: Sequence[Misjudged]) -> None:
    if not misses:
        return
    table = new_table(title, "grader", "problem", "answer", "key", "note", left=5)
    for miss in misses[:MISSES_SHOWN]:
        texts = (miss.pipeline, miss.problem, miss.answer, miss.gold, miss.note)
        table.add_row(*(escape(shorten(text, TEXT_SHOWN)) for text in texts))
    console.print(table)
    if len(misses) > MISSES_SHOWN:
        console.print(f"[dim]and {len(misses) - MISSES_SHOWN} more (--json has all)[/dim]")
