import numpy as np
import pytest

from paretoid import theory

# A and B are optimal, C is below A by (0.5, 0.5).
#   M(A, B) = M(B, A) = 2, M(C, A) = -0.5, M(C, B) = 1.5, M(A, C) = 0.5, M(B, C) = 2.5
#   Delta_C = 0.5; delta_A^- = 0 + 0.5, delta_B^- = 1.5 + 0.5; delta^+ = 2 for both
THREE = np.array([[2.0, 0.0], [0.0, 2.0], [1.5, -0.5]])


def test_gaps_by_hand():
    np.testing.assert_array_equal(theory.gaps(THREE), [0.5, 2.0, 0.5])


def test_omega_by_hand():
    np.testing.assert_array_equal(theory.omega(THREE), [0.5, 2.0, -0.5])
    assert [theory.omega_k(THREE, k) for k in (1, 2, 3)] == [2.0, 0.5, -0.5]


def test_the_easiest_arms_have_the_largest_omega():
    assert theory.easiest_arms(THREE, 1).tolist() == [False, True, False]
    assert theory.easiest_arms(THREE, 2).tolist() == [True, True, False]


def test_ties_between_easiest_arms_take_the_lowest_index():
    assert theory.easiest_arms([[1.0, 0.0], [0.0, 1.0]], 1).tolist() == [True, False]


def test_combined_gaps_by_hand():
    np.testing.assert_array_equal(theory.combined_gaps(THREE), [0.5, 2.0, 0.5])
    np.testing.assert_array_equal(theory.combined_gaps(THREE, eps1=1.0), [1.0, 2.0, 1.0])
    np.testing.assert_array_equal(theory.combined_gaps(THREE, k=1), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(theory.combined_gaps(THREE, k=3), [0.5, 2.0, 0.5])


def test_a_vector_eps_enters_as_its_minimum_and_costs_its_spread():
    for eps, least, spread in (([3.0, 1.0], 1.0, 2.0), ([0.25, 0.5], 0.25, 0.25)):
        expected = np.maximum(theory.gaps(THREE) - spread, least)
        np.testing.assert_array_equal(theory.combined_gaps(THREE, eps1=eps), expected)


def test_a_unique_optimum_has_the_smallest_gap_of_the_others():
    means = [[1.0, 1.0], [0.75, 0.5], [0.0, 0.5]]  # gaps 0.25 and 0.5
    np.testing.assert_array_equal(theory.gaps(means), [0.25, 0.25, 0.5])


def test_the_gap_below_counts_how_far_the_other_arm_sticks_out():
    # C is below A alone (by 1, 1) and above B by 1 in the first objective:
    # delta_B^- = 1 + 1 = 2 is smaller than delta_B^+ = M(B, A) = 2.5.
    means = [[2.0, 0.0], [0.0, 2.5], [1.0, -1.0]]
    np.testing.assert_array_equal(theory.gaps(means), [1.0, 2.0, 1.0])


def test_identical_optimal_arms_have_gap_zero():
    np.testing.assert_array_equal(theory.gaps([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]), [0, 0, 1])


@pytest.mark.parametrize(
    "function", [theory.gaps, theory.omega, theory.combined_gaps, lambda m: theory.omega_k(m, 1)]
)
def test_one_arm_has_no_gap(function):
    with pytest.raises(ValueError, match="K=1"):
        function([[1.0, 2.0]])


@pytest.mark.parametrize("k", [0, -1, 4, 1.5, True, "2"])
def test_k_out_of_range_is_refused(k):
    for function in (theory.omega_k, theory.easiest_arms):
        with pytest.raises(ValueError, match="k="):
            function(THREE, k)
    with pytest.raises(ValueError, match="k="):
        theory.combined_gaps(THREE, k=k)
