"""Tables as journals print them: read where a heading leaves no doubt, refused with the split."""

import datetime
import json
import math
import re
import sys

import numpy as np
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from paretoid.cells import Statistic, read_heading, split_cell
from paretoid.cli import published
from paretoid.estimation import TrialSummary, load_trial


def read(tmp_path, text, **options):
    path = tmp_path / "trial.csv"
    path.write_text(text, encoding="utf-8")
    return TrialSummary.read_csv(path, **options)


def problems(tmp_path, text, **options):
    with pytest.raises(ValueError) as refused:
        read(tmp_path, text, **options)
    return str(refused.value)


def test_two_numbers_in_a_cell_are_read_where_the_heading_names_them(tmp_path):
    trial = read(tmp_path, "arm,endpoint,n,mean ± SD\nA,mood,40,12·4 ± 8·1\nB,mood,41,9.9 ± 7\n")
    assert trial.reported.ravel().tolist() == [12.4, 9.9]
    assert trial.sd.ravel().tolist() == [8.1, 7.0]
    assert trial.readings == ("'mean ± SD' was read like this: '12·4 ± 8·1' is mean 12·4, sd 8·1.",)


def test_standard_errors_and_deviations_are_told_apart_by_the_heading(tmp_path):
    rows = "A,mood,25,12 (0.4)\nB,mood,25,10 (0.4)\n"
    deviation = read(tmp_path, "arm,endpoint,n,Mean (SD)\n" + rows)
    error = read(tmp_path, "arm,endpoint,n,mean (SEM)\n" + rows)
    assert deviation.sd.ravel() == pytest.approx(0.4)
    assert error.sd.ravel() == pytest.approx(0.4 * 5)  # sqrt(25)


def test_a_column_called_ci_is_an_interval_and_never_ignored(tmp_path):
    text = "arm;endpoint;n;mean;ci\nA;mood;25;12·4;9·9–14·9\nB;mood;25;-1.5;-3 to 0\n"
    trial = read(tmp_path, text)
    assert trial.lower.ravel().tolist() == [9.9, -3.0]
    half = 2.5  # (14.9 - 9.9) / 2, and s = sqrt(n) h / t
    assert trial.sd[0, 0] == pytest.approx(5 * half / t.ppf(0.975, 24))
    assert "'ci' was read like this: '9·9–14·9' is ci_lower 9·9, ci_upper 14·9." in trial.readings


def test_counts_and_shares_are_events_and_are_checked_against_n(tmp_path):
    text = "arm,endpoint,n,events\nA,cure,40,12 (30%)\nB,cure,41,20/41\nC,cure,,7/20 (35%)\n"
    trial = read(tmp_path, text)
    assert trial.mean.ravel().tolist() == [0.3, 20 / 41, 0.35]
    said = problems(
        tmp_path, "arm,endpoint,n,n (%)\nA,cure,40,12 (33%)\nB,cure,41,20 (49)\nC,cure,,3 (5%)\n"
    )
    assert "row 2 (A, cure): 12 of n = 40 are not 33%" in said
    assert "row 4 (C, cure): 3 (5%) leaves n to a rounded share; give n in a column" in said
    assert "row 3" not in said
    said = problems(tmp_path, "arm,endpoint,n,events\nA,cure,40,20/41\nB,cure,5,1\n")
    assert "row 2 (A, cure): events says n 41, and 'n' says 40; keep one" in said


AWKWARD = """arm,endpoint,n,mean,events
A,mood,40,12·4 ± 8·1,
B,mood,40,12·4 (9·9–14·9),
C,mood,40,12·4 (8·1),
D,mood,40,<0·01,
E,mood,40,20/41,
F,mood,40,10⁵,
G,mood,40,9·9–14·9,
H,mood,40,1.5a,
I,mood,40,30%,
J,n,40,40,
"""


