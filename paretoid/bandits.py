"""Bandits: how outcomes are drawn, their scale, their names, and which way is better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from paretoid.engine.program import BERNOULLI, GAUSSIAN, RESAMPLED
from paretoid.theory.checks import FloatArray, IntArray, as_means, check_choice, check_count
from paretoid.theory.units import as_scale


def _names(names: Sequence[str] | None, size: int, what: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{what} {i}" for i in range(size))
    if isinstance(names, str):
        raise ValueError(f"{what}s={names!r} is one string; pass a list of {size} names.")
    result = tuple(str(name) for name in names)
    if len(result) != size:
        raise ValueError(
            f"{what}s has {len(result)} names for {size} {what}s; pass one name for each."
        )
    repeated = sorted({name for name in result if result.count(name) > 1})
    if repeated:
        raise ValueError(
            f"{what}s repeats {', '.join(map(repr, repeated))}: results are looked up by name, "
            f"so each must be different."
        )
    return result


class Bandit:
    """K arms with D outcomes each. Use one of the members; this class holds what they share.

    means       (K, D) in the user's own direction and units
    scale       (K, D) sub-Gaussian scale of each outcome
    arms, objectives    names
    minimize    objectives where less is better
    oriented    (K, D) means with minimised objectives negated: larger is better

    >>> bandit = GaussianBandit(
    ...     [[1.0, 3.0], [0.0, 2.0]], scale=[1.0, 0.5], arms=["A", "B"],
    ...     objectives=["benefit", "harm"], minimize=["harm"],
    ... )
    >>> bandit
    GaussianBandit(K=2, D=2, minimize=['harm'])
    >>> bandit.oriented
    array([[ 1., -3.],
           [ 0., -2.]])
    >>> bandit.index("B"), bandit.common_scale
    (1, True)

    All randomness enters as noise, (samples, noise_width), so an outcome can be checked by hand:

    >>> noise = np.empty((1, bandit.noise_width))
    >>> bandit.fill(np.random.default_rng(7), noise)
    >>> bool((bandit.outcome(1, noise) == [0.0, 2.0] + noise * [1.0, 0.5]).all())
    True
    >>> location, spread, data, starts = bandit.kernel_terms()    # what the engine is told
    >>> spread
    array([[ 1. , -0.5],
           [ 1. , -0.5]])
    """

    outcomes: ClassVar[int]
    model: ClassVar[str]
    noise_width: int

    def __init__(
        self,
        means: Any,
        scale: FloatArray,
        arms: Sequence[str] | None,
        objectives: Sequence[str] | None,
        minimize: Iterable[str],
    ) -> None:
        self.means = as_means(means)
        K, D = self.means.shape
        self.K, self.D = K, D
        self.scale = np.array(np.broadcast_to(scale, (K, D)))
        self.arms = _names(arms, K, "arm")
        self.objectives = _names(objectives, D, "objective")
        if isinstance(minimize, str):
            minimize = [minimize]
        self.minimize = tuple(str(name) for name in minimize)
        unknown = [name for name in self.minimize if name not in self.objectives]
        if unknown:
            raise ValueError(
                f"minimize names {', '.join(map(repr, unknown))}, which is no objective: they are "
                f"{', '.join(map(repr, self.objectives))}."
            )
        self.sign = np.where([name in self.minimize for name in self.objectives], -1.0, 1.0)
        self.oriented = self.means * self.sign + 0.0  # no -0.0
        self.noise_width = D
        for array in (self.means, self.scale, self.sign, self.oriented):
            array.setflags(write=False)

    @property
    def common_scale(self) -> bool:
        """True where every objective has one scale for all arms."""
        return bool((self.scale == self.scale[0]).all())

    def fill(self, rng: np.random.Generator, noise: FloatArray) -> None:
        """Fill `noise`, (samples, noise_width): the only randomness of a run.

        Two half blocks must equal one whole block, so that blocking never changes a result.
        """
        rng.random(out=noise)

    def kernel_terms(self) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """(location, spread, data, starts) of `paretoid.engine.program.Program`."""
        nothing = np.zeros((0, self.D)), np.zeros(1, dtype=np.int64)
        return np.array(self.oriented), np.tile(self.sign, (self.K, 1)), *nothing

    def sample(self, arm: int | str, size: int, rng: np.random.Generator | int) -> FloatArray:
        """(size, D) outcomes of one arm, by index or name, in the user's own direction.

        >>> BernoulliBandit([[0.0, 1.0], [1.0, 0.0]]).sample("arm 1", 2, 7)
        array([[1., 0.],
               [1., 0.]])
        """
        index = self.index(arm)
        size = check_count(size, name="size", least=0, why="it is how many outcomes to draw.")
        noise = np.empty((size, self.noise_width))
        self.fill(np.random.default_rng(rng), noise)
        return self.outcome(index, noise)

    def outcome(self, arm: int, noise: FloatArray) -> FloatArray:
        """(size, D) outcomes of one arm from rows of noise, in the user's own direction."""
        raise NotImplementedError

    def index(self, arm: int | str) -> int:
        """The position of an arm given by name or position."""
        if isinstance(arm, str):
            check_choice(arm, self.arms, name="arm", why="those are the arms of this bandit.")
            return self.arms.index(arm)
        return check_count(arm, name="arm", least=0, most=self.K - 1, why="it is a position.")

    def __repr__(self) -> str:
        least = f", minimize={list(self.minimize)}" if self.minimize else ""
        return f"{type(self).__name__}(K={self.K}, D={self.D}{least})"


