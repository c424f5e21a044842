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
from .versions import MATH_PINS, grader_versions

MODES = ("chat", "base", "gen_prefix")
SUITE_FILTER = "GradePrograms"
ANSWER_FILTER = "GradeAnswers"


class UnknownTask(Exception):
    """No task of this pack has that name; the message lists near names."""


@dataclass(frozen=True)
class TaskSpec:
    """One frozen task: everything that decides a verdict, read from its YAML and the data beside it.

    ``name`` is without the major, ``frozen_name`` with it. ``pipelines`` are in the order of the table.
    ``overrides`` maps a problem's identifier to the suite that judges it in place of the task's own.
    ``cpu_limits_s`` holds the problems that need more than ``cpu_limit_s`` seconds.
    """

    name: str
    frozen_name: str
    version: str
    dataset: str
    mode: str
    replies: int
    kind: str
    pipelines: tuple[str, ...]
    overrides: Mapping[str, str]
    cpu_limits_s: Mapping[str, float]
    quirks: tuple[Mapping[str, str], ...]
    generation_kwargs: Mapping[str, Any]
    digest: str


def tasks_folder() -> Path:
    """Return the folder that holds the pack's YAML files: what ``--include_path`` takes."""
    return Path(str(tasks_package.__path__[0]))


def task_names() -> list[str]:
    """Return the names of all tasks of the pack, aliases and frozen majors, sorted."""
    return sorted(path.stem for path in tasks_folder().glob("*.yaml"))


@lru_cache(maxsize=64)
def read_task(name: str) -> TaskSpec:
    """Return the frozen task that ``name`` (an alias or a frozen name) stands for.

    Raises ``UnknownTask`` with the near names where the pack has no such task.
    """
    if not (tasks_folder() / f"{name}.yaml").is_file():
        import difflib

        near = difflib.get_close_matches(name, task_names(), n=3) or task_names()
        raise UnknownTask(f"no task {name!r} in this pack; near names: {', '.join(near)}")
    declared = _resolved(tasks_folder() / f"{name}.yaml")
    settings = declared["dataset_kwargs"]
    frozen_name = settings["strict_task"]
    filters = [(entry["name"], entry["filter"][0]) for entry in declared["filter_list"]]
    kind = "code" if filters[0][1]["function"].endswith(SUITE_FILTER) else "math"
    pipelines = tuple(pipeline for pipeline, _ in filters)
    limits, quirks = _limits(settings.get("strict_cpu_limits")), _quirks(settings.get("strict_quirks"))
    return TaskSpec(
        name=frozen_name.rpartition("_v")[0],
        frozen_name=frozen_name,
        version=declared["metadata"]["version"],
        dataset=settings["strict_dataset"],
        mode=settings["strict_mode"],
        replies=settings["strict_replies"],
        kind=kind,
        pipelines=pipelines,
        overrides=settings.get("strict_overrides", {}),
        cpu_limits_s=limits,
        quirks=quirks,
        generation_kwargs=declared["generation_kwargs"],
        digest=_digest(declared, kind, pipelines, limits, quirks),
    )


def _digest(
    declared: Mapping[str, Any],
    kind: str,
    pipelines: tuple[str, ...],
    limits: Mapping[str, float],
    quirks: tuple[Mapping[str, str], ...],
) -> str:
    from .problems import sha256_of

    deciding = {key: value for key, value in declared.items() if key not in ("task", "metadata")}
    deciding["version"] = declared["metadata"]["version"]
    deciding["data"] = PUBLISHED[declared["dataset_kwargs"]["strict_dataset"]].sha256
    deciding["graders"] = {name: grader_versions()[name] for name in pipelines}
    if kind == "code":
        deciding["cpu_limits_s"] = dict(limits)
        deciding["quirks"] = list(quirks)
        deciding["extraction"] = grader_versions()["extract_program"]
    else:
        deciding["pins"] = dict(MATH_PINS)
        deciding["extraction"] = grader_versions()["extract_answer"]
    return sha256_of(json.dumps(deciding, sort_keys=True))


def _resolved(path: Path) -> dict[str, Any]:
    """Read one YAML with its includes merged the way lm-eval does: shallowly, the including file wins."""
    declared: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    included = declared.pop("include", None)
    return {**_resolved(path.parent / included), **declared} if included else declared


class _Loader(yaml.SafeLoader):
    """YAML where ``!function`` is the dotted name and nothing is imported."""


def _function_name(loader: yaml.Loader | yaml.FullLoader | yaml.UnsafeLoader, node: yaml.Node) -> str:
    assert isinstance(node, yaml.ScalarNode)
    return str(loader.construct_scalar(node))


_Loader.add_constructor("!function", _function_name)


def _limits(file_name: str | None) -> Mapping[str, float]:
    if file_name is None:
        return {}
    limits: Mapping[str, float] = json.loads((tasks_folder() / file_name).read_text(encoding="utf-8"))[
        "cpu_s"
    ]
    return limits


def _quirks(file_name: str | None) -> tuple[Mapping[str, str], ...]:
    if file_name is None:
        return ()
    lines = (tasks_folder() / file_name).read_text(encoding="utf-8").split("\n")
    return tuple(json.loads(line) for line in lines if line.strip())
