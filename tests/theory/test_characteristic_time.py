"""The characteristic time against closed forms and against a slow reference of its own kind.

The reference never splits costs by objective and never skips an arm: it writes every way to
change the Pareto set as linear constraints on lambda, over *all* other arms, and projects mu on
each by non-negative least squares (the "least distance programming" of Lawson and Hanson).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize, nnls
from scipy.special import comb

from paretoid import theory
from paretoid.theory.alternatives import Alternatives, transport_cells
from paretoid.theory.characteristic_time import (
    characteristic_lower_bound,
    characteristic_time,
    kl_bernoulli,
)

# [kone2023, appendix table of mean log responses], BNT/BNT then ChAd/ChAd, as printed (with the
# misprinted 8.71, which leaves the Pareto set alone); variances pooled, unrounded.
COVBOOST = np.array([
    [9.50, 6.86, 4.56], [9.29, 6.64, 4.04], [9.05, 6.41, 3.56], [10.21, 7.49, 4.43],
    [10.05, 7.20, 4.36], [8.34, 5.67, 3.51], [8.22, 5.46, 3.64], [9.75, 7.27, 4.71],
    [10.43, 7.61, 4.72], [8.94, 6.19, 3.84], [7.81, 5.26, 3.97], [8.85, 6.59, 4.73],
    [8.44, 6.15, 4.59], [9.93, 7.39, 4.75], [8.71, 7.20, 4.91], [7.51, 5.31, 3.96],
    [7.27, 4.99, 4.02], [8.62, 6.33, 4.66], [10.35, 7.77, 5.00], [8.29, 5.92, 3.87],
])  # fmt: skip
COVBOOST_SCALE = np.sqrt([0.70437039, 0.82845749, 1.53743137])


def slow_cost(mu, scale, w):
    """F(w): the least cost over every alternative, each a projection."""
    K, D = mu.shape
    optimal = theory.pareto_set(mu)
    best = math.inf
    for i in range(K):
        others = [j for j in range(K) if j != i]
        if optimal[i]:  # some j at least as good everywhere
            systems = [[(j, i, d) for d in range(D)] for j in others]
        else:  # at least as good as every j somewhere
            systems = [
                [(i, j, d) for j, d in zip(others, u, strict=True)]
                for u in itertools.product(range(D), repeat=K - 1)
            ]
        for system in systems:
            best = min(best, projection_cost(system, mu, scale, w))
    return best


def projection_cost(system, mu, scale, w):
    """Least sum w (lambda - mu)^2/(2 s^2) with lambda_a^d >= lambda_b^d for (a, b, d) in system."""
    unit = scale / np.sqrt(w)[:, None]  # lambda = mu + unit * x: minimise |x|^2 / 2
    G = np.zeros((len(system), *mu.shape))
    h = np.empty(len(system))
    for row, (a, b, d) in enumerate(system):
        G[row, a, d], G[row, b, d] = unit[a, d], -unit[b, d]
        h[row] = mu[b, d] - mu[a, d]
    size = max(np.abs(h).max(), np.abs(G).max())
    E = np.vstack([G.reshape(len(system), -1).T, h]) / size
    residual = E @ nnls(E, np.append(np.zeros(mu.size), 1.0))[0]
    residual[-1] -= 1.0
    return ((residual[:-1] / residual[-1]) ** 2).sum() / 2


def random_instance(rng, K, D, per_arm):
    mu = rng.normal(size=(K, D))
    scale = np.exp(0.7 * rng.normal(size=(K, D))) if per_arm else np.exp(rng.normal(size=D))
    return mu, np.broadcast_to(scale, (K, D))


def inner(mu, scale, w):
    gaussian = np.zeros(mu.shape[1], dtype=int)
    return Alternatives(mu, np.array(scale) ** 2, gaussian).planes(w)[0].min()


# --- the infimum over alternatives ---------------------------------------------------------------


def changed_by_moves(before, after):
    """The lifts and drops of the module's docstring, from the definition of domination."""
    strictly_below = (after[:, None] < after[None]).all(axis=2)
    optimal = theory.pareto_set(before)
    lift = (~strictly_below[np.ix_(~optimal, optimal)].any(axis=1)).any()
    drop = strictly_below[np.ix_(optimal, optimal)].any()
    return bool(drop or lift)


def test_the_pareto_set_changes_exactly_by_lifts_and_drops_among_optimal_arms():
    rng = np.random.default_rng(3)
    seen = [0, 0]
    for _ in range(4000):  # small integers: ties everywhere
        K, D = rng.integers(2, 6), rng.integers(1, 4)
        before, after = rng.integers(0, 4, size=(2, K, D))
        changed = bool((theory.pareto_set(before) != theory.pareto_set(after)).any())
        assert changed_by_moves(before, after) == changed
        seen[changed] += 1
    assert min(seen) > 300