def test_what_may_mean_several_things_is_refused_at_once_with_rows_and_the_split(tmp_path):
    said = problems(tmp_path, AWKWARD)
    for part in (
        "row 2 (A, mood): mean '12·4 ± 8·1' holds several numbers under mean: the second may be a "
        "standard deviation, a standard error or half an interval; write it in the column sd or se",
        "row 3 (B, mood): mean '12·4 (9·9–14·9)' holds several numbers under mean: the brackets "
        "may hold a confidence interval, a range or quartiles",
        "row 4 (C, mood): mean '12·4 (8·1)' holds several numbers under mean: the brackets may "
        "hold a standard deviation or a standard error",
        "row 5 (D, mood): mean '<0·01' is a limit, not a value",
        "row 6 (E, mood): mean '20/41' holds several numbers under mean: as events of n",
        "row 7 (F, mood): mean '10⁵' ends in a raised digit",
        "row 8 (G, mood): mean '9·9–14·9' holds several numbers under mean: an interval belongs",
        "row 9 (H, mood): mean '1.5a' is no number",
        "row 10 (I, mood): mean '30%' is no number",
        "row 11: 'n' is a row of sample sizes, not an endpoint; write them in a column n",
    ):
        assert part in said, part


def test_medians_are_refused_with_the_reason(tmp_path):
    text = 'arm,n,"mood, median (IQR)"\nA,40,3 (2–4)\nB,41,2 (1–3)\n'
    said = problems(tmp_path, text)
    for row in (2, 3):
        assert f"row {row}" in said
    assert "is a median: no mean and spread follow from it" in said


def test_a_row_per_arm_and_a_column_per_endpoint(tmp_path):
    text = (
        'Arm,N,"IgG (EU/mL), GMT (95% CI)","Pain: mean (SD)",Cured,p value,'
        '"T cell, mean","T cell, SD"\n'
        '"Drug A*",40,"1,234 (1,000–1,523)",3.1 (1.5),12/40 (30%),0.03,5,2\n'
        "Drug B,41,900 (700 to 1157)†,2.0 (1.4),20/41,,6,2.5\n"
        "* as treated, after an amendment\n"
    )
    trial = read(tmp_path, text, minimize="pain")
    assert trial.arms == ("Drug A", "Drug B")
    assert trial.endpoints == ("IgG (EU/mL)", "Pain", "Cured", "T cell")
    assert trial.scales == ("log-normal", "normal", "binary", "normal")
    assert trial.reported.tolist() == [[1234, 3.1, 0.3, 5], [900, 2.0, 20 / 41, 6]]
    assert trial.lower[:, 0].tolist() == [1000, 700]
    assert trial.sd[:, 1].tolist() == [1.5, 1.4]
    assert trial.sd[:, 3].tolist() == [2, 2.5]
    assert trial.n.tolist() == [[40] * 4, [41] * 4]
    said = " ".join(trial.readings)
    assert "columns that were not read: 'p value'." in said
    assert "the footnote marks * † in row 2, 3 were left out" in said
    assert "row 4 was taken for a footnote and not read: '* as treated" in said
    assert "'Cured' was read like this: '12/40 (30%)' is events 12, n 40, percent 30." in said


def test_a_row_per_endpoint_a_column_per_arm_and_a_row_of_n(tmp_path):
    text = (
        "Outcome;Placebo;Low dose;High dose;P value\n"
        "n;40;41;39;\n"
        "Immunogenicity;;;;\n"
        "IgG, GMT (95% CI);12·4 (9·9–15·5);20 (16–25);31,5 (25–39,7);<0·01\n"
        "Fever, n (%);2 (5%);4 (9·8%);10 (26%);0.01\n"
    )
    trial = read(tmp_path, text, minimize="fever")
    assert trial.arms == ("Placebo", "Low dose", "High dose")
    assert trial.endpoints == ("IgG", "Fever")
    assert trial.reported[:, 0].tolist() == [12.4, 20.0, 31.5]
    assert trial.mean[:, 1].tolist() == [2 / 40, 4 / 41, 10 / 39]
    assert trial.n[:, 0].tolist() == [40, 41, 39]
    said = " ".join(trial.readings)
    for part in (
        "row 2, 'n', was read as n of every endpoint.",
        "row 3, 'Immunogenicity', has no numbers: read as a heading.",
        "columns that were not read: 'P value'.",
    ):
        assert part in said


def test_sizes_in_the_header_are_read_and_compared_with_a_row_of_them(tmp_path):
    text = 'endpoint,A (n=40),B (N = 41)\n"mood, mean ± SD",3 ± 1,2 ± 1\n'
    trial = read(tmp_path, text)
    assert (trial.arms, trial.n.ravel().tolist()) == (("A", "B"), [40, 41])
    assert "n was taken from the header: A: 40, B: 41." in trial.readings
    said = problems(tmp_path, text + "n,40,42\n")
    assert "row 3: n of B is 42 here and 41 elsewhere" in said


