"""Bounds on differences of rates: the kernel, the radius in runs and trials, its refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import polygamma, psi

import paretoid as pt
from paretoid import loop, registry, theory
from paretoid.design.informed import informed, with_counts
from paretoid.engine import two_rates
from paretoid.estimation.plan_words import bound_radius
from paretoid.report.methods import guarantee, intervals_of
from paretoid.runs.chunk import generator
from paretoid.runs.setting import Setting
from paretoid.theory.binary import difference_bound, log_mixture
from paretoid.validation.benchmarks import rare_events
from paretoid.validation.conformance.rates import false_alarms
from paretoid.validation.equality import assert_engine_equals_loop
from paretoid.view import Lens, Samples

RARE = pt.BernoulliBandit([[0.02], [0.06]], objectives=["toxicity"], minimize=["toxicity"])
TWO = pt.BernoulliBandit(
    [[0.9, 0.3], [0.5, 0.1], [0.4, 0.45]], objectives=["cured", "harmed"], minimize=["harmed"]
)

# --- the kernel -----------------------------------------------------------------------------------


def test_the_kernels_digamma_and_trigamma_are_those_of_scipy():
    """The tangent of the proof needs digamma to 1e-13; trigamma only steers a search."""
    for x in np.geomspace(1e-6, 1e8, 60):
        first, second = two_rates._digammas(x)
        assert first == pytest.approx(psi(x), rel=1e-14, abs=1e-14)
        assert second == pytest.approx(polygamma(1, x), rel=1e-10)


counts = st.integers(0, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
weights = st.sampled_from([0.5, 3.0, 30.0, 1000.0])
plans = st.sampled_from([(0.0, 0.0), (0.2, 9.8), (100.0, 50.0), (1e-6, 300.0)])
RATES = 1 / (1 + np.exp(-np.linspace(-14, 14, 400)))


@settings(deadline=None, max_examples=80)
@given(counts, counts, weights, weights, plans, plans, st.floats(1e-4, 0.9))
def test_no_pair_of_rates_that_is_not_ruled_out_lies_beyond_the_bound(
    i, j, rho_i, rho_j, plan_i, plan_j, alpha
):
    """Brute force over a grid of pairs of rates, from the definition of the mixtures."""
    c = math.log(1 / alpha)
    first, second = log_mixture(RATES, *i, rho_i, plan_i), log_mixture(RATES, *j, rho_j, plan_j)
    differences = (RATES[:, None] - RATES[None])[first[:, None] + second[None] <= c]
    bound = two_rates._upper(*map(float, i), rho_i, *plan_i, *map(float, j), rho_j, *plan_j, c)
    assert -1 <= bound <= 1
    assert bound >= differences.max(initial=-1.0)


def test_the_bound_is_the_one_that_halving_finds():
    """`difference_bound` looks at every eps and is rounded up by 1e-9; counts up to 100,000."""
    rng = np.random.default_rng(1)
    none = (0.0, 0.0)
    for rho, alpha, plan in (
        ((30.0, 30.0), 0.05, (none, none)),
        ((0.5, 1000.0), 0.5, (none, none)),
        ((300.0, 3.0), 1e-3, (none, none)),
        ((30.0, 100.0), 0.05, ((0.3, 9.7), (12.0, 20.0))),
        ((3.0, 100.0), 0.01, (none, (0.5, 99.5))),
    ):
        n = np.floor(10 ** rng.uniform(0, 5, (2, 25)))
        rates = 10 ** rng.uniform(-4, 0, (2, 25))
        s = rng.binomial(n.astype(int), np.where(rng.random(25) < 0.3, 1 - rates, rates))
        slow = difference_bound(s[0], n[0], s[1], n[1], alpha, rho, plan)
        for k in range(25):
            fast = two_rates._upper(
                float(s[0, k]), n[0, k], rho[0], *plan[0], float(s[1, k]), n[1, k], rho[1],
                *plan[1], math.log(1 / alpha),
            )  # fmt: skip
            assert slow[k] - 1e-8 < fast < slow[k] + 1e-8


def test_a_search_that_goes_astray_gives_a_wider_bound_never_a_narrower_one(monkeypatch):
    """Weak duality: with any mu and at any point of the tangent. Run without compilation."""
    arguments = (6.0, 100.0, 30.0, 0.0, 0.0, 30.0, 100.0, 30.0, 0.0, 0.0, math.log(20))
    exact = float(difference_bound(6, 100, 30, 100, alpha=0.05))
    plain = two_rates._least.py_func
    for factor in (0.5, 0.9, 1.1, 3.0):
        mu = factor * 90.0
        low, _, _, _ = plain(6.0, 94.0, 30.0, 0.0, 0.0, mu, -1.0)
        other, _, _, _ = plain(30.0, 70.0, 30.0, 0.0, 0.0, -mu, -1.0)
        assert (math.log(20) - low - other) / mu >= exact - 1e-8
    monkeypatch.setattr(two_rates, "_STEPS", 1)  # the first guess of both searches
    hasty = two_rates._upper.py_func
    monkeypatch.setattr(two_rates, "_least", plain)
    assert exact + 1e-6 < hasty(*arguments) < 1


def test_imagined_successes_between_whole_numbers_give_bounds_in_between():
    """A rule counts outcomes on their way at their mean; half a success is no jump."""
    for s, plan in itertools.product((0.0, 1.0, 5.0), ((0.0, 0.0), (0.5, 9.5))):
        steps = [
            two_rates._upper(s + part, 100.0, 30.0, *plan, 20.0, 90.0, 30.0, *plan, 3.0)
            for part in np.linspace(0, 1, 11)
        ]
        assert (np.diff(steps) > 0).all()
        assert max(np.diff(steps)) < 0.01


def test_with_default_rho_it_is_nowhere_far_behind_a_scale_of_one_half():
    """All pairs of rates of the grid; 1.3 is asked for, for two arms and for a pair of many."""
    for K, D, trust, most in ((2, 1, None, 1.01), (20, 3, None, 1.1), (20, 3, 1.0, 1.01)):
        found = rare_events.ratios(K, D, trust)
        assert len(found) > 250
        assert found[0][0] < most
        assert 0.03 < found[-1][0] < 0.1  # 0.01 against 0.03


# --- views ----------------------------------------------------------------------------------------


def lens_of(radius, bandit=TWO, delta=0.1):
    return Lens(bandit, radius, delta, eps1=0.0)


@pytest.mark.parametrize(
    "radius",
    [
        pt.BetaBinomial(),
        pt.BetaBinomial(rho=[5.0, 30.0, 100.0], union="pairs"),
        pt.BetaBinomial(shares=pt.Shares(arms=[0.5, 0.3, 0.2], objectives=[0.8, 0.2])),
    ],
    ids=["plain", "by arm", "shares"],
)
def test_a_view_has_the_bounds_of_the_theory_at_the_level_of_each_claim(radius):
    """Levels by hand; the second objective is minimised, so that its successes are the zeros."""
    n = np.array([[50.0, 48.0], [200.0, 190.0], [80.0, 80.0]])
    s = np.array([[45, 10], [99, 15], [30, 38]])
    means = s / n * TWO.sign
    view = lens_of(radius).view(Samples(n, means, np.zeros((3, 2))), 330)
    zeros = np.column_stack([s[:, 0], n[:, 1] - s[:, 1]])
    rho = np.broadcast_to(radius.rho, 3)
    shares = radius.shares
    for i, j, d in ((0, 1, 0), (1, 2, 1)):
        keep = drop = 0.1 / 6  # three pairs, two objectives: few arms count pairs
        if shares is not None:
            keep = 0.1 * shares.arms[i] * shares.objectives[d]
            drop = 0.1 * shares.arms[i] / 2
        first, second = (zeros[i, d], n[i, d]), (zeros[j, d], n[j, d])
        upper = difference_bound(*first, *second, drop, (float(rho[i]), float(rho[j])))
        lower = -difference_bound(*second, *first, keep, (float(rho[j]), float(rho[i])))
        assert view.upper[i, j, d] == pytest.approx(float(upper), abs=1e-7)
        assert view.lower[i, j, d] == pytest.approx(float(lower), abs=1e-7)


def test_bounds_depend_on_the_samples_alone_not_on_what_was_looked_at_before():
    rng = np.random.default_rng(2)
    lens = lens_of(pt.BetaBinomial())
    n, s = np.zeros((3, 2)), np.zeros((3, 2))
    for _ in range(40):
        arm = rng.integers(3)
        n[arm] += 1
        s[arm] += rng.random(2) < TWO.means[arm]
        samples = Samples(n.copy(), s / np.maximum(n, 1) * TWO.sign, np.zeros((3, 2)))
        fresh = lens_of(pt.BetaBinomial()).view(samples, 1)
        view = lens.view(samples, 1)
        np.testing.assert_array_equal(view.lower, fresh.lower)
        np.testing.assert_array_equal(view.upper, fresh.upper)


# --- the compiled loop ----------------------------------------------------------------------------


@st.composite
def settings_of_rates(draw):
    """A setting with several goals, and noise for it; ties are common."""
    K, D = draw(st.sampled_from([(2, 1), (3, 2), (4, 3), (6, 1)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    means = np.round(rng.random((K, D)) ** 2, draw(st.sampled_from([1, 3])))
    names = [f"objective {d}" for d in range(D)]
    minimize = [name for name in names if draw(st.booleans())]
    if draw(st.booleans()):
        bandit = pt.BernoulliBandit(means, minimize=minimize)
    else:  # a third of the range as its unit, and correlated objectives
        data = [(rng.random((7, 1)) < row).astype(float) for row in means]
        bandit = pt.ResampledBandit(data, scale=1.5, minimize=minimize)
    rho = draw(st.sampled_from([3.0, 30.0, tuple(rng.uniform(1, 50, K))]))
    options = {}
    if draw(st.booleans()):
        options = {"planned": rng.uniform(0.01, 0.99, (K, D)), "trust": 1.0}
    if draw(st.booleans()):
        options["shares"] = pt.Shares(arms=rng.dirichlet(np.ones(K)))
    else:
        options["union"] = draw(st.sampled_from(["claims", "pairs", "none"]))
    eps1 = draw(st.sampled_from([0.0, 0.1]))
    goals = (
        pt.ParetoSet(eps1), pt.AtMost(1, eps1), pt.AtMost(K, eps1), pt.Cover(eps1, 0.5),
        pt.Cover(eps1, 0.1),
    )  # fmt: skip
    rule = pt.APE(draw(st.sampled_from(["less sampled", "both"])))
    limit = draw(st.sampled_from([None, 97]))
    noise = np.empty((130, bandit.noise_width))
    bandit.fill(rng, noise)
    return Setting(bandit, goals, rule, pt.BetaBinomial(rho, **options), 0.3, limit), noise


@settings(deadline=None, max_examples=15)
@given(settings_of_rates(), st.lists(st.integers(1, 129), max_size=3))
def test_the_compiled_loop_is_the_readable_one_bit_for_bit(problem, cuts):
    setting, noise = problem
    assert setting.compiled
    assert_engine_equals_loop(setting, noise, cuts)


def test_members_that_are_not_ours_run_in_the_readable_loop():
    def compiled(bandit, radius, rule):
        return Setting(bandit, (pt.ParetoSet(),), rule, radius, 0.1, 10).compiled

    assert compiled(TWO, pt.BetaBinomial(), pt.APE())
    assert not compiled(TWO, Hasty(), pt.APE())
    assert not compiled(TWO, pt.BetaBinomial(), pt.RoundRobin())
    assert not compiled(Thirds([[0.9], [0.9]]), pt.BetaBinomial(), pt.APE())


# --- runs and trials ------------------------------------------------------------------------------


def test_rare_events_take_far_fewer_samples_than_a_scale_of_one_half():
    """2% against 6%: Mixture takes about 9,000, 2,000 are asked for. Means of 8 runs lie at 968
    with a standard error of 240: a correct one fails once in 10^4 seeds."""
    runs = pt.simulate(RARE, radius=pt.BetaBinomial(), replications=8, seed=3, max_samples=6000)
    assert runs.attrs["guarantee"] == "proved"
    assert runs.stopped.all()
    assert float(runs.stopping_time.mean()) < 2000
    assert int(runs.correct.sum()) >= 4


def test_one_run_is_replayed_alone_and_is_the_one_that_was_simulated():
    goals = [pt.ParetoSet(), pt.AtMost(1), pt.Cover(eps2=0.1)]
    options = {"radius": pt.BetaBinomial(), "seed": 5, "max_samples": 400}
    runs = pt.simulate(TWO, goals, replications=3, **options)
    for goal in goals:
        once = pt.run_once(TWO, goal, replication=2, **options)
        assert once.stopping_time == int(runs.stopping_time.sel(goal=str(goal))[2])
    assert runs.stopped.any()
    assert runs.correct.values[runs.stopped.values].all()


def test_a_trial_takes_the_arms_of_the_loop_and_stops_when_it_does():
    radius, goal = pt.BetaBinomial(), pt.AtMost(1, 0.05)
    setting = Setting(TWO, (goal,), pt.APE(), radius, 0.3, None)
    noise = np.empty((240, 2))
    TWO.fill(generator(4, (0,)), noise)
    expected = loop.run(setting, loop.outcomes_of(TWO, noise), np.random.default_rng(0))
    explorer = pt.Explorer(
        TWO.arms, TWO.objectives, goal, 0.3, scale=0.5, radius=radius, outcomes="binary",
        minimize=TWO.minimize,
    )  # fmt: skip
    for arm, outcome in zip(expected.arms, expected.outcomes, strict=True):
        allocation = explorer.ask()
        assert allocation.arm == TWO.arms[arm]
        explorer.tell(allocation, outcome * TWO.sign)
    (stop,) = expected.stops
    assert stop is not None
    assert explorer.answer == tuple(TWO.arms[i] for i in np.flatnonzero(stop.answer))


def test_a_trial_on_a_calendar_and_every_rule_on_pairs_can_use_it():
    options = {"radius": pt.BetaBinomial(), "replications": 1, "seed": 1, "max_samples": 120}
    conduct = pt.Conduct(rate=5.0, delay=2.0, look=20)
    assert pt.simulate(TWO, conduct=conduct, **options).attrs["guarantee"] == "proved"
    for rule in (pt.RoundRobin(), pt.UniformElimination(), pt.TopTwo(), pt.APE(pull="both")):
        runs = pt.simulate(TWO, rule=rule, **options)
        assert int(runs.stopping_time[0, 0]) > 3


def test_shares_of_delta_follow_the_samples_that_arms_need():
    """A share is only a level: arms that need more samples have more of delta, and planned rates
    stay. The levels of shares are compared by hand above."""
    start = pt.BetaBinomial(planned=TWO.means)
    shared = with_counts(start, [100.0, 400.0, 500.0])
    assert shared.shares.arms[0] < shared.shares.arms[1] < shared.shares.arms[2]
    assert shared.planned == start.planned
    assert shared.guarantee == "proved"
    found = informed(TWO, pt.AtMost(1), radius=start, replications=2, max_samples=100)
    assert type(found) is pt.BetaBinomial


# --- the promise ----------------------------------------------------------------------------------


class Hasty(pt.BetaBinomial):
    """A mutant: an eighth of log(1/alpha), as if looks at the data cost nothing."""

    guarantee = "proved"

    def constants(self, K, D, delta):
        keep, drop = super().constants(K, D, delta)
        return keep / 8, drop / 8


def test_a_radius_that_forgets_the_price_of_looking_is_caught():
    """The conformance tests ask for fewer than 39 false alarms of 150; correct ones give 3."""
    assert false_alarms(Hasty(), 0.3) >= 39


def test_rates_planned_wrongly_cost_samples_and_no_false_alarms():
    """Two equal rates of 0.3 planned far apart, and heavily: 100 runs by an adversary, 10 expected
    to fail at most; a correct radius fails in 29 and more once in 10^6 seeds."""
    misled = pt.BetaBinomial(planned=[[0.05], [0.6]], trust=5.0)
    assert false_alarms(misled, 0.3, runs=100, horizon=150) < 29
    rates, most = (0.02, 0.06), 20_000
    means = {}
    for off in (1.0, 8.0):
        radius = rare_events.radius_of(rates, 30.0, off)
        runs = [rare_events.one_run(rates, radius, most, (1, run))[0] for run in range(10)]
        means[off] = np.mean(runs)
    assert means[1.0] < means[8.0]


# --- refusals and words ---------------------------------------------------------------------------


def test_outcomes_that_are_not_binary_are_refused_before_anything_is_drawn():
    radius = pt.BetaBinomial()
    thirds = pt.ResampledBandit([[[0.0], [0.5]], [[1.0], [1.0]]], bounds=(0, 1))
    for bandit in (pt.GaussianBandit([[0.0], [1.0]]), thirds):
        with pytest.raises(ValueError, match="needs outcomes 0 or 1 in every objective"):
            pt.simulate(bandit, radius=radius)
    whole = pt.ResampledBandit([[[0.0], [1.0]], [[1.0], [1.0]]], bounds=(0, 1))
    assert pt.simulate(whole, radius=radius, replications=1, seed=1, max_samples=9) is not None
    for outcomes in ("gaussian", "bounded"):
        with pytest.raises(ValueError, match=f"outcomes='{outcomes}' are others"):
            pt.Explorer(["A", "B"], ["x"], scale=0.5, radius=radius, outcomes=outcomes)
    mixed = pt.MixedBandit([[0.3, 0.5], [0.2, 0.6]], ["binary", (0.0, 1.0)], sd=0.2)
    with pytest.raises(ValueError, match="needs outcomes 0 or 1 in every objective"):
        pt.simulate(mixed, radius=radius)
    with pytest.raises(ValueError, match="cannot come from outcomes 0 or 1"):
        lens_of(radius).view(Samples(np.full((3, 2), 4.0), np.full((3, 2), 1.25), np.ones(2)), 9)


class Thirds(pt.BernoulliBandit):
    """It says that it is binary, and is not."""

    def outcome(self, arm, noise):
        return super().outcome(arm, noise) / 3


def test_a_bandit_that_only_says_it_is_binary_is_refused_at_its_first_other_outcome():
    with pytest.raises(ValueError, match="those of Thirds, such as"):
        pt.run_once(Thirds([[0.9], [0.9]]), radius=pt.BetaBinomial(), max_samples=50)


def test_what_it_has_no_bound_for_is_refused():
    limited = pt.ParetoSet(limits={"harmed": pt.at_most(0.3)})
    with pytest.raises(ValueError, match="a limit needs a bound on one arm"):
        pt.simulate(TWO, limited, radius=pt.BetaBinomial())
    with pytest.raises(ValueError, match="LUCB"):
        pt.simulate(RARE, pt.AtMost(1), rule=pt.LUCB(), radius=pt.BetaBinomial())
    with pytest.raises(ValueError, match="no exact inversion"):
        theory.samples_to_separate(0.1, pt.BetaBinomial(), 2, 1, 0.1)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"rho": 0}, "rho=0"),
        ({"rho": [30.0, 5.0, 5.0]}, "3 entries and there are 2 arms"),
        ({"union": "most"}, "union='most'"),
        ({"shares": [0.5, 0.5]}, "must be Shares"),
    ],
)
def test_arguments_that_are_wrong_are_refused_by_name(given_, message):
    with pytest.raises(ValueError, match=message):
        pt.simulate(RARE, radius=pt.BetaBinomial(**given_), max_samples=5)


def test_words_name_the_condition():
    radius = registry.parse("beta-binomial:rho=50", "radius")
    assert radius == pt.BetaBinomial(rho=50.0)
    assert "outcomes 0 or 1 of any rate" in intervals_of(radius, repr(radius))
    assert "if outcomes are 0 or 1 and" in guarantee(radius, True, 0.1)
    stand_in, words = bound_radius(radius, informed=False)
    assert stand_in == pt.Mixture(rho=50.0, union="pairs")
    assert "this plan's own has no such bound" in words
