"""Hostile arguments of `simulate`, `Campaign`, `run_once` and `anytime`: a value, or a refusal.

Each example attacks one or two places of a run with values that try to break it, or with numbers at
the ends of what is allowed, and leaves the rest in order. The contract is that of
`paretoid.validation.hostile`; no call may hang. `pytest --full` tries a hundred times as many.
"""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid.theory.checks import shown
from paretoid.validation import hostile
from paretoid.validation.guard import time_limit

#: seconds for one call; compiling counts, on a busy machine too, so that only a hang meets it
LIMIT = 600.0
COINS = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.05, 0.1]])
DOSES = pt.GaussianBandit(
    [[2.0, 0.0], [0.0, -2.0], [-1.0, 1.0]], [0.5, 1.0], arms=["a", "b", "c"],
    objectives=["x", "y"], minimize=["y"],
)  # fmt: skip
SINGLE = pt.GaussianBandit([[2.0], [0.0], [-1.0]], 0.5, objectives=["x"])
DATA = pt.ResampledBandit([[[1.0, 2.0], [2.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]], scale=1.0)
MEANS = [[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]]

#: what a value is made into: arguments of `simulate`
ATTACKS = {
    "bandit": lambda x: {"bandit": x},
    "bandits": lambda x: {"bandit": [DOSES, x]},
    "means": lambda x: {"bandit": pt.GaussianBandit(x, 0.5)},
    "offset": lambda x: {"bandit": pt.GaussianBandit([[x, 1.0], [x, 0.0]], 0.5)},
    "scale": lambda x: {"bandit": pt.GaussianBandit(MEANS, x)},
    "covariance": lambda x: {"bandit": pt.GaussianBandit(MEANS, covariance=x)},
    "probabilities": lambda x: {"bandit": pt.BernoulliBandit([[x, 0.2], [0.1, 0.8]])},
    "data": lambda x: {"bandit": pt.ResampledBandit(x, scale=1.0)},
    "bounds": lambda x: {"bandit": pt.ResampledBandit([[[1.0]], [[2.0]]], bounds=(0.0, x))},
    "arms": lambda x: {"bandit": pt.GaussianBandit(MEANS, 0.5, arms=x)},
    "an arm": lambda x: {"bandit": pt.GaussianBandit(MEANS, 0.5, arms=["a", "b", x])},
    "objectives": lambda x: {"bandit": pt.GaussianBandit(MEANS, 0.5, objectives=["a", x])},
    "minimize": lambda x: {"bandit": pt.GaussianBandit(MEANS, 0.5, minimize=x)},
    "goals": lambda x: {"goals": x},
    "goal": lambda x: {"goals": [pt.ParetoSet(), x]},
    "eps1": lambda x: {"goals": pt.ParetoSet(x)},
    "eps1 of each": lambda x: {"goals": pt.ParetoSet([x, x])},
    "eps2": lambda x: {"goals": pt.Cover(0.0, x)},
    "k": lambda x: {"goals": pt.AtMost(x)},
    "margin": lambda x: {"goals": pt.PracticalSet(x)},
    "slack": lambda x: {"goals": pt.PracticalSet(1.0, x)},
    "limits": lambda x: {"goals": pt.ParetoSet(limits=x)},
    "limit": lambda x: {"goals": pt.ParetoSet(limits={"x": pt.at_most(x)})},
    "no limit": lambda x: {"goals": pt.AtMost(1, limits={"x": x})},
    "limit's slack": lambda x: {"goals": pt.ParetoSet(limits={"x": pt.at_least(0.3, slack=x)})},
    "compared": lambda x: {"goals": pt.ParetoSet(limits={"x": pt.at_least(0.3, compared=x)})},
    "rule": lambda x: {"rule": x},
    "pull": lambda x: {"rule": pt.APE(x)},
    "top-two": lambda x: {"rule": pt.TopTwo(x)},
    "scheme": lambda x: {"rule": pt.EGE(x, 100)},
    "budget": lambda x: {"rule": pt.EGE("SH", x)},
    "radius": lambda x: {"radius": x},
    "rho": lambda x: {"radius": pt.Mixture(rho=x)},
    "rho of each": lambda x: {"radius": pt.Mixture(rho=[x, x, x])},
    "union": lambda x: {"radius": pt.Mixture(union=x)},
    "sides": lambda x: {"radius": pt.UnknownScale(sides=x)},
    "unknown rho": lambda x: {"radius": pt.UnknownScale(rho=x)},
    "w": lambda x: {"radius": pt.UnknownScale(w=x)},
    "a": lambda x: {"radius": pt.UnknownScale(a=x)},
    "shares": lambda x: {"radius": pt.Mixture(shares=x)},
    "shares of arms": lambda x: {"radius": pt.Mixture(shares=pt.Shares(arms=x))},
    "shares of rivals": lambda x: {"radius": pt.Mixture(shares=pt.Shares(rivals=x))},
    "two shares": lambda x: {"radius": pt.Mixture(shares=pt.Shares(objectives=[0.5, x]))},
    "calibration": lambda x: {"radius": pt.KaufmannKoolen(x)},
    "beta-binomial": lambda x: {"radius": pt.BetaBinomial(x)},
    "mixed scales": lambda x: {"radius": pt.MixedScale(x)},
    "mixed rho": lambda x: {"radius": pt.MixedScale(["unknown", "known"], rho=x)},
    "delta": lambda x: {"delta": x},
    "replications": lambda x: {"replications": x if not _many(x) else 2},
    "seed": lambda x: {"seed": x},
    "max_samples": lambda x: {"max_samples": x},
    "executor": lambda x: {"executor": x},
    "conduct": lambda x: {"conduct": x},
    "rate": lambda x: {"conduct": pt.Conduct(rate=x)},
    "rates": lambda x: {"conduct": pt.Conduct(rate=[(0.0, 2.0), (x, x)])},
    "delay": lambda x: {"conduct": pt.Conduct(rate=5.0, delay=x)},
    "a delay": lambda x: {"conduct": pt.Conduct(rate=5.0, delay={"x": x})},
    "look": lambda x: {"conduct": pt.Conduct(look=x)},
    "looks": lambda x: {"conduct": pt.Conduct(look=(1, x))},
    "look_days": lambda x: {"conduct": pt.Conduct(rate=5.0, look_days=x)},
    "dropout": lambda x: {"conduct": pt.Conduct(dropout=x)},
    "missing": lambda x: {"conduct": pt.Conduct(missing={"x": x})},
    "burn_in": lambda x: {"conduct": pt.Conduct(burn_in=x)},
    "randomise": lambda x: {"conduct": pt.Conduct(randomise=x)},
    "floor": lambda x: {"conduct": pt.Conduct(randomise=pt.Randomisation(floor=x))},
    "block": lambda x: {"conduct": pt.Conduct(randomise=pt.Randomisation(block=x))},
    "strata": lambda x: {"conduct": pt.Conduct(randomise=pt.Randomisation(strata=x))},
    "control": lambda x: {"conduct": pt.Conduct(randomise=pt.Randomisation(control=x))},
    "labels": lambda x: {"labels": x},
    "deltas": lambda x: {"deltas": x},
    "replication": lambda x: {"replication": x},
    "budgets": lambda x: {"budgets": x},
}
RULES = (pt.APE, pt.UniformElimination, pt.RoundRobin, pt.TopTwo, pt.Tracking, pt.LUCB,
         pt.PosteriorSampling, pt.LUCBpp, pt.UGapEc)  # fmt: skip
RADII = (pt.Mixture, pt.UnknownScale, pt.KaufmannKoolen, pt.LUCB1Like, pt.BetaBinomial)


def _many(x):
    """True: a number of runs that is in order, and would take its time."""
    return isinstance(x, (int, np.integer)) and x > 3


def simulate(bandit, labels=None, deltas=None, replication=0, budgets=(), **rest):
    return pt.simulate(bandit, **rest)


def campaign(bandit, deltas=0.1, delta=None, radius=None, executor=None, replication=0, budgets=(),
             **rest):  # fmt: skip
    radii = None if radius is None else [radius, pt.LUCB1Like()]
    return pt.Campaign(bandit, deltas=deltas, radii=radii, **rest).run(executor=executor)


def run_once(bandit, goals=None, labels=None, deltas=None, replications=0, executor=None,
             conduct=None, budgets=(), **rest):  # fmt: skip
    return repr(pt.run_once(bandit, goals, **rest))


def anytime(bandit, budgets=(20, 100), labels=None, deltas=None, replication=0, executor=None,
            conduct=None, max_samples=0, **rest):  # fmt: skip
    return pt.anytime(bandit, budgets, **rest)


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0.0, 1.0),
    st.floats(1e-3, 1e3),
    st.floats(1e-300, 1e300),
    st.integers(0, 300),
    st.sampled_from([2**31, 2**62, 10**9, 1e-100, 1e-9, 1e9, 1e15]),
    st.lists(st.floats(0.0, 2.0), min_size=2, max_size=3),
)


