r"""The paper's lemmas as checks of a single path: no statistics involved.

On a path on which the confidence intervals are right, the lemmas of [kone2023] are certainties.
So replay what an engine did, with the true means at hand, and whenever the intervals of a round
hold (the event E_t: lower bounds with beta_keep and upper bounds with beta_drop, all pairs, all
objectives) assert:

    Lemma 1           M-(i, j) <= M(i, j) <= M+(i, j), and the same for m
    correctness       the answer of every goal is right whenever its rule would stop
    answer            the answer the engine gave is right
    M+(b_t, j) >= 0   for all j, before the end [lem:stoppingcond]
    Delta, eps1, omega^k <= max_d (beta_keep + beta_drop) at (b_t, c_t) [lem:samplold,
                      lem:sampl-complex-eps, lem:samplwm; theory/PROOFS.md, Section 7]
    2 beta at (a_t, a_t)   the same as printed: scales common to all arms, one level
    sharp bound       stopping_time <= theory.sample_bound, if the intervals held throughout

and, whether or not they hold, that the engine follows its own definitions: intervals, sampling
rule, stopping rule, recommendation. Everything here is recomputed from the samples alone, by
vectorised code that shares nothing with the engines but `theory.radii`.

We differ: with an eps1 that is not the same for all objectives (after each is divided by its
scale), Delta_{b_t} of a sub-optimal b_t is at most max_d (beta_keep + beta_drop) + max_d eps1 -
min_d eps1, no less: c_t minimises max_d (L^d + eps1^d), and the best dominator of b_t, maximal in
max_d L^d, may lose that comparison by the spread of eps1. `theory.combined_gaps`, and with it the
sharp bound, allows for that.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from paretoid.theory.checks import WrongTypeError
from paretoid.validation._replay import Replay, Violation
from paretoid.validation.paths import Path, engine_path, reference_path, watched_goals

_CHUNK = 256

CHECKS = (
    "intervals", "sampling rule", "stopping rule", "recommendation", "Lemma 1", "correctness",
    "answer", "M+(b_t, j) >= 0", "Delta", "eps1", "omega^k", "2 beta at (a_t, a_t)", "sharp bound",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Report:
    """What replaying one or more paths showed.

    paths, rounds   replayed; a round is a moment at which the engine decides
    bad_paths       paths on which some interval failed at some time
    bad_rounds      rounds whose intervals did not hold: there the lemmas say nothing
    bounded         stopped goals whose time was compared with the sharp bound
    checked         how often each check was applied, by name
    violations      what failed, the first of each check and path
    """

    paths: int
    rounds: int
    bad_paths: int
    bad_rounds: int
    bounded: int
    checked: dict[str, int]
    violations: tuple[Violation, ...]

    def __add__(self, other: Report) -> Report:
        return Report(
            self.paths + other.paths,
            self.rounds + other.rounds,
            self.bad_paths + other.bad_paths,
            self.bad_rounds + other.bad_rounds,
            self.bounded + other.bounded,
            dict(Counter(self.checked) + Counter(other.checked)),
            self.violations + other.violations,
        )

    def summary(self) -> str:
        """What was looked at and what was found, in one paragraph."""
        violated = "no violation" if not self.violations else f"{len(self.violations)} violations"
        lines = [
            f"{self.paths} paths, {self.rounds} rounds: {violated}; intervals failed on "
            f"{self.bad_paths} paths ({self.bad_rounds} rounds), where the lemmas say nothing; "
            f"{self.bounded} stopping times compared with the sharp bound."
        ]
        return "\n".join([*lines, *map(str, self.violations)])


def assert_path(path: Path) -> Report:
    """`check_path`, raising AssertionError with a readable account if anything failed.

    >>> import paretoid as pt
    >>> assert_path(engine_path(pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]]))).paths
    1
    """
    report = check_path(path)
    if report.violations:
        s = path.setting
        raise AssertionError(
            "\n".join(
                [
                    f"{len(report.violations)} checks failed on a path of {len(path.arm)} samples",
                    f"  means      {s.bandit.oriented.tolist()} (larger is better)",
                    f"  scale      {s.bandit.scale.tolist()}",
                    f"  goals      {', '.join(map(str, s.goals))}",
                    f"  run        {s.rule}, {s.radius}, delta={s.delta:g}, seed={path.seed}",
                    *(f"  {violation}" for violation in report.violations),
                ]
            )
        )
    return report


def check_path(path: Path) -> Report:
    """Replay `path` and apply every check; violations are returned, not raised.

    >>> import paretoid as pt
    >>> report = check_path(engine_path(pt.GaussianBandit([[0.0], [2.0]], scale=1.0)))
    >>> report.violations, report.checked["answer"]
    ((), 1)
    """
    if not isinstance(path, Path):
        raise WrongTypeError(
            f"path={path!r} must be a Path: make one by engine_path(bandit, goals, ...), or fill "
            f"in what another engine did."
        )
    replay = Replay(path)
    for first in range(replay.start, len(path.arm) + 1, _CHUNK):
        replay.rounds(np.arange(first, min(first + _CHUNK, len(path.arm) + 1)))
    replay.finish()
    return Report(
        paths=1,
        rounds=replay.n_rounds,
        bad_paths=int(replay.bad_rounds > 0),
        bad_rounds=replay.bad_rounds,
        bounded=replay.bounded,
        checked=dict(replay.checked),
        violations=tuple(replay.violations),
    )


__all__ = [
    "CHECKS", "Path", "Report", "Violation", "assert_path", "check_path", "engine_path",
    "reference_path", "watched_goals",
]  # fmt: skip
