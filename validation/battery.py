"""The battery: every check of the package, in three sizes, as a dictionary of what was found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from paretoid import theory
from paretoid.bandits import Bandit, BernoulliBandit, GaussianBandit, MixedBandit
from paretoid.goals import AtMost, Cover, Goal, ParetoSet, PracticalSet
from paretoid.instances import load_instance
from paretoid.intervals import share_upper_bound
from paretoid.rules import APE
from paretoid.runs.simulate import simulate
from paretoid.summaries import summaries
from paretoid.theory.checks import check_choice, check_count
from paretoid.theory.limits import at_least, at_most
from paretoid.theory.radii import (
    BetaBinomial,
    KaufmannKoolen,
    LUCB1Like,
    MixedScale,
    Mixture,
    Radius,
    UnknownScale,
)
from paretoid.validation import bounds, faults, mutants
from paretoid.validation.benchmarks import participants
from paretoid.validation.delta_correct import delta_correctness, engine
from paretoid.validation.evidence import log_evidence, sequential_upper_bound, would_notice
from paretoid.validation.hard import HardBandit, hard_bandits
from paretoid.validation.pathwise import check_path, engine_path, watched_goals
from paretoid.validation.radius_coverage import coverage
from paretoid.versions import versions

#: A correct engine fails the whole battery with at most this probability per statistical test.
FALSE_ALARM = 1e-6


@dataclass(frozen=True)
class Battery:
    """How much of everything: paths replayed, runs simulated and tested, coverage replications.

    `faults` is the size of the batteries of faults: 0 for none of them, 1 for all. `runs` are
    those of one cell of wrong answers; slow instances make a share of them.
    """

    paths: int
    runs: int
    tested: int
    replications: int
    horizon: int
    compared: int
    trials: int
    faults: float = 0.0


BATTERIES = {
    "quick": Battery(60, 300, 60, 200, 250, 20, 2),
    "standard": Battery(300, 2_000, 150, 800, 600, 60, 4, 0.05),
    "full": Battery(4_000, 10_000, 300, 4_000, 1_000, 1_000, 20, 0.05),
}


def certify(
    battery: str = "standard", seed: int = 0, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Run a battery ("quick", "standard" or "full") and return the certificate as a dictionary.

    `regressions` lists, in sentences, every guarantee that was refuted; empty is what we want.
    `progress` is told which part comes next.

    >>> certify("thorough")
    Traceback (most recent call last):
    ...
    ValueError: battery='thorough' must be one of 'quick', 'standard', 'full': see BATTERIES.
    """
    check_choice(battery, tuple(BATTERIES), name="battery", why="see BATTERIES.")
    seed = check_count(seed, name="seed", least=0, why="a SeedSequence takes no negative number.")
    size = BATTERIES[battery]
    regressions: list[str] = []
    certificate: dict[str, Any] = {
        "battery": battery,
        "seed": seed,
        "false_alarm": FALSE_ALARM,
        "versions": versions("numpy", "scipy", "numba", "xarray"),
    }
    parts: dict[str, Callable[[], Any]] = {
        "pathwise": lambda: _pathwise(size, seed, regressions),
        "errors": lambda: _errors(size, seed, regressions),
        "sequential_tests": lambda: _sequential(size, seed, regressions),
        "coverage": lambda: _coverages(size, seed, regressions),
        "participants": lambda: _participants(size),
        "mutants": lambda: _mutants(regressions),
        "bounds": lambda: _bounds(size, seed, regressions),
    }
    if size.faults:
        parts["faults"] = lambda: _faults(size, seed, regressions)
    for position, (name, part) in enumerate(parts.items(), start=1):
        if progress is not None:
            progress(f"{position}/{len(parts)}: {name.replace('_', ' ')}")
        certificate[name] = part()
    return {"holds": not regressions, "regressions": regressions, **certificate}


