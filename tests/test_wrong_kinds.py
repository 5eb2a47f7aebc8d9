"""What no number, name or file can be is refused by a ValueError with a sentence, where it enters.

Huge integers, booleans and texts in place of numbers, control characters in names, files nested
without end: each of them once ended in an OverflowError, a RecursionError or a wrong number.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import paretoid as pt
from paretoid import theory, validation
from paretoid.estimation import TrialSummary, load_fit, load_trial
from paretoid.estimation.model import trial_of
from paretoid.theory import checks

GOOD = [[0.9, 0.2], [0.1, 0.8]]
BANDIT = pt.BernoulliBandit(GOOD)
HUGE = (10**400, -(10**400), 10**9000)
NOT_NUMBERS = (*HUGE, True, np.True_, "0.5", b"0.5", None, 1j, math.nan, math.inf, [], {}, object())

PLACES = {
    "a mean": lambda x: pt.GaussianBandit([[0.0, 1.0], [x, 0.0]]),
    "a probability": lambda x: pt.BernoulliBandit([[0.5], [x]]),
    "scale": lambda x: pt.GaussianBandit(GOOD, [1.0, x]),
    "covariance": lambda x: pt.GaussianBandit(GOOD, covariance=[[1.0, 0.0], [0.0, x]]),
    "resampled": lambda x: pt.ResampledBandit([[[1.0]], [[x]]], scale=1.0),
    "bounds": lambda x: pt.ResampledBandit([[[1.0]], [[2.0]]], bounds=(0.0, x)),
    "eps1": lambda x: pt.ParetoSet([0.0, x]),
    "eps2": lambda x: pt.Cover(0.0, [x, 0.1]),
    "k": pt.AtMost,
    "rho": lambda x: pt.Mixture(rho=[30.0, x]),
    "w": lambda x: pt.UnknownScale(w=x),
    "a": lambda x: pt.UnknownScale(a=x),
    "a share": lambda x: pt.Shares(arms=[0.5, x]),
    "delta": lambda x: pt.simulate(BANDIT, delta=x),
    "replications": lambda x: pt.simulate(BANDIT, replications=x),
    "seed": lambda x: pt.simulate(BANDIT, seed=x),
    "an arm": lambda x: BANDIT.sample(x, 1, 0),
    "a size": lambda x: BANDIT.sample(0, x, 0),
    "gaps of means": lambda x: theory.gaps([[0.0, 1.0], [x, 0.0]]),
    "a gap": lambda x: theory.samples_to_separate([0.5, x], pt.Mixture(), 3, 2, 0.1),
    "K": lambda x: theory.samples_to_separate(0.5, pt.Mixture(), x, 2, 0.1),
    "counts": lambda x: theory.informed_shares([1.0, x]),
    "mix": lambda x: theory.informed_shares([1.0, 2.0], mix=x),
    "C_g": theory.C_g,
    "kl": lambda x: theory.kl_bernoulli(0.5, x),
    "seconds": lambda x: validation.assert_delta_correct(print, [BANDIT], delta=0.1, seconds=x),
    "false_alarm": lambda x: validation.assert_delta_correct(print, [BANDIT], false_alarm=x),
    "an integer": lambda x: checks.check_count(x, name="n", why="it is counted."),
    "a positive number": lambda x: checks.check_positive(x, name="x", why="it is a length."),
}
#: places where some of these are right, or mean that the argument is left out
FINE = {"seconds": (None,), "a gap": (math.inf,)}


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_number_is_refused_wherever_a_number_goes(place):
    for value in NOT_NUMBERS:
        if any(value is fine for fine in FINE.get(place, ())):
            continue
        with pytest.raises(ValueError, match=r"\w+.* (must|is|are|needs|has) ") as caught:
            PLACES[place](value)
        assert len(str(caught.value)) < 1500, "a sentence, not a page of digits"


@pytest.mark.parametrize("name", ["nul\0", "bell\x07", "del\x7f", "line\n", "c1\x85", "half\ud800"])
def test_control_characters_in_names_are_refused_where_they_enter(name):
    for make in (
        lambda: pt.BernoulliBandit(GOOD, arms=["a", name]),
        lambda: pt.GaussianBandit(GOOD, objectives=["a", name]),
        lambda: pt.Campaign({name: BANDIT}),
        lambda: TrialSummary.from_json(
            load_trial("comcov2").to_json().replace(load_trial("comcov2").arms[0], "x\\u0000")
        ),
    ):
        with pytest.raises(ValueError, match="control character"):
            make()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pt.simulate(BANDIT, delta=5e-324), "delta=5e-324 must be at least 1e-100"),
        (lambda: pt.simulate(BANDIT, max_samples=2**63), r"must be .* and below 2\^63"),
        (lambda: pt.simulate(BANDIT, seed=2**70), r"must be .* and below 2\^63"),
        (lambda: pt.Mixture(rho=10**20), "rho=1.*0 must be a finite number above 0 and at most"),
        (lambda: pt.UnknownScale(rho=[1.0, 1e20]), r"rho\[1\]=1e\+20 must be a finite number"),
        (lambda: pt.APE(pull=["both"]), "must be one of"),
    ],
)
def test_numbers_that_no_machine_holds_are_refused_in_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_large_but_possible_numbers_are_taken():
    assert pt.Mixture(rho=10**9).rho == 1e9
    runs = pt.simulate(BANDIT, delta=1e-99, max_samples=2**63 - 1, seed=2**63 - 1)
    assert bool(runs.stopped.all())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.toml", "means = " + "[" * 100_000),
        ("digits.toml", f"means = [[{'9' * 5000}], [1]]\nscale = 1"),
        ("huge.toml", f"means = [[{'9' * 400}], [1]]\nscale = 1"),
        ("true.toml", "means = [[true], [1.0]]\nscale = 1"),
        ("text.toml", 'means = [["0.5"], ["1.0"]]\nscale = 1'),
        ("nul.toml", 'means = [[0.5], [1.0]]\nscale = 1\narms = ["a\\u0000", "b"]'),
        ("cell.csv", f"arm,gain\nA,{'1' * 200_000}\nB,2\n"),
        ("name.csv", f"arm,gain\n{'A' * 200_000},1\nB,2\n"),
        ("nul.csv", "arm,gain\nA\0,1\nB,2\n"),
    ],
)
def test_files_of_the_wrong_kind_are_refused_in_a_sentence(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    given = {"scale": 1.0} if name.endswith(".csv") else {}
    with pytest.raises(ValueError, match=r"\w") as caught:
        pt.read_instance(tmp_path / name, **given)
    assert len(str(caught.value)) < 1500


def test_a_damaged_fit_is_refused_in_a_sentence(tmp_path):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("arviz")
    whole = tmp_path / "whole.nc"
    data = xr.Dataset({"mu": (("chain", "draw"), np.zeros((1, 5)))}, attrs={"paretoid_trial": "{"})
    data.to_netcdf(whole, group="posterior", engine="h5netcdf")
    fit = load_fit(whole)
    with pytest.raises(ValueError, match="the trial in this fit is damaged"):
        trial_of(fit)
    for size in (0, 10, 1000, whole.stat().st_size // 2):
        (tmp_path / "cut.nc").write_bytes(whole.read_bytes()[:size])
        with pytest.raises(ValueError, match=r"cut\.nc"):
            load_fit(tmp_path / "cut.nc")
