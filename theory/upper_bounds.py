r"""The paper's upper bounds on the number of samples: Theorem 1 and its relatives.

Means are in units of the sub-Gaussian scale; pass `scale` (scalar, (D,) or (K, D), of which the
largest of each objective counts) to have means and eps1 divided by it. Every function returns a
`Bound`. Sharper numbers under the same assumptions: `theory.sample_bound`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretoid.theory.bound import Bound
from paretoid.theory.checks import FloatArray, check_choice, check_delta
from paretoid.theory.gaps import combined_gaps
from paretoid.theory.inversion import lucb1_time, lucb1_time_bound
from paretoid.theory.units import in_scale_units


def theorem_1(
    means: Any, delta: float, eps1: Any = 0.0, k: int | None = None, scale: Any = 1.0
) -> Bound:
    r"""Samples after which APE has stopped, with probability at least 1 - delta.

    .. math::
        \sum_a \frac{88}{\widetilde\Delta_a^2}
        \log\Bigl(\frac{2K(K-1)D}{\delta} \log\frac{12e}{\widetilde\Delta_a}\Bigr),
        \qquad \widetilde\Delta_a = \max(\Delta_a, \varepsilon_1, \omega^k)

    For the radius `KaufmannKoolen` with its union over pairs; `k=None` is the whole Pareto set.
    A gap of 0 gives inf. Source: [kone2023, Theorem 1]. Erratum: a summand counts samples of an
    arm and so is at least 2, which the printed one is not for gaps beyond 8 or so, nor is its
    logarithm defined from 12e on; and the inversion behind it is over real n, so a summand must
    be rounded up when K(K-1)D/2 < 3.4 delta. Here summands below 8 are rounded up, which is
    enough; from 8 on they are the printed ones.

    >>> b = theorem_1([[1.0], [0.0]], delta=0.1)
    >>> b == 2 * 88 * math.log(2 * 2 / 0.1 * math.log(12 * math.e))
    True
    >>> float(theorem_1([[1000.0], [0.0]], delta=0.1))
    4.0
    """
    delta = check_delta(delta)
    mu, eps = in_scale_units(means, eps1, scale)
    K, D = mu.shape
    return _printed(combined_gaps(mu, eps, k), 2 * K * (K - 1) * D, delta, "[kone2023, Theorem 1]")


def cover_bound(means: Any, delta: float, eps1: Any = 0.0, scale: Any = 1.0) -> Bound:
    r"""Theorem 1 for (eps1, eps2)-covers: gaps max(Delta_a, eps1), whatever eps2 is.

    Source: [kone2023, Appendix "Algorithm for finding an (eps1, eps2)-cover", Theorem
    sampcompl2]. Nothing is proved about how a larger eps2 helps, so it is no argument.

    >>> means = [[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]]
    >>> cover_bound(means, 0.1, eps1=0.75) == theorem_1(means, 0.1, eps1=0.75)
    True
    """
    delta = check_delta(delta)
    mu, eps = in_scale_units(means, eps1, scale)
    K, D = mu.shape
    return _printed(
        combined_gaps(mu, eps), 2 * K * (K - 1) * D, delta, "[kone2023, Theorem sampcompl2]"
    )


def best_arm_bound(means: Any, delta: float, union: str = "pairs", scale: Any = 1.0) -> Bound:
    r"""Theorem 1 for one objective; `union="best"` counts only pairs with the best arm.

    .. math::
        \sum_a \frac{88}{\Delta_a^2} \log\Bigl(\frac{2K(K-1)}{\delta} \log\frac{12e}{\Delta_a}\Bigr)

    "best" replaces K(K-1) by 2(K-1), for APE run with K - 1 in place of K1 in its radius; it
    supposes a unique best arm. Source: [kone2023, Appendix "Best Arm Identification", Theorem
    sampl_compl_BAI and the remark after it]. We differ: the remark gives no proof, and that of
    Theorem 1 uses a pair of two sub-optimal arms; theory/ERRATA.md closes that case.

    >>> best_arm_bound([[1.0], [0.0]], 0.1) == best_arm_bound([[1.0], [0.0]], 0.1, union="best")
    True
    """
    delta = check_delta(delta)
    check_choice(union, ("pairs", "best"), name="union", why="it says which pairs are counted.")
    mu, _ = in_scale_units(means, 0.0, scale)
    check_single_objective(mu)
    K = len(mu)
    count = K * (K - 1) if union == "pairs" else 2 * (K - 1)
    return _printed(combined_gaps(mu), 2 * count, delta, "[kone2023, Theorem sampl_compl_BAI]")


def check_single_objective(mu: FloatArray) -> None:
    """Refuse means with more than one objective."""
    if mu.shape[1] != 1:
        raise ValueError(
            f"means has D={mu.shape[1]} objectives; a best arm is defined for one only. Pass a "
            f"(K, 1) array, or use theorem_1 or lower_bound for Pareto sets."
        )


def _printed(gaps: FloatArray, count: int, delta: float, source: str) -> Bound:
    """The sum of 88/gap^2 log(count/delta log(12e/gap)), each summand a possible count."""
    positive = gaps > 0
    safe = np.where(positive, gaps, 1.0)
    with np.errstate(over="ignore"):  # gaps below 1e-150: inf is the right limit
        inner = np.log(np.maximum(12 * math.e / safe, 1.0))  # 0 from 12e on
        outer = np.log(np.maximum(count / delta * inner, 1.0))
        per_arm = 88 / safe / safe * outer
    per_arm = np.where(per_arm < 8, np.maximum(np.ceil(per_arm), 2.0), per_arm)
    per_arm = np.where(positive, per_arm, np.inf)
    return Bound(
        float(per_arm.sum()),
        holds=f"with probability at least 1 - delta = {1 - delta:g}",
        source=source,
        probability=1 - delta,
        gaps=gaps,
        per_arm=per_arm,
    )


def expected_samples_lucb1(
    means: Any,
    delta: float,
    eps1: Any = 0.0,
    k: int | None = None,
    scale: Any = 1.0,
    form: str = "exact",
) -> Bound:
    r"""Upper bound on the *expected* number of samples of APE with the radius `LUCB1Like`.

    .. math:: \max(T^\star, 2K + 1) + \tfrac{8\pi^2}{15}, \qquad
        T^\star = \min\{s : \forall n \ge s, \; 256 H \log(c n) < n\}

    with H the sum of the inverse squared gaps and c = (5KD/(2 delta))^(1/4). `form="closed"` has
    T* <= 1 + 256 sqrt(e) H log(256 c H), the printed theorem. inf if a gap is 0.
    Source: [kone2023, Appendix "LUCB1-like instantiation"]. Erratum: the printed bound may be
    below K, which every run needs; its proof uses the lemmas from round K + 1 on, so n/2 > K.
    H is printed with Delta_{a_t} and omega_k for Delta_a and omega^k.

    >>> b = expected_samples_lucb1([[1000.0], [0.0]], delta=0.1)   # T* = 1, 2K + 1 = 5
    >>> float(b) == 5 + 8 * math.pi**2 / 15
    True
    """
    delta = check_delta(delta)
    check_choice(form, ("exact", "closed"), name="form", why="it says how T* is computed.")
    mu, eps = in_scale_units(means, eps1, scale)
    K, D = mu.shape
    gaps = combined_gaps(mu, eps, k)
    c = (5 * K * D / (2 * delta)) ** 0.25
    horizon: float = math.inf
    if gaps.min() > 1e-150:  # H overflows below
        H = max(float((gaps**-2.0).sum()), 1e-300)  # the same T* = 1, also for huge gaps
        horizon = lucb1_time(H, c) if form == "exact" else lucb1_time_bound(H, c)
    return Bound(
        max(horizon, 2 * K + 1) + 8 * math.pi**2 / 15,
        holds="in expectation, for the radius LUCB1Like",
        source='[kone2023, Appendix "LUCB1-like instantiation"]',
        gaps=gaps,
    )
