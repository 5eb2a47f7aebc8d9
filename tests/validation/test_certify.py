import json
import re
from pathlib import Path

import numpy as np
import pytest

from paretoid.validation import battery, certify, mutants
from paretoid.validation.pathwise import Report, Violation

SHIPPED = json.loads(Path(battery.__file__).with_name("certificate.json").read_text())
TINY = battery.Battery(3, 20, 5, 20, 200, 10, 2)


@pytest.fixture(scope="module")
def certificate():
    """The battery at its smallest, without what has a test (mutants) or a benchmark of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(battery.BATTERIES, "quick", TINY)
        patch.setattr(
            mutants, "hunt", lambda mutant: dict.fromkeys(mutant.checks, "") if mutant else {}
        )
        patch.setattr(battery, "_participants", lambda size: SHIPPED["participants"])
        return battery.certify("quick", seed=3)


@pytest.mark.slow  # .ci/run runs the quick battery
def test_every_guarantee_holds(certificate):
    assert certificate["regressions"] == []
    assert certificate["holds"]


@pytest.mark.slow
def test_the_record_says_what_was_run(certificate):
    assert certificate["pathwise"]["paths"] == 3
    assert {row["instance"] for row in certificate["errors"]} >= {"COV-BOOST", "four coins"}
    assert all(row["errors"] <= row["runs"] for row in certificate["errors"])
    proved = {row["radius"].split("(")[0] for row in certificate["coverage"]}
    assert proved >= {"Mixture", "KaufmannKoolen", "LUCB1Like", "UnknownScale"}
    assert any(row["guarantee"] == "heuristic" for row in certificate["coverage"])
    assert set(certificate["mutants"]["caught"]) == {m.name for m in mutants.MUTANTS}
    assert json.loads(json.dumps(certificate)) == certificate
    assert set(certificate["versions"]) >= {"python", "numpy", "numba", "paretoid"}


def test_the_record_is_prose_without_paths_of_a_machine():
    text = certify.markdown(SHIPPED)
    assert text.startswith("# Certificate\n\nEvery guarantee holds.")
    assert not re.search(r"/(home|tmp|work|opt)/", text)


def test_a_regression_is_a_sentence_and_an_exit_code(tmp_path, monkeypatch, capsys):
    broken = {**SHIPPED, "holds": False, "regressions": ["coverage: too small."]}
    monkeypatch.setattr(certify, "certify", lambda *_: broken)
    assert certify.main(["--quick", "--out", str(tmp_path)]) == 1
    assert "REGRESSED coverage: too small." in capsys.readouterr().err
    assert "- coverage: too small." in (tmp_path / "CERTIFICATE.md").read_text()
    assert json.loads((tmp_path / "certificate.json").read_text())["holds"] is False


def test_a_violated_lemma_is_a_regression(monkeypatch):
    bad = Report(1, 9, 0, 0, 0, {}, (Violation("Delta", 7, "too large"),))
    monkeypatch.setattr(battery, "check_path", lambda path: bad)
    found = []
    battery._pathwise(TINY, 0, found)
    assert found[0] == "pathwise, problem 0: [Delta] after 7 samples: too large"


def test_wrong_answers_above_delta_are_a_regression(monkeypatch):
    simulate, problems = battery.simulate, battery._problems()[2:3]

    def liar(*args, **options):
        data = simulate(*args, **options)
        return data.assign(correct=data.correct & False)

    monkeypatch.setattr(battery, "simulate", liar)
    monkeypatch.setattr(battery, "_problems", lambda: problems)
    found = []
    battery._errors(TINY, 0, found)
    assert any("20 wrong answers in 20 runs exceed delta=0.1" in text for text in found)
    assert not any("approximate" in text for text in found)  # heuristics promise nothing


def test_a_surviving_mutant_and_a_false_alarm_are_regressions(monkeypatch):
    monkeypatch.setattr(mutants, "hunt", lambda mutant: {} if mutant else {"Delta": "oh"})
    found = []
    battery._mutants(found)
    assert len(found) == len(mutants.MUTANTS) + 1


def test_random_problems_have_every_shape():
    drawn = [battery.random_problem(np.random.default_rng(seed)) for seed in range(60)]
    assert {p["bandit"].K for p in drawn} == set(range(2, 9))
    assert {p["bandit"].D for p in drawn} == set(range(1, 6))
    assert {p["bandit"].model for p in drawn} == {"gaussian", "bernoulli"}
    assert any(p["bandit"].minimize for p in drawn)


def test_the_certificate_that_ships_holds_and_its_two_forms_agree():
    assert SHIPPED["holds"]
    written = Path(certify.__file__).with_name("CERTIFICATE.md").read_text(encoding="utf-8")
    assert written == certify.markdown(SHIPPED)


def test_quick_and_full_exclude_each_other(tmp_path, capsys):
    with pytest.raises(SystemExit):
        certify.main(["--quick", "--full"])
    with pytest.raises(SystemExit):
        certify.main(["--out", str(tmp_path / "missing")])
    assert "is no directory" in capsys.readouterr().err
