"""The default radius of a design, with uniform shares and a rho tuned by simulated trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paretoid.bandits import Bandit
from paretoid.goals import Goal
from paretoid.goals.base import with_union
from paretoid.parts import default_mixture
from paretoid.theory.radii import Mixture, Radius

#: simulated trials of the pilot
_PILOT = 20


def _default_radius(bandit: Bandit, goals: Sequence[Goal], delta: float, expected: float) -> Radius:
    rho = Mixture.tuned(bandit.K, bandit.D, delta, samples=expected).rho
    return with_union(default_mixture(bandit.gaussian, rho), goals)


def tuned_radius(
    bandit: Bandit,
    goals: Sequence[Goal],
    delta: float,
    max_samples: int,
    *,
    seed: int = 1,
    executor: Any = None,
) -> tuple[Radius, float]:
    """(the default radius with uniform shares, samples per arm that its rho is tuned to).

    A pilot of simulated trials on the instance says how many samples they need.
    """
    from paretoid.runs.simulate import simulate

    pilot = simulate(
        bandit, goals, radius=_default_radius(bandit, goals, delta, max_samples / bandit.K),
        delta=delta, replications=_PILOT, seed=seed, max_samples=max_samples, executor=executor,
    )  # fmt: skip
    expected = float(pilot.stopping_time.median("replication").max()) / bandit.K
    return _default_radius(bandit, goals, delta, expected), expected
