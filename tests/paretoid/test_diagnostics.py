"""A fit is judged by its worst parameter, wherever that is."""

from __future__ import annotations

import numpy as np
import xarray as xr

from paretoid.estimation.diagnostics import diagnose


def fit(diverging=0):
    """Three parameters: `good`, independent; `bad`, one of whose cells differs by chain; fixed."""
    rng = np.random.default_rng(3)
    good, bad = rng.standard_normal((2, 4, 500, 3))
    bad[:, :, 1] += 5.0 * np.arange(4)[:, None]
    dims = ("chain", "draw", "cell")
    posterior = xr.Dataset(
        {"good": (dims, good), "bad": (dims, bad), "fixed": (dims, np.ones_like(good))}
    )
    stats = xr.Dataset(
        {"diverging": (("chain", "draw"), np.arange(2000).reshape(4, 500) < diverging)}
    )
    return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})


def test_one_bad_cell_is_found_and_constants_are_left_out():
    found = diagnose(fit(diverging=7))
    assert (found.divergences, found.r_hat_of, found.ess_of) == (7, "bad", "bad")
    assert found.r_hat > 2
    assert found.ess < 10
    first, second, third = found.problems(4)
    assert first == "7 divergent transitions"
    assert second.startswith("r_hat of bad is ")
    assert third.startswith("effective sample size of bad is ")
    assert third.endswith("at least 400")


def test_a_sound_fit_has_no_problems():
    whole = fit()
    whole["posterior"] = whole["posterior"].to_dataset().drop_vars("bad")
    assert diagnose(whole).problems(4) == []
