"""Verdicts of one task in, the sentences that a reader of its score must know out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .run_facts import RunFacts
from .verdicts import ACCEPTED, HARNESS_ERROR, NOT_GRADED, Verdict


def task_notes(
    facts: RunFacts, task: str, grouped: Mapping[str, Sequence[Verdict]], headline: str
) -> Iterator[str]:
    """Say what bounds or bends the score: ungraded replies, copies, limits, isolation, other libraries."""
    main = grouped[headline]
    yield from _ungraded(grouped)
    yield from _samples(main)
    yield from _limits(main)
    yield from _truncation(main)
    yield from _adjudication(grouped)
    yield from _debatable(headline, main)
    everything = [verdict for verdicts in grouped.values() for verdict in verdicts]
    levels = sorted({verdict.isolation for verdict in everything} - {"", "full"})
    if levels:
        yield f"programs ran under isolation {', '.join(levels)}, not full"
    off_lock = sorted({name for verdict in everything for name in verdict.off_lock})
    if off_lock:
        yield f"off-lock: {', '.join(off_lock)} not the pinned version; cite refuses such a run"
    stated = facts.versions.get(task)
    if stated and main[0].version and stated != main[0].version:
        yield f"lm-eval's table says version {stated}, the rows say {main[0].version}: the rows are right"


def _ungraded(grouped: Mapping[str, Sequence[Verdict]]) -> Iterator[str]:
    for name, verdicts in grouped.items():
        broken = sum(verdict.verdict == HARNESS_ERROR for verdict in verdicts)
        waiting = sum(verdict.verdict == NOT_GRADED for verdict in verdicts)
        if broken:
            yield (
                f"HARNESS ERRORS: {broken} {_replies(broken)} under {name} could not be judged, our fault; "
                "not in the score"
            )
        if waiting:
            yield f"{waiting} {_replies(waiting)} under {name} not graded yet: grade gives their verdicts"


def _replies(count: int) -> str:
    return "reply" if count == 1 else "replies"


def _samples(main: Sequence[Verdict]) -> Iterator[str]:
    texts: dict[str, list[str]] = {}
    for verdict in main:
        texts.setdefault(verdict.problem, []).append(verdict.text)
    sizes = sorted({len(samples) for samples in texts.values()})
    if len(sizes) > 1:
        yield f"problems have {sizes[0]} to {sizes[-1]} samples: beyond k = {sizes[0]} some have n < k"
    known = [samples for samples in texts.values() if len(samples) > 1 and all(samples)]
    copies = sum(len(set(samples)) == 1 for samples in known)
    if known and copies == len(known):
        yield "COPIES: all samples of every problem are the same text: this is one sample a problem, not n"
    elif copies:
        yield f"on {copies} of {len(known)} problems all samples are copies of each other"


def _limits(main: Sequence[Verdict]) -> Iterator[str]:
    near = sum(verdict.near_limit for verdict in main)
    if near:
        factors = sorted({verdict.factor for verdict in main})
        shown = f"{factors[0]:g}" if len(factors) == 1 else f"{factors[0]:g} to {factors[-1]:g}"
        what = "verdict was" if near == 1 else "verdicts were"
        yield f"{near} {what} near a limit (machine factor {shown}): another machine may decide otherwise"
    cuts = sum(verdict.evalplus_cut for verdict in main)
    if cuts:
        yield f"EvalPlus' own time limit would have cut {cuts} {_replies(cuts)}"


def _truncation(main: Sequence[Verdict]) -> Iterator[str]:
    cut = sum(verdict.truncated == "yes" for verdict in main)
    likely = sum(verdict.truncated == "likely" for verdict in main)
    if cut:
        yield f"{cut} of {len(main)} replies were truncated (stated by the source)"
    if likely:
        yield f"{likely} of {len(main)} replies were likely truncated (judged by their text)"


def _adjudication(grouped: Mapping[str, Sequence[Verdict]]) -> Iterator[str]:
    given = sum(verdict.accepted and verdict.quirks > 0 for verdict in grouped.get("plus_adjudicated", ()))
    if given:
        passes = "pass" if given == 1 else "passes"
        yield f"adjudication gave {given} {passes}: only a listed quirk of the reference failed them"


def _debatable(headline: str, main: Sequence[Verdict]) -> Iterator[str]:
    """Give the score both ways where written rules decided what careful readers differ on."""
    ruled = [verdict for verdict in main if verdict.debatable]
    if not ruled:
        return
    rules = Counter(verdict.debatable for verdict in ruled).most_common()
    accepted = sum(verdict.accepted for verdict in main)
    moved = sum((verdict.otherwise in ACCEPTED) - verdict.accepted for verdict in ruled)
    yield (
        f"{len(ruled)} of {len(main)} verdicts of {headline} rest on a written rule for debatable answers "
        f"({', '.join(f'{name} {count}' for name, count in rules)}): {accepted} accepted as the rules say, "
        f"{accepted + moved} the other way round"
    )