@pytest.mark.parametrize(("K", "D"), [(2, 1), (3, 1), (2, 2), (3, 2), (4, 2), (3, 3), (4, 3)])
@pytest.mark.parametrize("per_arm", [False, True])
def test_least_cost_equals_projection_over_all_arms_and_assignments(K, D, per_arm):
    rng = np.random.default_rng([K, D, per_arm])
    for _ in range(12):
        mu, scale = random_instance(rng, K, D, per_arm)
        w = rng.dirichlet(np.ones(K))
        # 1e-9: the projections end with residuals of rounding size
        assert inner(mu, scale, w) == pytest.approx(slow_cost(mu, scale, w), rel=1e-9)


def test_several_dominators_shared_between_objectives_match_the_projection():
    rng = np.random.default_rng(11)
    for per_arm in (False, True):
        for _ in range(6):  # five arms above arm 0, in every shape of front
            mu = np.vstack([[0.0, 0.0], rng.dirichlet([1.0, 1.0], size=5) + 0.05])
            scale = np.exp(0.7 * rng.normal(size=mu.shape)) if per_arm else np.ones_like(mu)
            w = rng.dirichlet(np.ones(6))
            assert inner(mu, scale, w) == pytest.approx(slow_cost(mu, scale, w), rel=1e-9)


def test_no_random_alternative_is_cheaper():
    rng = np.random.default_rng(5)
    tight = 0.0
    for _ in range(60):
        mu, scale = random_instance(rng, 4, 2, per_arm=True)
        w = rng.dirichlet(np.ones(4))
        F = inner(mu, scale, w)
        step = np.sqrt(2 * F) * scale / np.sqrt(w)[:, None]
        for shift in rng.normal(size=(400, 4, 2)) * rng.uniform(0.2, 1, size=(400, 1, 1)):
            after = mu + step * shift
            if (theory.pareto_set(after) != theory.pareto_set(mu)).any():
                cost = F * (shift**2).sum()  # sum w (step shift)^2 / (2 s^2)
                assert cost >= F
                tight = max(tight, F / cost)
    assert tight > 0.6  # the search does come near


def test_planes_support_the_least_cost_everywhere():
    rng = np.random.default_rng(6)
    mu, scale = random_instance(rng, 6, 3, per_arm=True)
    problem = Alternatives(mu, np.array(scale) ** 2, np.zeros(mu.shape[1], dtype=int))
    for _ in range(50):
        w, v = rng.dirichlet(np.ones(6), size=2)
        cost, planes = problem.planes(w)
        here = problem.planes(v)[0]
        assert cost == pytest.approx(planes @ w, rel=1e-14)
        assert (planes @ v >= here * (1 - 1e-12)).all()


@pytest.mark.parametrize(("n", "D"), [(1, 3), (4, 1), (5, 2), (4, 3), (6, 3), (4, 4)])
def test_cells_are_the_transport_optima_and_number_the_compositions(n, D):
    m = np.random.default_rng([n, D]).normal(size=(n, D))
    best: dict[tuple[int, ...], tuple[float, tuple[int, ...]]] = {}
    for u in itertools.product(range(D), repeat=n):
        counts = tuple(u.count(d) for d in range(D))
        total = sum(m[j, d] for j, d in enumerate(u))
        best[counts] = min(best.get(counts, (math.inf, u)), (total, u))
    assert sorted(map(tuple, transport_cells(m))) == sorted(u for _, u in best.values())
    assert len(best) == comb(n + D - 1, D - 1, exact=True)


def test_cells_contain_where_each_arm_falls_least():
    rng = np.random.default_rng(8)
    m = rng.integers(0, 4, size=(5, 3)).astype(float)  # ties
    cells = set(map(tuple, transport_cells(m)))
    for y in rng.normal(size=(2000, 3)) * 3:
        assert tuple((m - y).argmin(axis=1)) in cells


def test_scales_of_each_arm_allow_more_assignments_than_the_compositions():
    mu, s = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[1.0, 3.0], [3.0, 1.0]])
    seen = {
        tuple(((mu - [x, y]) / s).argmin(axis=1))
        for x in np.linspace(-9, 9, 61)
        for y in np.linspace(-9, 9, 61)
    }
    assert len(seen) == 4 > comb(3, 1)
    assert len(transport_cells(mu)) == 3


