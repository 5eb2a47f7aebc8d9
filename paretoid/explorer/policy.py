"""How each rule runs a live trial: the arms of its next round, and what it concludes from data.

A *round* is what a rule samples between two tests: one arm (`APE`, `UGapEc`), two (`pull="both"`,
`LUCB`), all of them (`RoundRobin`), all that are still active (`UniformElimination`). Asked one at
a time and told at once, a trial goes through the rounds of the engine and is tested where it is.

Otherwise rounds and tests part. Rounds of several arms go on from batch to batch, and a batch may
hold many. The test comes when some objective's beginning (`paretoid.explorer.state`) has passed
the end of a batch in which a round was completed; rounds of one arm are tested whenever outcomes
come. A subject who has left before any outcome, or was overridden, leaves its arm due again in
the open round, so that lost outcomes alone change nothing; but the arms of a pair are let go once
the next pair is begun.

Every test is proved whenever it is held and whatever the counts are: it rests on intervals that
hold at all times together (theory/PROOFS.md, Sections 4 and 5). What `UniformElimination` has
concluded stays, an arm dropped is never asked for again; a correction may have taken away what it
rested on, so then all arms are judged anew, on the corrected outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from paretoid.explorer.inference import Inference, Picture
from paretoid.goals import AtMost
from paretoid.loop_baselines import eliminate, lucb_pair, most_certain, ugapec_pair
from paretoid.rules import APE, LUCB, LUCBpp, RoundRobin, Rule, UGapEc, UniformElimination
from paretoid.theory.checks import BoolArray, FloatArray


@dataclass
class Standing:
    """What a rule has concluded about arms for good; all but elimination leave it alone.

    active    arms still in question, in order
    accepted  arms that are certainly optimal, up to eps1
    dropped   arms that are certainly dominated, each with an arm that showed it
    """

    active: list[int]
    accepted: list[int] = field(default_factory=list)
    dropped: dict[int, int] = field(default_factory=dict)

    def after(self, found: Conclusions) -> Standing:
        """The standing with new conclusions."""
        gone = {*found.accepted, *found.dropped}
        return Standing(
            [i for i in self.active if i not in gone],
            [*self.accepted, *found.accepted],
            {**self.dropped, **found.dropped},
        )


@dataclass(frozen=True)
class Conclusions:
    """What one test finds: goals (by position) that are answered, arms that are settled."""

    answers: dict[int, BoolArray]
    accepted: list[int] = field(default_factory=list)
    dropped: dict[int, int] = field(default_factory=dict)


class Policy:
    """APE, and what the other rules share with it."""

    def __init__(self, inference: Inference) -> None:
        self.inference, self.design = inference, inference.design

    def round(self, view: Picture | None, counts: FloatArray, standing: Standing) -> list[int]:
        """The arms to sample before the next test.

        view    the picture with everything awaited counted as if observed; None while some
                interval is infinite: then the arm with fewest outcomes is next
        counts  (K, D) outcomes, those awaited included

        The count of an arm is that of its scarcest objective; ties go to the lowest index.
        """
        if view is None:
            return [int(np.argmin(counts.min(axis=1)))]
        return self.pair(view.b, view.c, counts)

    def pair(self, first: int, second: int, counts: FloatArray) -> list[int]:
        """Both arms, or the one with fewer outcomes, `first` if equal."""
        if self.design.rule.both:
            return [first, second]
        return [first if counts[first].min() <= counts[second].min() else second]

    def conclude(
        self, view: Picture, divisor: FloatArray, standing: Standing, goals: Iterable[int]
    ) -> Conclusions:
        """The stopping rules of `goals`, by their positions."""
        found = {}
        for g in goals:
            goal = self.design.goals[g]
            eps2 = self.inference.scaled_eps(getattr(goal, "eps2", 0.0), divisor)
            mask = view.answer(goal, eps2)
            if mask is not None:
                found[g] = mask
        return Conclusions(found)


class InTurn(Policy):
    """RoundRobin: every arm in each round."""

    def round(self, view: Picture | None, counts: FloatArray, standing: Standing) -> list[int]:
        """All arms still in question, which here are all."""
        return list(standing.active)


class Eliminating(InTurn):
    """UniformElimination: every active arm in each round; arms settled in one test leave."""

    def conclude(
        self, view: Picture, divisor: FloatArray, standing: Standing, goals: Iterable[int]
    ) -> Conclusions:
        """One test of `paretoid.loop_baselines.uniform_elimination`."""
        lower, upper, active = view.M_lower, view.M_upper, standing.active
        A, P1, P2 = eliminate(upper, lower, active)
        accepted = [*standing.accepted, *P2]
        over = set(A) == set(P2)
        found = {}
        for g in goals:
            goal, chosen = self.design.goals[g], accepted if over else None
            before = len(standing.accepted)
            if isinstance(goal, AtMost) and before + len(P1) >= goal.k:
                ranked = most_certain(lower, A, P1)
                chosen = [*standing.accepted, *ranked[: goal.k - before]]
            if chosen is not None:
                found[g] = self.mask(chosen)
        dropped = {
            i: min((j for j in active if j != i), key=lambda j: float(upper[i, j]))
            for i in active
            if i not in A
        }
        return Conclusions(found, P2, dropped)

    def mask(self, arms: list[int]) -> BoolArray:
        """(K,) booleans."""
        return np.isin(np.arange(self.design.K), arms)


class BestArm(Policy):
    """LUCB, LUCB++ and UGapEc: an arm and its rival by bounds on single arms."""

    def __init__(self, inference: Inference, pick: Callable[..., tuple[int, int, float]]) -> None:
        super().__init__(inference)
        self.pick = pick

    def round(self, view: Picture | None, counts: FloatArray, standing: Standing) -> list[int]:
        """The pair, or the less sampled of it."""
        if view is None or view.single is None:
            return super().round(None, counts, standing)
        best, rival, _ = self.pick(*view.single)
        return self.pair(best, rival, counts)

    def conclude(
        self, view: Picture, divisor: FloatArray, standing: Standing, goals: Iterable[int]
    ) -> Conclusions:
        """Every goal asks for the best arm; it is known once the pair is apart."""
        assert view.single is not None
        best, _, gap = self.pick(*view.single)
        eps1 = self.inference.scaled_eps(self.design.goals[0].eps1, divisor)
        mask = np.arange(self.design.K) == best
        return Conclusions(dict.fromkeys(goals, mask) if gap < eps1[0] else {})


#: what a rule needs to run live; a rule that is not here is refused by `Design`
POLICIES: dict[type[Rule], Callable[[Inference], Policy]] = {
    APE: Policy,
    RoundRobin: InTurn,
    UniformElimination: Eliminating,
    LUCB: lambda inference: BestArm(inference, lucb_pair),
    LUCBpp: lambda inference: BestArm(inference, lucb_pair),
    UGapEc: lambda inference: BestArm(inference, ugapec_pair),
}


def policy_of(inference: Inference) -> Policy:
    """How the rule of a design runs.

    >>> from paretoid.explorer.design import Design
    >>> from paretoid.rules import RoundRobin
    >>> policy_of(Inference(Design(["A", "B"], ["x"], rule=RoundRobin()))).design.rule
    RoundRobin()
    """
    return POLICIES[type(inference.design.rule)](inference)
