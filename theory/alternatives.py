r"""The nearest instances with another Pareto set, and what telling them apart costs.

`theory.characteristic_time` says which moves there are. The cost of moving a mean from mu to x is
w times the divergence of one outcome: (x - mu)^2 / (2 s^2) for a Gaussian one of standard deviation
s, kl(mu, x) for an outcome that is 0 or 1. Both have the derivative (x - mu) / V(x) with a V that
all arms share in one objective, s^2 up to an arm's own factor and x (1 - x), so the point where
arms meet most cheaply is a weighted mean of theirs in either case; only the cost there differs.
"""

from __future__ import annotations

import numpy as np

from paretoid.theory.checks import FloatArray, IntArray
from paretoid.theory.dominance import domination

#: coefficients of (atanh(r) - r) / r in powers of r^2, the highest first
_ODD = [1 / (2 * k + 1) for k in range(7, 0, -1)] + [0.0]

#: Rounding forgiven before an assignment is discarded; far below the width of any bracket.
SLACK = 1e-12


def divergence(
    mu: FloatArray, shift: FloatArray, variance: FloatArray, side: IntArray
) -> FloatArray:
    r"""What moving the mean of an outcome from mu to mu + shift costs per sample, elementwise.

    side    0: a Gaussian outcome, shift^2 / (2 variance); 1: an outcome 0 or 1, kl(mu, mu + shift);
            -1: the same, negated, so that mu lies in [-1, 0]

    With p = |mu| and q = |mu + shift| = p + s,

    .. math:: kl(p, q) = p\,f(s/p) + (1-p)\,f(-s/(1-p)), \qquad f(t) = t - \log(1+t),

    in which nothing cancels however near q is to p.

    >>> mu, shift = np.array([0.5, -0.5, 0.0]), np.array([0.25, -0.25, 0.5])
    >>> divergence(mu, shift, np.ones(3), np.array([0, -1, 1])).round(4)    # log(2) from 0 to 1/2
    array([0.0312, 0.1438, 0.6931])
    """
    gaussian = shift**2 / (2 * variance)
    if not side.any():
        return np.asarray(gaussian)
    p, s = np.clip(side * mu, 0.0, 1.0), side * shift
    return np.where(side != 0, _part(p, s) + _part(1 - p, -s), gaussian)


def _part(p: FloatArray, s: FloatArray) -> FloatArray:
    """p f(s/p) with f(t) = t - log(1 + t); its limit s at p = 0."""
    t = s / np.where(p > 0, p, 1.0)
    r = t / (2 + t)  # log(1 + t) = 2 (r + r^3/3 + r^5/5 + ...), and t - 2 r = t r
    series = np.polyval(_ODD, r * r)  # r^2/3 + r^4/5 + ..., to 1e-18 for |t| <= 0.1
    near = t * r - 2 * r * series
    with np.errstate(divide="ignore", invalid="ignore"):
        far = t - np.log1p(t)
    return np.where(p > 0, p * np.where(np.abs(t) < 0.1, near, far), s)


