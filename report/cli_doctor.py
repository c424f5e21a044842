"""``doctor``: what this machine can do for sandbox, data and libraries, each gap with its remedy."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Annotated

import typer


@dataclass(frozen=True)
class Finding:
    """One line of the table: what was looked at, what is there, whether that is enough, and the remedy."""

    what: str
    found: str
    good: bool
    remedy: str = ""


def register(app: typer.Typer) -> None:
    """Add ``doctor`` to the command line."""
    app.command()(doctor)


def doctor(
    self_check: Annotated[bool, typer.Option("--self-check", help="Also run the sandbox's probes.")] = False,
    level: Annotated[
        str | None, typer.Option(help="Level that --self-check probes; default: the best.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Tell what this machine can do: sandbox, data, libraries, state folder; each gap with its remedy."""
    findings = [*sandbox_findings(), *data_findings(), *library_findings(), state_finding()]
    if self_check:
        findings += self_check_findings(level)
    if as_json:
        print(json.dumps([vars(finding) for finding in findings], indent=2))
    else:
        _print_table(findings)
    raise typer.Exit(0 if all(finding.good for finding in findings) else 1)


def sandbox_findings() -> list[Finding]:
    """Return the level this machine gives, each missing layer with its remedy, CPUs and speed."""
    if sys.platform != "linux":
        return [
            Finding("sandbox", sys.platform, False, "run code tasks on Linux, or with --metadata grade=later")
        ]
    from lm_eval_strict.sandbox.isolation import probe
    from lm_eval_strict.sandbox.machine import speed_factor, usable_cpus
    from lm_eval_strict.sandbox.records import Isolation
    from lm_eval_strict.sandbox.remedies import remedies

    able = probe()
    return [
        Finding("sandbox level", able.level.value, able.level is Isolation.FULL),
        *(Finding(f"sandbox: {each.layer}", each.missing, False, each.how) for each in remedies(able)),
        Finding("workers (usable CPUs)", str(usable_cpus()), True),
        Finding("limits are multiplied by", f"{speed_factor():.2f}", True),
    ]


def data_findings() -> list[Finding]:
    """Return, for each published data set, where its very rows were found, or why not."""
    from lm_eval_strict.filters.problems import DataUnavailable, load_problems
    from lm_eval_strict.filters.published import PUBLISHED

    findings = []
    for name in PUBLISHED:
        try:
            findings.append(Finding(f"data: {name}", load_problems(name).source, True))
        except DataUnavailable as error:
            findings.append(Finding(f"data: {name}", "not available", False, str(error)))
    return findings


def library_findings() -> list[Finding]:
    """Return the versions of the libraries that numbers depend on, against those recorded."""
    from lm_eval_strict.filters.versions import LM_EVAL_TESTED, MATH_PINS, installed

    wanted = {"lm_eval": LM_EVAL_TESTED, **MATH_PINS}
    return [
        Finding(name, installed(name), installed(name) == version, f"pip install {name}=={version}")
        for name, version in wanted.items()
    ]


def state_finding() -> Finding:
    """Return where journals and caches are kept and how large they are."""
    from lm_eval_strict.filters.journal import state_folder

    from .cli_state import files_below

    size = sum(path.stat().st_size for path in files_below(state_folder()))
    return Finding("state folder", f"{state_folder()} ({size / 1e6:.1f} MB)", True)


def self_check_findings(level: str | None) -> list[Finding]:
    """Run every probe of the sandbox's promises at ``level`` and return one finding each."""
    from lm_eval_strict.sandbox.conformance import run_conformance
    from lm_eval_strict.sandbox.isolation import probe
    from lm_eval_strict.sandbox.records import Isolation

    from .faults import UsageFault

    levels = [each.value for each in Isolation]
    if level is not None and level not in levels:
        raise UsageFault(f"--level {level!r} is not one of {', '.join(levels)}")
    asked = Isolation(level) if level else probe().level
    return [
        Finding(
            f"{asked.value}: {result.name}",
            "held" if result.held else f"BROKEN: {result.detail}",
            result.held,
            result.promise,
        )
        for result in run_conformance(asked)
    ]


def _print_table(findings: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("", "what", "found", "remedy")
    for finding in findings:
        mark = "[green]ok[/]" if finding.good else "[red]!![/]"
        table.add_row(mark, finding.what, finding.found, "" if finding.good else finding.remedy)
    Console().print(table)
