"""What no number, name or file can be is refused with a sentence, where it enters.

A wrong type is a TypeError, a wrong value of the right type a ValueError alone; both are
ValueErrors, so that one `except` serves. Huge integers, booleans and texts in place of numbers,
control characters in names, files nested without end: each of them once ended in an OverflowError,
a RecursionError or a wrong number.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import paretoid as pt
from paretoid import theory, validation
from paretoid.cli import app
from paretoid.estimation import TrialSummary, load_fit, load_trial
from paretoid.estimation.model import trial_of
from paretoid.theory import checks

GOOD = [[0.9, 0.2], [0.1, 0.8]]
BANDIT = pt.BernoulliBandit(GOOD)
HUGE = (10**400, -(10**400), 10**9000)
WRONG_TYPES = (True, np.True_, "0.5", b"0.5", None, 1j, {}, object())
WRONG_VALUES = (*HUGE, math.nan, math.inf)
NOT_NUMBERS = (*WRONG_TYPES, *WRONG_VALUES, [])

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
#: where an integer is asked for NaN and infinity have the wrong type, because they are floats
INTEGERS = {"k", "replications", "seed", "an arm", "a size", "K", "an integer"}


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_number_is_refused_wherever_a_number_goes(place):
    for value in NOT_NUMBERS:
        if any(value is fine for fine in FINE.get(place, ())):
            continue
        with pytest.raises(ValueError, match=r"\w+.* (must|is|are|needs|has) ") as caught:
            PLACES[place](value)
        assert len(str(caught.value)) < 1500, "a sentence, not a page of digits"


@pytest.mark.parametrize("place", PLACES)
def test_a_wrong_type_is_a_type_error_and_a_wrong_value_is_none(place):
    for value in (*WRONG_TYPES, *WRONG_VALUES):
        if any(value is fine for fine in FINE.get(place, ())):
            continue
        with pytest.raises(ValueError) as caught:
            PLACES[place](value)
        wrong_type = any(value is other for other in WRONG_TYPES)
        if place in INTEGERS:
            wrong_type |= isinstance(value, float)
        if place == "an arm":  # goes by its name, too
            wrong_type &= not isinstance(value, str)
        assert isinstance(caught.value, TypeError) is wrong_type, (value, caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pt.simulate("covboost"),
        lambda: pt.simulate(BANDIT, goals=["ParetoSet"]),
        lambda: pt.simulate(BANDIT, rule="ape"),
        lambda: pt.simulate(BANDIT, radius=0.1),
        lambda: pt.simulate(BANDIT, conduct=5),
        lambda: pt.BernoulliBandit(GOOD, arms="ab"),
        lambda: pt.BernoulliBandit(GOOD, arms=3),
        lambda: pt.APE(pull=["both"]),
        lambda: pt.Shares(arms="half"),
        lambda: pt.Mixture(shares=[0.5, 0.5]),
        lambda: pt.ParetoSet(limits=[0.3]),
        lambda: pt.at_most([0.3]),
        lambda: pt.ParetoSet().is_correct([1, 0], GOOD),
        lambda: validation.assert_delta_correct("ape", [BANDIT]),
        lambda: pt.plots.front(pt.run_once(BANDIT, max_samples=20), ax="here"),
    ],
)
def test_an_object_of_another_kind_is_a_type_error(call):
    with pytest.raises(TypeError, match=r"\w+ .*\.$") as caught:
        call()
    assert isinstance(caught.value, ValueError), "and one that the command line explains"


def test_an_empty_list_of_the_right_kind_is_no_type_error():
    for call in (lambda: pt.simulate([]), lambda: pt.simulate(BANDIT, goals=[])):
        with pytest.raises(ValueError) as caught:
            call()
        assert not isinstance(caught.value, TypeError)


def test_the_command_line_explains_a_wrong_type_and_reports_a_mistake_of_its_own(capsys):
    assert app._explain(checks.WrongTypeError("k='x' must be an integer."), debug=False) == 2
    assert capsys.readouterr().err == "paretoid: k='x' must be an integer.\n"
    assert app._explain(TypeError("unsupported operand"), debug=False) == 3


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
