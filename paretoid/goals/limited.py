"""Goals whose arms must meet limits: what the intervals say, and which arms to compare."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.goals.base import Goal, scaled
from paretoid.theory.checks import BoolArray, FloatArray
from paretoid.theory.gaps import combined_gaps
from paretoid.theory.limits import Bounds, Limits
from paretoid.units import PLAIN, Units

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What the intervals of one moment say of arms that must meet limits.

    feasible    (K,) certainly within the limits, up to the slack
    infeasible  (K,) certainly beyond one of them, up to the slack; within it both may be said
    kept        (K,) feasible, and no arm that is not infeasible dominates it by more than eps1
    dropped     (K,) infeasible, or dominated by a feasible arm
    h           (K,) min over such arms and its own limits of the lower index
    """

    feasible: BoolArray
    infeasible: BoolArray
    kept: BoolArray
    dropped: BoolArray
    h: FloatArray
    M_lower: FloatArray
    M_upper: FloatArray
    own_lower: FloatArray
    own_upper: FloatArray


def limits_in_words(limits: Limits | None, units: Units = PLAIN) -> str:
    """Limits in words, to follow what is asked for; nothing if there are none.

    >>> from paretoid import at_most
    >>> limits_in_words(Limits({"toxicity": at_most(0.3)})), limits_in_words(None)
    (', of those with toxicity at most 0.3 (within that it does not count)', '')
    """
    listed = [
        f"{name} {units.limit(name, limit)}"
        + ("" if limit.compared else " (within that it does not count)")
        for name, limit in (limits or {}).items()
    ]
    return f", of those with {', '.join(listed)}" if listed else ""


