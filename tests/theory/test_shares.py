"""Shares of delta: the noun, its levels in exact arithmetic, and Sections 9 and 10 of PROOFS.md."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from paretoid import theory
from paretoid.theory.calibration import K1, levels
from paretoid.theory.one_sided import one_sided_constant, penalty
from paretoid.theory.shares import Shares, informed_rho, informed_shares

exactly = settings(deadline=None, max_examples=150)


def scaled(exponents):
    """Shares proportional to 10^exponents; their sum is 1 to a few roundings."""
    weights = 10.0 ** np.array(exponents)
    return tuple((weights / weights.sum()).tolist())


@st.composite
def some_shares(draw, most=6):
    K, D = draw(st.integers(2, most)), draw(st.integers(1, 4))
    tame, wild = st.floats(-1, 0), st.floats(-30, 0)

    def part(length):
        size = draw(st.sampled_from([tame, wild]))
        entries = st.lists(size, min_size=length, max_size=length).map(scaled)
        return draw(st.one_of(st.none(), entries))

    return K, D, Shares(arms=part(K), rivals=part(K), objectives=part(D))


def exact_levels(shares, K, D, delta):
    """(keep, drop) as fractions, straight from the product form."""

    def weights(entries, length):
        values = [Fraction(1)] * length if entries is None else [Fraction(e) for e in entries]
        return [value / sum(values) for value in values]

    a = [Fraction(delta) * w for w in weights(shares.arms, K)]
    g, u = weights(shares.objectives, D), weights(shares.rivals, K)
    keep = [[a[i] * g[d] for d in range(D)] for i in range(K)]
    drop = [[a[i] * u[j] / (1 - u[i]) if j != i else 0 for j in range(K)] for i in range(K)]
    return keep, drop


# --- the levels -----------------------------------------------------------------------------------


def test_levels_by_hand():
    shares = Shares(arms=(0.5, 0.3, 0.2), rivals=(0.6, 0.2, 0.2), objectives=(0.9, 0.1))
    assert shares.keep_levels(3, 2, 0.1) == pytest.approx(
        np.array([[0.045, 0.005], [0.027, 0.003], [0.018, 0.002]]), rel=1e-11
    )
    # row 0: 0.05 * 0.2/0.4 twice; row 1: 0.03 * (0.6, 0.2)/0.8; row 2: 0.02 * (0.6, 0.2)/0.8
    assert shares.drop_levels(3, 0.1) == pytest.approx(
        np.array([[0, 0.025, 0.025], [0.0225, 0, 0.0075], [0.015, 0.005, 0]]), rel=1e-11
    )
    assert shares.drop_levels(3, 0.1, families=2) == pytest.approx(shares.drop_levels(3, 0.1) / 2)


@exactly
@given(some_shares(), st.floats(1e-12, 0.999), st.integers(1, 4))
def test_levels_are_the_product_form_and_never_add_up_to_more_than_delta(case, delta, families):
    """In exact rational arithmetic, of the floats that are returned."""
    K, D, shares = case
    keep = [[Fraction(v) for v in row] for row in shares.keep_levels(K, D, delta).tolist()]
    drop = [[Fraction(v) for v in row] for row in shares.drop_levels(K, delta, families).tolist()]
    spent = sum(max(sum(k), families * sum(u)) for k, u in zip(keep, drop, strict=True))
    assert spent <= Fraction(delta)
    wanted_keep, wanted_drop = exact_levels(shares, K, D, delta)
    tolerance = Fraction(2, 10**12)
    for i in range(K):
        for d in range(D):
            assert 0 <= 1 - keep[i][d] / wanted_keep[i][d] <= tolerance
        for j in range(K):
            if j != i:
                assert 0 <= 1 - families * drop[i][j] / wanted_drop[i][j] <= tolerance
            else:
                assert drop[i][j] == 0


@pytest.mark.parametrize(("K", "D", "delta"), [(2, 1, 0.1), (20, 3, 0.1), (7, 2, 0.3)])
def test_uniform_shares_are_no_shares_bit_for_bit(K, D, delta):
    # three spellings of equal entries, sums 1, 1 + 1e-10 and 1 - 1e-10
    for miss in (0.0, 1e-10, -1e-10):
        arms, objectives = [(1 + miss) / K] * K, [(1 + miss) / D] * D
        given, none = Shares(arms=arms, rivals=arms, objectives=objectives), Shares()
        assert given.is_uniform
        assert (given.keep_levels(K, D, delta) == none.keep_levels(K, D, delta)).all()
        assert (given.drop_levels(K, delta) == none.drop_levels(K, delta)).all()
        mine, theirs = (dataclasses.asdict(s.role_terms(K, D, delta)) for s in (given, none))
        assert all((mine[name] == theirs[name]).all() for name in mine)
    # and Section 4 again
    assert none.keep_levels(K, D, delta) == pytest.approx(np.full((K, D), delta / (K * D)))
    off = ~np.eye(K, dtype=bool)
    assert none.drop_levels(K, delta)[off] == pytest.approx(delta / (K * (K - 1)))


def test_one_uneven_entry_is_not_uniform():
    assert not Shares(arms=(0.5, np.nextafter(0.5, 1))).is_uniform
    assert not Shares(objectives=(0.4, 0.6)).is_uniform


@exactly
@given(some_shares(), st.floats(1e-12, 0.999), st.integers(1, 3), st.sampled_from(["one", "two"]))
def test_role_terms_add_up_to_constants_that_are_proved(case, delta, families, sides):
    """Not below the constant of the exact level, at 50 digits; and hardly above it."""
    K, D, shares = case
    terms = shares.role_terms(K, D, delta, sides=sides, families=families)
    keep, drop = exact_levels(shares, K, D, delta)
    # the penalty is that of the largest level of the arm, as lowered and returned
    keep_pen = penalty(shares.keep_levels(K, D, delta).max(axis=1))
    drop_pen = penalty(shares.drop_levels(K, delta, families).max(axis=1))
    with mpmath.workdps(50):

        def check(total, level, pen):
            level = mpmath.mpf(level.numerator) / level.denominator
            proved = -2 * mpmath.log(level)
            if sides == "one":
                proved += 2 * min(mpmath.mpf(float(pen)), mpmath.log(2)) - 2 * mpmath.log(2)
                # it is at least the penalty of this level
                assert total >= float(one_sided_constant(float(level))) * (1 - 3e-12)
            assert proved <= mpmath.mpf(float(total)) <= proved + mpmath.mpf("1e-11")

        for i in range(K):
            for d in range(D):
                check(terms.keep_arm[i] + terms.keep_objective[d], keep[i][d], keep_pen[i])
            for j in range(K):
                if j != i:
                    total = terms.drop_arm[i] + terms.drop_rival[j]
                    check(total, drop[i][j] / families, drop_pen[i])


def test_role_terms_cannot_be_changed():
    terms = Shares().role_terms(3, 2, 0.1)
    with pytest.raises(ValueError, match="read-only"):
        terms.keep_arm[0] = 0.0


def test_a_thousand_arms_are_no_trouble():
    shares = informed_shares(np.arange(1, 1001) ** 2.0)
    assert math.fsum(shares.drop_levels(1000, 0.1).ravel()) <= 0.1
    assert np.isfinite(shares.role_terms(1000, 10, 0.1).drop_arm).all()


# --- the noun -------------------------------------------------------------------------------------


@exactly
@given(some_shares())
def test_shares_are_immutable_hashable_and_survive_their_own_spelling(case):
    _, _, shares = case
    again = eval(repr(shares))
    assert again == shares
    assert hash(again) == hash(shares)
    with pytest.raises(dataclasses.FrozenInstanceError):
        shares.arms = None
    for part in (shares.arms, shares.rivals, shares.objectives):
        assert part is None or all(type(entry) is float for entry in part)


def test_any_list_of_numbers_is_accepted():
    wanted = Shares(arms=(0.25, 0.75))
    for arms in ([0.25, 0.75], np.array([0.25, 0.75]), (x for x in (0.25, 0.75)),
                 [np.float32(0.25), Fraction(3, 4).__float__()]):  # fmt: skip
        assert Shares(arms=arms) == wanted
    assert Shares(objectives=[1]).objectives == (1.0,)
    assert Shares(arms=(0.25, 0.75)) != Shares(rivals=(0.25, 0.75))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([0.5, 0.5, 0.0], r"\[2\]=0.0 must be above 0: a share of zero makes every interval that"),
        ([1.5, -0.5], r"\[1\]=-0.5 must be above 0"),
        ([0.5, math.nan], r"\[1\]=nan must be a finite number"),
        ([math.inf, 0.5], r"\[0\]=inf must be a finite number"),
        ([0.5, "0.5"], r"\[1\]='0.5' must be a finite number"),
        ([True], r"\[0\]=True must be a finite number"),
        ([0.5, None], r"\[1\]=None must be a finite number"),
        ([[0.5], [0.5]], "must be a finite number"),
        ([0.5, 0.6], "sum to 1.1; they must sum to 1"),
        ([0.5, 0.5 + 3e-9], "must sum to 1"),
        ([], "sum to 0; they must sum to 1"),
        ("half", "must be a list of shares"),
        (0.5, "must be a list of shares"),
        ({0: 1.0}, "must be a list of shares"),
    ],
)
@pytest.mark.parametrize("name", ["arms", "rivals", "objectives"])
def test_bad_shares_are_refused_with_a_reason(name, entries, message):
    with pytest.raises(ValueError, match=message):
        Shares(**{name: entries})


def test_a_share_of_zero_is_said_to_be_infinite_for_ever():
    for name in ("arms", "rivals", "objectives"):
        with pytest.raises(ValueError, match=r"infinite for ever\. Give it a small share"):
            Shares(**{name: [1.0, 0.0]})


@pytest.mark.parametrize(
    ("shares", "K", "D", "message"),
    [
        (Shares(arms=[0.5, 0.5]), 3, 2, "shares of arms have length 2; 3 are needed"),
        (Shares(rivals=[0.5, 0.5]), 3, 2, "shares of rivals have length 2; 3 are needed"),
        (Shares(objectives=[1.0]), 3, 2, "objectives have length 1; 2 are needed"),
        (Shares(), 1, 2, "K=1"),
        (Shares(), 2, 0, "D=0"),
    ],
)
def test_lengths_must_be_those_of_the_problem(shares, K, D, message):
    for refused in (
        lambda: shares.check(K, D),
        lambda: shares.keep_levels(K, D, 0.1),
        lambda: shares.role_terms(K, D, 0.1),
    ):
        with pytest.raises(ValueError, match=message):
            refused()


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: Shares().keep_levels(2, 1, 1.0), "delta=1.0"),
        (lambda: Shares().drop_levels(2, 0.0), "delta=0.0"),
        (lambda: Shares(arms=[0.5, 0.5]).drop_levels(3, 0.1), "arms have length 2"),
        (lambda: Shares().drop_levels(3, 0.1, families=0), "families=0"),
        (lambda: Shares().role_terms(3, 2, 0.1, sides="both"), "sides='both'"),
        (lambda: Shares(arms=[1.0, 1e-305]).keep_levels(2, 1, 0.1), "never settle anything"),
        (lambda: Shares(rivals=[1.0, 1e-300, 1e-305]).drop_levels(3, 0.1), "to drop an arm"),
    ],
)
def test_levels_that_make_no_sense_are_refused(refused, message):
    with pytest.raises(ValueError, match=message):
        refused()


# --- Section 9: levels need only add up -----------------------------------------------------------


def test_the_product_form_spends_each_arm_s_share_once():
    u = sp.symbols("u1:5", positive=True)
    a, rest = sp.symbols("a", positive=True), 1 - u[0]
    drops = sum(a * u[j] / rest for j in range(1, 4)).subs(u[3], 1 - u[0] - u[1] - u[2])
    assert sp.simplify(drops - a) == 0


def leads(mu, families):
    """(F, K, K) the objective d_j of the proof, for each family of eps2."""
    chosen = np.empty((len(families), len(mu), len(mu)), dtype=int)
    for f, eps2 in enumerate(families):
        for i, j in itertools.product(range(len(mu)), repeat=2):
            ahead = mu[i] - mu[j]
            reached = np.flatnonzero(ahead >= eps2)
            chosen[f, i, j] = reached[0] if len(reached) else ahead.argmax()
    return chosen


def counted(mu, eps1, families):
    """(keep, drop): the events of the proof as (i, j, d), for all families together."""
    K, D = mu.shape
    near, optimal = theory.pareto_set(mu, eps1), theory.pareto_set(mu)
    keep, drop, chosen = set(), set(), leads(mu, families)
    for i, j in itertools.permutations(range(K), 2):
        if not near[i] and (mu[i] + eps1 < mu[j]).all() and all(i != k for k, _, _ in keep):
            keep |= {(i, j, d) for d in range(D)}  # one fixed dominator
        if optimal[i]:
            drop |= {(i, j, int(d)) for d in chosen[:, i, j]}
    return keep, drop


def wrong_goals(mu, eps1, families, lower, upper):
    """Goals that can be answered wrongly with these bounds: exact, k, and a cover for each eps2."""
    K = len(mu)
    near, optimal = theory.pareto_set(mu, eps1), theory.pareto_set(mu)
    others = [[j for j in range(K) if j != i] for i in range(K)]
    wrong = set()
    for i in range(K):
        if not near[i] and all((lower[i, j] > -eps1).any() for j in others[i]):
            wrong.add("a wrong arm is kept")
        if optimal[i]:
            for j in others[i]:
                if (upper[i, j] < 0).all():
                    wrong.add("an optimal arm is dropped")
                for eps2 in families:
                    covered = (mu[i] < mu[j] + eps2).all()
                    if (upper[i, j] < eps2).all() and not covered:
                        wrong.add("an arm is dropped for one that does not cover it")
    return wrong


def just_holding(mu, keep, drop):
    """Bounds of which only the counted ones hold; all others are as wrong as can be."""
    difference = mu[:, None] - mu[None]
    lower, upper = np.full(difference.shape, np.inf), np.full(difference.shape, -np.inf)
    for event in keep:
        lower[event] = difference[event]
    for event in drop:
        upper[event] = difference[event]
    return lower, upper


UNEVEN = {
    2: Shares(arms=[0.9, 0.1], rivals=[0.2, 0.8]),
    3: Shares(arms=[0.7, 0.2, 0.1], rivals=[0.1, 0.6, 0.3]),
    4: Shares(arms=[0.55, 0.25, 0.15, 0.05], rivals=[0.55, 0.25, 0.15, 0.05]),
}


@pytest.mark.parametrize(
    ("K", "D", "heights"), [(2, 1, 3), (3, 1, 4), (2, 3, 3), (3, 2, 3), (4, 2, 2), (3, 3, 2)]
)
@pytest.mark.parametrize("eps1", [0.0, 1.0])
@pytest.mark.parametrize("slacks", [(0,), (1,), (0, 2)])
def test_whatever_the_pareto_set_the_counted_levels_cost_at_most_delta(K, D, heights, eps1, slacks):
    """All domination patterns, uneven shares, one or two families of vector eps2."""
    rng = np.random.default_rng(len(slacks) + D)
    families = [rng.permutation(np.arange(D, dtype=float)) * s for s in slacks]
    shares, delta = UNEVEN[K], 0.2
    shares = dataclasses.replace(shares, objectives=scaled(-np.arange(D) / 2))
    keep_levels = shares.keep_levels(K, D, delta)
    drop_levels = shares.drop_levels(K, delta, families=len(families))
    slack = np.full(D, eps1)
    largest = 0.0
    for flat in itertools.product(range(heights), repeat=K * D):
        mu = np.array(flat, dtype=float).reshape(K, D)
        keep, drop = counted(mu, slack, families)
        assert not wrong_goals(mu, slack, families, *just_holding(mu, keep, drop))
        cost = [keep_levels[i, d] for i, _, d in keep] + [drop_levels[i, j] for i, j, _ in drop]
        largest = max(largest, math.fsum(cost))
    assert delta * 0.4 < largest <= delta  # not idle


def test_families_are_needed_when_vector_slacks_differ():
    """The same upper bounds serve one vector eps2 each, not both: F = 1 would spend 1.5 delta."""
    mu = np.array([[2.0, 1.0], [0.0, 0.0]])  # arm 0 leads by 2 and by 1
    families = [np.array([2.0, 9.0]), np.array([9.0, 1.0])]  # covered but for d = 0, but for d = 1
    _, drop = counted(mu, np.zeros(2), families)
    assert {event for event in drop if event[:2] == (0, 1)} == {(0, 1, 0), (0, 1, 1)}
    for missing in [(0, 1, 0), (0, 1, 1)]:
        keep, drop = counted(mu, np.zeros(2), families)
        bounds = just_holding(mu, keep, drop - {missing})
        assert wrong_goals(mu, np.zeros(2), families, *bounds)
    one = math.fsum(Shares().drop_levels(2, 0.2)[i, j] for i, j, _ in drop if i == 0)
    assert one == pytest.approx(0.2)  # twice arm 0's 0.1
    two = math.fsum(Shares().drop_levels(2, 0.2, families=2)[i, j] for i, j, _ in drop if i == 0)
    assert two == pytest.approx(0.1)


def test_a_ray_of_slacks_is_one_family():
    """eps2 = c e for one direction e and every c >= 0: the d of the largest lead/e serves all."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        mu = rng.integers(0, 5, size=(4, 3)).astype(float)
        direction = rng.integers(1, 4, size=3).astype(float)
        ray = [c * direction for c in (0.0, 0.3, 1.0, 2.5)]
        keep, _ = counted(mu, np.zeros(3), ray)
        drop = {
            (i, j, int(((mu[i] - mu[j]) / direction).argmax()))
            for i, j in itertools.permutations(range(4), 2)
        }
        assert not wrong_goals(mu, np.zeros(3), ray, *just_holding(mu, keep, drop))


