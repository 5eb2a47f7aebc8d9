"""What the paper says about margins, gaps and its lower-bound instance, derived symbolically."""

import itertools

import numpy as np
import pytest
import sympy as sp

from paretoid import theory
from paretoid.theory import symbolic

x, y, z = sp.symbols("x y z", real=True)


def test_m_is_minus_M():
    # min(-x, -y) = -max(x, y); more objectives follow by taking them two at a time.
    assert sp.simplify((sp.Min(-x, -y) + sp.Max(x, y)).rewrite(sp.Abs)) == 0
    assert sp.Min(sp.Min(-x, -y), -z) == sp.Min(-x, -y, -z)
    assert sp.Max(sp.Max(x, y), z) == sp.Max(x, y, z)


def test_positive_part_identity_of_case_2_1():
    # (x - y)^+ + (x + y) <= max(x + y, 2x): it is an equality.
    difference = sp.Max(x - y, 0) + (x + y) - sp.Max(x + y, 2 * x)
    assert sp.simplify(difference.rewrite(sp.Abs)) == 0


def test_the_union_over_pairs_and_objectives_spends_delta():
    assert symbolic.DERIVATIONS["pairs_spend_delta"].check().holds
    for arms, objectives in itertools.product(range(2, 6), range(1, 4)):
        assert (
            theory.K1(arms, objectives)
            == len(list(itertools.combinations(range(arms), 2))) * objectives
        )


def symbolic_gaps(M, optimal):
    """Delta_i of the paper from a table of symbolic margins and the set of optimal arms."""
    K = len(M)
    delta = {i: sp.Max(*[-M[i][j] for j in optimal]) for i in range(K) if i not in optimal}
    for i in optimal:
        if len(optimal) == 1:
            delta[i] = sp.Min(*[delta[j] for j in range(K) if j != i])
        else:
            plus = [sp.Min(M[i][j], M[j][i]) for j in optimal if j != i]
            minus = [sp.Max(M[j][i], 0) + delta[j] for j in range(K) if j not in optimal]
            delta[i] = sp.Min(*plus, *minus)
    return delta


def test_one_objective_gaps_are_best_arm_gaps():
    best = sp.symbols("mu", real=True)
    g = sp.symbols("g1:4", positive=True)
    mu = [best] + [best - gap for gap in g]
    M = [[a - b for b in mu] for a in mu]
    gaps = symbolic_gaps(M, [0])
    assert [gaps[i] for i in (1, 2, 3)] == list(g)
    assert gaps[0] == sp.Min(*g)
    # delta_i^- of the printed reduction: M(j, a*)^+ + Delta_j = Delta_j
    assert all(sp.Max(M[j][0], 0) == 0 for j in (1, 2, 3))
    # omega of the best arm is the same minimum, and negative for the others
    assert sp.Min(*[M[0][j] for j in (1, 2, 3)]) == sp.Min(*g)
    assert all((M[j][0]).is_negative for j in (1, 2, 3))


@pytest.mark.parametrize("seed", range(5))
def test_one_objective_gaps_in_numbers(seed):
    means = np.random.default_rng(seed).permutation(np.array([0.0, 0.5, 1.25, 2.0, 2.25]))
    top = means.argmax()
    expected = means[top] - means
    expected[top] = 0.25
    np.testing.assert_array_equal(theory.gaps(means[:, None]), expected)
    assert theory.omega_k(means[:, None], 1) == 0.25


def test_one_objective_stopping_is_the_likelihood_ratio_test():
    # mu_a - mu_i > beta  iff  (mu_a - mu_i)^2 / (2 (1/p + 1/q)) > 2 C + 2 l_p + 2 l_q
    p, q, C = sp.symbols("p q C", positive=True)
    lp, lq = (sp.log(4 + sp.log(n)) for n in (p, q))
    beta = 2 * sp.sqrt((C + lp + lq) * (1 / p + 1 / q))
    threshold = sp.simplify(beta**2 / (2 * (1 / p + 1 / q)))
    assert sp.simplify(threshold - (2 * C + 2 * lp + 2 * lq)) == 0
    # and that ratio is the generalised likelihood ratio of two Gaussians of variance 1
    u, v, m = sp.symbols("u v m", real=True)
    cost = p * (u - m) ** 2 / 2 + q * (v - m) ** 2 / 2
    (merged,) = sp.solve(sp.diff(cost, m), m)
    assert sp.simplify(cost.subs(m, merged) - (u - v) ** 2 / (2 * (1 / p + 1 / q))) == 0
    # the code's radius is that beta
    radius = theory.KaufmannKoolen()
    value = beta.subs({p: 7, q: 40, C: radius.constants(4, 1, 0.1)[0]})
    assert float(radius.half_width(7, 40, 4, 1, 0.1)) == pytest.approx(float(value), rel=1e-14)


