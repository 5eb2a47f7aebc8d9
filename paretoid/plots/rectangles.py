r"""Confidence rectangles around the means of arms, at all times together.

A run's own radius bounds *differences* of arms, so it gives no interval to one arm. The rectangles
drawn here are a statement of their own, with its own delta: with probability at least 1 - delta
every rectangle ever drawn along a run, of every arm, in all D objectives, holds the true means.

Known scale s: the half-width in objective d is that of `theory.ArmMixture` at level delta/(K D),
proved there for sub-Gaussian outcomes; the union over K D streams leaves delta.

Unknown scale (`UnknownScale`), Gaussian outcomes: spend w delta on the variances and (1 - w) delta
on the means. Except with probability w delta, s^2 < ss_n/chi_n for every stream and n
(`theory.chi` at log(K D/(w delta))); except with (1 - w) delta, `ArmMixture` at level
(1 - w) delta/(K D) holds with the true s. Where both hold, so does the second with ss_n/chi_n in
place of s^2. It uses the same rho, w and a as the run.

Both hold whichever rule chose the arms and whenever it stopped, also where the run's radius is a
heuristic. That rectangles *and* the run's answer hold together has probability 1 - 2 delta.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from paretoid.theory.checks import FloatArray, check_delta
from paretoid.theory.radii import MixedScale, Radius, UnknownScale
from paretoid.theory.single_stream import ArmMixture


def half_widths(counts: Any, scale: Any, ss: Any, radius: Radius, delta: float) -> FloatArray:
    """(K, D) half-widths of the rectangles; inf where an arm has too few outcomes.

    counts, ss  (K, D) outcomes, and their squared deviations from the arm's own mean
    scale       (K, D) known scale; not read where it is learnt

    >>> one = half_widths([[1000], [1000]], [[1.0], [2.0]], None, ArmMixture(), delta=0.02)
    >>> one.ravel().round(4)                     # of scale 1: ArmMixture at 0.02 / 2
    array([0.1146, 0.2292])
    """
    n = np.asarray(counts, dtype=np.float64)
    K, D = n.shape
    alpha = check_delta(delta) / (K * D)
    some = np.maximum(n, 1.0)
    if isinstance(radius, (UnknownScale, MixedScale)):
        proved = replace(radius, union="pairs", shares=None)  # also for a heuristic run
        l, v = proved.arm_terms(some, K, D, delta)
        C = 2 * math.log(1 / ((1 - radius.w) * alpha))
        spread = np.asarray(ss, dtype=np.float64)
        if isinstance(radius, MixedScale):
            v = np.diagonal(v, axis1=1, axis2=2)  # of each objective at its own counts
            spread = np.where(radius.known(D), np.asarray(scale, dtype=np.float64) ** 2, spread)
        enough = (n >= 1) & np.isfinite(v) & (spread > 0)
        safe = np.where(enough, v, 0.0) * spread
        return np.where(enough, np.sqrt((C + l) * safe), np.inf)
    rho = float(np.median(getattr(radius, "rho", ArmMixture().rho)))  # one, or one for each arm
    width = ArmMixture(rho).half_width(some, alpha) * np.asarray(scale, dtype=np.float64)
    return np.where(n >= 1, width, np.inf)