class Alternatives:
    """The nearest instances with another Pareto set, as planes.

    `planes(w)` gives the costs (m,) and the planes (m, K) of the cheapest alternatives at weights
    w, one for each drop (i, j) and one for each arm to be lifted: cost = plane @ w with
    plane_a = sum_d divergence(mu_a^d, lambda_a^d). `variance` is 1 and of no meaning where an
    outcome is 0 or 1; `side` (D,) says where: see `divergence`.

    Two arms 1 apart, equal weights: they meet half way, (1/2)^2 / 2 each.

    >>> alternatives = Alternatives(np.array([[1.0], [0.0]]), np.ones((2, 1)), np.array([0]))
    >>> alternatives.planes(np.array([0.5, 0.5]))
    (array([0.125]), array([[0.125, 0.125]]))
    """

    def __init__(self, mu: FloatArray, variance: FloatArray, side: IntArray) -> None:
        strict = domination(mu)
        optimal = np.asarray(~strict.any(axis=1))
        self.mu, self.variance, self.side = mu, variance, side
        self.i, self.j = np.nonzero(np.outer(optimal, optimal) & ~np.eye(len(mu), dtype=bool))
        self.above = np.maximum(mu[self.i] - mu[self.j], 0.0)  # (mu_i^d - mu_j^d)_+
        self.lifts = [
            Lift(int(i), np.flatnonzero(strict[i] & optimal), mu, variance, side)
            for i in np.flatnonzero(~optimal)
        ]

    def planes(self, w: FloatArray, most: float = np.inf) -> tuple[FloatArray, FloatArray]:
        """Costs (m,) and planes (m, K) at weights w, all positive.

        Lifts that a bound shows to cost more than `most` may be left out: finding the cheapest
        way to lift an arm is what takes time.
        """
        i, j, mu, var = self.i, self.j, self.mu, self.variance
        # Arms i and j meet where i is above: i comes down by the share
        # (s_i^2/w_i) / (s_i^2/w_i + s_j^2/w_j) of the way and j goes up by the rest.
        pull_i, pull_j = var[i] * w[j, None], var[j] * w[i, None]
        share = pull_i / (pull_i + pull_j)
        planes = np.zeros((len(i), len(w)))
        rows = np.arange(len(i))
        down, up = -self.above * share, self.above * (1 - share)
        planes[rows, i] = divergence(mu[i], down, var[i], self.side).sum(axis=1)
        planes[rows, j] = divergence(mu[j], up, var[j], self.side).sum(axis=1)
        lifted = [plane for lift in self.lifts if (plane := lift.plane(w, most)) is not None]
        planes = np.vstack([planes, *lifted])
        return planes @ w, planes


