"""One exam in, what the examiner needs at hand for each of its samples out; kept on disk by content.

Expected answers are kept as the very bytes that an examinee would send for them, joined in the order of the
calls: a right program's whole answer is then one comparison of bytes, and nothing of it needs reading.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import os
import random
import struct
import sys
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .codec import FRAME, encode, is_plain
from .comparison import Rule, is_floats
from .kept_bytes import KeptBytes
from .records import Exam
from .suites import read_plus_test

FORMAT = 6
MAX_EXPECTED = 1 << 30
MIN_ANSWER_BYTES = 1 << 20
_SIZE = struct.Struct("<Q")
HELD_BYTES = 4 << 20  # a longer stream of expected answers stays in its file


@dataclass
class Calls:
    """A list of calls, and the frames that the reference answers them with, back to back.

    ``arguments[i]`` is call i's argument list as marshal data; its frame is ``stream[ends[i - 1]:ends[i]]``.
    """

    arguments: list[bytes]
    stream: bytes | KeptBytes
    ends: list[int]
    cheaper_half: list[int] | None = field(default=None, compare=False)

    def frame(self, index: int) -> bytes:
        """Give the expected frame of one call."""
        return self.stream[self.ends[index - 1] if index else 0 : self.ends[index]]

    def expected(self, index: int) -> Any:
        """Give the expected value of one call, fresh."""
        frame = self.frame(index)
        if frame[0] == ord("V"):
            return marshal.loads(frame[FRAME.size :])
        from .codec_reader import read_answer

        return read_answer(frame[FRAME.size :]).value

    def index_at(self, position: int) -> int:
        """Say which call's frame holds byte ``position`` of the stream."""
        return bisect_right(self.ends, position)

    @functools.cached_property
    def max_answer_bytes(self) -> int:
        """The bound on one answer: twice the largest expected one, 1 MiB at the least."""
        sizes = [b - a for a, b in zip([0, *self.ends], self.ends, strict=False)]
        return max([MIN_ANSWER_BYTES, *(2 * size for size in sizes)])


@dataclass
class Prepared:
    """An exam ready for its samples; None where a part does not exist or has to be run live."""

    base: Calls | None = None
    plus: Calls | None = None
    plus_atol: float = 0.0
    plus_rule: str = Rule.EVALPLUS.value
    first_floats: int = (
        -1
    )  # the first input whose expected value is floats: from there on EvalPlus has a tolerance
    reference_s: list[float] = field(default_factory=list)  # of each plus input, where a reference was run

    @functools.cached_property
    def plus_begins_with_base(self) -> bool:
        """Whether the first plus calls are the base calls: then one run answers both."""
        if self.base is None or self.plus is None or not self.base.arguments:
            return False
        return self.plus.arguments[: len(self.base.arguments)] == self.base.arguments


def tests_key(exam: Exam) -> str:
    """Give the hash of what ``prepare`` reads of an exam: the name of its file in the cache."""
    content = marshal.dumps([exam.task_id, exam.entry_point, exam.prompt, exam.canonical_solution], 2)
    tests = marshal.dumps([exam.base_test, exam.plus_test], 2)
    return hashlib.sha256(content + tests).hexdigest()


def prepare(exam: Exam, cache_folder: str | None) -> Prepared:
    """Read an exam's tests, from the cache where they are kept; without a usable folder nothing is kept."""
    version = f"{sys.implementation.cache_tag}-{FORMAT}"
    path = Path(cache_folder) / f"{tests_key(exam)}.{version}" if cache_folder else None
    if path is not None:
        kept = _read_kept(path)
        if kept is not None:
            return kept
    prepared = Prepared()
    if exam.plus_test is not None:
        _prepare_plus(exam, exam.plus_test, prepared)
    if exam.base_test is not None:
        prepared.base = record_calls(exam, exam.base_test)
    if path is not None and _keep(path, prepared):
        return _read_kept(path) or prepared  # of a long stream, the file alone is left
    return prepared


def _prepare_plus(exam: Exam, source: str, prepared: Prepared) -> None:
    test = read_plus_test(source, exam.entry_point)
    if test is None:
        return
    arguments = [marshal.dumps(list(inputs), 2) for inputs in test.inputs]
    results = test.results
    if results is None and test.reference is not None:
        results, prepared.reference_s = _answers_of(test.reference, arguments)
    frames = [encode(value, MAX_EXPECTED) for value in results or ()]
    prepared.plus = Calls(arguments, *joined(frames))
    prepared.plus_atol = test.atol
    prepared.plus_rule = test.rule.value
    prepared.first_floats = next((i for i, value in enumerate(results or ()) if is_floats(value)), -1)