def test_each_of_the_two_kinds_of_shares_must_add_up():
    """Rivals' shares that are not divided by 1 - u_i and scaled up by K/(K-1) spend too much."""
    a, u = np.full(3, 0.1 / 3), np.array([0.1, 0.45, 0.45])
    careless = a[:, None] * u[None, :] * 3 / 2
    np.fill_diagonal(careless, 0)
    assert careless.sum(axis=1)[0] > a[0] * 1.3
    shares = Shares(rivals=u)
    assert (shares.drop_levels(3, 0.1).sum(axis=1) <= a).all()


def test_one_sided_constants_at_the_level_of_pairs_spend_twice_delta_at_ties():
    for K in (2, 3):
        level = levels(K, 1, 0.1, "claims")[0]  # few arms: delta/K1, a two-sided level
        assert level == 0.1 / K1(K, 1)
        tied = np.zeros((K, 1))
        keep, drop = counted(tied, np.zeros(1), [np.zeros(1)])
        assert not keep
        assert len(drop) * level == pytest.approx(2 * 0.1)  # one-sided events, both orders
        pairs = {frozenset(event[:2]) for event in drop}
        assert len(pairs) * level == pytest.approx(0.1)  # two-sided ones
        cost = math.fsum(Shares().drop_levels(K, 0.1)[i, j] for i, j, _ in drop)
        assert cost == pytest.approx(0.1)  # claims levels, one-sided


