"""The front door: one command line for grading, runs, reports and this machine's state."""

from __future__ import annotations

import sys
from importlib import import_module

import typer

from lm_eval_strict.backends.faults import BackendFault

from .faults import UsageFault

AREAS = (
    "run",
    "grade",
    "regrade",
    "validate",
    "doctor",
    "lock",
    "report",
    "compare",
    "explain",
    "review",
    "gate",
    "cite",
    "cost",
    "state",
)


def build_app() -> typer.Typer:
    """Return the command line with the commands of every area registered."""
    app = typer.Typer(
        name="lm-eval-strict",
        help="Grade code and math benchmarks with graders and a sandbox that can be trusted.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    for area in AREAS:
        import_module(f".cli_{area}", __package__).register(app)
    return app


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit status 2."""
    try:
        build_app()()
    except (UsageFault, BackendFault) as fault:
        print(f"lm-eval-strict: {fault}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
