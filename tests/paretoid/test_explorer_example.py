"""The example trial runs, answers rightly and plots; the benchmark of batches prints a table."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import paretoid as pt
from paretoid.validation.benchmarks import batching

ROOT = Path(__file__).parents[2]


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def example():
    path = ROOT / "examples" / "live_trial.py"
    spec = importlib.util.spec_from_file_location("live_trial", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_two_site_trial_finds_the_two_best_boosters(example, tmp_path, capsys):
    example.main([str(tmp_path / "intervals.png")])
    printed = capsys.readouterr().out
    assert "all optimal arms: m1273, ChAd" in printed
    assert "log verified up to" in printed
    assert (tmp_path / "intervals.png").read_bytes().startswith(b"\x89PNG")


def test_intervals_of_the_example_hold_the_truth_and_close_at_their_own_pace(example, tmp_path):
    weeks, explorer = example.run(tmp_path, seed=2)
    with explorer:
        authors = {row[2] for row in explorer.rows()}
        times = [row[1] for row in explorer.rows()]
    assert authors == {"north", "south"}
    assert times == sorted(times)
    truth = np.array(list(example.BOOSTERS.values()))
    difference = truth[:, None] - truth[None]
    first = {}
    for day, status in weeks:
        assert (status.lower <= difference + 1e-12).all()  # the diagonal is 0 up to rounding
        assert (difference - 1e-12 <= status.upper).all()
        for d, name in enumerate(example.OBJECTIVES):
            if np.isfinite(status.lower[:, :, d]).all():
                first.setdefault(name, day)
    assert first["IgG"] + 14 <= first["T cell"]


def test_the_benchmark_of_batches_prints_a_row_for_each_size(monkeypatch):
    monkeypatch.setattr(batching, "GOALS", [pt.AtMost(1)])
    samples = batching.measure([20, 100], 2)
    assert samples.shape == (2, 2, 1)
    assert (samples[0] % 20 == 0).all()
    assert (samples[1] % 100 == 0).all()
    lines = batching.table([20, 100], samples).splitlines()
    assert [line.split()[0] for line in lines] == ["n", "20", "100"]
