r"""Who gets how much of delta: error shares by arm, by rival and by objective.

The claims union needs only that levels add up (theory/PROOFS.md, Section 9). With a_i summing to
delta, g_d and u_j each summing to 1,

.. math:: \alpha_{keep}[i, d] = a_i\, g_d, \qquad \alpha_{drop}[i, j] = a_i \frac{u_j}{1 - u_i},

so -2 log of a level is a term of i plus a term of d or j, which a kernel adds to l_i and l_j. An
arm that needs many samples earns a large share; `informed_shares` and `informed_rho` make shares
and prior precisions of expected counts (Section 10). All of it must be fixed before the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.theory.checks import (
    MOST_ARMS,
    FloatArray,
    WrongTypeError,
    as_numbers,
    check_choice,
    check_count,
    check_delta,
    is_listed,
    is_number,
    is_real,
    refusal,
    shown,
)
from paretoid.theory.one_sided import penalty
from paretoid.theory.radii.base import RoleTerms

#: Shares may miss a sum of 1 by this fraction; levels are computed from shares divided by their
#: sum, so nothing depends on it.
SUM_TOLERANCE = 1e-9

#: Six floating-point operations lead from shares to a level and can raise it by 7e-16; levels are
#: lowered by this fraction, so that their exact sum is below delta. It is 2e-12 of -2 log of a
#: level, more than the rounding of the logarithms, which stay below 1,400.
LEVEL_ROUNDING = 1e-12

#: Smaller levels are refused: below 1e-308 floats lose their digits, and nothing would be settled.
LEAST_LEVEL = 1e-300

#: rho_i = n_i/12, tuned: at equal counts within 1% of the best rho for levels from 1/600 to 1e-7.
COUNTS_PER_RHO = 12.0

#: No rho below this, tuned: an arm expected to need few samples may turn out to need many.
LEAST_RHO = 5.0

_ZERO = {
    "arms": "every interval that keeps or drops this arm",
    "rivals": "every interval that drops an arm for this one",
    "objectives": "every interval that keeps an arm by this objective",
}


@dataclass(frozen=True)
class Shares:
    """How delta is shared out; each of the three is uniform when left out.

    arms         (K,) share of the claims about keeping or dropping this arm
    rivals       (K,) of an arm's share, what goes to being dropped for this other arm
    objectives   (D,) of an arm's share, what goes to being kept by this objective

    Each is positive and sums to 1 (to 1e-9; it is stored as given and divided by its sum where it
    is used). Immutable, hashable, and `eval(repr(shares)) == shares`.

    >>> shares = Shares(arms=[0.5, 0.25, 0.25])
    >>> shares
    Shares(arms=(0.5, 0.25, 0.25), rivals=None, objectives=None)
    >>> shares.keep_levels(3, 2, 0.08).round(6)                  # 0.08 * 0.5 / 2 objectives
    array([[0.02, 0.02],
           [0.01, 0.01],
           [0.01, 0.01]])
    >>> shares.drop_levels(3, 0.08).round(6)                     # 0.08 * 0.5 / 2 rivals
    array([[0.  , 0.02, 0.02],
           [0.01, 0.  , 0.01],
           [0.01, 0.01, 0.  ]])
    """

    arms: tuple[float, ...] | None = None
    rivals: tuple[float, ...] | None = None
    objectives: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("arms", "rivals", "objectives"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _as_shares(given, name))

    @property
    def is_uniform(self) -> bool:
        """True if every share equals its neighbours exactly: the same levels as no shares at all.

        >>> Shares().is_uniform, Shares(arms=[0.2] * 5).is_uniform, Shares([0.4, 0.6]).is_uniform
        (True, True, False)
        """
        return all(map(_equal, (self.arms, self.rivals, self.objectives)))

    def check(self, K: int, D: int) -> None:
        """Refuse shares whose lengths are not those of K arms and D objectives.

        >>> Shares(objectives=[0.5, 0.5]).check(4, 2)
        """
        K = check_count(K, name="K", least=2, why="a difference needs two arms.")
        D = check_count(D, name="D", why="there must be an objective.")
        for name, length, thing in (("arms", K, "arm"), ("rivals", K, "arm"),
                                   ("objectives", D, "objective")):  # fmt: skip
            given = getattr(self, name)
            if given is not None and len(given) != length:
                raise ValueError(
                    f"shares of {name} have length {len(given)}; {length} are needed, one for "
                    f"each {thing}. Leave {name} out to share uniformly."
                )

    def keep_levels(self, K: int, D: int, delta: float) -> FloatArray:
        """(K, D) level of the lower bounds on mu_i^d - mu_j^d, for any j: they keep arm i.

        >>> Shares(objectives=[0.75, 0.25]).keep_levels(2, 2, 0.08).round(6)
        array([[0.03, 0.01],
               [0.03, 0.01]])
        """
        self.check(K, D)
        levels = self.arm_levels(K, delta)[:, None] * _weights(self.objectives, D)[None, :]
        return _check_levels(levels, levels, "keep an arm")

    def drop_levels(self, K: int, delta: float, families: int = 1) -> FloatArray:
        """(K, K) level of the upper bounds on mu_i^d - mu_j^d, for any d: they drop arm i for j.

        `families` is how many sets of upper bounds the goals need (PROOFS.md, Section 9): levels
        are divided by it. The diagonal is 0.

        >>> Shares(rivals=[0.5, 0.25, 0.25]).drop_levels(3, 0.12)[1].round(6)  # 0.04 * (2, ., 1)/3
        array([0.026667, 0.      , 0.013333])
        """
        self.check(K, 1 if self.objectives is None else len(self.objectives))
        families = check_count(families, name="families", why="it counts sets of upper bounds.")
        rivals = _weights(self.rivals, K)
        ratio = rivals[None, :] / _others(rivals)[:, None]
        levels = self.arm_levels(K, delta)[:, None] * ratio / families
        np.fill_diagonal(levels, 0.0)
        return _check_levels(levels, levels[~np.eye(K, dtype=bool)], "drop an arm")

    def role_terms(
        self, K: int, D: int, delta: float, *, sides: str = "one", families: int = 1
    ) -> RoleTerms:
        """The constants, -2 log of the levels, in the additive form that kernels use.

        That of the lower bound on mu_i^d - mu_j^d is keep_arm[i] + keep_objective[d], whatever j;
        that of the upper bound drop_arm[i] + drop_rival[j], whatever d. The sums are not below the
        constants that are proved; single terms may be negative.

        With `sides="one"` an arm's term holds 2 min(log 2, pen) - 2 log 2 as well, pen being that
        of its largest level, because pen is not additive but rises with the level. For unknown
        scales pass (1 - w) delta.

        >>> one, two = (Shares().role_terms(4, 3, 0.1, sides=sides) for sides in ("one", "two"))
        >>> bool((one.keep_arm < two.keep_arm).all())
        True
        >>> round(float(two.keep_arm[0] + two.keep_objective[0]), 6)     # 2 log(12/0.1)
        9.574983
        """
        check_choice(sides, ("one", "two"), name="sides", why="a claim is wrong on one side.")
        keep, drop = self.keep_levels(K, D, delta), self.drop_levels(K, delta, families)
        arms, rivals = self.arm_levels(K, delta), _weights(self.rivals, K)
        keep_arm = -2 * np.log(arms)
        drop_arm = 2 * (np.log(_others(rivals)) + math.log(families)) - 2 * np.log(arms)
        if sides == "one":
            for term, levels in ((keep_arm, keep), (drop_arm, drop)):
                term += 2 * (np.minimum(math.log(2), penalty(levels.max(axis=1))) - math.log(2))
        objectives = _weights(self.objectives, D)
        return RoleTerms(
            *map(_frozen, (keep_arm, -2 * np.log(objectives), drop_arm, -2 * np.log(rivals)))
        )

    def arm_levels(self, K: int, delta: float) -> FloatArray:
        """(K,) a_i, whose exact sum is below delta.

        >>> Shares(arms=[0.75, 0.25]).arm_levels(2, 0.1).round(6)
        array([0.075, 0.025])
        """
        return check_delta(delta) * (1 - LEVEL_ROUNDING) * _weights(self.arms, K)


def informed_shares(counts: Any, mix: float = 0.2) -> Shares:
    r"""Shares from the samples that each arm is expected to need, known before the data.

    .. math:: \text{share}_i = (1 - mix)\, \frac{n_i}{\sum_j n_j} + \frac{mix}{K}

    for arms and for rivals; objectives stay uniform. An arm costs samples in proportion to
    log(1/a_i), so the best a_i is proportional to n_i. `mix` spreads a part evenly and limits what
    a wrong guess can cost (0.3 if in doubt; 1 is uniform). A wrong answer has probability at most
    delta whatever the counts were worth, if nothing that informed them is counted again in the
    trial.

    >>> np.round(informed_shares([300.0, 100.0], mix=0.2).arms, 6)       # 0.8 * 3/4 + 0.2/2
    array([0.7, 0.3])
    >>> informed_shares([300.0, 100.0], mix=1.0).is_uniform
    True
    """
    n = _as_counts(counts)
    if not is_number(mix) or not 0 < mix <= 1:
        raise refusal(is_real(mix))(
            f"mix={shown(mix)} must be above 0 and at most 1: it is the part of delta that is "
            f"shared evenly, so that no arm depends on the guess alone. The default is mix=0.2."
        )
    relative = n / n.max()
    even = float(mix) / len(n)
    shares = tuple((1 - float(mix)) * (relative / math.fsum(relative)) + even)
    return Shares(arms=shares, rivals=shares)


def informed_rho(counts: Any) -> FloatArray:
    r"""(K,) rho for each arm from the samples it is expected to need, known before the data.

    .. math:: \rho_i = \max(n_i/12,\; 5)

    >>> informed_rho([6000.0, 120.0, 24.0])
    array([500.,  10.,   5.])
    """
    return np.maximum(_as_counts(counts) / COUNTS_PER_RHO, LEAST_RHO)


def _as_shares(given: Any, name: str) -> tuple[float, ...]:
    """`given` as a tuple of positive floats that sum to 1."""
    if isinstance(given, dict) or not is_listed(given):
        raise WrongTypeError(
            f"{name}={shown(given)} must be a list of shares, such as [0.5, 0.25, 0.25], or left "
            f"out to share uniformly."
        )
    if hasattr(given, "__len__") and len(given) > MOST_ARMS:
        raise ValueError(
            f"{name} has {len(given):,} shares, and there are at most {MOST_ARMS:,} arms. Leave "
            f"{name} out to share uniformly."
        )
    entries: list[float] = []
    for position, value in enumerate(given):
        if not is_number(value):
            raise refusal(is_real(value))(
                f"{name}[{position}]={shown(value)} must be a finite number above 0: it is a share "
                f"of delta. Leave {name} out to share uniformly."
            )
        share = float(value)
        if share == 0:
            raise ValueError(
                f"{name}[{position}]={share} must be above 0: a share of zero makes "
                f"{_ZERO[name]} infinite for ever. Give it a small share, or leave {name} out."
            )
        if share < 0:
            raise ValueError(
                f"{name}[{position}]={share} must be above 0: it is a share of delta, which is "
                f"a probability. Leave {name} out to share uniformly."
            )
        entries.append(share)
    total = math.fsum(entries)
    if not abs(total - 1) <= SUM_TOLERANCE:
        raise ValueError(
            f"shares of {name} sum to {total:.12g}; they must sum to 1, because together they "
            f"spend delta once. Divide them by their sum."
        )
    return tuple(entries)


def _as_counts(counts: Any) -> FloatArray:
    """`counts` as a (K,) array of positive finite floats, K >= 2."""
    n = as_numbers(counts, name="counts", rule="a list of numbers, one per arm.")
    if n.ndim != 1 or len(n) < 2:
        raise ValueError(
            f"counts has shape {n.shape}; it must be (K,), the samples expected of each of at "
            f"least two arms."
        )
    if not (np.isfinite(n) & (n > 0)).all():
        arm = int(np.flatnonzero(~(np.isfinite(n) & (n > 0)))[0])
        raise ValueError(
            f"counts[{arm}]={n[arm]} must be finite and above 0: it is the samples expected of "
            f"this arm. Draws that can never be settled need infinitely many; cap them at what "
            f"the trial can afford."
        )
    return n


def _equal(entries: tuple[float, ...] | None) -> bool:
    return entries is None or len(set(entries)) == 1


def _weights(entries: tuple[float, ...] | None, length: int) -> FloatArray:
    """Shares divided by their sum. Equal ones give the same bits as none."""
    if entries is None or _equal(entries):
        return np.full(length, 1.0 / length)
    return np.array(entries) / math.fsum(entries)


def _others(weights: FloatArray) -> FloatArray:
    """(K,) sums of the other weights; 1 - u_i would lose its digits where u_i is near 1."""
    values = weights.tolist()
    return np.array([math.fsum(values[:i] + values[i + 1 :]) for i in range(len(values))])


def _check_levels(levels: FloatArray, used: FloatArray, what: str) -> FloatArray:
    """`levels`, if those that are `used` can be told from 0."""
    if used.min() < LEAST_LEVEL:
        raise ValueError(
            f"a level of {used.min():.3g} to {what} is below {LEAST_LEVEL:g}: a share or delta is "
            f"so small that its intervals would never settle anything. Use larger shares."
        )
    return levels


def _frozen(terms: FloatArray) -> FloatArray:
    terms.flags.writeable = False
    return terms


__all__ = ["Shares", "informed_rho", "informed_shares"]
