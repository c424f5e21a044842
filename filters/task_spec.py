"""A task's name in, what its YAML declares out: data set, mode, pipelines, limits and their digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from lm_eval_strict import tasks as tasks_package

from .published import PUBLISHED
from .versions import MATH_PINS

MODES = ("chat", "base", "gen_prefix")
SUITE_FILTER = "GradePrograms"
ANSWER_FILTER = "GradeAnswers"


class UnknownTask(Exception):
    """No task of this pack has that name; the message lists near names."""


@dataclass(frozen=True)
class TaskSpec:
    """One frozen task: everything that decides a verdict, read from its YAML and the data beside it.

    ``name`` is without the major, ``frozen_name`` with it. ``versions`` maps each pipeline, in the order of
    the table, to the version of its grader or suite; ``extraction`` is the version of the extraction.
    ``overrides`` maps a problem's identifier to the suite that judges it in place of the task's own, or to
    the mend of its published test.
    ``cpu_limits_s`` holds the problems that need more than ``cpu_limit_s`` seconds.
    """

    name: str
    frozen_name: str
    version: str
    dataset: str
    mode: str
    replies: int
    kind: str
    versions: Mapping[str, str]
    extraction: str
    overrides: Mapping[str, str]
    cpu_limits_s: Mapping[str, float]
    quirks: tuple[Mapping[str, str], ...]
    generation_kwargs: Mapping[str, Any]
    digest: str

    @property
    def pipelines(self) -> tuple[str, ...]:
        """Return the names of the pipelines, in the order of the table."""
        return tuple(self.versions)


def tasks_folder() -> Path:
    """Return the folder that holds the pack's YAML files: what ``--include_path`` takes."""
    return Path(str(tasks_package.__path__[0]))


def task_names(folder: Path | None = None) -> list[str]:
    """Return the names of all tasks of the pack (or of ``folder``), aliases and frozen majors, sorted."""
    return sorted(path.stem for path in (folder or tasks_folder()).glob("*.yaml"))


@lru_cache(maxsize=64)
def read_task(name: str, *, folder: Path | None = None) -> TaskSpec:
    """Return the frozen task that ``name`` (an alias or a frozen name) stands for.

    ``folder`` holds the YAML files; None means the pack's own. Raises ``UnknownTask`` with the near names
    where there is no such task.
    """
    folder = folder or tasks_folder()
    if not (folder / f"{name}.yaml").is_file():
        import difflib

        names = task_names(folder)
        near = difflib.get_close_matches(name, names, n=3) or names
        raise UnknownTask(f"no task {name!r} in this pack; near names: {', '.join(near)}")
    declared = _resolved(folder / f"{name}.yaml")
    settings = declared["dataset_kwargs"]
    frozen_name = settings["strict_task"]
    filters = [(entry["name"], entry["filter"][0]) for entry in declared["filter_list"]]
    kind = "code" if filters[0][1]["function"] == SUITE_FILTER else "math"
    limits, quirks = _limits(folder, settings), _quirks(folder, settings)
    return TaskSpec(
        name=frozen_name.rpartition("_v")[0],
        frozen_name=frozen_name,
        version=declared["metadata"]["version"],
        dataset=settings["strict_dataset"],
        mode=settings["strict_mode"],
        replies=settings["strict_replies"],
        kind=kind,
        versions={pipeline: grader["version"] for pipeline, grader in filters},
        extraction=settings["strict_extraction"],
        overrides=settings.get("strict_overrides", {}),
        cpu_limits_s=limits,
        quirks=quirks,
        generation_kwargs=declared["generation_kwargs"],
        digest=_digest(declared, kind, limits, quirks),
    )


def _digest(
    declared: Mapping[str, Any],
    kind: str,
    limits: Mapping[str, float],
    quirks: tuple[Mapping[str, str], ...],
) -> str:
    """Hash all that the task declares and that can move a number: its values, never its words or layout."""
    from .problems import sha256_of

    settings = dict(declared["dataset_kwargs"])
    for file_name in ("strict_cpu_limits", "strict_quirks"):
        settings.pop(file_name, None)  # what the file says decides, not what it is called
    deciding = {key: value for key, value in declared.items() if key not in ("task", "metadata")}
    deciding["dataset_kwargs"] = settings
    used = [PUBLISHED[name] for name in data_sets(settings["strict_dataset"])]
    deciding["data"] = {data.name: [data.sha256, data.key, dict(data.reads)] for data in used}
    if kind == "code":
        deciding["cpu_limits_s"] = dict(limits)
        deciding["quirks"] = sorted([quirk[field] for field in _QUIRK_DECIDES] for quirk in quirks)
    else:
        deciding["pins"] = dict(MATH_PINS)
    return sha256_of(json.dumps(deciding, sort_keys=True))


_QUIRK_DECIDES = ("task_id", "input", "careful_output")


def data_sets(dataset: str) -> tuple[str, ...]:
    """Return the published data sets that judge the problems of ``dataset``, itself first."""
    base = PUBLISHED[dataset].base_tests_of
    return (dataset, base) if base else (dataset,)


def _resolved(path: Path) -> dict[str, Any]:
    """Read one YAML with its includes merged the way lm-eval does: shallowly, the including file wins."""
    declared: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    included = declared.pop("include", None)
    return {**_resolved(path.parent / included), **declared} if included else declared


class _Loader(yaml.SafeLoader):
    """YAML where ``!function`` is the function's own name, wherever it lives, and nothing is imported."""


def _function_name(loader: yaml.Loader | yaml.FullLoader | yaml.UnsafeLoader, node: yaml.Node) -> str:
    assert isinstance(node, yaml.ScalarNode)
    return str(loader.construct_scalar(node)).rpartition(".")[2]


_Loader.add_constructor("!function", _function_name)


def _limits(folder: Path, settings: Mapping[str, Any]) -> Mapping[str, float]:
    if "strict_cpu_limits" not in settings:
        return {}
    stated = json.loads((folder / settings["strict_cpu_limits"]).read_text(encoding="utf-8"))
    limits: Mapping[str, float] = stated["cpu_s"]
    return limits


def _quirks(folder: Path, settings: Mapping[str, Any]) -> tuple[Mapping[str, str], ...]:
    if "strict_quirks" not in settings:
        return ()
    lines = (folder / settings["strict_quirks"]).read_text(encoding="utf-8").split("\n")
    return tuple(json.loads(line) for line in lines if line.strip())
