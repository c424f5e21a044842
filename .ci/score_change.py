"""A commit in which a locked task's numbers move must say so in its message:

    score-change: <task> <pipeline> <before> -> <after>

`message FILE` checks the commit that is being made (a commit-msg hook), `range A..B` each commit of a range.
Moved are a task whose declared digest or whose verdict on a kept fixed reply is another one or gone, and the
plain name of a task that gets another major. Exit status 1 and one line a task where the message is silent.
"""

from __future__ import annotations

import configparser
import json
import re
import subprocess
import sys
from pathlib import Path

LOCK = "tasks/tasks.lock"
LINE = re.compile(
    r"^score-change: (?P<task>\S+) (?P<pipeline>\S+) (?P<before>\S+) -> (?P<after>\S+)$", re.MULTILINE
)

Blocks = configparser.ConfigParser
INDEX = ""
"""The revision that stands for what is about to be committed."""


def git(*arguments: str) -> str:
    """Return what git prints; nothing where it fails, as for a file that a revision does not have."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True).stdout


def lock_at(revision: str) -> Blocks:
    """Return the lock as ``revision`` has it, empty where it has none."""
    blocks = configparser.ConfigParser(interpolation=None)
    blocks.read_string(git("show", f"{revision}:{LOCK}"))
    return blocks


def verdicts_at(revision: str, file_name: str) -> set[tuple[str, str, str]]:
    """Return (reply, pipeline, verdict) of every kept verdict as ``revision`` has them."""
    rows = [json.loads(line) for line in git("show", f"{revision}:tasks/{file_name}").splitlines()]
    return {(row["id"], name, verdict) for row in rows for name, verdict in row.items() if name != "id"}


def moved_tasks(before: str, after: str) -> list[str]:
    """Return the tasks whose numbers are others at revision ``after`` than at ``before``."""
    old, new = lock_at(before), lock_at(after)
    moved = []
    for task in old.sections():
        if task not in new or old[task]["declared"] != new[task]["declared"]:
            moved.append(task)
        elif old[task]["behaviour"] != new[task]["behaviour"]:
            kept = verdicts_at(before, old[task]["verdicts"])
            if kept - verdicts_at(after, new[task]["verdicts"]):
                moved.append(task)
    known = {plain_name(task) for task in old.sections()}
    moved += [plain_name(task) for task in new.sections() if task not in old and plain_name(task) in known]
    return sorted(set(moved))


def plain_name(task: str) -> str:
    """Return a frozen task's name without its major."""
    return re.sub(r"_v\d+$", "", task)


def faults(message: str, before: str, after: str) -> list[str]:
    """Return a line for each moved task that ``message`` does not speak of."""
    told = {match["task"] for match in LINE.finditer(message)}
    return [
        f"{LOCK} moves {task} and the message does not say so: add the line "
        f"'score-change: {task} <pipeline> <before> -> <after>'"
        for task in moved_tasks(before, after)
        if not told & {task, plain_name(task)}
    ]


def main(arguments: list[str]) -> int:
    """Check what the command line names and print the faults."""
    if len(arguments) != 2 or arguments[0] not in ("message", "range"):
        print("usage: score_change.py message FILE | range A..B", file=sys.stderr)
        return 2
    kind, what = arguments
    if kind == "message":
        found = faults(Path(what).read_text(encoding="utf-8"), "HEAD", INDEX)
    else:
        listed = subprocess.run(
            ["git", "rev-list", "--no-merges", what, "--", "tasks"], stdout=subprocess.PIPE, text=True
        )
        if listed.returncode:
            return 2  # git has said why: an unknown range is no range without faults
        commits = listed.stdout.split()
        found = [
            f"{commit[:10]}: {fault}"
            for commit in commits
            for fault in faults(git("show", "-s", "--format=%B", commit), f"{commit}^", commit)
        ]
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