def random_problem(rng: np.random.Generator) -> dict[str, Any]:
    """Arguments of `engine_path`: K 2..8, D 1..5, every shape, direction, scale and radius.

    >>> sorted(random_problem(np.random.default_rng(0)))
    ['bandit', 'delta', 'goals', 'max_samples', 'radius', 'rule']
    """
    K, D = int(rng.integers(2, 9)), int(rng.integers(1, 6))
    mu = rng.normal(size=(K, D)) * 2
    i, j = rng.permutation(K)[:2]
    shape = rng.integers(7)
    if shape == 1:  # a tie
        mu[i, rng.integers(D)] = mu[j, rng.integers(D)]
    elif shape == 2:  # a duplicate
        mu[i] = mu[j]
    elif shape == 3:  # a near tie
        mu[i] = mu[j] + rng.normal(size=D) * 1e-3
    elif shape == 4:  # one optimum
        mu[i] = mu.max(axis=0) + 0.5
    elif shape == 5 and D > 1:  # all optimal
        mu[:, 1] = -mu[:, 0]
    elif shape == 6:  # a chain
        mu = mu[0] + rng.permutation(K)[:, None] * 0.5
    names = [f"objective {d}" for d in range(D)]
    minimize = [name for name in names if rng.random() < 0.3]
    sign = np.where([name in minimize for name in names], -1.0, 1.0)
    bandit: Bandit
    kind = rng.integers(4)
    if kind == 0:
        p = 1 / (1 + np.exp(-mu * sign))
        bandit = BernoulliBandit(p, objectives=names, minimize=minimize)
    else:
        scale: Any = [1.0, 10.0 ** rng.integers(-2, 3, size=D), np.exp(rng.normal(size=(K, D)))][
            kind - 1
        ]
        mu = mu * sign * (scale if kind == 2 else 1.0)
        bandit = GaussianBandit(mu, scale, objectives=names, minimize=minimize)
    radii: list[Radius] = [
        Mixture(), Mixture(union="pairs"), KaufmannKoolen(), LUCB1Like(), Mixture(union="none"),
        KaufmannKoolen("approximate", union="none"),
    ]  # fmt: skip
    if kind:
        radii.append(UnknownScale())
    unit = bandit.scale.max(axis=0)
    eps = [0.0, float(unit.min() / 2), tuple(unit * rng.random(D))][rng.integers(3)]
    return {
        "bandit": bandit,
        "goals": watched_goals(K, eps, tuple(unit / 4)),
        "radius": radii[rng.integers(len(radii))],
        "rule": APE("both") if rng.random() < 0.15 else APE(),
        "delta": float(rng.choice([0.05, 0.3, 0.7])),
        "max_samples": 1200,
    }


def _pathwise(size: Battery, seed: int, regressions: list[str]) -> dict[str, Any]:
    reports = []
    for r in range(size.paths):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, r)))
        reports.append(check_path(engine_path(**random_problem(rng), seed=seed, replication=0)))
        regressions.extend(f"pathwise, problem {r}: {v}" for v in reports[-1].violations)
    total = asdict(reduce(add, reports))
    total["violations"] = [str(violation["detail"]) for violation in total["violations"]]
    total["checked"] = dict(sorted(total["checked"].items()))
    return total


@dataclass(frozen=True)
class _Problem:
    """An instance whose error rates are measured, and how: `share` is that of a battery's runs."""

    name: str
    bandit: Bandit
    goals: list[Goal]
    radii: list[Radius]
    share: float = 1.0
    deltas: tuple[float, ...] = (0.1, 0.5)
    budget: int | None = None