@pytest.mark.parametrize(
    ("K", "D", "until"), [(2, 1, 0.0), (2, 2, 0.616), (2, 3, 1.0), (3, 1, 0.924), (3, 2, 1.0),
                          (4, 1, 1.0), (20, 3, 1.0)]
)  # fmt: skip
def test_where_one_sided_claims_have_smaller_constants_than_two_sided_pairs(K, D, until):
    """C_keep + C_drop below twice 2 log(K1/delta): for delta up to `until`, never for (2, 1)."""
    deltas = np.linspace(0.001, 0.999, 999)
    claims = one_sided_constant(deltas / (K * D)) + one_sided_constant(deltas / (K * (K - 1)))
    smaller = claims < 4 * np.log(K1(K, D) / deltas)
    assert (smaller == (deltas < until)).mean() > 0.998  # the crossing to three decimals


# --- Section 10: informed -------------------------------------------------------------------------


def test_informed_shares_by_hand():
    # n = 600, 300, 100: 0.8 n/1000 + 0.2/3
    shares = informed_shares([600, 300, 100])
    wanted = [0.48 + 0.2 / 3, 0.24 + 0.2 / 3, 0.08 + 0.2 / 3]
    assert shares.arms == pytest.approx(wanted, rel=1e-14)
    assert shares.rivals == shares.arms
    assert shares.objectives is None
    assert informed_rho([600, 300, 100, 12]).tolist() == [50.0, 25.0, 100 / 12, 5.0]


