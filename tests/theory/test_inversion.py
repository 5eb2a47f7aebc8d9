import math

import mpmath as mp
import numpy as np
import pytest

from paretoid import theory


def test_log_crossings_of_a_level_known_by_hand():
    # log(2)/2 = log(4)/4
    low, high = theory.log_crossings(1.0, math.log(2) / 2)
    assert low == pytest.approx(2.0, rel=1e-14)  # a few roundings
    assert high == pytest.approx(4.0, rel=1e-14)


def test_log_crossings_solve_their_equation():
    a = np.array([0.3, 1.0, 7.0])[:, None]
    b = a / math.e * np.array([1e-12, 1e-3, 0.5, 0.99])
    for root in theory.log_crossings(a, b):
        # conditioning at 0.99 of the peak costs a factor 10
        np.testing.assert_allclose(np.log(a * root), b * root, rtol=1e-13, atol=1e-13)


def test_log_ratio_is_below_the_level_exactly_outside_the_crossings():
    low, high = theory.log_crossings(2.0, 0.3)
    x = np.concatenate([low * np.array([0.1, 0.999]), high * np.array([1.001, 10.0])])
    assert (np.log(2 * x) / x < 0.3).all()
    inside = np.linspace(low, high, 9)[1:-1]
    assert (np.log(2 * inside) / inside > 0.3).all()


@pytest.mark.parametrize("b", [1 / math.e, 1.0, 50.0])
def test_levels_above_the_peak_have_both_crossings_at_the_peak(b):
    low, high = theory.log_crossings(1.0, b)
    assert low == high == math.e


def test_lambert_bounds_enclose_the_branch():
    x = -np.geomspace(1e-300, math.exp(-1), 400)
    low, high = theory.lambert_bounds(x)
    for lower, upper, value in zip(low[::20], high[::20], x[::20], strict=True):
        w = -mp.lambertw(mp.mpf(value), -1).real
        assert mp.mpf(lower) <= w * (1 + mp.mpf(10) ** -14)  # the float bound is rounded
        assert w <= mp.mpf(upper)


def test_exponential_bound_by_hand():
    # a = 1/e: exp(-W_{-1}(-1/e)) = e and the bound is sqrt(e) e
    assert theory.lambert_exponential_bound(math.exp(-1)) == pytest.approx(math.exp(1.5))


@pytest.mark.parametrize("level", np.geomspace(1e-9, 20, 40))
def test_loglog_time_is_late_enough_and_not_absurdly_late(level):
    t = float(theory.loglog_time(level))
    for later in (t, 1.5 * t, 100 * t):
        assert math.log(4 + math.log(later)) / later < level
    if t > 2:  # the ratio is monotone, so the exact time is where it crosses the level
        assert math.log(4 + math.log(t / 2)) / (t / 2) > level


def test_radius_time_is_late_enough():
    for g in (0.0, 0.1, 5.0, 200.0):
        for c in (0.1, 1.0, 64.0):
            for gap in np.geomspace(1e-4, 40.0, 30):
                for alpha in (0.05, 0.2, 0.5, 0.9):
                    t = float(theory.radius_time(g, c, gap, alpha))
                    assert math.sqrt((g + c * math.log(4 + math.log(t))) / t) < gap


def test_radius_time_reduces_to_loglog_time():
    # g = 0, gap^2 (1 - alpha)/c = level
    assert theory.radius_time(0.0, 2.0, 0.4, 0.5) == pytest.approx(
        float(theory.loglog_time(0.16 * 0.5 / 2))
    )


def smallest_from_which_on(H, c, horizon):
    """T* by looking at every integer up to `horizon`."""
    failing = [s for s in range(1, horizon) if 256 * H * math.log(c * s) >= s]
    return (failing[-1] if failing else 0) + 1


@pytest.mark.parametrize("c", [0.2, 0.9, 1.5, 1.6, 2.5, 9.0, 40.0])
@pytest.mark.parametrize("H", [1e-4, 0.002, 1 / 128, 0.01, 0.05, 1.0, 3.0])
def test_lucb1_time_agrees_with_a_search_over_all_integers(H, c):
    # 256 H log(c s) < s from s = 2 * 256 H log(256 H c + 3) + 10 / c + 60 on, well beyond T*
    horizon = int(4 * 256 * H * math.log(256 * H * c + 3) + 100)
    assert theory.lucb1_time(H, c) == smallest_from_which_on(H, c, horizon)


@pytest.mark.parametrize("H", [1e3, 1e6, 1e9])
def test_lucb1_time_is_exact_for_hard_problems(H):
    T = theory.lucb1_time(H, 5.0)
    with mp.workdps(40):
        assert 256 * mp.mpf(H) * mp.log(5 * mp.mpf(T)) < T
        assert 256 * mp.mpf(H) * mp.log(5 * mp.mpf(T - 1)) >= T - 1


@pytest.mark.parametrize("H", [1e-6, 1e-3, 1.0, 1e5])
@pytest.mark.parametrize("c", [1.5, 3.0, 30.0])
def test_the_closed_form_is_above_the_exact_time(H, c):
    assert theory.lucb1_time(H, c) <= theory.lucb1_time_bound(H, c)


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.log_crossings(0.0, 1.0),
        lambda: theory.log_crossings(1.0, -1.0),
        lambda: theory.log_crossings(1.0, math.nan),
        lambda: theory.lambert_bounds(0.0),
        lambda: theory.lambert_bounds(-0.5),
        lambda: theory.lambert_bounds(math.nan),
        lambda: theory.lambert_exponential_bound(0.4),
        lambda: theory.loglog_time(0.0),
        lambda: theory.loglog_time("soon"),
        lambda: theory.radius_time(-1.0, 1.0, 1.0),
        lambda: theory.radius_time(1.0, 1.0, 0.0),
        lambda: theory.radius_time(1.0, 1.0, 1.0, alpha=1.0),
        lambda: theory.radius_time(1.0, 1.0, 1.0, form="guessed"),
        lambda: theory.lucb1_time(0.0, 2.0),
        lambda: theory.lucb1_time(math.inf, 2.0),
        lambda: theory.lucb1_time_bound(1.0, 0.0),
    ],
)
def test_bad_arguments_are_refused(call):
    with pytest.raises(ValueError, match="must"):
        call()