def _problems() -> list[_Problem]:
    """Instances whose error rates are measured.

    Errors are likeliest where arms tie and delta is large. A margin lets runs stop there, so the
    first ones are ties under a margin.
    """
    known: list[Radius] = [Mixture(), KaufmannKoolen(), LUCB1Like(), UnknownScale()]
    heuristic: list[Radius] = [
        KaufmannKoolen("approximate", union="none"), Mixture(union="none"),
    ]  # fmt: skip
    pair, near = hard_bandits(2, 1, eps1=0.3), hard_bandits(2, 1)[1]
    five = {hard.name: hard.bandit for hard in hard_bandits(5, 2, eps1=0.3)}
    front = GaussianBandit([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.3, 0.2]], scale=1.0)
    trade = GaussianBandit(
        [[2.0, 30.0], [1.0, 10.0], [0.5, 20.0]], scale=[1.0, 10.0],
        objectives=["effect", "cost"], minimize=["cost"],
    )  # fmt: skip
    unequal = GaussianBandit(
        [[0.0, 0.0], [0.02, -0.1], [1.0, -2.0], [-1.0, 2.0]],
        scale=[[1.0, 3.0], [0.3, 1.0], [2.0, 1.0], [1.0, 0.1]],
    )
    coins = BernoulliBandit([[0.8, 0.3], [0.4, 0.7], [0.3, 0.2], [0.55, 0.5]])
    kinds = MixedBandit([[0.0, 0.5], [0.0, 0.5], [-1.0, 0.2]], ["gaussian", "binary"],
                        correlation=0.9)  # fmt: skip
    toxic = GaussianBandit(
        [[0.0, 0.0], [1.0, 0.501]], objectives=["effect", "toxicity"], minimize=["toxicity"]
    )
    everything: list[Goal] = [ParetoSet(0.1), AtMost(1, 0.1), AtMost(2, 0.1), Cover(0.1, 0.3)]
    margin: list[Goal] = [ParetoSet(0.3), AtMost(2, 0.3), Cover(0.3, 0.2)]
    vector = (0.3, 0.9)
    limited: list[Goal] = [
        ParetoSet(limits={"toxicity": at_most(0.3, slack=0.2)}),
        AtMost(
            1,
            limits={
                "toxicity": at_most(0.3, slack=0.2),
                "effect": at_least(-0.5, slack=0.4, compared=True),
            },
        ),
    ]
    mixed: list[Radius] = [MixedScale(["unknown", "known"]), Mixture()]
    pairs: list[Radius] = [Mixture(union="pairs"), UnknownScale(union="pairs")]
    return [
        _Problem("two equal arms, a margin", pair[2].bandit, margin[:1], [*known, *_shared(2)]),
        _Problem("two arms almost tied", near.bandit, [ParetoSet()], known, share=0.5),
        _Problem("five equal arms, a margin", five["crowd"], margin,
                 [*known, *_shared(5), *heuristic], share=0.1),
        _Problem("four arms just beyond the margin", five["beyond the margin"], margin, known,
                 share=0.1),
        _Problem("unequal scales, a margin", five["unequal scales"], margin,
                 [*known, *_shared(5)]),
        _Problem("unequal variances, vector margins", unequal,
                 [ParetoSet(vector), AtMost(2, vector), Cover(vector, (0.6, 0.3))], known,
                 share=0.3, budget=20_000),
        _Problem("four arms near a front", front, everything, [*known, *_shared(4)], share=0.3),
        _Problem("effect against cost", trade, [ParetoSet(), AtMost(1), Cover(0.0, 0.5)], known),
        _Problem("an arm just beyond its limit", toxic, limited[:1], [Mixture(), UnknownScale()]),
        _Problem("an arm just beyond its limit", toxic, limited[1:], [Mixture(), UnknownScale()]),
        _Problem("a practical margin", GaussianBandit([[0.0, 0.0], [0.0, -1.501]]),
                 [PracticalSet(1.0, 0.5)], pairs, share=0.05),
        _Problem("outcomes of two kinds", kinds, margin[:2], mixed),
        _Problem("two equal coins, a margin", BernoulliBandit([[0.3], [0.3]]), [ParetoSet(0.15)],
                 [BetaBinomial()], share=0.1),
        _Problem("two equal coins, a margin", BernoulliBandit([[0.3], [0.3]]), [ParetoSet(0.15)],
                 [Mixture(), KaufmannKoolen()]),
        _Problem("four coins", coins, everything, [BetaBinomial()], share=0.02),
        _Problem("four coins", coins, everything, [Mixture(), *_shared(4)[:1]], share=0.3),
        _Problem("COV-BOOST", load_instance("covboost"),
                 [AtMost(1), AtMost(2), Cover(0.0, 0.5)],
                 [Mixture(), KaufmannKoolen(), UnknownScale(), *_shared(20)], share=0.03,
                 deltas=(0.1,)),
    ]  # fmt: skip


def _shared(K: int) -> list[Radius]:
    """Radii whose shares and rho favour the first arms, and the last: where arms tie, and not."""
    counts = 300.0 * 0.5 ** np.arange(K)
    return [
        kind().with_design(tuple(theory.informed_rho(n)), theory.informed_shares(n))
        for kind in (Mixture, UnknownScale)
        for n in (counts, counts[::-1])
    ]


