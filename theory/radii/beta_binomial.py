"""The two-stream beta-binomial mixture for outcomes 0 or 1 [theory/PROOFS.md, Section 14]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.checks import FloatArray, WrongTypeError, as_numbers, check_positive, shown
from paretoid.theory.member import arguments
from paretoid.theory.radii.base import Radius, RoleTerms
from paretoid.theory.radii.mixture import Mixture
from paretoid.theory.shares import Shares

#: Tuned: right rates save a good part of what full trust would, and rare events planned 3 times
#: too often or too rarely take about as long as without a plan; validation/benchmarks/README.md.
TRUST = 1 / 3
LARGEST_TRUST = 1e6


@dataclass(frozen=True, repr=False)
class BetaBinomial(Radius):
    r"""Two-stream beta-binomial mixture, for outcomes 0 or 1. Made for rare events.

    `Mixture` treats an outcome 0 or 1 as one of scale 1/2; this one knows that the variance of a
    rate m is m (1 - m). Its intervals on m_i - m_j are all x - y with

    .. math:: \ell_i(x) + \ell_j(y) \le \log(1/\alpha), \qquad
              \ell(m) = \log\frac{B(\rho m + s,\ \rho(1-m) + n - s)}{B(\rho m,\ \rho(1-m))}
              - s \log m - (n - s)\log(1-m)

    for s successes in n draws: they depend on the successes, not on counts alone, and are not
    symmetric around the estimate. The prior of a rate is centred at the rate that is tested; rho is
    its weight in draws. Where rates were planned, it has besides rho trust draws at the planned
    rate c: Beta(rho (m + trust c), rho (1 - m + trust (1 - c))).

    rho      one, or one for each arm
    union    "claims" counts the claims that can be wrong, "pairs" all differences; "none" is
             heuristic
    shares   how claims share delta out, `Shares`; default uniformly
    planned  (K, D) the rates that are expected, of ones, also where few are wanted; default none
    trust    what the planned rate weighs beside the one that is tested; default 1/3 with a plan

    What speaks against a claim is the least of an e-value over all rates at which the claim is
    wrong, so a claim is tested on its one side. Without planned rates the prior spreads to both
    sides of a hypothesis, and one event at level alpha bounds a difference from below and above,
    as in `Mixture(sides="two")`: the half that points away from the claim costs up to log 2 of
    log(1/alpha). Planned rates put the prior on the side where the truth is expected, and save
    that and more if they are right; if they are wrong runs take longer, and the guarantee is the
    same.

    Conditions: every outcome is 0 or 1; rho, shares, planned and trust are fixed before the data;
    if several arms are sampled in one round their outcomes are conditionally independent.

    >>> import paretoid as pt
    >>> rare = pt.BernoulliBandit([[0.02], [0.06]], objectives=["toxicity"], minimize=["toxicity"])
    >>> run = pt.simulate(rare, radius=BetaBinomial(), replications=1, seed=1, max_samples=3000)
    >>> run.attrs["radius"], run.attrs["guarantee"], bool(run.correct.all())
    ("BetaBinomial(rho=30.0, union='claims')", 'proved', True)
    >>> BetaBinomial(planned=[[0.02], [0.06]], trust=0.5)
    BetaBinomial(rho=30.0, union='claims', planned=((0.02,), (0.06,)), trust=0.5)
    """

    rho: Any = 30.0
    union: str = "claims"
    shares: Shares | None = None
    planned: Any = None
    trust: float | None = None

    def __post_init__(self) -> None:
        plain = Mixture(self.rho, self.union, "two", self.shares)  # refuses what is wrong
        object.__setattr__(self, "rho", plain.rho)
        if self.planned is None:
            if self.trust is not None:
                raise ValueError(
                    f"trust={self.trust!r} is the weight of planned rates, and none are given. "
                    f"Pass planned=, a rate for each arm and objective, or leave out trust."
                )
            return
        object.__setattr__(self, "planned", _as_rates(self.planned))
        trust = TRUST if self.trust is None else self.trust
        why = "it is the weight of a planned rate beside the one that is tested."
        object.__setattr__(
            self, "trust", check_positive(trust, name="trust", why=why, most=LARGEST_TRUST)
        )

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

    def planned_draws(self, K: int, D: int) -> tuple[FloatArray, FloatArray]:
        """(K, D) each: the ones and the zeros that planned rates add to the prior; 0 without any.

        >>> ones, zeros = BetaBinomial(planned=[[0.2], [0.5]], trust=0.5).planned_draws(2, 1)
        >>> ones.ravel(), zeros.ravel()     # 15 draws each
        (array([3. , 7.5]), array([12. ,  7.5]))
        """
        if self.planned is None:
            return np.zeros((K, D)), np.zeros((K, D))
        rates = np.array(self.planned)
        if rates.shape != (K, D):
            raise ValueError(
                f"planned has rates for {rates.shape[0]} arms and {rates.shape[1]} objectives, and "
                f"there are {K} and {D}: give one for each arm and objective."
            )
        assert self.trust is not None
        draws = self.trust * self.weights(K)[:, None]
        return draws * rates, draws * (1 - rates)

    def with_design(self, rho: Any, shares: Shares | None) -> BetaBinomial:
        """The same radius with another rho and other shares.

        >>> BetaBinomial(planned=[[0.2], [0.5]]).with_design(50.0, None).planned
        ((0.2,), (0.5,))
        """
        return type(self)(**{**arguments(self), "rho": rho, "shares": shares})


def _as_rates(planned: Any) -> tuple[tuple[float, ...], ...]:
    """A table of rates as tuples; anything else is refused."""
    rule = "a table with a rate for each arm (row) and objective."
    try:
        rates = as_numbers(planned, name="planned", rule=rule)
    except ValueError:
        raise WrongTypeError(f"planned={shown(planned)} must be {rule}") from None
    if rates.ndim != 2 or not ((rates > 0) & (rates < 1)).all():
        raise ValueError(
            f"planned={shown(planned)} must be {rule} Rates lie strictly between 0 and 1: with one "
            f"of 0 or 1 a single outcome to the contrary would be beyond belief."
        )
    return tuple(tuple(row) for row in rates.tolist())