@st.composite
def runs(draw):
    """A caller, the arguments that are in order, and one or two attacks with their values."""
    caller = draw(st.sampled_from([simulate, simulate, simulate, campaign, run_once, anytime]))
    around = {"bandit": draw(st.sampled_from([COINS, DOSES, SINGLE, DATA])), "max_samples": 200}
    if draw(st.integers(0, 3)) == 0:
        around["rule"] = draw(st.sampled_from(RULES))()
    if draw(st.integers(0, 3)) == 0:
        around["radius"] = draw(st.sampled_from(RADII))()
    attacks = []
    for _ in range(draw(st.sampled_from([1, 1, 2]))):
        kind = hostile.values if draw(st.integers(0, 2)) == 0 else numbers
        attacks.append((draw(st.sampled_from(sorted(ATTACKS))), draw(kind)))
    return caller, around, attacks


def attacked(caller, around, attacks):
    arguments = dict(around)
    for place, value in attacks:
        arguments |= ATTACKS[place](value)
    return caller(**arguments)


def held_to_contract(call, *arguments):
    """Whether the call returned; anything but a refusal as promised is an AssertionError."""
    try:
        with time_limit(LIMIT), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            call(*arguments)
    except Exception as error:
        fault = hostile.fault_in(error)
        if fault:
            raise AssertionError(f"{fault}\n{shown(arguments)}") from error
        return False
    return True


