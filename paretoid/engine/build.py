"""From bandit, rule, radius, goals and delta to a `Program` and the loop that runs it.

Our own rules and goals run compiled, chosen by exact type, with any radius of the common form; so
do bandits that say how outcomes come from noise. Everything else runs in `paretoid.loop`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from paretoid.arithmetic import reference_of
from paretoid.bandits import Bandit, BernoulliBandit, MixedBandit, ResampledBandit
from paretoid.engine.columns import Columns, Tables
from paretoid.engine.levels import Levels
from paretoid.engine.program import (
    AFFINE,
    AT_MOST,
    COVER,
    LATENT,
    PARETO_SET,
    TABLE,
    THRESHOLD,
    LimitTable,
    Program,
)
from paretoid.engine.rates import is_binary, rates_of, refuse_other_outcomes
from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.goals.limited import LimitedGoal
from paretoid.registry import PAIR_RADII, RATE_RADII
from paretoid.rules import (
    APE,
    LUCB,
    BestArmRule,
    LUCBpp,
    RoundRobin,
    Rule,
    UGapEc,
    UniformElimination,
)
from paretoid.theory.checks import (
    BoolArray,
    IntArray,
    WrongTypeError,
    as_epsilon,
    check_delta,
    shown,
)
from paretoid.theory.limits import Bounds, LimitLevels, limit_levels
from paretoid.theory.radii import BetaBinomial, LUCB1Like, PairwiseRadius, Radius
from paretoid.theory.single_stream import ArmRadius
from paretoid.view import divisors

#: advance(program, state, runs, noise, trace): run runs[q] by noise[q], (samples, width)
Advance = Callable[[Any, Any, Any, Any, Any], None]

_GOALS: dict[type, int] = {ParetoSet: PARETO_SET, Cover: COVER, AtMost: AT_MOST}
_LAWS = {"affine": AFFINE, "threshold": THRESHOLD, "table": TABLE, "latent": LATENT}
#: rule: module and name of its loop
_LOOPS: dict[type, tuple[str, str]] = {
    APE: ("ape", "advance"),
    RoundRobin: ("rounds", "round_robin"),
    UniformElimination: ("rounds", "uniform_elimination"),
    LUCB: ("best_arm", "lucb"),
    LUCBpp: ("best_arm", "lucb"),
    UGapEc: ("best_arm", "ugapec"),
}
_FOREVER = 1 << 62
_NO_LIMITS = LimitTable(np.zeros(0, dtype=np.int64), *np.zeros((5, 0)))


def runs_compiled(bandit: Bandit, goals: Sequence[Goal], rule: Rule, radius: Radius) -> bool:
    """True: a compiled loop computes what `paretoid.loop` would.

    >>> import paretoid as pt
    >>> class Mine(pt.ParetoSet):
    ...     pass
    >>> bandit = pt.GaussianBandit([[0.0], [1.0]])
    >>> [runs_compiled(bandit, [goal], pt.APE(), pt.Mixture()) for goal in (pt.ParetoSet(), Mine())]
    [True, False]
    """
    known = type(rule) in _LOOPS and all(type(goal) in _GOALS for goal in goals)
    limited = any(goal.limits is not None for goal in goals)
    if limited:
        known = known and len(goals) == 1 and type(rule) is APE and not rule.in_rounds
    if isinstance(radius, BetaBinomial):  # a loop of its own, which trusts outcomes to be 0 or 1
        ours = (BernoulliBandit, MixedBandit, ResampledBandit)
        known = known and type(radius) is BetaBinomial and type(rule) is APE
        known = known and type(bandit) in ours and not limited
    return known and bandit.compiled_law is not None


def runs_conducted(rule: Rule, radius: Radius) -> bool:
    """True: `paretoid.engine.conducted` serves this rule and radius.

    >>> import paretoid as pt
    >>> runs_conducted(pt.APE(), pt.Mixture()), runs_conducted(pt.RoundRobin(), pt.Mixture())
    (True, False)
    """
    return type(rule) is APE and not rule.in_rounds and isinstance(radius, PairwiseRadius)


def loop_of(rule: Rule, radius: Radius, goals: Sequence[Goal]) -> Advance:
    """The compiled loop of one of our rules; imports Numba."""
    from importlib import import_module

    module, name = _LOOPS[type(rule)]
    if isinstance(radius, LUCB1Like):
        module = "growing"  # only APE serves it; the others refuse
    if isinstance(radius, BetaBinomial):
        module = "rate_loop"
    if goals[0].limits is not None:
        module = "limited"  # only APE serves them compiled
    advance: Advance = getattr(import_module(f"paretoid.engine.{module}"), name)
    return advance


def check_radius(radius: Any, bandit: Bandit, rule: Rule | None = None) -> Radius:
    """`radius`, if its theorem covers the outcomes of `bandit`.

    Radii on single arms are for rules that look for one best arm; `rule` says whether this does.
    """
    if isinstance(radius, ArmRadius) and isinstance(rule, BestArmRule):
        return radius
    if type(radius) is LUCB1Like:
        return radius
    if isinstance(radius, BetaBinomial):
        if not is_binary(bandit):
            refuse_other_outcomes(radius, repr(bandit))
        radius.weights(bandit.K)  # refuses a rho for other arms
        return radius
    if not isinstance(radius, PairwiseRadius):
        raise WrongTypeError(
            f"radius={shown(radius)} must be one of {', '.join((*PAIR_RADII, *RATE_RADII))}, or "
            f"your own subclass of PairwiseRadius; try radius=Mixture()."
        )
    if type(radius).half_width is not PairwiseRadius.half_width:
        raise ValueError(
            f"{type(radius).__name__} changes half_width, and engines read constants and arm_terms "
            f"alone: they would run another radius than it says. Change those instead."
        )
    learnt = ~radius.known(bandit.D)
    wrong = [name for name, bad in zip(bandit.objectives, learnt & ~bandit.gaussian, strict=True)
             if bad]  # fmt: skip
    if wrong and bandit.gaussian.any():
        scales = ["unknown" if gaussian else "known" for gaussian in bandit.gaussian]
        raise ValueError(
            f"{type(radius).__name__} learns the scale of {wrong[0]!r}, which only Gaussian "
            f"outcomes allow, and {bandit!r} says that they are not. Use MixedScale({scales}), "
            f"which learns it where outcomes are Gaussian."
        )
    if wrong:
        raise ValueError(
            f"{type(radius).__name__} needs Gaussian outcomes, and those of {bandit!r} are "
            f"{bandit.model}: its variance bound mixes Gaussian likelihood ratios, which are no "
            f"martingale here. Use Mixture(), which asks only for the sub-Gaussian scale the "
            f"bandit knows."
        )
    return radius


@lru_cache(maxsize=16)
def columns_of(
    radius: PairwiseRadius | ArmRadius, K: int, D: int, delta: float
) -> tuple[Columns, Levels | None]:
    """The columns of a radius and, on pairs of arms, its constants; shared by all who ask."""
    columns = Columns(radius, K, D, delta)
    if isinstance(radius, ArmRadius):
        return columns, None
    levels = Levels.of(radius, K, D, delta)
    levels.check(radius, columns)
    return columns, levels


def opening_of(first: IntArray) -> IntArray:
    """The arms sampled before the first decision: in turn, each until its radius is finite.

    >>> opening_of(np.array([1, 3, 2]))
    array([0, 1, 2, 1, 2, 1])
    """
    rounds = np.arange(1, int(first.max()) + 1)[:, None]
    return np.asarray(np.nonzero(rounds <= first)[1], dtype=np.int64)


def build_program(
    bandit: Bandit,
    goals: Sequence[Goal],
    rule: Rule,
    radius: Radius,
    delta: float,
    max_samples: int | None,
) -> tuple[Program, Columns | None]:
    """The program of a run, and the columns it reads, which may grow; `goals` share one eps1."""
    K, D = bandit.K, bandit.D
    delta = check_delta(delta)
    check_radius(radius, bandit, rule)
    columns, levels = None, None
    limits, compared = _NO_LIMITS, np.ones(D, dtype=np.bool_)
    if isinstance(goals[0], LimitedGoal) and goals[0].limits is not None:
        assert isinstance(radius, PairwiseRadius)
        spent = limit_levels(radius, K, D, delta, len(goals[0].limits))
        limits, compared = _limit_table(goals[0].bounds, spent)
        columns, _ = columns_of(radius, K, D, spent.pairs)
        levels = Levels.of(radius, K, D, spent.pairs, drop_delta=spent.rivals)
        levels.check(radius, columns)
    elif isinstance(radius, (PairwiseRadius, ArmRadius)):
        columns, levels = columns_of(radius, K, D, delta)
    if levels is None:
        single = rule.levels(K, delta) if isinstance(rule, BestArmRule) else None
        levels = Levels.of(radius, K, D, delta, single)
        if columns is not None:
            levels.check(radius, columns)
    known = radius.known(D)
    unknown = not known.all()
    divisor = np.where(known, divisors(bandit), 1.0)
    law = bandit.compiled_law
    assert law is not None, "a bandit without a law runs in the readable loop"
    eps2 = np.array(
        [as_epsilon(g.eps2 if isinstance(g, Cover) else 0.0, D, name="eps2") for g in goals]
    )
    covers = eps2[[isinstance(g, Cover) for g in goals]]
    one_scale = bandit.common_scale and not unknown
    alike = not (columns is None or columns.by_arm or levels.rival.any() or levels.objective.any())
    alike = alike and len({*levels.keep}) == len({*levels.drop}) == len({*levels.first}) == 1
    nothing = np.zeros(K, dtype=np.int64)
    tables = Tables(np.zeros(1), np.zeros(1), nothing, nothing)
    if columns is not None:
        tables = columns.tables
    return read_only(
        Program(
            outcomes=_LAWS[law.kind],
            location=law.location,
            spread=law.spread,
            data=law.data,
            starts=law.starts,
            reference=reference_of(bandit.oriented, bandit.scale),
            keep=levels.keep,
            drop=levels.drop,
            rival=levels.rival,
            objective=levels.objective,
            column_l=tables.l,
            column_v=tables.v,
            offset=tables.offset,
            size=tables.size,
            unknown=unknown,
            common=one_scale and alike,
            wide=not one_scale or levels.by_objective or columns is None,
            factor=np.where(known, (bandit.scale / divisor) ** 2, 0.0),
            divisor=divisor,
            opening=opening_of(levels.first),
            both=rule.in_rounds,
            eps1=np.where(compared, as_epsilon(goals[0].eps1, D), -np.inf),
            goal=np.array([_GOALS[type(g)] for g in goals], dtype=np.int64),
            k=np.array([g.k if isinstance(g, AtMost) else 0 for g in goals], dtype=np.int64),
            eps2=np.where(compared, eps2, np.inf),
            chain=bool((np.diff(covers, axis=0) <= 0).all()),
            max_samples=_FOREVER if max_samples is None else max_samples,
            limits=limits,
            zero=np.where(compared, 0.0, np.inf),
            rates=rates_of(radius, bandit.sign, K),
        )
    ), columns


def _limit_table(bounds: Bounds, spent: LimitLevels) -> tuple[LimitTable, BoolArray]:
    """The limits as kernels read them, and (D,) which objectives are compared in domination."""
    column = np.array(bounds.column, dtype=np.int64)
    rows = bounds.direction, bounds.floor, bounds.slack, spent.keep, spent.drop
    return LimitTable(column, *(np.array(row) for row in rows)), bounds.compared


def with_columns(program: Program, columns: Columns) -> Program:
    """The program with the columns as they are now."""
    l, v, offset, size = columns.tables
    return program._replace(column_l=l, column_v=v, offset=offset, size=size)


def read_only(program: Program) -> Program:
    """All tables read-only, so that Numba sees one type whatever their origin."""
    for table in (*program, *program.limits):
        if isinstance(table, np.ndarray):
            table.setflags(write=False)
    return program