def test_scales_of_each_arm_can_make_the_odd_assignment_the_cheapest():
    # Arm 0 meets arm 1 in the first objective and arm 2 in the second, each 1 away and nearly
    # fixed: (1/2) (1/3)/(1 + 0.01) each. In units of the arms' own scales, (10, 3) and (3, 10),
    # the other assignment looks better; it costs (1/2) (1/3) 9/(1 + 1) each.
    mu = np.array([[0.0, 0.0], [1.0, 3.0], [3.0, 1.0]])
    scale = np.array([[1.0, 1.0], [0.1, 1.0], [1.0, 0.1]])
    w = np.full(3, 1 / 3)
    lift = Alternatives(mu, scale**2, np.zeros(mu.shape[1], dtype=int)).planes(w)[0][-1]
    assert lift == pytest.approx(1 / 3 / 1.01, rel=1e-12)
    cells = set(map(tuple, transport_cells(mu[1:] / scale[1:])))
    assert (0, 1) not in cells


# --- closed forms ---------------------------------------------------------------------------------


def within(result, expected):
    """The bracket holds `expected` (up to rounding) and is as narrow as promised."""
    assert result.lower * (1 - 1e-9) <= expected <= result.upper * (1 + 1e-9)
    assert result.upper <= result.lower * (1 + 1e-6)


@pytest.mark.parametrize("gap", [1e-9, 0.3, 2.0, 1e6])
def test_two_arms_and_one_objective(gap):
    result = characteristic_time([[0.0], [gap]], scale=3.0)
    within(result, 8 * 9 / gap**2)
    assert result.weights == pytest.approx([0.5, 0.5], abs=1e-3)


def test_two_arms_of_different_scales_share_samples_in_proportion():
    # max over w of 1/(s^2/w + t^2/(1-w)) is 1/(s + t)^2, at w = s/(s + t)
    result = characteristic_time([[0.0], [1.0]], scale=[[1.0], [3.0]])
    within(result, 2 * (1 + 3) ** 2)
    assert result.weights == pytest.approx([0.25, 0.75], abs=1e-3)


def test_two_optimal_arms_cost_their_nearer_side():
    within(characteristic_time([[0.5, 0.0], [0.0, 2.0]]), 8 / 0.5**2)


def test_a_dominated_arm_is_lifted_in_one_objective_rather_than_two():
    within(characteristic_time([[0.0, 0.0], [0.5, 2.0]]), 8 / 0.5**2)
    within(characteristic_time([[0.0, 0.0], [0.5, 2.0]], scale=[1.0, 8.0]), 8 / 0.25**2)


def test_lifting_past_two_arms_uses_an_objective_for_each():
    # Arm 0 meets arm 1 in the first objective and arm 2 in the second, each 1 away: with
    # v = (1 - w)/2 for arms 1 and 2, F = w v/(w + v) = w (1 - w)/(1 + w), largest at
    # w = sqrt(2) - 1, where it is (sqrt(2) - 1)^2; every other change costs more.
    result = characteristic_time([[0.0, 0.0], [1.0, 3.0], [3.0, 1.0]])
    within(result, 3 + 2 * math.sqrt(2))
    assert result.weights[0] == pytest.approx(math.sqrt(2) - 1, abs=1e-3)


def garivier_kaufmann(mu):
    """T* of best-arm identification, unit variance, by its own equation.

    With x_a = w_a/w_1 and x_a/(1 + x_a) gap_a^2/2 = y for all a, the optimum has
    sum_a x_a(y)^2 = 1 and T* = (1 + sum x_a)/y [garivier2016].
    """
    gap2 = np.sort(mu.max() - mu)[1:] ** 2
    ratios = lambda y: 1 / (gap2 / (2 * y) - 1)  # noqa: E731
    top = gap2[0] / 2
    y = brentq(lambda y: (ratios(y) ** 2).sum() - 1, top * 1e-9, top * (1 - 1e-12), xtol=1e-15)
    return (1 + ratios(y).sum()) / y


@pytest.mark.parametrize("K", [2, 3, 5, 12, 30])
def test_one_objective_is_best_arm_identification(K):
    mu = np.random.default_rng(K).normal(size=K)
    within(characteristic_time(mu[:, None]), garivier_kaufmann(mu))


