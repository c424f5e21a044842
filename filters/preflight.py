"""A task and its settings in, nothing out if it can be graded here; else one line with the remedy."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from lm_eval_strict.sandbox.records import Isolation

from .problems import DataUnavailable, load_problems
from .task_spec import TaskSpec, data_sets
from .versions import LM_EVAL_TESTED, MATH_PINS, UnknownVersion, installed, require_version

ISOLATION_VARIABLE = "LM_EVAL_STRICT_ISOLATION"
GRADE_CHOICES = ("now", "later")


class PreflightFailure(Exception):
    """The task cannot be graded on this machine; the message is one line that names the remedy."""


@dataclass(frozen=True)
class Settings:
    """What the user chose for a run: the isolation level, and whether to grade at once."""

    isolation: Isolation = Isolation.FULL
    grade_later: bool = False


def read_settings(isolation: object = None, grade: object = None) -> Settings:
    """Return the settings of a run from ``--metadata`` values and the environment.

    ``isolation`` is a level's name (default: the environment variable ``LM_EVAL_STRICT_ISOLATION``, else
    ``full``), ``grade`` is ``now`` or ``later``. Raises ``PreflightFailure`` naming the values allowed.
    """
    level = isolation if isolation is not None else os.environ.get(ISOLATION_VARIABLE) or "full"
    levels = [each.value for each in Isolation]
    if level not in levels:
        raise PreflightFailure(f"isolation={level!r} is not one of {', '.join(levels)}")
    when = grade if grade is not None else "now"
    if when not in GRADE_CHOICES:
        raise PreflightFailure(f"grade={when!r} is not one of {', '.join(GRADE_CHOICES)}")
    return Settings(Isolation(level), when == "later")


def check(spec: TaskSpec, settings: Settings, *, needs_data: bool = True) -> None:
    """Raise ``PreflightFailure`` unless ``spec`` can be graded here with ``settings``."""
    if needs_data:
        check_data(spec)
    check_versions(spec)
    if spec.kind == "code" and not settings.grade_later:
        check_sandbox(spec, settings.isolation)


def check_data(spec: TaskSpec) -> None:
    """Raise ``PreflightFailure`` unless the very rows that ``spec`` names can be read."""
    try:
        for name in data_sets(spec.dataset):
            load_problems(name)
    except DataUnavailable as error:
        raise PreflightFailure(str(error)) from error


def check_versions(spec: TaskSpec) -> None:
    """Raise ``PreflightFailure`` where the pack or a pinned library lacks a version that ``spec`` stands on.

    Says once on stderr if lm-eval is untried.
    """
    extraction = "extract_program" if spec.kind == "code" else "extract_answer"
    try:
        for name, version in (*spec.versions.items(), (extraction, spec.extraction)):
            require_version(name, version)
    except UnknownVersion as error:
        raise PreflightFailure(f"{spec.frozen_name}: {error}") from error
    if spec.kind == "math":
        found, pinned = installed("math-verify"), MATH_PINS["math-verify"]
        if found != pinned:
            raise PreflightFailure(
                f"{spec.name} needs math-verify {pinned}, found {found}: pip install math-verify=={pinned}"
            )
    found = installed("lm_eval")
    if found not in (LM_EVAL_TESTED, "missing") and found not in _warned:
        _warned.add(found)
        print(f"lm-eval-strict: tested with lm-eval {LM_EVAL_TESTED}, found {found}", file=sys.stderr)


_warned: set[str] = set()


def check_sandbox(spec: TaskSpec, isolation: Isolation) -> None:
    """Raise ``PreflightFailure`` unless this machine can lock programs in as well as ``isolation`` says."""
    later = "or add --metadata grade=later and grade the journal on another machine"
    if sys.platform != "linux":
        raise PreflightFailure(
            f"{spec.name} runs programs and needs Linux, found {sys.platform}: use Linux, {later}"
        )
    from lm_eval_strict.sandbox.errors import SandboxUnavailable
    from lm_eval_strict.sandbox.session import require

    try:
        require(isolation)
    except SandboxUnavailable as error:
        raise PreflightFailure(f"{spec.name}: {error}; {later}") from error
