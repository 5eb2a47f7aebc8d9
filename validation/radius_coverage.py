r"""How often a radius is right when somebody samples against it.

A time-uniform radius must hold for every sampling rule, so arms are chosen here by rules that
look at the errors themselves, which no real rule can: they know the true means.

    "alternate"   arms in turn
    "lopsided"    one arm gets a sample for every eight of each other arm
    "doubling"    the arms take turns in blocks whose length doubles
    "freeze"      stop sampling arms whose error is large for their count, sample the calm ones
    "chase"       sample the less sampled arm of the pair nearest to violating its interval
    "push"        sample the more sampled arm of that pair

With `union="pairs"` (and for one pair) all intervals together hold with probability 1 - delta.
With `union="claims"` what is proved is that no *claim that can be wrong* ever is: for an arm
outside S*, the lower bounds against one arm that dominates it; for an arm of S*, one upper bound
against every other arm (theory/PROOFS.md, Section 4). That is the event counted then; how often
all intervals hold is reported beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from paretoid.bandits.gaussian import correlate
from paretoid.bandits.mixed import as_correlation
from paretoid.intervals import share_upper_bound
from paretoid.theory.calibration import claim_counts
from paretoid.theory.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    WrongTypeError,
    as_means,
    check_choice,
    check_count,
    check_delta,
    is_real,
    refusal,
)
from paretoid.theory.dominance import margins, pareto_set
from paretoid.theory.radii import LUCB1Like, PairwiseRadius, Radius, RoleTerms
from paretoid.theory.units import as_scale

RULES = ("alternate", "lopsided", "doubling", "freeze", "chase", "push")
OUTCOMES = ("gaussian", "bernoulli")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often a radius was right, for each sampling rule.

    radius, guarantee, delta, K, D   what was tried
    event         "all intervals" or "claims": what is proved to hold with probability 1 - delta
    rules         names of the sampling rules
    replications  runs of each rule, each `horizon` samples long
    failures      (rules,) runs in which the event failed at some time
    interval_failures   (rules,) runs in which some interval failed at some time
    p_value       of the worst rule: chance of so many failures if each run fails with chance delta
    """

    radius: str
    guarantee: str
    delta: float
    K: int
    D: int
    event: str
    rules: tuple[str, ...]
    replications: int
    horizon: int
    seed: int
    failures: tuple[int, ...]
    interval_failures: tuple[int, ...]
    p_value: float

    @property
    def worst(self) -> float:
        """The largest share of failing runs of any rule."""
        return max(self.failures) / self.replications

    @property
    def upper(self) -> float:
        """Clopper-Pearson bound, 95%, on the failure probability of the worst rule."""
        return share_upper_bound(max(self.failures), self.replications)

    @property
    def worst_intervals(self) -> float:
        """The largest share of runs of any rule in which some interval failed."""
        return max(self.interval_failures) / self.replications

    def holds(self, false_alarm: float = 1e-6) -> bool:
        """True: the failures are compatible with delta; false alarms have the chance given."""
        return self.p_value * len(self.rules) > false_alarm

    def summary(self) -> str:
        """What was found, in one sentence."""
        rule = self.rules[int(np.argmax(self.failures))]
        return (
            f"{self.radius} ({self.guarantee}), K={self.K}, D={self.D}: {self.event} failed in "
            f"{max(self.failures)} of {self.replications} runs under the worst rule ({rule}), "
            f"{self.worst:.4f} (below {self.upper:.4f} with 95%) against delta={self.delta:g}; "
            f"some interval failed in {self.worst_intervals:.4f}."
        )


