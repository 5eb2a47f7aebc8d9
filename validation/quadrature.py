r"""The posterior of a fit computed by integration, to hold the sampler to.

Endpoints are independent, so one is enough. Given log sd x of an arm, its mean mu is Normal in
closed form, and the sample mean is N(c, w^2 + e^{2x}/n) once mu is integrated out. What is left
is

.. math::
    p(\lambda, \log\tau) \prod_i \int N(x_i; \lambda, \tau^2)\, G(s_i^2 \mid x_i)\,
        N(\bar x_i; c, w^2 + e^{2x_i}/n_i)\, dx_i

with the inner integrals by Gauss-Hermite quadrature and the two hyperparameters on a grid.
`pooled` is the limit tau = 0, `separate` has lambda and tau fixed. Nothing here is shared with
the model: no PyMC, no coordinates, the priors come as numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import gammaln, logsumexp
from scipy.stats import norm

from paretoid.theory.checks import FloatArray


@dataclass(frozen=True)
class Prior:
    """mu ~ N(centre, width^2), log_sigma ~ N(typical, typical_width^2), spread log-normal."""

    centre: float
    width: float
    typical: float
    typical_width: float = 1.0
    spread_median: float = 0.15
    spread_width: float = 0.7


@dataclass(frozen=True)
class EndpointPosterior:
    """Moments of one endpoint's posterior; log_sd is that of each arm.

    mu_mean, mu_sd, log_sd_mean, log_sd_sd  (K,)
    log_spread_density      on log_spread_grid; None unless the variances are partial
    log_evidence            log of the integral of everything: log density of the data
    """

    mu_mean: FloatArray
    mu_sd: FloatArray
    log_sd_mean: FloatArray
    log_sd_sd: FloatArray
    log_evidence: float
    log_spread_grid: FloatArray | None = None
    log_spread_density: FloatArray | None = None

    def spread_quantiles(self, levels: FloatArray) -> FloatArray:
        """Quantiles of the spread of the arms' log sd."""
        assert self.log_spread_grid is not None
        grid = self.log_spread_grid
        cumulated = CubicSpline(grid, self.log_spread_density).antiderivative()
        fine = np.linspace(grid[0], grid[-1], 20_001)
        return np.asarray(np.exp(np.interp(levels, cumulated(fine) / cumulated(grid[-1]), fine)))


def posterior(
    mean: FloatArray,
    counts: FloatArray,
    sd: FloatArray,
    prior: Prior,
    variances: str = "partial",
    *,
    nodes: int = 31,
    steps: tuple[int, int] = (49, 41),
) -> EndpointPosterior:
    """The posterior of one endpoint from (K,) sample means, sizes and standard deviations.

    An arm whose `sd` is NaN says nothing about its own spread. `nodes` are those of the inner
    quadrature, `steps` those of the grid of (log spread, log_sigma).

    With one arm whose sigma is all but known, mu is the usual weighted mean of data and prior:

    >>> tight = Prior(centre=0.0, width=1.0, typical=0.0, typical_width=1e-4)
    >>> exact = posterior(np.array([2.0]), np.array([3.0]), np.array([1.0]), tight, "pooled")
    >>> round(float(exact.mu_mean[0]), 4), round(float(exact.mu_sd[0]), 4)
    (1.5, 0.5)
    """
    cell = _Cell(mean, counts, sd, prior)
    if variances == "separate":
        return _separate(cell, prior, nodes)
    if variances == "pooled":
        return _pooled(cell, prior, 4 * steps[1])
    # Grid of log tau; for each of its points a grid of lambda as wide as lambda is there.
    log_tau = np.log(prior.spread_median) + prior.spread_width * np.linspace(-5, 6, steps[0])
    tau = np.exp(log_tau)
    weight = 1 / (cell.variance[:, None] + tau**2)  # (K, tau); 0 where nothing is known
    total = weight.sum(axis=0) + prior.typical_width**-2
    middle = (weight * cell.estimate[:, None]).sum(axis=0) + prior.typical / prior.typical_width**2
    z = np.linspace(-8, 8, steps[1])
    location = (middle / total)[:, None] + z / np.sqrt(total)[:, None]  # (tau, lambda)
    inner, moments = cell.integrate(location, tau[:, None], nodes)
    log_weight = (
        inner.sum(axis=0)
        + norm.logpdf(location, prior.typical, prior.typical_width)
        + norm.logpdf(log_tau, np.log(prior.spread_median), prior.spread_width)[:, None]
        - 0.5 * np.log(total)[:, None]  # the step of lambda
    )
    step = (z[1] - z[0]) * (log_tau[1] - log_tau[0])
    evidence = float(logsumexp(log_weight)) + np.log(step)
    share = np.exp(log_weight - logsumexp(log_weight))
    density = share.sum(axis=1) / (log_tau[1] - log_tau[0])
    return _summary(share, moments, evidence, log_tau, density)


