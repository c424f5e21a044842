"""Answer bytes of one pass over the inputs (and a few repeats) in, what each suite says of them out."""

from __future__ import annotations

import ast
import marshal
from collections.abc import Sequence
from typing import Any

from .codec import FRAME
from .codec_reader import Answer, UnreadableAnswer, read_answer
from .comparison import FLOAT_ATOL, Rule, plus_accepts, strict_accepts, written_accepts
from .failures import Failure, failure_of, failure_of_end
from .prepared import Calls, Prepared, joined
from .records import CodeVerdict, FirstFailure, Quirk, Suite, SuiteResult
from .sample_run import End, frame_size
from .texts import shorten, shorten_arguments


class PlusJudge:
    """Judges one program's answers to the HumanEval+ inputs, for all asked suites at once."""

    def __init__(
        self,
        prepared: Prepared,
        suites: Sequence[Suite],
        repeats: Sequence[int],
        quirks: Sequence[Quirk],
        max_bytes: int,
    ) -> None:
        assert prepared.plus is not None
        self.prepared = prepared
        self.calls: Calls = prepared.plus
        self.first_pass = len(self.calls.arguments)
        self.repeats = repeats
        self.max_bytes = max_bytes
        self.failed: dict[Suite, tuple[int, Failure] | None] = dict.fromkeys(suites)
        self.answered = 0
        self.quirks = quirks
        self.quirks_used: dict[str, None] = {}
        self._careful: dict[int, tuple[str, Any]] | None = None
        repeated = Calls([], *joined([self.calls.frame(i) for i in repeats]))
        self._segments = [part for part in (self.calls, repeated) if part.stream]
        self._at = 0
        self._rest: bytearray | None = None  # None as long as every byte was the expected one

    @property
    def total(self) -> int:
        """The answers that a whole run gives."""
        return self.first_pass + len(self.repeats)

    def answers(self) -> int:
        """Count the whole answers so far."""
        if self._rest is None and self._segments:
            return self.answered + self._segments[0].index_at(self._at)
        return self.answered

    def feed(self, chunk: bytes) -> bool:
        """Take the next bytes; say whether every suite has seen enough."""
        if all(self.failed.values()):
            return True
        while self._rest is None and self._segments and chunk:
            segment = self._segments[0].stream
            size = min(len(chunk), len(segment) - self._at)
            if not segment.startswith(chunk[:size], self._at):
                self._leave_fast_path()
                break
            self._at += size
            chunk = chunk[size:]
            if self._at == len(segment):
                self.answered += len(self._segments.pop(0).ends)
                self._at = 0
        if self._rest is None:
            return not self._segments
        self._rest += chunk
        return self._judge_rest()

    def _leave_fast_path(self) -> None:
        """Go on frame by frame, from the start of the frame in which the first other byte may stand."""
        segment = self._segments[0]
        index = segment.index_at(self._at)
        self.answered += index
        start = segment.ends[index - 1] if index else 0
        self._rest = bytearray(segment.stream[start : self._at])

    def _judge_rest(self) -> bool:
        assert self._rest is not None
        at = 0
        while self.answered < self.total and not all(self.failed.values()):
            size = frame_size(self._rest, self.max_bytes, at)
            if size is None:
                break
            self._judge_frame(bytes(self._rest[at : at + size]))
            self.answered += 1
            at += size
        del self._rest[:at]
        return self.answered >= self.total or all(self.failed.values())

    def _judge_frame(self, frame: bytes) -> None:
        repeated = self.answered >= self.first_pass
        index = self.repeats[self.answered - self.first_pass] if repeated else self.answered
        if frame == self.calls.frame(index):
            return
        failure = failure_of(frame)
        if failure is not None:
            self._fail_all(index, failure, repeated)
            return
        try:
            answer = read_answer(frame[FRAME.size :])
        except UnreadableAnswer:
            self._fail_all(
                index, Failure(CodeVerdict.WRONG_ANSWER, "unreadable answer", "unreadable answer"), repeated
            )
            return
        self._judge_answer(index, answer, repeated)

    def _judge_answer(self, index: int, answer: Answer, repeated: bool) -> None:
        expected = self.calls.expected(index)
        atol = self.prepared.plus_atol
        rule = Rule(self.prepared.plus_rule)
        wrong = Failure(CodeVerdict.WRONG_ANSWER, shorten(answer.value))
        if not repeated and not self._published_accepts(index, answer, expected, rule):
            self._fail([Suite.PLUS], index, wrong)
        if strict_accepts(answer, expected, atol, rule):
            return
        detail = "a repeated call was answered otherwise" if repeated else ""
        wrong = Failure(CodeVerdict.WRONG_ANSWER, wrong.got, detail)
        self._fail([Suite.PLUS_STRICT], index, wrong)
        careful = self._careful_outputs().get(index)
        if careful is not None and strict_accepts(answer, careful[1], atol, rule):
            if self.failed.get(Suite.PLUS_ADJUDICATED, wrong) is None:
                self.quirks_used[careful[0]] = None
            return
        self._fail([Suite.PLUS_ADJUDICATED], index, wrong)

    def _published_accepts(self, index: int, answer: Answer, expected: Any, rule: Rule) -> bool:
        atol = self.prepared.plus_atol
        if rule is not Rule.EVALPLUS:
            return written_accepts(answer, expected, atol, rule)
        sticky = FLOAT_ATOL if atol == 0 and 0 <= self.prepared.first_floats <= index else atol
        return plus_accepts(answer, expected, sticky)

    def _careful_outputs(self) -> dict[int, tuple[str, Any]]:
        """Map each input that a listed quirk names to the quirk's text and its careful output."""
        if self._careful is None:
            by_input = {}
            for quirk in self.quirks:
                try:
                    raw = marshal.dumps(list(ast.literal_eval(quirk.input)), 2)
                    by_input[raw] = (quirk.input, ast.literal_eval(quirk.careful_output))
                except (ValueError, SyntaxError):
                    continue  # a reading that no single value states explains no failure
            found = enumerate(self.calls.arguments) if by_input else ()
            self._careful = {i: by_input[raw] for i, raw in found if raw in by_input}
        return self._careful

    def _fail(self, suites: Sequence[Suite], index: int, failure: Failure) -> None:
        for suite in suites:
            if suite in self.failed and self.failed[suite] is None:
                self.failed[suite] = (index, failure)

    def _fail_all(self, index: int, failure: Failure, repeated: bool) -> None:
        suites = [suite for suite in self.failed if not (repeated and suite is Suite.PLUS)]
        self._fail(suites, index, failure)

    def conclude(self, end: End) -> None:
        """Judge the answers that never came, once the sample has ended."""
        if self.answers() >= self.total or all(self.failed.values()):
            return
        at = self.answers()
        repeated = at >= self.first_pass
        self._fail_all(self.repeats[at - self.first_pass] if repeated else at, failure_of_end(end), repeated)

    def results(self) -> list[SuiteResult]:
        """Give each suite's result."""
        return [self._result(suite) for suite in self.failed]

    def _result(self, suite: Suite) -> SuiteResult:
        used = tuple(self.quirks_used) if suite is Suite.PLUS_ADJUDICATED else ()
        found = self.failed[suite]
        if found is None:
            return SuiteResult(suite, CodeVerdict.PASSED, self.first_pass, self.first_pass, quirks_used=used)
        index, failure = found
        first = None
        if not failure.before_any_call and failure.verdict is not CodeVerdict.HARNESS_ERROR:
            first = FirstFailure(
                shorten_arguments(marshal.loads(self.calls.arguments[index])),
                shorten(self.calls.expected(index)),
                failure.got,
            )
        passed = 0 if failure.before_any_call else min(index, self.first_pass)
        if failure.detail.startswith("a repeated call"):
            passed = self.first_pass
        return SuiteResult(suite, failure.verdict, passed, self.first_pass, first, failure.detail, used)
