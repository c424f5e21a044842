"""An answer and a gold in, Math-Verify's verdict out, called as its authors and lm-eval call it.

Its one call is ``verify(parse("$" + gold + "$"), parse("$" + answer + "$"))``, gold first, with the defaults
of Math-Verify 0.9.0. Its own timeouts are off: they need the main thread and cancel the caller's alarm.
Whoever grades text that nobody vouches for calls this in a process that can be killed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .rows import Judgement, MathVerdict

_LONGEST_TEXT_SHOWN = 200


def grade(answer: str, gold: str) -> Judgement:
    """Let Math-Verify parse and compare both sides; ``unreadable`` and ``wrong`` both count as not right."""
    _silence_timeout_warning()
    from math_verify import verify

    gold_read, answer_read = _parsed(gold), _parsed(answer)
    if not gold_read:
        verdict = MathVerdict.HARNESS_ERROR
    elif not answer_read:
        verdict = MathVerdict.UNREADABLE
    elif verify(list(gold_read), list(answer_read), timeout_seconds=None):
        verdict = MathVerdict.RIGHT
    else:
        verdict = MathVerdict.WRONG
    return Judgement(
        verdict,
        comparison="math_verify",
        read_answer=_shown(answer_read),
        read_gold=_shown(gold_read),
    )


@lru_cache(maxsize=1024)
def _parsed(text: str) -> tuple[Any, ...]:
    from math_verify import parse

    return tuple(parse("$" + text + "$", parsing_timeout=None))


def _shown(parsed: tuple[Any, ...]) -> str:
    """Return the text that was read: it is the last entry, and an expression may take forever to print."""
    texts = [entry for entry in parsed if isinstance(entry, str)]
    return texts[-1][:_LONGEST_TEXT_SHOWN] if texts else ""


@lru_cache(maxsize=1)
def _silence_timeout_warning() -> None:
    """Tell Math-Verify that running without its timeouts is meant, so that it does not warn."""
    from math_verify import grader, parser

    parser.TIMEOUT_WARNING_SHOWN = True
    grader.TIMEOUT_WARNING_SHOWN = True