def test_wide_tables_whose_headings_do_not_say_what_numbers_are_are_refused_with_examples(tmp_path):
    text = "arm,n,mood,titre,Total\nA,40,3.1 ± 1.5,1/40,7\nTotal,40,2.0 ± 1.4,1/80,8\n"
    said = problems(tmp_path, text)
    assert (
        "column 'mood' (rows 2 to 3): the heading does not say what its numbers, such as " in said
    )
    assert "'mood, mean (SD)', 'mood, mean ± SE', 'mood, GMT (95% CI)' or 'mood, n/N'" in said
    assert "column 'titre' (rows 2 to 3)" in said  # 1/40 is how a dilution is written
    assert "row 3: 'Total' seems to be all arms together" in said
    said = problems(tmp_path, "endpoint,A,Total\nmood,3 ± 1,4 ± 1\n")
    assert "column 'Total': 'Total' seems to be" in said
    assert "row 2 (mood): the heading does not say" in said


_TWO = "A,40,3.1,1.5\nB,41,2.0,1.4\n"


@pytest.mark.parametrize(
    ("first", "second", "endpoint", "spread"),
    [
        ("IgG mean", "IgG SD", "IgG", "sd"), ("IgG_mean", "IgG_sd", "IgG", "sd"),
        ("IgG.mean", "IgG.sd", "IgG", "sd"), ("IgG (mean)", "IgG (s.d.)", "IgG", "sd"),
        ("Mean IgG", "SD of IgG", "IgG", "sd"), ("IgG mean", "igg STD", "IgG", "sd"),
        ("IgG, mean", "IgG SD", "IgG", "sd"), ("IgG mean (EU/mL)", "IgG SE (EU/mL)",
                                             "IgG (EU/mL)", "se"),
        ("Mean IgG (EU/mL)", "S.E.M. IgG (EU/mL)", "IgG (EU/mL)", "se"),
        ("mean arterial pressure mean", "mean arterial pressure SD", "mean arterial pressure",
         "sd"),
        ("Mean mean arterial pressure", "SD mean arterial pressure", "mean arterial pressure",
         "sd"),
    ],
)  # fmt: skip
def test_a_mean_and_its_spread_may_stand_in_two_columns(tmp_path, first, second, endpoint, spread):
    trial = read(tmp_path, f'arm,n,"{first}","{second}"\n{_TWO}')
    assert trial.endpoints == (endpoint,)
    assert trial.reported.ravel().tolist() == [3.1, 2.0]
    sd = np.array([1.5, 1.4]) * (1 if spread == "sd" else np.sqrt([40, 41]))
    assert trial.sd.ravel() == pytest.approx(sd)
    (note,) = trial.readings
    assert note.startswith(f"columns of {endpoint!r} were read like this: ")
    assert f"{second!r} is {spread}" in note


def test_columns_of_n_and_of_an_interval_stand_beside_each_endpoint(tmp_path):
    trial = read(
        tmp_path,
        "arm,IgG n,IgG GMC,IgG 95% CI,NT50 n,NT50 GMT,NT50 95% CI lower,NT50 95% CI upper,cured\n"
        "A,40,100,80–125,39,10,8,12.5,20/41\nB,41,200,160–250,38,20,16,25,21/41\n",
    )
    assert trial.endpoints == ("IgG", "NT50", "cured")
    assert trial.reported[:, :2].tolist() == [[100, 10], [200, 20]]
    assert trial.n.tolist() == [[40, 39, 41], [41, 38, 41]]
    assert trial.lower[:, :2].tolist() == [[80, 8], [160, 16]]
    assert trial.upper[:, :2].tolist() == [[125, 12.5], [250, 25]]
    assert any("'IgG GMC' is geometric mean, 'IgG 95% CI' is 95% CI" in n for n in trial.readings)


def test_two_columns_of_an_endpoint_and_one_of_another_go_together(tmp_path):
    text = 'arm,n,IgG mean,IgG SD,"pain, mean (SD)",adverse events,NT50 mean ± SE\n'
    trial = read(
        tmp_path,
        text + "A,40,3.1,1.5,12 (3),4/40,7 ± 2\nB,41,2.0,1.4,10 (4),5/41,8 ± 2\n",
        minimize=["pain", "adverse"],
    )
    assert trial.endpoints == ("IgG", "pain", "adverse events", "NT50")
    assert trial.reported[0, [0, 1, 3]].tolist() == [3.1, 12, 7]
    assert trial.mean[0, 2] == 0.1
    said = problems(tmp_path, "arm,n,IgG mean,IgG SD,pain\nA,40,3,1,12 (3)\nB,40,3,1,12 (3)\n")
    assert "has a problem" in said
    assert "column 'pain' (rows 2 to 3): the heading does not say" in said


