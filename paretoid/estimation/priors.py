"""The default priors in numbers: the model states them, and reweighting compares them.

How wide a prior is, is a choice. `width` makes all of them wider or narrower at once, so that
`paretoid.estimation.sensitivity` can show what the choice amounts to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretoid.theory.checks import FloatArray, is_real, refusal, shown

if TYPE_CHECKING:
    import xarray as xr

    from paretoid.estimation.summary import TrialSummary


@dataclass(frozen=True, eq=False)
class DefaultPriors:
    """Default priors of one trial; arrays have one entry per measured endpoint.

    mu              Normal(centre, spread of the arms' true means), working scale
    log_sigma       Normal(typical log sd, log_sigma_width)
    spread          LogNormal(log spread_median, spread_width): how much the arms' log sd differ
    probability     Beta(concentration, concentration)
    """

    centre: FloatArray
    mu_width: FloatArray
    typical: FloatArray
    log_sigma_width: float
    spread_median: float
    spread_width: float
    concentration: float

    @classmethod
    def of(cls, trial: TrialSummary, width: float = 1.0) -> DefaultPriors:
        """The priors of a trial, `width` times as wide as the default.

        Twice as wide: mu and log_sigma have twice the standard deviation, the arms' standard
        deviations differ by 30% and not by 15%, probabilities are Beta(1/2, 1/2).
        """
        check_width(width)
        centre, mu_width, typical = [], [], []
        for d, scale in enumerate(trial.scales):
            if scale == "binary":
                continue
            centre.append(trial.mean[:, d].mean())
            if scale == "log-normal":
                mu_width.append(math.log(10))
                typical.append(0.0)
                continue
            reported = trial.sd[np.isfinite(trial.sd[:, d]), d]
            assumed = trial.assumed_variance.get(trial.endpoints[d], 0.0)
            rms = math.sqrt((reported**2).mean()) if reported.size else math.sqrt(assumed)
            mu_width.append(10 * max(rms, float(trial.mean[:, d].std())))
            typical.append(math.log(rms))
        return cls(
            np.array(centre), width * np.array(mu_width), np.array(typical), width,
            0.15 * width, 0.7, 1 / width,
        )  # fmt: skip

    def log_density(self, posterior: xr.Dataset, endpoint: str) -> FloatArray:
        """(chain, draw) log prior density of all that concerns one endpoint, at every draw.

        The arms' own log sd given log_sigma and spread are left out: their prior, a Normal with
        those two, is the same however wide the rest is.
        """
        from scipy.stats import beta, lognorm, norm

        total = np.zeros((posterior.sizes["chain"], posterior.sizes["draw"]))
        if endpoint in posterior.get("binary_endpoint", []):
            p = posterior["probability"].sel(binary_endpoint=endpoint).values
            total += beta.logpdf(p, self.concentration, self.concentration).sum(axis=-1)
            return total
        q = list(posterior["endpoint"].values).index(endpoint)
        mu = posterior["mu"].sel(endpoint=endpoint).values
        total += norm.logpdf(mu, self.centre[q], self.mu_width[q]).sum(axis=-1)
        if endpoint not in posterior.get("estimated_endpoint", []):
            return total
        log_sigma = posterior["log_sigma"].sel(estimated_endpoint=endpoint).values
        density = norm.logpdf(log_sigma, self.typical[q], self.log_sigma_width)
        total += density.reshape(*total.shape, -1).sum(axis=-1)
        if "spread" in posterior:
            spread = posterior["spread"].sel(estimated_endpoint=endpoint).values
            total += lognorm.logpdf(spread, self.spread_width, scale=self.spread_median)
        return total


def check_width(width: float) -> float:
    """A width that makes sense, or an error that says which do."""
    if isinstance(width, bool) or not isinstance(width, (int, float)) or not 0.1 <= width <= 10:
        raise refusal(is_real(width))(
            f"prior_width={shown(width)} must be a number from 0.1 to 10: how many times as wide "
            f"as the default the priors are. The default is 1."
        )
    return float(width)
