"""Gaussian outcomes of known scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paretoid.bandits.base import Bandit, Law
from paretoid.theory.checks import FloatArray, as_means, as_numbers
from paretoid.theory.units import as_scale


class GaussianBandit(Bandit):
    """Gaussian outcomes with known scale, or a covariance for correlated objectives.

    `scale` is a scalar, (D,) per objective, or (K, D) per arm and objective; `covariance` is
    (D, D), common to all arms. One of them.

    >>> GaussianBandit([[1.0, 0.0], [0.0, 1.0]], scale=[0.5, 2.0]).common_scale
    True
    """

    model = "gaussian"

    def __init__(
        self,
        means: Any,
        scale: Any = None,
        *,
        covariance: Any = None,
        arms: Sequence[str] | None = None,
        objectives: Sequence[str] | None = None,
        minimize: Iterable[str] = (),
    ) -> None:
        K, D = as_means(means).shape
        if scale is not None and covariance is not None:
            raise ValueError("pass scale= or covariance=, not both: the diagonal is the scale.")
        self._root: FloatArray | None = None
        if covariance is not None:
            self.covariance = as_covariance(covariance, D)
            self._root = np.asarray(np.linalg.cholesky(self.covariance), dtype=np.float64)
            table = np.sqrt(np.diag(self.covariance))
        else:
            table = as_scale(1.0 if scale is None else scale, K, D)
        super().__init__(means, table, arms, objectives, minimize)

    def fill(self, rng: np.random.Generator, noise: FloatArray) -> None:
        """Standard normals; correlated ones, of the right scale, under a covariance."""
        rng.standard_normal(out=noise)
        if self._root is not None:
            correlate(self._root, noise)

    @property
    def _spread(self) -> FloatArray:
        return self.scale if self._root is None else np.ones((self.K, self.D))

    def law(self) -> Law:
        """The spread is the signed scale, or the sign where the noise is already scaled."""
        return Law.affine(self.oriented, self.sign * self._spread)

    def outcome(self, arm: int, noise: FloatArray) -> FloatArray:
        """(size, D): the arm's mean plus the noise, to scale."""
        return np.asarray(self.means[arm] + self._spread[arm] * noise)


def correlate(root: FloatArray, noise: FloatArray) -> None:
    """Turn rows of standard normals, (samples, D), into rows with covariance root root'.

    In place from the last column, term by term: a matrix product may round differently with the
    size of the block.

    >>> noise = np.array([[1.0, 1.0]])
    >>> correlate(np.array([[2.0, 0.0], [3.0, 4.0]]), noise)
    >>> noise
    array([[2., 7.]])
    """
    for d in reversed(range(len(root))):
        noise[:, d] *= root[d, d]
        for e in range(d):
            noise[:, d] += root[d, e] * noise[:, e]


def as_covariance(covariance: Any, D: int, name: str = "covariance") -> FloatArray:
    """A (D, D) covariance matrix, checked.

    >>> as_covariance([[1.0, 0.5], [0.5, 1.0]], 2).shape
    (2, 2)
    """
    array = as_numbers(covariance, name=name, rule=f"a ({D}, {D}) table of numbers.")
    if array.shape != (D, D):
        raise ValueError(f"{name} has shape {array.shape}; it must be ({D}, {D}).")
    if not np.isfinite(array).all() or not np.allclose(array, array.T, rtol=1e-10, atol=0):
        raise ValueError(f"{name} must be finite and symmetric.")
    smallest = float(np.linalg.eigvalsh(array)[0])
    if smallest <= 0:
        raise ValueError(
            f"{name} is not positive definite: its smallest eigenvalue is {smallest:.3g}. "
            f"Drop an objective that is a combination of the others."
        )
    return array
