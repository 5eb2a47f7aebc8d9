"""The sweep over tables and seeds: what it fits, what it counts, what it says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from paretoid.validation.fits import TABLES, Fitted, jobs, main, report


def test_every_kind_of_table_that_was_asked_for_is_there():
    trials = {name: make() for name, (make, _) in TABLES.items()}
    arms = {len(trial.arms) for trial in trials.values()}
    assert {2, 3, 4, 40} <= arms
    assert any(len(trial.endpoints) == 1 for trial in trials.values())
    assert min(np.nanmin(trial.n) for trial in trials.values()) == 2
    assert max(np.nanmax(trial.n) for trial in trials.values()) == 100_000
    assert {"covboost-groupB", "comcov2"} < set(TABLES)
    # `partial`, the default, gets every seed of every table.
    often = {(table, variances): seeds for table, variances, seeds in jobs(40)}
    assert all(often[table, "partial"] == 40 for table in TABLES)


def test_the_report_counts_second_attempts_and_refusals():
    good = Fitted("A", "partial", 0, 1, False, "", 0, 1.002, 2500.0, 1.0, 0.02, 1.5)
    again = dataclasses.replace(good, seed=1, attempts=2, r_hat=1.004)
    refused = dataclasses.replace(
        good, table="B", attempts=2, refused=True, ess=90.0, mean_departure=float("nan"),
        spread_departure=float("nan"),
    )  # fmt: skip
    lines = report([good, again, refused])
    assert "| A | partial | 2 | 1 | 0 | 1.0040 | 2,500 | 0.020 | 1.5 |" in lines
    assert "| B | partial | 1 | 1 | 1 | 1.0020 | 90 | - | - |" in lines
    assert lines[-1] == "3 fits: 2 needed a second attempt, 1 were refused."


def test_a_table_that_nobody_has_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--only", "no such table"])
    assert "there are: covboost-groupB, comcov2" in " ".join(capsys.readouterr().err.split())
