"""Which way is better is said first, and asked where a name goes the other way."""

from __future__ import annotations

import pytest

import paretoid as pt
from paretoid.directions import check_directions, directions, usually_less
from paretoid.estimation import TrialSummary

DEPRESSION = """arm,endpoint,n,mean,sd
placebo,depression score,40,14,6
drug,depression score,40,9,6
placebo,sleep,40,5,2
drug,sleep,40,7,2
"""


@pytest.mark.parametrize("name", [
    "toxicity", "Dropout", "drop-out rate", "adverse events", "SAE", "mortality",
    "treatment failure", "pain", "time to response", "time to relief", "Time_to_recovery",
    "cost", "p99_latency", "depression score", "bounce rate",
])  # fmt: skip
def test_names_that_go_the_other_way_are_asked_about(name):
    assert usually_less(name)
    with pytest.raises(ValueError, match=r"better\? it does not say"):
        check_directions(["IgG", name], [], [], "it")
    check_directions(["IgG", name], [name], [], "it")
    check_directions(["IgG", name], [], [name], "it")


@pytest.mark.parametrize("name", [
    "IgG", "NT50 delta", "survival", "pain-free days", "relapse-free survival", "clicks", "revenue",
    "pain relief", "efficacy", "response", "accuracy", "symptom improvement", "paint",
])  # fmt: skip
def test_other_names_are_not(name):
    assert usually_less(name) == (name == "paint")  # a question too many costs one word


def test_the_question_names_the_option_on_a_command_line_and_the_argument_in_python(cli, tmp_path):
    path = tmp_path / "hamd.csv"
    path.write_text(DEPRESSION)
    with pytest.raises(ValueError, match="Name it in minimize= if less is better, in maximize= "):
        TrialSummary.read_csv(path)
    assert "Name it in --minimize if less" in cli("plan", str(path))[2]


def test_a_table_is_asked_about_by_the_library_and_its_column_answers(tmp_path):
    path = tmp_path / "hamd.csv"
    path.write_text(DEPRESSION)
    with pytest.raises(ValueError, match="is more 'depression score' better"):
        TrialSummary.read_csv(path)
    assert TrialSummary.read_csv(path, minimize=["depression"]).minimize == ("depression score",)
    assert TrialSummary.read_csv(path, maximize="depression").minimize == ()
    assert TrialSummary.read_csv(path, endpoints=["sleep"]).minimize == ()
    rows = DEPRESSION.splitlines()
    for word, less in (("smaller", ("depression score",)), ("larger", ())):
        better = [",better", *(f",{word}" if "score" in row else "," for row in rows[1:])]
        path.write_text("\n".join(row + cell for row, cell in zip(rows, better, strict=True)))
        assert TrialSummary.read_csv(path).minimize == less
    with pytest.raises(ValueError, match="more of depression score is better, and minimize names"):
        TrialSummary.read_csv(path, minimize="depression")
    path.write_text(DEPRESSION)
    with pytest.raises(ValueError, match="both name 'depression score'"):
        TrialSummary.read_csv(path, minimize="depression", maximize="depression")


def test_instances_and_designs_are_asked_about_too(tmp_path):
    means = tmp_path / "means.csv"
    means.write_text("arm,clicks,latency\nA,1,200\nB,2,300\n")
    with pytest.raises(ValueError, match="is more 'latency' better"):
        pt.read_instance(means, scale=1.0)
    assert pt.read_instance(means, scale=1.0, maximize="latency").minimize == ()
    with pytest.raises(ValueError, match="did you mean 'latency'"):
        pt.read_instance(means, scale=1.0, maximize=["latncy"])
    toml = tmp_path / "means.toml"
    words = 'objectives = ["clicks", "latency"]\nmeans = [[1.0, 2.0], [2.0, 3.0]]\nscale = 1.0\n'
    toml.write_text(words)
    with pytest.raises(ValueError, match="an empty list says that more is"):
        pt.read_instance(toml)
    toml.write_text(words + "minimize = []\n")
    assert pt.read_instance(toml).minimize == ()
    plain = {"arms": ["A", "B"], "objectives": ["effect", "toxicity"]}
    with pytest.raises(ValueError, match="the design does not say"):
        pt.explorer.Design.from_dict(plain)
    assert pt.explorer.Design.from_dict(plain, stored=True).minimize == ()  # an older ledger opens
    assert pt.explorer.Design.from_dict(plain | {"minimize": ["toxicity"]}).sign.tolist() == [1, -1]


def test_commands_say_every_direction_first_and_refuse_before_the_fit(cli, tmp_path, monkeypatch):
    from paretoid.cli import published

    def fitted(*_, **__):
        raise ValueError("it was fitted")

    monkeypatch.setattr(published, "sample", fitted)
    (tmp_path / "hamd.csv").write_text(DEPRESSION)
    for command in ("plan", "fit", "oc"):
        code, _, err = cli(command, "hamd.csv")
        assert code == 2
        assert "is more 'depression score' better" in err
        code, _, err = cli(command, "hamd.csv", "--minimize", "depression")
        assert "it was fitted" in err
        assert "less depression score and more sleep is better" in " ".join(err.split())


def test_directions_name_every_endpoint():
    assert directions(["a", "b"], []) == "more a and more b is better"


@pytest.mark.parametrize("command", ["plan", "fit", "oc"])
def test_a_table_that_no_model_fits_is_refused_before_anything_slow_is_announced(cli, command):
    code, _, err = cli(command, "covboost")
    assert code == 2
    assert "44 of 60 cells report no n" in err
    assert "fitting" not in err