def test_equal_counts_and_a_full_mix_are_uniform():
    assert informed_shares([70.0] * 7).is_uniform
    assert informed_shares([1.0, 10.0, 1e6], mix=1.0).is_uniform
    assert informed_shares([1.0, 10.0, 1e6], mix=1).is_uniform


@exactly
@given(
    st.lists(st.floats(1e-300, 1e300), min_size=2, max_size=8),
    st.floats(1e-12, 1),
)
def test_informed_shares_keep_a_floor_under_every_arm(counts, mix):
    shares = informed_shares(counts, mix)
    K = len(counts)
    assert min(shares.arms) >= mix / K * (1 - 1e-12)
    order = np.argsort(counts, kind="stable")
    assert (np.diff(np.array(shares.arms)[order]) >= -1e-15).all()  # more samples, more share
    assert math.fsum(shares.arms) == pytest.approx(1, abs=1e-12)
    assert (informed_rho(counts) >= 5).all()


@pytest.mark.parametrize("counts", [[0.0, 1.0], [1.0, -2.0], [1.0, math.nan], [1.0, math.inf],
                                    [5.0], 5.0, [[1.0, 2.0]], ["a", "b"], None])  # fmt: skip
def test_bad_counts_are_refused(counts):
    for function in (informed_shares, informed_rho):
        with pytest.raises(ValueError, match="counts"):
            function(counts)


