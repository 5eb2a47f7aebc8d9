"""From bandit, rule, radius, goals and delta to the numbers of a `Program`; refuses misfits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from paretoid.bandits import Bandit
from paretoid.engine.program import (
    COVER,
    ITERATED_LOGARITHM,
    KAUFMANN_KOOLEN,
    MIXTURE,
    SINGLE_ARM,
    UNKNOWN_SCALE,
    Program,
)
from paretoid.goals import AtMost, Cover, Goal
from paretoid.rules import BestArmRule, Rule
from paretoid.theory.checks import FloatArray, as_epsilon, check_delta
from paretoid.theory.radii import (
    CHI_EXACT,
    KaufmannKoolen,
    Mixture,
    PairwiseRadius,
    Radius,
    SingleArm,
    UnknownScale,
    chi,
)
from paretoid.theory.single_stream import ArmMixture, ArmRadius, IteratedLogarithm

_KINDS: dict[type, int] = {
    Mixture: MIXTURE,
    KaufmannKoolen: KAUFMANN_KOOLEN,
    UnknownScale: UNKNOWN_SCALE,
    SingleArm: SINGLE_ARM,
}
_ARM_KINDS: dict[type, int] = {ArmMixture: MIXTURE, IteratedLogarithm: ITERATED_LOGARITHM}
_TABLE = 1 << 16
_FOREVER = 1 << 62


def check_radius(radius: Any, bandit: Bandit, rule: Rule | None = None) -> Radius:
    """`radius`, if its theorem covers the outcomes of `bandit`.

    Radii on single arms are for rules that look for one best arm; `rule` says whether this does.
    """
    if isinstance(rule, BestArmRule) and type(radius) in _ARM_KINDS:
        assert isinstance(radius, ArmRadius)
        return radius
    if type(radius) not in _KINDS:
        names = ", ".join(kind.__name__ for kind in _KINDS)
        raise ValueError(f"radius={radius!r} must be one of {names}; try radius=Mixture().")
    if isinstance(radius, UnknownScale) and bandit.model != "gaussian":
        raise ValueError(
            f"UnknownScale needs Gaussian outcomes, and those of {bandit!r} are {bandit.model}: "
            f"its variance bound mixes Gaussian likelihood ratios, which are no martingale here. "
            f"Use Mixture(), which asks only for the sub-Gaussian scale the bandit knows."
        )
    assert isinstance(radius, Radius)
    return radius


def divisors(bandit: Bandit) -> FloatArray:
    """(D,) what each objective is divided by: the rms of the arms' scales."""
    if bandit.common_scale:
        return np.array(bandit.scale[0])
    return np.asarray(np.sqrt((bandit.scale**2).mean(axis=0)))


@lru_cache(maxsize=16)
def _tables(radius: Radius, K: int, D: int, delta: float) -> tuple[FloatArray, ...]:
    """(l, v, chi) by count; shared, so that every run and every test sees the same logarithms."""
    from paretoid.engine.arms import _fill_tables

    chis, size = np.ones(1), _TABLE
    if isinstance(radius, UnknownScale):
        size = CHI_EXACT + 1
        chis = np.concatenate(
            [[0.0], chi(np.arange(1, size), radius.threshold(K, D, delta), radius.a)]
        )
    elif isinstance(radius, SingleArm):
        size = 1
    l, v = np.zeros(size), np.zeros(size)
    _fill_tables(_KINDS[type(radius)], getattr(radius, "rho", 1.0), chis, _ratio(chis), l, v)
    for table in (l, v, chis):
        table.setflags(write=False)
    return l, v, chis


@lru_cache(maxsize=16)
def _stream_tables(radius: ArmRadius) -> tuple[FloatArray, ...]:
    """(l, v, chi) by count of a radius on one arm."""
    from paretoid.engine.baselines import fill_stream_tables

    l, v, chis = np.zeros(_TABLE), np.zeros(_TABLE), np.ones(1)
    fill_stream_tables(_ARM_KINDS[type(radius)], getattr(radius, "rho", 1.0), chis, l, v)
    for table in (l, v, chis):
        table.setflags(write=False)
    return l, v, chis


def _ratio(chis: FloatArray) -> float:
    return float(chis[-1] / max(len(chis) - 1, 1))


def build_program(
    bandit: Bandit,
    goals: Sequence[Goal],
    rule: Rule,
    radius: Radius,
    delta: float,
    max_samples: int | None,
) -> Program:
    """The numbers of one stream; `goals` share eps1 and covers come with decreasing eps2."""
    K, D = bandit.K, bandit.D
    delta = check_delta(delta)
    check_radius(radius, bandit, rule)
    unknown = isinstance(radius, UnknownScale)
    first = 1
    if isinstance(radius, PairwiseRadius):
        keep, drop = radius.constants(K, D, delta)
        first = radius.first_count(K, D, delta)
    elif isinstance(radius, ArmRadius):
        assert isinstance(rule, BestArmRule)
        keep, drop = (radius.constant(alpha) for alpha in rule.levels(K, delta))
    else:
        assert isinstance(radius, SingleArm)
        keep = drop = radius.constant(K, D, delta)
    if isinstance(radius, ArmRadius):
        l, v, chis = _stream_tables(radius)
    else:
        l, v, chis = _tables(radius, K, D, delta)
    divisor = np.ones(D) if unknown else divisors(bandit)
    location, spread, data, starts = bandit.kernel_terms()
    eps2 = np.array(
        [as_epsilon(g.eps2 if isinstance(g, Cover) else 0.0, D, name="eps2") for g in goals]
    )
    covers = eps2[[g.kind == COVER for g in goals]]
    return Program(
        outcomes=bandit.outcomes,
        location=location,
        spread=spread,
        data=np.ascontiguousarray(data),
        starts=starts,
        radius={**_KINDS, **_ARM_KINDS}[type(radius)],
        keep=keep,
        drop=drop,
        rho=float(getattr(radius, "rho", 1.0)),
        table_l=l,
        table_v=v,
        chi=chis,
        chi_ratio=_ratio(chis),
        common=bandit.common_scale and not unknown,
        factor=(bandit.scale / divisor) ** 2,
        divisor=divisor,
        first=first,
        both=rule.both,
        eps1=as_epsilon(goals[0].eps1, D),
        goal=np.array([g.kind for g in goals], dtype=np.int64),
        k=np.array([g.k if isinstance(g, AtMost) else 0 for g in goals], dtype=np.int64),
        eps2=eps2,
        chain=bool((np.diff(covers, axis=0) <= 0).all()),
        max_samples=_FOREVER if max_samples is None else max_samples,
        zero=np.zeros(D),
    )