def test_margins_of_the_lower_bound_instance_for_symbolic_p():
    w = sp.symbols("omega", positive=True)
    i, j, p = sp.symbols("i j p", integer=True, positive=True)
    low, high = (4 + 2 * i) * w, 2 ** (p - i) * w  # x_i for i <= p - 3 and for i >= p - 2
    # among the first group: 2 omega |i - j|
    assert sp.simplify(low - low.subs(i, j) - 2 * w * (i - j)) == 0
    # among the last three: 2^p omega (2^-i - 2^-j)
    assert sp.simplify(high - high.subs(i, j) - 2**p * w * (2 ** (-i) - 2 ** (-j))) == 0
    # between them: (4 + 2 i - 2^(p - j)) omega, at least 2 omega because i >= 1 and j >= p - 2
    assert sp.simplify(low - high.subs(i, j) - (4 + 2 * i - 2 ** (p - j)) * w) == 0
    assert (4 + 2 * i - 4).subs(i, 1) == 2
    # On the line (x, -x, const) both margins are the distance |x_i - x_j|.
    a, b = sp.symbols("a b", real=True)
    assert sp.simplify((sp.Max(a - b, -a - (-b), 0) - sp.Abs(a - b)).rewrite(sp.Abs)) == 0
    # Sorted, x is omega (1, 2, 4, 6, ..., 2p - 2): neighbours are 1, 2, 2, ... apart.
    assert [high.subs(i, p - n) / w for n in (0, 1, 2)] == [1, 2, 4]
    assert sp.simplify(low.subs(i, i + 1) - low) == 2 * w
    assert low.subs(i, 1) - high.subs(i, p - 2) == 2 * w
    assert sp.expand(low.subs(i, p - 3) - (2 * p - 2) * w) == 0


@pytest.mark.parametrize("p", [3, 4, 5, 6, 9])
@pytest.mark.parametrize("D", [2, 4])
def test_gaps_of_the_lower_bound_instance_are_the_printed_ones(p, D):
    omega = 0.25
    means = theory.lower_bound_instance(p, D, omega)
    assert theory.pareto_set(means).all()
    printed = [2 * omega] * (p - 3) + [2 * omega, omega, omega]  # arms 1..p
    np.testing.assert_array_equal(theory.gaps(means), printed)
    np.testing.assert_array_equal(theory.omega(means), printed)
    assert theory.omega_k(means, p) == theory.omega_k(means, p - 1) == omega
    assert theory.omega_k(means, p - 2) == 2 * omega


@pytest.mark.parametrize("p", [3, 4, 5, 6, 9])
@pytest.mark.parametrize("D", [2, 3])
def test_the_alternatives_of_the_lower_bound_change_the_answer(p, D):
    # Moving arm i by delta_i^+ + omega^k (+ a little) up beats 1 (k >= p - 1) or 2 (k = p - 2)
    # other arms; moving it down lets another beat it.
    means = theory.lower_bound_instance(p, D, 1.0)
    for k in (p - 2, p - 1, p):
        for i in range(p):
            step = theory.gaps(means)[i] + theory.omega_k(means, k) + 1e-6
            up, down = means.copy(), means.copy()
            up[i] += step
            down[i] -= step
            alive = theory.pareto_set(up)
            assert alive[i]
            assert alive.sum() <= (p - 2 if k == p - 2 else p - 1)
            assert not theory.pareto_set(down)[i]


def test_lower_bound_assembled_from_its_pieces():
    # E T_i >= d(1/2, delta) / (D u^2/2) with u = Delta_i + omega^k
    assert symbolic.DERIVATIONS["gaussian_divergence_of_a_shift"].check().holds
    assert symbolic.DERIVATIONS["binary_divergence_from_one_half"].check().holds
    D, u, d = sp.symbols("D u delta", positive=True)
    pieces = sp.log(1 / (4 * d * (1 - d))) / (D * u**2)
    means = theory.lower_bound_instance(5, 3, 0.7)
    distances = theory.gaps(means) + theory.omega_k(means, 3)
    total = sum(float(pieces.subs({D: 3, u: step, d: 0.05})) for step in distances)
    assert theory.lower_bound(means, 0.05, 3) == pytest.approx(total, rel=1e-13)
