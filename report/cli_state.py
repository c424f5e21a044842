"""``tasks-dir`` and ``clean``: where the pack's files are, and emptying its state folder."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated

import typer

from .faults import UsageFault

UNIT_S = {"h": 3600, "d": 86400, "w": 604800}


def register(app: typer.Typer) -> None:
    """Add ``tasks-dir`` and ``clean`` to the command line."""
    app.command("tasks-dir")(tasks_dir)
    app.command()(clean)


def tasks_dir() -> None:
    """Print the folder of the tasks, for lm_eval's --include_path."""
    from lm_eval_strict.filters.task_spec import tasks_folder

    print(tasks_folder())


def clean(
    older_than: Annotated[str, typer.Option(help="Age of what goes: a number and h, d or w.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Remove journals, run records and caches of the state folder that are older than an age."""
    from lm_eval_strict.backends.batch_ledger import is_under_way
    from lm_eval_strict.filters.journal import state_folder

    match = re.fullmatch(r"(\d+)([hdw])", older_than)
    if match is None:
        raise UsageFault(f"--older-than {older_than!r} is not a number and one of h, d, w, such as 30d")
    oldest = time.time() - int(match[1]) * UNIT_S[match[2]]
    # The folder of a run with a batch that was paid for and not collected is the only way back to it.
    kept = {folder for folder in state_folder().glob("batches/*") if is_under_way(folder)}
    old = [
        path
        for path in files_below(state_folder())
        if path.stat().st_mtime < oldest and path.parent not in kept
    ]
    size = sum(path.stat().st_size for path in old)
    for path in old if not dry_run else ():
        path.unlink(missing_ok=True)
    verb = "would remove" if dry_run else "removed"
    print(f"{verb} {len(old)} files, {size / 1e6:.1f} MB, from {state_folder()}")


def files_below(folder: Path) -> list[Path]:
    """Return the regular files below ``folder``, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
