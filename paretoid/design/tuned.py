"""The default radius of a design, with uniform shares and a rho tuned by simulated trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.goals import Goal
from paretoid.goals.base import with_union
from paretoid.parts import default_mixture
from paretoid.theory.radii import BetaBinomial, MixedScale, Mixture, Radius

#: simulated trials of the pilot
_PILOT = 20


def _default_radius(
    bandit: Bandit, goals: Sequence[Goal], delta: float, expected: float, kind: Any, published: Any
) -> Radius:
    rho = Mixture.tuned(bandit.K, bandit.D, delta, samples=expected).rho
    if kind is BetaBinomial:
        made: Any = BetaBinomial(rho, planned=bandit.means)
        return with_trust(with_union(made, goals), published)
    if kind is None or kind is MixedScale:
        return with_union(default_mixture(bandit.gaussian, rho), goals)
    return with_union(kind(rho=rho), goals)


def with_trust(radius: Radius, published: Any) -> Radius:
    """`radius` with the trust that its planned rates deserve, if it has any.

    published   participants behind each of them; None: not known, and the default trust stays

    They weigh as much as the rate that is tested, but never more than the participants they come
    from.

    >>> import paretoid as pt
    >>> radius = pt.BetaBinomial(rho=[100.0, 200.0], planned=[[0.2], [0.5]])
    >>> with_trust(radius, [[50], [60]]).trust, with_trust(radius, [[500], [600]]).trust
    (0.25, 1.0)
    """
    if not isinstance(radius, BetaBinomial) or radius.planned is None or published is None:
        return radius
    fewest = float(np.nanmin(np.asarray(published, dtype=float)))
    return replace(radius, trust=min(1.0, fewest / float(np.max(radius.rho))))


def tuned_radius(
    bandit: Bandit,
    goals: Sequence[Goal],
    delta: float,
    max_samples: int,
    *,
    kind: type[Radius] | None = None,
    published: Any = None,
    seed: int = 1,
    executor: Any = None,
) -> tuple[Radius, float]:
    """(the radius with uniform shares, samples per arm that its rho is tuned to).

    A pilot of simulated trials on the instance says how many samples they need.

    kind        of radius; default the proved one that fits the outcomes. `BetaBinomial` has the
                rates of the instance as its planned ones
    published   participants behind these, see `with_trust`
    """
    from paretoid.runs.simulate import simulate

    pilot = simulate(
        bandit, goals, delta=delta, replications=_PILOT, seed=seed, max_samples=max_samples,
        radius=_default_radius(bandit, goals, delta, max_samples / bandit.K, kind, published),
        executor=executor,
    )  # fmt: skip
    expected = float(pilot.stopping_time.median("replication").max()) / bandit.K
    return _default_radius(bandit, goals, delta, expected, kind, published), expected
