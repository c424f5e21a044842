from __future__ import annotations

import itertools
import math

import pytest

from lm_eval_strict.filters.pass_at_k import pass_at_k


@pytest.mark.parametrize("n", range(1, 11))
def test_equals_the_share_of_all_choices_that_hold_a_pass(n: int) -> None:
    for c, k in itertools.product(range(n + 1), range(1, n + 1)):
        samples = [True] * c + [False] * (n - c)
        choices = list(itertools.combinations(samples, k))
        assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_is_nan_where_k_exceeds_n() -> None:
    assert math.isnan(pass_at_k(2, 1, 3))


def test_is_stable_for_ten_thousand_samples() -> None:
    assert pass_at_k(10_000, 1, 100) == pytest.approx(0.01)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_nonsense_is_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match=f"n={n}, c={c}, k={k}"):
        pass_at_k(n, c, k)