def test_arms_may_be_named_by_any_column_as_it_is_printed(tmp_path):
    text = 'Vaccine group,N,IgG mean,IgG SD,"Fever, events"\nA,40,3.1,1.5,4\nB,41,2.0,1.4,9\n'
    trial = read(tmp_path, text, arms="Vaccine group", minimize="Fever")
    assert trial.arms == ("A", "B")
    assert trial.mean[:, 1].tolist() == [4 / 40, 9 / 41]
    said = problems(tmp_path, text)
    assert "names no arms: no column is called arm, nor endpoint" in said
    assert "for instance arms='Vaccine group'. Its header has: Vaccine group, N, IgG mean," in said
    said = problems(tmp_path, text.replace('"Fever, events"', "Fever events"), arms="vaccine_group")
    assert "or 'Fever, events' if they count participants" in said
    for arms in (3, [3], [], ["Vaccine group", None]):
        with pytest.raises(TypeError, match="must be the heading of a column, or several"):
            read(tmp_path, text, arms=arms)


def test_a_statistic_that_stands_alone_is_refused_by_name(tmp_path):
    """A name may hold the word: without a column beside it nothing says which it is."""
    said = problems(tmp_path, "arm,n,pain mean,IgG mean,IgG SD\nA,40,9,3,1\nB,40,8,3,1\n")
    assert "column 'pain mean' (rows 2 to 3): it may be mean of 'pain', with nothing" in said
    assert "'pain, mean' and 'pain, SD'" in said
    assert "as in 'pain mean, mean'" in said
    assert "IgG" not in said
    alone = "arm,n,pain SD\nA,40,1\nB,41,1\n"
    for options in ({}, {"scale": "normal"}):  # never an endpoint whose means are these numbers
        assert "it may be sd of 'pain'" in problems(tmp_path, alone, **options)
    gmc = "arm,n,IgG GMC\nA,40,1\nB,41,1\n"
    assert "it may be geometric mean of 'IgG'" in problems(tmp_path, gmc, scale="normal")
    pressure = "arm,n,mean arterial pressure\nA,40,93\nB,41,95\n"
    trial = read(tmp_path, pressure, scale="normal")
    assert (trial.endpoints, trial.reported.ravel().tolist()) == (
        ("mean arterial pressure",), [93, 95],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "numbers"),
    [
        ("IgG GMC", ("100", "80-125")), ("IgG SD", ("5", "1")), ("IgG SE", ("5", "1")),
        ("IgG CI", ("5", "3-7")), ("IgG mean", ("5", "1")),
    ],
)  # fmt: skip
def test_the_columns_that_a_refusal_advises_are_read(tmp_path, heading, numbers):
    said = problems(tmp_path, f"arm,n,{heading}\nA,40,3-7\nB,41,3-7\n")
    center, spread, both = re.search(
        "have columns '(.*?)' and '(.*?)' in a row per arm, or both in a cell under '(.*?)'", said
    ).groups()
    value, width = numbers
    rows = f"A,40,{value},{width}\nB,41,{value},{width}\n"
    apart = read(tmp_path, f'arm,n,"{center}","{spread}"\n{rows}')
    rows = f"A,40,{value} ({width})\nB,41,{value} ({width})\n"
    together = read(tmp_path, f'arm,n,"{both}"\n{rows}')
    assert apart.endpoints == together.endpoints == ("IgG",)
    assert apart.scales == together.scales
    for trial in (apart, together):
        assert trial.reported.ravel().tolist() == [float(value)] * 2
    assert np.array_equal(apart.sd, together.sd)


@pytest.mark.parametrize("columns", [("mean", "sd"), ("geometric_mean", "ci_lower", "ci_upper"),
                                     ("ci_lower", "ci_upper"), ("ci_lower",), ("se",)])  # fmt: skip
def test_a_statistic_in_words_is_a_heading(columns):
    level = 0.9 if columns[-1] == "ci_upper" else None
    statistic = Statistic(columns, level)
    assert read_heading(f"IgG, {statistic.words}") == ("IgG", statistic)


