"""From a posterior to a trial plan: which arms, how many participants, how sure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.bounds import Problem, setting_bounds
from paretoid.conduct import Conduct
from paretoid.design.informed import informed
from paretoid.design.tuned import tuned_radius, with_trust
from paretoid.estimation.blocking import blocking_pairs, ties_in_words
from paretoid.estimation.conducting import conducted
from paretoid.estimation.instances import (
    plug_in_bandit,
    plug_in_time_error,
    posterior_bandits,
    tell_scales,
)
from paretoid.estimation.margins import as_goals, units_of, with_margin
from paretoid.estimation.model import trial_of
from paretoid.estimation.plan_radius import plan_radius
from paretoid.estimation.plan_words import (
    bound_radius,
    guarantee_in_words,
    published_in_words,
    stated_ranges,
)
from paretoid.estimation.ranges import kinds_of
from paretoid.goals import Goal
from paretoid.intervals import quantile
from paretoid.rules import APE
from paretoid.runs.setting import Setting, as_conduct
from paretoid.runs.settling import mean_settled, settled_by
from paretoid.summaries import summary_of
from paretoid.theory.checks import (
    BoolArray,
    FloatArray,
    check_choice,
    check_count,
    check_delta,
    is_real,
    refusal,
    shown,
)
from paretoid.theory.radii import BetaBinomial, Radius

if TYPE_CHECKING:
    import xarray as xr

#: COV-BOOST enrolled 2,883 participants: about what one trial can reach
REALISTIC = 3000

#: posterior quantile of every scale that a known-scale radius is told
SCALE_QUANTILE = 0.95

#: draws, of all there are, that say what arms need where rounds take long to simulate
SLOW_DRAWS = 50

#: assurances whose sample size a plan states
ASSURANCES = (0.8, 0.9)


def plan(
    fit: Any,
    goals: Goal | Sequence[Goal] | None = None,
    delta: float = 0.1,
    radius: Radius | type[Radius] | None = None,
    *,
    fold: float | None = None,
    draws: int = 200,
    replications: int = 100,
    max_samples: int = REALISTIC,
    samples: Sequence[int] | None = None,
    scale_quantile: float = SCALE_QUANTILE,
    shares: str = "informed",
    mix: float = 0.2,
    conduct: Conduct | None = None,
    correlation: Any = None,
    ranges: Mapping[str, Any] | None = None,
    seed: int = 1,
    executor: Any = None,
    progress: bool = False,
) -> xr.Dataset:
    """Simulate the next trial on `draws` posterior instances and on the plug-in instance.

    goals       default the Pareto set; `fold` sets their eps1 (and a cover's eps2), see
                `fold_margin`
    radius      default `UnknownScale`: its guarantee does not lean on the fitted variances, only
                on Gaussian (log) outcomes. A known-scale radius uses the posterior's
                `scale_quantile` of every scale, and its guarantee holds if the true scales are
                at most that. `BetaBinomial` where all endpoints are binary, with the rates of
                the fit as planned ones; with limits or a conduct `Mixture`, with scale 1/2.
                `MixedScale` where some endpoints are binary and some are not. An instance stays
                as it is; a class is tuned to the trial as the default is.
    samples     sizes N at which the assurance P(tau <= N) is stated; default 20 up to max_samples
    max_samples participants the trial can have: runs that reach it are censored, a result
    conduct     how the trial runs (recruitment, delay, looks, losses); stopping times then count
                enrolled participants, and what `conducting.conducted` lists is beside them: the
                ideal N, calendar time, participants on dominated arms, a curve against the rate

    correlation of the Gaussians behind the outcomes of one participant, for the simulation: a
                number for all pairs of endpoints, or a matrix; the guarantee never leans on it
    ranges      of normal endpoints that no outcome can leave, by name: {"pain": (0, 10)}. Their
                scale is then half the range and not learnt, and nobody need believe that they
                are Gaussian. Posterior draws that a range excludes are left out

    shares      "informed": the default radius shares delta out by the samples that each arm is
                expected to need, and has its rho by arm, see `informed`; `mix` is the part shared
                evenly. "uniform": equal shares, and one rho tuned to the sample size per arm that
                a pilot of simulated trials on the plug-in instance needed. Both are fixed before
                any new data, so the guarantee is the same. An instance of a radius has its own.

    With informed shares the same draws are also simulated with uniform ones: uniform_needed,
    uniform_stopping_time and saved, the part of the mean N, show what the published data save.

    Dims goal, draw, replication, arm, samples, assurance_level. Per posterior draw: stopping_time,
    stopped, correct, answer, pulls, settled, sharp_bound, theorem_1, and where there is no answer
    the positions of blocking_arm and blocking_rival (see `blocking_pair`), else -1. Summaries:
    assurance (with _error), samples_needed (inf: not within max_samples), censored, error_rate
    with its 95% interval (wrong answers among all draws), allocation, returned; arms_settled (goal,
    budget, verdict), answered (goal, budget): how many arms are surely optimal, surely out and
    undecided in trials of so many participants, and the share that has its answer; not where the
    readable loop runs the trials. Of the plug-in: plug_in_*; characteristic_time,
    characteristic_weights, lower_bound by the divergence of its outcomes, Gaussian or 0/1, with
    _error, the Monte Carlo standard error of the fit; NaN where their law is not known, or no goal
    asks for all arms without margin or limits: T* is of that problem alone.
    Attributes say in words what the guarantee and the bounds rest on, which assumptions were made
    and which arms tie.

    >>> from paretoid import AtMost
    >>> from paretoid.estimation import fit, load_trial
    >>> trial = load_trial("covboost-groupB")
    >>> posterior = fit(trial, "pooled", chains=2, cores=1)
    >>> planned = plan(posterior, AtMost(1), fold=1.5, draws=20, replications=5)
    >>> bool((planned.assurance.diff("samples") >= 0).all())    # more participants, more assurance
    True
    >>> planned.attrs["guarantee_in_words"][:49]
    'A wrong answer has probability at most 0.1 if (lo'
    """
    import xarray as xr

    import paretoid as pt

    trial = trial_of(fit)
    asked = as_goals(goals)
    goal_list = with_margin(asked, trial, fold)
    delta = check_delta(delta)
    max_samples = check_count(max_samples, name="max_samples", why="it is the size of a trial.")
    check_count(draws, name="draws", why="assurance is an average over posterior draws.")
    check_count(replications, name="replications", why="the plug-in instance is simulated too.")
    if not isinstance(scale_quantile, float) or not 0.5 <= scale_quantile < 1:
        raise refusal(is_real(scale_quantile))(
            f"scale_quantile={shown(scale_quantile)} must lie in [0.5, 1): a radius that is told a "
            f"scale below the true one proves nothing. The default is 0.95."
        )
    kinds = kinds_of(trial, ranges)
    plug_in = plug_in_bandit(fit, correlation, ranges)
    conduct = as_conduct(conduct, plug_in, max_samples)
    sizes = assurance_sizes(samples, max_samples)
    bandits = posterior_bandits(fit, draws, correlation, ranges)
    K = plug_in.K
    common: dict[str, Any] = {
        "delta": delta, "seed": seed, "max_samples": max_samples, "executor": executor,
    }  # fmt: skip
    check_choice(shares, ("informed", "uniform"), name="shares", why="delta is shared out once.")
    radius = plan_radius(radius, kinds, goal_list, calendar=conduct is not None)
    kind = radius if isinstance(radius, type) else None
    expected, tuned = max_samples / K, not isinstance(radius, Radius)
    uniform, bound_by = None, radius
    if not isinstance(radius, Radius):
        radius, expected = tuned_radius(
            plug_in, goal_list, delta, max_samples, kind=kind, published=trial.counts, seed=seed,
            executor=executor,
        )  # fmt: skip
        bound_by = radius
        if any(goal.union == "pairs" for goal in goal_list):
            shares = "uniform"  # shares belong to claims
        if shares == "informed":
            uniform = pt.simulate(
                bandits, goal_list, radius=radius, replications=1, conduct=conduct, **common
            )
            few = len(bandits) // SLOW_DRAWS if isinstance(radius, BetaBinomial) else 0
            radius = informed(
                bandits[:: max(few, 1)], goal_list, delta, mix, radius, max_samples=max_samples,
                seed=_another_seed(seed), executor=executor,
            )  # fmt: skip
            radius = with_trust(radius, trial.counts)
    plug_in, *bandits = tell_scales([plug_in, *bandits], fit, radius, scale_quantile)
    runs = pt.simulate(
        bandits, goal_list, radius=radius, replications=1, progress=progress, conduct=conduct,
        **common,
    )  # fmt: skip
    runs = runs.isel(replication=0, drop=True)
    runs = runs.rename(instance="draw").transpose("goal", "draw", ...)
    at_plug_in = pt.simulate(
        plug_in, goal_list, radius=radius, replications=replications, progress=progress,
        conduct=conduct, **common,
    )  # fmt: skip
    result = runs[["stopping_time", "stopped", "correct", "answer", "pulls", "settled"]]
    result = result.assign_coords(samples=sizes, assurance_level=list(ASSURANCES))
    for name in ("stopping_time", "stopped", "correct"):
        result[f"plug_in_{name}"] = at_plug_in[name]

    time, stopped = runs.stopping_time.values, runs.stopped.values
    within = (time[:, :, None] <= sizes) & stopped[:, :, None]
    share = within.mean(axis=1)
    result["assurance"] = (("goal", "samples"), share)
    smoothed = (within.sum(axis=1) + 1) / (draws + 2)
    result["assurance_error"] = (("goal", "samples"), np.sqrt(smoothed * (1 - smoothed) / draws))
    result["samples_needed"] = (("goal", "assurance_level"), _needed(time, stopped))
    if conduct is not None:
        made = conducted(runs, bandits, goal_list, conduct, radius=radius, **common)
        result = result.assign(made)
    if uniform is not None:
        uniform = uniform.isel(replication=0, drop=True).transpose("goal", "instance", ...)
        dims = ("goal", "draw")
        result["uniform_stopping_time"] = (dims, uniform.stopping_time.values)
        result["uniform_stopped"] = (dims, uniform.stopped.values)
        needed = _needed(uniform.stopping_time.values, uniform.stopped.values)
        result["uniform_needed"] = (("goal", "assurance_level"), needed)
        saved, error = _saving(time, uniform.stopping_time.values)
        result["saved"], result["saved_error"] = ("goal", saved), ("goal", error)
    result = result.assign(
        _trajectories(runs, bandits, goal_list, sizes, radius=radius, conduct=conduct, **common)
    )
    told = [summary_of(runs.isel(goal=g)) for g in range(len(goal_list))]
    result["censored"] = ("goal", [summary.late[0] for summary in told])
    for at, name in enumerate(("error_rate", "error_lower", "error_upper")):
        result[name] = ("goal", [summary.error[at] for summary in told])
    result["allocation"] = (("goal", "arm"), np.array([summary.pulls for summary in told]))
    returned = np.array([summary.returned for summary in told]) / draws
    result["returned"] = (("goal", "arm"), returned)

    assert isinstance(bound_by, Radius)
    inverted, bound_words = bound_radius(bound_by, uniform is not None)
    problems = [Problem.of(bandit) for bandit in bandits]
    bounds = [[setting_bounds(b, g, delta, inverted) for b in problems] for g in goal_list]
    for name in ("sharp_bound", "theorem_1"):
        table = [[float(limits.get(name, math.nan)) for limits in row] for row in bounds]
        result[name] = (("goal", "draw"), table)
    at_fit = Problem.of(plug_in)
    exact = [
        bool(setting_bounds(at_fit, g, delta, None, proved=True, names=["characteristic"]))
        for g in goal_list
    ]
    T = at_fit.time if any(exact) else None
    result["characteristic_time"] = T.time if T else np.nan
    result["characteristic_weights"] = ("arm", T.weights if T else np.full(K, np.nan))
    result["lower_bound"] = T.samples(delta) if T else np.nan
    relative = plug_in_time_error(fit) if T else np.nan
    for name in ("characteristic_time", "lower_bound"):
        result[f"{name}_error"] = result[name] * relative
    pairs = blocking_pairs(runs, bandits, goal_list)
    for at, name in enumerate(("blocking_arm", "blocking_rival")):
        result[name] = (("goal", "draw"), pairs[:, :, at])
    result["smallest_margin"] = ("draw", [_nearest(b)[0] for b in bandits])
    result.attrs = {
        **runs.attrs,
        **({"expected_samples_per_arm": expected} if tuned else {}),
        "shares": shares if tuned else "as given",
        "mix": mix if uniform is not None else 1.0,
        "guarantee_in_words": guarantee_in_words(
            radius, trial, kinds, scale_quantile, delta, runs.attrs["guarantee"], correlation
        ),
        "shares_in_words": published_in_words(
            radius, len(goal_list), mix, shared=uniform is not None
        )
        if tuned
        else "",
        "bounds_in_words": bound_words,
        "lower_bound_in_words": "every exact, delta-correct method needs as many samples on "
        f"average on the plug-in instance with {at_fit.outcomes.capitalize()} outcomes, "
        "independent between endpoints"
        if T
        else "",
        "near_ties": ties_in_words(
            pairs, stopped, goal_list, plug_in.arms, max_samples, units_of(trial)
        ),
        "assumptions": " ".join(trial.assumptions),
        "citation": trial.citation,
        "fold": 0.0 if fold is None else fold,
        "units": units_of(trial).to_json(),
        "scale_quantile": scale_quantile,
        **({} if correlation is None else {"correlation": np.ravel(correlation).tolist()}),
        **({"ranges": json.dumps(stated_ranges(trial, kinds))} if ranges else {}),
        **({} if conduct is None else {"conducted": repr(conduct)}),
        "asked": "; ".join(map(repr, asked)),  # with all digits, which `goal` has not
    }
    assert isinstance(result, xr.Dataset)
    return result


def _trajectories(
    runs: xr.Dataset, bandits: Sequence[Bandit], goals: list[Goal], sizes: Any, **common: Any
) -> dict[str, Any]:
    """What is known at N in the trials of a plan, at its sizes and at each goal's mean N.

    Nothing where no compiled loop runs the trials: they would have to be made for every N.
    """
    limit, conduct = common["max_samples"], common["conduct"]
    first = bandits[0]
    bound = [goal.bind(first.objectives, first.sign) for goal in goals]
    if not all(
        Setting(first, (goal,), APE(), common["radius"], common["delta"], limit, conduct).compiled
        for goal in bound
    ):
        return {}
    budgets = set(np.rint(runs.stopping_time.values.mean(axis=1)).astype(int).tolist())
    if conduct is None or conduct.is_ideal:
        budgets |= set(sizes.tolist())
    else:
        budgets |= set(sizes[::-4].tolist())
        budgets = {n for n in budgets if _can_be_held(conduct, first, n)}
    if not budgets:
        return {}
    known = settled_by(
        bandits, sorted(budgets), goals, radius=common["radius"], delta=common["delta"],
        seed=common["seed"], conduct=conduct,
    )  # fmt: skip
    means = mean_settled(known)
    made: dict[str, Any] = {str(name): (variable.dims, variable.values)
                            for name, variable in means.data_vars.items()}  # fmt: skip
    return made | {name: (name, means[name].values) for name in ("budget", "verdict")}


def _can_be_held(conduct: Conduct, bandit: Bandit, size: int) -> bool:
    """False: a trial of this size would end before its first look, or before any outcome."""
    try:
        conduct.check(bandit.arms, bandit.objectives, size)
    except ValueError:
        return False
    return True


def assurance_sizes(samples: Sequence[int] | None, max_samples: int) -> Any:
    """The sizes of a trial at which its assurance is stated: `samples`, or twenty by default."""
    if samples is None:
        return np.unique(np.linspace(0, max_samples, 21)[1:].astype(np.int64))
    sizes = np.array([check_count(n, name="samples", why="it is a trial's size.") for n in samples])
    if len(sizes) == 0 or sizes.max() > max_samples:
        raise ValueError(
            f"samples={list(samples)} must be sizes up to max_samples={max_samples}: beyond it "
            f"nothing was simulated. Raise max_samples."
        )
    return np.unique(sizes)


def _another_seed(seed: int) -> int:
    """A seed for the guess, so that the plan is not judged on the noise that shaped it."""
    return int(np.random.SeedSequence(seed, spawn_key=(14,)).generate_state(1)[0])


def _saving(informed: Any, uniform: Any) -> tuple[FloatArray, FloatArray]:
    """(goal,) the part of the mean N that informed shares save, and its standard error.

    Draws are paired; the error of a ratio of means comes from its residuals.
    """
    ratio = informed.mean(axis=1) / uniform.mean(axis=1)
    residual = informed - ratio[:, None] * uniform
    error = (
        residual.std(axis=1, ddof=1) / np.sqrt(residual.shape[1]) if residual.shape[1] > 1 else 0
    )
    return np.asarray(1 - ratio), np.asarray(error / uniform.mean(axis=1))


def _needed(time: Any, stopped: BoolArray) -> FloatArray:
    """(goal, level) the smallest N by which that share of draws has stopped; inf if none."""
    times = np.where(stopped, time, np.inf)
    return np.array([[quantile(goal, level) for level in ASSURANCES] for goal in times])


def _nearest(bandit: Bandit) -> tuple[float, int, int]:
    """(margin in sd, i, j): the domination by an optimal arm j that is closest to a draw."""
    from paretoid import theory

    mu = bandit.oriented / np.sqrt((bandit.scale**2).mean(axis=0))
    margin = (mu[:, None, :] - mu[None, :, :]).max(axis=2)
    closeness = np.abs(margin)
    closeness[:, ~theory.pareto_set(mu)] = np.inf
    np.fill_diagonal(closeness, np.inf)
    i, j = np.unravel_index(int(np.argmin(closeness)), closeness.shape)
    return float(closeness[i, j]), int(i), int(j)
