"""n samples of a problem in, the chance that one of k would have passed out."""

from __future__ import annotations

import math


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate of pass@k from ``c`` passes among ``n`` samples.

    ``1 - C(n-c, k) / C(n, k)`` in the product form, which neither overflows nor cancels (Chen et al. 2021,
    "Evaluating Large Language Models Trained on Code", figure 3). NaN where ``k > n``: then no estimate
    without bias exists. Raises ``ValueError`` unless ``0 <= c <= n`` and ``k >= 1``.
    """
    if not 0 <= c <= n or k < 1:
        raise ValueError(f"pass_at_k needs 0 <= c <= n and k >= 1, got n={n}, c={c}, k={k}")
    if k > n:
        return math.nan
    if n - c < k:
        return 1.0
    missed = 1.0
    for i in range(n - c + 1, n + 1):
        missed *= 1.0 - k / i
    return 1.0 - missed
