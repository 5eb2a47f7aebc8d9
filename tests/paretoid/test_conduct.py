"""How a trial runs, as one noun: checked, read from words, written and read back."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid.cli.conduct_words import conduct_from

ARMS, ENDPOINTS = ["A", "B"], ["fever", "IgG"]

shares = st.one_of(
    st.floats(0, 0.99), st.dictionaries(st.sampled_from(ARMS), st.floats(0, 0.99), min_size=1)
)
days = st.floats(0, 1e3)
conducts = st.builds(
    pt.Conduct,
    rate=st.one_of(
        st.floats(1e-3, 1e3),
        st.lists(st.tuples(st.integers(1, 50), st.floats(0.1, 50)), min_size=1, max_size=3).map(
            lambda steps: tuple(
                (float(day), rate)
                for day, (_, rate) in zip(
                    np.cumsum([0, *(gap for gap, _ in steps[1:])]), steps, strict=True
                )
            )
        ),
    ),
    delay=st.one_of(days, st.dictionaries(st.sampled_from(ENDPOINTS), days, min_size=1)),
    look=st.one_of(
        st.none(), st.integers(1, 500), st.sets(st.integers(1, 99), min_size=1).map(sorted)
    ),
    dropout=shares,
    missing=st.floats(0, 0.5),
    burn_in=st.integers(0, 5),
)


@settings(deadline=None, max_examples=60)
@given(conducts)
def test_plain_data_and_text_give_it_back(conduct):
    assert pt.Conduct.from_dict(json.loads(json.dumps(conduct.to_dict()))) == conduct
    assert eval(repr(conduct), {"Conduct": pt.Conduct}) == conduct
    assert hash(conduct) == hash(pt.Conduct.from_dict(conduct.to_dict()))
    assert str(conduct)


@settings(deadline=None, max_examples=60)
@given(conducts, st.integers(1, 60))
def test_enrolment_inverts_the_integral_of_the_rate(conduct, n):
    """By day_of(n) exactly n - 1 participants have come before: the area under the rate."""
    day = conduct.day_of(n)
    steps = conduct.rate if isinstance(conduct.rate, tuple) else ((0.0, conduct.rate),)
    ends = [*(start for start, _ in steps[1:]), np.inf]
    area = sum(
        max(0.0, min(day, end) - start) * rate
        for (start, rate), end in zip(steps, ends, strict=True)
    )
    assert area == pytest.approx(n - 1, rel=1e-9, abs=1e-9)


def test_looks_fall_where_they_are_declared():
    days = pt.Conduct(rate=2.0).days(10)  # 0, 0.5, ..., 4.5
    every = pt.Conduct(rate=2.0, look=4).looks(days)
    assert np.flatnonzero(every).tolist() == [3, 7]
    given_numbers = pt.Conduct(rate=2.0, look=(2, 9, 40)).looks(days)
    assert np.flatnonzero(given_numbers).tolist() == [1, 8]
    by_day = pt.Conduct(rate=2.0, look_days=2.0).looks(days)  # days 2 and 4 begin with 5 and 9
    assert np.flatnonzero(by_day).tolist() == [3, 7]
    assert pt.Conduct().looks(days).all()


def test_words_of_a_command_line_are_read():
    conduct = conduct_from("5/day", ["28d"], "100", ["10%"])
    assert conduct == pt.Conduct(rate=5.0, delay=28.0, look=100, dropout=0.1)
    named = conduct_from("20/week", ["IgG=4 weeks", "fever=2"], "14d", ["A=0.2", "B=5%"], 3)
    assert named == pt.Conduct(
        rate=20 / 7, delay={"IgG": 28, "fever": 2}, look_days=14.0,
        dropout={"A": 0.2, "B": 0.05}, burn_in=3,
    )  # fmt: skip
    assert conduct_from() == pt.Conduct()
    assert conduct_from("2/day,5/day@30d").rate == ((0.0, 2.0), (30.0, 5.0))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"rate": "0/day"}, "must be positive"),
        ({"rate": "5/fortnight"}, "say per what"),
        ({"rate": "fast"}, "must be a rate"),
        ({"rate": "5/day", "delay": ["a month or so"]}, "must be a time"),
        ({"rate": "5/day", "delay": ["3 moons"]}, "no unit of time"),
        ({"rate": "5/day", "delay": ["-3d"]}, "must not be negative"),
        ({"rate": "5/day", "delay": ["3d", "4d"]}, "given for all and again"),
        ({"delay": ["28d"]}, "without a rate"),
        ({"look": "7d"}, "without a rate"),
        ({"look": "0"}, "look=0 must be an integer of at least 1"),
        ({"look": "5,5"}, "increasing"),
        ({"dropout": ["100%"]}, "must be a share"),
        ({"dropout": ["ten"]}, "must be a share"),
        ({"burn_in": -1}, "burn_in=-1"),
    ],
)
def test_words_that_make_no_sense_get_a_sentence(words, said):
    with pytest.raises(ValueError, match=said) as caught:
        conduct_from(**words)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("given_as", "limit", "said"),
    [
        ({"rate": 5.0, "delay": 1000.0}, 600, "longer than the trial"),
        ({"look": 700}, 600, "comes after max_samples=600"),
        ({"look": (700, 900)}, 600, "comes after max_samples=600"),
        ({"look": 10}, None, "needs max_samples"),
        ({"burn_in": 400}, 600, "burn_in=400"),
        ({"rate": 1.0, "delay": {"temperature": 3}}, 600, "'temperature', which is no endpoint"),
        ({"dropout": {"C": 0.1}}, 600, "'C', which is no arm"),
    ],
)
def test_a_conduct_that_does_not_fit_the_trial_is_refused(given_as, limit, said):
    with pytest.raises(ValueError, match=said) as caught:
        pt.Conduct(**given_as).check(ARMS, ENDPOINTS, limit)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("given_as", "said"),
    [
        ({"rate": 0.0}, "must be positive"),
        ({"rate": float("nan")}, "finite"),
        ({"rate": True}, "finite"),
        ({"rate": ((5.0, 1.0),)}, "begin on day 0"),
        ({"rate": ((0.0, 1.0), (0.0, 2.0))}, "increasing days"),
        ({"look": 2.0}, "look=2.0"),
        ({"look": 5, "look_days": 7.0, "rate": 1.0}, "both say when to look"),
        ({"look_days": 0.0, "rate": 1.0}, "look_days=0"),
        ({"dropout": 1.0}, "must be a share"),
        ({"missing": {"IgG": 1.5}}, "must be a share"),
        ({"delay": (14, 28)}, "numbers by name"),
    ],
)
def test_impossible_conduct_is_refused(given_as, said):
    with pytest.raises(ValueError, match=said):
        pt.Conduct(**given_as)


def test_an_unknown_key_is_refused_with_a_guess():
    with pytest.raises(ValueError, match="did you mean 'delay'"):
        pt.Conduct.from_dict({"delays": 3})


def test_only_what_changes_a_decision_is_not_ideal():
    assert pt.Conduct().is_ideal
    assert pt.Conduct(rate=5.0, look=1).is_ideal
    assert not pt.Conduct(look=2).is_ideal
    assert not pt.Conduct(rate=5.0, delay=1.0).is_ideal
    assert not pt.Conduct(dropout=0.1).is_ideal
    assert not pt.Conduct(burn_in=1).is_ideal


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        ("5/day", "5 participants a day"),
        ("1/day", "1 participant a day"),
        ("2.5/day", "2.5 participants a day"),
        ("2/week", "2 participants a week"),
        ("1/week", "1 participant a week"),
        ("20/week", "20 participants a week"),
        ("2500/week", "2,500 participants a week"),
        ("0.285714/day", "2 participants a week"),  # as it was once written
        ("0.5/day", "3.5 participants a week"),
        ("0.5/week", "1 participant every 14 days"),
        ("1/month", "1 participant every 30.4 days"),  # 365.25 / 12
        ("1/year", "1 participant every 365 days"),
        ("2/week,5/day@30d", "participants: 2 a week from day 0, 5 a day from day 30"),
    ],
)
def test_a_rate_is_said_as_it_is_counted_and_kept_as_it_is(rate, said):
    conduct = conduct_from(rate)
    assert str(conduct) == said
    assert pt.Conduct.from_dict(conduct.to_dict()) == conduct
