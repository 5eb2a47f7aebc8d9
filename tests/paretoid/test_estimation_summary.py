"""Reading what papers print: the numbers, and every way in which a table can be wrong."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from paretoid.estimation import TRIALS, TrialSummary, load_trial
from paretoid.estimation.summary import spread_of_interval
from paretoid.tables import parse_number

HEADER = "arm,endpoint,unit,n,geometric_mean,ci_lower,ci_upper\n"
GOOD = HEADER + "A,IgG,EU,90,100,80,125\nB,IgG,EU,80,200,160,250\n"


def read(tmp_path, text, **options):
    path = tmp_path / "trial.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return TrialSummary.read_csv(path, **options)


def test_interval_gives_back_the_spread_it_was_made_from(tmp_path):
    sd, n = 0.9, 90
    half = t.ppf(0.975, n - 1) * sd / math.sqrt(n)
    rows = [
        f"{arm},IgG,EU,{n},{math.exp(m):.12g},{math.exp(m - half):.12g},{math.exp(m + half):.12g}"
        for arm, m in (("A", 4.0), ("B", 5.0))
    ]
    trial = read(tmp_path, HEADER + "\n".join(rows))
    assert trial.mean[:, 0] == pytest.approx([4.0, 5.0], rel=1e-9)
    assert trial.sd[:, 0] == pytest.approx(sd, rel=1e-9)
    assert trial.scales == ("log-normal",)


def test_level_of_the_interval_matters(tmp_path):
    narrow, wide = read(tmp_path, GOOD), read(tmp_path, GOOD, level=0.99)
    assert (wide.sd < narrow.sd).all()  # the same width claimed for more coverage


def test_normal_endpoints_take_sd_se_or_interval(tmp_path):
    half = t.ppf(0.975, 24) * 2.0 / 5.0
    text = (
        "arm,endpoint,n,mean,sd,se,ci_lower,ci_upper\n"
        f"A,x,25,10,2,,,\nB,x,25,11,,0.4,,\nC,x,25,12,,,{12 - half:.12f},{12 + half:.12f}\n"
    )
    trial = read(tmp_path, text)
    assert trial.sd[:, 0] == pytest.approx(2.0)
    assert trial.scales == ("normal",)


def test_binary_endpoints_take_events(tmp_path):
    trial = read(tmp_path, "arm,endpoint,n,events\nA,cure,20,5\nB,cure,40,30\n", minimize="cure")
    assert trial.scales == ("binary",)
    assert trial.mean[:, 0].tolist() == [0.25, 0.75]
    assert trial.minimize == ("cure",)


@pytest.mark.parametrize(
    ("text", "delimiter", "value"),
    [
        ("31,111", ",", 31111), ("1,234,567.5", ",", 1234567.5), ("84·6", ",", 84.6),
        ("31 111", ",", 31111), ("31\u2009111", ",", 31111), ("12'345", ",", 12345),
        ("0,25", ";", 0.25), ("1,234.5", ";", 1234.5), ("\u22121.5", ",", -1.5), ("1e3", ",", 1000),
        ("0,715", ";", 0.715), ("-0,125", ";", -0.125), ("31 111,5", ";", 31111.5),
        ("-1 234 567.5", ",", -1234567.5), ("\u00a012.5 ", ",", 12.5), ("0.715", ",", 0.715),
    ],
)  # fmt: skip
def test_numbers_as_journals_print_them(text, delimiter, value):
    assert parse_number(text, delimiter)[0] == value


@pytest.mark.parametrize(
    ("text", "delimiter", "said"),
    [
        ("1,234", ";", "may be 1234 or 1.234"), ("inf", ",", "finite"),
        ("12,34", ",", "no number .*write 12.34 if"), ("0,715", ",", "no number .*write 0.715 if"),
        ("-0,125", ",", "no number .*write -0.125 if"), ("0,715.5", ",", "no number"),
        ("3 4.5", ",", "no number: blanks"), ("0.7 1", ",", "no number: blanks"),
        ("0.5'1", ",", "no number: blanks"), ("12'5", ",", "no number: blanks"),
        ("1 234'567", ",", "no number: blanks"), ("1 2345", ",", "no number: blanks"),
        ("0 123", ",", "no number: blanks"), ("1 234,567", ",", "no number .*write 1234.567 if"),
        ("1_0", ",", "'1_0' is no number"), ("1_0", ";", "'1_0' is no number"),
    ],
)  # fmt: skip
def test_numbers_that_could_mean_two_things_are_refused(text, delimiter, said):
    with pytest.raises(ValueError, match=said):
        parse_number(text, delimiter)


def test_all_problems_are_reported_at_once_with_their_rows(tmp_path):
    text = HEADER + (
        "A,IgG,EU,90,300,80,125\n"  # 2: outside
        "B,IgG,EU,90,100,125,80\n"  # 3: order
        "C,IgG,EU,1,100,80,125\n"  # 4: n
        "D,IgG,EU,90,-4,80,125\n"  # 5: not positive
        "E,IgG,EU,90,100,80,125\n"
        "E,IgG,EU,90,100,80,125\n"  # 7: duplicate
        "F,IgG,mg,90,100,80,125\n"  # 8: unit
        "G,NT,x,90,100,80,125\n"  # G lacks IgG, others lack NT
        "H,IgG,EU,90,abc,80,125\n"  # 10
        "I,IgG,EU,90,100,80,\n"  # 11: one bound
        "J,IgG,EU,9.5,100,80,125\n"  # 12: not whole
    )
    with pytest.raises(ValueError) as caught:
        read(tmp_path, text)
    said = str(caught.value)
    for part in (
        "row 2 (A, IgG): the interval 80 to 125 does not contain 300",
        "row 3 (B, IgG): the bounds 125 to 80 are in the wrong order",
        "row 4 (C, IgG): n = 1 must be a whole number of at least 2",
        "row 5 (D, IgG): the geometric mean -4 must be positive",
        "row 7 (E, IgG): the same arm and endpoint as row 6",
        "different units, 'EU' (row 2), 'mg' (row 8)",
        "arm G: no row for endpoint IgG",
        "arm A: no row for endpoint NT",
        "row 10 (H, IgG): geometric_mean 'abc' is no number",
        "row 11 (I, IgG): one of ci_lower and ci_upper is missing",
        "row 12 (J, IgG): n = 9.5",
    ):
        assert part in said


def test_lopsided_interval_is_a_warning_and_rounding_is_none(tmp_path):
    with pytest.warns(UserWarning, match=r"row 2 \(A, IgG\): 100 \(50 to 150\)"):
        read(tmp_path, HEADER + "A,IgG,EU,90,100,50,150\nB,IgG,EU,90,200,160,250\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, HEADER + "A,IgG,EU,90,3,2,4\nB,IgG,EU,90,200,160,250\n")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_delimiter_and_encoding_are_found_out(tmp_path, delimiter, encoding):
    text = GOOD.replace("A,", "Ä,").replace(",", delimiter)
    assert read(tmp_path, text.encode(encoding)).arms == ("Ä", "B")


def test_windows_encoding_is_read_and_said(tmp_path):
    with pytest.warns(UserWarning, match="Windows-1252"):
        assert read(tmp_path, GOOD.replace("A,", "Ä,").encode("cp1252")).arms[0] == "Ä"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"  \n\n", "is empty"),
        (b"arm\nA\n", "has one column"),
        (HEADER.encode(), "no rows below the header"),
        (b"PK\x03\x04zip", "spreadsheet"),
        (b"a,b\0\n", "zero bytes"),
        (b"arm,outcome,mean\nA,x,1\n", "lacks the column endpoint"),
        (b"group,endpoint,mean\nA,x,1\n", "lacks the column arm"),
        (b"arm,endpoint,n\nA,x,1\n", "geometric_mean, mean or events"),
        (b"arm,endpoint,mean\nA,x,1,000\n", "row 2: 4 cells under 3 columns"),
        ((HEADER + "A,IgG,EU,90,100,80,125\n").encode(), "there is one arm"),
        (b"arm,endpoint,n,events\nA,x,5,6\nB,x,5,1\n", "events = 6 must be"),
        (b"arm,endpoint,n,mean,sd\nA,x,5,6,-1\nB,x,5,1,1\n", "sd = -1 must be positive"),
        (b"arm,endpoint,scale,n,mean\nA,x,poisson,5,6\nB,x,poisson,5,1\n", "scale 'poisson'"),
    ],
)
def test_files_that_are_no_trial_say_why(tmp_path, data, said):
    with pytest.raises(ValueError, match=said):
        read(tmp_path, data)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(ValueError, match="is no file"):
        TrialSummary.read_csv(tmp_path / "nothing.csv")


def test_endpoints_select_order_rename_and_may_be_abbreviated(tmp_path):
    text = GOOD + "".join(
        f"A,{e},x,90,100,80,125\nB,{e},x,80,200,160,250\n" for e in ("NT50 delta", "Titre")
    )
    trial = read(tmp_path, text, endpoints=["delta", "IgG"])
    assert trial.endpoints == ("NT50 delta", "IgG")
    assert trial.units == ("x", "EU")
    assert trial.n[:, 0].tolist() == [90, 80]
    assert read(tmp_path, text, endpoints={"delta": "d"}).endpoints == ("d",)
    with pytest.raises(ValueError, match="is no endpoint; did you mean 'IgG'"):
        read(tmp_path, text, endpoints=["IgA"])
    with pytest.raises(ValueError, match="part of several names"):
        read(tmp_path, text, endpoints=["t"])


def test_arm_columns_join_into_a_name(tmp_path):
    text = (
        "prime,booster,dose,site,endpoint,n,mean,sd\n"
        "X,Y,full,1,e,9,1,1\nX,Y,half,2,e,9,1,1\nX,n/a,n/a,3,e,9,1,1\n"
    )
    assert read(tmp_path, text).arms == ("X + Y", "X + Y half", "X")
    assert read(tmp_path, text, arms="site").arms == ("1", "2", "3")
    with pytest.raises(ValueError, match="lacks the column ward"):
        read(tmp_path, text, arms=["ward"])


def test_bundled_trials_say_where_they_come_from():
    shapes = {"covboost-groupB": (8, 3), "covboost": (20, 3), "comcov2": (6, 3)}
    assert set(shapes) == set(TRIALS)
    for name, shape in shapes.items():
        trial = load_trial(name)
        assert trial.mean.shape == shape
        assert trial.citation
        assert trial.provenance
        assert trial.sources
    assert load_trial("covboost-groupB").known_spread.all()
    assert load_trial("comcov2").known_spread.all()
    with pytest.raises(ValueError, match="did you mean 'comcov2'"):
        load_trial("comcov")


def test_bundled_numbers_are_the_published_ones():
    # BNT/BNT + Ad26 and ChAd/ChAd + VLA half, read by eye in the COV-BOOST table
    trial = load_trial("covboost-groupB")
    row = trial.arms.index("BNT/BNT + Ad26")
    assert trial.reported[row].tolist() == [17079, 1441, 418]
    assert trial.n[row].tolist() == [87, 75, 78]
    row = trial.arms.index("ChAd/ChAd + VLA half")
    assert trial.lower[row].tolist() == [1198, 124, 25.6]
    trial = load_trial("comcov2")
    assert trial.reported[trial.arms.index("BNT + m1273")].tolist() == [23187, 1260, 1883]


def test_nothing_is_filled_in_silently():
    trial = load_trial("covboost")
    assert np.isnan(trial.counts).sum() == 60 - 16
    assert trial.assumptions == (
        "The variance of T cell is assumed to be 1.5374314 in every arm: the source reports no "
        "interval.",
    )
    assumed = trial.assuming(n=100)
    assert "n = 100 is assumed in 44 of 60 cells" in assumed.assumptions[0]
    assert not np.isnan(assumed.counts).any()
    assert np.isnan(assumed.n).sum() == 44
    with pytest.raises(ValueError, match="assumed_n=1 must be"):
        trial.assuming(n=1)
    with pytest.raises(ValueError, match="must be a finite number above 0"):
        trial.assuming(variance={"IgG": -1.0})


def test_a_summary_survives_json():
    trial = load_trial("covboost", assumed_n=50).select(["T cell", "IgG"])
    again = TrialSummary.from_json(trial.to_json())
    assert again.to_json() == trial.to_json()
    assert np.array_equal(again.n, trial.n, equal_nan=True)
    assert again.assumptions == trial.assumptions


@settings(deadline=None, max_examples=50)
@given(sd=st.floats(0.01, 100), n=st.integers(2, 10_000), level=st.floats(0.5, 0.999))
def test_spread_and_interval_are_inverse(sd, n, level):
    half = t.ppf((1 + level) / 2, n - 1) * sd / math.sqrt(n)
    assert spread_of_interval(half, n, level) == pytest.approx(sd, rel=1e-9)


DIRECTED = (
    "arm,endpoint,n,mean,sd,{}\nA,pain,40,3,1,{}\nB,pain,40,2,1,{}\n"
    "A,sleep,40,6,1,{}\nB,sleep,40,7,1,\n"
)


@pytest.mark.parametrize(
    ("column", "words", "less"),
    [
        ("direction", ("min", "min", "max"), ("pain",)),
        ("better", ("smaller", "", "larger"), ("pain",)),
        ("Better", ("Lower", "LESS", "minimize"), ("pain", "sleep")),
    ],
)
def test_a_table_says_which_way_is_better(tmp_path, column, words, less):
    assert read(tmp_path, DIRECTED.format(column, *words)).minimize == less


def test_ways_that_are_unknown_or_contradict_each_other_are_refused(tmp_path):
    with pytest.raises(ValueError, match="'down' must be one of larger"):
        read(tmp_path, DIRECTED.format("better", "down", "", ""))
    with pytest.raises(ValueError, match=r"row 3: 'max' contradicts row 2 \(pain\)"):
        read(tmp_path, DIRECTED.format("direction", "min", "max", ""))
    with pytest.raises(ValueError, match="more of sleep is better, and minimize names it"):
        read(tmp_path, DIRECTED.format("better", "less", "less", "more"), minimize=["sleep"])


def test_a_row_for_each_endpoint_says_which_way_is_better_too(tmp_path):
    text = 'endpoint,A (n=40),B (n=40),better\n"pain, mean (SD)",3 (1),2 (1),less\n'
    trial = read(tmp_path, text)
    assert (trial.arms, trial.minimize) == (("A", "B"), ("pain",))
