"""The report of a campaign: its numbers against the Dataset, read a block at a time."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from xarray.backends import BackendArray
from xarray.core import indexing

import paretoid as pt
from paretoid import theory
from paretoid.cli import main
from paretoid.report import campaign_report, read_store
from paretoid.report.stored import as_dict
from paretoid.summaries import summaries


@pytest.fixture(scope="module")
def stored(nasty_store):
    return read_store(nasty_store)


def test_every_setting_is_summarised_as_a_plain_reading_says(nasty_store, stored):
    runs = pt.open_campaign(nasty_store).load()
    assert len(stored.settings) == 2 * 3 * 2 * 3
    censored = 0
    for each, _ in stored.settings:
        i, q, d, g = each.at
        one = runs.isel(instance=i, radius=q, delta=d, goal=g)
        time, stopped = one.stopping_time.values.astype(float), one.stopped.values
        assert each.runs == 30
        assert each.censored == (~stopped).sum()
        assert each.wrong == (stopped & ~one.correct.values).sum()
        assert each.mean[0] == pytest.approx(time.mean())
        if time.std() > 0:
            ends = stats.t.interval(0.95, 29, loc=time.mean(), scale=stats.sem(time))
            assert each.mean[1:] == pytest.approx(ends)
        # Ranks 10 and 21 of 30: P(Binomial(30, 1/2) <= 9) = 2.1%, P(<= 10) = 4.9%.
        ordered = np.sort(np.where(stopped, time, np.inf))
        assert each.median == (ordered[14], ordered[9], ordered[20])
        if each.wrong == 0:
            assert each.error == (0.0, 0.0, pytest.approx(1 - 0.025 ** (1 / 30)))
        assert np.array_equal(each.returned, one.answer.values.sum(axis=0))
        assert each.pulls == pytest.approx(one.pulls.values.mean(axis=0))
        assert each.pulls_error == pytest.approx(stats.sem(one.pulls.values, axis=0))
        answers = Counter(tuple(row) for row in one.answer.values[stopped].tolist())
        assert dict(each.answers) == dict(answers)
        often = [n for _, n in each.answers]
        assert often == sorted(often, reverse=True)
        censored += each.censored
    assert censored > 0  # or the test above saw none


class Counted(BackendArray):
    """An array made when it is asked for, which remembers the largest piece."""

    largest = 0

    def __init__(self, shape, dtype, make):
        self.shape, self.dtype, self.make = shape, np.dtype(dtype), make

    def __getitem__(self, key):
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.BASIC, self._read
        )

    def _read(self, key):
        where = [
            np.arange(size)[one] if isinstance(one, slice) else np.array([one])
            for one, size in zip(key, self.shape, strict=True)
        ]
        values = self.make(*np.ix_(*where))
        values = np.broadcast_to(values, [len(each) for each in where]).astype(self.dtype)
        Counted.largest = max(Counted.largest, values.size)
        kept = [len(w) for w, k in zip(where, key, strict=True) if isinstance(k, slice)]
        return values.reshape(kept)


def test_a_long_campaign_is_read_in_blocks_and_nothing_is_lost_between_them():
    R, K = 100_003, 24  # 2.4 million pulls; no multiple of any block
    shape = (1, 1, 1, 1, R)
    Counted.largest = 0

    def lazy(dtype, make, arms=False):
        array = Counted((*shape, K) if arms else shape, dtype, make)
        dims = ("instance", "radius", "delta", "goal", "replication", *(["arm"] if arms else []))
        return dims, indexing.LazilyIndexedArray(array)

    # Run r draws r + a samples of arm a, is wrong if r % 1000 == 3, and returns arm 1 or 2.
    runs = xr.Dataset({
        "stopping_time": lazy(np.int64, lambda i, q, d, g, r: r + 1),
        "stopped": lazy(bool, lambda i, q, d, g, r: r % 10 != 9),
        "correct": lazy(bool, lambda i, q, d, g, r: r % 1000 != 3),
        "answer": lazy(bool, lambda i, q, d, g, r, a: (r % 10 != 9) & (a == 1 + r % 2), True),
        "pulls": lazy(np.int64, lambda i, q, d, g, r, a: r + a, True),
    })  # fmt: skip
    (each,) = summaries(runs)
    assert Counted.largest <= (1 << 14) * K
    assert each.runs == R
    assert each.censored == 10_000
    assert each.wrong == 100  # 3, 1003, ..., 99003
    assert each.mean[0] == pytest.approx((R + 1) / 2)
    assert each.pulls == pytest.approx((R - 1) / 2 + np.arange(K))
    # The variance of 0..R-1 is (R^2 - 1)/12, with R - 1 for R below it: R (R + 1)/12.
    assert each.pulls_error == pytest.approx(np.full(K, math.sqrt((R + 1) / 12)))
    even = len([r for r in range(R) if r % 10 != 9 and r % 2 == 0])
    assert each.returned.sum() == R - 10_000
    assert each.returned[1] == even
    assert sum(often for _, often in each.answers) == R - 10_000
    assert len(each.answers) == 2


def test_bounds_stand_where_a_theorem_speaks_and_nowhere_else(stored):
    seen = Counter()
    for each, bounds in stored.settings:
        i, q, d, g = each.at
        case, delta = stored.cases[i], (0.1, 0.01)[d]
        means = case["means"] * np.array([1.0, -1.0])
        k = 1 if g == 1 else None
        assert bounds["theorem_1"] == theory.theorem_1(means, delta, 0.0, k, [1.0, 2.0])
        mixture = {0: pt.Mixture(), 2: pt.Mixture(union="none")}.get(q)
        if mixture is None:
            assert "sharp_bound" not in bounds
            assert bounds["expected_lucb1"] == theory.expected_samples_lucb1(
                means, delta, 0.0, k, [1.0, 2.0]
            )
            seen["mean"] += 1
        else:
            assert bounds["sharp_bound"] == theory.sample_bound(
                means, delta, mixture, 0.0, k, [1.0, 2.0]
            )
            assert "expected_lucb1" not in bounds
        if g == 0 and q != 2:  # the whole set, by a method that is delta-correct
            least = theory.characteristic_lower_bound(means, delta, [1.0, 2.0])
            assert bounds["characteristic"] == pytest.approx(least)
            seen["least"] += 1
        else:
            assert "characteristic" not in bounds
    assert seen == {"mean": 12, "least": 8}


def test_json_has_every_setting(stored):
    said = as_dict(stored)
    assert said["seed"] == 7
    assert len(said["settings"]) == 36
    assert {row["guarantee"] for row in said["settings"]} == {"proved", "heuristic"}
    first = said["settings"][0]
    assert first["instance"] == "easy & <u>"
    assert sum(first["mean_pulls"].values()) == pytest.approx(first["mean_samples"][0])


def test_a_broken_promise_is_a_warning(stored, monkeypatch):
    monkeypatch.setattr("paretoid.report.campaign.setting_pictures", lambda *_: [])
    assert "The runs agree with the guarantee" in campaign_report(stored)
    each, limits = stored.settings[0]
    bad = replace(each, wrong=20, error=(20 / 30, 0.47, 0.83))
    html = campaign_report(replace(stored, settings=[(bad, limits), *stored.settings[1:]]))
    assert "The runs agree" not in html
    assert "lies above delta: by chance alone" in html
    heuristic = [(s, b) for s, b in stored.settings if s.at[1] == 2]
    html = campaign_report(replace(stored, settings=heuristic))
    assert "The runs agree" not in html
    assert "The radius is heuristic" in html


def test_the_headline_pools_no_settings_that_share_samples(stored, monkeypatch):
    monkeypatch.setattr("paretoid.report.campaign.setting_pictures", lambda *_: [])
    # Four goals' worth of one stream: 3 of 30 wrong in one setting, 1 of 30 in all others.
    low, high = stats.beta.ppf([0.025, 0.975], [3, 4], [28, 27])
    found = [
        (replace(s, wrong=3, error=(0.1, low, high)) if n == 4 else
         replace(s, wrong=1, error=(1 / 30, 0.0008, 0.172)), b)
        for n, (s, b) in enumerate(stored.settings)
    ]  # fmt: skip
    proved = [s for s, _ in found if stored.about["guarantees"][s.at[1]] == "proved"]
    delta = stored.about["deltas"][found[4][0].at[2]]
    assert found[4][0] in proved
    headline = unescape(campaign_report(replace(stored, settings=found))).split("The runs agree")[1]
    headline = headline.split("</p>")[0]
    assert f"in none of the {len(proved)} settings with a proved guarantee" in headline
    said = f"The largest error rate is 10.0%: 3 of 30 runs (95% interval {100 * low:.1f} to "
    assert said + f"{100 * high:.1f}%, delta = {delta:g})." in headline
    runs = sum(s.runs for s in proved)
    assert f"of {runs:,}" not in headline  # no share of runs that are not independent
    alone = unescape(campaign_report(replace(stored, settings=[found[4]])))
    assert "in the only setting with a proved guarantee" in alone
    assert "Its error rate is 10.0%: 3 of 30 runs" in alone


def script_of(html):
    """The Python block of a report."""
    blocks = [unescape(each.split("</code>")[0]) for each in html.split("<code>")[1:]]
    return next(block for block in blocks if "pt.Campaign(" in block)


@pytest.mark.parametrize("printed", [400, 0])  # numbers in the script, or read from the store
def test_the_script_of_a_report_gives_the_same_runs(nasty_store, tmp_path, monkeypatch, printed):
    monkeypatch.setattr("paretoid.report.campaign.setting_pictures", lambda *_: [])
    monkeypatch.setattr("paretoid.report.campaign_words._PRINTED", printed)
    monkeypatch.chdir(tmp_path)
    script = script_of(campaign_report(read_store(nasty_store)))
    assert ("runs.means" in script) == (printed == 0)
    found = {}
    exec(script, found)
    first, again = (pt.open_campaign(each) for each in (nasty_store, "another directory"))
    xr.testing.assert_identical(first.load(), again.load())


@pytest.mark.parametrize("bandit", [
    pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]]),
    pt.GaussianBandit([[0.1, 2.0], [3.0, 0.4]], covariance=[[1.0, 0.3], [0.3, 2.0]]),
    pt.GaussianBandit([[0.1, 2.0], [3.0, 0.4]], 0.7, minimize=["objective 1"]),
])  # fmt: skip
def test_the_script_makes_the_bandit_that_was_stored(bandit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pt.Campaign(bandit, replications=2, seed=3).run("store")
    found = {}
    exec(script_of(campaign_report(read_store("store"))), found)
    assert found["campaign"].describe() == pt.Campaign(bandit, replications=2, seed=3).describe()


def test_the_script_makes_goals_and_radii_with_values_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bandit = pt.GaussianBandit([[0.1, 2.0], [3.0, 0.4]], 0.7, objectives=["gain", "pain; worst"])
    made = pt.Campaign(
        bandit,
        pt.ParetoSet(limits={"pain; worst": pt.at_most(1.5)}),
        radii=[pt.Mixture(shares=pt.Shares([0.6, 0.4]))],
        replications=2,
        seed=3,
    )
    made.run("store")
    found = {}
    exec(script_of(campaign_report(read_store("store"))), found)
    assert found["campaign"].describe() == made.describe()


def test_the_script_says_what_the_store_does_not_hold(tmp_path):
    data = [[[0.0, 1.0], [1.0, 1.0]], [[5.0, 4.0], [6.0, 6.0]]]
    bandit = pt.ResampledBandit(data, bounds=(0.0, 6.0))
    pt.Campaign(bandit, replications=2, max_samples=50).run(tmp_path / "store")
    script = script_of(campaign_report(read_store(tmp_path / "store")))
    assert "bandit = ...    # ResampledBandit: the store does not hold" in script
    compile(script, "report", "exec")


def test_few_runs_and_runs_without_an_end_are_said_so(tmp_path):
    bandit = pt.GaussianBandit([[0.0, 1.0], [0.0, 1.0], [1.0, 0.5]])  # a tie: it never ends
    goals = [pt.ParetoSet(), *(pt.Cover(eps2=eps) for eps in (3.0, 4.0, 5.0))]
    pt.Campaign(bandit, goals, replications=5, max_samples=600).run(tmp_path)
    stored = read_store(tmp_path)
    never, ended = stored.settings[0][0], stored.settings[1][0]
    assert never.censored == 5
    assert never.median[0] == math.inf
    assert ended.censored == 0
    assert math.isnan(ended.median[1])  # five runs: P(all on one side) = 2/32 is more than 5%
    html = campaign_report(stored)
    assert "More than 600 samples: no run had its answer by then" in html
    assert "(95% interval unknown); 5 runs." in html
    assert html.count('<p class="caption" id="arms-') == 3  # four goals in two tables; answers


@pytest.fixture
def run(capsys):
    """The command; returns its exit code, stdout and stderr."""

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["report", *map(str, arguments)])
        return ended.value.code, *capsys.readouterr()

    return call


def test_the_command_writes_one_file_and_says_where(tmp_path, run):
    store = tmp_path / "a store"
    bandit = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.05, 0.1]])
    pt.Campaign(bandit, replications=1, seed=1).run(store)
    assert run(store, "--quiet") == (0, f"{store / 'report.html'}\n", "")
    html = (store / "report.html").read_text(encoding="utf-8")
    assert f"paretoid report '{store}' --quiet" in unescape(html)
    assert "SeedSequence(1, spawn_key=(r,))" in html
    assert "probabilities (sub-Gaussian, scale 1/2)" in html
    code, out, err = run(store, "--json", "--out", tmp_path / "x.html")
    assert code == 0
    (only,) = json.loads(out)["settings"]
    assert only["mean_samples"][1:] == [None, None]  # one run has no interval
    assert err == f"paretoid: reading {store} ...\nparetoid: wrote {tmp_path / 'x.html'}\n"
    assert (tmp_path / "x.html").stat().st_size > 10_000


def test_the_command_refuses_what_is_no_finished_store(nasty_store, tmp_path, run):
    half = tmp_path / "half"
    shutil.copytree(nasty_store, half)
    next(iter((half / "chunks").iterdir())).unlink()
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for arguments, words in (
        ([tmp_path / "nowhere"], "nowhere"),
        ([tmp_path / "empty"], "empty"),
        ([tmp_path / "file"], "file"),
        ([half], "not finished"),
        ([nasty_store, "--out", tmp_path / "no" / "x.html"], "there is no directory"),
        ([nasty_store, "--out", tmp_path / "x.pdf"], "must end in .html"),
        ([], "STORE"),
    ):
        code, out, err = run("--quiet", *arguments)
        assert (code, out) == (2, "")
        assert words in err
        assert len(err.splitlines()) == (1 if arguments else 4)  # Typer shows the usage