def _errors(size: Battery, seed: int, regressions: list[str]) -> list[dict[str, Any]]:
    """Wrong answers of `simulate`, for proved radii and heuristic ones beside them."""
    rows = []
    cells = [
        (problem, radius, delta)
        for problem in _problems()
        for radius in problem.radii
        for delta in problem.deltas
    ]
    for problem, radius, delta in cells:
        runs = max(round(size.runs * problem.share), 10)
        data = simulate(
            problem.bandit, problem.goals, radius=radius, delta=delta, replications=runs,
            seed=seed, max_samples=problem.budget,
        )  # fmt: skip
        guarantee = data.attrs["guarantee"]
        noticed = would_notice(runs, delta, FALSE_ALARM)
        for goal, summary in zip(problem.goals, summaries(data), strict=True):
            wrong = summary.wrong
            rows.append(
                {
                    "instance": problem.name,
                    "goal": str(goal),
                    "radius": repr(radius),
                    "guarantee": guarantee,
                    "delta": delta,
                    "runs": runs,
                    "stopped": summary.stopped,
                    "errors": wrong,
                    "clopper_pearson": _round(share_upper_bound(wrong, runs)),
                    "sequential": _round(sequential_upper_bound(runs, wrong)),
                    "would_notice": None if noticed is None else _round(noticed),
                    "mean_time": _round(summary.mean[0], 5),
                }
            )
            if guarantee == "proved" and log_evidence(runs, wrong, delta) >= -math.log(FALSE_ALARM):
                regressions.append(
                    f"errors: {radius!r}, {goal} on {problem.name}: {wrong} wrong answers in "
                    f"{runs} runs exceed delta={delta:g}."
                )
    return rows


def _sequential(size: Battery, seed: int, regressions: list[str]) -> list[dict[str, Any]]:
    """The engine under `assert_delta_correct`, as a stranger would test it."""
    bandits: list[Bandit | HardBandit] = [
        *hard_bandits(3, 2, eps1=0.1),
        BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.05, 0.1]]),
    ]
    rows = []
    for goal in (ParetoSet(0.1), AtMost(1, 0.1), Cover(0.1, 0.2)):
        verdict = delta_correctness(
            engine(goal), bandits, delta=0.1, goal=goal, max_runs=size.tested, seed=seed,
            false_alarm=FALSE_ALARM,
        )  # fmt: skip
        rows.append(
            {
                "goal": str(goal),
                "delta": verdict.delta,
                "runs": verdict.runs,
                "errors": verdict.errors,
                "faults": [str(fault) for fault in verdict.faults],
                "sequential": _round(verdict.upper),
                "certified": verdict.certified,
            }
        )
        if not verdict.passed:
            regressions.append(f"sequential test: {verdict.summary()}")
    return rows


def _coverages(size: Battery, seed: int, regressions: list[str]) -> list[dict[str, Any]]:
    """Every radius, on one pair and with a union bound; unequal variances where none is known."""
    front = [[3.0, 0.0], [0.0, 3.0], [-1.0, -1.0], [-2.0, -1.5]]
    unequal = [[1.0], [100.0]]
    spread = np.array([[1.0, 100.0], [0.01, 1.0], [10.0, 0.1], [1.0, 3.0]])
    pair: dict[str, Any] = {}
    cases: list[tuple[Radius, dict[str, Any]]] = [
        (Mixture(), pair),
        (Mixture(), {"scale": unequal}),
        (Mixture(5.0), pair),
        (Mixture(), {"outcomes": "bernoulli", "means": [[0.5], [0.5]]}),
        (Mixture(), {"means": front}),
        (Mixture(union="pairs"), {"means": front}),
        (KaufmannKoolen(), pair),
        (KaufmannKoolen(union="claims"), {"means": front}),
        (LUCB1Like(), pair),
        (LUCB1Like(), {"means": front}),
        (UnknownScale(), {"scale": unequal}),
        (UnknownScale(), {"means": front, "scale": spread}),
        (UnknownScale(union="pairs"), {"means": front, "scale": spread}),
        *((radius, {"means": front, "scale": spread}) for radius in _shared(4)),
        (Mixture(union="none"), {"means": front}),
        (KaufmannKoolen("approximate"), pair),
        (KaufmannKoolen("approximate", union="none"), {"means": front}),
        (UnknownScale(union="none"), {"means": front, "scale": spread}),
    ]
    rows = []
    for radius, setting in cases:
        result = coverage(
            radius, **setting, replications=size.replications, horizon=size.horizon, seed=seed
        )
        rows.append(
            {
                "radius": result.radius,
                "guarantee": result.guarantee,
                "K": result.K,
                "D": result.D,
                "scales": "unequal" if "scale" in setting else "equal",
                "outcomes": setting.get("outcomes", "gaussian"),
                "delta": result.delta,
                "event": result.event,
                "replications": result.replications,
                "horizon": result.horizon,
                "failures": dict(zip(result.rules, result.failures, strict=True)),
                "worst": _round(result.worst),
                "upper": _round(result.upper),
                "worst_intervals": _round(result.worst_intervals),
            }
        )
        if result.guarantee == "proved" and not result.holds(FALSE_ALARM):
            regressions.append(f"coverage: {result.summary()}")
    return rows


