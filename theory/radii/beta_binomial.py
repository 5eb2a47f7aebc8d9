"""The two-stream beta-binomial mixture for outcomes 0 or 1 [theory/PROOFS.md, Section 14]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.checks import FloatArray
from paretoid.theory.member import arguments
from paretoid.theory.radii.base import Radius, RoleTerms
from paretoid.theory.radii.mixture import Mixture
from paretoid.theory.shares import Shares


@dataclass(frozen=True, repr=False)
class BetaBinomial(Radius):
    r"""Two-stream beta-binomial mixture, for outcomes 0 or 1. Made for rare events.

    `Mixture` treats an outcome 0 or 1 as one of scale 1/2; this one knows that the variance of a
    rate m is m (1 - m). Its intervals on m_i - m_j are all x - y with

    .. math:: \ell_i(x) + \ell_j(y) \le \log(1/\alpha), \qquad
              \ell(m) = \log\frac{B(\rho m + s,\ \rho(1-m) + n - s)}{B(\rho m,\ \rho(1-m))}
              - s \log m - (n - s)\log(1-m)

    for s successes in n draws: they depend on the successes, not on counts alone, and are not
    symmetric around the estimate. The prior of a rate is centred at the rate that is tested, so
    that there is no centre to plan; rho is its weight in draws.

    rho      one, or one for each arm
    union    "claims" counts the claims that can be wrong, "pairs" all differences; "none" is
             heuristic
    shares   how claims share delta out, `Shares`; default uniformly

    Levels are those of `Mixture(sides="two")`: an interval fails on either side with probability
    alpha together. Conditions: every outcome is 0 or 1; rho and shares are fixed before the data;
    if several arms are sampled in one round their outcomes are conditionally independent.

    >>> import paretoid as pt
    >>> rare = pt.BernoulliBandit([[0.02], [0.06]], objectives=["toxicity"], minimize=["toxicity"])
    >>> run = pt.simulate(rare, radius=BetaBinomial(), replications=1, seed=1, max_samples=3000)
    >>> run.attrs["radius"], run.attrs["guarantee"], bool(run.correct.all())
    ("BetaBinomial(rho=30.0, union='claims')", 'proved', True)
    """

    rho: Any = 30.0
    union: str = "claims"
    shares: Shares | None = None

    def __post_init__(self) -> None:
        plain = Mixture(self.rho, self.union, "two", self.shares)  # refuses what is wrong
        object.__setattr__(self, "rho", plain.rho)

    def __repr__(self) -> str:
        shown = {name: value for name, value in arguments(self).items() if value is not None}
        inside = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{type(self).__name__}({inside})"

    @property
    def _claims(self) -> Mixture:
        """The mixture with the same claims: their levels are counted once, there."""
        return Mixture(self.rho, self.union, "two", self.shares)

    @property
    def guarantee(self) -> str:
        """ "proved", unless there is no union bound."""
        return self._claims.guarantee

    def counts_pairs(self, K: int, D: int, delta: float) -> bool:
        """True: all intervals hold together, so that several goals need no level of their own.

        >>> BetaBinomial().counts_pairs(2, 1, 0.1), BetaBinomial().counts_pairs(5, 2, 0.1)
        (True, False)
        """
        return self._claims.counts_pairs(K, D, delta)

    def constants(self, K: int, D: int, delta: float) -> tuple[float, float]:
        """(C_keep, C_drop), twice the logarithms of 1/alpha; see `role_terms` for shares.

        Two arms and one objective have one pair, so alpha = delta:

        >>> round(BetaBinomial().constants(2, 1, 0.1)[0] / 2, 4)     # log 10
        2.3026
        """
        return self._claims.constants(K, D, delta)

    def role_terms(self, K: int, D: int, delta: float) -> RoleTerms | None:
        """What arms, rivals and objectives with larger shares have less than the worst.

        >>> BetaBinomial().role_terms(20, 3, 0.1) is None     # uniform shares
        True
        """
        return self._claims.role_terms(K, D, delta)

    def first_count(self, K: int, D: int, delta: float) -> int:
        """Always 1: rates lie between 0 and 1, so bounds are finite from the beginning.

        >>> BetaBinomial().first_count(20, 3, 0.1)
        1
        """
        return 1

    def weights(self, K: int) -> FloatArray:
        """(K,) rho of each arm.

        >>> BetaBinomial(rho=30.0).weights(2), BetaBinomial(rho=[30.0, 5.0]).weights(2)
        (array([30., 30.]), array([30.,  5.]))
        """
        if isinstance(self.rho, tuple) and len(self.rho) != K:
            raise ValueError(
                f"rho has {len(self.rho)} entries and there are {K} arms: give one for each, or a "
                f"single number."
            )
        return np.array(np.broadcast_to(np.asarray(self.rho, dtype=np.float64), (K,)))
