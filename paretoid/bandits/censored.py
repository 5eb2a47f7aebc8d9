"""A Gaussian cut at the ends of a range, with a given mean and standard deviation."""

from __future__ import annotations

import math

import numpy as np

from paretoid.theory.checks import FloatArray


def moments(location: float, spread: float, low: float, high: float) -> tuple[float, float]:
    """(mean, sd) of min(max(X, low), high), X Gaussian with this location and spread.

    A standard Gaussian cut at 0 has mean 1/sqrt(2 pi) and variance 1/2 - 1/(2 pi):

    >>> mean, sd = moments(0.0, 1.0, 0.0, 50.0)
    >>> round(mean * math.sqrt(2 * math.pi), 9), round(sd**2 + 1 / (2 * math.pi), 9)
    (1.0, 0.5)
    """
    from scipy.special import ndtr

    a, b = (low - location) / spread, (high - location) / spread
    below, above, inside = float(ndtr(a)), float(ndtr(-b)), float(ndtr(b) - ndtr(a))
    at_a, at_b = (math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in (a, b))
    # everything from the location, in spreads: digits are kept for narrow laws far from 0
    first = a * below + b * above + (at_a - at_b)
    second = a * a * below + b * b * above + inside + a * at_a - b * at_b
    return location + spread * first, spread * math.sqrt(max(second - first * first, 0.0))


def censored(mean: float, sd: float, low: float, high: float) -> tuple[float, float]:
    """(location, spread) of the Gaussian that has `mean` and `sd` once it is cut at low and high.

    Every mean inside the range and every sd below that of an outcome that is always at an end,
    sqrt((mean - low)(high - mean)), has one; others are refused.

    >>> location, spread = censored(1.0, 2.0, 0.0, 10.0)
    >>> location < 0 and spread > 2                        # most of it is cut away at 0
    True
    >>> mean, sd = moments(location, spread, 0.0, 10.0)
    >>> round(mean, 6), round(sd, 6)
    (1.0, 2.0)
    """
    from scipy.optimize import brentq, root

    width = high - low
    most = math.sqrt(max((mean - low) * (high - mean), 0.0))
    if not low < mean < high or not 0 < sd < most:
        raise ValueError(
            f"no outcome between {low:g} and {high:g} has mean {mean:g} and standard deviation "
            f"{sd:g}: with this mean it is above 0 and below {most:g}."
        )
    m, s = (mean - low) / width, sd / width

    def miss(at: FloatArray) -> list[float]:
        got = moments(float(at[0]), math.exp(min(max(float(at[1]), -60.0), 60.0)), 0.0, 1.0)
        return [got[0] - m, got[1] - s]

    guess = root(miss, np.array([m, math.log(s)]))
    if max(map(abs, miss(guess.x))) < 1e-10:
        return low + width * float(guess.x[0]), width * math.exp(float(guess.x[1]))

    def location_of(spread: float) -> float:
        reach = 40 * spread + 1
        return float(brentq(lambda x: moments(x, spread, 0.0, 1.0)[0] - m, -reach, 1 + reach))

    log = float(
        brentq(lambda x: moments(location_of(math.exp(x)), math.exp(x), 0, 1)[1] - s, -12.0, 25.0)
    )
    return low + width * location_of(math.exp(log)), width * math.exp(log)