def test_infinite_counts_are_told_to_be_capped():
    with pytest.raises(ValueError, match="never be settled need infinitely many; cap them"):
        informed_shares([10.0, math.inf])


@pytest.mark.parametrize("mix", [0.0, -0.1, 1.1, math.nan, "0.2", True, None])
def test_bad_mixes_are_refused(mix):
    with pytest.raises(ValueError, match="mix="):
        informed_shares([1.0, 2.0], mix)


def test_the_cheapest_shares_are_proportional_to_the_counts():
    # sum n_i log(1/a_i) subject to sum a_i = delta: n_i/a_i is the same for all arms
    n1, n2, n3 = sp.symbols("n1:4", positive=True)
    x1, x2, budget = sp.symbols("x1 x2 delta", positive=True)
    cost = -n1 * sp.log(x1) - n2 * sp.log(x2) - n3 * sp.log(budget - x1 - x2)
    total = n1 + n2 + n3
    best = {x1: budget * n1 / total, x2: budget * n2 / total}
    assert sp.simplify(sp.diff(cost, x1).subs(best)) == 0
    assert sp.simplify(sp.diff(cost, x2).subs(best)) == 0


@pytest.mark.parametrize("alpha", [1 / 600, 1 / 3800, 1e-5, 1e-7])
def test_a_twelfth_of_the_counts_is_near_the_best_rho(alpha):
    C = float(one_sided_constant(alpha))

    def squared_radius(log_ratio):  # n times beta^2 at rho = n/ratio, equal counts
        ratio = math.exp(log_ratio)
        return (C + 2 * math.log1p(ratio)) * 2 * (1 + 1 / ratio)

    best = minimize_scalar(squared_radius, bounds=(0, 6), method="bounded").fun
    assert squared_radius(math.log(12)) / best < 1.01