class GaussianBandit(Bandit):
    """Gaussian outcomes with known scale, or a covariance for correlated objectives.

    `scale` is a scalar, (D,) per objective, or (K, D) per arm and objective; `covariance` is
    (D, D), common to all arms. One of them.

    >>> GaussianBandit([[1.0, 0.0], [0.0, 1.0]], scale=[0.5, 2.0]).common_scale
    True
    """

    outcomes = GAUSSIAN
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
            self.covariance = _as_covariance(covariance, D)
            self._root = np.asarray(np.linalg.cholesky(self.covariance), dtype=np.float64)
            table = np.sqrt(np.diag(self.covariance))
        else:
            table = as_scale(1.0 if scale is None else scale, K, D)
        super().__init__(means, table, arms, objectives, minimize)

    def fill(self, rng: np.random.Generator, noise: FloatArray) -> None:
        """Standard normals; correlated ones, of the right scale, under a covariance."""
        rng.standard_normal(out=noise)
        if self._root is None:
            return
        # In place from the last column, term by term: a matrix product may round differently
        # with the size of the block.
        for d in reversed(range(self.D)):
            noise[:, d] *= self._root[d, d]
            for e in range(d):
                noise[:, d] += self._root[d, e] * noise[:, e]

    @property
    def _spread(self) -> FloatArray:
        return self.scale if self._root is None else np.ones((self.K, self.D))

    def kernel_terms(self) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """The spread is the signed scale, or the sign where the noise is already scaled."""
        location, sign, data, starts = super().kernel_terms()
        return location, sign * self._spread, data, starts

    def outcome(self, arm: int, noise: FloatArray) -> FloatArray:
        """See `Bandit.outcome`."""
        return np.asarray(self.means[arm] + self._spread[arm] * noise)


class BernoulliBandit(Bandit):
    """Outcomes 0 or 1, independent between objectives; sub-Gaussian with scale 1/2.

    >>> BernoulliBandit([[0.2, 0.7], [0.4, 0.1]]).scale[0]
    array([0.5, 0.5])
    """

    outcomes = BERNOULLI
    model = "bernoulli"

    def __init__(
        self,
        means: Any,
        *,
        arms: Sequence[str] | None = None,
        objectives: Sequence[str] | None = None,
        minimize: Iterable[str] = (),
    ) -> None:
        table = as_means(means)
        if ((table < 0) | (table > 1)).any():
            i, d = np.argwhere((table < 0) | (table > 1))[0]
            raise ValueError(
                f"means[{i}, {d}]={table[i, d]} must lie in [0, 1]: it is the probability of a "
                f"success. For other outcomes use GaussianBandit or ResampledBandit."
            )
        super().__init__(table, np.full(1, 0.5), arms, objectives, minimize)

    def kernel_terms(self) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """The location is the probability of success, the spread what a success is worth."""
        _, sign, data, starts = super().kernel_terms()
        return np.array(self.means), sign, data, starts

    def outcome(self, arm: int, noise: FloatArray) -> FloatArray:
        """See `Bandit.outcome`."""
        return np.where(noise < self.means[arm], 1.0, 0.0)


