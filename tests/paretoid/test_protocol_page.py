"""`design.html`: what the statistical section of a protocol says, and what it does not claim."""

from __future__ import annotations

import re
import tomllib
from html import unescape

import numpy as np
import pytest
from scipy.stats import beta

import paretoid as pt
from paretoid.explorer import Design
from paretoid.explorer.design_toml import design_toml
from paretoid.report.design_words import design_sections, objective
from paretoid.report.page import TextBlock, render
from paretoid.report.plan_files import plan_design
from paretoid.report.protocol import protocol_page


def said(page):
    """The words of a page, without its tags."""
    body = page[page.index("<main>") : page.index("</main>")]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", body)))


def words(design):
    return said(render("t", "s", design_sections(design)))


@pytest.fixture(scope="module")
def page(nasty_plan):
    fit, _, planned = nasty_plan
    design = plan_design(fit, planned)[0]
    return protocol_page(fit, planned, design, command="paretoid plan", digest="sha256:77")


def test_every_part_of_a_statistical_section_is_there_in_order(page):
    titles = re.findall(r"<h2[^>]*>([^<]*)</h2>", page)
    assert titles == [
        "Objective", "Arms and endpoints", "Allocation", "Looks and stopping",
        "Guarantee and assumptions", "Operating characteristics", "If the trial does not settle",
        "Software and seeds",
    ]  # fmt: skip
    text = said(page)
    for sentence in (
        "to find all Pareto-optimal arms, and none that is not within 0.1 of optimal, among 4 arms",
        "it is also to find one arm within 0.1 of optimal",
        "The margin is 0.1 in every endpoint.",
        "or when 400 participants are enrolled",
        "sha256:77",
        "paretoid trial new design.toml trial.db",
    ):
        assert sentence in text, sentence


def test_the_design_of_a_plan_knows_units_and_logarithms(nasty_plan):
    fit, _, planned = nasty_plan
    design = plan_design(fit, planned)[0]
    assert design.measured_in.units == {"<i>gain</i>": "mg/L"}
    assert design.measured_in.logs == ()
    again = Design.from_dict(tomllib.loads(design_toml(design)))
    assert again.measured_in == design.measured_in
    assert again.same_as(design)


def test_names_are_text_and_nothing_is_loaded(page, nasty_fit):
    assert "<script>document" not in page
    assert "&lt;script&gt;document.title=7&lt;/script&gt;" in page
    assert page.count("<script") == 1  # our own, which sorts the tables
    assert not re.search(r'(src|href)="(?!#|data:)', page)


def test_the_figures_are_those_of_the_plan(nasty_plan):
    """Of 40 trials 3 are made late and 1 wrong; Clopper-Pearson ends from scipy."""
    fit, _, planned = nasty_plan
    planned = planned.copy(deep=True)
    planned.stopped[0], planned.correct[0] = True, True
    planned.stopping_time[0] = np.arange(101, 141)
    planned.stopped[0, :3], planned.correct[0, :3] = False, False
    planned.stopping_time[0, :3] = 400
    planned.correct[0, 3] = False
    planned.settled[0], planned.settled[0, :10, 0] = 0, -1
    text = said(protocol_page(fit, planned, plan_design(fit, planned)[0]))
    for name, count in (("answered, and right", 36), ("answered, and wrong", 1),
                        ("no answer within the limit", 3)):  # fmt: skip
        low, high = beta.ppf(0.025, count, 41 - count), beta.ppf(0.975, count + 1, 40 - count)
        ends = " to ".join(f"{x:.2g}" if x < 0.1 else f"{x:.1f}" for x in (100 * low, 100 * high))
        assert f"{name} {count / 40:.1%} {ends}%" in text
    mean = (sum(range(104, 141)) + 3 * 400) / 40
    assert f"N, mean ≥ {mean:,.0f}" in text
    assert "N by which 50% have their answer 123 " in text  # the 20th of 104, 105, ...
    assert "N by which 90% have their answer 139 " in text  # the 36th
    assert "arms surely out at the end, mean 0.25" in text


def test_the_guarantee_is_that_of_the_theorem_and_no_more():
    text = words(Design(["A", "B", "C", "D"], ["x", "y", "z"], pt.ParetoSet(), 0.05))
    assert "is at most delta = 0.05" in text
    assert "right together with probability at least 0.95" in text
    assert "It is not the probability that an answer is wrong once it has been seen" in text
    # Under union="claims" no theorem says that all intervals hold (PROOFS.md, Section 7).
    assert not re.search(r"intervals (all )?hold", text)
    assert "simultaneous" not in text


