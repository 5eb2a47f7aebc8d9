"""Informed radii: from a guess to expected counts, to shares of delta and rho by arm."""

import tomllib

import numpy as np
import pytest

import paretoid as pt
from paretoid import estimation, theory
from paretoid.design import expected_counts, informed, with_counts
from paretoid.explorer import Explorer
from paretoid.explorer.design import Design
from paretoid.explorer.design_toml import design_toml

GUESS = pt.GaussianBandit([[0.0, 0.0], [1.0, 0.9], [1.2, 0.8], [-3.0, -2.0], [-2.0, -3.0]])


def test_counts_are_averaged_over_goals_after_each_is_normalised():
    goals = [pt.ParetoSet(), pt.AtMost(1)]
    runs = pt.simulate([GUESS], goals, delta=0.1, radius=pt.Mixture(), replications=30, seed=4)
    pulls = runs.pulls.isel(instance=0).transpose("goal", "replication", "arm").values.mean(axis=1)
    shares = pulls / pulls.sum(axis=1, keepdims=True)
    by_hand = (0.5 * shares[0] + 0.5 * shares[1]) * pulls.sum(axis=1).mean()
    counts = expected_counts(GUESS, goals, 0.1, pt.Mixture(), replications=30, seed=4)
    np.testing.assert_allclose(counts, by_hand, rtol=1e-12)
    weighted = expected_counts(
        GUESS, goals, 0.1, pt.Mixture(), replications=30, seed=4, weights=[3.0, 1.0]
    )
    by_hand = (0.75 * shares[0] + 0.25 * shares[1]) * (pulls.sum(axis=1) @ [0.75, 0.25])
    np.testing.assert_allclose(weighted, by_hand, rtol=1e-12)


def test_shares_and_rho_follow_the_counts():
    radius = with_counts(pt.UnknownScale(w=0.2), [1200.0, 120.0, 12.0], mix=0.25)
    total = 1332.0
    by_hand = [0.75 * n / total + 0.25 / 3 for n in (1200, 120, 12)]
    np.testing.assert_allclose(radius.shares.arms, by_hand)
    np.testing.assert_allclose(radius.shares.rivals, by_hand)
    assert radius.rho == (100.0, 10.0, 5.0)
    assert radius.w == 0.2


@pytest.mark.parametrize("goal", [pt.ParetoSet(), pt.AtMost(1), pt.Cover(0.0, 0.3)])
def test_a_good_guess_saves_samples(goal):
    # Paired runs with the same noise; the saving is 10 to 30%, some ten standard errors.
    radius = informed(GUESS, goal, radius=pt.Mixture, replications=50, max_samples=20_000)
    assert radius.guarantee == "proved"
    times = [
        pt.simulate(GUESS, goal, radius=r, replications=300, seed=9).stopping_time.mean().item()
        for r in (radius, pt.Mixture())
    ]
    assert times[0] < times[1]


def test_the_same_seed_gives_the_same_radius_and_draws_are_capped():
    tied = pt.GaussianBandit([[0.0], [0.0], [1.0], [1.0]])
    first, again = (informed(tied, replications=3, max_samples=500, seed=2) for _ in range(2))
    assert first == again
    assert np.sum(first.rho) <= 2.25 * 500 / 12 + 4 * theory.shares.LEAST_RHO


def test_binary_outcomes_are_informed_by_a_known_scale_radius():
    coins = pt.BernoulliBandit([[0.8, 0.3], [0.4, 0.7], [0.3, 0.2], [0.55, 0.5], [0.1, 0.1]])
    radius = informed(coins, pt.ParetoSet(0.1), replications=10)
    assert isinstance(radius, pt.Mixture)
    with pytest.raises(ValueError, match="needs Gaussian outcomes"):
        informed(coins, radius=pt.UnknownScale)


def test_few_arms_keep_their_pairs():
    # Two arms, one objective: all pairs together cost less than shared claims could.
    radius = informed(pt.GaussianBandit([[0.0], [1.0]]), radius=pt.Mixture, replications=5)
    assert radius.shares.is_uniform
    assert radius.constants(2, 1, 0.1) == pt.Mixture().constants(2, 1, 0.1)


def test_the_quick_way_uses_the_characteristic_time():
    ideal = theory.characteristic_time(GUESS.oriented, GUESS.scale)
    counts = np.maximum(ideal.samples(0.1) * np.asarray(ideal.weights), 1.0)
    radius = informed(GUESS, radius=pt.Mixture, quick=True)
    assert radius == with_counts(pt.Mixture(), counts)
    with pytest.raises(ValueError, match="only the exact Pareto set"):
        informed(GUESS, pt.AtMost(1), quick=True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"mix": 0.0}, "mix=0.0 must be above 0"),
        ({"radius": pt.KaufmannKoolen}, "has no shares of delta"),
        ({"radius": pt.Mixture(union="pairs")}, "shares belong to union='claims'"),
        ({"weights": [1.0, 2.0]}, "must be 1 positive numbers"),
        ({"max_samples": 0}, "max_samples"),
    ],
)
def test_what_cannot_be_informed_is_refused_before_it_is_simulated(arguments, said):
    with pytest.raises(ValueError, match=said):
        informed(GUESS, **arguments)


def test_a_pilot_table_informs_without_a_fit():
    pilot = estimation.load_trial("covboost-groupB")
    radius = estimation.informed(pilot, pt.AtMost(1), fold=1.5, draws=20, max_samples=2000)
    assert len(radius.rho) == len(pilot.arms)
    with pytest.raises(ValueError, match="is no fit"):
        estimation.informed([], pt.AtMost(1))


def test_an_informed_design_goes_through_its_file_and_a_ledger_unchanged(tmp_path):
    radius = informed(GUESS, replications=5, max_samples=5000)
    design = Design(GUESS.arms, GUESS.objectives, radius=radius, delta=0.1, seed=3)
    text = design_toml(design, ["A remark."])
    again = Design.from_dict(tomllib.loads(text))
    assert again.same_as(design)
    assert again.radius == radius
    with Explorer.from_design(again, tmp_path / "trial.db"):
        pass
    with Explorer.open(tmp_path / "trial.db") as opened:
        assert opened.design.radius == radius


def test_data_that_informed_the_radius_are_noticed_when_they_are_counted_again(tmp_path, capsys):
    from paretoid.cli import main
    from paretoid.tables import digest

    pilot = tmp_path / "pilot.csv"
    pilot.write_text("id,x\n1,0.5\n", encoding="utf-8")
    design = Design(["A", "B", "C", "D"], ["x"], delta=0.1)
    design.informed_by = ("Somebody et al.", digest(pilot))
    again = Design.from_dict(tomllib.loads(design_toml(design)))
    assert again.informed_by == design.informed_by
    ledger = str(tmp_path / "trial.db")
    with Explorer.from_design(again, ledger) as trial:
        trial.ask(2)
    with pytest.raises(SystemExit, match="0"):
        main(["trial", "record", ledger, "--csv", str(pilot), "--yes"])
    assert "informed the radius of this trial" in capsys.readouterr().err
    fresh = tmp_path / "week.csv"
    fresh.write_text("id,x\n2,0.7\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="0"):
        main(["trial", "record", ledger, "--csv", str(fresh), "--yes"])
    assert "informed" not in capsys.readouterr().err
