"""Baseline kernels equal their readable references, bit for bit; single-arm radii are proved."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid import theory
from paretoid.engine import columns
from paretoid.engine.build import columns_of
from paretoid.runs.setting import Setting
from paretoid.theory.single_stream import ArmMixture, IteratedLogarithm
from paretoid.validation.equality import assert_engine_equals_loop

UNIFORM = [pt.RoundRobin(), pt.UniformElimination()]
BEST_ARM = [pt.LUCB(), pt.LUCBpp(), pt.UGapEc()]


@st.composite
def problems(draw, D=None):
    """(bandit, seed): Gaussian with common or own scales, Bernoulli (many ties), resampled."""
    K = draw(st.integers(2, 6))
    D = draw(st.integers(1, 3)) if D is None else D
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    kind = draw(st.sampled_from(["common", "own", "bernoulli", "coarse", "resampled"]))
    minimize = ["objective 0"] if draw(st.booleans()) else []
    if kind == "common":
        return pt.GaussianBandit(rng.normal(size=(K, D)), rng.uniform(0.3, 2, D),
                                 minimize=minimize), seed  # fmt: skip
    if kind == "own":
        return pt.GaussianBandit(rng.normal(size=(K, D)), rng.uniform(0.3, 2, (K, D))), seed
    if kind == "bernoulli":
        return pt.BernoulliBandit(rng.random((K, D)), minimize=minimize), seed
    if kind == "coarse":  # equal means
        return pt.BernoulliBandit(rng.integers(0, 4, (K, D)) / 3), seed
    return pt.ResampledBandit([rng.random((3, D)) for _ in range(K)], bounds=(0, 1)), seed


@pytest.mark.parametrize("rule", UNIFORM, ids=repr)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_loops_in_rounds_equal_the_readable_loop(rule, data):
    bandit, seed = data.draw(problems())
    K, D = bandit.K, bandit.D
    radii = [pt.Mixture(), pt.Mixture(3.0, "none"), pt.KaufmannKoolen("approximate", "none"),
             pt.KaufmannKoolen()]  # fmt: skip
    if bandit.model == "gaussian":
        radii.append(pt.UnknownScale())
    radius = data.draw(st.sampled_from(radii))
    eps1 = data.draw(st.sampled_from([0.0, 0.2, (0.1, 0.0, 0.3)[:D]]))
    goals = [pt.ParetoSet(eps1), *(pt.AtMost(k, eps1) for k in range(1, K + 1))]
    if isinstance(rule, pt.RoundRobin):
        goals += [pt.Cover(eps1, 0.5), pt.Cover(eps1, (0.2, 0.1, 0.0)[:D])]
    delta = data.draw(st.sampled_from([0.1, 0.4]))
    budget = data.draw(st.one_of(st.none(), st.integers(1, 400)))
    setting = Setting(bandit, tuple(goals), rule, radius, delta, budget)
    noise = np.empty((900, bandit.noise_width))
    bandit.fill(np.random.default_rng(seed), noise)
    cuts = sorted(data.draw(st.lists(st.integers(0, 900), max_size=4)))
    assert_engine_equals_loop(setting, noise, cuts)


@pytest.mark.parametrize("rule", BEST_ARM, ids=repr)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_loops_for_one_objective_equal_the_readable_loop(rule, data):
    bandit, seed = data.draw(problems(D=1))
    radius = data.draw(st.sampled_from([ArmMixture(), ArmMixture(2.0), IteratedLogarithm()]))
    goals = [pt.AtMost(1, data.draw(st.sampled_from([0.0, 0.1, 0.5])))]
    goals += [] if goals[0].eps1 else [pt.ParetoSet()]
    delta = data.draw(st.sampled_from([0.05, 0.3]))
    budget = data.draw(st.one_of(st.none(), st.integers(1, 400)))
    setting = Setting(bandit, tuple(goals), rule, radius, delta, budget)
    noise = np.empty((900, 1))
    bandit.fill(np.random.default_rng(seed), noise)
    cuts = sorted(data.draw(st.lists(st.integers(0, 900), max_size=4)))
    assert_engine_equals_loop(setting, noise, cuts)


def test_columns_of_single_arms_grow_on_the_way(monkeypatch):
    monkeypatch.setattr(columns, "_BEGIN", 8)
    bandit = pt.BernoulliBandit([[0.5], [0.52]])
    for rule, radius in [(pt.LUCB(), IteratedLogarithm()), (pt.UGapEc(), ArmMixture())]:
        columns_of.cache_clear()
        setting = Setting(bandit, (pt.ParetoSet(),), rule, radius, 1e-12, None)
        noise = np.random.default_rng(1).random((1500, 1))
        history = assert_engine_equals_loop(setting, noise, [700])
        assert len(history.arms) == 1500
    columns_of.cache_clear()


def test_elimination_accepts_by_hand():
    # Constant outcomes, one radius beta(n) per round. Arms 0 and 1 are ahead of each other by 3 and
    # of arm 2 by more, so both are in P1 from beta <= 3 on: AtMost(2) stops. Arm 2 lies below arm 0
    # by 0.5 and below arm 1 by 1: it goes, and both leave with it, at the first beta < 1.
    table = [[[3.0, 0.0]], [[0.0, 3.0]], [[-1.0, -0.5]]]
    bandit = pt.ResampledBandit(table, scale=1.0)
    radius = pt.KaufmannKoolen("approximate", union="none")
    runs = pt.simulate(
        bandit, [pt.ParetoSet(), pt.AtMost(2)], rule=pt.UniformElimination(), radius=radius
    )

    def first(gap, strict):
        n = np.arange(1.0, 2000)
        beta = radius.half_width(n, n, 3, 2, 0.1)
        return int(n[(beta < gap) if strict else (beta <= gap)][0])

    assert runs.stopping_time.values.ravel().tolist() == [3 * first(1, True), 3 * first(3, False)]
    assert runs.answer.values[:, 0].tolist() == [[True, True, False]] * 2


def test_the_k_rule_of_elimination_answers_exactly_k_arms_with_the_largest_lower_bounds():
    # beta(1) = 5.70 and beta(2) = 4.19; the arms are ahead of their nearest rivals by 5.0, 4.6
    # and 5.4, so all three enter P1 in round 2, best kept first: arms 2, 0, 1.
    table = [[[0.0, 10.5]], [[4.6, 5.5]], [[10.0, 0.1]]]
    runs = pt.simulate(
        pt.ResampledBandit(table, scale=1.0),
        [pt.AtMost(k) for k in (1, 2, 3)],
        rule=pt.UniformElimination(),
        radius=pt.KaufmannKoolen("approximate", union="none"),
    )
    assert runs.answer.values[:, 0].astype(int).tolist() == [[0, 0, 1], [1, 0, 1], [1, 1, 1]]
    assert runs.stopping_time.values.ravel().tolist() == [6, 6, 6]


def test_equal_lower_bounds_are_ranked_by_index():
    table = [[[0.0, 10.0]], [[5.0, 5.0]], [[10.0, 0.0]]]
    bandit = pt.ResampledBandit(table, scale=1.0)
    runs = pt.simulate(bandit, pt.AtMost(2), rule=pt.UniformElimination())
    assert runs.answer.values[0, 0].tolist() == [True, True, False]


def test_round_robin_stops_at_the_end_of_a_round():
    runs = pt.simulate(
        pt.BernoulliBandit([[0.9, 0.2], [0.2, 0.9], [0.1, 0.1]]), [pt.ParetoSet(), pt.AtMost(1)],
        rule=pt.RoundRobin(), replications=20,
    )  # fmt: skip
    assert (runs.stopping_time.values % 3 == 0).all()
    assert (runs.pulls.values == runs.pulls.values[..., :1]).all()


def test_lucb_plus_plus_shares_delta_out_and_stops_no_later_than_lucb_at_its_lower_level():
    assert pt.LUCBpp().levels(2, 0.1) == (0.05, 0.05) == pt.LUCB().levels(2, 0.1)
    keep, drop = pt.LUCBpp().levels(11, 0.1)
    assert (keep, drop) == (0.005, 0.05)
    # a union over what can be wrong: K - 1 lower bounds and one upper bound
    assert np.isclose(10 * keep + drop, 0.1)


def test_ugapec_samples_the_less_sampled_of_two_and_lucb_both():
    bandit = pt.BernoulliBandit([[0.5], [0.8], [0.1]])
    pairs = pt.simulate(bandit, rule=pt.LUCB(), replications=30, seed=1)
    assert ((pairs.stopping_time.values - 3) % 2 == 0).all()
    single = pt.simulate(bandit, rule=pt.UGapEc(), replications=30, seed=1)
    assert ((single.stopping_time.values - 3) % 2 == 1).any()


# --- the one-stream mixture -----------------------------------------------------------------------

n, rho, alpha, s = sp.symbols("n rho alpha s", positive=True)
S, x = sp.symbols("S x", real=True)


def test_mixing_one_stream_over_a_normal_prior_gives_the_closed_form():
    prior = sp.sqrt(rho / (2 * sp.pi)) * sp.exp(-rho * x**2 / 2)
    mixed = sp.integrate(sp.exp(x * S / s - x**2 * n / 2) * prior, (x, -sp.oo, sp.oo))
    closed = sp.sqrt(rho / (n + rho)) * sp.exp(S**2 / (2 * s**2 * (n + rho)))
    assert sp.simplify(mixed / closed) == 1


def test_the_mixture_reaches_one_over_alpha_exactly_at_the_radius():
    width = s * sp.sqrt((2 * sp.log(1 / alpha) + sp.log((n + rho) / rho)) * (n + rho)) / n
    closed = sp.sqrt(rho / (n + rho)) * sp.exp(S**2 / (2 * s**2 * (n + rho)))
    assert sp.simplify(sp.log(closed.subs(S, n * width)) - sp.log(1 / alpha)) == 0
    # and the code's radius is this one
    numbers = {n: 170, rho: 12, alpha: sp.Rational(3, 100), s: 1}
    assert np.isclose(
        float(width.subs(numbers)), float(ArmMixture(12.0).half_width(170, 0.03)), rtol=1e-14
    )


def test_the_one_stream_radius_is_the_two_stream_radius_of_an_arm_never_sampled():
    # Without the other arm's terms, l and v are those of Mixture.
    counts = np.array([1.0, 10.0, 1e5])
    for one, two in zip(
        ArmMixture(7.0).arm_terms(counts),
        theory.Mixture(7.0, sides="two").arm_terms(counts, 5, 1, 0.1),
        strict=True,
    ):  # fmt: skip
        assert (one == two).all()


def test_the_one_stream_radius_covers():
    # 4,000 streams of 2,000 fair coins at level 0.1: at most 10% may ever leave. 470 leaving
    # would come once in 10^4 seeds at exactly 10%; the mixture stays far below.
    rng = np.random.default_rng(2)
    count = np.arange(1.0, 2001)
    width = 0.5 * ArmMixture().half_width(count, 0.1)
    left = 0
    for _ in range(8):
        mean = np.cumsum(rng.integers(0, 2, (500, 2000)), axis=1) / count
        left += int((np.abs(mean - 0.5) >= width).any(axis=1).sum())
    assert left < 470
    assert left > 0  # not vacuous


def test_a_radius_says_what_it_is_worth():
    assert ArmMixture().guarantee == "proved"
    assert IteratedLogarithm().guarantee == "heuristic"
    assert pt.simulate(
        pt.BernoulliBandit([[0.1], [0.9]]), rule=pt.LUCB(), radius=IteratedLogarithm()
    ).attrs["guarantee"] == "heuristic"  # fmt: skip


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ArmMixture(0.0), "rho=0.0 must be"),
        (lambda: ArmMixture().constant(1.5), "must lie strictly between 0 and 1"),
        (lambda: ArmMixture().half_width(0, 0.1), "at least 1"),
        (lambda: IteratedLogarithm().constant(0.5), "negative under its root"),
        (lambda: pt.LUCB().levels(1, 0.1), "K=1"),
    ],
)
def test_bad_radii_and_levels_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()
