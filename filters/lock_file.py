"""``tasks.lock`` and the kept verdicts as text in, as records out, and back: sorted, one fact a line."""

from __future__ import annotations

import configparser
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from .problems import sha256_of

LOCK_NAME = "tasks.lock"
HEAD = """\
# What each frozen task declares and how it judges the fixed replies: written by `make lock`, never by hand.
# A digest of a task that stands here does not change any more: see docs/versions.md.
"""

Verdicts = Mapping[str, Mapping[str, str]]
"""A reply's identifier -> pipeline -> verdict."""


@dataclass(frozen=True)
class Block:
    """What the lock says of one frozen task.

    ``declared`` is the task's digest as its rows carry it, ``behaviour`` the digest of its verdicts on
    ``rows`` fixed replies, which the file ``verdicts`` beside the lock keeps.
    """

    version: str
    declared: str
    behaviour: str
    rows: int
    verdicts: str


def read_lock(folder: Path) -> dict[str, Block]:
    """Return the blocks of the lock in ``folder`` by frozen task; empty where there is none."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(folder / LOCK_NAME, encoding="utf-8")
    return {
        name: Block(**{**parser[name], "rows": parser[name].getint("rows")})  # type: ignore[arg-type]
        for name in parser.sections()
    }


def write_lock(folder: Path, blocks: Mapping[str, Block]) -> None:
    """Write ``blocks`` as the lock of ``folder``, sorted by task."""
    texts = [HEAD]
    for name in sorted(blocks):
        facts = [f"{fact} = {value}" for fact, value in asdict(blocks[name]).items()]
        texts.append("\n".join([f"[{name}]", *facts, ""]))
    (folder / LOCK_NAME).write_text("\n".join(texts), encoding="utf-8")


def read_verdicts(path: Path) -> dict[str, dict[str, str]]:
    """Return the kept verdicts of ``path`` by reply; empty where there is no such file."""
    if not path.is_file():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line.pop("id"): line for line in lines}


def write_verdicts(path: Path, verdicts: Verdicts) -> None:
    """Write one line a reply, sorted by reply."""
    lines = [json.dumps({"id": name, **verdicts[name]}) + "\n" for name in sorted(verdicts)]
    path.write_text("".join(lines), encoding="utf-8")


def behaviour_digest(verdicts: Verdicts) -> str:
    """Return the SHA-256 over the sorted lines ``reply pipeline verdict``."""
    lines = [
        f"{name} {pipeline} {verdict}" for name, by in verdicts.items() for pipeline, verdict in by.items()
    ]
    return sha256_of("\n".join(sorted(lines)))