class LimitedGoal(Goal):
    """A goal that may have limits; what `ParetoSet`, `AtMost` and `Cover` share.

    >>> from paretoid import ParetoSet, at_most
    >>> goal = ParetoSet(limits={"tox": at_most(0.3)})
    >>> goal.steers, ParetoSet().steers
    (True, False)
    >>> goal.is_correct([True, False], [[1.0, -0.1], [2.0, -0.5]])    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: ParetoSet(eps1=0, limits={'tox': Limit(most=0.3)}) has limits by name, ...

    In a run they are bound to the columns of their objectives, and the view has bounds on single
    arms:

    >>> from paretoid import GaussianBandit, Mixture, view
    >>> bandit = GaussianBandit([[1.0, 0.1], [2.0, 0.5]], objectives=["effect", "tox"])
    >>> goal = goal.bind(bandit.objectives, bandit.sign)
    >>> goal.bounds.feasible(bandit.oriented)
    array([ True, False])
    >>> many = np.full((2, 2), 10_000.0)
    >>> lens = view.Lens(bandit, Mixture(), 0.1, eps1=0.0, limits=1)
    >>> moment = lens.view(view.Samples(many, bandit.oriented, many), 20_000)
    >>> goal.verdicts(moment).infeasible, goal.certain(moment), goal.contest(moment)
    (array([False,  True]), (array([ True, False]), {1: 1}), (0, 0))
    """

    def _extras(self, units: Units | None) -> str:
        """What a label adds: the limits, and the margin where units say how."""
        extras = [
            f"{name} {(units or PLAIN).limit(name, limit)}"
            for name, limit in (self.limits or {}).items()
        ]
        if units is not None and self._near(units) != "optimal":
            extras.append(f"margin {units.margin(self.eps1, self.compared(units.endpoints))}")
        return f" ({'; '.join(extras)})" if extras else ""

    def _freeze_limits(self) -> None:
        if self.limits is not None:
            object.__setattr__(self, "limits", Limits(self.limits))

    @property
    def steers(self) -> bool:
        """True with limits: an arm's own limit is a rival too."""
        return self.limits is not None

    def bind(self, objectives: Sequence[str], sign: Any) -> Goal:
        """The goal with its limits on the columns of these objectives."""
        if self.limits is None:
            return self
        goal = copy.copy(self)
        object.__setattr__(goal, "_bounds", self.limits.bound(objectives, sign))
        return goal

    @property
    def bounds(self) -> Bounds:
        """The limits by column; refused before they have met their objectives."""
        bounds: Bounds | None = self.__dict__.get("_bounds")
        if bounds is None:
            raise ValueError(
                f"{self} has limits by name, and which columns these are is not known yet. Use "
                f"goal.bind(bandit.objectives, bandit.sign)."
            )
        return bounds

    def verdicts(self, view: View) -> Verdicts:
        """What the intervals say; everything in the units of the view."""
        bounds = self.bounds
        assert view.alone is not None, "a view for limits has bounds on single arms"
        inverse = 1 / view.unit[bounds.column]
        lead, slack = bounds.lead(view.means) * inverse, bounds.slack * inverse
        low, high = (width[:, bounds.column] for width in view.alone)
        own_lower = (lead - low + slack).min(axis=1)
        own_upper = (lead + high - slack).min(axis=1)
        feasible = own_lower > 0
        infeasible = own_upper < 0
        x, d = view.difference[:, :, bounds.compared], bounds.compared
        M_lower = (x + view.eps1[d] - view.keep[:, :, d]).max(axis=2)
        M_upper = (x + view.drop[:, :, d]).max(axis=2)
        for table in (M_lower, M_upper):
            np.fill_diagonal(table, np.inf)
        against = np.where(infeasible[None, :], np.inf, M_lower)
        h = np.minimum(against.min(axis=1), own_lower)
        beaten = ((M_upper < 0) & feasible[None, :]).any(axis=1)
        return Verdicts(
            feasible, infeasible, h > 0, np.asarray(infeasible | beaten), h,
            M_lower, M_upper, own_lower, own_upper,
        )  # fmt: skip

    def certain(self, view: View) -> tuple[BoolArray, dict[int, int]]:
        """Arms kept, and arms dropped: for a feasible arm, or for themselves beyond a limit."""
        if self.limits is None:
            return super().certain(view)
        said = self.verdicts(view)
        shown = np.where(said.feasible[None, :], said.M_upper, np.inf).argmin(axis=1)
        shown = np.where(said.infeasible, np.arange(view.K), shown)
        return said.kept, {int(i): int(shown[i]) for i in np.flatnonzero(said.dropped)}

    def contest(self, view: View) -> tuple[int, int] | None:
        """b_t and c_t, where an arm's own limit is one of its rivals: then it is named twice.

        b_t is the arm neither kept nor dropped that is likeliest to be in the answer; c_t what is
        likeliest to exclude it. If c_t dominates it already, its feasibility is the question. If
        outcomes still awaited would settle every arm, it is the least certain one that is kept.
        """
        if self.limits is None:
            return None
        said = self.verdicts(view)
        unsettled = ~said.kept & ~said.dropped
        if not unsettled.any():
            least = int(np.where(said.kept, said.h, np.inf).argmin())
            return least, least
        rivals = ~said.infeasible
        upper = np.where(rivals[None, :], said.M_upper, np.inf).min(axis=1)
        b = int(np.where(unsettled, np.minimum(upper, said.own_upper), -np.inf).argmax())
        lower = np.where(rivals, said.M_lower[b], np.inf)
        c = int(lower.argmin())
        if said.own_lower[b] <= lower[c]:
            return b, b
        return (c, c) if said.M_upper[b, c] < 0 else (b, c)

    def gaps(self, means: FloatArray, divisor: FloatArray) -> FloatArray:
        """(K,) gaps; with limits that of an infeasible arm is its distance to the limit.

        That of a feasible one is the gap among feasible arms, if it is smaller: the smaller one of
        those with all arms within the slack and with none of them.
        """
        if self.limits is None:
            return self._gaps(means / divisor, scaled(self.eps1, divisor))
        bounds = self.bounds
        unit = divisor[bounds.column]
        lead, slack = bounds.lead(means) / unit, bounds.slack / unit
        own = np.maximum((lead + slack).min(axis=1), (slack - lead).max(axis=1))
        own = np.maximum(own, 2 * float(slack.min()))
        d = bounds.compared
        for may in (False, True):
            feasible = bounds.feasible(means, may=may)
            if feasible.sum() < 2:
                continue
            among = self._gaps(
                means[np.ix_(feasible, d)] / divisor[d], scaled(self.eps1, divisor)[d]
            )
            own[feasible] = np.minimum(own[feasible], among)
        return np.asarray(own)

    def _gaps(self, means: FloatArray, eps1: FloatArray) -> FloatArray:
        """The gaps without limits."""
        return combined_gaps(means, eps1)