def coverage(
    radius: Radius,
    *,
    means: Any = ((0.0,), (0.0,)),
    scale: Any = 1.0,
    delta: float = 0.1,
    outcomes: str | Sequence[str] = "gaussian",
    correlation: Any = 0.0,
    rules: Sequence[str] = RULES,
    replications: int = 1000,
    horizon: int = 1000,
    shrink: float = 1.0,
    seed: int = 0,
) -> Coverage:
    """Estimate the probability that `radius` ever fails, under adversarial adaptive sampling.

    means       (K, D); they decide which claims can be wrong, and the noise of Bernoulli
                outcomes. One pair of arms and one objective, the default, is the sharpest test:
                there no union bound leaves slack
    scale       scalar, (D,) or (K, D). `UnknownScale` is not told, so make them unequal
    outcomes    "gaussian", or "bernoulli" (scale 1/2, means in [0, 1]); or one for each objective
    correlation of the Gaussians behind the outcomes of one sample: a number, or (D, D)
    horizon     samples of each run
    shrink      the radius is divided by this: what a wrong constant would give

    >>> from paretoid.theory.radii import Mixture
    >>> result = coverage(Mixture(), replications=200, horizon=200)
    >>> result.worst < 0.1, result.holds()
    (True, True)
    >>> coverage(Mixture(), replications=200, horizon=200, shrink=4.0).holds()
    False
    """
    if not isinstance(radius, (PairwiseRadius, LUCB1Like)):
        raise WrongTypeError(f"radius={radius!r} must be a radius of theory.radii; try Mixture().")
    mu = as_means(means)
    K, D = mu.shape
    delta = check_delta(delta)
    kinds = [outcomes] * D if isinstance(outcomes, str) else list(outcomes)
    if len(kinds) != D:
        raise ValueError(f"outcomes={outcomes!r} must be one word, or one for each objective.")
    for kind in kinds:
        check_choice(kind, OUTCOMES, name="outcomes", why="they decide the noise.")
    binary = np.array([kind == "bernoulli" for kind in kinds])
    if ((mu[:, binary] < 0) | (mu[:, binary] > 1)).any():
        raise ValueError(
            f"means={means!r} must lie in [0, 1] for Bernoulli outcomes, as probabilities."
        )
    if (binary & ~radius.known(D)).any():
        raise ValueError(
            f"{type(radius).__name__} learns the scale of Gaussian outcomes alone, so its coverage "
            f"of Bernoulli ones says nothing. Use Mixture() or outcomes='gaussian'."
        )
    spread = np.where(binary, 0.5, as_scale(scale, K, D))
    root = np.asarray(np.linalg.cholesky(as_correlation(correlation, D)), dtype=np.float64)
    replications = check_count(replications, name="replications", why="it is the sample size.")
    first = np.ones(K, dtype=np.int64)
    if isinstance(radius, PairwiseRadius):
        first = first * radius.first_count(K, D, delta)
    horizon = check_count(
        horizon, name="horizon", least=int(first.sum()) + 1,
        why=f"before the first interval {K} arms need {int(first.sum())} samples.",
    )  # fmt: skip
    names = tuple(rules)
    if not names:
        raise ValueError(f"rules is empty; pass one or more of {', '.join(map(repr, RULES))}.")
    for name in names:
        check_choice(name, RULES, name="rules", why="each is a way to choose arms.")
    if not isinstance(shrink, (int, float)) or not shrink > 0:
        raise refusal(is_real(shrink))(
            f"shrink={shrink!r} must be above 0: the radius is divided by it."
        )
    seed = check_count(seed, name="seed", least=0, why="a SeedSequence takes no negative number.")
    counted = claim_counts(K, D, "claims") != claim_counts(K, D, "pairs")
    claims = counted and getattr(radius, "union", "claims") == "claims"
    keep_mask, drop_mask = _claims(mu) if claims else _everything(K, D)
    failures, intervals = [], []
    for name in names:
        # The key is the rule's own, so that a rule's runs do not depend on which others are asked.
        stream = np.random.SeedSequence(seed, spawn_key=(RULES.index(name),))
        arena = _Arena(radius, mu, spread, delta, binary, root, replications, float(shrink), stream)
        arena.play(name, horizon, first)
        failures.append(arena.failed(keep_mask, drop_mask))
        intervals.append(arena.failed(*_everything(K, D)))
    from scipy.stats import binom

    return Coverage(
        radius=repr(radius) if shrink == 1 else f"{radius!r} / {shrink:g}",
        guarantee=radius.guarantee,
        delta=delta,
        K=K,
        D=D,
        event="claims" if claims else "all intervals",
        rules=names,
        replications=replications,
        horizon=horizon,
        seed=seed,
        failures=tuple(failures),
        interval_failures=tuple(intervals),
        p_value=float(binom.sf(max(failures) - 1, replications, delta)),
    )


