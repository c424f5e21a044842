"""A file in, its JSON records one by one out; or one clear line that says what is wrong with it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .faults import UsageFault

PEEK_BYTES = 65_536


def check_text(path: Path) -> None:
    """Refuse a file that is missing, empty or binary."""
    if not path.exists():
        raise UsageFault(f"{path}: no such file or folder")
    try:
        with _open(path) as stream:
            head = stream.read(PEEK_BYTES)
    except (OSError, EOFError) as fault:
        raise UsageFault(f"{path}: cannot be read ({fault})") from None
    if not head.strip():
        raise UsageFault(f"{path}: the file is empty")
    if head[:4] == b"PK\x03\x04" and path.suffix == ".eval":
        raise UsageFault(
            f"{path}: an Inspect log in its binary form; make JSON of it first: "
            f"inspect log convert {path.name} --to json --output-dir json-logs"
        )
    if b"\x00" in head:
        raise UsageFault(f"{path}: a binary file, not JSON or JSONL")


def _open(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def read_json(path: Path) -> Any:
    """Read one JSON document."""
    check_text(path)
    with _open(path) as stream:
        try:
            return json.loads(stream.read().decode("utf-8"))
        except UnicodeDecodeError as fault:
            raise UsageFault(f"{path}: not UTF-8 text (byte {fault.start})") from None
        except (ValueError, RecursionError) as fault:
            raise UsageFault(f"{path}: not a whole JSON document ({fault})") from None


def read_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, record) of a JSONL file; a line that is cut off or no object is a fault."""
    check_text(path)
    with _open(path) as stream:
        number = 0
        while True:
            try:
                line = stream.readline()
            except (OSError, EOFError) as fault:
                raise UsageFault(f"{path}: line {number + 1}: cannot be read on ({fault})") from None
            if not line:
                return
            number += 1
            if line.strip():
                yield number, _record(path, number, line)


def _record(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise UsageFault(f"{path}: line {number} is not UTF-8 text") from None
    except (ValueError, RecursionError) as fault:
        if not line.endswith(b"\n"):
            raise UsageFault(
                f"{path}: line {number} is cut off, as when the writer was killed: "
                f"grade again, or drop that line to use the {number - 1} before it"
            ) from None
        raise UsageFault(f"{path}: line {number} is not JSON ({fault})") from None
    if not isinstance(record, dict):
        raise UsageFault(f"{path}: line {number} is a JSON {type(record).__name__}, not an object")
    return record


def first_record(path: Path) -> dict[str, Any]:
    """Give the first record of a JSONL file."""
    return next(read_records(path))[1]
