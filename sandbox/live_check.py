"""A published ``check`` and one program in, the base suite's result out.

The check runs here, with the trusted prompt's helpers, on a proxy that stands for the program. As a rule
the calls are known beforehand (``prepared``): the program answers them ahead, and the check reads the
answers. Where the check asks for another call than foreseen, the program is started afresh and each call is
put when the check makes it.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any

from .codec import FRAME, is_plain
from .codec_reader import UnreadableAnswer, read_answer
from .failures import Failure, failure_of, failure_of_end
from .prepared import Calls, run_check, test_scope
from .records import CodeVerdict, Exam, FirstFailure, Suite, SuiteResult
from .sample_run import End, SampleRun, frame_size
from .texts import shorten, shorten_arguments


class Unforeseen(BaseException):
    """The check makes another call than the recorded one."""


class Decided(BaseException):
    """The program gave no value; a base exception, so that no ``except Exception`` of a test holds it up."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


class ForeseenAnswers:
    """Collects the answers to the recorded calls."""

    def __init__(self, calls: Calls, max_bytes: int) -> None:
        self.calls = calls
        self.max_bytes = max_bytes
        self.got = bytearray()
        self.frames: list[bytes] = []
        self._at = 0
        self._enough = False

    def feed(self, chunk: bytes) -> bool:
        """Take the next bytes; say whether no more are needed."""
        if self._enough:
            return True
        self.got += chunk
        while not self.complete:
            size = frame_size(self.got, self.max_bytes, self._at)
            if size is None:
                return False
            frame = bytes(self.got[self._at : self._at + size])
            self.frames.append(frame)
            self._at += size
            if failure_of(frame) is not None:
                break
        self._enough = True
        return True

    @property
    def complete(self) -> bool:
        """Whether every call is answered."""
        return len(self.frames) == len(self.calls.arguments)

    @property
    def as_expected(self) -> bool:
        """Whether every answer is, byte for byte, the reference's: then the check passes as it did for that
        one.
        """
        return bytes(self.got[: self._at]) == self.calls.stream


class Proxy:
    """The ``candidate`` of a check: hands out answers and remembers the last call."""

    def __init__(self, answer: Callable[[int, bytes], bytes]) -> None:
        self.answer = answer
        self.calls = 0
        self.arguments: list[Any] = []
        self.got: object = None
        self.asked = False

    def __call__(self, *args: Any) -> Any:
        """Make one call and give its value; raise Decided where the program gave none."""
        self.asked = True
        self.arguments = marshal.loads(marshal.dumps(list(args), 2)) if is_plain(list(args)) else list(args)
        frame = self.answer(self.calls, marshal.dumps(list(args), 2))
        failure = failure_of(frame)
        if failure is not None:
            raise Decided(failure)
        try:
            value = read_answer(frame[FRAME.size :]).value
        except UnreadableAnswer as unreadable:
            text = "unreadable answer"
            raise Decided(Failure(CodeVerdict.WRONG_ANSWER, text, text)) from unreadable
        self.calls += 1
        self.got = shorten(value)
        return value


def judge_foreseen(exam: Exam, answers: ForeseenAnswers, end: Callable[[], End], suite: Suite) -> SuiteResult:
    """Run the check on the collected answers; raise Unforeseen where it asks for another call."""
    calls = answers.calls
    total = len(calls.arguments)
    if answers.as_expected:
        return SuiteResult(suite, CodeVerdict.PASSED, total, total)

    def answer(index: int, arguments: bytes) -> bytes:
        if index >= total or arguments != calls.arguments[index]:
            raise Unforeseen
        if index >= len(answers.frames):
            raise Decided(failure_of_end(end()))
        return answers.frames[index]

    return _judge(exam, Proxy(answer), None, suite, total, calls)


def judge_live(
    exam: Exam, sample: SampleRun, named: Callable[..., Any] | None, suite: Suite, calls: Calls | None
) -> SuiteResult:
    """Run the check on a live sample, one call after the other."""

    def answer(index: int, arguments: bytes) -> bytes:
        frame = sample.ask(arguments)
        if frame is None:
            raise Decided(failure_of_end(sample.settle()))
        return frame

    return _judge(exam, Proxy(answer), named, suite, len(calls.arguments) if calls else 0, calls)


def _judge(
    exam: Exam,
    proxy: Proxy,
    named: Callable[..., Any] | None,
    suite: Suite,
    total: int,
    calls: Calls | None,
) -> SuiteResult:
    source = exam.base_test if exam.base_test is not None else exam.plus_test
    assert source is not None
    scope = test_scope(exam, source)
    try:
        run_check(exam, scope, proxy, named)
    except Decided as decided:
        failure = decided.failure
    except Exception as raised:
        if not proxy.asked:
            raise
        # Whatever a check raises over a returned value is its way of refusing the value.
        detail = "" if isinstance(raised, AssertionError) else f"the test raised {type(raised).__name__}"
        failure = Failure(CodeVerdict.WRONG_ANSWER, str(proxy.got), detail)
        proxy.calls = max(0, proxy.calls - 1)
    else:
        return SuiteResult(suite, CodeVerdict.PASSED, proxy.calls, max(total, proxy.calls))
    if failure.verdict is CodeVerdict.HARNESS_ERROR or failure.before_any_call:
        return SuiteResult(suite, failure.verdict, 0, total, None, failure.detail)
    known = calls is not None and proxy.calls < len(calls.arguments)
    expected = shorten(calls.expected(proxy.calls)) if known and calls is not None else ""
    first = FirstFailure(shorten_arguments(proxy.arguments), expected, failure.got)
    return SuiteResult(
        suite, failure.verdict, proxy.calls, max(total, proxy.calls + 1), first, failure.detail
    )
