"""Methods in sentences: what was asked, what was assumed, what is proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import partial

from paretoid.goals import Goal
from paretoid.text import MARGINS, interval, measure
from paretoid.theory.radii import (
    BetaBinomial,
    KaufmannKoolen,
    LUCB1Like,
    MixedScale,
    Mixture,
    MixtureRadius,
    Radius,
    UnknownScale,
)
from paretoid.theory.shares import Shares
from paretoid.units import PLAIN, Units

PARETO = (
    "An arm is Pareto-optimal if no other arm is strictly better in every objective at once. "
    + MARGINS["any"]
)

APE = (
    "Sampling is adaptive: Adaptive Pareto Exploration (APE; Kone, Kaufmann and Richert, 2023) "
    "chooses the next arm from simultaneous confidence intervals on all differences of means, and "
    "stops as soon as these settle the question."
)

INTERVALS = (
    "Shares carry Clopper-Pearson intervals; medians and other quantiles of sample sizes carry "
    "intervals between order statistics, which assume nothing about their distribution; means "
    "carry Student's t intervals or, where written with ±, standard errors. All intervals are at "
    "95% and describe the simulation's own error, one at a time, without correction for "
    "multiplicity."
)


def labels(goals: Sequence[Goal], units: Units = PLAIN) -> list[str]:
    """Goals in as many words as the head of a column has room for; all different.

    >>> from paretoid import AtMost, ParetoSet
    >>> labels([ParetoSet(), AtMost(2, 0.1), AtMost(1)])
    ['all optimal arms', 'any 2 arms', 'one arm']
    >>> labels([ParetoSet(), ParetoSet(0.1)])
    ['all optimal arms', 'all optimal arms (margin 0.1)']
    >>> labels([ParetoSet(0.1), ParetoSet(0.1)])
    ['ParetoSet(eps1=0.1)', 'ParetoSet(eps1=0.1)']
    >>> from paretoid import at_least
    >>> goal = ParetoSet(limits={"IgG": at_least(0.0)})
    >>> labels([goal], Units(("IgG",), logs=("IgG",), units={"IgG": "ELU/ml"}))
    ['all optimal arms (IgG at least 1 ELU/ml)']
    """
    forms = [[goal.label(units) for goal in goals]]
    if all(goal.limits is None for goal in goals):  # a limit is said in its unit
        forms.insert(0, [goal.label() for goal in goals])
    for names in forms:
        if len(set(names)) == len(names):
            return names
    return [str(goal) for goal in goals]


def radius_label(radius: Radius | None, text: str) -> str:
    """A radius by name, with those of its arguments that are not the defaults.

    >>> from paretoid.theory import KaufmannKoolen, Mixture
    >>> radius_label(Mixture(), "")
    'Mixture'
    >>> radius_label(Mixture(rho=19.703327, union="none"), "")
    'Mixture, rho=19.7, union=none'
    >>> from paretoid.theory import Shares
    >>> radius_label(Mixture(rho=[5.0, 80.0], shares=Shares([0.2, 0.8])), "")
    'Mixture, rho by arm, 5 to 80, delta shared out by arm'
    >>> from paretoid.theory import BetaBinomial
    >>> radius_label(BetaBinomial(planned=[[0.02], [0.06]]), "")
    'BetaBinomial, rates planned, 0.02 to 0.06, trust=0.333'
    >>> radius_label(None, "Mine(1)")
    'Mine(1)'
    """
    if radius is None or not is_dataclass(radius):
        return text
    said = [type(radius).__name__]
    for field in fields(radius):
        value = getattr(radius, field.name)
        implied = field.name == "sides" and getattr(radius, "union", "claims") != "claims"
        if value == field.default or implied:
            continue
        if isinstance(value, Shares):
            said.append("delta shared out by arm")
        elif field.name == "scales":
            said.append(f"{value.count('unknown')} of {len(value)} scales unknown")
        elif field.name == "planned":
            rates = [rate for row in value for rate in row]
            ends = interval(min(rates), max(rates), partial(measure, digits=3))
            said.append(f"rates planned, {ends}")
        elif isinstance(value, tuple):
            ends = interval(min(value), max(value), partial(measure, digits=3))
            said.append(f"{field.name} by arm, {ends}")
        else:
            shown = f"{value:.3g}" if isinstance(value, float) else str(value)
            said.append(f"{field.name}={shown}")
    return ", ".join(said)


def intervals_of(radius: Radius | None, text: str) -> str:
    """What a radius is, in words a reader of statistics knows; `text` names it."""
    if isinstance(radius, Mixture):
        kind = (
            f"{_sided(radius)} normal-mixture martingale bounds on two streams ({_prior(radius)}), "
            f"valid at all sample sizes at once, for sub-Gaussian outcomes whose scale is known"
        )
    elif isinstance(radius, UnknownScale):
        kind = (
            f"{_sided(radius)} normal-mixture martingale bounds on two streams ({_prior(radius)}) "
            f"with time-uniform upper bounds on every variance, which take the share {radius.w:g} "
            f"of delta; outcomes are Gaussian, variances are unknown and may differ between arms"
        )
    elif isinstance(radius, MixedScale):
        learnt = radius.scales.count("unknown")
        kind = (
            f"{_sided(radius)} normal-mixture martingale bounds on two streams ({_prior(radius)}); "
            f"{learnt} of {len(radius.scales)} objectives are Gaussian with unknown variances, "
            f"whose time-uniform upper bounds take the share {radius.w:g} of delta, the others "
            f"sub-Gaussian with known scales, for outcomes in a range half of it"
        )
    elif isinstance(radius, KaufmannKoolen):
        exact = "its exact calibration C^g" if radius.calibration == "exact" else "C^g(x) ~ x+log x"
        kind = (
            f"the time-uniform deviation inequality of Kaufmann and Koolen (2021) with {exact}, "
            f"for sub-Gaussian outcomes whose scale is known"
        )
    elif isinstance(radius, BetaBinomial):
        kind = (
            f"beta-binomial mixture martingale bounds on two streams ({_prior(radius)}), "
            f"valid at all sample sizes at once, for outcomes 0 or 1 of any rate"
        )
    elif isinstance(radius, LUCB1Like):
        kind = "one interval per arm, growing with the total sample size (LUCB1-like), for "
        kind += "sub-Gaussian outcomes whose scale is known"
    else:
        return f"Confidence intervals: {text}."
    union = {
        "claims": "a union bound over those claims that can be wrong",
        "pairs": "a union bound over all pairs of arms and objectives",
        "none": "no union bound",
    }[getattr(radius, "union", "pairs")]
    return f"Confidence intervals: {kind}; {union} ({text})."


def _sided(radius: MixtureRadius) -> str:
    return "one-sided" if radius.sides == "one" else "two-sided"


def _prior(radius: MixtureRadius | BetaBinomial) -> str:
    """Prior precisions and shares in words."""
    rho = radius.rho
    said = f"prior precision {rho:.3g} samples" if isinstance(rho, float) else (
        f"prior precision by arm, {min(rho):.3g} to {max(rho):.3g} samples"
    )  # fmt: skip
    if isinstance(radius, BetaBinomial) and radius.planned is not None:
        said += f", and {radius.trust:.3g} times that at the rates planned before the data"
    if radius.shares is not None and not radius.shares.is_uniform:
        said += ", delta shared out unequally, as fixed before the data"
    return said


def guarantee(radius: Radius | None, proved: bool, delta: float) -> str:
    """What delta means under this radius."""
    if not proved:
        return (
            "The radius is heuristic: no theorem bounds the probability of a wrong answer, and "
            "delta is a tuning constant."
        )
    condition = "outcomes are sub-Gaussian with at most the stated scales"
    if isinstance(radius, MixedScale):
        condition = "outcomes of unknown scale are Gaussian, the others within the scales stated,"
    elif radius is not None and not radius.needs_scale:
        condition = "outcomes are Gaussian"
    elif isinstance(radius, BetaBinomial):
        condition = "outcomes are 0 or 1"
    return (
        f"Proved: if {condition} and independent from sample to sample, the probability that a "
        f"run stops with a wrong answer is at most delta = {delta:g}, for every sample size at "
        f"which it may stop and however arms were chosen."
    )
