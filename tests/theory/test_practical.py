"""Practical domination: the proofs of PROOFS.md, Section 11, step by step."""

from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoid import theory
from paretoid.goals import PracticalSet
from paretoid.theory.practical import chains, kept
from paretoid.validation.mutants import Edit, applied

PAIRS = list(permutations(range(3), 2))
RELATIONS = [np.zeros((3, 3), dtype=bool) for _ in range(64)]
for code, relation in enumerate(RELATIONS):
    for bit, pair in enumerate(PAIRS):
        relation[pair] = bool(code >> bit & 1)
CIRCLE = np.array([[0.0, 0.0, 0.0], [1.5, -0.75, -0.75], [0.75, 0.75, -1.5]])


def slowly_kept(dominated, chained):
    """`kept` from its definition: walk along every chain."""

    def leads(start, end):
        seen, to_visit = set(), [start]
        while to_visit:
            here = to_visit.pop()
            for there in range(len(chained)):
                if chained[here][there] and there not in seen:
                    seen.add(there)
                    to_visit.append(there)
        return end in seen

    arms = range(len(dominated))
    return [all(leads(j, i) for j in arms if dominated[i][j]) for i in arms]


def slowly_dominated(means, margin, slack):
    """P+ for a positive slack, P- for a negative one, in plain Python."""
    table = []
    for mine in means:
        row = []
        for other in means:
            lead = [a - b for a, b in zip(mine, other, strict=True)]
            row.append(
                all(x <= margin + slack for x in lead) and any(x < slack - margin for x in lead)
            )
        table.append(row)
    return table


@pytest.fixture(scope="module")
def table():
    """kept(P, Q) for every pair of relations of three arms, as bits; checked one by one."""
    result = {}
    for p, dominated in enumerate(RELATIONS):
        for q, chained in enumerate(RELATIONS):
            mask = kept(dominated, chained)
            assert mask.tolist() == slowly_kept(dominated, chained)
            result[p, q] = sum(1 << arm for arm in range(3) if mask[arm])
    return result


def test_every_relation_of_three_arms_keeps_somebody(table):
    assert all(table[p, p] for p in range(64))
    assert table[63, 0] == 0  # with two relations nobody may be left


def test_kept_is_monotone_in_both_relations(table):
    for p, q, bit in product(range(64), range(64), range(6)):
        more = 1 << bit
        assert table[p | more, q] & ~table[p, q] == 0
        assert table[p, q] & ~table[p, q | more] == 0


def wrong_answers(table):
    """(answers, wrong ones) over all truths and all that may be told of three arms.

    Of each pair: it must be called dominated, may be, or must not; told yes, no or neither, but
    never no of the first kind nor yes of the last.
    """
    states = [(1, 1, 1, 0), (1, 1, 0, 0)]  # must, may, yes, no
    states += [(0, 1, 1, 0), (0, 1, 0, 1), (0, 1, 0, 0)]
    states += [(0, 0, 0, 1), (0, 0, 0, 0)]
    answers = wrong = 0
    for six in product(states, repeat=6):
        must, may, yes, no = (
            sum(state[part] << bit for bit, state in enumerate(six)) for part in range(4)
        )
        sure = table[63 & ~no, yes]
        if sure == table[yes, 63 & ~no]:
            answers += 1
            needed, allowed = table[may, must], table[must, may]
            wrong += bool(needed & ~sure or sure & ~allowed or not sure)
    return answers, wrong


def test_what_is_told_never_makes_a_wrong_answer(table):
    answers, wrong = wrong_answers(table)
    assert answers > 10_000
    assert wrong == 0


def test_without_circles_the_answer_could_be_empty():
    edit = Edit(
        "paretoid.theory.practical", "kept", "dominated & ~chains(chained).T", "dominated",
        places=("paretoid.goals.practical_set",),
    )  # fmt: skip
    with applied(edit):
        assert not theory.practical_set(CIRCLE, 1.0).any()


