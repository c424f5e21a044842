"""Two runs' scores of the same problems in; difference, interval, test and power out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .statistics import LEVEL, RESAMPLES, Interval, bootstrap


@dataclass(frozen=True)
class McNemar:
    """An exact test of two runs with one sample a problem: only problems on which they differ count."""

    lost: int
    gained: int
    p_value: float


@dataclass(frozen=True)
class Difference:
    """The second run less the first on the same problems, in shares; negative is a loss.

    ``mcnemar`` is None where a score is not 0 or 1. ``p_value`` is McNemar's there, else that of the
    sign-flip normal approximation; ``p_loss`` is one-sided, the chance of such a loss were there none.
    ``relative`` is the difference over the first run's score.
    """

    problems: int
    first: float
    second: float
    change: Interval
    relative: float
    better: int
    worse: int
    mcnemar: McNemar | None
    p_value: float
    p_loss: float


@dataclass(frozen=True)
class Power:
    """What would settle a difference of ``points`` (in shares) with the stated power at the 5% level.

    ``problems_needed``: problems, at the samples at hand. ``samples_needed``: samples a problem at the
    problems at hand, None where no number of samples would do, or where ``sampling_known`` is False: one
    sample a problem does not tell how much sampling blurs. ``least_difference``: the smallest difference that
    the runs at hand would find.
    """

    points: float
    power: float
    problems: int
    problems_needed: int
    samples_needed: int | None
    least_difference: float
    sampling_known: bool


def mcnemar(lost: int, gained: int) -> McNemar:
    """Test exactly whether ``lost`` and ``gained`` problems could be one fair coin's (McNemar 1947)."""
    from scipy.special import bdtr

    if lost < 0 or gained < 0:
        raise ValueError(f"lost is {lost} and gained is {gained}: neither can be negative")
    if lost + gained == 0:
        return McNemar(0, 0, 1.0)
    tail = float(bdtr(min(lost, gained), lost + gained, 0.5))
    return McNemar(lost, gained, min(1.0, 2 * tail))


def _check_pair(first: Sequence[float], second: Sequence[float]) -> None:
    if len(first) != len(second):
        raise ValueError(f"first has {len(first)} problems and second {len(second)}: they must be the same")
    if not len(first):
        raise ValueError("first and second are empty: at least 1 problem is needed")
    if any(math.isnan(score) for score in (*first, *second)):
        raise ValueError("a score is NaN: leave problems without a verdict out first")


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    generator: np.random.Generator,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Difference:
    """Compare two runs problem by problem; position i of both is the same problem's score, 0 to 1."""
    _check_pair(first, second)
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    gain = b - a
    better, worse = int((gain > 0).sum()), int((gain < 0).sum())
    if np.ptp(gain) > 0:
        change = bootstrap(gain.tolist(), generator, level=level, resamples=resamples)
    else:
        change = _no_spread(float(gain[0]), len(gain), level)
    binary = bool(np.isin(a, (0.0, 1.0)).all() and np.isin(b, (0.0, 1.0)).all())
    exact = mcnemar(worse, better) if binary else None
    p_value, p_loss = _p_values(gain, exact)
    mean = float(a.mean())
    relative = float(gain.mean()) / mean if mean > 0 else math.nan
    return Difference(len(a), mean, float(b.mean()), change, relative, better, worse, exact, p_value, p_loss)


def _no_spread(value: float, problems: int, level: float) -> Interval:
    """Bound a difference that is the same on every problem by the rule of three's exact form."""
    reach = 1 - (1 - level) ** (1 / problems)
    return Interval(
        value, max(-1.0, value - reach), min(1.0, value + reach), "exact bound, no problem differs"
    )


def _p_values(
    gain: np.ndarray[tuple[int], np.dtype[np.float64]], exact: McNemar | None
) -> tuple[float, float]:
    from scipy.special import bdtr, ndtr

    if exact is not None:
        discordant = exact.lost + exact.gained
        one_sided = float(bdtr(exact.gained, discordant, 0.5)) if discordant else 1.0
        return exact.p_value, one_sided
    size = math.sqrt(float((gain**2).sum()))
    if size == 0:
        return 1.0, 1.0
    z = float(gain.sum()) / size
    return float(2 * ndtr(-abs(z))), float(ndtr(z))


def power(
    first: Sequence[float],
    second: Sequence[float],
    samples: int,
    points: float,
    *,
    wanted: float = 0.8,
    within: float = 0.0,
) -> Power:
    """Say how many problems or samples would settle a difference of ``points`` (a share, 0.05 is 5 points).

    ``within`` is the variance that sampling adds to one sample's difference (the sum of both runs'
    within-problem variances), NaN where unknown; the rest of the spread of the differences is the problems'
    own and no sample lowers it.
    """
    from scipy.special import ndtri

    _check_pair(first, second)
    if not 0 < points < 1:
        raise ValueError(f"points is {points}: it must be between 0 and 1 (a share)")
    if not 0 < wanted < 1:
        raise ValueError(f"wanted is {wanted}: a power lies between 0 and 1")
    gain = np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
    problems = len(gain)
    spread = float(gain.var(ddof=1)) if problems > 1 else math.nan
    reach = float(ndtri(1 - (1 - LEVEL) / 2) + ndtri(wanted))
    known = not math.isnan(within)
    within = within if known else 0.0
    own = max(0.0, spread - within / samples)
    room = problems * (points / reach) ** 2 - own
    if spread == 0 or math.isnan(spread):
        return Power(points, wanted, problems, problems, samples, math.nan, known)
    needed = math.ceil(spread * (reach / points) ** 2)
    if needed <= problems:
        more: int | None = samples
    elif within > 0 and room > 0:
        more = max(samples, math.ceil(within / room))
    else:
        more = None
    return Power(points, wanted, problems, needed, more, reach * math.sqrt(spread / problems), known)
