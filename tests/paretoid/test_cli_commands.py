"""What each command computes, prints and writes, against the library and hand calculation."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import paretoid as pt
from paretoid import estimation, theory
from paretoid.cli import members
from paretoid.estimation import TrialSummary, load_trial


@pytest.fixture
def saved(monkeypatch):
    """A fit of Com-COV2 that no sampler made: draws about the reported means, known sigmas."""
    trial = load_trial("comcov2")
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((4, 500, *trial.mean.shape)) * 0.05
    sigma = np.broadcast_to([0.5, 1.0, 2.0], noise.shape) * np.exp(noise)
    dims = ("chain", "draw", "arm", "endpoint")
    spread = 0.15 * np.exp(0.3 * rng.standard_normal((4, 500, 3)))
    one = ("chain", "draw", "estimated_endpoint")
    posterior = xr.Dataset(
        {"mu": (dims, trial.mean + noise), "sigma": (dims, sigma),
         "log_sigma": (one, np.log(sigma).mean(axis=2)), "spread": (one, spread)},
        {"arm": list(trial.arms), "endpoint": list(trial.endpoints),
         "estimated_endpoint": list(trial.endpoints)},
        {
            "paretoid_trial": trial.to_json(),
            "paretoid_variances": "partial",
            "paretoid_problems": "",
            "paretoid_priors": "default",
        },
    )  # fmt: skip
    stats = xr.Dataset({"diverging": (("chain", "draw"), np.zeros((4, 500), dtype=bool))})
    tree = xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})
    monkeypatch.setattr(estimation, "fit", lambda *_, **__: tree)
    return tree


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def strict_json(text):
    """JSON as the standard has it, without NaN and Infinity."""

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def quiet_json(cli, *words):
    """The JSON a command prints; nothing else may be on stdout, nothing at all on stderr."""
    code, out, err = cli(*words, "--json", "--quiet")
    assert (code, err) == (0, "")
    return strict_json(out)


# --- bounds ---------------------------------------------------------------------------------------


def test_bounds_of_two_arms_are_those_of_hand_calculation(cli, tmp_path):
    """Gap 2 in units of the scale: T* = 8/gap^2 = 2, kl(0.1, 0.9) = 0.8 log 9."""
    (tmp_path / "two.csv").write_text("arm,pain\nA,7\nB,1\n")
    found = quiet_json(cli, "bounds", "two.csv", "--scale", "3", "--minimize", "pain")
    assert found["optimal"] == [False, True]
    assert found["gaps"] == [2.0, 2.0]
    assert found["omega"] == [-2.0, 2.0]
    assert found["characteristic_time"]["time"] == pytest.approx(2, rel=1e-6)
    assert found["characteristic_time"]["weights"] == pytest.approx([0.5, 0.5], abs=1e-4)
    samples = {name: each["samples"] for name, each in found["bounds"].items()}
    assert samples["characteristic"] == pytest.approx(2 * 0.8 * math.log(9), rel=1e-6)
    theorem = 2 * 88 / 4 * math.log(2 * 2 / 0.1 * math.log(12 * math.e / 2))
    assert samples["theorem_1"] == pytest.approx(theorem, rel=1e-12)
    bandit = pt.GaussianBandit([[7.0], [1.0]], 3.0)
    times = pt.simulate(bandit, replications=50, seed=1).stopping_time
    assert (
        samples["lower_bound"] < samples["characteristic"] < times.mean() < samples["sharp_bound"]
    )


def test_bounds_write_the_same_numbers_to_every_kind_of_file(cli, doses):
    words = ["bounds", "doses.csv", "--scale", "1,2", "--k", "1", "--eps1", "0.5,0.25"]
    found = quiet_json(cli, *words, "--out", "b.json")
    assert json.loads(doses.with_name("b.json").read_text()) == found
    text = cli(*words, "--out", "b.nc")[1]
    assert "AtMost(k=1, eps1=(0.5, 0.25))" in text
    with xr.open_dataset(doses.with_name("b.nc"), engine="h5netcdf") as data:
        assert data.gaps.values.tolist() == found["gaps"]
        assert float(data.sharp_bound) == found["bounds"]["sharp_bound"]["samples"]
        assert data.sharp_bound.attrs["holds"] == found["bounds"]["sharp_bound"]["holds"]
    cli(*words, "--out", "b.csv")
    rows = {(r["quantity"], r["arm"]): float(r["value"]) for r in table(doses.with_name("b.csv"))}
    assert [rows["gaps", arm] for arm in found["arms"]] == found["gaps"]
    assert rows["theorem_1", ""] == found["bounds"]["theorem_1"]["samples"]
    # In units of the scales the means are (0, 0), (4, 1), (3, 4.5): "high" leads "low" by 3.5.
    assert found["omega"] == [-3.0, 1.0, 3.5]
    assert found["omega_k"] == 3.5


def test_less_is_better_means_the_negated_numbers(cli, doses, tmp_path):
    (tmp_path / "less.csv").write_text("arm,efficacy,ease\nplacebo,0,0\nlow,4,-2\nhigh,3,-9\n")
    given = quiet_json(cli, "bounds", "doses.csv", "--scale", "1,2", "--minimize", "ease")
    negated = quiet_json(cli, "bounds", "less.csv", "--scale", "1,2")
    upright = quiet_json(cli, "bounds", "doses.csv", "--scale", "1,2")
    for what in ("optimal", "gaps", "omega", "characteristic_time", "bounds"):
        assert given[what] == negated[what]
        assert given[what] != upright[what]


def test_bounds_say_only_what_is_proved(cli, doses, tmp_path):
    (tmp_path / "coins.csv").write_text("arm,a\nA,0.5\nB,0.25\n")
    coins = quiet_json(cli, "bounds", "coins.csv", "--kind", "bernoulli")
    time = theory.characteristic_time([[0.5], [0.25]], outcomes="bernoulli")
    assert coins["characteristic_time"]["time"] == time.time
    assert set(coins["bounds"]) == {"sharp_bound", "theorem_1", "expected_lucb1", "characteristic"}
    assert "Bernoulli arms" in coins["bounds"]["characteristic"]["holds"]
    slack = quiet_json(cli, "bounds", "doses.csv", "--scale", "1", "--eps1", "0.1")
    assert list(slack["bounds"]) == [
        "sharp_bound_pairs", "theorem_1", "expected_lucb1", "sharp_bound",
    ]  # fmt: skip
    (tmp_path / "c.toml").write_text(
        "means = [[1.0, 0], [0, 1.0]]\ncovariance = [[1, 0.5], [0.5, 1]]"
    )
    correlated = quiet_json(cli, "bounds", "c.toml")
    assert correlated["characteristic_time"] is None  # T* is about independent objectives
    heuristic = quiet_json(cli, "bounds", "--radius", "kaufmann-koolen:union=none")
    assert heuristic["guarantee"] == "heuristic"
    assert heuristic["bounds"]["sharp_bound"]["proved"] is False


def test_the_first_bound_that_is_shown_says_something(cli):
    """With 20 arms union='claims' leaves nothing of 1 - delta, and union='pairs' all of it."""
    words = cli("bounds", "covboost", "--k", "2")[1]
    rows = words[words.index("samples\n") :].splitlines()
    assert rows[1].startswith("APE, at most (sharp, union='pairs')")
    assert rows[5].startswith("APE, if all intervals hold (sharp)")
    assert "none is proved here" in " ".join(words.split())
    assert "leaves 0" not in words


def test_a_tie_is_infinite_in_words_and_null_in_json(cli, tmp_path):
    (tmp_path / "tie.csv").write_text("arm,a,b\nA,1,2\nB,1,2\n")
    words = ["bounds", "tie.csv", "--scale", "1"]
    assert quiet_json(cli, *words)["bounds"]["sharp_bound"]["samples"] is None
    text = cli(*words)[1]
    assert "infinite" in text
    assert "--eps1" in text


# --- simulate -------------------------------------------------------------------------------------


def test_simulate_is_the_library_s_simulate(cli, doses):
    found = quiet_json(
        cli, "simulate", "doses.csv", "--scale", "1,2", "--minimize", "ease", "--k", "1",
        "--eps2", "0.5,1", "--eps1", "0.25", "--radius", "unknown-scale:rho=10", "--delta", "0.2",
        "-n", "20", "--seed", "3",
    )  # fmt: skip
    bandit = pt.read_instance(doses, scale=[1, 2], minimize=["ease"])
    goals = [pt.ParetoSet(0.25), pt.AtMost(1, 0.25), pt.Cover(0.25, [0.5, 1.0])]
    runs = pt.simulate(
        bandit, goals, radius=pt.UnknownScale(rho=10), delta=0.2, replications=20, seed=3
    )
    assert [each["goal"] for each in found["results"]] == list(map(str, goals))
    for g, each in enumerate(found["results"]):
        time = runs.stopping_time[g].values
        assert each["mean_samples"] == time.mean()
        assert each["standard_error"] == pytest.approx(time.std(ddof=1) / math.sqrt(20))
        assert each["quantiles"]["0.5"] == np.median(time)
        assert each["guarantee"] == "proved"
        shares = runs.answer[g].mean("replication").values
        assert each["returned"] == {a: s for a, s in zip(bandit.arms, shares, strict=True) if s > 0}
        assert sum(each["mean_pulls"].values()) == pytest.approx(each["mean_samples"])


def test_simulate_fits_a_narrow_terminal_and_cuts_nothing(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    long = "an arm whose name is longer than the terminal"
    (tmp_path / "x.csv").write_text(f"arm,a,b\n{long},1e3,0\nB,0,1e3\n")
    words = ["simulate", "x.csv", "--scale", "1", "-n", "10000", "--goal",
             "cover:eps1=(0.123456, 0.123457),eps2=(0.123456, 0.123457)", "--quiet"]  # fmt: skip
    for more in ([], ["--radius", "mixture", "--radius", "unknown-scale:rho=12345.678"]):
        code, out, _ = cli(*words, *more)
        assert code == 0
        assert max(map(len, out.splitlines())) <= 40
        flat = " ".join(out.split())
        assert "Cover(eps1=(0.123456, 0.123457), eps2=(0.123456, 0.123457))" in flat
        assert "10,000" in flat
        assert more or long in flat


def test_simulate_compares_radii_and_deltas_and_writes_them(cli, doses):
    words = ["simulate", "doses.csv", "--scale", "1", "--radius", "mixture", "--radius",
             "kaufmann-koolen:calibration=approximate,union=none", "--delta", "0.1", "--delta",
             "0.01", "-n", "3", "-q"]  # fmt: skip
    code, text, err = cli(*words, "--out", "runs.csv")
    assert (code, err) == (0, "")
    assert "heuristic" in text
    rows = table(doses.with_name("runs.csv"))
    assert len(rows) == 2 * 2 * 3
    for row in rows:
        assert int(row["stopping_time"]) == sum(int(v) for k, v in row.items() if "pulls" in k)
        assert row["correct"] == "True"
        assert row["answer"] == "low; high"
    cli(*words, "--out", "runs.nc")
    with xr.open_dataset(doses.with_name("runs.nc"), engine="h5netcdf") as data:
        assert dict(data.stopping_time.sizes) == {
            "radius": 2,
            "delta": 2,
            "goal": 1,
            "replication": 3,
        }
        assert data.guarantee.values.tolist() == ["proved", "heuristic"]
        assert data.stopping_time.values.ravel().tolist() == [int(r["stopping_time"]) for r in rows]


def test_simulate_tells_how_far_it_is_on_stderr(cli, doses):
    code, _, err = cli("simulate", "doses.csv", "--scale", "1", "-n", "4")
    assert code == 0
    assert err.startswith("paretoid: 4/4 runs")


def test_a_budget_that_ran_out_is_no_error_and_no_answer(cli):
    words = ["simulate", "covboost", "--max-samples", "100", "-n", "4"]
    (found,) = quiet_json(cli, *words)["results"]
    assert (found["censored"], found["wrong"], found["returned"]) == (4, 0, {})
    text = cli(*words)[1]
    assert ">= 100 +- 0 on average" in text
    assert "censored 4 of 4" in text


def test_a_store_is_continued_by_the_same_command(cli, doses):
    words = ["simulate", "doses.csv", "--scale", "1", "--store", "kept"]
    cli(*words, "-n", "2")
    before = {path: path.stat().st_mtime_ns for path in (doses.parent / "kept/chunks").iterdir()}
    stored = quiet_json(cli, *words, "-n", "5")
    assert before
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    assert stored == quiet_json(cli, *words[:-2], "-n", "5")
    code, out, err = cli(*words, "-n", "5", "--seed", "2")
    assert (code, out) == (2, "")
    assert "holds another campaign: seed is 1 there, 2 here" in err


def test_an_unreachable_scheduler_is_a_sentence(cli, monkeypatch):
    monkeypatch.setattr("paretoid.runs.dask_cluster._PATIENCE", 1.1)
    code, out, err = cli("simulate", "--scheduler", "tcp://127.0.0.1:1")
    assert (code, out) == (2, "")
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:1'" in err
    assert "Traceback" not in err
    code, _, err = cli("simulate", "--scheduler", "x", "--threads", "2")
    assert code == 2
    assert "give one" in err


def test_threads_change_no_number(cli, doses):
    words = ["simulate", "doses.csv", "--scale", "1", "-n", "40", "--quiet"]
    assert cli(*words, "--threads", "1") == cli(*words, "--threads", "3") == cli(*words)


@pytest.mark.parametrize(
    "thing",
    [
        pt.Mixture(rho=100.0, union="pairs"), pt.UnknownScale(), pt.LUCB1Like(), pt.ArmMixture(),
        pt.KaufmannKoolen("approximate", union="none"), pt.IteratedLogarithm(),
    ],
)  # fmt: skip
def test_a_radius_is_understood_as_results_print_it(thing):
    assert members.radius(repr(thing)) == thing
    assert members.radius(type(thing).__name__.lower()) == type(thing)()


@pytest.mark.parametrize(
    "thing", [pt.ParetoSet((0.1, 0.2)), pt.AtMost(2, 0.5), pt.Cover((0.0, 1.0), 0.25)]
)
def test_a_goal_is_understood_as_results_print_it(thing):
    assert members.goals([str(thing)], None, "0", None) == [thing]
    assert members.goals([repr(thing)], None, "9", None) == [thing]  # --eps1 fills in, no more


def test_rules_are_understood_in_any_spelling():
    assert members.rule("ape:pull=both") == pt.APE(pull="both")
    assert members.rule("APE(pull='less sampled')") == pt.APE()
    assert members.rule("uniform-elimination") == pt.UniformElimination()
    assert members.rule("LUCBpp") == pt.LUCBpp()


# --- datasets -------------------------------------------------------------------------------------


def test_datasets_lists_everything_that_ships(cli):
    found = quiet_json(cli, "datasets")
    assert set(found["instance"]) == set(pt.INSTANCES)
    assert set(found["trial"]) == set(estimation.TRIALS)
    for kind in found.values():
        for each in kind.values():
            assert each["source"]
            assert len(each["arms"]) >= 2
    text = cli("datasets")[1]
    for name in (*pt.INSTANCES, *estimation.TRIALS):
        assert name in text


def test_a_trial_that_is_written_is_the_trial_that_is_read(cli, tmp_path):
    for name in estimation.TRIALS:
        code, text, _ = cli("datasets", name, "--kind", "trial", "--out", "t.csv", "--force")
        assert code == 0
        ours, again = load_trial(name), TrialSummary.read_csv(tmp_path / "t.csv")
        assert (again.arms, again.endpoints, again.scales) == (
            ours.arms,
            ours.endpoints,
            ours.scales,
        )
        for what in ("mean", "sd", "n", "lower", "upper"):
            expected = getattr(ours, what)
            assert np.array_equal(getattr(again, what), expected, equal_nan=True)
        assert f"{ours.reported[0, 0]:.10g}" in text


def test_an_instance_that_is_written_is_the_instance_that_is_read(cli, tmp_path):
    code, text, err = cli("datasets", "covboost-printed", "--out", "mine.toml")
    assert (code, err) == (0, "paretoid: wrote mine.toml\n")
    ours, again = pt.load_instance("covboost-printed"), pt.load_instance(tmp_path / "mine.toml")
    assert np.array_equal(again.means, ours.means)
    assert np.array_equal(again.scale, ours.scale)
    assert ours.arms[3] in text
    shown = quiet_json(cli, "datasets", "covboost-printed")["instance"]["covboost-printed"]
    assert shown["means"] == ours.means.tolist()


# --- fit and plan ---------------------------------------------------------------------------------


def test_fit_prints_the_posterior_with_its_diagnostics(cli, saved, monkeypatch):
    trial = load_trial("comcov2")
    code, out, err = cli("fit", "comcov2", "--json", "--quiet")
    assert (code, err) == (0, "")
    found = json.loads(out)
    mu, sigma = saved["posterior"]["mu"].values, saved["posterior"]["sigma"].values
    for cell, (i, d) in zip(found["cells"], np.ndindex(*trial.mean.shape), strict=True):
        assert (cell["arm"], cell["endpoint"]) == (trial.arms[i], trial.endpoints[d])
        draws = np.exp(mu[:, :, i, d])
        assert cell["reported"] == trial.reported[i, d]
        assert cell["lower"] == pytest.approx(np.quantile(draws, 0.025), rel=1e-3)
        assert cell["upper"] == pytest.approx(np.quantile(draws, 0.975), rel=1e-3)
        assert cell["sigma"] == pytest.approx(sigma[:, :, i, d].mean())
    fared = found["diagnostics"]
    assert fared["divergent transitions"] == 0
    assert 0.99 < fared["largest r_hat"] < 1.01  # independent draws
    assert 1000 < fared["smallest effective size"] < 3000  # of 2,000
    monkeypatch.setenv("COLUMNS", "40")
    text = cli("fit", "comcov2")[1]
    assert max(map(len, text.splitlines())) <= 40
    assert "95% interval" in text
    assert "No problems." in text
    # Means 0.05 apart from nothing but their own kind: no prior of these widths moves them.
    by_prior = found["prior_sensitivity"]
    assert list(by_prior["priors"]) == ["tighter", "as fitted", "wider"]
    assert [prior["method"] for prior in by_prior["priors"].values()] == [
        "reweighted", "as fitted", "reweighted",
    ]  # fmt: skip
    assert by_prior["arms_that_change"] == []
    assert "The same arms are optimal" in " ".join(text.split())


def test_a_plan_starts_from_a_saved_fit(cli, saved, tmp_path, monkeypatch):
    code, _, err = cli("fit", "comcov2", "--out", "fit.nc")
    assert code == 0
    assert err.endswith("paretoid: wrote fit.nc\n")

    def never(*_, **__):
        raise AssertionError("the fit is there already")

    monkeypatch.setattr(estimation, "fit", never)
    words = ["plan", "fit.nc", "--draws", "4", "--max-samples", "300"]
    found = quiet_json(cli, *words)
    assert found["arms"] == list(load_trial("comcov2").arms)
    assert list(found["goals"]) == [
        "ParetoSet(eps1=(0.4054651081081644, 0.4054651081081644, 0.4054651081081644))",
        "AtMost(k=2, eps1=(0.4054651081081644, 0.4054651081081644, 0.4054651081081644))",
    ]
    code, out, err = cli(*words, "--endpoints", "IgG")
    assert (code, out) == (2, "")
    assert "they belong to `paretoid fit`" in err


def test_a_table_of_the_fit_can_be_written(cli, saved, tmp_path):
    cli("fit", "comcov2", "--out", "fit.csv")
    rows = table(tmp_path / "fit.csv")
    assert len(rows) == 18
    assert float(rows[0]["reported"]) == 1959
    assert float(rows[0]["lower"]) < 1959 < float(rows[0]["upper"])


# --- certify and reproduce ------------------------------------------------------------------------


def test_certify_tells_what_was_done_and_fails_with_code_1(cli, tmp_path, monkeypatch):
    from paretoid.validation import battery

    shipped = json.loads(Path(battery.__file__).with_name("certificate.json").read_text())
    parts = ("pathwise", "errors", "sequential", "coverages", "participants", "mutants", "bounds")
    for part in parts:  # what they find is tested where they are
        kept = shipped[{"sequential": "sequential_tests", "coverages": "coverage"}.get(part, part)]
        monkeypatch.setattr(battery, f"_{part}", lambda *_, kept=kept: kept)
    code, out, err = cli("certify", "--quick", "--json", "--out", "new/folder", "--seed", "3")
    found = json.loads(out)
    assert (code, found["holds"], found["seed"]) == (0, True, 3)
    assert json.loads((tmp_path / "new/folder/certificate.json").read_text()) == found
    assert (tmp_path / "new/folder/CERTIFICATE.md").is_file()
    assert err.startswith("paretoid: 1/7: pathwise\n")  # progress
    assert len(err.splitlines()) == 8
    broken = {**found, "holds": False, "regressions": ["coverage: too small."]}
    monkeypatch.setattr(battery, "certify", lambda *_: broken)
    code, out, err = cli("certify", "--quick", "--quiet")
    assert (code, err) == (1, "")
    assert out.startswith("a guarantee was refuted\nREGRESSED coverage: too small.\n")
    assert not list(tmp_path.glob("*.json"))  # no files unless asked for


def test_reproduce_keeps_progress_off_stdout(cli, tmp_path, monkeypatch):
    assert set(quiet_json(cli, "reproduce")) >= {"table1", "covboost"}
    words = ["reproduce", "slow-elimination", "--replications", "2", "--out", "here"]
    code, out, err = cli(*words, "--json")
    found = json.loads(out)
    assert (code, found["runs"]) == (0, 2)
    assert (tmp_path / found["csv"]).is_file()
    assert "slow-elimination 1/4" in err
    monkeypatch.setenv("COLUMNS", "40")
    code, out, err = cli(*words, "--quiet")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 40
    means = [row["mean"] for row in found["rows"] if row["shown"]]
    assert all(f"{mean:,.0f}" in out or f"{mean:.3g}" in out for mean in means)


def test_a_trial_without_outcomes_has_null_for_means(cli, tmp_path):
    (tmp_path / "d.toml").write_text('arms = ["A", "B"]\nobjectives = ["x"]\n')
    assert cli("trial", "new", "d.toml", "t.db")[0] == 0
    code, out, err = cli("trial", "status", "t.db", "--json")
    assert (code, err) == (0, "")
    assert strict_json(out)["head"]
    assert "null" in out
