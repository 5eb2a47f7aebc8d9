"""`paretoid trial`: what it prints, what it refuses, what it leaves in the ledger."""

from __future__ import annotations

import csv
import json
import os
import re
import sqlite3
import stat
from contextlib import closing

import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import paretoid as pt
from paretoid.cli.trial import app
from paretoid.explorer.blinding import Key, blind

DESIGN = """
arms = ["placebo", "dose 1", "dose 2"]
objectives = ["IgG", "fever"]
minimize = ["fever"]
delta = 0.2
scale = [1.0, 0.5]
seed = 4

[[goals]]
kind = "AtMost"
k = 1

[[goals]]
kind = "ParetoSet"
eps1 = 0.0

[radius]
kind = "Mixture"
rho = 10.0
sides = "two"
"""


@pytest.fixture
def trial(tmp_path, monkeypatch):
    """Call a command; returns what it printed. The trial is tmp_path/t.db."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "design.toml").write_text(DESIGN, encoding="utf-8")

    def call(*words, **options):
        result = CliRunner().invoke(app, [str(word) for word in words], **options)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        call.code = result.exit_code
        return result.stdout

    return call


def head(text):
    *_, last = text.strip().splitlines()
    word, digest = last.split()
    assert word == "head"
    return digest


def test_a_trial_from_beginning_to_end(trial, tmp_path):
    assert "3 arms, 2 objectives" in trial("new", "design.toml", "t.db", "--author", "ann")
    placed = json.loads(trial("next", "t.db", "-n", 3, "--json"))
    assert {a["arm"] for a in placed["allocations"]} == {"placebo", "dose 1", "dose 2"}
    trial("record", "t.db", 1, "-0.5", "0.1")  # negative numbers are outcomes, not options
    trial("record", "t.db", 2, "IgG=1.5")
    kept = head(trial("record", "t.db", 3, "missing", input="y\n"))
    status = json.loads(trial("status", "t.db", "--json"))
    assert status["arms"] == ["placebo", "dose 1", "dose 2"]
    assert status["objectives"] == ["IgG", "fever"]
    assert status["held"]["fever"] == {"outcomes": 0, "by": 2}
    assert status["waiting"] == [
        {"id": 2, "arm": placed["allocations"][1]["arm"], "objectives": ["fever"]}
    ]
    trial("correct", "t.db", 1, "IgG=0.7", "--reason", "sign", "--yes")
    trial("record", "t.db", "walk-in", "IgG=1", "fever=0", "--unplanned", "placebo")
    new = json.loads(trial("next", "t.db", "--json"))["allocations"][0]["id"]
    trial("next", "t.db", "--instead-of", new, "--arm", "dose 2", "--reason", "allergy", "--yes")
    assert "no answer yet" in trial("status", "t.db")
    now = head(trial("verify", "t.db", "--head", kept))
    trial("export", "t.db", "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {"id": "1", "arm": placed["allocations"][0]["arm"], "how": "asked",
                       "IgG": "0.7", "fever": "0.1"}  # fmt: skip
    assert [row["how"] for row in rows] == [
        "asked", "asked", "asked", "unplanned", "overridden", "instead of 5",
    ]  # fmt: skip
    assert rows[1]["fever"] == ""
    assert rows[2]["IgG"] == "missing"
    trial("export", "t.db", "out.nc")
    with xr.open_dataset(tmp_path / "out.nc", engine="h5netcdf") as data:
        assert float(data.outcome.sel(allocation="1", objective="IgG")) == 0.7
        assert str(data.state.sel(allocation="2", objective="fever").values) == "waiting"
        assert np.isnan(data.outcome.sel(allocation="3")).all()
        assert data.attrs["head"] == now
    trial("export", "t.db", "log.csv", "--events")
    with (tmp_path / "log.csv").open(newline="") as file:
        log = list(csv.DictReader(file))
    assert [row["kind"] for row in log] == [
        "created", "asked", "told", "told", "told", "corrected", "told", "asked", "overridden",
    ]  # fmt: skip
    assert log[0]["author"] == "ann"
    assert log[-1]["hash"] == now


def test_a_wrong_arm_is_corrected_in_its_place_and_the_report_lists_it(trial, tmp_path):
    trial("new", "design.toml", "t.db")
    placed = json.loads(trial("next", "t.db", "-n", 3, "--json"))["allocations"]
    trial("record", "t.db", 1, "1.5", "0.1")
    right = next(a["arm"] for a in placed if a["arm"] != placed[0]["arm"])
    for options in ([], ["IgG=1.0", "--arm", right]):
        with pytest.raises(ValueError, match="each has a command of its own"):
            trial("correct", "t.db", 1, *options, "--reason", "kits swapped", "--yes")
    trial("correct", "t.db", 1, "--arm", right, "--reason", "kits swapped", "--yes")
    trial("verify", "t.db")
    trial("export", "t.db", "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["arm"] == right
    trial("report", "t.db", "--out", "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "arm corrected" in page
    assert "kits swapped" in page


def test_a_csv_is_recorded_whole_or_not_at_all(trial, tmp_path):
    trial("new", "design.toml", "t.db")
    before = head(trial("next", "t.db", "-n", 4))
    unread = "id,IgG,fever\n1,1.0,0.1\n2,nan,0.2\n9,1.0,0.1\n3,high,\n"
    told_twice = "id,IgG,fever\n1,1.0,0.1\n1,2.0,\n9,1.0,0.1\n3,1e200,\n"
    for content, said in (
        (unread, ["has 2 problems", "row 3, column IgG: 'nan' is not finite", "write missing",
                  "row 5, column IgG: 'high' is no number"]),
        (told_twice, ["3 of 4 rows", "row 2: IgG of 1 comes twice", "row 3: there is no",
                      "row 4: IgG=1e+200 of 3 must be finite"]),
    ):  # fmt: skip
        (tmp_path / "bad.csv").write_text(content)
        with pytest.raises(ValueError) as error:
            trial("record", "t.db", "--csv", "bad.csv", "--yes")
        for words in said:
            assert words in str(error.value)
    assert head(trial("status", "t.db")) == before
    good = "id , IgG\n1, 1.5\n3, missing\n4,\n"
    (tmp_path / "good.csv").write_text(good.replace("4,\n", ""))
    trial("record", "t.db", "--csv", "good.csv", input="n\n")
    assert trial.code == 1
    assert head(trial("status", "t.db")) == before
    assert json.loads(trial("record", "t.db", "--csv", "good.csv", "--json"))["recorded"] == 2
    (tmp_path / "odd.csv").write_text("id,pain\n1,2\n")
    with pytest.raises(ValueError, match="has the columns id, pain; it needs id"):
        trial("record", "t.db", "--csv", "odd.csv", "--yes")
    with pytest.raises(ValueError, match=r"none\.csv is no file: nothing has that name"):
        trial("record", "t.db", "--csv", "none.csv", "--yes")


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_outcomes_are_read_from_what_a_spreadsheet_exports(trial, tmp_path, delimiter, encoding):
    """As `plan` reads its tables: any delimiter and encoding, and decimal commas."""
    trial("new", "design.toml", "t.db")
    trial("next", "t.db", "-n", 3)
    text = "id;IgG;fever\r\n1;1,5;0,25\r\n2;12345,678;missing\r\n3;-0,125;\r\n"
    if delimiter == ",":
        text = text.replace(",", ".")
    (tmp_path / "week.csv").write_bytes(text.replace(";", delimiter).encode(encoding))
    assert json.loads(trial("record", "t.db", "--csv", "week.csv", "--json"))["recorded"] == 3
    trial("export", "t.db", "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = [(row["IgG"], row["fever"]) for row in csv.DictReader(file)]
    assert rows == [("1.5", "0.25"), ("12345.678", "missing"), ("-0.125", "")]


def test_outcomes_that_may_be_two_numbers_are_not_recorded(trial, tmp_path):
    trial("new", "design.toml", "t.db")
    before = head(trial("next", "t.db", "-n", 3))
    (tmp_path / "week.csv").write_text("id;IgG;fever\n1;9.200;0,25\n2;9,200;0,5\n")
    with pytest.raises(ValueError) as error:
        trial("record", "t.db", "--csv", "week.csv", "--yes")
    for words in ("has 2 problems", "row 2, column IgG: '9.200' may be 9200 or 9.200",
                  "row 3, column IgG: '9,200' may be 9200 or 9.200"):  # fmt: skip
        assert words in str(error.value)
    assert head(trial("status", "t.db")) == before
    (tmp_path / "short.csv").write_text("id;IgG;fever\n1;9,2\n")
    with pytest.raises(ValueError, match="row 2: 2 cells under 3 columns"):
        trial("record", "t.db", "--csv", "short.csv", "--yes")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ValueError, match=r"is empty\. It needs a header that has id, may have arm"):
        trial("record", "t.db", "--csv", "empty.csv", "--yes")


def test_the_arm_in_a_csv_is_checked(trial, tmp_path):
    trial("new", "design.toml", "t.db")
    placed = json.loads(trial("next", "t.db", "--json"))["allocations"][0]
    other = "placebo" if placed["arm"] != "placebo" else "dose 1"
    (tmp_path / "a.csv").write_text(f"id,arm,IgG\n1,{other},1.0\n")
    with pytest.raises(ValueError, match="was given"):
        trial("record", "t.db", "--csv", "a.csv", "--yes")


@pytest.mark.parametrize(
    "words",
    [
        ["correct", "t.db", "1", "IgG=2", "--reason", "sign"],
        ["record", "t.db", "2", "missing"],
        ["next", "t.db", "--instead-of", "2", "--arm", "placebo", "--reason", "allergy"],
    ],
)
def test_what_cannot_be_undone_is_confirmed(trial, words):
    trial("new", "design.toml", "t.db")
    trial("next", "t.db", "-n", 2)
    before = head(trial("record", "t.db", 1, "IgG=1"))
    trial(*words, input="n\n")
    assert trial.code == 1
    with pytest.raises(ValueError, match="pass --yes"):
        trial(*words, input="")  # nobody there to ask
    assert head(trial("status", "t.db")) == before
    trial(*words, input="y\n")
    assert trial.code == 0
    assert head(trial("status", "t.db")) != before


def test_the_status_shows_the_intervals_that_are_open(trial):
    """By hand: rho = 10, K = 3, D = 2, so all 6 pairs; after one outcome of each arm."""
    trial("new", "design.toml", "t.db")
    for a in json.loads(trial("next", "t.db", "-n", 3, "--json"))["allocations"]:
        value = {"placebo": 1.0, "dose 1": 2.0, "dose 2": 4.0}[a["arm"]]
        trial("record", "t.db", a["id"], value, -value)
    half = np.sqrt((2 * np.log(6 / 0.2) + 2 * np.log(1.1)) * 22)
    shown = " ".join(trial("status", "t.db").split())
    gain, harm = (f"{x - w:.3g} to {x + w:.3g}" for x, w in ((-3, half), (3, half / 2)))
    assert f"placebo - dose 2 IgG {gain} fever {harm}" in shown


def test_a_narrow_terminal_and_no_outcomes_yet(trial, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    said = trial("new", "design.toml", "t.db") + trial("next", "t.db", "-n", 3)
    trial("record", "t.db", 1, "IgG=2")
    said += trial("status", "t.db") + trial("verify", "t.db")
    for line in said.splitlines():
        assert len(line) <= 40 or line.startswith("head "), line
    assert "nan" not in said
    assert "inf" not in said


COMMANDS = [
    "new",
    "next",
    "record",
    "correct",
    "status",
    "verify",
    "export",
    "withdraw",
    "backup",
    "restore",
    "report",
]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_the_help_has_an_example(trial, command):
    """Behind the word, because every usage line begins with the command too."""
    said = " ".join(trial(*command.split(), "--help").split())
    assert re.search(rf"Examples?: paretoid trial {command or 'new'} ", said)


def test_the_tab_key_offers_ledgers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.db", "two.csv"):
        (tmp_path / name).touch()
    result = CliRunner().invoke(
        app,
        [],
        prog_name="trial",
        env={"_TRIAL_COMPLETE": "complete_bash", "COMP_WORDS": "trial status ", "COMP_CWORD": "2"},
    )
    assert "one.db" in result.stdout
    assert "two.csv" not in result.stdout


def test_a_trial_by_another_rule(trial, tmp_path):
    (tmp_path / "design.toml").write_text(DESIGN + '\n[rule]\nkind = "UniformElimination"\n')
    assert "UniformElimination(); Mixture" in trial("new", "design.toml", "t.db")
    means = {"placebo": (0.0, 0.0), "dose 1": (9.0, -9.0), "dose 2": (1.0, 5.0)}
    answered = {}
    while len(answered) < 2:
        rows = json.loads(trial("next", "t.db", "-n", 3, "--json"))["allocations"]
        lines = [f"{a['id']},{means[a['arm']][0]},{means[a['arm']][1]}" for a in rows]
        (tmp_path / "week.csv").write_text("\n".join(["id,IgG,fever", *lines]))
        answered |= json.loads(trial("record", "t.db", "--csv", "week.csv", "--json"))["answered"]
    assert list(answered.values()) == [["dose 1"], ["dose 1"]]
    trial("verify", "t.db")
    trial("export", "t.db", "log.csv", "--events")
    assert "settled" in (tmp_path / "log.csv").read_text()


def test_answers_are_printed_when_they_come(trial):
    trial("new", "design.toml", "t.db")
    means = {"placebo": (0.0, 0.0), "dose 1": (90.0, -9.0), "dose 2": (1.0, 5.0)}
    printed = {}
    for _ in range(12):
        for a in json.loads(trial("next", "t.db", "--json"))["allocations"]:
            g, f = means[a["arm"]]
            said = json.loads(trial("record", "t.db", a["id"], f"IgG={g}", f"fever={f}", "--json"))
            printed |= said["answered"]
        if len(printed) == 2:
            break
    assert printed["AtMost(k=1, eps1=0)"] == ["dose 1"]


BAD = {
    "no design": (["new", "none.toml", "t.db"], "none.toml is no file: nothing has that name"),
    "no ledger": (["status", "none.db"], "no ledger at none.db"),
    "no such id": (["record", "have.db", "7", "IgG=1"], "there is no allocation '7'"),
    "nothing said": (["record", "have.db", "1"], "what was measured"),
    "mixed words": (["record", "have.db", "1", "IgG=1", "2"], "for every outcome, or for none"),
    "twice": (["record", "have.db", "1", "IgG=1", "IgG=2"], "comes twice"),
    "csv and id": (["record", "have.db", "1", "--csv", "x.csv"], "leave out the rest"),
    "no reason": (["correct", "have.db", "1", "IgG=1"], "needs --reason"),
    "no correction": (["correct", "have.db", "1", "--reason", "x"], "say what is right: OUTCOME"),
    "arm without id": (["next", "have.db", "--arm", "placebo"], "say --instead-of"),
    "id without arm": (["next", "have.db", "--instead-of", "1"], "needs --arm and --reason"),
    "none asked": (["next", "have.db", "-n", "0"], "n=0 must be an integer in 1..10000"),
    "existing": (["new", "design.toml", "have.db"], "never overwritten"),
    "empty head": (["verify", "have.db", "--head", ""], "must be the hash"),
    "nothing to verify": (["verify", "none.db"], "no ledger at none.db"),
    "no ledger to verify": (["verify", "there.csv"], "no ledger, or is damaged"),
    "a directory": (["status", "."], "is a directory"),
    "odd export": (["export", "have.db", "out.xlsx"], r"must end in \.csv"),
    "export over": (["export", "have.db", "there.csv"], "exists already"),
}


@pytest.mark.parametrize(("words", "sentence"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence_and_leaves_the_ledger_alone(trial, tmp_path, words, sentence):
    trial("new", "design.toml", "have.db")
    before = head(trial("next", "have.db"))
    (tmp_path / "there.csv").write_text("mine")
    with pytest.raises(ValueError, match=sentence):
        trial(*words)
    assert head(trial("verify", "have.db")) == before
    assert (tmp_path / "there.csv").read_text() == "mine"
    assert not (tmp_path / "t.db").exists()


def test_verify_ends_with_code_1_where_the_check_fails(trial, tmp_path):
    trial("new", "design.toml", "t.db")
    trial("next", "t.db", "-n", 2)
    kept = head(trial("record", "t.db", 1, "IgG=1"))
    assert json.loads(trial("verify", "t.db", "--json", "--head", kept))["sound"] is True
    assert trial.code == 0
    said = json.loads(trial("verify", "t.db", "--head", "beef" * 16, "--json"))
    assert trial.code == 1
    assert said["sound"] is False
    assert f"no event has the hash {'beef' * 16}" in said["problem"]
    with closing(sqlite3.connect("t.db", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER events_stay")
        connection.execute("UPDATE events SET author = 'bob' WHERE seq = 2")
    assert trial("verify", "t.db") == ""  # the sentence is on stderr
    assert trial.code == 1
    assert "event 2 does not fit" in json.loads(trial("verify", "t.db", "--json"))["problem"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("delta = 0.2", "dleta = 0.2"), "did you mean 'delta'"),
        (('kind = "AtMost"', 'kind = "Atmost"'), "must be one of 'ParetoSet', 'Cover', 'AtMost'"),
        (("k = 1", ""), "needs k"),
        (("rho = 10.0", "roh = 10.0"), "did you mean 'rho'"),
        (
            ('kind = "Mixture"\nrho = 10.0\nsides = "two"', 'kind = "UnknownScale"'),
            "would ignore the one given",
        ),
        (('objectives = ["IgG", "fever"]', ""), "has no objectives"),
        (("delta = 0.2", "delta = "), "is no TOML"),
        (("delta = 0.2", 'delta = 0.2\noutcomes = "binary"\n#'), "IgG"),
    ],
)
def test_bad_designs_are_one_sentence_and_make_no_file(trial, tmp_path, change, sentence):
    text = DESIGN.replace(*change)
    if "binary" in text:
        text = text.replace("scale = [1.0, 0.5]", "").replace(
            '[radius]\nkind = "Mixture"\nrho = 10.0\nsides = "two"', ""
        )
        sentence = "binary outcomes need a scale"
    (tmp_path / "design.toml").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        trial("new", "design.toml", "t.db", "--blind", "key")
    assert not (tmp_path / "t.db").exists()
    assert not (tmp_path / "key").exists()


# -- blinding --------------------------------------------------------------------------------------


def test_a_blind_trial_holds_no_names_and_its_key_is_for_its_owner_only(trial, tmp_path):
    old = os.umask(0)
    try:
        trial("new", "design.toml", "t.db", "--blind", "key.json")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "key.json").stat().st_mode) == 0o600
    trial("next", "t.db", "-n", 6)
    for file in tmp_path.glob("t.db*"):
        assert b"placebo" not in file.read_bytes()
    key = Key.load("key.json")
    assert sorted(key.names) == ["A", "B", "C"]
    assert sorted(key.names.values()) == ["dose 1", "dose 2", "placebo"]
    with pt.Explorer.open("t.db") as explorer:
        assert explorer.design.arms == ("A", "B", "C")
    with pytest.raises(ValueError, match="exists already"):
        trial("new", "design.toml", "u.db", "--blind", "key.json")
    assert not (tmp_path / "u.db").exists()
    with pytest.raises(ValueError, match="cannot be created"):
        trial("new", "design.toml", "nowhere/u.db", "--blind", "other.json")
    assert not (tmp_path / "other.json").exists()


def test_masks_are_in_random_order():
    arms = [f"arm {i}" for i in range(30)]
    design = {"arms": arms, "objectives": ["x"], "scale": [[0.5]] * 30}
    masked, key = blind(design)
    assert sorted(key.names.values()) == sorted(arms)
    assert [key.arm(mask) for mask in masked["arms"]] != arms  # fails once in 30! times
    with pytest.raises(ValueError, match="no mask 'ZZ'"):
        key.arm("ZZ")
    with pytest.raises(ValueError, match="once"):
        blind(design, [0] * 30)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("scale = [1.0, 0.5]", "scale = [[1, 1], [1, 1], [1, 2]]"), "the scale"),
        (("rho = 10.0", "rho = [10.0, 10.0, 20.0]"), "rho"),
        (
            (
                'sides = "two"',
                'sides = "one"\nshares = {kind = "Shares", arms = [0.5, 0.25, 0.25]}',
            ),
            "shares",
        ),
        (
            (
                'sides = "two"',
                'sides = "one"\nshares = {kind = "Shares", rivals = [0.5, 0.25, 0.25]}',
            ),
            "by rival",
        ),
    ],
)
def test_what_would_unblind_is_refused(trial, tmp_path, change, what):
    (tmp_path / "design.toml").write_text(DESIGN.replace(*change), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"gives .*{what}.* arm by arm"):
        trial("new", "design.toml", "t.db", "--blind", "key")
    assert not (tmp_path / "t.db").exists()
    assert not (tmp_path / "key").exists()
    trial("new", "design.toml", "t.db")  # nothing is wrong with it unblinded


def test_a_scale_that_is_the_same_for_every_arm_unblinds_nothing(trial, tmp_path):
    changed = DESIGN.replace("scale = [1.0, 0.5]", "scale = [[1, 2], [1, 2], [1, 2]]")
    (tmp_path / "design.toml").write_text(changed, encoding="utf-8")
    trial("new", "design.toml", "t.db", "--blind", "key")
    assert trial.code == 0


# -- modes -----------------------------------------------------------------------------------------


def modes(folder):
    return {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in folder.iterdir()}


@pytest.mark.skipif(os.name != "posix", reason="files have no modes here")
@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_files_of_a_trial_are_for_their_owner_unless_the_group_is_meant(trial, tmp_path, umask):
    old = os.umask(umask)
    try:
        trial("new", "design.toml", "t.db")
        trial("new", "design.toml", "g.db", "--group")
        for name in ("t", "g"):
            with pt.Explorer.open(f"{name}.db") as explorer:
                explorer.ask(3)
                beside = modes(tmp_path)
                expected = "0o600" if name == "t" else "0o660"
                for ending in ("", "-wal", "-shm"):
                    assert beside[f"{name}.db{ending}"] == expected
        trial("backup", "t.db", "copy.db")
        trial("restore", "copy.db", "again.db", "--group")
        trial("export", "t.db", "out.csv")
        trial("export", "t.db", "out.nc")
        trial("export", "t.db", "log.csv", "--events")
    finally:
        os.umask(old)
    found = modes(tmp_path)
    assert {name for name in found if found[name] == "0o600"} >= {
        "t.db", "copy.db", "out.csv", "out.nc", "log.csv"
    }  # fmt: skip
    assert found["again.db"] == "0o660"
    assert not list(tmp_path.glob(".*"))  # no draft is left
    (tmp_path / "t.db").chmod(0o644)  # somebody's choice is left alone
    trial("next", "t.db")
    assert modes(tmp_path)["t.db"] == "0o644"


def test_a_key_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "key"
    Key({"A": "placebo"}).save(path)
    assert Key.load(path).names == {"A": "placebo"}
    path.chmod(0o640)
    with pytest.raises(ValueError, match="mode 0640"):
        Key.load(path)
    path.chmod(0o600)
    path.write_text("[]")
    with pytest.raises(ValueError, match="no key"):
        Key.load(path)
    with pytest.raises(ValueError, match="cannot be read"):
        Key.load(tmp_path / "none")


def test_a_design_with_brackets_without_end_is_refused_in_a_sentence(trial, tmp_path):
    (tmp_path / "deep.toml").write_text("arms = " + "[" * 5000)
    with pytest.raises(ValueError, match=r"deep\.toml is no TOML: its brackets are nested"):
        trial("new", "deep.toml", "t.db")
