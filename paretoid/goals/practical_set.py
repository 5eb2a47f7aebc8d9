"""The arms that are not practically dominated: the margin counts in every objective at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from paretoid.goals.base import Goal, as_answer, frozen
from paretoid.theory.checks import BoolArray, FloatArray, as_epsilon, as_means
from paretoid.theory.practical import (
    chains,
    kept,
    practical_domination,
    practical_gaps,
    thresholds,
)
from paretoid.units import PLAIN, Units

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True)
class PracticalSet(Goal):
    """All arms but the practically dominated ones, told up to a slack.

    Arm i is practically dominated by j if it is nowhere better than j by more than the margin and
    somewhere worse by more than it. It is left out if, besides, no chain of such dominations leads
    from j back to i: arms on a circle are kept, so that the answer is never empty.

    margin   a scalar or one number per objective, in the objectives' own units
    slack    within this much of the margin either verdict is right; default: half the margin. With
             a slack of 0 arms exactly at the margin can never be told.

    The margin of `ParetoSet` lets an arm in that is close in one objective; this one does not:

    >>> means = np.array([[5.0, 0.4], [0.0, 0.0]])    # far behind in one, close in the other
    >>> from paretoid.goals import ParetoSet
    >>> everybody = np.array([True, True])
    >>> ParetoSet(eps1=0.5).is_correct(everybody, means)
    True
    >>> PracticalSet(margin=0.5, slack=0.1).is_correct(everybody, means)
    False

    What intervals tell of pairs: here that arm 1 is practically dominated by arm 0.

    >>> from paretoid import GaussianBandit, Mixture, view
    >>> goal, bandit, many = PracticalSet(0.5, 0.1), GaussianBandit(means), np.full((2, 2), 1e5)
    >>> lens = view.Lens(bandit, Mixture(union="pairs"), 0.1, eps1=goal.eps1)
    >>> moment = lens.view(view.Samples(many, means, many), 200_000)
    >>> bool(goal.told(moment)[0][1, 0]), goal.certain(moment), goal.contest(moment), goal.steers
    (True, (array([ True, False]), {1: 0}), None, True)

    Proved with radii under which all intervals hold together (PROOFS.md, Section 11), such as
    `Mixture(union="pairs")`, which is the default for this goal; with others it is heuristic.
    """

    margin: Any
    slack: Any = None

    guarantee = "proved"
    union: ClassVar[str] = "pairs"

    def __post_init__(self) -> None:
        object.__setattr__(self, "margin", frozen(self.margin, "margin"))
        half = np.asarray(self.margin) / 2
        slack = frozen(half if self.slack is None else self.slack, "slack")
        object.__setattr__(self, "slack", slack)
        sizes = {np.size(value) for value in (self.margin, slack) if np.ndim(value)}
        if len(sizes) < 2:
            thresholds(self.margin, slack, max(sizes, default=1))

    @property
    def eps1(self) -> Any:
        """The margin, by the name that it has in other goals."""
        return self.margin

    def check(self, K: int, D: int) -> None:
        """Margin and slack must fit D objectives."""
        thresholds(self.margin, self.slack, D)

    def is_correct(self, answer: Any, means: Any) -> bool:
        """Are all arms in it that must be kept, and none that must be left out?"""
        mu = as_means(means)
        mask = as_answer(answer, len(mu))
        may = practical_domination(mu, self.margin, self.slack)
        must = practical_domination(mu, self.margin, self.slack, must=True)
        return bool(mask[kept(may, must)].all() and kept(must, may)[mask].all())

    def told(self, view: View) -> tuple[BoolArray, BoolArray]:
        """(yes, no), (K, K) each: i is, or is not, practically dominated by j, up to the slack.

        Where both may be said it is yes, so that what is said fits together.
        """
        m, s = thresholds(self.margin, self.slack, len(view.objectives))
        lower, upper = view.lower, view.upper
        itself = np.eye(view.K, dtype=bool)
        yes = (upper <= m + s).all(axis=2) & (upper < s - m).any(axis=2) & ~itself
        no = (lower > m - s).any(axis=2) | (lower >= -m - s).all(axis=2) | itself
        return np.asarray(yes), np.asarray(no & ~yes)

    def decide(self, view: View) -> BoolArray | None:
        """The arms kept, once they are the same whatever is not yet told."""
        yes, no = self.told(view)
        sure = kept(~no, yes)
        return sure if bool((sure == kept(yes, ~no)).all()) else None

    def certain(self, view: View) -> tuple[BoolArray, dict[int, int]]:
        """Arms kept, and arms left out, whatever is not yet told."""
        yes, no = self.told(view)
        shown = (yes & ~chains(~no).T).argmax(axis=1)
        out = np.flatnonzero(~kept(yes, ~no))
        return kept(~no, yes), {int(i): int(shown[i]) for i in out}

    def contest(self, view: View) -> tuple[int, int] | None:
        """Of the arms not settled, each with its likeliest dominator, the pair least known.

        If every domination of such an arm is told, a chain is not: then any pair not told.
        """
        yes, no = self.told(view)
        open_arms = kept(~no, yes) != kept(yes, ~no)
        unknown = ~yes & ~no
        direct = unknown & open_arms[:, None] & ~chains(yes).T
        candidates = direct if direct.any() else unknown
        if not candidates.any():
            return None
        m, s = view.in_units(self.margin), view.in_units(self.slack)
        x = view.difference
        likely = np.minimum((m + s - x).min(axis=2), (s - m - x).max(axis=2))
        rival = np.where(candidates, likely, -np.inf).argmax(axis=1)
        arms = np.arange(view.K)
        width = (view.keep + view.drop).max(axis=2)[arms, rival]
        i = int(np.where(candidates.any(axis=1), width, -np.inf).argmax())
        return i, int(rival[i])

    def gaps(self, means: FloatArray, divisor: FloatArray) -> FloatArray:
        """The widths, in units of `divisor`, below which every pair of an arm is told."""
        D = len(divisor)
        margin = as_epsilon(self.margin, D) / divisor
        return practical_gaps(means / divisor, margin, as_epsilon(self.slack, D) / divisor)

    def words(self, units: Units = PLAIN) -> str:
        """What is asked for.

        >>> PracticalSet(0.5, 0.1).words()
        'all arms that are not practically dominated, by 0.5 (told up to 0.1)'
        """
        up_to = f" (told up to {units.margin(self.slack)})" if np.any(self.slack) else ""
        return f"all arms that are not practically dominated, by {units.margin(self.margin)}{up_to}"

    def label(self, units: Units | None = None) -> str:
        """Arms that are not practically dominated, and the margin."""
        by = "" if units is None else f" (margin {units.margin(self.margin)})"
        return f"all arms not practically dominated{by}"

    def verdict_words(self, units: Units = PLAIN) -> tuple[str, str]:
        """What is certain of arms is about practical domination."""
        return "not practically dominated", "practically dominated"
