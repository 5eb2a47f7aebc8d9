"""The replay behind `validation.pathwise`: every round of a path, vectorised over rounds."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.rules import APE
from paretoid.theory.checks import BoolArray, FloatArray, IntArray, as_epsilon
from paretoid.theory.gaps import gaps, omega
from paretoid.theory.radii import PairwiseRadius, RoleTerms
from paretoid.theory.sharp_bound import has_sample_bound, sample_bound
from paretoid.validation.paths import Path
from paretoid.view import Samples, Standing, View

#: Rounding: two orders of summation differ by less than this in units of the scale.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Violation:
    """One assertion that failed: which check, after how many samples, and the numbers."""

    check: str
    t: int
    detail: str

    def __str__(self) -> str:
        return f"[{self.check}] after {self.t} samples: {self.detail}"


@dataclass
class Tables:
    """Everything of rounds t (c,): counts (c, K), and (c, K, K, D) differences and half-widths."""

    t: IntArray
    counts: FloatArray
    mean: FloatArray
    keep: FloatArray
    drop: FloatArray


@dataclass
class Replay:
    """The state of one replay; `rounds` may be called for consecutive blocks of rounds."""

    path: Path
    violations: list[Violation] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    n_rounds: int = 0
    bad_rounds: int = 0
    bounded: int = 0

    def __post_init__(self) -> None:
        path, s = self.path, self.path.setting
        K, D = s.bandit.K, s.bandit.D
        self.ape = isinstance(s.rule, APE)
        self.both = self.ape and s.rule.in_rounds
        first: int | IntArray = 1
        self.roles = RoleTerms.zero(K, D)
        if isinstance(s.radius, PairwiseRadius):
            first = s.radius.first_count(K, D, s.delta)
            self.roles = s.radius.role_terms(K, D, s.delta) or self.roles
        self.start = int(np.broadcast_to(np.asarray(first), (K,)).sum())
        n = len(path.arm)
        pulled = path.arm[:, None] == np.arange(K)
        self.counts = np.cumsum(pulled, axis=0).astype(np.float64)
        self.sums = np.cumsum(pulled[:, :, None] * path.outcome[:, None, :], axis=0)
        self.ss = np.zeros((n, K, D))
        scale = s.bandit.scale
        self.divisor = np.sqrt((scale**2).mean(axis=0))
        self.known = s.radius.known(D)
        if not self.known.all():
            self._sums_of_squares(pulled)
            if n >= self.start:
                at = self.start - 1
                pooled = np.sqrt(self.ss[at].sum(axis=0) / (self.counts[at] - 1).sum())
                self.divisor = np.where(self.known, self.divisor, pooled)
        self.mu = s.bandit.oriented / self.divisor
        self.truth = self.mu[:, None, :] - self.mu[None, :, :]
        self.eps1 = as_epsilon(s.goals[0].eps1, D) / self.divisor
        self.spread = float(self.eps1.max() - self.eps1.min())
        self.gaps, self.omega = gaps(self.mu), np.sort(omega(self.mu))[::-1]
        self.printed = False
        if bool((scale == scale[0]).all()) and has_sample_bound(s.radius):
            assert isinstance(s.radius, PairwiseRadius)
            keep, drop = s.radius.constants(K, D, s.delta)
            self.printed = keep == drop
        ends = [stop[0] for stop in path.stops if stop is not None]
        self.end = max(ends) if len(ends) == len(path.stops) else math.inf
        self.fired: list[int | None] = [None] * len(s.goals)

    def _sums_of_squares(self, pulled: BoolArray) -> None:
        """Welford's sums, arm by arm: the ss of the first m samples, at every time."""
        for i in range(pulled.shape[1]):
            x = self.path.outcome[pulled[:, i]]
            m = np.arange(1, len(x) + 1)[:, None]
            means = np.cumsum(x, axis=0) / m
            before = np.concatenate([x[:1], means[:-1]])
            ss = np.cumsum((x - before) * (x - means), axis=0)
            held = np.concatenate([np.zeros((1, x.shape[1])), ss])
            self.ss[:, i] = held[self.counts[:, i].astype(np.int64)]

    def tables(self, t: IntArray) -> Tables:
        """Intervals of rounds t in units of the divisor, from the radius's own formulas."""
        s = self.path.setting
        K, D = s.bandit.K, s.bandit.D
        counts = self.counts[t - 1]
        x = self.sums[t - 1] / counts[:, :, None] / self.divisor
        mean = x[:, :, None, :] - x[:, None, :, :]
        factor = (s.bandit.scale / self.divisor) ** 2
        if not isinstance(s.radius, PairwiseRadius):
            growth = np.sqrt(s.radius.growth(t, K, D, s.delta))  # type: ignore[attr-defined]
            beta = growth[:, None, None] * np.sqrt(2 * factor / counts[:, :, None])
            width = beta[:, :, None, :] + beta[:, None, :, :]
            return Tables(t, counts, mean, width, width)
        if s.radius.by_arm:
            l, v = (np.swapaxes(a, 0, 1) for a in s.radius.arm_terms(counts.T, K, D, s.delta))
        else:
            which, where = np.unique(counts, return_inverse=True)
            terms = s.radius.arm_terms(which, K, D, s.delta)
            l, v = (a[where].reshape(counts.shape + a.shape[1:]) for a in terms)
        unit = np.where(self.known, factor, self.ss[t - 1] / self.divisor**2)
        v = (v if s.radius.by_objective else v[:, :, None]) * unit
        spread = v[:, :, None, :] + v[:, None, :, :]
        logs = (l[:, :, None] + l[:, None, :])[..., None]
        C_keep, C_drop = s.radius.constants(K, D, s.delta)
        own = C_keep + self.roles.keep_arm[:, None, None] + self.roles.keep_objective
        against = C_drop + self.roles.drop_arm[:, None] + self.roles.drop_rival
        keep = np.sqrt((own + logs) * spread)
        return Tables(t, counts, mean, keep, np.sqrt((against[..., None] + logs) * spread))

    def record(self, check: str, t: IntArray, failed: BoolArray, detail: Any) -> None:
        """Count a check applied at times t; note the first failure, if it is this path's first."""
        self.checked[check] += int(np.size(failed))
        if np.any(failed) and all(v.check != check for v in self.violations):
            at = int(np.argmax(failed))
            self.violations.append(Violation(check, int(t[at]), str(detail(at))))

    def rounds(self, t: IntArray) -> None:
        """Check the rounds after t samples, t (c,) consecutive."""
        path, s = self.path, self.path.setting
        K = s.bandit.K
        x = self.tables(t)
        good = (np.abs(x.mean - self.truth) <= np.minimum(x.keep, x.drop)).all(axis=(1, 2, 3))
        self.bad_rounds += int((~good).sum())
        others = ~np.eye(K, dtype=bool)
        M_upper = (x.mean + x.drop).max(axis=3)
        M_lower = (x.mean - x.keep).max(axis=3)
        M_true = self.truth.max(axis=2)
        # Lemma 1; m = -M, so its intervals are the same two inequalities.
        self.record(
            "Lemma 1", t[good],
            ((M_lower > M_true) | (M_true > M_upper))[good].any(axis=(1, 2)),
            lambda at: "M(i, j) is outside its interval although all differences are inside",
        )  # fmt: skip
        deciding = path.tested[t - 1]
        if self.ape:
            deciding = (t - self.start) % 2 == 0 if self.both else np.ones(len(t), dtype=bool)
        self.n_rounds += int(deciding.sum())

        lifted = np.where(others, (x.mean + self.eps1 - x.keep).max(axis=3), np.inf)
        h = lifted.min(axis=2)
        g = np.where(others, -M_upper, -np.inf).max(axis=2)
        S = np.asarray(~((x.mean < 0).all(axis=3) & others).any(axis=2))
        OPT = h > 0
        certain = np.minimum(
            np.where(S, h, np.inf).min(axis=1), np.where(S, np.inf, np.maximum(g, h)).min(axis=1)
        )
        self.goals(t, x, deciding, good, h, g, S, OPT, certain)

        if not self.ape:  # what follows is about b_t and c_t
            return
        before = deciding & (t < self.end)
        b, c = path.b[t - 1], path.c[t - 1]
        self.sampling(t, x.counts, before, b, c, h, g, lifted, OPT)
        lemma = before & good & (b >= 0) & (c >= 0)
        rows = np.flatnonzero(lemma)
        if len(rows):
            self.lemmas(t[rows], x, rows, b[rows], c[rows], M_upper, OPT)

    def sampling(
        self, t: IntArray, counts: FloatArray, before: BoolArray, b: IntArray, c: IntArray,
        h: FloatArray, g: FloatArray, lifted: FloatArray, OPT: BoolArray,
    ) -> None:  # fmt: skip
        """The engine's interval, b_t, c_t and the arm it samples next are those defined."""
        path = self.path
        rows = np.flatnonzero(before & (b >= 0) & (c >= 0))
        missing = before & ~((b >= 0) & (c >= 0))
        self.record(
            "sampling rule", t[before], missing[before],
            lambda at: "there is no b_t or c_t, although the run goes on",
        )  # fmt: skip
        if not len(rows):
            return
        t, b, c = t[rows], b[rows], c[rows]
        index = -g[rows]
        mine = index[np.arange(len(rows)), b]
        slack = TOLERANCE * (1 + np.abs(mine))
        claimed = path.index[t - 1]
        self.record(
            "intervals", t, ~(np.abs(claimed - mine) <= slack),
            lambda at: f"min_j M+(b_t, j) is {mine[at]:.6g}, the engine has {claimed[at]:.6g}",
        )  # fmt: skip
        best = np.where(h[rows] > slack[:, None], -np.inf, index).max(axis=1)
        self.record(
            "sampling rule", t,
            (h[rows, b] > slack) | (mine < best - slack),
            lambda at: f"b_t = {b[at]} is in OPT(t), or its index {mine[at]:.6g} is not the "
            f"largest outside OPT(t), {best[at]:.6g}",
        )  # fmt: skip
        chosen, least = lifted[rows, b, c], lifted[rows, b].min(axis=1)
        self.record(
            "sampling rule", t, chosen > least + slack,
            lambda at: f"c_t = {c[at]} has max_d (L + eps1) = {chosen[at]:.6g}, the least is "
            f"{least[at]:.6g}",
        )  # fmt: skip
        going = t < len(path.arm)
        at_b, at_c = counts[rows, b], counts[rows, c]
        want = np.where(self.both | (at_b <= at_c), b, c)
        took = path.arm[np.minimum(t, len(path.arm) - 1)]
        self.record(
            "sampling rule", t, going & (took != want),
            lambda at: f"arm {took[at]} was sampled next, not {want[at]}",
        )  # fmt: skip

    def goals(
        self, t: IntArray, x: Tables, deciding: BoolArray, good: BoolArray, h: FloatArray,
        g: FloatArray, S: BoolArray, OPT: BoolArray, certain: FloatArray,
    ) -> None:  # fmt: skip
        """Every goal's rule at every round: right when it fires, and fired when claimed."""
        s, means = self.path.setting, self.path.setting.bandit.oriented
        O = S | ~(g > 0)
        for q, goal in enumerate(s.goals):
            margin, answer = certain, O
            if type(goal) is AtMost:
                ranked = np.argsort(-h, axis=1, kind="stable")
                kth = np.take_along_axis(h, ranked[:, goal.k - 1 : goal.k], axis=1)[:, 0]
                top = np.zeros_like(O)
                np.put_along_axis(top, ranked[:, : goal.k], True, axis=1)
                margin = np.maximum(certain, kth)
                answer = np.where((kth > 0)[:, None], top, O)
            elif type(goal) is Cover:
                eps2 = as_epsilon(goal.eps2, s.bandit.D) / self.divisor
                credit = np.where(OPT[:, None, :, None], eps2, 0.0)
                within = (x.mean - credit + x.drop).max(axis=3)
                within[:, np.arange(s.bandit.K), np.arange(s.bandit.K)] = np.inf
                margin = np.maximum(-within.min(axis=2), h).min(axis=1)
                answer = OPT
            elif type(goal) is not ParetoSet:
                margin, answer = self.decided(goal, t, x)
            rows = np.flatnonzero((margin > 0) & good)
            if len(rows):
                different, which = np.unique(answer[rows], axis=0, return_inverse=True)
                right = np.array([goal.is_correct(a, means) for a in different])
                self.record(
                    "correctness", t[rows], ~right[which.reshape(-1)],
                    lambda at, rows=rows, goal=goal, answer=answer: f"the rule of {goal} would "
                    f"stop with arms {np.flatnonzero(answer[rows[at]]).tolist()}, which is wrong",
                )  # fmt: skip
            self.stopping(q, goal, t, deciding, good, margin, answer, h)

    def decided(self, goal: Goal, t: IntArray, x: Tables) -> tuple[FloatArray, BoolArray]:
        """(+1 or -1, answer) of somebody else's goal, from a view of each round."""
        s, standing = self.path.setting, Standing.begin(self.path.setting.bandit.K)
        margin, answers = np.full(len(t), -1.0), np.zeros(x.counts.shape, dtype=bool)
        for row in range(len(t)):
            counts = np.repeat(x.counts[row][:, None], s.bandit.D, axis=1)
            means = self.sums[t[row] - 1] / np.maximum(counts, 1)
            view = View(
                s.bandit.arms, s.bandit.objectives, int(t[row]),
                Samples(counts, means, self.ss[t[row] - 1]), self.divisor, self.eps1, x.mean[row],
                x.keep[row], x.drop[row], None, standing, {}, False,
            )  # fmt: skip
            answer = goal.decide(view)
            if answer is not None:
                margin[row], answers[row] = 1.0, answer
        return margin, answers

    def stopping(
        self, q: int, goal: Goal, t: IntArray, deciding: BoolArray, good: BoolArray,
        margin: FloatArray, answer: BoolArray, h: FloatArray,
    ) -> None:  # fmt: skip
        """The claimed stop of goal q: at the first round its rule fires, with its answer."""
        stop = self.path.stops[q]
        time = math.inf if stop is None else stop[0]
        self.record(
            "stopping rule", t, deciding & (margin > TOLERANCE) & (t < time),
            lambda at: f"the rule of {goal} holds by {margin[at]:.3g}; the engine went on to "
            f"{'its budget' if stop is None else stop[0]}",
        )  # fmt: skip
        here = np.flatnonzero(t == time)
        if stop is None or not len(here):
            return
        at = here
        self.record(
            "stopping rule", t[at], (margin[at] <= -TOLERANCE) | ~deciding[at],
            lambda _: f"the engine stopped for {goal}, whose rule fails by {-margin[at[0]]:.3g}",
        )  # fmt: skip
        given = np.asarray(stop[1])
        means = self.path.setting.bandit.oriented
        wrong = not goal.is_correct(given, means)
        names = np.flatnonzero(given).tolist()
        if good[at[0]]:
            self.record(
                "answer", t[at], np.array([wrong]),
                lambda _: f"{goal} was answered by arms {names}, which is wrong",
            )  # fmt: skip
        expected = answer[at[0]]
        other = not np.array_equal(given, expected)
        if isinstance(goal, AtMost) and other and given.sum() == expected.sum() == goal.k:
            # arms of equal index may be exchanged
            gap = h[at[0]][expected].min() - h[at[0]][given].min()
            other = bool(abs(gap) > TOLERANCE)
        self.record(
            "recommendation", t[at], np.array([other]),
            lambda _: f"{goal} was answered by arms {names}, its definition gives "
            f"{np.flatnonzero(expected).tolist()}",
        )  # fmt: skip

    def lemmas(
        self, t: IntArray, x: Tables, rows: IntArray, b: IntArray, c: IntArray,
        M_upper: FloatArray, OPT: BoolArray,
    ) -> None:  # fmt: skip
        """The sample-complexity lemmas, at rounds whose intervals hold, before the end."""
        s = self.path.setting
        upper = M_upper[rows, b].copy()
        upper[np.arange(len(rows)), b] = np.inf
        least = upper.min(axis=1)
        self.record(
            "M+(b_t, j) >= 0", t, least < -TOLERANCE,
            lambda at: f"M+(b_t, j) = {least[at]:.6g} for some j, so all outside OPT(t) is "
            f"certified dominated and every rule should have fired",
        )  # fmt: skip
        width = (x.keep[rows, b, c] + x.drop[rows, b, c]).max(axis=1)
        a = np.where(x.counts[rows, b] <= x.counts[rows, c], b, c)
        targets = {"Delta": self.gaps[a], "eps1": np.full(len(rows), self.eps1.min())}
        if self.both:
            targets["Delta"] = np.maximum(self.gaps[b], self.gaps[c])
        # |OPT(t)| arms are kept, so the rule for one more has not fired.
        size = np.minimum(OPT[rows].sum(axis=1), s.bandit.K - 1)
        floor = self.omega[size]
        for goal, stop in zip(s.goals, self.path.stops, strict=True):
            if isinstance(goal, AtMost):
                running = t < (math.inf if stop is None else stop[0])
                floor = np.where(running, np.maximum(floor, self.omega[goal.k - 1]), floor)
        targets["omega^k"] = floor
        for name, value in targets.items():
            bound = width + (self.spread if name == "Delta" else 0.0)
            self.record(
                name, t, value > bound * (1 + TOLERANCE) + TOLERANCE,
                lambda at, name=name, value=value, bound=bound: f"{name} = {value[at]:.6g} exceeds "
                f"{bound[at]:.6g} at (b_t, c_t) = ({b[at]}, {c[at]})",
            )  # fmt: skip
        if self.printed and self.spread == 0 and not self.both:
            own = (x.keep[rows, a, a] + x.drop[rows, a, a]).max(axis=1)
            # The paper takes beta to decrease in both counts; Mixture rises again, slowly, where
            # counts differ by orders of magnitude (`theory.sample_bound`). There it says nothing.
            falls = own >= width * (1 - TOLERANCE)
            most = np.max(list(targets.values()), axis=0)
            self.record(
                "2 beta at (a_t, a_t)", t[falls],
                (most > own * (1 + TOLERANCE) + TOLERANCE)[falls],
                lambda at: f"max(Delta, eps1, omega^k) = {most[falls][at]:.6g} exceeds "
                f"2 beta = {own[falls][at]:.6g} at a_t = {a[falls][at]}",
            )  # fmt: skip

    def finish(self) -> None:
        """tau <= theory.sample_bound, where that is proved and all intervals held."""
        s = self.path.setting
        # Intervals after the last sample do not matter; before the first decision none is used.
        if self.bad_rounds or self.both or not self.ape or not has_sample_bound(s.radius):
            return
        for goal, stop in zip(s.goals, self.path.stops, strict=True):
            if stop is None:
                continue
            if type(goal) not in (ParetoSet, Cover, AtMost):
                continue
            assert isinstance(s.radius, PairwiseRadius)
            k = goal.k if isinstance(goal, AtMost) else None
            bound = sample_bound(
                s.bandit.oriented, s.delta, s.radius, goal.eps1, k, scale=s.bandit.scale
            )
            self.bounded += 1
            self.record(
                "sharp bound", np.array([stop[0]]), np.array([stop[0] > bound]),
                lambda _, stop=stop, bound=bound: f"stopped after {stop[0]} samples, "
                f"theory.sample_bound says {float(bound):.0f}",
            )  # fmt: skip
