"""PSI-Unif-Elim of [auer2016], as the paper compares against it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import AtMost, Goal, ParetoSet
from paretoid.rules.base import Rule, Verdicts
from paretoid.theory.checks import BoolArray, FloatArray
from paretoid.theory.radii import LUCB1Like, Radius

if TYPE_CHECKING:
    from paretoid.view import Standing, View


@dataclass(frozen=True)
class UniformElimination(Rule):
    r"""Sample every active arm once per round; drop dominated arms, retire settled ones.

    Algorithm "Adaptation of PSI-Unif-Elim" [kone2023, appendix], pairwise radii. After a round:

    * A loses every i that some j of A dominates for certain, m(i, j) > beta;
    * P1 = arms of A with M(i, j) + eps1 >= beta for all other j of A: near-optimal for certain;
    * P2 = arms of P1 that no i in A \ P1 may still need as dominator, that is without an i with
      M(i, j) + eps1 <= beta. P2 moves from A to P.

    `ParetoSet(eps1)` stops when A is empty and answers P. `AtMost(k, eps1)` stops at the first
    round with abs(P(t-1) | P1(t)) >= k, else with an empty A.
    We differ: the paper then answers all of P(t-1) | P1(t), which may be more than the k arms its
    own definition asks for; here it is exactly k, all of P(t-1) (always fewer than k) and the arms
    of P1(t) with the largest min over A of M(i, j) + eps1 - beta, lowest index on ties.

    The guarantee is the radius's, also with `union="claims"`: a dominated arm has a dominator j in
    S*; if j is never dropped (one upper-bound event for each rival), then keeping the arm needs
    the lower bound of this one pair to fail, whether j is in A or left for P before.

    A round that the budget cuts short is sampled as far as it goes and not tested. Radii that
    widen with the total number of samples (`LUCB1Like`) are refused: this rule tests only arms
    with equal counts and remembers verdicts.

    >>> UniformElimination()
    UniformElimination()
    """

    guarantee = "proved"
    whole_rounds = False

    def check(self, bandit: Bandit, goals: Sequence[Goal], radius: Radius) -> None:
        """The whole set or k arms, and a radius that depends on the two arms alone."""
        refuse_growing(self, radius)
        for goal in goals:
            if goal.limits is not None:
                raise ValueError(
                    f"UniformElimination cannot stop for {goal}: it compares arms with each other, "
                    f"not with limits. Use APE() or RoundRobin()."
                )
            if type(goal) not in (ParetoSet, AtMost):
                raise ValueError(
                    f"UniformElimination cannot stop for {goal}: it retires arms before it is "
                    f"known whom they cover. It serves ParetoSet and AtMost; for covers use "
                    f"APE() or RoundRobin()."
                )

    def choose(self, view: View, rng: np.random.Generator) -> list[int]:
        """All arms still in question."""
        return list(view.standing.active)

    def opening(self, counts: FloatArray, standing: Standing) -> list[int]:
        """All arms still in question, as always."""
        return list(standing.active)

    def judge(self, view: View, goal: Goal) -> BoolArray | None:
        """P once A is empty; k arms of P(t-1) and P1(t) where these are enough."""
        A, P1, P2 = eliminate(view.M_upper, view.M_lower, view.standing.active)
        before = view.standing.accepted
        chosen = [*before, *P2] if set(A) == set(P2) else None
        if isinstance(goal, AtMost) and len(before) + len(P1) >= goal.k:
            chosen = [*before, *most_certain(view.M_lower, A, P1)[: goal.k - len(before)]]
        return None if chosen is None else np.isin(np.arange(view.K), chosen)

    def settle(self, view: View) -> Verdicts:
        """P2 is accepted; what A loses is dropped, with the arm that shows it most clearly."""
        active, upper = view.standing.active, view.M_upper
        A, _, P2 = eliminate(upper, view.M_lower, active)
        dropped = {
            i: min((j for j in active if j != i), key=lambda j: float(upper[i, j]))
            for i in active
            if i not in A
        }
        return P2, dropped


def eliminate(
    upper: FloatArray, lower: FloatArray, active: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """(A, P1, P2) of one test, see `UniformElimination`.

    upper  (K, K) M+(i, j): i is dropped for a j with a negative one
    lower  (K, K) max_d (L + eps1)

    >>> low = np.array([[np.inf, 1.0], [-3.0, np.inf]])
    >>> eliminate(-low.T, low, [0, 1])    # arm 0 is above arm 1 for certain
    ([0], [0], [0])
    """
    A = [i for i in active if not any(upper[i, j] < 0 for j in active if j != i)]
    P1 = [i for i in A if all(lower[i, j] >= 0 for j in A if j != i)]
    rest = [i for i in A if i not in P1]
    return A, P1, [j for j in P1 if not any(lower[i, j] <= 0 for i in rest)]


def most_certain(lower: FloatArray, A: Sequence[int], P1: Sequence[int]) -> list[int]:
    """P1, the largest min over A of `lower` first."""
    h = {i: min((lower[i, j] for j in A if j != i), default=math.inf) for i in P1}
    return sorted(P1, key=lambda i: (-h[i], i))


def refuse_growing(rule: Rule, radius: Radius) -> None:
    """Refuse the radius that widens while an arm rests."""
    if isinstance(radius, LUCB1Like):
        raise ValueError(
            f"radius={radius!r} widens with the samples of all arms, and {type(rule).__name__} "
            f"relies on radii of the two arms' samples alone. Use Mixture(), UnknownScale() or "
            f"KaufmannKoolen()."
        )
