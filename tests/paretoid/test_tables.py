"""One reader of tables: whatever convention wrote a number, it is read back or it is refused."""

from __future__ import annotations

import io
import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoid.tables import parse_number, parse_table, read_table

NO_COMMA = st.sampled_from([";", "\t", "|"])
#: a sign before exactly three digits, one to three before it and no zero first
UNCLEAR = re.compile(r"-?[1-9]\d{0,2}[.,]\d{3}")


@st.composite
def decimals(draw):
    """A number with the decimals that somebody printed, trailing zeros and all."""
    places = draw(st.integers(0, 6))
    most = 10 ** draw(st.integers(0, 9))  # short ones too: 9.200 has four digits
    return Decimal(draw(st.integers(-most, most))).scaleb(-places)


def written(numbers, delimiter, sign):
    """A table with one number a row, decimals after `sign`."""
    lines = [delimiter.join(["arm", "mean"])]
    for at, number in enumerate(numbers):
        lines.append(delimiter.join([f"arm {at}", f"{number:f}".replace(".", sign)]))
    return "\n".join(lines) + "\n"


def read(text):
    table = parse_table(text, "text")
    return [table.number(row["mean"])[0] for _, row in table.rows]


@settings(deadline=None, max_examples=300)
@given(st.lists(decimals(), min_size=1, max_size=6), NO_COMMA, st.sampled_from(".,"))
def test_numbers_come_back_as_they_were_written_or_the_file_is_refused(numbers, delimiter, sign):
    text = written(numbers, delimiter, sign)
    cells = [line.split(delimiter)[1] for line in text.splitlines()[1:]]
    unclear = [bool(UNCLEAR.fullmatch(cell)) for cell in cells]
    told = any("." in cell and not doubt for cell, doubt in zip(cells, unclear, strict=True))
    if any(unclear) and not (sign == "." and told):
        with pytest.raises(ValueError, match=r"may be -?\d+ or -?\d+\.\d{3}; write"):
            read(text)
    else:
        assert read(text) == [float(number) for number in numbers]


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.integers(1000, 999_999), min_size=1, max_size=4),
    st.lists(decimals(), min_size=0, max_size=4),
    NO_COMMA,
)
def test_thousands_set_apart_by_points_are_never_read_as_decimals(wholes, others, delimiter):
    """The file of somebody with decimal commas, as Excel writes it: 9.200 is nine thousand."""
    cells = [f"{whole:,}".replace(",", ".") for whole in wholes]
    cells += [f"{number:f}".replace(".", ",") for number in others]
    lines = [f"arm{delimiter}mean", *(f"A{delimiter}{cell}" for cell in cells)]
    with pytest.raises(ValueError, match="may be"):
        read("\n".join(lines))


@settings(deadline=None, max_examples=200)
@given(st.lists(decimals(), min_size=1, max_size=6))
def test_commas_between_columns_leave_no_doubt_about_points(numbers):
    assert read(written(numbers, ",", ".")) == [float(number) for number in numbers]


@settings(deadline=None, max_examples=200)
@given(st.integers(1000, 999_999), st.sampled_from(["", "-"]), NO_COMMA, st.sampled_from(".,"))
def test_what_a_refusal_says_to_write_is_read(thousandths, minus, delimiter, sign):
    text = f"{minus}{thousandths:,}".replace(",", sign)
    with pytest.raises(ValueError, match="may be") as refused:
        parse_number(text, delimiter)
    whole, further = re.search(r"write (\S+), or (\S+) with", str(refused.value)).groups()
    assert parse_number(whole, delimiter)[0] == int(f"{minus}{thousandths}")
    assert parse_number(further, delimiter)[0] == int(f"{minus}{thousandths}") / 1000


@pytest.mark.parametrize(
    ("others", "value"),
    [
        (["84.6"], 9.2), (["0.715"], 9.2), (["1,234.5"], 9.2), (["1234.567"], 9.2),
        (["1.5e3"], 9.2), (["31 111.5"], 9.2), (["12", "0.5"], 9.2),
        ([], None), (["12", "9.201"], None), (["84·6"], None), (["1,234,567"], None),
        (["0,25"], None), (["0,25", "84.6"], None), (["\u22120,25", "84.6"], None),
        (["31 111,5", "84.6"], None), (["9,2001", "84.6"], None),
    ],
)  # fmt: skip
def test_a_file_tells_what_its_points_are(others, value):
    text = "\n".join(["arm;mean", "A;9.200", *(f"B;{other}" for other in others)])
    table = parse_table(text, "text")
    if value is None:
        with pytest.raises(ValueError, match=r"'9\.200' may be 9200 or 9\.200"):
            table.number("9.200")
    else:
        assert table.number("9.200") == (value, 0.0005)
    with pytest.raises(ValueError, match="'9,200' may be 9200 or"):  # whatever the others are
        table.number("9,200")


def test_a_cell_may_hold_the_delimiter_and_a_new_line_and_rows_are_the_spreadsheet_s():
    table = parse_table('arm;mean\n"A;\nB";1\n\nC;2\n', "text")
    assert [(number, row["arm"]) for number, row in table.rows] == [(2, "A;\nB"), (4, "C")]


def test_names_of_columns_are_kept_where_that_is_asked_for():
    text = "id,T cell,t Cell\n1,2,3\n"
    assert parse_table(text, "text", exact=True).columns == ("id", "T cell", "t Cell")
    with pytest.raises(ValueError, match="the header repeats t_cell"):
        parse_table(text, "text")


def test_what_is_no_csv_is_a_sentence(tmp_path):
    endless = io.StringIO()
    endless.write('arm,mean\nA,"')
    endless.write("x" * 200_000)
    with pytest.raises(ValueError, match="cannot be read as CSV: field larger"):
        parse_table(endless.getvalue(), "text")
    (tmp_path / "cut.csv").write_bytes("arm;mean\nA;1\n".encode("utf-16")[:-1])
    with pytest.raises(ValueError, match="begins as UTF-16"):
        read_table(tmp_path / "cut.csv")
