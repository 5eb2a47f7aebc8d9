"""Is the evidence about two rates worth its level? Exactly, over all short histories."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from paretoid.theory.binary import UNPLANNED, log_mixture

#: rates of two arms, rho, and the ones and zeros that a plan adds to both priors
_CASES = (
    ((0.3, 0.3), 2.0, UNPLANNED),
    ((0.05, 0.4), 30.0, UNPLANNED),
    ((0.3, 0.3), 2.0, (0.5, 4.0)),
    ((0.05, 0.4), 30.0, (20.0, 1.0)),
)
_DRAWS = 6


def mean_evidence(
    rates: Sequence[float],
    rho: float,
    planned: tuple[float, float] = UNPLANNED,
    draws: int = _DRAWS,
) -> float:
    """The mean of exp(l_i + l_j) at the true rates, over all histories: 1 for a martingale from 1.

    The rule looks at outcomes: it goes on with an arm while that arm fails.

    >>> round(mean_evidence((0.3, 0.2), 5.0, draws=3), 12)
    1.0
    """
    mean = 0.0
    for outcomes in itertools.product((0, 1), repeat=draws):
        arm, probability = 0, 1.0
        counts, successes = [0, 0], [0, 0]
        for outcome in outcomes:
            probability *= rates[arm] if outcome else 1 - rates[arm]
            counts[arm] += 1
            successes[arm] += outcome
            arm = 1 - arm if outcome else arm
        logs = sum(
            float(log_mixture(rates[i], successes[i], counts[i], rho, planned)) for i in (0, 1)
        )
        mean += probability * math.exp(logs)
    return mean


def faults() -> dict[str, str]:
    """The cases in which the evidence has a mean above 1, under the name of this check.

    >>> faults()
    {}
    """
    for rates, rho, planned in _CASES:
        mean = mean_evidence(rates, rho, planned)
        if mean > 1 + 1e-9:
            said = f"evidence at the true rates {rates} has the mean {mean:.3f}, above 1"
            return {"evidence": f"{said}, with rho = {rho:g} and {planned} planned"}
    return {}
