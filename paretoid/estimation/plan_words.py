"""A plan in words: what is promised, on what it rests, and whose the bounds are."""

from __future__ import annotations

from typing import Any

from paretoid.bandits.kinds import Kind, kind_in_words
from paretoid.bounds import with_pairs
from paretoid.estimation.summary import TrialSummary
from paretoid.theory.checks import is_number
from paretoid.theory.radii import BetaBinomial, KaufmannKoolen, Mixture, PairwiseRadius, Radius


def guarantee_in_words(
    radius: Radius,
    trial: TrialSummary,
    kinds: tuple[Kind, ...],
    scale_quantile: float,
    delta: float,
    guarantee: str,
    correlation: Any = None,
) -> str:
    """What is promised, and what of each endpoint it rests on."""
    said = _promise(radius, trial, kinds, scale_quantile, delta, guarantee)
    if correlation is None:
        return said
    shared = f"{correlation:g}" if is_number(correlation) else "as given between each two"
    return (
        f"{said} Trials were simulated with endpoints of one participant that are correlated "
        f"(latent Gaussian correlation {shared}); the guarantee does not lean on that."
    )


def _promise(
    radius: Radius,
    trial: TrialSummary,
    kinds: tuple[Kind, ...],
    scale_quantile: float,
    delta: float,
    guarantee: str,
) -> str:
    if guarantee != "proved":
        return f"{radius} is heuristic here: nothing bounds the probability of a wrong answer."
    promise = f"A wrong answer has probability at most {delta:g}"
    if len(set(kinds)) > 1 or not isinstance(kinds[0], str):
        return f"{promise} if {_each_endpoint(radius, trial, kinds, scale_quantile)}."
    if not radius.needs_scale:
        return f"{promise} if (log) outcomes are Gaussian; the fitted variances are not relied on."
    if kinds[0] == "binary":
        return f"{promise}, for any 0/1 outcomes."
    return (
        f"{promise} if the true scales are at most those used, the {scale_quantile:.0%} posterior "
        f"quantile of each arm and endpoint, and (log) outcomes are sub-Gaussian."
    )


def stated_ranges(trial: TrialSummary, kinds: tuple[Kind, ...]) -> dict[str, Any]:
    """The stated ranges by the full names of their endpoints."""
    return {name: kind for name, kind in zip(trial.endpoints, kinds, strict=True)
            if not isinstance(kind, str)}  # fmt: skip


def _each_endpoint(
    radius: Radius, trial: TrialSummary, kinds: tuple[Kind, ...], scale_quantile: float
) -> str:
    """What is assumed of each endpoint, where they are of different kinds."""
    known = radius.known(len(trial.endpoints))
    said = []
    for d, name in enumerate(trial.endpoints):
        what = f"log {name}" if trial.scales[d] == "log-normal" else name
        kind, told = kinds[d], known[d]
        if kind != "gaussian":
            said.append(f"{what} {kind_in_words(kind)}")
        elif told:
            said.append(
                f"{what} is sub-Gaussian with at most the scales used, the {scale_quantile:.0%} "
                f"posterior quantile of each arm"
            )
        else:
            said.append(f"{what} is Gaussian, its variance in each arm learnt in the trial")
    return "; ".join(said)


def published_in_words(radius: Radius, goals: int, mix: float, shared: bool) -> str:
    """What of the radius the published data shape, and that no promise rests on them.

    shared   the plan asked whether unequal shares of delta would save participants
    """
    planned = isinstance(radius, BetaBinomial) and radius.planned is not None
    shares = getattr(radius, "shares", None)
    unequal = shares is not None and not (planned and shares.is_uniform)
    if not shared and not planned:
        return ""
    if shared and not planned and not unequal:
        return (
            "The published data would save no participants here, so delta is shared out evenly and "
            "they are not leant on at all."
        )
    said = []
    if unequal:
        averaged = ", averaged over the goals after each is normalised" if goals > 1 else ""
        said.append(
            f"delta is shared out by the samples that each arm is expected to need{averaged} (mix "
            f"{mix:g})"
        )
    if planned:
        assert isinstance(radius, BetaBinomial)
        said.append(
            f"bounds on rates expect the fitted ones, weighed {radius.trust:.3g} times as much as "
            f"the rate that is tested and never more than the participants behind them"
        )
    return (
        f"Planned with the published data: {'; '.join(said)}. The guarantee does not lean on them: "
        f"a wrong answer has probability at most delta whatever those data were worth, if they are "
        f"not counted again in the trial."
    )


def bound_radius(radius: Radius, informed: bool) -> tuple[PairwiseRadius, str]:
    """The radius whose inversion stands for this one, and what that means.

    A union over pairs, because a bound holds where all intervals do: no probability is proved for
    those of a union over claims to hold all at once.
    """
    stand_in: Mixture | KaufmannKoolen
    why = ", with the largest scale per endpoint"
    if isinstance(radius, KaufmannKoolen):
        stand_in = KaufmannKoolen()
    elif isinstance(radius, Mixture):
        stand_in = with_pairs(radius)
    else:
        stand_in = Mixture(rho=getattr(radius, "rho", 30.0), union="pairs")
        why = (
            ": this plan's own has no such bound"
            if isinstance(radius, BetaBinomial)
            else ", which is told each draw's scales: a rough figure, for this plan's radius must "
            "also learn them"
        )
    if stand_in == radius and not informed:
        whose = "this plan's own radius"
    else:
        whose = f"another radius ({type(stand_in).__name__}, a union over pairs, uniform shares"
        whose += ", scale 1/2)" if isinstance(radius, BetaBinomial) else ")"
    return stand_in, (
        f"sharp_bound is for {whose}{why}; theorem_1 is for the radius of the paper. With those "
        f"radii a trial takes no more than that with probability at least 1 - delta"
    )
