"""What people are told: ratios where outcomes are logarithms, else the units of endpoints."""

from __future__ import annotations

import math

import pytest

from paretoid import at_least, at_most
from paretoid.units import PLAIN, Units

UNITS = Units(("IgG", "pain"), logs=("IgG",), units={"IgG": "ELU/ml", "pain": "mm"})


def test_a_mean_of_logarithms_is_a_geometric_mean_in_its_unit():
    """exp(log 20365) is 20365."""
    assert UNITS.value("IgG", math.log(20_365)) == "20,365 ELU/ml"
    assert UNITS.value("pain", 12.34) == "12.34 mm"
    assert UNITS.spread("IgG", 0.5234) == "sd of logs 0.523"
    assert UNITS.spread("pain", 4.1) == "sd 4.1"


def test_a_difference_of_logarithms_is_a_ratio():
    assert UNITS.difference("IgG", math.log(1.234), math.log(3.4)) == "1.234 to 3.4-fold"
    assert UNITS.difference("IgG", math.log(1.234), math.log(3.4), 3) == "1.23 to 3.4-fold"
    assert UNITS.difference("IgG", math.log(2), math.log(2)) == "2-fold"
    assert UNITS.difference("pain", -1.5, 0.25) == "-1.5 to 0.25 mm"
    assert PLAIN.difference("x", -1.5, 0.25) == "-1.5 to 0.25"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-math.inf, math.inf, "-"),
        (-math.inf, math.log(2), "0 to 2-fold"),
        (math.log(2), math.inf, "2 to infinite-fold"),
        (-2000.0, 2000.0, "0 to infinite-fold"),  # exp(2000) is beyond every float
    ],
)
def test_a_ratio_without_an_end_lies_between_zero_and_infinity(low, high, words):
    assert UNITS.difference("IgG", low, high) == words


def test_raw_values_declared_as_logarithms_are_no_crash():
    assert UNITS.value("IgG", 20_365.0) == "infinite ELU/ml"
    assert UNITS.margin((20_365.0, 0.0)) == "infinite-fold in IgG and 0 in pain"


def test_a_margin_is_said_once_where_it_is_the_same():
    twice = Units(("IgG", "T cell"), logs=("IgG", "T cell"))
    assert twice.margin(math.log(1.5)) == "1.5-fold"
    assert UNITS.margin(0.0) == "0"
    assert UNITS.margin((math.log(2), 3.0)) == "2-fold in IgG and 3 mm in pain"


def test_a_limit_is_in_the_unit_of_its_endpoint():
    assert UNITS.limit("IgG", at_least(math.log(500))) == "at least 500 ELU/ml"
    assert UNITS.limit("pain", at_most(30.0, slack=5.0)) == "at most 30 mm (± 5 mm)"


def test_units_survive_a_file_of_attributes():
    assert Units.of({"units": UNITS.to_json()}) == UNITS
    assert UNITS.to_dict() == {"logs": ["IgG"], "units": {"IgG": "ELU/ml", "pain": "mm"}}
    assert PLAIN.to_dict() == {}
