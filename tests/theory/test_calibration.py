import math

import mpmath as mp
import pytest

from paretoid import theory


def slope(lam, x):
    """(g(l) + x)/l at the working precision of mpmath."""
    g = 2 * lam - 2 * lam * mp.log(4 * lam) + mp.log(mp.zeta(2 * lam)) - mp.log(1 - lam) / 2
    return (g + x) / lam


def minimum(x):
    """C^g(x) at 50 digits: the zero of the derivative, by bisection."""
    low, high = mp.mpf("0.5") + mp.mpf(10) ** -6, 1 - mp.mpf(10) ** -12
    for _ in range(120):
        middle = (low + high) / 2
        if mp.diff(lambda lam: slope(lam, x), middle) < 0:
            low = middle
        else:
            high = middle
    return slope((low + high) / 2, x)


@pytest.mark.parametrize(
    ("count", "exact", "approximate"), [(1, 2.671, 1.292), (570, 6.047, 5.788)]
)
def test_calibration_at_the_two_levels_of_the_paper(count, exact, approximate):
    x = math.log(count / 0.1) / 2
    assert round(theory.C_g(x), 3) == exact
    assert round(theory.C_g_approximate(x), 3) == approximate


@pytest.mark.parametrize("x", [1e-6, 0.3, 1.15, 4.3, 30.0])
def test_calibration_agrees_with_fifty_digits(x):
    with mp.workdps(50):
        exact = minimum(mp.mpf(x))
    assert theory.C_g(x) == pytest.approx(float(exact), rel=1e-13)  # rounding of ten operations


def test_calibration_is_a_minimum_over_the_whole_interval():
    for x in (0.01, 1.0, 4.0, 20.0):
        values = [slope(mp.mpf(i) / 2000, mp.mpf(x)) for i in range(1010, 2000, 15)]
        assert all(theory.C_g(x) <= value for value in values)


def test_the_approximation_is_too_small_for_small_x_and_too_large_for_large_x():
    for x in (0.05, 0.5, 1.0, 4.3):
        assert theory.C_g_approximate(x) < theory.C_g(x)
    for x in (20.0, 100.0):
        assert theory.C_g_approximate(x) > theory.C_g(x)


@pytest.mark.parametrize("x", [0, -1.0, math.nan, math.inf, "1"])
def test_bad_levels_are_refused(x):
    for function in (theory.C_g, theory.C_g_approximate):
        with pytest.raises(ValueError, match="x="):
            function(x)


def test_number_of_differences():
    assert theory.K1(20, 3) == 570  # 190 pairs, three objectives
    assert theory.K1(2, 1) == 1


@pytest.mark.parametrize(("K", "D"), [(1, 1), (2, 0), (2.0, 1), (True, 1)])
def test_counts_of_nothing_are_refused(K, D):
    with pytest.raises(ValueError, match="must be"):
        theory.K1(K, D)