def test_rho_chosen_after_the_data_is_no_supermartingale():
    """E of the larger of two mixtures exceeds 1 after ten draws: the choice must come first."""

    def mixture(x, rho, n=10):
        return math.sqrt(rho / (n + rho)) * math.exp(x * x / (2 * (n + rho)))

    def mean(value):
        density = lambda x: math.exp(-x * x / 20) / math.sqrt(20 * math.pi)  # noqa: E731
        return quad(lambda x: value(x) * density(x), -60, 60, limit=400)[0]

    assert mean(lambda x: mixture(x, 1.0)) == pytest.approx(1, abs=1e-6)
    assert mean(lambda x: mixture(x, 100.0)) == pytest.approx(1, abs=1e-6)
    assert mean(lambda x: max(mixture(x, 1.0), mixture(x, 100.0))) > 1.2


def test_shares_chosen_after_the_data_spend_delta_many_times():
    """Ten true claims, each watched at level a_i; all of delta to whichever looks worst."""
    delta, K = 0.1, 10
    p_values = np.random.default_rng(1).uniform(size=(100_000, K))
    fixed = (p_values < delta / K).any(axis=1).mean()
    chosen = (p_values.min(axis=1) < delta).mean()  # 1 - 0.9^10 = 0.65
    # 0.1 +- 0.005 is five standard deviations: a false alarm in two million seeds
    assert fixed < delta + 0.005
    assert chosen > 0.6


def test_the_package_exports_the_shares():
    for name in ("RoleTerms", "Shares", "informed_rho", "informed_shares"):
        assert name in theory.__all__