def test_a_column_that_fits_two_names_is_refused_with_both(tmp_path):
    said = problems(
        tmp_path,
        "arm,n,mean IgG SD,mean IgG mean,IgG SD mean,IgG SD se\nA,40,1,3,1,1\nB,40,1,3,1,1\n",
    )
    assert "column 'mean IgG SD' may be sd of 'mean IgG' or mean of 'IgG SD'; put a comma" in said
    assert "has a problem" in said
    level = problems(tmp_path, "arm,n,IgG mean,IgG 90% CI\nA,40,3,1-5\nB,40,3,1-5\n")
    assert "states 0.9 as the level" in level


def test_a_scale_for_all_endpoints_says_what_plain_numbers_are(tmp_path):
    text = "arm,n,IgG,NT50\nA,40,100,20\nB,41,200,30\n"
    assert "does not say what its numbers" in problems(tmp_path, text)
    trial = read(tmp_path, text, scale="log-normal")
    assert trial.reported.tolist() == [[100, 20], [200, 30]]


def test_a_level_in_a_heading_must_be_the_level_of_the_trial(tmp_path):
    text = 'arm,n,"IgG, GMT (90% CI)"\nA,40,100 (80–125)\nB,41,200 (160–250)\n'
    said = problems(tmp_path, text)
    assert "states 0.9 as the level of its intervals and level is 0.95; pass level=0.9" in said
    assert read(tmp_path, text, level=0.9).level == 0.9


def test_columns_that_are_not_read_are_named(tmp_path):
    trial = read(
        tmp_path, "arm,endpoint,n,mean,sd,p,site\nA,x,9,1,1,0.1,Oxford\nB,x,9,2,1,0.2,Bonn\n"
    )
    assert trial.readings == ("columns that were not read: 'p', 'site'.",)
    assert read(tmp_path, "arm,endpoint,n,mean,sd\nA,x,9,1,1\nB,x,9,2,1\n").readings == ()


def test_readings_are_kept_in_json_and_older_json_has_none(tmp_path):
    trial = read(tmp_path, "arm,endpoint,n,mean (SD)\nA,x,9,1 (1)\nB,x,9,2 (1)\n")
    assert TrialSummary.from_json(trial.to_json()).readings == trial.readings != ()
    old = json.loads(trial.to_json())
    del old["readings"]
    assert TrialSummary.from_json(json.dumps(old)).readings == ()
    assert load_trial("covboost").readings == ()


MIDDLE_DOT = st.sampled_from([".", "·"])
DASH = st.sampled_from(["–", "-", " to ", " – ", "; "])


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.integers(1, 99_999), min_size=3, max_size=3),
    st.integers(0, 3),
    MIDDLE_DOT,
    DASH,
    st.sampled_from(["()", "[]"]),
    st.sampled_from(["", "*", " †", "‡§"]),
)
def test_an_interval_comes_back_however_it_was_printed(units, places, dot, dash, brackets, mark):
    numbers = [f"{unit / 10**places:.{places}f}".replace(".", dot) for unit in units]
    cell = f"{numbers[0]} {brackets[0]}{numbers[1]}{dash}{numbers[2]}{brackets[1]}{mark}"
    statistic = read_heading("GMT (95% CI)")[1]
    assert list(split_cell(cell, statistic).values()) == numbers
    assert (
        list(split_cell(f"{numbers[1]}{dash}{numbers[2]}", read_heading("CI")[1]).values())
        == (numbers[1:])
    )


@pytest.mark.parametrize(
    ("heading", "name", "columns"),
    [
        ("Mean (SD) mood score", "mood score", ("mean", "sd")),
        ("Pain [mean ± SEM]", "Pain", ("mean", "se")),
        ("IgG; geometric mean titre (95% CI)", "IgG", ("geometric_mean", "ci_lower", "ci_upper")),
        ("Fever – no./total no. (%)", "Fever", ("events", "n")),
        ("SE", "", ("se",)), ("mean blood pressure", "mean blood pressure", None),
        ("SE Asia", "SE Asia", None), ("n", "", ("n",)), ("Incidence", "Incidence", None),
    ],
)  # fmt: skip
def test_headings_name_an_endpoint_and_its_statistic(heading, name, columns):
    found, statistic = read_heading(heading)
    assert found == name
    assert (statistic.columns if statistic else None) == columns


