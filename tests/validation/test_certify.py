import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import paretoid as pt
from paretoid.validation import battery, certify, mutants
from paretoid.validation.evidence import log_evidence, would_notice
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
def test_no_guarantee_is_refuted(certificate):
    assert certificate["regressions"] == []
    assert certificate["holds"]


@pytest.mark.slow
def test_the_record_says_what_was_run(certificate):
    assert certificate["pathwise"]["paths"] == 3
    assert {row["instance"] for row in certificate["errors"]} >= {"COV-BOOST", "four coins"}
    assert {row["instance"] for row in certificate["errors"]} == {
        problem.name for problem in battery._problems()
    }
    assert all(row["errors"] <= row["runs"] for row in certificate["errors"])
    proved = {row["radius"].split("(")[0] for row in certificate["coverage"]}
    assert proved >= {"Mixture", "KaufmannKoolen", "LUCB1Like", "UnknownScale"}
    assert any(row["guarantee"] == "heuristic" for row in certificate["coverage"])
    assert set(certificate["mutants"]["caught"]) == {m.name for m in mutants.MUTANTS}
    assert json.loads(json.dumps(certificate)) == certificate
    assert set(certificate["versions"]) >= {"python", "numpy", "numba", "paretoid"}


def test_the_record_is_prose_without_paths_of_a_machine():
    text = certify.markdown(SHIPPED)
    assert text.startswith("# Certificate\n\nNo guarantee was refuted.")
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
    problems = [replace(problem, share=1.0) for problem in problems]

    def liar(*args, **options):
        data = simulate(*args, **options)
        return data.assign(correct=data.correct & False)

    monkeypatch.setattr(battery, "simulate", liar)
    monkeypatch.setattr(battery, "_problems", lambda: problems)
    found = []
    rows = battery._errors(TINY, 0, found)
    assert {row["guarantee"] for row in rows if "union='none'" in row["radius"]} == {"heuristic"}
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


def test_the_certificate_that_ships_has_power():
    """Its hard cells stop, and would have noticed an error rate not far above delta."""
    proved = [row for row in SHIPPED["errors"] if row["guarantee"] == "proved"]
    assert SHIPPED["battery"] == "full"
    assert sum(row["runs"] for row in proved) >= 100_000
    assert all(2 * row["stopped"] >= row["runs"] for row in proved)
    assert all(row["would_notice"] is not None for row in proved)
    assert {row["radius"].split("(")[0] for row in proved} == {
        "BetaBinomial", "KaufmannKoolen", "LUCB1Like", "MixedScale", "Mixture", "UnknownScale",
    }  # fmt: skip
    assert {row["goal"].split("(")[0] for row in proved} >= {"PracticalSet", "Cover", "AtMost"}
    assert any("limits" in row["goal"] for row in proved)
    tie = [row for row in proved if row["instance"] == "two equal arms, a margin"]
    assert max(row["would_notice"] - row["delta"] for row in tie) < 0.05
    assert max(row["errors"] / row["runs"] for row in tie) > 0.1  # at delta = 0.5: it can err
    assert "would notice" in certify.markdown(SHIPPED)


def test_what_a_cell_notices_is_found_out_by_that_rate_and_not_by_a_smaller_one():
    """200 runs at delta = 0.1 need 48 errors; P(Bin(200, p) >= 48) = 0.9 at the rate said."""
    noticed = would_notice(200, 0.1)
    need = next(s for s in range(201) if log_evidence(200, s, 0.1) >= math.log(1e6))
    assert need == 48
    assert binom.sf(need - 1, 200, noticed) == pytest.approx(0.9)
    assert would_notice(2_000, 0.1) < noticed
    assert would_notice(5, 0.1) is None


def test_a_label_is_that_of_the_runs():
    """A radius may be proved, and not for a goal that needs all intervals at once."""
    data = battery.simulate(
        pt.GaussianBandit(np.eye(4) * 5), pt.PracticalSet(2.0), radius=pt.Mixture(), replications=1
    )
    assert (pt.Mixture().guarantee, data.attrs["guarantee"]) == ("proved", "heuristic")


def test_quick_and_full_exclude_each_other(tmp_path, capsys):
    with pytest.raises(SystemExit):
        certify.main(["--quick", "--full"])
    with pytest.raises(SystemExit):
        certify.main(["--out", str(tmp_path / "missing")])
    assert "is no directory" in capsys.readouterr().err
