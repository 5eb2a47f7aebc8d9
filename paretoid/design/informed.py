"""Radii informed by what is known before a trial: expected counts, then shares of delta and rho.

The guess may be worth nothing: a wrong answer has probability at most delta all the same, because
shares and rho are fixed before the data (theory/PROOFS.md, Sections 9 and 10). A good guess saves
samples, for an arm that needs many of them gets more of delta.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.engine.build import check_radius
from paretoid.goals import Goal, ParetoSet
from paretoid.parts import as_goals, default_mixture
from paretoid.theory.characteristic_time import characteristic_time
from paretoid.theory.checks import (
    FloatArray,
    WrongTypeError,
    as_epsilon,
    check_count,
    check_delta,
    refusal,
    shown,
)
from paretoid.theory.radii import BetaBinomial, MixedScale, Mixture, MixtureRadius
from paretoid.theory.shares import informed_rho, informed_shares

#: Times informed_rho, of which the simulation chooses: unknown scales want a larger rho.
_RHO_FACTORS = (1.0, 1.5, 2.25)

#: A multiple must save this part of the samples more than the one before: less may be chance.
_DOUBT = 0.01

#: Samples after which a simulated trial counts as it stands: ties would go on for ever.
CEILING = 100_000

_MOST_INSTANCES = 10_000

#: radii with shares: a share is a level, and each of them takes any level of its claims
SharedRadius = MixtureRadius | BetaBinomial


def informed(
    bandits: Bandit | Sequence[Bandit],
    goals: Goal | Sequence[Goal] | None = None,
    delta: float = 0.1,
    mix: float = 0.2,
    radius: Any = None,
    *,
    weights: Sequence[float] | None = None,
    max_samples: int = CEILING,
    replications: int = 1,
    seed: int = 1,
    quick: bool = False,
    executor: Any = None,
) -> SharedRadius:
    """`radius` with shares and rho from the samples that each arm is expected to need.

    bandits       one guess of the instance or many, such as posterior draws
    goals         default the Pareto set. Of several, the expected counts are averaged after each
                  is divided by its sum, with `weights` if given
    mix           the part of delta that is shared evenly, whatever is expected
    radius        UnknownScale, Mixture, MixedScale or BetaBinomial, the class, or one of them: its
                  arguments are kept, and its rho is that of equal shares. Default UnknownScale, or
                  Mixture if outcomes are not Gaussian, or MixedScale if some are
    max_samples   what the trial can afford: simulated runs are cut there
    replications  simulated runs for each of the bandits
    quick         T* w* in place of simulations: exact Pareto set only

    Samples cost an arm log(1/a_i) each, so shares follow the counts of equal shares, which are
    simulated; a second simulation chooses between the rho of these counts and multiples of it.
    Where none of them saves samples, with few arms say, the radius with equal shares is returned.

    >>> from paretoid import GaussianBandit
    >>> guess = GaussianBandit([[0.0, 0.0], [1.0, 0.9], [1.2, 0.8], [-3.0, -2.0]])
    >>> radius = informed(guess, replications=5, max_samples=2000)
    >>> type(radius).__name__, radius.guarantee
    ('UnknownScale', 'proved')
    >>> shares = radius.shares.arms             # the two close arms need most of the samples
    >>> [arm for arm in range(4) if shares[arm] > 0.25]
    [1, 2]
    """
    given = _as_bandits(bandits)
    asked = as_goals(ParetoSet() if goals is None else goals, given[0])
    delta = check_delta(delta)
    start = _as_radius(radius, given[0], asked, delta, max_samples)
    informed_shares(np.ones(given[0].K), mix)  # a wrong mix is refused before the simulation
    if start.counts_pairs(given[0].K, given[0].D, delta):
        mix = 1.0  # few arms: all pairs together are cheaper than any shares
    if quick:
        return with_counts(start, _quick_counts(given, asked, delta, max_samples), mix)
    common: dict[str, Any] = {
        "weights": weights, "max_samples": max_samples, "replications": replications, "seed": seed,
        "executor": executor,
    }  # fmt: skip
    counts = expected_counts(given, asked, delta, start, **common)
    tried = [start, *(with_counts(start, counts, mix, factor) for factor in _RHO_FACTORS)]
    needed = [_simulated(given, asked, delta, radius, **common) for radius in tried]
    share = _as_weights(weights, len(asked))
    ratios = [share @ (needs.sum(axis=1) / needed[0].sum(axis=1)) for needs in needed]
    doubt = _DOUBT * np.maximum(np.arange(len(tried)) - 1, 0)
    return tried[int(np.argmin(np.array(ratios) + doubt))]


def expected_counts(
    bandits: Bandit | Sequence[Bandit],
    goals: Goal | Sequence[Goal],
    delta: float,
    radius: SharedRadius,
    *,
    weights: Sequence[float] | None = None,
    max_samples: int = CEILING,
    replications: int = 1,
    seed: int = 1,
    executor: Any = None,
) -> FloatArray:
    """(K,) samples of each arm in simulated trials, averaged over bandits, runs and goals.

    Each goal's counts are divided by their sum before they are averaged with `weights`, so that a
    goal that takes long does not speak for the others; the result is scaled back to the weighted
    mean of the sums.

    >>> from paretoid import GaussianBandit
    >>> close = GaussianBandit([[0.0], [1.0], [1.2]])
    >>> counts = expected_counts(close, ParetoSet(), 0.1, Mixture(), replications=20)
    >>> bool(counts[0] < counts[1])
    True
    """
    given = _as_bandits(bandits)
    asked = as_goals(goals, given[0])
    means = _simulated(
        given, asked, delta, radius, weights=weights, max_samples=max_samples,
        replications=replications, seed=seed, executor=executor,
    )  # fmt: skip
    share, totals = _as_weights(weights, len(asked)), means.sum(axis=1)
    return np.asarray(share @ (means / totals[:, None]) * (share @ totals))


def _simulated(
    bandits: list[Bandit],
    goals: Sequence[Goal],
    delta: float,
    radius: SharedRadius,
    *,
    weights: Sequence[float] | None,
    max_samples: int,
    replications: int,
    seed: int,
    executor: Any,
) -> FloatArray:
    """(G, K) samples of each arm until each goal is answered, averaged over bandits and runs."""
    import paretoid as pt

    _as_weights(weights, len(goals))  # refused before the simulation
    runs = pt.simulate(
        bandits, goals, delta=delta, radius=radius, replications=replications, seed=seed,
        max_samples=check_count(max_samples, name="max_samples", why="it is the size of a trial."),
        executor=executor,
    )  # fmt: skip
    pulls = runs.pulls.transpose("goal", ..., "arm").values
    return np.asarray(pulls.reshape(len(goals), -1, bandits[0].K).mean(axis=1))


def with_counts(
    radius: SharedRadius, counts: Any, mix: float = 0.2, factor: float = 1.0
) -> SharedRadius:
    """`radius` with shares from `counts`, (K,), and rho from `factor` times them.

    >>> with_counts(Mixture(), [1200.0, 120.0], mix=1.0).rho
    (100.0, 10.0)
    """
    rho = tuple(informed_rho(factor * np.asarray(counts, dtype=float)).tolist())
    return radius.with_design(rho, informed_shares(counts, mix))


def _as_bandits(bandits: Any) -> list[Bandit]:
    given = [bandits] if isinstance(bandits, Bandit) else list(bandits)
    if not given or not all(isinstance(bandit, Bandit) for bandit in given):
        raise refusal(all(isinstance(bandit, Bandit) for bandit in given))(
            f"bandits={shown(bandits)} must be a guess of the instance, a Bandit, or a list of "
            f"them; estimation.informed takes fits and published summaries."
        )
    check_count(len(given), name="the number of bandits", most=_MOST_INSTANCES,
                why="each is simulated. Draws spread over a posterior do as well.")  # fmt: skip
    first = given[0]
    if any(other.arms != first.arms or other.D != first.D for other in given):
        raise ValueError("the bandits must have the same arms and as many objectives each.")
    return given


def _as_radius(
    radius: Any, bandit: Bandit, goals: Sequence[Goal], delta: float, max_samples: int
) -> SharedRadius:
    """The radius to be informed; a class has one rho for a tenth of the samples there can be."""
    if radius is None:
        radius = type(default_mixture(bandit.gaussian))
    kind = radius if isinstance(radius, type) else type(radius)
    if not issubclass(kind, SharedRadius):
        raise WrongTypeError(
            f"radius={shown(radius)} has no shares of delta: pass Mixture, UnknownScale, "
            f"MixedScale or BetaBinomial, or one of their instances."
        )
    made: SharedRadius = radius
    if radius is MixedScale:
        made = default_mixture(bandit.gaussian)
    elif isinstance(radius, type):
        made = radius()
    if made.union != "claims":
        raise ValueError(
            f"radius={made!r} has union={made.union!r}; shares belong to union='claims', the "
            f"default."
        )
    check_radius(made, bandit)
    rho: Any = made.rho
    if not isinstance(radius, type) and not isinstance(rho, tuple):
        return made.with_design(rho, None)
    expected = max(max_samples / 10 / bandit.K, 12.0)
    rho = Mixture.tuned(bandit.K, bandit.D, delta, samples=expected).rho
    return made.with_design(rho, None)


def _as_weights(weights: Sequence[float] | None, goals: int) -> FloatArray:
    if weights is None:
        return np.full(goals, 1 / goals)
    given = np.asarray(weights, dtype=float)
    if given.shape != (goals,) or not np.isfinite(given).all() or not (given > 0).all():
        raise ValueError(
            f"weights={shown(weights)} must be {goals} positive numbers, one for each goal: they "
            f"say how much each goal counts. Leave them out for equal ones."
        )
    return np.asarray(given / given.sum())


def _quick_counts(
    bandits: list[Bandit], goals: Sequence[Goal], delta: float, max_samples: int
) -> FloatArray:
    """T* w* at level delta, averaged over bandits and cut where the trial ends."""
    exact = all(type(goal) is ParetoSet and max(as_epsilon(goal.eps1, bandits[0].D)) == 0
                for goal in goals)  # fmt: skip
    if not exact:
        said = ", ".join(map(str, goals))
        raise ValueError(
            f"quick=True knows only the exact Pareto set, and the goals are {said}: T* is not "
            f"known for margins, covers and k. Leave quick out to simulate."
        )
    counts = np.zeros(bandits[0].K)
    for bandit in bandits:
        ideal = characteristic_time(bandit.oriented, bandit.scale)
        counts += min(ideal.samples(delta), max_samples) * np.asarray(ideal.weights)
    return np.maximum(counts / len(bandits), 1.0)
