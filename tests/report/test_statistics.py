"""The estimators against enumeration, against scipy and against published tables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from lm_eval_strict.report.agreement import agreement, cohens_kappa
from lm_eval_strict.report.paired import mcnemar, paired_difference, power
from lm_eval_strict.report.statistics import (
    DegenerateWarning,
    bootstrap,
    curves,
    pass_at_k,
    pass_hat_k,
    split_variance,
    wilson,
)


@pytest.mark.parametrize("n", range(1, 11))
def test_pass_at_k_and_pass_hat_k_equal_brute_force_enumeration(n: int) -> None:
    for c, k in itertools.product(range(n + 1), range(1, n + 1)):
        samples = [True] * c + [False] * (n - c)
        draws = list(itertools.combinations(samples, k))
        assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws), abs=1e-12)
        assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws), abs=1e-12)


@pytest.mark.filterwarnings("ignore::lm_eval_strict.report.statistics.DegenerateWarning")
@pytest.mark.parametrize("c", [0, 1, 2, 50, 5_000, 9_999, 10_000])
@pytest.mark.parametrize("k", [1, 2, 10, 100, 5_000, 10_000])
def test_pass_at_k_is_stable_at_ten_thousand_samples(c: int, k: int) -> None:
    n = 10_000
    exact = 1 - math.comb(n - c, k) / math.comb(n, k) if c else 0.0
    every = math.comb(c, k) / math.comb(n, k)
    assert pass_at_k(n, c, k) == pytest.approx(exact, rel=1e-9)
    assert pass_hat_k(n, c, k) == pytest.approx(every, rel=1e-9, abs=1e-300)
    at, hat = curves([(n, c)], np.random.default_rng(0), resamples=1) if 0 < c < n else (None, None)
    if at and hat:
        assert at.points[k - 1].value == pytest.approx(exact, rel=1e-9)
        assert hat.points[k - 1].value == pytest.approx(every, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("passed", "value", "low", "high"),
    [(93, 56.7, 49.1, 64.1), (79, 48.2, 40.7, 55.8), (52, 31.7, 25.1, 39.2), (45, 27.4, 21.2, 34.7)],
)
def test_wilson_gives_the_published_table(passed: int, value: float, low: float, high: float) -> None:
    made = wilson(passed, 164)
    assert [round(100 * part, 1) for part in (made.value, made.low, made.high)] == [value, low, high]


@pytest.mark.parametrize(("passed", "trials"), [(0, 1), (0, 164), (164, 164), (1, 2), (93, 164), (499, 500)])
def test_wilson_equals_scipy(passed: int, trials: int) -> None:
    made, theirs = wilson(passed, trials), stats.binomtest(passed, trials).proportion_ci(method="wilson")
    assert (made.low, made.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_fourteen_lost_and_none_gained_is_the_published_drop() -> None:
    first = [1.0] * 93 + [0.0] * 71
    second = [1.0] * 79 + [0.0] * 85
    made = paired_difference(first, second, np.random.default_rng(0))
    assert round(100 * made.change.value, 1) == -8.5
    assert round(made.p_value, 4) == 0.0001
    assert (made.worse, made.better) == (14, 0)
    assert made.mcnemar is not None and made.mcnemar.p_value == 2 * 0.5**14
    assert made.relative == pytest.approx(-14 / 93)


@pytest.mark.parametrize(("lost", "gained"), [(0, 1), (3, 5), (5, 3), (7, 7), (0, 0), (40, 12)])
def test_mcnemar_equals_scipys_binomial_test(lost: int, gained: int) -> None:
    expected = stats.binomtest(lost, lost + gained).pvalue if lost + gained else 1.0
    assert mcnemar(lost, gained).p_value == pytest.approx(expected, rel=1e-9)


def test_bootstrap_agrees_with_scipys() -> None:
    scores = np.random.default_rng(4).beta(0.5, 0.5, 164).round(1)
    made = bootstrap(scores.tolist(), np.random.default_rng(1))
    theirs = stats.bootstrap((scores,), np.mean, method="percentile", n_resamples=10_000).confidence_interval
    assert made.low == pytest.approx(theirs.low, abs=0.004)
    assert made.high == pytest.approx(theirs.high, abs=0.004)


def test_equal_generators_give_equal_intervals() -> None:
    scores = [0.1, 0.5, 0.9, 1.0, 0.0]
    assert bootstrap(scores, np.random.default_rng(7)) == bootstrap(scores, np.random.default_rng(7))


def _covered(samples: int, runs: int, seed: int) -> float:
    """Give the share of intervals that hold the true pass@1 of problems drawn from a bimodal population."""
    generator = np.random.default_rng(seed)
    hits = 0
    for _ in range(runs):
        chances = generator.beta(0.6, 0.4, 164)
        passed = generator.binomial(samples, chances)
        at, _ = curves([(samples, int(c)) for c in passed], generator, resamples=1_000)
        hits += at.points[0].low <= 0.6 <= at.points[0].high
    return hits / runs


@pytest.mark.parametrize("samples", [1, 4, 10])
def test_intervals_cover_the_truth_in_93_to_97_of_100_runs(samples: int) -> None:
    assert 0.93 <= _covered(samples, 1_500, seed=20) <= 0.97


def test_paired_intervals_cover_the_truth_in_93_to_97_of_100_comparisons() -> None:
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(1_500):
        chances = generator.beta(0.6, 0.4, 164)
        first = generator.binomial(1, chances)
        second = generator.binomial(1, 0.9 * chances)
        change = paired_difference(first.tolist(), second.tolist(), generator, resamples=1_000).change
        hits += change.low <= -0.06 <= change.high
    assert 0.93 <= hits / 1_500 <= 0.97


def test_all_failed_problems_have_wilsons_interval_and_not_a_point() -> None:
    at, _ = curves([(10, 0)] * 164, np.random.default_rng(0))
    assert at.points[0].low == 0.0
    assert at.points[0].high == pytest.approx(wilson(0, 164).high)


def test_equal_scores_that_are_not_whole_give_nan_and_a_named_warning() -> None:
    with pytest.warns(DegenerateWarning):
        made = bootstrap([0.5] * 20, np.random.default_rng(0))
    assert math.isnan(made.low) and math.isnan(made.high)


def test_curves_average_problems_with_unequal_numbers_of_samples() -> None:
    at, hat = curves([(3, 1), (5, 5)], np.random.default_rng(0))
    assert len(at.points) == 3
    assert at.points[1].value == pytest.approx((pass_at_k(3, 1, 2) + 1) / 2)
    assert hat.points[1].value == pytest.approx((pass_hat_k(3, 1, 2) + 1) / 2)


def test_variance_split_finds_the_shares_it_was_simulated_with() -> None:
    generator = np.random.default_rng(3)
    chances = generator.beta(2, 2, 20_000)
    split = split_variance([(5, int(c)) for c in generator.binomial(5, chances)])
    assert split.between_problems == pytest.approx(0.05, abs=0.003)
    assert split.within_problems == pytest.approx(0.20, abs=0.003)
    assert split.sampling_share == pytest.approx(0.8, abs=0.01)


def test_variance_split_of_one_sample_is_nan() -> None:
    assert math.isnan(split_variance([(1, 1)] * 10).sampling_share)


def test_kappa_is_the_textbook_value() -> None:
    first = [True] * 25 + [False] * 25
    second = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert cohens_kappa(first, second) == pytest.approx(0.4)
    made = agreement(first, second)
    assert (made.agreed, made.false_accepts, made.false_rejects) == (35, 5, 10)


def test_kappa_without_any_spread_is_nan() -> None:
    assert math.isnan(cohens_kappa([True] * 5, [True] * 5))


def test_power_of_the_named_number_of_problems_is_what_was_asked() -> None:
    generator = np.random.default_rng(2)
    first = generator.binomial(1, 0.6, 2_000).astype(float)
    second = np.where(generator.random(2_000) < 0.2, 1 - first, first)
    needed = power(first.tolist(), second.tolist(), 1, 0.05).problems_needed
    found = 0
    for _ in range(600):
        old = generator.binomial(1, 0.5, needed).astype(float)
        flips = generator.random(needed)
        new = np.where((old == 1) & (flips < 0.15), 0.0, np.where((old == 0) & (flips < 0.25), 1.0, old))
        found += paired_difference(old.tolist(), new.tolist(), generator, resamples=1).p_value < 0.05
    assert 0.74 <= found / 600 <= 0.86


def test_more_samples_settle_only_what_sampling_blurs() -> None:
    first, second = [0.4, 0.6, 0.5, 0.5] * 10, [0.6, 0.4, 0.7, 0.5] * 10
    assert power(first, second, 1, 0.05, within=0.0).samples_needed is None
    assert power(first, second, 1, 0.05, within=0.03).samples_needed is not None


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: pass_at_k(5, 6, 1), "c is 6"),
        (lambda: pass_at_k(5, 1, 6), "k is 6"),
        (lambda: pass_hat_k(0, 0, 1), "n is 0"),
        (lambda: wilson(3, 2), "successes is 3"),
        (lambda: wilson(1, 2, level=95), "level is 95"),
        (lambda: bootstrap([], np.random.default_rng(0)), "scores is empty"),
        (lambda: bootstrap([math.nan], np.random.default_rng(0)), "NaN"),
        (lambda: curves([], np.random.default_rng(0)), "counts is empty"),
        (lambda: paired_difference([1.0], [1.0, 0.0], np.random.default_rng(0)), "first has 1"),
        (lambda: power([1.0, 0.0], [0.0, 0.0], 1, 5.0), "points is 5.0"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value(call: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        call()  # type: ignore[operator]
