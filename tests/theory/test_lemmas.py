"""The proof lemmas as statements about one round: any means, any estimates inside any intervals.

Each lemma is about a single round t, so a round may be drawn instead of reached by a path: true
means, estimates, and radii wide enough that every interval holds. Lower bounds use `keep`, upper
bounds `drop`; the paper's case is keep = drop. All numbers are multiples of 1/8, so exact.
"""

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoid import theory

exactly = settings(deadline=None, max_examples=300)


@dataclass
class Round:
    """One round: truth, estimates and radii, and what the rules of the paper make of them."""

    means: np.ndarray
    estimates: np.ndarray
    keep: np.ndarray
    drop: np.ndarray
    eps1: float

    def __post_init__(self):
        M = theory.margins(self.estimates)
        self.lower, self.upper = M - self.keep, M + self.drop
        np.fill_diagonal(self.lower, np.inf)
        np.fill_diagonal(self.upper, np.inf)
        self.h = self.lower.min(axis=1) + self.eps1
        self.g = -self.upper.min(axis=1)
        self.opt = self.h > 0
        self.front = theory.pareto_set(self.estimates)  # S(t)
        if not self.opt.all():
            index = np.where(self.opt, -np.inf, self.upper.min(axis=1))
            self.b = int(index.argmax())
            self.c = int(self.lower[self.b].argmin())
            self.width = self.keep[self.b, self.c] + self.drop[self.b, self.c]

    def stopped(self):
        return all(
            self.h[i] > 0 if self.front[i] else max(self.g[i], self.h[i]) > 0
            for i in range(len(self.h))
        )

    def cover_stopped(self, eps2):
        bonus = eps2 * self.opt.astype(float)
        g = (-self.upper + bonus[None, :]).max(axis=1)
        return bool((np.maximum(g, self.h) > 0).all())

    def recommended(self):
        return self.front | (~self.front & ~(self.g > 0))  # O(t)


@st.composite
def rounds(draw, same=False):
    K, D = draw(st.integers(2, 5)), draw(st.integers(1, 3))

    def table(low, high):
        row = st.lists(st.integers(low, high), min_size=D, max_size=D)
        return np.array(draw(st.lists(row, min_size=K, max_size=K))) / 8

    means, noise = table(-12, 12), table(-4, 4)
    error = np.abs(noise[:, None] - noise[None, :]).max(axis=2)

    def radius():
        extra = np.array(draw(st.lists(st.integers(0, 6), min_size=K * K, max_size=K * K)))
        extra = np.triu(extra.reshape(K, K), 1)
        return error + (extra + extra.T) / 8

    keep = radius()
    return Round(
        means, means + noise, keep, keep if same else radius(), draw(st.integers(0, 4)) / 8
    )


@exactly
@given(rounds())
def test_margins_lie_between_their_bounds(t):
    # Lemma ineq_gene
    M = theory.margins(t.means)
    np.fill_diagonal(M, np.inf)
    assert (t.lower <= M).all()
    assert (t.upper >= M).all()


@exactly
@given(rounds())
def test_stopped_answers_are_correct(t):
    # Lemma correctness-generic: the eps1-Pareto set, and k arms of it
    optimal, near = theory.pareto_set(t.means), theory.pareto_set(t.means, t.eps1)
    assert (t.opt <= near).all()
    if t.stopped():
        answer = t.recommended()
        assert (optimal <= answer).all()
        assert (answer <= near).all()
        assert (answer <= t.opt).all()  # so no more than k arms if |OPT| < k


@exactly
@given(rounds(), st.integers(0, 8).map(lambda n: n / 8))
def test_stopped_covers_are_covers(t, eps2):
    # Lemma correctness-eps1-eps-2-cover
    if t.cover_stopped(eps2):
        assert t.opt.any()
        optimal = theory.pareto_set(t.means)
        for i in np.flatnonzero(~t.opt & optimal):
            assert any((t.means[i] < t.means[j] + eps2).all() for j in np.flatnonzero(t.opt))


@exactly
@given(rounds(), st.integers(0, 8).map(lambda n: n / 8))
def test_before_stopping_nobody_certainly_dominates_b(t, eps2):
    # Lemma stoppingcond, for both stopping rules
    for stopped in (t.stopped(), t.cover_stopped(eps2)):
        if not stopped:
            assert not t.opt.all()
            assert (t.upper[t.b] >= 0).all()


@exactly
@given(rounds())
def test_stopping_is_read_off_b_alone(t):
    # Z1 > 0 and Z2 > 0 iff OPT is everything or b_t's own index is negative
    assert t.stopped() == (bool(t.opt.all()) or t.upper[t.b].min() < 0)


@exactly
@given(rounds(), st.booleans(), st.integers(0, 8).map(lambda n: n / 8))
def test_before_stopping_gaps_are_within_the_width(t, cover, eps2):
    # Lemmas samplold and sampl-complex-eps at (b_t, c_t), keep + drop for 2 beta
    if not (t.cover_stopped(eps2) if cover else t.stopped()):
        gaps = theory.gaps(t.means)
        assert max(gaps[t.b], gaps[t.c], t.eps1) <= t.width


@exactly
@given(rounds())
def test_before_stopping_omega_k_is_within_the_width(t):
    # Lemma samplwm
    if not t.stopped():
        for k in range(int(t.opt.sum()) + 1, len(t.means) + 1):
            assert theory.omega_k(t.means, k) <= t.width


@exactly
@given(rounds(same=True))
def test_below_the_empirical_front_domination_is_the_likelier_claim(t):
    # Eq. (eq-simpli): g_i > h_i for eps1 = 0 and i outside S(t)
    below = ~t.front
    assert (t.g[below] > t.h[below] - t.eps1).all()


@exactly
@given(rounds(same=True))
def test_with_one_objective_the_first_condition_implies_the_second(t):
    # Lemma stopping-time-simplif, for means cut to their first objective and eps1 = 0
    one = Round(t.means[:, :1], t.estimates[:, :1], t.keep, t.drop, 0.0)
    if (one.h[one.front] > 0).all():
        assert one.stopped()