# --- Excel --------------------------------------------------------------------------------------


def sheet(tmp_path, rows, change=lambda book: None):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    change(book)
    path = tmp_path / "trial.xlsx"
    book.save(path)
    return path


ROWS = [
    ["arm", "endpoint", "n", "mean", "sd"],
    ["A", "mood", 40, 3.125, 1.5],
    [None, "sleep", 40, 7, "2·5"],
    ["B", "mood", 41, 2.25, 1.25],
    [None, "sleep", 41, 6.5, 2.5],
]


def test_an_excel_sheet_is_read_as_its_csv_and_merged_cells_are_filled(tmp_path):
    def merge(book):
        book.active.merge_cells("A2:A3")
        book.active.merge_cells("A4:A5")

    trial = TrialSummary.read_csv(sheet(tmp_path, ROWS, merge))
    assert (trial.arms, trial.endpoints) == (("A", "B"), ("mood", "sleep"))
    assert trial.reported.tolist() == [[3.125, 7], [2.25, 6.5]]  # 3.125 is typed: no thousands
    assert trial.sd.tolist() == [[1.5, 2.5], [1.25, 2.5]]
    assert "the merged cells A2:A3 were all read as 'A'." in trial.readings
    with pytest.raises(ValueError, match="row 3: the arm or the endpoint has no name"):
        TrialSummary.read_csv(sheet(tmp_path, ROWS))  # without a merge nothing says whose row it is


def test_what_excel_made_of_cells_is_refused_all_at_once(tmp_path):
    rows = [[*row] for row in ROWS]
    rows[1][3], rows[3][3], rows[4][4] = datetime.date(2026, 2, 1), "=1/3", "#DIV/0!"
    with pytest.raises(ValueError) as refused:
        TrialSummary.read_csv(sheet(tmp_path, rows))
    said = str(refused.value)
    assert "row 2, cell D2: 2026-02-01 00:00:00 is a date, perhaps made by Excel" in said
    assert "row 4, cell D4: =1/3 was never computed" in said
    assert "row 5, cell E5: #DIV/0! is an error of Excel" in said


def test_several_sheets_are_refused_by_name(tmp_path):
    def second(book):
        book.create_sheet("Figure 2").append(["x"])

    with pytest.raises(ValueError, match="'Sheet', 'Figure 2'"):
        TrialSummary.read_csv(sheet(tmp_path, ROWS, second))


def test_without_openpyxl_a_sheet_is_refused_with_the_way_out(tmp_path, monkeypatch):
    path = sheet(tmp_path, ROWS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ValueError, match=r"pip install 'paretoid\[excel\]', or export"):
        TrialSummary.read_csv(path)


# --- what is assumed ----------------------------------------------------------------------------

SILENT = "arm,endpoint,n,mean,sd,events\nA,mood,40,3,,\nB,mood,40,2,,\nA,sleep,40,3,1,\n" + (
    "B,sleep,40,2,1,\nA,cure,40,,,3\nB,cure,40,,,4\n"
)


def assumed(tmp_path, text):
    path = tmp_path / "silent.csv"
    path.write_text(SILENT)
    return published.read_trial(str(path), None, None, None, None, None, 0.95, None, text)


def test_an_assumed_sd_stands_in_for_endpoints_without_an_interval(tmp_path):
    trial = assumed(tmp_path, "1.5")
    assert dict(trial.assumed_variance) == {"mood": 2.25}
    assert trial.assumptions == (
        "The variance of mood is assumed to be 2.25 in every arm: the source reports no interval.",
    )
    trial = assumed(tmp_path, "mood=2,sleep=3")
    assert dict(trial.assumed_variance) == {"mood": 4.0, "sleep": 9.0}
    assert "in every arm: not taken from the source." in trial.assumptions[1]
    assert math.isfinite(trial.sd[0, 1])
    assert np.isnan(trial.sd[:, 0]).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mood=0", "'0' must be a positive number"), ("mood=big", "must be a positive number"),
        ("cure=1", "'cure', which is binary"), ("weight=1", "is no endpoint"),
    ],
)  # fmt: skip
def test_an_assumed_sd_that_makes_no_sense_is_refused(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        assumed(tmp_path, text)
    with pytest.raises(ValueError, match="has no endpoint to stand in for"):
        published.read_trial("comcov2", None, None, None, None, None, 0.95, None, "1.5")