def _everything(K: int, D: int) -> tuple[BoolArray, BoolArray]:
    every = np.repeat(~np.eye(K, dtype=bool)[:, :, None], D, axis=2)
    return every, every


def _claims(mu: FloatArray) -> tuple[BoolArray, BoolArray]:
    """(K, K, D) masks: lower bounds that may keep wrongly, upper bounds that may drop wrongly."""
    K, D = mu.shape
    keep, drop = np.zeros((2, K, K, D), dtype=bool)
    M, optimal = margins(mu), pareto_set(mu)
    for i in range(K):
        if not optimal[i]:
            keep[i, int(np.argmin(M[i]))] = True  # the arm that dominates i by most
            continue
        for j in range(K):
            if j != i:
                drop[i, j, int(np.argmax(mu[i] - mu[j]))] = True
    return keep, drop


class _Arena:
    """R runs side by side: counts (R, K), sums of errors (R, K, D), worst ratios (R, P, D).

    Differences are kept for the P pairs i < j alone: the error of (j, i) is that of (i, j) negated.
    """

    def __init__(
        self, radius: Radius, mu: FloatArray, scale: FloatArray, delta: float, binary: BoolArray,
        root: FloatArray, replications: int, shrink: float, stream: np.random.SeedSequence,
    ) -> None:  # fmt: skip
        self.radius, self.mu, self.scale, self.delta = radius, mu, scale, delta
        self.binary, self.root, self.shrink = binary, root, shrink
        self.rng = np.random.default_rng(stream)
        K, D = mu.shape
        R = replications
        self.rows = np.arange(R)
        self.I, self.J = np.triu_indices(K, 1)
        self.counts = np.zeros((R, K), dtype=np.int64)
        self.sums, self.ss = np.zeros((2, R, K, D))
        #: [width, sign]: largest error so far, of either sign, over beta_keep and over beta_drop
        self.worst = np.zeros((2, 2, R, len(self.I), D))
        self.l, self.v = np.zeros((2, K, 0))
        #: (P, D) constants of keep and drop, each for (i, j) and for (j, i)
        self.C: list[tuple[FloatArray, FloatArray]] = []
        if isinstance(radius, PairwiseRadius):
            keep, drop = radius.constants(K, D, delta)
            roles = radius.role_terms(K, D, delta) or RoleTerms.zero(K, D)
            own = keep + roles.keep_arm[:, None] + roles.keep_objective  # (K, D)
            against = drop + roles.drop_arm[:, None] + roles.drop_rival  # (K, K)
            table = np.repeat(against[:, :, None], D, axis=2)
            self.C = [(own[self.I], own[self.J]), (table[self.J, self.I], table[self.I, self.J])]

    def failed(self, keep: BoolArray, drop: BoolArray) -> int:
        """Runs in which one of the masked bounds failed at some time.

        The lower bound on mu_i - mu_j fails if the error of (i, j) exceeds beta_keep, the upper
        one if its negative exceeds beta_drop; each has the constants of its own arm i.
        """
        I, J = self.I, self.J
        ever = np.zeros(len(self.rows), dtype=bool)
        for width, (plus, minus) in enumerate(((keep[I, J], keep[J, I]), (drop[J, I], drop[I, J]))):
            for sign, mask in enumerate((plus, minus)):
                ever |= ((self.worst[width, sign] > 1) & mask).any(axis=(1, 2))
        return int(ever.sum())

    def play(self, rule: str, horizon: int, first: IntArray) -> None:
        """`horizon` samples in every run; intervals are looked at once they are finite."""
        K, D = self.mu.shape
        if isinstance(self.radius, PairwiseRadius):
            n = np.tile(np.concatenate([[1.0], np.arange(1.0, horizon + 1)]), (K, 1))
            self.l, self.v = self.radius.arm_terms(n, K, D, self.delta)
        ratio = np.zeros((len(self.rows), len(self.I)))
        opening = np.nonzero(np.arange(1, first.max() + 1)[:, None] <= first)[1]
        for t in range(horizon):
            if t < len(opening):
                arms = np.full(len(self.rows), opening[t])
            else:
                arms = self.choose(rule, t, ratio)
            self.sample(arms)
            if t >= len(opening) - 1:
                ratio = self.look(t + 1)

    def sample(self, arms: IntArray) -> None:
        """One outcome, as its error, of arms (R,)."""
        mu, scale = self.mu[arms], self.scale[arms]
        if self.binary.all() and (self.root == np.eye(len(self.root))).all():
            error = (self.rng.random(mu.shape) < mu) - mu
        else:
            noise = self.rng.standard_normal(mu.shape)
            correlate(self.root, noise)
            error = noise * scale
            if self.binary.any():
                error = np.where(self.binary, (ndtr(noise) < mu) - mu, error)
        at = (self.rows, arms)
        n = self.counts[at] + 1
        before = self.sums[at] / np.maximum(n - 1, 1)[:, None]
        self.counts[at] = n
        self.sums[at] += error
        after = self.sums[at] / n[:, None]
        self.ss[at] += np.where(n[:, None] > 1, (error - before) * (error - after), 0.0)

    def look(self, t: int) -> FloatArray:
        """Update the worst ratios; (R, P) how near each pair is to violating now."""
        I, J = self.I, self.J
        x = self.sums / self.counts[:, :, None]
        error = x[:, I] - x[:, J]
        if isinstance(self.radius, LUCB1Like):
            K, D = self.mu.shape
            growth = float(np.sqrt(self.radius.growth(t, K, D, self.delta)))
            beta = growth * self.scale * np.sqrt(2 / self.counts[:, :, None])
            both = error / ((beta[:, I] + beta[:, J]) / self.shrink)
            ratios = [(both, -both)] * 2
        else:
            arms = np.arange(self.counts.shape[1])
            unit = np.where(self.radius.known(self.mu.shape[1]), self.scale**2, self.ss)
            v = self.v[arms, self.counts]  # (R, K), and D where v differs by objective
            by_objective = isinstance(self.radius, PairwiseRadius) and self.radius.by_objective
            v = (v if by_objective else v[:, :, None]) * unit
            total = (v[:, I] + v[:, J]) / self.shrink**2
            l = self.l[arms, self.counts]
            logs = (l[:, I] + l[:, J])[:, :, None]
            ratios = [
                (error / np.sqrt((plus + logs) * total), -error / np.sqrt((minus + logs) * total))
                for plus, minus in self.C
            ]
        for width in (0, 1):
            for sign in (0, 1):
                np.maximum(
                    self.worst[width, sign], ratios[width][sign], out=self.worst[width, sign]
                )
        # An interval that has failed in a run is not pushed further: others get their turn.
        open_ = (self.worst[0] <= 1).all(axis=0)
        return np.asarray(np.where(open_, np.maximum(*ratios[0]), 0.0).max(axis=2))

    def choose(self, rule: str, t: int, ratio: FloatArray) -> IntArray:
        """The next arm (R,) of every run."""
        R, K = self.counts.shape
        if rule == "alternate":
            return np.full(R, t % K)
        if rule == "lopsided":
            turn = t % (8 * (K - 1) + 1)
            return np.full(R, 0 if turn == 0 else 1 + turn % (K - 1))
        if rule == "doubling":
            return np.full(R, int(math.log2(t + 1)) % K)
        if rule == "freeze":
            z = np.abs(self.sums / self.scale).max(axis=2) / np.sqrt(self.counts)
            return np.asarray(np.argmin(z, axis=1))
        pair = ratio.argmax(axis=1)
        i, j = self.I[pair], self.J[pair]
        less = self.counts[self.rows, i] <= self.counts[self.rows, j]
        return np.asarray(np.where(less == (rule == "chase"), i, j), dtype=np.int64)
