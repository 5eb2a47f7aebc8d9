"""How the sampler fared: divergences, r_hat and effective sample size, the worst of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.estimation.compat import convergence, group

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Diagnostics:
    """What a fit is judged by.

    divergences     divergent transitions, of all chains
    r_hat           the largest of any parameter, and whose it is
    ess             the smallest effective sample size of any parameter, and whose it is
    """

    divergences: int
    r_hat: float
    r_hat_of: str
    ess: float
    ess_of: str

    def problems(self, chains: int) -> list[str]:
        """Why not to trust the fit, in words; empty if nothing speaks against it.

        >>> Diagnostics(2, 1.001, "mu", 4000.0, "sigma").problems(4)
        ['2 divergent transitions']
        """
        problems = []
        if self.divergences:
            problems.append(f"{self.divergences} divergent transitions")
        if self.r_hat > 1.01:
            problems.append(
                f"r_hat of {self.r_hat_of} is {self.r_hat:.4f}, which must be at most 1.01"
            )
        if self.ess < 100 * chains:
            problems.append(
                f"effective sample size of {self.ess_of} is {self.ess:.0f}, which must be at least "
                f"{100 * chains}"
            )
        return problems


def diagnose(fit: Any) -> Diagnostics:
    """The diagnostics of a fit, constants such as an assumed sigma left out."""
    posterior = group(fit, "posterior")
    random = [name for name in posterior.data_vars if float(posterior[name].std()) > 0]
    r_hat, ess = convergence(posterior[random])
    largest, smallest = _extremes(r_hat, np.max), _extremes(ess, np.min)
    worst, least = max(largest, key=lambda n: largest[n]), min(smallest, key=lambda n: smallest[n])
    diverging = int(group(fit, "sample_stats")["diverging"].sum())
    return Diagnostics(diverging, largest[worst], worst, smallest[least], least)


def _extremes(data: xr.Dataset, worst: Callable[[Any], Any]) -> dict[str, float]:
    """Per variable the max or min, leaving out constants, whose r_hat is NaN."""
    values = {str(name): np.asarray(data[name].values) for name in data.data_vars}
    return {name: float(worst(numbers[np.isfinite(numbers)])) for name, numbers in values.items()}
