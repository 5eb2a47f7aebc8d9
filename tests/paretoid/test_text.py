"""Numbers, tables and names in words: each spelling once, and nothing that JSON cannot hold."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoid import text

FINITE = st.floats(-1e12, 1e12)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"), (-0.0, "0"), (999.96, "1,000"), (999.94, "999.9"), (-1234.5, "-1,234"),
        (0.000123456, "0.0001235"), (1e8, "1e+08"), (99_999_999.0, "99,999,999"),
        (math.inf, "infinite"), (-math.inf, "-infinite"), (math.nan, "-"),
    ],
)  # fmt: skip
def test_a_measured_number_has_four_digits_and_is_whole_from_a_thousand_on(value, said):
    assert text.measure(value) == said


@settings(deadline=None)
@given(FINITE, st.integers(1, 6))
def test_a_measured_number_is_the_number_to_its_digits(value, digits):
    shown = float(text.measure(value, digits).replace(",", ""))
    size = 10.0 ** (math.floor(math.log10(abs(value))) + 1) if value else 1.0
    # from 1,000 on to the whole number, from 1e8 on to three digits
    unit = max(10.0**-digits * size if abs(value) < 1000 else 1.0, 1e-3 * size * (size > 1e8))
    assert abs(shown - value) <= 0.51 * unit


def test_ends_that_look_the_same_are_said_once_and_unknown_ones_not_at_all():
    assert text.interval(1234.1, 1234.2) == "1,234"
    assert text.interval(math.nan, math.nan) == "-"
    assert text.interval(0.5, math.inf) == "0.5 to infinite"
    assert text.interval(1.0, math.inf, lambda x: text.at_most(x, 400)) == "1 to > 400"


def test_a_share_near_zero_keeps_its_digits():
    assert text.shares(0.00031, 0.5) == "0.031 to 50.0%"
    assert text.shares(0.0, 1.0) == "0.0 to 100.0%"


def test_a_guess_is_made_only_where_one_is_near_and_whatever_the_capitals():
    assert text.meant("atmos", ["ParetoSet", "AtMost"]) == "; did you mean 'AtMost'?"
    assert text.meant("zzz", ["ParetoSet", "AtMost"]) == "."
    assert text.meant("", []) == "."


NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Mn", "Cf"]), max_size=9)


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, FINITE), min_size=1, max_size=5), st.integers(12, 40))
def test_no_number_is_lost_in_a_table_however_narrow(rows, width):
    cells = [[name, text.count(value)] for name, value in rows]
    for room in (width, None):
        lines = text.table(["name", "n"], cells, width=room)
        for _, number in cells:
            assert number in lines
    wide = text.table(["name", "n"], cells).split("\n")
    assert len(wide) == 1 + len(rows)


def test_letters_that_take_two_columns_are_counted_twice():
    assert text.table(["", ""], [["長い", "1"], ["abcd", "2"]]) == "長い  1\nabcd  2"


def test_too_wide_a_table_becomes_a_list_without_empty_cells():
    said = text.table(["arm", "samples", "wrong"], [["A", "1,000", ""], ["B", "9", "1"]], width=14)
    assert said == "A\n  samples  1,000\nB\n  samples  9\n  wrong    1"


nested = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@settings(deadline=None)
@given(nested)
def test_whatever_goes_in_plain_json_comes_out(data):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    again = json.loads(text.as_json({"a": data, "b": (np.float64("nan"),)}), parse_constant=refuse)
    assert again["b"] == [None]
    assert again["a"] == text.plain(data)
