"""The draws of a fit as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoid.estimation.compat import group
from paretoid.estimation.model import trial_of
from paretoid.theory.checks import FloatArray


def posterior_draws(fit: Any) -> tuple[FloatArray, FloatArray]:
    """(means, scales) of all draws, (S, K, D), on the working scale; binary scales are 1/2."""
    trial = trial_of(fit)
    posterior = group(fit, "posterior")
    S = posterior.sizes["chain"] * posterior.sizes["draw"]
    K, D = trial.mean.shape
    means, scales = np.full((S, K, D), np.nan), np.full((S, K, D), 0.5)
    measured = [d for d, s in enumerate(trial.scales) if s != "binary"]
    binary = [d for d, s in enumerate(trial.scales) if s == "binary"]
    if measured:
        means[:, :, measured] = posterior["mu"].values.reshape(S, K, -1)
        scales[:, :, measured] = posterior["sigma"].values.reshape(S, K, -1)
    if binary:
        means[:, :, binary] = posterior["probability"].values.reshape(S, K, -1)
    return means, scales
