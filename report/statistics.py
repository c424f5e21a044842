"""Scores of problems in, estimates with intervals out: pass@k, pass^k, Wilson, bootstrap over problems."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 10_000
RESAMPLES_AT_ONCE = 2_000
LEVEL = 0.95


class DegenerateWarning(UserWarning):
    """The data cannot give an interval: it is NaN."""


@dataclass(frozen=True)
class Interval:
    """A two-sided interval around ``value``; ``method`` says how it was made. All are shares, not percent."""

    value: float
    low: float
    high: float
    method: str


@dataclass(frozen=True)
class Curve:
    """One estimate for each k from 1 to n: ``points[k - 1]``."""

    points: tuple[Interval, ...]


@dataclass(frozen=True)
class VarianceSplit:
    """Where the variance of one verdict comes from: which problem it is, or which sample.

    ``sampling_share`` is within / (within + between); NaN where there is one sample a problem or no variance.
    """

    between_problems: float
    within_problems: float
    sampling_share: float


def _check_counts(n: int, c: int, k: int) -> None:
    if n < 1:
        raise ValueError(f"n is {n}: at least 1 sample is needed")
    if not 0 <= c <= n:
        raise ValueError(f"c is {c}: it must be between 0 and n={n}")
    if not 1 <= k <= n:
        raise ValueError(f"k is {k}: it must be between 1 and n={n}")


def pass_at_k(n: int, c: int, k: int) -> float:
    """Estimate without bias the chance that one of ``k`` samples or more passes; ``c`` of ``n`` passed.

    1 - C(n-c, k) / C(n, k), as a product that neither overflows nor cancels (Chen et al. 2021, section 2.1).
    Raises ValueError unless 0 <= c <= n and 1 <= k <= n.
    """
    _check_counts(n, c, k)
    if n - c < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Estimate without bias the chance that all of ``k`` samples pass: C(c, k) / C(n, k).

    Written pass^k (Yao et al. 2024, tau-bench). Raises as :func:`pass_at_k`.
    """
    _check_counts(n, c, k)
    if c < k:
        return 0.0
    drawn = np.arange(k)
    return float(np.prod((c - drawn) / (n - drawn)))


def _all_fail(n: int, misses: int, k_most: int) -> Floats:
    """Give C(misses, k) / C(n, k) for each k from 1 to ``k_most``."""
    drawn = np.arange(k_most)
    ratios: Floats = np.clip(misses - drawn, 0, None) / (n - drawn)
    return np.asarray(np.cumprod(ratios), dtype=np.float64)


def wilson(successes: int, trials: int, *, level: float = LEVEL) -> Interval:
    """Give Wilson's score interval for a share of independent trials (Wilson 1927)."""
    from scipy.special import ndtri

    if trials < 1:
        raise ValueError(f"trials is {trials}: at least 1 is needed")
    if not 0 <= successes <= trials:
        raise ValueError(f"successes is {successes}: it must be between 0 and trials={trials}")
    _check_level(level)
    z = float(ndtri(0.5 + level / 2))
    share = successes / trials
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2))
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == trials else middle + half
    return Interval(share, low, high, "wilson")


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}: it must be between 0 and 1, as in 0.95")


def resampled_means(
    values: Floats, weights: Floats, generator: np.random.Generator, resamples: int
) -> Floats:
    """Draw problems with replacement and give the mean of each draw: shape (resamples, columns).

    Row i of ``values`` is shared by ``weights[i]`` problems: a draw of N problems is one multinomial draw of
    the distinct rows, which is the same draw and much less work.
    """
    problems = int(weights.sum())
    parts = []
    for start in range(0, resamples, RESAMPLES_AT_ONCE):
        size = min(RESAMPLES_AT_ONCE, resamples - start)
        drawn = generator.multinomial(problems, weights / problems, size=size)
        parts.append(drawn @ values / problems)
    return np.concatenate(parts)


def bootstrap(
    scores: Sequence[float],
    generator: np.random.Generator,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """Give the percentile bootstrap interval of the mean of one score a problem; problems are resampled.

    Scores that are all 0 or all 1 get Wilson's interval over the problems, since a resample could not differ;
    scores that are all equal to something else give NaN and a :class:`DegenerateWarning`.
    """
    _check_level(level)
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}: at least 1 is needed")
    if not len(scores):
        raise ValueError("scores is empty: at least 1 problem is needed")
    if any(math.isnan(score) for score in scores):
        raise ValueError("scores holds NaN: leave problems without a verdict out first")
    counted = Counter(float(score) for score in scores)
    values = np.array(sorted(counted))
    weights = np.array([counted[value] for value in values], dtype=float)
    return _from_distinct(values[:, None], weights, generator, level, resamples)[0]


def _from_distinct(
    values: Floats, weights: Floats, generator: np.random.Generator, level: float, resamples: int
) -> list[Interval]:
    problems = int(weights.sum())
    means = weights @ values / problems
    drawn = resampled_means(values, weights, generator, resamples)
    lows, highs = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    out = []
    for column, mean in enumerate(means):
        if np.ptp(values[:, column]) > 0:
            low, high = min(float(lows[column]), mean), max(float(highs[column]), mean)
            out.append(Interval(float(mean), low, high, "bootstrap over problems"))
        elif values[0, column] in (0.0, 1.0):
            out.append(wilson(round(mean * problems), problems, level=level))
        else:
            warnings.warn("every problem has the same score: no interval", DegenerateWarning, stacklevel=4)
            out.append(Interval(float(mean), math.nan, math.nan, "degenerate"))
    return out


def curves(
    counts: Sequence[tuple[int, int]],
    generator: np.random.Generator,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> tuple[Curve, Curve]:
    """Give pass@k and pass^k for every k up to the smallest n, averaged over problems.

    ``counts`` has one (samples, passed) a problem. With one sample a problem the interval is Wilson's; with
    more, problems are resampled, never samples.
    """
    if not counts:
        raise ValueError("counts is empty: at least 1 problem is needed")
    for n, c in counts:
        _check_counts(n, c, 1)
    _check_level(level)
    k_most = min(n for n, _ in counts)
    if all(n == 1 for n, _ in counts):
        only = Curve((wilson(sum(c for _, c in counts), len(counts), level=level),))
        return only, only
    distinct = Counter(counts)
    weights = np.array(list(distinct.values()), dtype=float)
    at = np.array([1.0 - _all_fail(n, n - c, k_most) for n, c in distinct])
    hat = np.array([_all_fail(n, c, k_most) for n, c in distinct])
    made = _from_distinct(np.hstack([at, hat]), weights, generator, level, resamples)
    return Curve(tuple(made[:k_most])), Curve(tuple(made[k_most:]))


def split_variance(counts: Sequence[tuple[int, int]]) -> VarianceSplit:
    """Split the variance of a verdict into problems and sampling, by one-way analysis of variance.

    ``counts`` has one (samples, passed) a problem. Within: the unbiased variance of the samples of a problem,
    averaged. Between: the variance of the problems' means, less what sampling adds to it, at least 0.
    """
    many = [(n, c) for n, c in counts if n > 1]
    if len(many) < 2:
        return VarianceSplit(math.nan, math.nan, math.nan)
    size = np.array([n for n, _ in many], dtype=float)
    share = np.array([c for _, c in many]) / size
    within_each = share * (1 - share) * size / (size - 1)
    within = float(within_each.mean())
    between = max(0.0, float(share.var(ddof=1)) - float((within_each / size).mean()))
    total = within + between
    return VarianceSplit(between, within, within / total if total > 0 else math.nan)
