"""Instances as files: what is read back is what was written; what is wrong is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paretoid as pt

TOML = """
kind = "gaussian"
arms = ["placebo", "dose 1"]
objectives = ["efficacy", "harm"]
minimize = ["harm"]
means = [[0.1, 0.05], [0.4, 0.20]]
scale = [0.5, 1.0]
"""


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_csv_has_arms_in_rows_and_objectives_in_columns(file):
    path = file("a.csv", "arm,Efficacy at day 28,harm\nplacebo,0.1,5\ndose 1,0.4,-20\n")
    bandit = pt.read_instance(path, scale=[0.5, 2.0], minimize=["harm"])
    assert bandit.arms == ("placebo", "dose 1")
    assert bandit.objectives == ("Efficacy at day 28", "harm")  # as printed, capitals and blanks
    assert bandit.means.tolist() == [[0.1, 5.0], [0.4, -20.0]]
    assert bandit.scale.tolist() == [[0.5, 2.0], [0.5, 2.0]]
    assert bandit.minimize == ("harm",)


def test_a_csv_as_spreadsheets_write_it_is_read(file):
    path = file("a.csv", "\ufeff;Wirkung;Schaden\r\nA;0,25;1\r\nB;0,5;0,75\r\n")
    assert pt.read_instance(path, kind="bernoulli").means.tolist() == [[0.25, 1.0], [0.5, 0.75]]


def test_a_toml_file_says_everything(file):
    bandit = pt.load_instance(file("a.toml", TOML))
    assert isinstance(bandit, pt.GaussianBandit)
    assert (bandit.arms, bandit.minimize) == (("placebo", "dose 1"), ("harm",))
    assert bandit.scale.tolist() == [[0.5, 1.0], [0.5, 1.0]]
    assert bandit.oriented.tolist() == [[0.1, -0.05], [0.4, -0.2]]
    correlated = TOML.replace("scale = [0.5, 1.0]", "covariance = [[1.0, 0.5], [0.5, 4.0]]")
    assert pt.load_instance(file("b.toml", correlated)).scale[0].tolist() == [1.0, 2.0]


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_what_is_written_is_read_back_bit_for_bit(data, tmp_path_factory):
    name = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8)
    K, D = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 3))
    arms = data.draw(st.lists(name, min_size=K, max_size=K, unique=True))
    objectives = data.draw(st.lists(name, min_size=D, max_size=D, unique=True))
    number = st.floats(-1e6, 1e6)
    means = data.draw(st.lists(st.lists(number, min_size=D, max_size=D), min_size=K, max_size=K))
    scale = data.draw(st.sampled_from([1.5, [0.25] * D, [[0.5] * D] * (K - 1) + [[3.0] * D]]))
    names = {"arms": arms, "objectives": objectives, "minimize": objectives[:1]}
    path = tmp_path_factory.mktemp("instances") / "x.toml"
    for bandit in (
        pt.GaussianBandit(means, scale, **names),
        pt.GaussianBandit(means, covariance=np.eye(D) * 2 + 0.5, **names),
        pt.BernoulliBandit(np.abs(means) / 1e6, **names),
    ):
        pt.write_instance(bandit, path, force=True)
        again = pt.read_instance(path)
        assert type(again) is type(bandit)
        for what in ("means", "scale", "oriented"):
            assert np.array_equal(getattr(again, what), getattr(bandit, what))
        assert np.array_equal(getattr(again, "covariance", 0), getattr(bandit, "covariance", 0))
        assert (again.arms, again.objectives, again.minimize) == (
            bandit.arms, bandit.objectives, bandit.minimize
        )  # fmt: skip


def test_names_with_every_character_that_toml_escapes_survive(tmp_path):
    arms = ['"\\', "a # 'b' = [c] \u2028 ", "ü \U0001f600"]
    bandit = pt.BernoulliBandit([[0.5], [0.25], [1.0]], arms=arms)
    pt.write_instance(bandit, tmp_path / "x.toml")
    assert pt.read_instance(tmp_path / "x.toml").arms == bandit.arms


def test_the_bundled_instance_survives_a_csv(tmp_path):
    bandit = pt.load_instance("covboost")
    pt.write_instance(bandit, tmp_path / "x.csv")
    again = pt.load_instance(tmp_path / "x.csv", scale=bandit.scale[0])
    assert np.array_equal(again.means, bandit.means)
    assert (again.arms, again.objectives) == (bandit.arms, bandit.objectives)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("arm,a,b\nA,1,x\nB,high,2\n", {"scale": 1}, r"(?s)2 problems:.*row 2, column b: 'x' is no "
         r"number.*row 3, column a: 'high' is no number"),
        ('arm,a\nA,"0,715"\nB,2\n', {"scale": 1}, "row 2, column a: '0,715' is no number"),
        ("arm,a\nA,3 4.5\nB,2\n", {"scale": 1}, "row 2, column a: '3 4.5' is no number"),
        ("arm,a\nA,\nB,2\n", {"scale": 1}, "row 2, column a: '' is no number"),
        ("arm,a\nA,1,2\nB,2\n", {"scale": 1}, "row 2: 3 cells under 2 columns"),
        ("arm,a\n,1\nB,2\n", {"scale": 1}, "row 2: the arm has no name"),
        ("arm,a,\nA,1,2\nB,2,3\n", {"scale": 1}, "row 1: column 3 has no name"),
        ("arm,a\nA,1\nA,2\n", {"scale": 1}, "repeats 'A'"),
        ("arm,a\nA,1\n", {"scale": 1}, "at least 2 are needed"),
        ("arm,a\nA,1\nB,2\n", {}, "not how far outcomes scatter"),
        ("arm,a\nA,1\nB,2\n", {"kind": "bernoulli"}, r"means\[1, 0\]=2.0 must lie in \[0, 1\]"),
        ("arm,a\nA,1\nB,0\n", {"kind": "bernoulli", "scale": 1}, "scale has nothing to say"),
        ("arm,a\nA,1\nB,0\n", {"kind": "poisson"}, "kind='poisson' must be one of"),
        ("arm,a\nA,1\nB,2\n", {"scale": [1, 2]}, "scale has shape"),
        ("arm,a\nA,1\nB,2\n", {"scale": 1, "minimize": ["c"]}, "'c', which is no objective"),
        ("", {"scale": 1}, "is empty. It needs a header arm,OBJECTIVE"),
        (b"PK\x03\x04", {"scale": 1}, "spreadsheet"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_csv_is_said_with_row_and_column(file, text, options, said):
    with pytest.raises(ValueError, match=said):
        pt.read_instance(file("a.csv", text), **options)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("means", "meens"), "unknown key 'meens'; did you mean 'means'"),
        (('kind = "gaussian"', 'kind = "normal"'), "kind='normal' must be one of"),
        (("scale = [0.5, 1.0]", ""), "neither scale nor covariance"),
        (("scale = [0.5, 1.0]", "scale = -1.0"), "a.toml: scale=-1.0 must be finite and above 0"),
        (("means = [[0.1, 0.05], [0.4, 0.20]]", ""), "has no means"),
        (("[0.4, 0.20]", "[0.4]"), "table of numbers"),
        (("[0.4, 0.20]", "[0.4, 'x']"), "table of numbers"),
        (('"placebo", "dose 1"', "1, 2"), "arms must be a list of names"),
        (("=", "", 1), "is no TOML"),
    ],
)
def test_what_is_wrong_with_a_toml_file_is_said(file, change, said):
    with pytest.raises(ValueError, match=said):
        pt.read_instance(file("a.toml", TOML.replace(*change)))


def test_a_toml_file_takes_no_second_opinion(file):
    with pytest.raises(ValueError, match="says kind, scale and minimize itself"):
        pt.load_instance(file("a.toml", TOML), scale=2.0)
    with pytest.raises(ValueError, match="is bundled and says"):
        pt.load_instance("covboost", scale=2.0)


def test_missing_files_directories_and_names_get_different_answers(file, tmp_path):
    file("doses.csv", "arm,a\nA,1\nB,2\n")
    with pytest.raises(ValueError, match=r"dosis.csv is no file.*; did you mean 'doses.csv'\?"):
        pt.load_instance(tmp_path / "dosis.csv", scale=1)
    with pytest.raises(ValueError, match="is a directory; give a file in it"):
        pt.load_instance(tmp_path, scale=1)
    with pytest.raises(ValueError, match="no instance 'covbost'; did you mean 'covboost'"):
        pt.load_instance("covbost")


def test_only_what_a_file_can_hold_is_written(tmp_path):
    resampled = pt.ResampledBandit([[[1.0], [3.0]], [[0.0], [4.0]]], bounds=(0, 4))
    with pytest.raises(ValueError, match="cannot be written"):
        pt.write_instance(resampled, tmp_path / "x.toml")
    with pytest.raises(ValueError, match=r"must end in .csv or .toml"):
        pt.write_instance(pt.load_instance("covboost"), tmp_path / "x.txt")
