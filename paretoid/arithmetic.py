"""Where floating-point sums are good enough for the proofs, and what is done outside.

Outcomes are summed as differences from a reference, one for each objective: comparisons do not
change, and an offset that is large beside the noise takes no digits. The reference is 0 unless an
arm's mean is `FAR` scales from 0, so that ordinary runs keep their numbers to the last bit.

What remains: a mean m (from the reference) of n outcomes of spread s errs by at most
3 n u (|m| + s), u = 2^-53. So a difference of two means errs by at most 4.3 `SHARE` of
sqrt(s_i^2/n_i + s_j^2/n_j), and the half-width is at least sqrt(x) of it, x = C + l_i + l_j, as
long as

    n^(3/2) (|m|/s + 1) <= RANGE.

Every run is held to this range, and refused once it leaves it. Within it a level grows by a factor
of at most exp(SHARE (4.3 sqrt(x) + 3 x/sqrt(n))), the second term only if scales are learnt
(theory/PROOFS.md, Section 16). What is called proved keeps delta up to this factor: 1.001 in all
but extreme designs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.theory.checks import BoolArray, FloatArray

if TYPE_CHECKING:
    from paretoid.bandits import Bandit

#: The arithmetic of this version, as stores and ledgers name it; those that name none were summed
#: plainly.
CENTRED = "centred"

#: Means this many scales from 0 are summed from a reference.
FAR = 1024.0

#: n additions of outcomes move a mean by less than about this part of s/sqrt(n).
SHARE = 1e-5

#: n^(3/2) (|m|/s + 1) up to which they do not move it further.
RANGE = SHARE * 2.0**53


#: Means further from 0, in scales, are refused: outcomes would have no digits for their noise.
FARTHEST = 1e15


def check_offsets(means: FloatArray, scale: FloatArray) -> None:
    """Refuse means whose outcomes would have no digits for their noise; (K, D) each.

    >>> check_offsets(np.array([[1e20]]), np.array([[1.0]]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: the mean 1e+20 is more than 1e+15 times its scale 1.0 away from 0, ...
    """
    far = np.abs(means) > FARTHEST * scale
    if far.any():
        at = tuple(np.argwhere(far)[0])
        raise ValueError(
            f"the mean {means[at]} is more than {FARTHEST:g} times its scale {scale[at]} away from "
            f"0, so that outcomes have no digits for their noise. Subtract a constant from all "
            f"outcomes of the objective, or check the units."
        )


def reference_of(means: FloatArray, scale: FloatArray) -> FloatArray:
    """(D,) what is subtracted from outcomes before they are summed; `means` and `scale` (K, D).

    >>> ones = np.ones((2, 2))
    >>> reference_of(np.array([[1e9, 5.0], [1e9 + 1, 6.0]]), ones)
    array([1.e+09, 0.e+00])
    """
    far = np.abs(means).max(axis=0) >= FAR * scale.min(axis=0)
    return np.where(far, means.max(axis=0), 0.0)


def out_of_range(counts: Any, means: Any, spread: Any) -> BoolArray:
    """Where rounding could raise levels by more than is said above.

    counts, means from the reference and spread have one shape; no spread, no judgement.

    >>> out_of_range(np.array([1e4, 1e4]), np.array([3.0, 1e9]), np.array([1.0, 1.0]))
    array([False,  True])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = np.asarray(counts, dtype=float) ** 1.5 * (np.abs(means) / spread + 1)
    return np.asarray((size > RANGE) & (spread > 0) & (np.asarray(counts) > 0))


class LostDigitsError(ValueError):
    """A run left the range in which its sums are exact enough for its guarantee."""


def digits_lost(
    bandit: Bandit, unknown: Any, counts: Any, means: FloatArray, ss: FloatArray
) -> BoolArray:
    """(..., K, D) where sums have too few digits left; the spread is learnt from `ss` if unknown.

    `unknown` is True, False, or one of them for each objective.

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[0.0], [1.0]])
    >>> counts = np.full((2, 1), 100.0)
    >>> bool(digits_lost(bandit, True, counts, bandit.means, counts).any())
    False
    """
    spread = bandit.scale
    if np.any(unknown):
        spread = np.where(unknown, np.sqrt(ss / np.maximum(counts, 1)), spread)
    return out_of_range(counts, means, spread)


def check_digits(
    bandit: Bandit, unknown: Any, counts: Any, means: FloatArray, ss: FloatArray
) -> None:
    """Refuse runs whose sums have lost too many digits; all (..., K, D), means from the reference.

    The spread is the bandit's scale or, where that is `unknown`, learnt from `ss`.

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[0.0], [1.0]])
    >>> counts = np.full((2, 1), 1e4)
    >>> check_digits(bandit, False, counts, bandit.means, counts)
    >>> check_digits(bandit, False, counts, bandit.means + 1e12, counts)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    paretoid.arithmetic.LostDigitsError: after 10,000 outcomes of 'arm 0' the sums of ...
    """
    lost = digits_lost(bandit, unknown, counts, means, ss)
    if not lost.any():
        return
    *_, arm, objective = first = tuple(int(index) for index in np.argwhere(lost)[0])
    raise LostDigitsError(
        f"after {int(counts[first]):,} outcomes of {bandit.arms[arm]!r} the sums of "
        f"{bandit.objectives[objective]!r} have too few digits left for the guarantee: the arm is "
        f"too many scales away from the others, or has too many outcomes, for double precision. "
        f"Leave out arms that are so far away, or set max_samples."
    )
