"""Outcomes drawn from the user's own data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from paretoid.bandits.base import Bandit, Law
from paretoid.theory.checks import FloatArray, as_means, as_numbers, is_listed, refusal, shown
from paretoid.theory.units import as_scale


class ResampledBandit(Bandit):
    """Outcomes drawn with replacement from the user's own data, one (n_i, D) table per arm.

    Either `bounds=(low, high)`, scalars or (D,): bounded outcomes are sub-Gaussian with scale
    (high - low)/2. Or `scale`, stated by the user, because the guarantee leans on it; one that is
    too small for the data, and so for outcomes drawn from them, is refused (`least_scale`). The
    true means are those of the data.

    >>> bandit = ResampledBandit([[[1.0], [3.0]], [[0.0], [4.0], [2.0]]], bounds=(0, 4))
    >>> bandit.means.ravel(), bandit.scale.ravel()
    (array([2., 2.]), array([2., 2.]))
    """

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
        given = _tables(data)
        tables = [
            as_means(table, name=f"data[{i}] (one row per outcome)", least_arms=1, most_arms=None)
            for i, table in enumerate(given)
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
            low, high = (_bound(bound, D) for bound in _both(bounds))
            for i, table in enumerate(tables):
                if (table < low).any() or (table > high).any():
                    raise ValueError(
                        f"data[{i}] leaves the bounds {tuple(bounds)}: they must hold for every "
                        f"possible outcome. Widen them or pass scale=."
                    )
            scale = (high - low) / 2
        else:
            _check_scale(as_scale(scale, K, D), tables)
        super().__init__(means, as_scale(scale, K, D), arms, objectives, minimize)
        self.data = np.concatenate(tables)
        self.data.setflags(write=False)
        self._starts = np.cumsum([0] + [len(table) for table in tables]).astype(np.int64)
        self.noise_width = 1

    def law(self) -> Law:
        """A row of the arm's data, oriented so that larger is better."""
        sign = np.tile(self.sign, (self.K, 1))
        return Law.table(self.oriented, sign, self.data * self.sign, self._starts)

    def outcome(self, arm: int, noise: FloatArray) -> FloatArray:
        """(size, D): the row of the arm's data that the noise, uniform on [0, 1), picks."""
        size = self._starts[arm + 1] - self._starts[arm]
        rows = np.minimum((noise[:, 0] * size).astype(np.int64), size - 1)
        return np.asarray(self.data[self._starts[arm] + rows])


def least_scale(outcomes: Any) -> FloatArray:
    r"""(D,) a scale below which draws from these outcomes, (n, D), are not sub-Gaussian.

    .. math:: s^2 = \max_l \frac{2}{l^2} \log \frac1n \sum_m e^{l (x_m - \bar x)}

    over 120 values of l of both signs, so that it may miss the supremum by 0.2% and never exceeds
    it. The limit at l = 0 is the standard deviation; skewed data need more. Of 0/1 data with a
    share p of ones the largest term, at l = 2 log((1 - p)/p), is (1 - 2p)/l.

    >>> least_scale([[0.0, 0.0], [2.0, 0.0]])    # 1 either side of the mean, and constant
    array([1., 0.])
    >>> rare = np.array([[1.0]] + [[0.0]] * 99)
    >>> [round(float(s), 2) for s in (rare.std(), *least_scale(rare))]    # sqrt(0.98/(2 log 99))
    [0.1, 0.33]
    """
    x = np.asarray(outcomes, dtype=np.float64)
    x = x - x.mean(axis=0)
    farthest = np.abs(x).max(axis=0)
    x = np.divide(x, farthest, out=np.zeros_like(x), where=farthest > 0)
    largest = x.var(axis=0)
    for l in np.geomspace(0.05, 50 + 2 * np.log(len(x)), 60):
        for side in (-l, l):
            top = (side * x).max(axis=0)
            growth = top + np.log(np.exp(side * x - top).mean(axis=0))
            largest = np.maximum(largest, 2 * growth / side**2)
    return np.asarray(farthest * np.sqrt(largest))


def _check_scale(scale: FloatArray, tables: Sequence[FloatArray]) -> None:
    """Refuse scales, (K, D), that the data themselves contradict."""
    for i, table in enumerate(tables):
        least = least_scale(table)
        for d in np.flatnonzero(scale[i] < least * (1 - 1e-9)):
            raise ValueError(
                f"scale={scale[i, d]:g} of data[{i}], objective {d}, must be at least "
                f"{1.0005 * least[d]:.4g}, the least sub-Gaussian scale of draws from "
                f"these data (their standard deviation is {table[:, d].std():.4g}): with less, "
                f"intervals called proved would fail. Or pass bounds=(low, high)."
            )


def _tables(data: Any) -> list[Any]:
    """The members of `data`, two or more."""
    array = isinstance(data, np.ndarray) and data.dtype != object
    tables = is_listed(data) and not isinstance(data, Mapping)
    given = list(data) if tables and (not array or data.ndim == 3) else []
    if len(given) < 2:
        raise refusal(bool(given))(
            f"data={shown(data)} must be at least 2 tables, one for each arm with a row for each "
            f"outcome: an arm is optimal only relative to another."
        )
    return given


def _both(bounds: Any) -> tuple[Any, Any]:
    try:
        low, high = bounds
    except (TypeError, ValueError) as error:
        raise refusal(isinstance(error, ValueError))(
            f"bounds={shown(bounds)} must be a pair (low, high) that every possible outcome keeps."
        ) from None
    return low, high


def _bound(bound: Any, D: int) -> FloatArray:
    array = as_numbers(bound, name="bounds", rule=f"numbers, or {D} for each end.")
    if array.shape not in ((), (D,)) or not np.isfinite(array).all():
        raise ValueError(f"bounds={shown(bound)} must be finite: a number, or {D} for each end.")
    return np.broadcast_to(array, (D,))