def test_a_circle_is_kept():
    beaten = theory.practical_domination(CIRCLE, 1.0)
    assert beaten.tolist() == slowly_dominated(CIRCLE.tolist(), 1.0, 0.0)
    assert beaten.sum(axis=1).tolist() == [1, 1, 1]  # each by one other
    assert chains(beaten).all()
    assert theory.practical_set(CIRCLE, 1.0).all()


def test_an_arm_below_the_circle_is_left_out_and_an_arm_above_it_empties_nothing():
    below = np.vstack([CIRCLE, [-3.0, -3.0, -3.0]])
    assert theory.practical_set(below, 1.0).tolist() == [True, True, True, False]
    above = np.vstack([CIRCLE, [9.0, 9.0, 9.0]])
    assert theory.practical_set(above, 1.0).tolist() == [False, False, False, True]


def test_with_no_margin_it_is_plain_domination():
    means = np.random.default_rng(1).integers(0, 4, (200, 4, 2)).astype(float)
    for mu in means:
        assert (theory.practical_domination(mu, 0.0) == theory.domination(mu, "plain")).all()


def test_the_arm_of_the_issue_is_out_here_and_in_with_the_other_margin():
    """100-fold worse on one endpoint, 1.39-fold on the other; a 1.5-fold margin, in logs."""
    means = np.log([[100.0, 1.39], [1.0, 1.0]])
    assert theory.pareto_set(means, np.log(1.5)).tolist() == [True, True]
    assert theory.practical_set(means, np.log(1.5)).tolist() == [True, False]


@pytest.mark.parametrize("D", [1, 2])
def test_every_pattern_of_small_means_is_judged_as_by_the_definition(D):
    """All means of three arms on a grid that meets margin, slack and both of their sums."""
    grid = (0.0, 0.5, 1.0, 2.0) if D == 2 else (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
    goal = PracticalSet(1.0, 0.5)
    for flat in product(grid, repeat=3 * D):
        means = np.array(flat).reshape(3, D)
        may = slowly_dominated(means.tolist(), 1.0, 0.5)
        must = slowly_dominated(means.tolist(), 1.0, -0.5)
        needed, allowed = slowly_kept(may, must), slowly_kept(must, may)
        exact = theory.practical_set(means, 1.0)
        assert exact.any()
        assert goal.is_correct(exact, means)
        assert goal.is_correct(np.array(needed), means)
        for arm in range(3):
            flipped = exact.copy()
            flipped[arm] = ~flipped[arm]
            free = allowed[arm] and not needed[arm]
            assert goal.is_correct(flipped, means) == free


def moment(lower, upper):
    """As much of a view as `told` and `decide` read."""
    return SimpleNamespace(
        lower=lower, upper=upper, objectives=("x",) * lower.shape[2], K=len(lower)
    )


def excess(rng, K, D, size):
    """How far bounds are beyond the truth, often not at all."""
    return rng.uniform(0, size, (K, K, D)) * rng.integers(0, 2, (K, K, D))


def bounds_that_hold(rng, means, size):
    """L_ij = -U_ji <= x, touching the truth at about half of the ends."""
    K, D = means.shape
    truth = means[:, None] - means[None]
    above = excess(rng, K, D, size)
    return truth - above.transpose(1, 0, 2), truth + above


def check_told(goal, count=2000):
    rng, told = np.random.default_rng(3), 0
    for _ in range(count):
        K, D = rng.integers(2, 5), rng.integers(1, 4)
        means = rng.integers(0, 7, (K, D)) / 2
        view = moment(*bounds_that_hold(rng, means, rng.choice([0.3, 1.5])))
        yes, no = goal.told(view)
        may = np.array(slowly_dominated(means.tolist(), 1.0, 0.5))
        must = np.array(slowly_dominated(means.tolist(), 1.0, -0.5))
        assert not (yes & ~may).any()
        assert not (no & must).any()
        answer = goal.decide(view)
        if answer is not None:
            told += 1
            assert answer.any()
            assert goal.is_correct(answer, means), (means, answer)
    assert told > count / 10


def test_what_is_told_is_true_up_to_the_slack_while_intervals_hold():
    check_told(PracticalSet(1.0, 0.5))


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        ("PracticalSet.told", "(upper < s - m)", "(upper < s)"),
        ("PracticalSet.told", "(lower > m - s).any(axis=2)", "(lower > -m).any(axis=2)"),
        ("PracticalSet.told", "(upper <= m + s)", "(upper <= 2 * m + 2 * s)"),
        ("PracticalSet.decide", "kept(~no, yes)", "kept(yes, yes)"),
        ("PracticalSet.decide", "bool((sure == kept(yes, ~no)).all())", "sure.any()"),
    ],
)
def test_a_mutant_of_the_decision_is_caught(function, old, new):
    edit = Edit("paretoid.goals.practical_set", function, old, new)
    with applied(edit), pytest.raises(AssertionError):
        check_told(PracticalSet(1.0, 0.5))


