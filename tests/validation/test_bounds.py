import numpy as np
import pytest

import paretoid as pt
from paretoid import theory
from paretoid.theory.bound import Bound
from paretoid.validation import bounds, compare


@pytest.fixture(scope="module")
def covboost():
    return compare(
        pt.load_instance("covboost"), k=[None, 1, 2], delta=[0.1, 0.01, 0.001], replications=20
    )


@pytest.fixture(scope="module")
def hard():
    instance = pt.GaussianBandit(theory.lower_bound_instance(5, 2, 0.5))
    return compare(instance, k=[5, 4, 3], delta=[0.1, 0.01, 0.001, 0.0001], replications=200)


def test_covboost_lies_between_its_bounds(covboost):
    assert int(covboost.contradictions.sum()) == 0
    assert int(covboost.errors.sum()) == 0  # 20 runs at delta <= 0.1, far inside
    whole = covboost.sel(k=0, eps1=0.0, instance=0)
    assert (whole.characteristic < whole["mean"]).all()
    assert (whole["mean"] < whole.sharp_bound).all()
    assert (whole.sharp_bound < whole.theorem_1).all()
    assert np.isnan(covboost.sel(k=1).characteristic).all()  # it is about the whole set


def test_asking_for_fewer_arms_takes_fewer_samples(covboost):
    mean = covboost["mean"].isel(instance=0, eps1=0)
    assert (mean.sel(k=1) < mean.sel(k=2)).all()
    assert (mean.sel(k=2) < mean.sel(k=0)).all()


def test_on_the_instance_of_theorem_2_every_k_is_above_the_lower_bound(hard):
    assert int(hard.contradictions.sum()) == 0
    assert (hard.lower_bound < hard["mean"]).all()
    assert (hard["mean"] < hard.sharp_bound).all()
    assert theory.lower_bound(theory.lower_bound_instance(5, 2, 0.5), 0.1, 3).proved


def test_stopping_times_grow_linearly_in_log_one_over_delta(hard):
    growth = bounds.slopes(hard)
    # Over 20 other seeds the bends stayed within 0.67 and 1.21; quadratic growth would give 2.33.
    assert ((growth.bend > 0.5) & (growth.bend < 1.6)).all()
    assert (growth.slope > 0).all()
    assert (growth.slope < growth.sharp).all()


def test_no_run_of_random_instances_exceeds_the_sharp_bound_on_the_good_event():
    rng = np.random.default_rng(0)
    for bandits in (
        [pt.GaussianBandit(rng.random((4, 2)) * 4, scale=0.7) for _ in range(4)],
        [pt.BernoulliBandit(rng.random((5, 2))) for _ in range(4)],
    ):
        result = compare(
            bandits, k=[None, 2], eps1=[0.1, 0.4], radius=pt.Mixture(union="pairs"),
            replications=20, max_samples=100_000,
        )  # fmt: skip
        assert int(result.contradictions.sum()) == 0
        assert dict(result.sizes) == {"instance": 4, "k": 2, "eps1": 2, "delta": 1, "q": 3}


def test_a_run_above_a_wrong_bound_is_a_contradiction(monkeypatch):
    wrong = Bound(3.0, holds="never", source="", probability=0.9)
    monkeypatch.setattr(theory, "sample_bound", lambda *_: wrong)
    result = compare(pt.GaussianBandit([[0.0], [2.0]]), replications=5)
    assert int(result.above_sharp_bound.sum()) == 5
    assert int(result.contradictions.sum()) == 5


def test_an_eps1_that_differs_in_units_of_the_scales_costs_its_spread():
    """In scaled units eps1 = (0.1, 0.2) and Delta = 2: gaps of 2 - 0.1 in place of 2."""
    bandit = pt.GaussianBandit([[0.0, 2.0], [2.0, 0.0]], scale=[1.0, 0.5])
    result = compare(bandit, eps1=[0.0, 0.1], replications=5)
    even, uneven = result.sharp_bound.values.ravel()
    assert even == 2 * theory.samples_to_separate(2.0, pt.Mixture(), 2, 2, 0.1)
    assert uneven == 2 * theory.samples_to_separate(1.9, pt.Mixture(), 2, 2, 0.1)


def test_bounds_about_gaussian_outcomes_are_left_out_for_coins():
    result = compare(pt.BernoulliBandit([[0.1], [0.9]]), replications=5)
    # Equal shares meet at 1/2: 1/T* = kl(0.1, 0.5) = log 2 + 0.1 log 0.1 + 0.9 log 0.9
    cost = np.log(2) + 0.1 * np.log(0.1) + 0.9 * np.log(0.9)
    assert result.characteristic.item() == pytest.approx(0.8 * np.log(9) / cost, rel=1e-5)
    assert np.isnan(result.lower_bound).all()


def test_the_table_has_a_row_for_everything(covboost):
    lines = bounds.table(covboost).splitlines()
    assert len(lines) == 2 + 3 * 3
    assert lines[2].startswith("| 0 | all | 0 | 0.1 | ")


def test_the_plot_has_a_panel_for_every_k_and_labels(covboost, tmp_path):
    figure = bounds.plot(covboost)
    assert len(figure.axes) == 3
    assert figure.axes[0].get_ylabel() == "samples"
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"
    figure.savefig(tmp_path / "bounds.png")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "sharp bound (if all intervals hold)" in labels


def test_the_plot_of_many_instances_is_drawn_against_the_bound(tmp_path):
    result = compare([pt.GaussianBandit([[0.0], [gap]]) for gap in (1.0, 2.0, 4.0)], replications=5)
    figure = bounds.plot(result)
    assert figure.axes[0].get_xlabel() == "sharp bound, samples"
    figure.savefig(tmp_path / "bounds.png")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bandits": []}, "non-empty"),
        ({"radius": pt.LUCB1Like()}, "no sharp bound"),
        ({"k": 2}, "non-empty list"),
        ({"k": [9]}, "k=9"),
        ({"delta": []}, "non-empty list"),
        ({"delta": [2.0]}, "delta=2.0"),
        ({"replications": 0}, "replications=0"),
    ],
)
def test_bad_arguments_are_refused_in_sentences(change, words):
    arguments = {"bandits": pt.GaussianBandit([[0.0], [2.0]]), **change}
    with pytest.raises(ValueError, match=words):
        compare(**arguments)


def test_a_slope_needs_three_deltas():
    with pytest.raises(ValueError, match="at least three deltas"):
        bounds.slopes(compare(pt.GaussianBandit([[0.0], [2.0]]), replications=5))


def test_an_eps1_not_compared_cannot_be_drawn():
    with pytest.raises(ValueError, match="was not compared"):
        bounds.plot(compare(pt.GaussianBandit([[0.0], [2.0]]), replications=5), eps1=0.7)
