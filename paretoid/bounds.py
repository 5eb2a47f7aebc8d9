"""Every bound of the theory that speaks about one bandit, one goal and one method."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoid import text, theory
from paretoid.bandits import Bandit, BernoulliBandit, GaussianBandit
from paretoid.goals import AtMost, Goal, ParetoSet
from paretoid.notebook import Shown
from paretoid.registry import GOALS
from paretoid.rules import APE
from paretoid.theory.bound import Bound
from paretoid.theory.characteristic_time import CharacteristicTime
from paretoid.theory.checks import FloatArray, WrongTypeError, check_delta, shown
from paretoid.theory.radii import KaufmannKoolen, LUCB1Like, Mixture, Radius
from paretoid.theory.sharp_bound import check_invertible

NAMES = ("sharp_bound", "theorem_1", "expected_lucb1", "characteristic", "lower_bound")


@dataclass(frozen=True)
class Problem:
    """One instance, as bounds need it: (K, D) tables, means oriented so that larger is better.

    scale       what a radius is told
    noise       the standard deviations of the outcomes
    outcomes    "gaussian" or "bernoulli", independent between objectives; "" if not known to be
                either: then no lower bound says anything
    """

    means: FloatArray
    scale: FloatArray
    noise: FloatArray
    outcomes: str

    @classmethod
    def of(cls, bandit: Bandit) -> Problem:
        """The problem of a bandit.

        >>> Problem.of(GaussianBandit([[0.0], [2.0]], minimize=["objective 0"])).means.ravel()
        array([ 0., -2.])
        """
        noise = getattr(bandit, "noise", bandit.scale)  # a planned trial believes another scale
        gaussian = bandit.model == "gaussian" and not hasattr(bandit, "covariance")
        outcomes = "gaussian" if gaussian else ""
        if type(bandit) is BernoulliBandit:  # another class may draw its objectives together
            outcomes = "bernoulli"
        return cls(bandit.oriented, bandit.scale, noise, outcomes)

    @cached_property
    def time(self) -> CharacteristicTime:
        """T* and its weights, by the divergence of these outcomes; linear programs, kept.

        Refused where outcomes are of no known law, for then no T* is known.
        """
        return theory.characteristic_time(self.means, self.noise, outcomes=self.outcomes)


def exact_gaussian(bandit: Bandit) -> bool:
    """Independent Gaussian outcomes of which means and scale say all, nothing drawn otherwise."""
    return type(bandit) is GaussianBandit and Problem.of(bandit).outcomes == "gaussian"


def setting_bounds(
    known: Problem,
    goal: Goal,
    delta: float,
    radius: Radius | None,
    *,
    rule: str = repr(APE()),
    proved: bool = False,
    names: Collection[str] = NAMES,
) -> dict[str, Bound]:
    """Those of `names` whose theorem speaks about this goal, by a method that prints as `rule`.

    sharp_bound     rule APE(), radius Mixture or KaufmannKoolen
    theorem_1       rule APE(); about the paper's radius, beside another one a yardstick
    expected_lucb1  rule APE(), radius LUCB1Like, on the expectation
    characteristic  T* kl(delta, 1 - delta): independent Gaussian or 0/1 outcomes, each by its own
                    divergence, the whole Pareto set, eps1 = 0
    lower_bound     the formula of Theorem 2: Gaussian outcomes, also k arms; `proved` says where

    `proved`: is the method delta-correct? The last three are about such methods alone.

    >>> known = Problem.of(GaussianBandit([[0.0], [2.0]]))
    >>> list(setting_bounds(known, ParetoSet(), 0.1, LUCB1Like(), proved=True, names=NAMES[:4]))
    ['theorem_1', 'expected_lucb1', 'characteristic']
    """
    means, sure = known.means, bool(known.outcomes) and proved and not np.any(goal.eps1)
    sure = sure and goal.limits is None
    k = goal.k if isinstance(goal, AtMost) else None
    theirs = not goal.steers  # else APE compares other arms than b_t and c_t
    ape = theirs and rule == repr(APE())  # with pull="both" a round draws two
    problem = (goal.eps1, k, known.scale)
    theorems: dict[str, tuple[bool, Any]] = {
        "sharp_bound": (
            ape and isinstance(radius, (Mixture, KaufmannKoolen)),
            lambda: theory.sample_bound(means, delta, radius, *problem),  # type: ignore[arg-type]
        ),
        "theorem_1": (ape, lambda: theory.theorem_1(means, delta, *problem)),
        "expected_lucb1": (
            ape and proved and isinstance(radius, LUCB1Like),
            lambda: theory.expected_samples_lucb1(means, delta, *problem),
        ),
        "characteristic": (
            sure and isinstance(goal, ParetoSet),
            lambda: Bound(
                known.time.samples(delta),
                holds="in expectation, for every delta-correct algorithm on "
                f"{known.outcomes.capitalize()} arms",
                source="[garivier2016]; theory.characteristic_time",
            ),
        ),
        "lower_bound": (
            sure and known.outcomes == "gaussian" and isinstance(goal, (ParetoSet, AtMost)),
            lambda: theory.lower_bound(means, delta, k or len(means), scale=known.noise),
        ),
    }
    return {name: bound() for name, (speaks, bound) in theorems.items() if speaks and name in names}


class Bounds(dict[str, Bound]):
    """Bounds by name; a notebook shows them as a table, with where each holds.

    >>> "<td" in Bounds(one=Bound(7.0, holds="in expectation", source="a book"))._repr_html_()
    True
    """

    def _repr_html_(self) -> str:
        rows = [
            [name, text.count(bound), bound.holds, bound.source] for name, bound in self.items()
        ]
        table = Shown("bounds on the samples", ["bound", "samples", "holds", "source"], rows, (), 4)
        return table._repr_html_()


def sample_bounds(
    bandit: Bandit, goal: Goal | None = None, delta: float = 0.1, radius: Any = None
) -> Bounds:
    """Bounds on the number of samples, by name; those that say nothing here are left out.

    sharp_bound     of APE with `radius`, by default `Mixture()`; `KaufmannKoolen` has one too
    sharp_bound_pairs   the same with union="pairs" and uniform shares, and so with probability
                    1 - delta; only where `sharp_bound` is not proved with that probability, as
                    with union="claims" and more than a few arms
    theorem_1       of APE with the radius of the paper
    expected_lucb1  of APE with `LUCB1Like`, on the expectation
    characteristic  T* kl(delta, 1 - delta), a lower bound for every algorithm
    lower_bound     the formula of Theorem 2

    The lower bounds are about outcomes independent between objectives and eps1 = 0; `lower_bound`
    about Gaussian ones; `characteristic` about Gaussian or 0/1 ones, each by its own divergence,
    and the whole Pareto set, not k arms or a cover. A bound whose probability is not 1 - delta
    comes last, so that what comes first says something.

    >>> from paretoid import GaussianBandit
    >>> bounds = sample_bounds(GaussianBandit([[0.0], [2.0]]))
    >>> bounds["characteristic"] < bounds["sharp_bound"] < bounds["theorem_1"]
    True
    >>> bounds["theorem_1"].holds
    'with probability at least 1 - delta = 0.9'
    """
    if not isinstance(bandit, Bandit):
        raise WrongTypeError(
            f"bandit={shown(bandit)} must be a Bandit, such as load_instance('covboost')."
        )
    goal = ParetoSet() if goal is None else goal
    if not isinstance(goal, Goal):
        raise WrongTypeError(f"goal={shown(goal)} must be one of {', '.join(GOALS)}.")
    goal.check(bandit.K, bandit.D)
    delta = check_delta(delta)
    radius = Mixture() if radius is None else radius
    check_invertible(radius)
    known = Problem.of(bandit)
    bounds = setting_bounds(known, goal, delta, radius, proved=True)  # of any delta-correct method
    bounds |= setting_bounds(known, goal, delta, LUCB1Like(), proved=True, names=["expected_lucb1"])
    ordered = {name: bounds[name] for name in NAMES if name in bounds}
    sharp = ordered.get("sharp_bound")
    if sharp is None or _sure(sharp, delta):
        return Bounds(ordered)
    del ordered["sharp_bound"]
    pairs = with_pairs(radius)
    paired = setting_bounds(known, goal, delta, pairs, proved=True, names=["sharp_bound"])
    stronger = paired["sharp_bound"]
    first = {"sharp_bound_pairs": stronger} if _sure(stronger, delta) else {}
    return Bounds({**first, **ordered, "sharp_bound": sharp})


def _sure(bound: Bound, delta: float) -> bool:
    """Proved with probability 1 - delta."""
    return bound.probability is not None and bound.probability >= (1 - delta) * (1 - 1e-9)


def with_pairs(radius: Mixture | KaufmannKoolen) -> Mixture | KaufmannKoolen:
    """The radius whose intervals hold all together: a union over pairs has no shares.

    >>> with_pairs(KaufmannKoolen(union="claims"))
    KaufmannKoolen(calibration='exact', union='pairs')
    """
    if isinstance(radius, Mixture):
        return replace(radius, union="pairs", shares=None)
    return replace(radius, union="pairs")
