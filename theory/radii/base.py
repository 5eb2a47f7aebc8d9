r"""What a radius is: half-widths of confidence intervals on differences of two arms.

Every pairwise radius here has one form,

.. math:: \beta_{ij}^d = \sqrt{(C + l_i + l_j)(v_i^d + v_j^d)},

with per-arm terms l and v that change only when that arm is sampled, and a constant C that may
differ for lower bounds (which *keep* arms) and upper bounds (which *drop* them).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from paretoid.theory.calibration import UNIONS
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, as_numbers, check_choice, shown
from paretoid.theory.member import Member


class Radius(Member):
    """What every radius declares; see the members for their mathematics.

    guarantee    "proved", or "heuristic" for a class whose author does not say
    needs_scale  False: the radius learns the scale, from squared deviations

    >>> from paretoid.theory import Mixture, UnknownScale
    >>> [radius.guarantee for radius in (Mixture(), UnknownScale(), Mixture(union="none"))]
    ['proved', 'proved', 'heuristic']
    >>> Mixture().needs_scale, UnknownScale().needs_scale
    (True, False)
    >>> Mixture().counts_pairs(5, 2, 0.1), Mixture(union="pairs").counts_pairs(5, 2, 0.1)
    (False, True)
    """

    needs_scale: ClassVar[bool] = True

    def known(self, D: int) -> BoolArray:
        """(D,) objectives whose scale the radius is told; it learns that of the others.

        >>> from paretoid.theory import MixedScale, UnknownScale
        >>> UnknownScale().known(2), MixedScale(["unknown", "known"]).known(2)
        (array([False, False]), array([False,  True]))
        """
        return np.full(D, self.needs_scale)

    def counts_pairs(self, K: int, D: int, delta: float) -> bool:
        """True: all intervals hold together; False where the author does not say."""
        return False


@dataclass(frozen=True, eq=False)
class RoleTerms:
    """What is added to C by the role that an arm or an objective plays in a bound.

    keep_arm        (K,) for the arm that a lower bound keeps
    keep_objective  (D,) for the objective of that lower bound
    drop_arm        (K,) for the arm that an upper bound drops
    drop_rival      (K,) for the arm that shows it to be dominated

    The upper bound that drops arm 2 for arm 0 has the constant C_drop + drop_arm[2] +
    drop_rival[0]; here arms 0 and 1 are good at showing others to be dominated:

    >>> roles = RoleTerms(np.zeros(3), np.zeros(2), np.zeros(3), np.array([-0.5, -0.5, 4.0]))
    >>> float(roles.drop_arm[2] + roles.drop_rival[0])
    -0.5
    """

    keep_arm: FloatArray
    keep_objective: FloatArray
    drop_arm: FloatArray
    drop_rival: FloatArray

    @classmethod
    def zero(cls, K: int, D: int) -> RoleTerms:
        """No role makes a difference.

        >>> RoleTerms.zero(3, 2).drop_rival
        array([0., 0., 0.])
        """
        return cls(np.zeros(K), np.zeros(D), np.zeros(K), np.zeros(K))


#: counts up to which `first_count` looks for a finite radius
_LONGEST_WAIT = 1 << 17


class PairwiseRadius(Radius):
    """A radius of the common form: two constants and two per-arm terms. Write your own.

    A subclass writes `constants` and `arm_terms`, and says what it is worth:

    >>> class Bernstein(PairwiseRadius):
    ...     '''Bounded outcomes, one look at the data. Heuristic: it is not time-uniform.'''
    ...     guarantee = "heuristic"
    ...     def constants(self, K, D, delta):
    ...         return 2 * np.log(K * D / delta), 2 * np.log(K * (K - 1) / delta)
    ...     def arm_terms(self, counts, K, D, delta):
    ...         return np.zeros(np.shape(counts)), 1 / np.asarray(counts)
    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    >>> runs = pt.simulate(bandit, radius=Bernstein(), replications=5, seed=1)
    >>> runs.attrs["radius"], runs.attrs["guarantee"], bool(runs.correct.all())
    ('Bernstein()', 'heuristic', True)

    v must not be negative, nor grow with the count; it may be infinite at small counts, and every
    arm is then sampled until it is finite. l must be monotone. `C + l_i + l_j` must not be
    negative. Engines tabulate l and v, exactly up to 65,536 samples of an arm; beyond, each of
    4,096 steps per doubling takes the larger l and v of its two ends, which is conservative.

    By hand for two arms, one objective, delta = 0.1 and counts of 1: without a union
    C = 2 log 10, l = log(31/30) and v = 31, so beta = sqrt((4.6052 + 0.0656) 62).

    >>> from paretoid.theory import Mixture
    >>> radius = Mixture(rho=30.0, union="none")
    >>> radius.first_count(2, 1, 0.1)
    1
    >>> C_keep, C_drop = radius.constants(2, 1, 0.1)
    >>> l, v = radius.arm_terms(1, 2, 1, 0.1)
    >>> round(C_keep, 4), round(float(l), 4), float(v)
    (4.6052, 0.0328, 31.0)
    >>> round(float(radius.half_width(1, 1, 2, 1, 0.1)), 3)
    17.017
    >>> radius.by_arm, radius.role_terms(2, 1, 0.1) is None
    (False, True)
    """

    @property
    def by_arm(self) -> bool:
        """True: l and v differ by arm, and `arm_terms` takes counts whose first axis is the arm."""
        return False

    @property
    def by_objective(self) -> bool:
        """True: v differs by objective, and `arm_terms` returns it with a last axis for these.

        >>> from paretoid.theory import MixedScale, Mixture
        >>> Mixture().by_objective, MixedScale(["unknown", "known"]).by_objective
        (False, True)
        """
        return False

    def constants(self, K: int, D: int, delta: float) -> tuple[float, float]:
        """(C_keep, C_drop) for K arms, D objectives and error probability delta."""
        raise NotImplementedError(f"{type(self).__name__} must define constants(K, D, delta).")

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        """(l, v) of arms sampled `counts` times, v for scale 1 (for ss = 1 if unknown)."""
        raise NotImplementedError(
            f"{type(self).__name__} must define arm_terms(counts, K, D, delta)."
        )

    def role_terms(self, K: int, D: int, delta: float) -> RoleTerms | None:
        """What is added to the constants by role; None: nothing."""
        return None

    def first_count(self, K: int, D: int, delta: float) -> int | IntArray:
        """Samples an arm needs before its radius is finite; (K,) where that differs by arm."""
        most = 16
        while most <= _LONGEST_WAIT:
            n = np.arange(1.0, most + 1)
            _, v = self.arm_terms(np.tile(n, (K, 1)) if self.by_arm else n, K, D, delta)
            finite = np.isfinite(v).all(axis=-1) if self.by_objective else np.isfinite(v)
            if finite.any(axis=-1).all():
                first = finite.argmax(axis=-1) + 1
                return first if self.by_arm else int(first)
            most *= 16
        raise ValueError(
            f"{self!r} is infinite up to {most // 16:,} samples of an arm, so no trial could use "
            f"it. Check its arm_terms."
        )

    def half_width(
        self, p: Any, q: Any, K: int, D: int, delta: float, *, drop: bool = False
    ) -> FloatArray:
        """beta for arms sampled p and q times, scale 1; `drop` picks C_drop over C_keep.

        Where v differs by objective so does beta, along a last axis.
        """
        C = self.constants(K, D, delta)[1 if drop else 0]
        l_p, v_p = self.arm_terms(p, K, D, delta)
        l_q, v_q = self.arm_terms(q, K, D, delta)
        under = C + (l_p + l_q)
        return np.sqrt((under[..., None] if self.by_objective else under) * (v_p + v_q))


def as_counts(counts: Any) -> FloatArray:
    """`counts` as floats of at least 1."""
    n = counts
    if not isinstance(counts, np.ndarray) or counts.dtype.kind not in "iuf":
        n = as_numbers(counts, name="counts", rule="numbers of samples.")
    n = np.asarray(n, dtype=np.float64)
    if n.size and not ((n >= 1) & np.isfinite(n)).all():
        raise ValueError(
            f"counts={shown(counts)} must be finite and at least 1: a radius needs a sample."
        )
    return n


def check_union(union: str) -> None:
    """Refuse a union that is none of ours."""
    check_choice(
        union, UNIONS, name="union", why="'claims' and 'pairs' are proved, 'none' is heuristic."
    )
