"""An answer frame, or a sample's end, that gives no value in, the verdict it stands for out."""

from __future__ import annotations

from dataclasses import dataclass

from . import codec
from .codec import FRAME
from .records import CodeVerdict
from .sample_run import End
from .texts import scrub

_WORDS = {
    codec.RAISED: CodeVerdict.RAISED,
    codec.IMPORT_RAISED: CodeVerdict.RAISED,
    codec.LEFT: CodeVerdict.EXITED,
    codec.SYNTAX: CodeVerdict.SYNTAX_ERROR,
    codec.NO_ENTRY: CodeVerdict.NO_ENTRY_POINT,
    codec.NO_MEMORY: CodeVerdict.OUT_OF_MEMORY,
    codec.TOO_BIG: CodeVerdict.OUTPUT_LIMIT,
}
_BEFORE_ANY_CALL = (codec.IMPORT_RAISED, codec.SYNTAX, codec.NO_ENTRY)


@dataclass(frozen=True)
class Failure:
    """Why an answer, or the lack of one, decides against a program."""

    verdict: CodeVerdict
    got: str
    detail: str = ""
    before_any_call: bool = False


def failure_of(frame: bytes) -> Failure | None:
    """Read a frame that is no value; None where it is one."""
    tag = frame[0]
    if tag in (codec.VALUE, codec.SLOW):
        return None
    verdict = _WORDS.get(tag)
    if verdict is None:
        return Failure(CodeVerdict.WRONG_ANSWER, "unreadable answer", "the answer cannot be read")
    text = scrub(frame[FRAME.size :].decode("utf-8", "replace"))
    if tag == codec.NO_ENTRY:
        text = "the program does not define the entry point as a function"
    elif tag == codec.TOO_BIG:
        text = "the returned value is larger than the limit"
    elif tag == codec.NO_MEMORY:
        text = "MemoryError"
    detail = f"at import: {text}" if tag == codec.IMPORT_RAISED else text
    return Failure(
        verdict, f"raised {text}" if verdict is CodeVerdict.RAISED else text, detail, tag in _BEFORE_ANY_CALL
    )


def failure_of_end(end: End) -> Failure:
    """Say why a sample that ended before its last answer did so."""
    if end.setup_fault is not None:
        return Failure(CodeVerdict.HARNESS_ERROR, "", end.setup_fault)
    if end.hit_cpu_limit:
        return Failure(CodeVerdict.TIMED_OUT, "no answer within the CPU limit", "CPU limit")
    if end.hit_wall_limit:
        return Failure(CodeVerdict.TIMED_OUT, "no answer within the wall-clock limit", "wall-clock limit")
    if end.hit_memory_limit:
        return Failure(CodeVerdict.OUT_OF_MEMORY, "ended by the memory limit", "memory limit")
    if end.hit_file_limit:
        return Failure(CodeVerdict.OUTPUT_LIMIT, "ended by the file limit", "file limit")
    how = f"ended by signal {end.signal}" if end.signal else f"ended itself with status {end.exit_status}"
    return Failure(CodeVerdict.EXITED, how, how)
