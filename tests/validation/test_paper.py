"""The paper's experiments: files, tables, verdicts, instances, interruption and bad input."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from rich.console import Console

import paretoid as pt
from paretoid import theory
from paretoid.theory.dominance import pareto_set
from paretoid.validation.paper import (
    EXPERIMENTS,
    best_arm,
    large,
    reproduce,
    setting,
    slow_elimination,
    statistics,
)
from paretoid.validation.paper.elimination_variants import PAIRS, eliminate, level
from paretoid.validation.paper.report import show, write_rows
from paretoid.validation.paper.store import Part, ResultFiles


def quiet():
    return Console(file=io.StringIO(), width=200)


@pytest.fixture
def small_large(monkeypatch):
    """K = 1000 takes most of a minute; the code is the same for K = 20."""
    monkeypatch.setattr(large, "K", 20)
    monkeypatch.setattr(large, "D", 3)


# --- whole experiments ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name != "table1")) for name in EXPERIMENTS],
)
def test_every_experiment_writes_raw_results_a_table_and_a_picture(name, tmp_path, small_large):
    screen = quiet()
    done = reproduce(name, replications=2, out=tmp_path, seed=3, console=screen)
    assert done.netcdf.name == f"{name}-2-seed3.nc"
    for part, data in done.data.items():
        group = "".join(c if c.isalnum() or c in "+-=." else "_" for c in part)
        with xr.open_dataset(done.netcdf, group=group, engine="h5netcdf") as stored:
            assert (stored["stopping_time"].values == data["stopping_time"].values).all()
            assert stored.attrs["guarantee"] == data.attrs["guarantee"]
    with done.csv.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(done.rows) > 3
    assert {"mean", "median", "low", "high", "error_low", "paper", "verdict"} <= set(lines[0])
    assert {line["verdict"] for line in lines} <= {"agrees", "differs", "no figure"}
    assert done.picture.read_bytes()[:4] == b"\x89PNG"
    assert not (tmp_path / f"{name}-2-seed3.parts").exists()
    shown = screen.file.getvalue()
    assert name in shown
    assert str(done.csv) in shown
    for line in done.rows:
        assert math.isfinite(line.mean)
        if line.low is not None:
            assert line.low <= line.mean + 1e-9
        assert line.verdict == "no figure" or line.paper is not None


def test_experiments_have_the_size_of_the_paper():
    sizes = {
        name: __import__(
            f"paretoid.validation.paper.{name.replace('-', '_')}", fromlist=["FULL"]
        ).FULL
        for name in EXPERIMENTS
    }
    assert sizes == {
        "table1": 2000, "covboost": 2000, "cover-random": 2000, "cover-fixed": 2000,
        "slow-elimination": 2000, "k-elimination": 2000, "best-arm": 1000, "large": 1,
    }  # fmt: skip


@pytest.mark.slow
def test_algorithms_compared_share_their_instances_and_seeds(tmp_path):
    done = reproduce("table1", replications=3, out=tmp_path, console=quiet())
    means = setting.random_means(3, 5, 2, 1)
    bandits = [pt.BernoulliBandit(m) for m in means]
    again = pt.simulate(
        bandits, pt.ParetoSet(0.005), rule=pt.UniformElimination(), radius=setting.RADIUS, seed=1
    )
    stored = done.data["D=2 PSI-Unif-Elim"]
    assert (stored["stopping_time"].values == again["stopping_time"].values).all()
    per_instance = next(r for r in done.rows if r.what == "ratio per instance")
    ape = setting.flat(done.data["D=2 APE"], "stopping_time", 4)
    expected = ape / setting.flat(stored, "stopping_time")
    assert per_instance.mean == pytest.approx(expected.mean(), rel=1e-12)
    ratio_of_means = next(r for r in done.rows if r.what == "ratio of means")
    assert ratio_of_means.mean == pytest.approx(
        ape.sum() / setting.flat(stored, "stopping_time").sum(), rel=1e-12
    )


# --- interruption and continuation ----------------------------------------------------------------


def interrupted_parts(parts, stop_at, ran):
    def make(i, part):
        def run():
            if i == stop_at:
                raise KeyboardInterrupt
            ran.append(part.name)
            return part.run()

        return Part(part.name, run)

    return [make(i, part) for i, part in enumerate(parts)]


@pytest.mark.slow
def test_an_interrupted_run_keeps_what_is_finished_and_continues(tmp_path, monkeypatch):
    original, ran = slow_elimination.parts, []

    def attempt(folder, stop_at=None, screen=None):
        """Run with a Ctrl-C in part number `stop_at`."""
        ran.clear()
        parts = lambda n, s: interrupted_parts(original(n, s), stop_at, ran)  # noqa: E731
        monkeypatch.setattr(slow_elimination, "parts", parts)
        return reproduce("slow-elimination", replications=1, out=folder, console=screen or quiet())

    whole = attempt(tmp_path / "whole")
    screen = quiet()
    with pytest.raises(KeyboardInterrupt, match=r"2 of 4 configurations are kept.*continues there"):
        attempt(tmp_path, 2, screen)
    assert len(list((tmp_path / "slow-elimination-1-seed1.parts").glob("*.nc"))) == 2
    assert not (tmp_path / "slow-elimination-1-seed1.nc").exists()

    done = attempt(tmp_path)
    assert ran == ["K=12, D=10 APE", "K=12, D=10 PSI-Unif-Elim"]
    assert done.rows == whole.rows

    again = attempt(tmp_path, 0)  # nothing is left to interrupt: all is on disk
    assert ran == []
    assert again.rows == whole.rows


def test_a_half_written_or_outdated_part_is_computed_again(tmp_path):
    store = ResultFiles(tmp_path, "x")
    data = xr.Dataset({"a": ("run", np.arange(3))}, attrs={"paretoid": pt.__version__})
    assert store.load("p") is None
    store.save("p", data)
    assert store.load("p") is not None
    (store.pending / "p.nc").write_bytes(b"cut short")
    assert store.load("p") is None
    store.save("p", data.assign_attrs(paretoid="0.0.0"))
    assert store.load("p") is None


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "tabel1"}, "no experiment 'tabel1'; did you mean 'table1'"),
        ({"name": "cover"}, "did you mean 'cover-"),
        ({"name": "zzzzzz"}, "There are: table1, covboost"),
        ({"name": "table1", "replications": 0}, "replications=0.*nothing would be run"),
        ({"name": "table1", "replications": 2.5}, "replications=2.5"),
        ({"name": "table1", "seed": -1}, "seed=-1"),
    ],
)
def test_bad_arguments_are_refused_with_a_sentence(arguments, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        reproduce(out=tmp_path, console=quiet(), **arguments)
    assert not list(tmp_path.iterdir())


def test_an_output_directory_that_is_a_file_is_refused(tmp_path):
    file = tmp_path / "results"
    file.write_text("mine")
    with pytest.raises(ValueError, match="is a file, and results need a directory"):
        reproduce("best-arm", out=file, console=quiet())
    with pytest.raises(ValueError, match="cannot be created"):
        reproduce("best-arm", out=file / "below", console=quiet())
    assert file.read_text() == "mine"


# --- statistics -----------------------------------------------------------------------------------


def test_a_true_figure_agrees_about_nineteen_times_in_twenty():
    # 200 pairs of samples from one law: 190 agreements are expected; fewer than 175 or all 200
    # would come about once in 10^3 to 10^4 seeds. Skewed like samples are: exponential.
    rng = np.random.default_rng(5)
    agree = 0
    for _ in range(200):
        ours, theirs = rng.exponential(size=(80, 1)), rng.exponential(size=300).mean()
        agree += statistics.compare(ours, statistics.mean, float(theirs), 300) == "agrees"
    assert 175 < agree < 200


def test_the_papers_own_noise_widens_the_interval():
    values = np.random.default_rng(1).normal(10.0, 3.0, (400, 1))
    narrow = statistics.predicted(values, statistics.mean, 10**4)
    wide = statistics.predicted(values, statistics.mean, 50)
    # standard errors: 0.15 from ours alone; sqrt(0.15^2 + 0.42^2) = 0.45 with the paper's
    assert (narrow[1] - narrow[0]) == pytest.approx(4 * 0.15, rel=0.15)
    assert (wide[1] - wide[0]) == pytest.approx(4 * 0.45, rel=0.15)


def test_errors_are_counted_among_runs_that_stopped():
    line = statistics.row(
        "", "", "", np.arange(5.0), correct=[True, False, False, True, False],
        stopped=[True, True, False, True, False],
    )  # fmt: skip
    assert (line.errors, line.stopped, line.censored) == (1, 3, 0.4)
    assert line.error_rate == pytest.approx(1 / 3)
    assert (line.mean, line.median) == (2.0, 2.0)
    assert line.low < 2.0 < line.high


def test_a_ratio_of_means_is_resampled_in_pairs():
    # the second column is twice the first: every resample has the ratio one half exactly
    x = np.random.default_rng(2).exponential(size=100)
    line = statistics.row(
        "", "", "", np.stack([x, 2 * x], axis=1), statistic=statistics.ratio, paper=0.5
    )
    assert (line.low, line.high, line.verdict) == (0.5, 0.5, "agrees")
    assert line.median is None


def test_a_figure_for_another_instance_is_shown_but_not_judged():
    line = statistics.row("", "", "", [1.0, 2.0], paper=9.0, judged=False)
    assert (line.paper, line.verdict) == (9.0, "no figure")


def test_one_run_has_no_interval_and_no_verdict():
    line = statistics.row("", "", "", [3.0], paper=3.0)
    assert (line.mean, line.median, line.low, line.median_high) == (3.0, 3.0, None, None)
    assert line.verdict == "no figure"


def test_a_row_without_values_says_so():
    assert statistics.row("", "", "", []).note == "no run stopped"


def test_the_table_hides_rows_that_are_only_for_the_file(tmp_path):
    line = statistics.row("here", "", "", [1.0, 2.0])
    hidden = replace(line, setting="there", shown=False)
    shown = show([line, hidden], "t")
    assert "here" in shown
    assert "there" not in shown
    text = write_rows([line, hidden], tmp_path / "t.csv").read_text()
    assert "there" in text


# --- instances ------------------------------------------------------------------------------------


def test_the_cover_instance_fits_the_text():
    means = setting.cover_bandit().means
    assert np.allclose(np.abs(means[1] - means[0]), 0.1)
    assert np.allclose(np.abs(means[2] - means[1]), 0.05)
    assert pareto_set(means).tolist() == [True, True, True, False, False]
    assert int(np.argmax(theory.omega(means))) == 0


def test_the_slow_instance_fits_the_text():
    means = setting.slow_bandit().means
    margin = (means - means[1]).min(axis=1)  # by how much each arm dominates arm 1
    assert pareto_set(means).tolist() == [True, False, True, True, False]
    assert 0 < margin[2] < margin[3]  # arm 2 slightly, arm 3 more so
    assert theory.gaps(means)[1] == pytest.approx(margin[3])
    assert np.argmax(theory.omega(means)) in (0, 2)  # the easy optimal arms
    assert int(pareto_set(setting.slow_bandit_12().means).sum()) == 11
    assert setting.slow_bandit_12().means.shape == (12, 10)


def test_the_printed_h_is_possible_within_rounding():
    # by hand for K = 3: gaps 0.2, 0.2, 0.5 give 12.5 + 12.5 + 2
    assert best_arm.complexity(np.array([0.5, 0.3, 0.0])) == pytest.approx(27.0)
    for means, printed in best_arm.INSTANCES.values():
        low, high = best_arm.complexity_range(np.array(means))
        assert low < best_arm.complexity(np.array(means)) < high
        assert low < printed < high


def test_random_instances_do_not_depend_on_how_many_are_drawn():
    assert (setting.random_means(2, 5, 4, 7) == setting.random_means(5, 5, 4, 7)[:2]).all()
    assert (setting.random_means(2, 5, 4, 7) != setting.random_means(2, 5, 4, 8)).all()
    # for D = 2 the expected number of optimal arms is the harmonic number H_5 = 2.2833;
    # 20,000 instances: standard error 0.007, so a deviation of 0.035 comes once in 10^6 seeds
    sizes = setting.pareto_sizes(setting.random_means(20_000, 5, 2, 1))
    assert abs(sizes.mean() - 137 / 60) < 0.035


def test_the_spelled_out_elimination_is_the_engines():
    # Two implementations, different random numbers: means of 400 runs differ by less than five
    # standard errors, which fails once in 10^6 seeds.
    import numba

    compiled = numba.njit(eliminate)
    bandit = pt.BernoulliBandit([[0.2, 0.8], [0.7, 0.35], [0.6, 0.3], [0.1, 0.5]])
    runs = pt.simulate(
        bandit, pt.ParetoSet(0.02), rule=pt.UniformElimination(), radius=setting.RADIUS,
        replications=400, seed=1,
    )  # fmt: skip
    ours = setting.flat(runs, "stopping_time")
    rng, pulls = np.random.default_rng(1), np.zeros(4)
    theirs = np.array(
        [compiled(bandit.means, 0.02, level(1), PAIRS, 0.02, True, rng, pulls) for _ in range(400)]
    )
    assert pulls.sum() == theirs.sum()
    error = math.sqrt(ours.var() / 400 + theirs.var() / 400)
    assert abs(ours.mean() - theirs.mean()) < 5 * error
