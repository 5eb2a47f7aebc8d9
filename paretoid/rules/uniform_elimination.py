"""PSI-Unif-Elim of [auer2016], as the paper compares against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paretoid.bandits import Bandit
from paretoid.engine.program import Program
from paretoid.goals import Cover, Goal
from paretoid.rules.base import Advance, Rule
from paretoid.theory.radii import Radius, SingleArm


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
    widen with the total number of samples (`SingleArm`) are refused: this rule tests only arms
    with equal counts and remembers verdicts.

    >>> UniformElimination()
    UniformElimination()
    """

    @property
    def in_rounds(self) -> bool:
        """Yes."""
        return True

    def check(self, bandit: Bandit, goals: Sequence[Goal], radius: Radius) -> None:
        """No covers, and a radius that depends on the two arms alone."""
        refuse_single_arm(self, radius)
        for goal in goals:
            if isinstance(goal, Cover):
                raise ValueError(
                    f"UniformElimination cannot stop for {goal}: it retires arms before it is "
                    f"known whom they cover. It serves ParetoSet and AtMost; for covers use "
                    f"APE() or RoundRobin()."
                )

    def kernel(self, program: Program) -> Advance:
        """See `Rule.kernel`."""
        from paretoid.engine import baselines

        return baselines.uniform_elimination


def refuse_single_arm(rule: Rule, radius: Radius) -> None:
    """Refuse the radius that widens while an arm rests."""
    if isinstance(radius, SingleArm):
        raise ValueError(
            f"radius={radius!r} widens with the samples of all arms, and {type(rule).__name__} "
            f"relies on radii of the two arms' samples alone. Use Mixture(), UnknownScale() or "
            f"KaufmannKoolen()."
        )