def _participants(size: Battery) -> dict[str, list[list[float]]]:
    """Mean samples and their standard errors, by radius and goal."""
    table = participants.rows(trials=size.trials, runs=size.trials, draws=5 * size.trials)
    return {
        name: [[_round(cell.mean, 5), _round(cell.error, 3)] for cell in cells]
        for name, cells in table.items()
    }


def _mutants(regressions: list[str]) -> dict[str, Any]:
    hunted = mutants.hunt_all()
    regressions.extend(
        f"mutants: {name!r} is not caught as documented." for name in mutants.survivors(hunted)
    )
    alarms = mutants.hunt(None)
    regressions.extend(f"mutants: the engine itself fails {c}: {alarms[c]}" for c in alarms)
    return {
        "caught": {name: sorted(caught) for name, caught in hunted.items()},
        "false_alarms": sorted(alarms),
    }


def _bounds(size: Battery, seed: int, regressions: list[str]) -> list[dict[str, Any]]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
    lower = GaussianBandit(theory.lower_bound_instance(5, 2, 0.5))
    deltas = [0.1, 0.01, 0.001]
    comparisons = {
        "COV-BOOST": bounds.compare(
            load_instance("covboost"), k=[None, 1, 2], delta=deltas, seed=seed,
            replications=max(size.compared // 5, 10),
        ),
        "lower-bound instance, p = 5": bounds.compare(
            lower, k=[5, 4, 3], delta=deltas, replications=size.compared, seed=seed
        ),
        "random, union over pairs": bounds.compare(
            [GaussianBandit(rng.random((5, 2)) * 4) for _ in range(6)], eps1=[0.0, 0.3],
            radius=Mixture(union="pairs"), replications=size.compared, seed=seed,
            max_samples=200_000,
        ),
    }  # fmt: skip
    rows = []
    for name, result in comparisons.items():
        bad = int(result.contradictions.sum())
        row: dict[str, Any] = {
            "instance": name,
            "radius": result.attrs["radius"],
            "runs": int(result["mean"].size * result.attrs["replications"]),
            "errors": int(result.errors.sum()),
            "above_sharp_bound": int(result.above_sharp_bound.sum()),
            "contradictions": bad,
            "largest_share_of_sharp_bound": _round(
                float((result.largest / result.sharp_bound).max())
            ),
        }
        if result.sizes["delta"] > 2:
            growth = bounds.slopes(result)
            for variable in ("slope", "bend"):
                values = growth[variable].isel(instance=0, eps1=0).values
                row[f"{variable} in log(1/delta), by k"] = {
                    "all" if k == 0 else str(k): _round(float(value))
                    for k, value in zip(growth.k.values, values, strict=True)
                }
        rows.append(row)
        if bad:
            regressions.append(
                f"bounds: {bad} runs on {name} exceed the sharp bound although all intervals held."
            )
    return rows


def _faults(size: Battery, seed: int, regressions: list[str]) -> dict[str, Any]:
    """Files under kills, damage, full disks and power cuts."""
    results = faults.run(size.faults, seed)
    regressions += faults.failures(results)
    return results


def _round(value: float, digits: int = 4) -> float:
    return float(f"{value:.{digits}g}")