class _Cell:
    """The likelihood of every arm as a function of its log sd."""

    def __init__(self, mean: FloatArray, counts: FloatArray, sd: FloatArray, prior: Prior) -> None:
        self.mean, self.counts, self.prior = mean, counts, prior
        self.known = np.isfinite(sd)
        self.half = np.where(self.known, (counts - 1) / 2, 1.0)
        self.square = np.where(self.known, sd, 1.0) ** 2
        # Where to look for log sd, and how widely: only the accuracy depends on it.
        self.estimate = np.where(self.known, np.log(self.square) / 2, prior.typical)
        self.variance = np.where(self.known, 1 / (4 * self.half), np.inf)

    def log_likelihood(self, x: FloatArray) -> FloatArray:
        """Of s^2 and of the sample mean, mu integrated out; arms are the first axis of `x`."""
        shape = (-1,) + (1,) * (x.ndim - 1)
        h, s2 = self.half.reshape(shape), self.square.reshape(shape)
        ours = (
            h * np.log(h) - gammaln(h) + (h - 1) * np.log(s2) - 2 * h * x - h * s2 * np.exp(-2 * x)
        )
        about = np.sqrt(self.prior.width**2 + np.exp(2 * x) / self.counts.reshape(shape))
        means = norm.logpdf(self.mean.reshape(shape), self.prior.centre, about)
        return np.asarray(np.where(self.known.reshape(shape), ours, 0.0) + means)

    def mu_given(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of mu given log sd."""
        shape = (-1,) + (1,) * (x.ndim - 1)
        weight = self.counts.reshape(shape) * np.exp(-2 * x)
        precision = weight + self.prior.width**-2
        middle = weight * self.mean.reshape(shape) + self.prior.centre / self.prior.width**2
        return middle / precision, 1 / precision

    def moments(self, x: FloatArray, share: FloatArray) -> FloatArray:
        """E of x, x^2, mu, mu^2, weights `share` on the last axis of `x`."""
        mu, variance = self.mu_given(x)
        return np.stack([(share * f).sum(axis=-1) for f in (x, x**2, mu, mu**2 + variance)])

    def integrate(
        self, location: FloatArray, scale: FloatArray, nodes: int
    ) -> tuple[FloatArray, FloatArray]:
        """Per arm the log integral over N(x; location, scale^2), and the moments under it."""
        shape = (-1,) + (1,) * location.ndim
        precision, estimate = 1 / self.variance.reshape(shape), self.estimate.reshape(shape)
        total = precision + scale**-2
        middle = (precision * estimate + location * scale**-2) / total
        z, w = np.polynomial.hermite_e.hermegauss(nodes)
        x = middle[..., None] + z * total[..., None] ** -0.5
        log_terms = (
            self.log_likelihood(x)
            + norm.logpdf(x, location[..., None], np.broadcast_to(scale, location.shape)[..., None])
            + np.log(w) + z**2 / 2 - 0.5 * np.log(total[..., None])
        )  # fmt: skip
        log_integral = logsumexp(log_terms, axis=-1)
        share = np.exp(log_terms - log_integral[..., None])
        return log_integral, self.moments(x, share)


def _separate(cell: _Cell, prior: Prior, nodes: int) -> EndpointPosterior:
    scale = np.array([prior.typical_width])
    log_integral, moments = cell.integrate(np.array([prior.typical]), scale, 2 * nodes + 1)
    return _summary(np.ones(1), moments, float(log_integral.sum()))


def _pooled(cell: _Cell, prior: Prior, steps: int) -> EndpointPosterior:
    rms = np.sqrt((cell.half * cell.square)[cell.known].sum() / cell.half[cell.known].sum())
    data, ours = (1 / cell.variance).sum(), prior.typical_width**-2
    z = np.linspace(-9, 9, steps) / np.sqrt(data + ours)
    x = (data * np.log(rms) + ours * prior.typical) / (data + ours) + z
    every = np.broadcast_to(x, (len(cell.mean), steps))
    log_weight = cell.log_likelihood(every).sum(axis=0)
    log_weight = log_weight + norm.logpdf(x, prior.typical, prior.typical_width)
    evidence = float(logsumexp(log_weight)) + np.log(z[1] - z[0])
    share = np.exp(log_weight - logsumexp(log_weight))
    return _summary(np.ones(1), cell.moments(every, share)[..., None], evidence)


def _summary(
    share: FloatArray,
    moments: FloatArray,
    evidence: float,
    grid: FloatArray | None = None,
    density: FloatArray | None = None,
) -> EndpointPosterior:
    axes = tuple(range(2, moments.ndim))
    x, x2, mu, mu2 = (moments * share).sum(axis=axes)
    mu_sd, log_sd_sd = (np.sqrt(np.maximum(square, 0.0)) for square in (mu2 - mu**2, x2 - x**2))
    return EndpointPosterior(mu, mu_sd, x, log_sd_sd, evidence, grid, density)