def test_a_heuristic_is_called_so_and_nothing_is_promised():
    design = Design(["A", "B"], ["x"], scale=1.0, radius=pt.Mixture(union="none"))
    text = words(design)
    assert "Heuristic: for this rule, radius and goals no theorem bounds" in text
    for claim in ("Proved", "The proof", "right together", "delta is the same for any number"):
        assert claim not in text, claim


def test_statements_on_single_arms_are_not_claimed_for_rules_without_pairs():
    design = Design(["A", "B"], ["x"], pt.AtMost(1), scale=1.0, rule=pt.LUCB())
    text = words(design)
    assert "reported as not covered by a theorem" in text
    assert "right together with" not in text


def test_conduct_margin_directions_scales_and_limits_are_in_words():
    design = Design(
        ["A", "B"], ["effect", "harm"],
        pt.Cover(eps1=(0.5, 0.0), eps2=1.0, limits={"harm": pt.at_most(0.3)}),
        scale=[1.0, 0.25], minimize=["harm"], max_samples=300, logs=["effect"],
        units={"harm": "points"},
        conduct=pt.Conduct(rate=2.0, delay={"harm": 7.0}, look=50, burn_in=4),
    )  # fmt: skip
    design.informed_by = ("Doe 2020",)
    text = words(design)
    for sentence in (
        "The margin is 1.649-fold, that is 0.5 as outcomes are recorded.",
        "of those with harm at most 0.3 points",
        "The first 8 participants go to the arms in turn, 4 to each; then the rule begins.",
        "a look after every 50 enrolled",
        "effect larger natural logarithm 1",
        "harm points - at most 0.3 points as measured 7 days 0.25",
        "surely within 2.718-fold of an arm that is surely within 1.649-fold of optimal",
        "Outcomes, as recorded, are sub-Gaussian with at most the scales of the design",
        "The data that shaped the radius are not counted again: Doe 2020.",
        "Allocation is not randomised",
    ):
        assert sentence in text, sentence


def test_endpoints_of_different_kinds_have_the_law_that_their_radius_assumes():
    kinds = {"x": "gaussian", "y": "binary", "z": (0, 10)}
    text = words(Design(["A", "B"], ["x", "y", "z"], outcomes=kinds))
    assert "Outcomes in endpoints without a stated scale, as recorded, are Gaussian" in text
    assert "Outcomes in the other endpoints, as recorded, are sub-Gaussian with at most" in text
    assert (
        "x larger as measured Gaussian y larger 1 if it happened, else 0 0 or 1 0.5 z larger"
        in text
    )


def test_missing_outcomes_depend_on_no_outcome_of_the_participant():
    text = words(Design(["A", "B"], ["x", "y"]))
    assert (
        "may depend on the arm and on what happened before, but not on any outcome of that "
        "participant, in this endpoint or another." in text
    )
    assert "unrelated to its value" not in text


def test_a_cone_whose_scales_are_learnt_needs_jointly_gaussian_outcomes():
    cone = [[1.0, 0.5], [0.0, 1.0]]
    assert "are jointly Gaussian" in words(Design(["A", "B"], ["x", "y"], cone=cone))
    known = Design(["A", "B"], ["x", "y"], cone=cone, scale=1.0)
    for design in (known, Design(["A", "B"], ["x", "y"])):
        assert "jointly" not in words(design)


def test_practical_sets_have_their_own_words():
    text = words(Design(["A", "B"], ["x", "y"], pt.PracticalSet(0.5)))
    assert "The margin is 0.5 in every endpoint" in text
    assert (
        "surely not practically dominated, surely out (practically dominated), or undecided" in text
    )
    assert "better by more than the margin in some endpoint" in text


def test_every_paragraph_is_whole_sentences(nasty_plan):
    fit, _, planned = nasty_plan
    for section in design_sections(plan_design(fit, planned)[0]):
        for block in section.blocks:
            if isinstance(block, TextBlock):
                assert block.text[:1].isupper() or block.text[:1].isdigit()
                assert block.text.endswith((".", ":"))
                assert ".." not in block.text


def test_an_endpoint_with_a_limit_is_not_among_those_compared():
    limits = {"tox": pt.at_most(0.3)}
    for objectives, words in (
        (["gain", "tox"], "better in gain, by the true means"),
        (["gain", "sleep", "tox"], "better in gain and sleep at once, by"),
    ):
        design = Design(["A", "B"], objectives, pt.ParetoSet(limits=limits))
        said = " ".join(block.text for block in objective(design))
        assert f"by {len(objectives) - 1} endpoint" in said
        assert f"no other arm within the limits is strictly {words}" in said
