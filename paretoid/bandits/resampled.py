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
    (high - low)/2. Or `scale`, stated by the user and believed: the guarantee leans on it.
    The true means are those of the data.

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
