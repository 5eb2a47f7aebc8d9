"""What a goal is: what a correct answer is, when a run may stop, what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from paretoid.theory.checks import BoolArray, FloatArray, as_epsilon, as_numbers, refusal
from paretoid.theory.gaps import combined_gaps
from paretoid.theory.member import Member, arguments
from paretoid.theory.radii import MixtureRadius, Radius
from paretoid.units import PLAIN, Units

if TYPE_CHECKING:
    from paretoid.view import View


class Goal(Member):
    """What a run is after. Use one of the members, or write your own.

    A goal says which answers are right, and when the intervals of one moment suffice to give one.
    `eps1`, a slack in the objectives' own units, is common to all goals and alone steers the
    sampling. Your own:

    >>> class BestOfFirst(Goal):
    ...     '''The arm that is best in the first objective.'''
    ...     guarantee = "proved"    # the drop level counts one claim for each pair of arms
    ...     def is_correct(self, answer, means):
    ...         return bool(answer.sum() == 1 and means[answer, 0] == means[:, 0].max())
    ...     def decide(self, view):
    ...         ahead = view.upper[:, :, 0] < 0                  # i is certainly below j
    ...         beaten = ahead.any(axis=1)
    ...         return ~beaten if (~beaten).sum() == 1 else None
    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    >>> runs = pt.simulate(bandit, BestOfFirst(), replications=3, seed=1)
    >>> runs.answer.values.sum(axis=(0, 1)), runs.attrs["guarantee"]
    (array([3, 0, 0]), 'proved')

    Of ours:

    >>> means = np.array([[2.0, 0.0], [0.0, 2.0], [1.5, -0.5]])
    >>> pt.ParetoSet().is_correct([True, True, False], means)
    True
    >>> pt.ParetoSet().gaps(means, np.ones(2)), pt.ParetoSet(eps1=1.0).gaps(means, np.ones(2))
    (array([0.5, 2. , 0.5]), array([1., 2., 1.]))
    >>> pt.AtMost(k=1).words()
    'one Pareto-optimal arm'
    >>> lens = pt.view.Lens(bandit, pt.Mixture(), 0.1, eps1=0.0)
    >>> many = np.full((3, 2), 1000.0)    # as if each arm had been sampled so often
    >>> pt.ParetoSet().decide(lens.view(pt.view.Samples(many, bandit.oriented, many), 3000))
    array([ True,  True, False])
    >>> view = lens.view(pt.view.Samples(many, bandit.oriented, many), 3000)
    >>> pt.ParetoSet().certain(view), pt.ParetoSet().contest(view), pt.ParetoSet().steers
    ((array([ True,  True, False]), {2: 0}), None, False)
    >>> pt.AtMost(k=4).check(K=3, D=2)    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: k=4 ...
    """

    eps1: Any = 0.0
    #: which intervals a proof needs: those of "claims" that can be wrong, or all "pairs" together
    union: ClassVar[str] = "claims"
    #: limits that arms must meet, by objective; None: none
    limits: Any = None

    def is_correct(self, answer: Any, means: Any) -> bool:
        """True: `answer`, a (K,) mask, is right for these means, where larger is better."""
        raise NotImplementedError(
            f"{type(self).__name__} must define is_correct(answer, means): without it nobody knows "
            f"what is wrong."
        )

    def decide(self, view: View) -> BoolArray | None:
        """The (K,) mask that answers the goal, or None while the view does not allow to stop."""
        raise NotImplementedError(
            f"{type(self).__name__} must define decide(view): without it nothing could stop a run."
        )

    def contest(self, view: View) -> tuple[int, int] | None:
        """The two arms that a rule should compare now, in place of b_t and c_t; None: those.

        A goal that names them (`steers`) is given a stream of samples of its own.
        """
        return None

    def certain(self, view: View) -> tuple[BoolArray, dict[int, int]]:
        """(arms certainly in the answer, arms certainly out of it and for whom), at this moment.

        An arm that is out by itself, beyond a limit, is out for itself.
        """
        shown = view.M_upper.argmin(axis=1)
        return view.optimal, {int(i): int(shown[i]) for i in np.flatnonzero(view.dominated)}

    @property
    def steers(self) -> bool:
        """True: the goal itself names the arms to compare."""
        return type(self).contest is not Goal.contest

    def bind(self, objectives: Sequence[str], sign: Any) -> Goal:
        """The goal for these objectives; `sign` is -1 where less is better.

        Most goals do not depend on names; those with limits find the columns of their limits.

        >>> from paretoid import ParetoSet, at_most
        >>> goal = ParetoSet(limits={"tox": at_most(0.3)}).bind(["effect", "tox"], [1, -1])
        >>> goal.is_correct([True, False], [[1.0, -0.1], [2.0, -0.5]])    # the second is too toxic
        True
        """
        return self

    def proved_by(self, radius: Radius, K: int, D: int, delta: float) -> bool:
        """True: under this radius, if it is proved, the intervals that the goal relies on hold.

        >>> from paretoid import Mixture, ParetoSet, PracticalSet
        >>> [goal.proved_by(Mixture(), 5, 2, 0.1) for goal in (ParetoSet(), PracticalSet(0.5))]
        [True, False]
        >>> PracticalSet(0.5).proved_by(Mixture(union="pairs"), 5, 2, 0.1)
        True
        """
        if self.limits is not None and not isinstance(radius, MixtureRadius):
            return False
        return self.union == "claims" or radius.counts_pairs(K, D, delta)

    def check(self, K: int, D: int) -> None:
        """Refuse a goal that does not fit K arms and D objectives."""
        as_epsilon(self.eps1, D)

    def gaps(self, means: FloatArray, divisor: FloatArray) -> FloatArray:
        """(K,) the gap APE must resolve at each arm, in units of `divisor`; 0: it may never end.

        By default that of the Pareto set: once every arm is settled, most goals can be answered.
        """
        return combined_gaps(means / divisor, scaled(self.eps1, divisor))

    def words(self, units: Units = PLAIN) -> str:
        """What is asked for, in words; by default the first line of the class's docstring.

        units   how slacks and limits are said: as ratios, or with the units of endpoints
        """
        first = (type(self).__doc__ or "").strip().split("\n")[0].strip().rstrip(".")
        return first or str(self)

    def label(self, units: Units | None = None) -> str:
        """What is asked for, as briefly as a legend needs it; with its margin if `units` say how.

        >>> from paretoid import AtMost, ParetoSet
        >>> from paretoid.units import Units
        >>> log = Units(("IgG",), logs=("IgG",))
        >>> AtMost(2).label(), ParetoSet(float(np.log(1.5))).label(log)
        ('any 2 arms', 'all optimal arms (margin 1.5-fold)')
        """
        return str(self)

    def verdict_words(self, units: Units = PLAIN) -> tuple[str, str]:
        """What an arm is that `certain` calls in, and one that it calls out though within limits.

        >>> from paretoid import ParetoSet, PracticalSet
        >>> ParetoSet().verdict_words(), ParetoSet(0.5).verdict_words()
        (('optimal', 'dominated'), ('within 0.5 of optimal', 'dominated'))
        >>> PracticalSet(0.5).verdict_words()
        ('not practically dominated', 'practically dominated')
        """
        return self._near(units), "dominated"

    def compared(self, objectives: Sequence[str]) -> list[str]:
        """The objectives in which one arm can be better than another: those without a mere limit.

        >>> from paretoid import ParetoSet, at_least, at_most
        >>> limits = {"toxicity": at_most(0.3), "response": at_least(0.5, compared=True)}
        >>> ParetoSet(limits=limits).compared(["response", "toxicity", "IgG"])
        ['response', 'IgG']
        """
        limits = self.limits or {}
        return [name for name in objectives if name not in limits or limits[name].compared]

    def _near(self, units: Units) -> str:
        """What an arm is that the goal may have in its answer."""
        margin = units.margin(self.eps1, self.compared(units.endpoints))
        return "optimal" if margin == "0" else f"within {margin} of optimal"

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={short(value)}" for name, value in said(self).items())
        return f"{type(self).__name__}({inside})"

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in said(self).items())
        return f"{type(self).__name__}({inside})"


def said(goal: Goal) -> dict[str, Any]:
    """The arguments of a goal that are worth saying: all, but for limits that it has not.

    >>> from paretoid import ParetoSet
    >>> said(ParetoSet(0.5))
    {'eps1': 0.5}
    """
    given = arguments(goal)
    return {name: value for name, value in given.items() if (name, value) != ("limits", None)}


def with_union(radius: Radius, goals: Sequence[Goal]) -> Radius:
    """A default radius, counting all pairs if one of the goals relies on them.

    >>> from paretoid import Mixture, ParetoSet, PracticalSet
    >>> with_union(Mixture(), [PracticalSet(0.5)]), with_union(Mixture(), [ParetoSet()]).union
    (Mixture(rho=30.0, union='pairs', sides='two'), 'claims')
    """
    if not isinstance(radius, MixtureRadius) or all(goal.union == "claims" for goal in goals):
        return radius
    changed: Radius = replace(radius, union="pairs")  # type: ignore[type-var]
    return changed


def frozen(eps: Any, name: str) -> float | tuple[float, ...]:
    """eps as a float or a tuple of floats: hashable, checked before the bandit is known."""
    array = as_numbers(eps, name=name, rule="a number, or one for each objective.")
    values = as_epsilon(eps, array.size if array.ndim == 1 else 1, name=name)
    return tuple(float(v) for v in values) if array.ndim == 1 else float(values[0])


def short(value: Any) -> str:
    """A number as briefly as can be without loss: 0 for 0.0, 1e-06 for 0.000001.

    >>> short(0.0), short((0.5, 1 / 3)), short("a")
    ('0', '(0.5, 0.3333333333333333)', "'a'")
    """
    if isinstance(value, float):
        brief = f"{value:g}"
        return brief if float(brief) == value else repr(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(map(short, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def scaled(eps: Any, divisor: FloatArray) -> FloatArray:
    """(D,) a slack in units of `divisor`."""
    return as_epsilon(eps, len(divisor)) / divisor


def as_answer(answer: Any, K: int) -> BoolArray:
    """`answer` as a (K,) mask; anything else is refused."""
    mask = np.asarray(answer)
    if mask.shape != (K,) or mask.dtype != np.bool_:
        raise refusal(mask.dtype == np.bool_)(
            f"answer has shape {mask.shape} and type {mask.dtype}; it must be a mask of {K} "
            f"booleans, True for the arms returned."
        )
    return mask
