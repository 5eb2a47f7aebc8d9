from fractions import Fraction

import numpy as np
import pytest

from paretoid import theory

STAIRS = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, -0.25]])


def test_three_strengths_of_domination_on_a_hand_example():
    # arm 1 equals arm 0 in the first objective and is better in the second; arm 2 is above both.
    means = [[0.0, 0.0], [0.0, 1.0], [1.0, 2.0]]
    weak = [[True, True, True], [False, True, True], [False, False, True]]
    plain = [[False, True, True], [False, False, True], [False, False, False]]
    strict = [[False, False, True], [False, False, True], [False, False, False]]
    np.testing.assert_array_equal(theory.domination(means, "weak"), weak)
    np.testing.assert_array_equal(theory.domination(means, "plain"), plain)
    np.testing.assert_array_equal(theory.domination(means, "strict"), strict)


def test_identical_arms_dominate_each_other_weakly_only():
    means = [[1.0, 2.0], [1.0, 2.0]]
    assert theory.domination(means, "weak").all()
    assert not theory.domination(means, "plain").any()
    assert not theory.domination(means, "strict").any()


def test_margins_by_hand():
    # M(0, 2) = max(1.5, 0.25), M(2, 0) = max(-1.5, -0.25)
    expected = [[0.0, 1.0, 1.5], [1.0, 0.0, 1.25], [-0.25, -0.5, 0.0]]
    np.testing.assert_array_equal(theory.margins(STAIRS), expected)


def test_pareto_set_by_hand():
    np.testing.assert_array_equal(theory.pareto_set(STAIRS), [True, True, False])


def test_a_tie_in_one_objective_keeps_both_arms():
    assert theory.pareto_set([[0.0, 0.0], [0.0, 1.0]]).all()


def test_eps_is_enough_exactly_when_it_closes_the_smallest_difference():
    # Arm 2 is below arm 0 by (1.5, 0.25) and below arm 1 by (0.5, 1.25): it needs 0.25 and 0.5.
    assert not theory.pareto_set(STAIRS, eps=0.4999)[2]
    assert theory.pareto_set(STAIRS, eps=0.5)[2]


def test_vector_eps_counts_each_objective_by_itself():
    means = [[1.0, 1.0], [0.0, 0.0]]
    assert theory.pareto_set(means, eps=[1.0, 0.0])[1]
    assert not theory.pareto_set(means, eps=[0.5, 0.5])[1]


def test_one_arm_is_its_own_pareto_set():
    assert theory.pareto_set([[3.0, -1.0]]).tolist() == [True]


def test_ties_at_eps_agree_with_rational_arithmetic_on_binary_fractions():
    # Eighths are exact in floats, so the float answer must be the rational one.
    rng = np.random.default_rng(5)
    for _ in range(200):
        numerators = rng.integers(-4, 5, size=(5, 2))
        eps = int(rng.integers(0, 4))
        rational = [[Fraction(int(n), 8) for n in row] for row in numerators]
        expected = [
            not any(
                all(x + Fraction(eps, 8) < y for x, y in zip(row, other, strict=True))
                for other in rational
            )
            for row in rational
        ]
        assert theory.pareto_set(numerators / 8, eps=eps / 8).tolist() == expected


@pytest.mark.parametrize(
    ("means", "sentence"),
    [
        ([1.0, 2.0], "must be \\(K, D\\)"),
        (np.empty((3, 0)), "D=0"),
        ([[1.0], [np.nan]], "not finite"),
        ([[1.0], [np.inf]], "not finite"),
        ([["a"]], "table of numbers"),
        (np.empty((0, 2)), "K=0"),
    ],
)
def test_bad_means_are_refused_with_a_sentence(means, sentence):
    for function in (theory.margins, theory.pareto_set, theory.domination):
        with pytest.raises(ValueError, match=sentence):
            function(means)


@pytest.mark.parametrize("eps", [-0.1, np.nan, np.inf, [0.1, 0.1, 0.1], "wide"])
def test_bad_eps_is_refused(eps):
    with pytest.raises(ValueError, match="eps"):
        theory.pareto_set(STAIRS, eps=eps)


def test_unknown_strength_is_refused():
    with pytest.raises(ValueError, match="weak"):
        theory.domination(STAIRS, "brutal")


def test_no_cubic_temporary_at_two_thousand_arms():
    # A K x K x D array would take 320 MB; the table itself takes 32 MB.
    import tracemalloc

    means = np.random.default_rng(0).normal(size=(2000, 10))
    tracemalloc.start()
    theory.gaps(means)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6