def test_intervals_narrower_than_twice_the_slack_tell_every_pair():
    rng, goal = np.random.default_rng(4), PracticalSet(1.0, 0.25)
    for _ in range(500):
        x = rng.integers(-8, 9, (3, 3, 2)) / 4
        low = rng.uniform(0, 0.499, x.shape)
        lower, upper = x - low, x + rng.uniform(0, 0.499 - low)
        yes, no = goal.told(moment(lower, upper))
        assert (yes | no).all()


def test_every_upper_bound_can_be_the_wrong_one():
    """Equal arms: any single upper bound that fails makes a wrong answer."""
    K, D = 4, 2
    goal, means = PracticalSet(1.0, 0.5), np.zeros((K, D))
    for i, j in permutations(range(K), 2):
        for d in range(D):
            upper = np.full((K, K, D), 0.01)
            upper[i, j, d] = -0.51
            lower = -upper.transpose(1, 0, 2)
            answer = goal.decide(moment(lower, upper))
            assert answer is not None
            assert not goal.is_correct(answer, means)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2, 0.5]))
def test_a_pair_is_told_once_its_intervals_are_narrower_than_its_gap(seed, slack):
    rng = np.random.default_rng(seed)
    K, D = 3, 2
    means = rng.normal(size=(K, D)) * 2
    gaps = theory.practical_gaps(means, 1.0, slack)
    assert gaps.min() >= 2 * slack
    goal, truth = PracticalSet(1.0, slack), means[:, None] - means[None]
    # Each interval of the pair (i, j) holds and is narrower than the smaller gap of the two arms.
    width = 0.999 * np.minimum.outer(gaps, gaps)[:, :, None]
    low = rng.uniform(0, 1, (K, K, D)) * width
    low[rng.random(low.shape) < 0.3] = 0.0
    lower = truth - low
    yes, no = goal.told(moment(lower, lower + width))
    assert (yes | no).all()


def test_gaps_by_hand():
    """x = (-3, 0.5), m = 1, s = 0.25: yes needs U^2 <= 1.25, 0.75 away; some U < -0.75: 2.25."""
    means = [[0.0, 0.5], [3.0, 0.0]]
    assert theory.practical_gaps(means, 1.0, 0.25).tolist() == [0.75, 0.75]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: PracticalSet(1.0, 2.0), "slack=2.0 must not exceed margin=1.0"),
        (lambda: PracticalSet(-1.0), "margin=-1.0 must be finite and not negative"),
        (lambda: PracticalSet(1.0, float("nan")), "slack=nan must be finite"),
        (lambda: PracticalSet((1.0, 2.0)).check(3, 3), r"margin has shape \(2,\)"),
        (lambda: PracticalSet("much"), "margin='much' must be a number"),
    ],
)
def test_bad_margins_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()