def _answers_of(reference: Callable[..., Any], arguments: list[bytes]) -> tuple[list[Any], list[float]]:
    results, seconds = [], []
    for raw in arguments:
        started = time.thread_time()
        results.append(reference(*marshal.loads(raw)))
        seconds.append(time.thread_time() - started)
    return results, seconds


def joined(frames: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """Join frames to one stream, with the position at which each one ends."""
    ends, at = [], 0
    for frame in frames:
        at += len(frame)
        ends.append(at)
    return b"".join(frames), ends


class CheckFailed(Exception):
    """The reference itself does not pass, or makes a call that cannot be sent: such a test is run live."""


def test_scope(exam: Exam, source: str) -> dict[str, Any]:
    """Execute the trusted prompt (imports, helpers) and the test, as HumanEval does, in one namespace."""
    scope: dict[str, Any] = {"__name__": "test"}
    exec(compile(_whole(exam.prompt), "<prompt>", "exec"), scope)
    exec(compile(source, "<test>", "exec"), scope)
    return scope


def _whole(prompt: str) -> str:
    """Close a prompt that ends inside an open function; MBPP's is a text of its own."""
    try:
        compile(prompt, "<prompt>", "exec")
    except SyntaxError:
        return prompt + "\n    pass\n"
    return prompt


def reference_of(exam: Exam) -> Callable[..., Any]:
    """Execute the trusted reference solution and give its entry point."""
    scope: dict[str, Any] = {"__name__": "reference"}
    exec(compile(exam.prompt + exam.canonical_solution, "<reference>", "exec"), scope)
    entry: Callable[..., Any] = scope[exam.entry_point]
    return entry


def run_check(
    exam: Exam,
    scope: dict[str, Any],
    candidate: Callable[..., Any],
    named: Callable[..., Any] | None = None,
) -> None:
    """Run the ``check`` of a test's scope on ``candidate``; its random inputs are the same in every run.

    ``named`` is what the entry point's name means inside the test (the candidate itself, as published).
    """
    check = scope["check"]
    scope[exam.entry_point] = named or candidate  # which one problem calls `check`, too
    random.seed(exam.task_id)
    check(candidate)


def record_calls(exam: Exam, source: str) -> Calls | None:
    """Run a test on the reference and write down each call and its answer; None where that cannot stand for
    the test.
    """
    try:
        first, second = _recording(exam, source), _recording(exam, source)
    except Exception:
        # A test that its own reference fails, or that needs more than plain values, can only be run as it is.
        return None
    if first != second:
        return None
    arguments, frames = first
    return Calls(arguments, *joined(frames))


def _recording(exam: Exam, source: str) -> tuple[list[bytes], list[bytes]]:
    arguments: list[bytes] = []
    frames: list[bytes] = []
    reference = reference_of(exam)

    def candidate(*args: Any) -> Any:
        if not is_plain(list(args)):
            raise CheckFailed("an argument is not plain data")
        raw = marshal.dumps(list(args), 2)
        value = reference(*marshal.loads(raw))
        arguments.append(raw)
        frames.append(encode(value, MAX_EXPECTED))
        return value

    run_check(exam, test_scope(exam, source), candidate)
    return arguments, frames


def _read_kept(path: Path) -> Prepared | None:
    try:
        file = path.open("rb", buffering=0)
        (size,) = _SIZE.unpack(file.read(_SIZE.size))
        kept = marshal.loads(file.read(min(size, path.stat().st_size)))
        for name in ("base", "plus"):
            if kept[name] is not None:
                arguments, stream, ends = kept[name]
                ends = list(array("Q", ends))
                stream = stream if stream or not ends else KeptBytes(file, file.tell(), ends[-1])
                kept[name] = Calls(arguments, stream, ends)
    except (OSError, EOFError, ValueError, TypeError, struct.error):
        return None
    return Prepared(**kept)


def _keep(path: Path, prepared: Prepared) -> bool:
    """Write one file, say if it is there: a size, so much marshal data, then a long stream as it is."""
    content: dict[str, Any] = {}
    long = b""
    for part in fields(prepared):
        value = getattr(prepared, part.name)
        if isinstance(value, Calls):
            stream = value.stream[:]
            if len(stream) > HELD_BYTES and not long:
                stream, long = b"", stream
            value = (value.arguments, stream, array("Q", value.ends).tobytes())
        content[part.name] = value
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = marshal.dumps(content, 2)
        with partial.open("wb") as file:
            file.writelines((_SIZE.pack(len(packed)), packed, long))
        partial.replace(path)
    except OSError:
        return False  # the cache only saves time; a full or read-only disk must not cost a verdict
    return True
