"""The command ``cite``: a run in, the words that name it out; or a citation in, whether it holds here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .faults import UsageFault

if TYPE_CHECKING:
    from lm_eval_strict.filters.task_spec import TaskSpec

    from .citation import Citation

TEXT_MOST = 8 * 1024 * 1024


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command("cite")(cite)


def cite(
    run: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="The files of one run; for --check also a citation (.bib, .txt)."
        ),
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Say whether the installed pack could give this score again.")
    ] = False,
    task: Annotated[str, typer.Option(help="Cite this task only.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print every field as JSON.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
) -> None:
    """Write the sentence and BibTeX for a run: task, version, digests, limits, library versions, isolation.

    A run with other library versions than the pinned ones (off-lock) is refused. --check exits 1 where the
    installed pack could not give the score again, and says why.
    """
    from .as_json import to_json

    citations = _stated(run) if check else []
    if not citations:
        made = _citations(run, task, seed)
        citations = [dict(one.fields) for one in made]
        if not check:
            if as_json:
                typer.echo(to_json({"cite": 1, "citations": made}))
            for one in made if not as_json else ():
                typer.echo(f"{one.sentence}\n\n{one.bibtex}\n")
            return
    results = [(fields, list(check_citation(fields))) for fields in citations]
    whole = all(ok for _, lines in results for ok, _ in lines)
    if as_json:
        listed = [
            {"task": fields.get("task"), "checks": [{"holds": ok, "what": what} for ok, what in lines]}
            for fields, lines in results
        ]
        typer.echo(to_json({"check": 1, "reproducible": whole, "citations": listed}))
    else:
        for fields, lines in results:
            typer.echo(f"{fields.get('task')} {fields.get('version')}")
            for ok, what in lines:
                typer.echo(f"  {'✓' if ok else '✗'} {what}")
        typer.echo(
            "The installed pack could give this score again; lm-eval-strict lock tries its graders."
            if whole
            else "It could NOT give this score again."
        )
    raise typer.Exit(0 if whole else 1)


def _stated(paths: list[Path]) -> list[dict[str, str]]:
    """Read citations from files of text; none where the files are a run's."""
    from .citation import read_marks

    found = []
    for path in paths:
        if (
            path.is_file()
            and path.suffix in (".bib", ".txt", ".md", ".tex")
            and path.stat().st_size <= TEXT_MOST
        ):
            marks = read_marks(path.read_text(encoding="utf-8", errors="replace"))
            if not marks:
                raise UsageFault(f"{path}: no citation of lm-eval-strict in it")
            found += marks
    return found


def _citations(paths: list[Path], task: str, seed: int) -> list[Citation]:
    import numpy as np

    from .citation import cite_task
    from .read_run import only_task, read_run
    from .summary import summarize_run

    run = read_run(paths, keep=True)
    if task:
        run = only_task(run, task)
    summary = summarize_run(run, np.random.default_rng(seed))
    return [cite_task(run, one, pack_facts(one.task, one.version)) for one in summary.tasks]


def pack_facts(task: str, version: str) -> dict[str, str]:
    """Give what the installed pack knows of a task: version, digest, data hash; and the libraries here."""
    from .libraries import installed_versions

    versions = installed_versions()
    facts = {**versions, "pack": versions.get("lm-eval-strict", "")}
    spec = _spec(task, version)
    if spec is not None:
        from lm_eval_strict.filters.published import PUBLISHED

        facts["data"] = str(PUBLISHED[spec.dataset].sha256)
        facts["task_digest"], facts["version"] = str(spec.digest), str(spec.version)
    return facts


def _spec(task: str, version: str) -> TaskSpec | None:
    from lm_eval_strict.filters.task_spec import UnknownTask, read_task

    major = version.split(".")[0]
    for name in (f"{task}_v{major}", task):
        try:
            return read_task(name)
        except UnknownTask:
            continue
    return None


def check_citation(fields: Mapping[str, str]) -> Iterator[tuple[bool, str]]:
    """Hold a citation against the installed pack; yield (holds, what) for each thing that decides a score."""
    from .citation import MATH_LIBRARIES

    task, version = fields.get("task", ""), fields.get("version", "")
    facts = pack_facts(task, version)
    if "task_digest" not in facts:
        yield False, f"the pack has no task {task!r}"
        return
    for name, word in (("version", "version"), ("task_digest", "task digest"), ("data", "data")):
        stated, ours = fields.get(name, ""), facts[name]
        if not stated:
            yield False, f"{word}: the citation does not state it"
            continue
        # Within a major no number moves, so another minor or patch of the task gives the same score.
        same = stated.split(".")[0] == ours.split(".")[0] if name == "version" else stated == ours
        yield same, f"{word} {stated}" + ("" if stated == ours else f", the pack's is {ours}")
    for name in MATH_LIBRARIES:
        if name in fields:
            ours = facts.get(name, "missing")
            same = fields[name] == ours
            yield same, f"{name} {fields[name]}" + ("" if same else f", installed is {ours}")
    if fields.get("request_digest"):
        yield True, f"request digest {fields['request_digest']} is stated"
    else:
        yield False, "request digest: the citation does not state it, so what the model was asked is unknown"