class ResampledBandit(Bandit):
    """Outcomes drawn with replacement from the user's own data, one (n_i, D) table per arm.

    Either `bounds=(low, high)`, scalars or (D,): bounded outcomes are sub-Gaussian with scale
    (high - low)/2. Or `scale`, stated by the user and believed: the guarantee leans on it.
    The true means are those of the data.

    >>> bandit = ResampledBandit([[[1.0], [3.0]], [[0.0], [4.0], [2.0]]], bounds=(0, 4))
    >>> bandit.means.ravel(), bandit.scale.ravel()
    (array([2., 2.]), array([2., 2.]))
    """

    outcomes = RESAMPLED
    model = "resampled"

    def __init__(
        self,
        data: Sequence[Any],
        *,
        bounds: tuple[Any, Any] | None = None,
        scale: Any = None,
        arms: Sequence[str] | None = None,
        objectives: Sequence[str] | None = None,
        minimize: Iterable[str] = (),
    ) -> None:
        tables = [
            as_means(table, name=f"data[{i}] (one row per outcome)", least_arms=1)
            for i, table in enumerate(data)
        ]
        if len({table.shape[1] for table in tables}) > 1:
            raise ValueError(
                f"the arms' data have {[t.shape[1] for t in tables]} objectives; each table needs "
                f"one column per objective, the same for all arms."
            )
        means = np.array([table.mean(axis=0) for table in tables]).reshape(len(tables), -1)
        K, D = as_means(means, name="data").shape
        if (bounds is None) == (scale is None):
            raise ValueError(
                "pass exactly one of bounds=(low, high), for bounded outcomes, and scale=, a "
                "sub-Gaussian scale you vouch for: without either no radius is proved."
            )
        if bounds is not None:
            low, high = (np.broadcast_to(np.asarray(b, dtype=float), (D,)) for b in bounds)
            for i, table in enumerate(tables):
                if (table < low).any() or (table > high).any():
                    raise ValueError(
                        f"data[{i}] leaves the bounds {tuple(bounds)}: they must hold for every "
                        f"possible outcome. Widen them or pass scale=."
                    )
            scale = (high - low) / 2
        super().__init__(means, as_scale(scale, K, D), arms, objectives, minimize)
        self.data = np.concatenate(tables)
        self.data.setflags(write=False)
        self._starts = np.cumsum([0] + [len(table) for table in tables]).astype(np.int64)
        self.noise_width = 1

    def kernel_terms(self) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """The data, oriented."""
        location, sign, _, _ = super().kernel_terms()
        return location, sign, self.data * self.sign, self._starts

    def outcome(self, arm: int, noise: FloatArray) -> FloatArray:
        """See `Bandit.outcome`."""
        size = self._starts[arm + 1] - self._starts[arm]
        rows = np.minimum((noise[:, 0] * size).astype(np.int64), size - 1)
        return np.asarray(self.data[self._starts[arm] + rows])


def _as_covariance(covariance: Any, D: int) -> FloatArray:
    try:
        array = np.array(covariance, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"covariance must be a ({D}, {D}) table of numbers: {error}.") from error
    if array.shape != (D, D):
        raise ValueError(f"covariance has shape {array.shape}; it must be ({D}, {D}).")
    if not np.isfinite(array).all() or not np.allclose(array, array.T, rtol=1e-10, atol=0):
        raise ValueError("covariance must be finite and symmetric.")
    smallest = float(np.linalg.eigvalsh(array)[0])
    if smallest <= 0:
        raise ValueError(
            f"covariance is not positive definite: its smallest eigenvalue is {smallest:.3g}. "
            f"Drop an objective that is a combination of the others."
        )
    return array