# --- the maximum over weights ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("K", "D", "per_arm"), [(2, 3, True), (3, 2, False), (3, 2, True), (3, 3, False), (4, 2, False)]
)
def test_slow_maximum_lies_in_the_bracket(K, D, per_arm):
    rng = np.random.default_rng([K, D, per_arm, 1])
    mu, scale = random_instance(rng, K, D, per_arm)
    result = characteristic_time(mu, scale)
    assert result.upper <= result.lower * (1 + 1e-6)

    def loss(z):
        w = np.exp(z - z.max())
        return -math.log(slow_cost(mu, scale, w / w.sum()))

    z = np.zeros(K)
    for _ in range(3):  # restarts: the simplex search stalls on kinks
        z = minimize(loss, z, method="Nelder-Mead", options={"maxfev": 250, "fatol": 1e-7}).x
    slow = math.exp(loss(z))  # T(w) of the best weights found: never below T*
    assert result.lower <= slow * (1 + 1e-9)
    assert slow <= result.upper * 1.001  # a simplex search ends within 0.1%


def test_covboost_is_certified_and_its_weights_attain_it():
    result = characteristic_time(COVBOOST, COVBOOST_SCALE)
    assert result.upper <= result.lower * (1 + 1e-6)
    assert result.iterations < 50
    scale = np.broadcast_to(COVBOOST_SCALE, COVBOOST.shape)
    optimal = np.flatnonzero(theory.pareto_set(COVBOOST))
    assert optimal.tolist() == [8, 18]

    def slow(w):  # F(w) by projections; lifts over the two optimal arms, by the lemma above
        costs = []
        for i in range(20):
            if i in optimal:
                systems = [[(j, i, d) for d in range(3)] for j in range(20) if j != i]
            else:
                pairs = itertools.product(range(3), repeat=2)
                systems = [[(i, 8, d), (i, 18, e)] for d, e in pairs]
            costs += [projection_cost(s, COVBOOST, scale, w) for s in systems]
        return min(costs)

    w = result.weights
    assert 1 / slow(w) == pytest.approx(result.time, rel=1e-9)
    rng = np.random.default_rng(0)
    for size in (0.5, 0.1, 0.02):  # no neighbour does better: F is concave
        for _ in range(8):
            v = w * np.exp(size * rng.normal(size=20))
            assert 1 / slow(v / v.sum()) >= result.lower


def test_a_finer_bracket_lies_inside_and_an_interrupted_one_outside():
    coarse = characteristic_time(COVBOOST, COVBOOST_SCALE, max_iterations=1)
    usual = characteristic_time(COVBOOST, COVBOOST_SCALE)
    fine = characteristic_time(COVBOOST, COVBOOST_SCALE, tolerance=1e-9)
    assert coarse.lower <= usual.lower <= fine.lower <= fine.upper <= usual.upper <= coarse.upper
    assert fine.upper <= fine.lower * (1 + 1e-9)
    assert coarse.iterations == 1
    assert coarse.upper > coarse.lower * 1.001


# --- properties -----------------------------------------------------------------------------------

instances = st.integers(2, 5).flatmap(
    lambda K: st.integers(1, 3).flatmap(
        lambda D: st.lists(
            st.lists(st.integers(-8, 8), min_size=D, max_size=D), min_size=K, max_size=K
        )
    )
).map(lambda rows: np.array(rows, dtype=float) / 4)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(instances, st.randoms(use_true_random=False))
def test_relabelling_shifting_and_scaling(mu, random):
    result = characteristic_time(mu)
    time, weights = result
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert (weights > 0).all()
    K, D = mu.shape
    arms, objectives = random.sample(range(K), K), random.sample(range(D), D)
    same = [
        characteristic_time(mu[arms][:, objectives]),
        characteristic_time(mu + np.arange(D) / 2),
        characteristic_time(mu, np.ones((K, D))),
    ]
    scaled = [characteristic_time(3 * mu), characteristic_time(mu, 1 / 3)]
    if math.isinf(time):
        assert theory.omega(mu)[theory.pareto_set(mu)].min() == 0
        assert all(math.isinf(r.lower) and math.isinf(r.upper) for r in same + scaled)
        return
    assert theory.omega(mu)[theory.pareto_set(mu)].min() > 0
    for r in same:
        assert r.lower <= result.upper * (1 + 1e-12)
        assert result.lower <= r.upper * (1 + 1e-12)
    for r in scaled:
        assert r.time == pytest.approx(time / 9, rel=2e-6)


@settings(deadline=None, max_examples=30)
@given(instances)
def test_a_far_dominated_arm_barely_matters(mu):
    time = characteristic_time(mu).time
    far = characteristic_time(np.vstack([mu, mu.min(axis=0) - 1e5])).time
    assert far == pytest.approx(time, rel=1e-4)


def test_more_noise_in_one_objective_never_makes_it_easier():
    mu = np.random.default_rng(2).normal(size=(6, 3))
    times = [characteristic_time(mu, [1.0, s, 1.0]) for s in (0.5, 1.0, 2.0)]
    assert times[0].lower <= times[1].upper
    assert times[1].lower <= times[2].upper