class Lift:
    r"""Arm i lifted out from under the arms of S* that strictly dominate it.

    It must match each such arm j in some objective u_j. For a fixed assignment u the cost splits
    by objective: with x the height to which arm i is raised there, for Gaussian outcomes

    .. math:: \min_x \frac{w_i}{2 s_{id}^2} (x - \mu_i^d)^2
              + \sum_{j : u_j = d} \frac{w_j}{2 s_{jd}^2} (\mu_j^d - x)_+^2 .

    The derivative, times V(x), is piecewise linear and increasing; its root is the largest of the
    weighted means of mu_i^d with the k highest mu_j^d, k = 0, 1, ... (water-filling).

    >>> one = Lift(0, np.array([1]), np.array([[0.0], [1.0]]), np.ones((2, 1)), np.array([0]))
    >>> one.plane(np.array([0.5, 0.5]))
    array([0.125, 0.125])
    """

    def __init__(
        self, i: int, arms: IntArray, mu: FloatArray, variance: FloatArray, side: IntArray
    ) -> None:
        self.i, self.mu_i, self.var_i, self.side = i, mu[i], variance[i], side
        reach = ((mu[arms] - mu[i]) / np.sqrt(variance[arms])).min(axis=1)
        self.arms = arms[np.argsort(-reach, kind="stable")]  # the hardest first: bounds bite early
        self.mu, self.var = mu[self.arms], variance[self.arms]
        self.order = np.argsort(-self.mu, axis=0, kind="stable")  # highest first, per objective
        common = bool((self.var == self.var[0]).all()) and not side.any()
        self.cells = transport_cells(self.mu / np.sqrt(self.var)) if common else None

    def plane(self, w: FloatArray, most: float = np.inf) -> FloatArray | None:
        """(K,) the plane of the cheapest way to lift arm i at weights w; None: above `most`."""
        u = self._search(w, most) if self.cells is None else self.cells
        if not len(u):
            return None
        cost, x = self._heights(u, w)
        best = int(cost.argmin())
        u, x = u[best], x[best]
        j = np.arange(len(u))
        plane = np.zeros(len(w))
        plane[self.i] = divergence(self.mu_i, x, self.var_i, self.side).sum()
        fall = np.maximum(self.mu[j, u] - self.mu_i[u] - x[u], 0.0)
        plane[self.arms] = divergence(self.mu[j, u], -fall, self.var[j, u], self.side[u])
        return plane

    def _heights(self, u: IntArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Costs (N,) and rises x - mu_i (N, D) of assignments u (N, n) of the first n arms."""
        n = u.shape[1]
        cost = np.zeros(len(u))
        rises = np.empty((len(u), len(self.mu_i)))
        for d, m in enumerate(self.mu_i):
            order = self.order[:, d]
            order = order[order < n]
            own, others, side = self.var_i[d], self.var[order, d], self.side[d : d + 1]
            b = np.where(u[:, order] == d, w[self.arms[order]] / others, 0.0)
            top, a = self.mu[order, d], w[self.i] / own
            height = top - m
            x = (np.cumsum(b * height, axis=1) / (a + np.cumsum(b, axis=1))).max(axis=1)
            fall = np.maximum(height - x[:, None], 0.0)
            cost += a * own * divergence(m, x, own, side)
            cost += (b * others * divergence(top, -fall, others, side)).sum(axis=1)
            rises[:, d] = x
        return cost, rises

    def _search(self, w: FloatArray, most: float) -> IntArray:
        """The assignments that may be cheapest at w, by bounds: where `transport_cells` is silent.

        A part of an assignment costs no more than the whole, so it is discarded once it costs
        more than the assignment that a greedy choice finds, or than `most`.
        """
        D = len(self.mu_i)
        start = np.zeros((1, 0), dtype=np.int64)
        u = start
        for _ in self.arms:
            u = _extend(u, D)
            costs = self._heights(u, w)[0]
            if u.shape[1] == 1 and costs.min() > most:
                return u[:0]
            u = u[[int(costs.argmin())]]
        most = min(most, float(costs.min()) * (1 + SLACK))
        u = start
        for _ in self.arms:
            u = _extend(u, D)
            u = u[self._heights(u, w)[0] <= most]
        return u


def _extend(u: IntArray, D: int) -> IntArray:
    """Each assignment in u (N, n) with each choice for one more arm: (N D, n + 1)."""
    return np.column_stack([np.repeat(u, D, axis=0), np.tile(np.arange(D), len(u))])


def transport_cells(m: FloatArray) -> IntArray:
    r"""The assignments (N, n) that can be cheapest when scales do not depend on the arm.

    `m` (n, D) holds mu_j/s. At the best heights x, with y = x/s, u_j is where j has least to
    fall, argmin_d (m_j^d - y_d). So u minimises sum_j (m_j^{u_j} - y_{u_j}), hence
    sum_j m_j^{u_j} among all assignments with the same number of arms per objective; conversely,
    by duality of the transport problem, each such minimiser has a y. Up to ties that is one
    assignment for each way to write n as an ordered sum of D counts: C(n + D - 1, D - 1) of the
    D^n. With scales of each arm's own the argmin is taken in other units for each j, and more
    assignments occur: all four of two arms and two objectives instead of three.

    Grown arm by arm: u is possible if and only if the constraints
    y_d - y_{u_j} <= m_j^d - m_j^{u_j} have a solution, that is, no negative cycle.
    """
    n, D = m.shape
    u = np.zeros((1, 0), dtype=np.int64)
    most = np.full((1, D, D), np.inf)  # most[c, d]: bound on y_d - y_c
    most[:, np.arange(D), np.arange(D)] = 0.0
    slack = SLACK * float(np.ptp(m))
    for j in range(n):
        u = _extend(u, D)
        most = np.repeat(most, D, axis=0)
        rows, choice = np.arange(len(u)), u[:, -1]
        most[rows, choice] = np.minimum(most[rows, choice], m[j] - m[j, choice][:, None])
        for d in range(D):  # shortest paths through d
            np.minimum(most, most[:, :, [d]] + most[:, [d], :], out=most)
        possible = (np.diagonal(most, axis1=1, axis2=2) >= -slack).all(axis=1)
        u, most = u[possible], most[possible]
    return u