def test_any_argument_of_a_run_is_taken_or_refused_in_a_sentence(examples, tmp_path):
    returned = []

    @given(runs())
    @settings(
        max_examples=150 * examples, deadline=None, database=None, derandomize=True,
        phases=[Phase.generate],  # an example is small already, and shrinking it would take minutes
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def fuzz(run):
        returned.append(held_to_contract(attacked, *run))

    pt.simulate(COINS, max_samples=20)  # compiles, which may take longer than the limit
    with contextlib.chdir(tmp_path):
        fuzz()
    assert not list(tmp_path.iterdir())
    assert 0.02 < np.mean(returned) < 0.98, "some attacks are taken, others are refused"


HUGE = np.broadcast_to(0.5, (10**9, 2))
#: what the fuzzer found, each once an exception of NumPy's or Python's, or no end
FOUND = {
    "an instance that is none": lambda: pt.run_once(3),
    "an instance by its name": lambda: pt.run_once("covboost"),
    "two goals for one trace": lambda: pt.run_once(COINS, [pt.ParetoSet(), pt.AtMost(1)]),
    "two instances for one guess": lambda: pt.anytime([COINS, COINS], [20]),
    "an array without a dimension": lambda: pt.simulate(np.array(None)),
    "a view of more arms than memory": lambda: pt.GaussianBandit(HUGE, 0.5),
    "lists of views": lambda: pt.ParetoSet([HUGE, HUGE]),
    "more arms than can be compared": lambda: pt.BernoulliBandit(HUGE[: 10**5]),
    "more objectives than can be drawn": lambda: pt.BernoulliBandit(HUGE.T[:, : 10**5]),
    "data that are a number": lambda: pt.ResampledBandit(0.5, scale=1.0),
    "data of nobody": lambda: pt.ResampledBandit(np.zeros((0, 2)), scale=1.0),
    "data in a view": lambda: pt.ResampledBandit(HUGE, scale=1.0),
    "more names than arms": lambda: pt.BernoulliBandit([[0.5], [0.2]], arms=HUGE),
    "names without a dimension": lambda: pt.BernoulliBandit([[0.5], [0.2]], arms=np.array("a")),
    "less of a number is better": lambda: pt.BernoulliBandit([[0.5], [0.2]], minimize=0.5),
    "a ragged rho": lambda: pt.BetaBinomial([[1.0], 2.0]),
    "a rho of nothing": lambda: pt.Mixture(rho=[]),
    "a rho for other arms": lambda: pt.Campaign(COINS, radii=pt.BetaBinomial([1.0, 2.0])),
    "a rho below all samples": lambda: pt.Mixture(rho=5e-324),
    "a rho in a view": lambda: pt.Mixture(rho=HUGE[:, 0]),
    "shares without a dimension": lambda: pt.Shares(arms=np.array(0.5)),
    "shares in a view": lambda: pt.Shares(arms=HUGE[:, 0]),
    "deltas in a view": lambda: pt.Campaign(COINS, deltas=HUGE[:, 0]),
    "ragged deltas": lambda: pt.Campaign(COINS, deltas=[[0.1], 0.2]),
    "a ragged margin": lambda: pt.PracticalSet([[], [], "x"]),
    "blocks without a dimension": lambda: pt.Randomisation(block=np.array(4)),
    "a span of time for a count": lambda: pt.AtMost(np.timedelta64(3, "D")),
    "a span of time for a number": lambda: pt.UnknownScale(w=np.timedelta64(3, "D")),
    "a span of time for days": lambda: pt.Conduct(rate=5.0, delay=np.timedelta64(3, "D")),
    "a goal of five thousand letters": lambda: pt.simulate(COINS, {"A" * 5000: 1}),
    "an instance of five thousand letters": lambda: pt.simulate({"A" * 5000: 1}),
}


@pytest.mark.parametrize("case", FOUND)
def test_what_the_fuzzer_found_is_refused_on_purpose(case):
    with pytest.raises(ValueError) as caught:
        FOUND[case]()
    assert not hostile.fault_in(caught.value)