@settings(deadline=None, max_examples=40)
@given(instances)
def test_four_times_the_sum_of_inverse_squared_gaps_is_enough(mu):
    # With w_a = 1/(Delta_a^2 H) a move of arms i, j by c costs at least c^2/(2 H (Delta_i^2 +
    # Delta_j^2)). Drops: M(i, j) is at least Delta_i and Delta_j. Lifts: c = Delta_i to the arm j
    # that attains it, and Delta_j <= Delta_i. So F >= 1/(4 H), with equality for two arms.
    if math.isfinite(time := characteristic_time(mu).lower):
        assert time <= 4 * (1 / theory.gaps(mu) ** 2).sum() * (1 + 1e-12)


# --- limits and refusals --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "means",
    [
        [[0.0], [0.0]],
        [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]],
        [[1.0, 0.0], [1.0, 1.0]],
        [[0.0, 0.0]] * 3,
        [[0.0], [5e-324]],
        [[1.0, 0.0], [1.0, 1e-60]],
    ],
)
def test_ties_take_forever(means):
    result = characteristic_time(means)
    time, weights = result
    assert time == result.lower == result.upper == math.inf
    assert weights.tolist() == [1 / len(means)] * len(means)
    assert characteristic_lower_bound(means, 0.1) == math.inf


def test_a_shared_objective_is_no_tie_when_another_decides():
    within(characteristic_time([[1.0, 0.0, 0.0], [1.0, 2.0, -2.0]]), 8 / 4)


def test_wide_ranges_stay_certified():
    mu = np.array([[0.0, 0.0], [1e-6, -1e6], [-1.0, 1e-3], [-5.0, -5e8]])
    result = characteristic_time(mu)
    assert result.upper <= result.lower * (1 + 1e-6)
    # Arm 1 becomes dominated by arm 0 at a gap of 1e-6; the others cost next to nothing
    assert result.time == pytest.approx(8e12, rel=1e-4)
    assert characteristic_time([[-1.7e308], [1.7e308]]).time == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"means": [[1.0, 2.0]]}, "K=1"),
        ({"means": [1.0, 2.0]}, "shape"),
        ({"means": np.zeros((3, 0))}, "D=0"),
        ({"means": [[math.nan], [1.0]]}, "not finite"),
        ({"means": [[0.0], [1.0]], "scale": 0.0}, "above 0"),
        ({"means": [[0.0], [1.0]], "scale": [1.0, 2.0]}, "shape"),
        ({"means": [[0.0], [1.0]], "scale": math.inf}, "above 0"),
        ({"means": [[0.0], [1.0]], "scale": "wide"}, "must be a number"),
        ({"means": [[0.0], [1.0]], "scale": [[1e-60], [1.0]]}, "too far apart"),
        ({"means": [[0.0], [1.0]], "tolerance": 0.0}, "tolerance=0.0"),
        ({"means": [[0.0], [1.0]], "max_iterations": 0}, "max_iterations=0"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        characteristic_time(**arguments)


def test_kl_between_bernoulli_variables():
    assert kl_bernoulli(0.1, 0.9) == pytest.approx(0.8 * math.log(9), rel=1e-14)
    assert kl_bernoulli(0.5, 0.25) == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3))
    assert kl_bernoulli(1, 1) == kl_bernoulli(0, 0) == kl_bernoulli(0.3, 0.3) == 0
    assert kl_bernoulli(0.3, 0.0) == kl_bernoulli(0.3, 1.0) == math.inf
    for p, q in ((-0.1, 0.5), (0.5, 1.1), (math.nan, 0.5), (0.5, "0.5")):
        with pytest.raises(ValueError, match="success probability"):
            kl_bernoulli(p, q)


def test_lower_bound_on_samples():
    bound = characteristic_lower_bound([[0.0], [1.0]], 0.1, scale=2.0)
    assert bound == pytest.approx(32 * 0.8 * math.log(9), rel=1e-6)
    assert bound <= 32 * 0.8 * math.log(9)
    means = [[0.0, 0.0], [1.0, 3.0], [3.0, 1.0]]  # the certified end: never above the truth
    assert 0.999 < characteristic_lower_bound(means, 0.1) / ((3 + 8**0.5) * 0.8 * math.log(9)) <= 1
    assert characteristic_lower_bound([[0.0], [1.0]], 0.5) == 0
    assert characteristic_lower_bound([[0.0], [1.0]], 0.9) == 0
    with pytest.raises(ValueError, match="delta"):
        characteristic_lower_bound([[0.0], [1.0]], 1.5)
