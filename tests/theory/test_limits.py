"""Limits: PROOFS.md, Section 12, step by step."""

import math
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import log_ndtr

import paretoid as pt
from paretoid.theory.limits import Limit, Limits, limit_levels
from paretoid.theory.one_sided import one_sided_constant
from paretoid.theory.radii.claims import claim_constants
from paretoid.validation.mutants import Edit, applied

NAMES = ("x", "y")
SIGN = np.ones(2)
HUGE = 100.0


def goals(limits, eps1=0.0):
    """The three goals, on the same limits."""
    made = [
        pt.ParetoSet(eps1, limits=limits),
        pt.AtMost(1, eps1, limits=limits),
        pt.AtMost(2, eps1, limits=limits),
        pt.Cover(eps1, 0.6, limits=limits),
    ]
    return [goal.bind(NAMES, SIGN) for goal in made]


class Moment(SimpleNamespace):
    """As much of a view as goals with limits read: bounds on pairs and on single arms."""

    def in_units(self, slack):
        return np.broadcast_to(np.asarray(slack, dtype=float), (2,))


def moment(lower, upper, low, high, eps1=0.0):
    """A view whose bounds are these: (K, K, D) on pairs, (K, D) on single arms."""
    return Moment(
        difference=(lower + upper) / 2, keep=(upper - lower) / 2, drop=(upper - lower) / 2,
        means=(low + high) / 2, alone=((high - low) / 2,) * 2, unit=np.ones(2),
        eps1=np.full(2, eps1), K=len(low),
    )  # fmt: skip


def worst(means, limits, eps1, eps2):
    """(lower, upper, low, high): the counted bounds just hold, all others are as wrong as can be.

    Written from the proof, in plain loops. `events` lists what was held, with its level in parts
    of the arm's share: (arm, kind, part).
    """
    K, D = means.shape
    q = len(limits)
    truth = means[:, None] - means[None]
    lower, upper = np.full((K, K, D), HUGE), np.full((K, K, D), -HUGE)
    low, high = np.full((K, D), HUGE), np.full((K, D), -HUGE)
    rules = []  # (column, up, floor, slack)
    compared = [True] * D
    for name, limit in limits.items():
        column = NAMES.index(name)
        up = 1.0 if limit.most is None else -1.0
        rules.append((column, up, up * limit.value, limit.slack))
        compared[column] = limit.compared

    def lead(i, rule):
        return rule[1] * means[i, rule[0]] - rule[2]

    F = [all(lead(i, rule) >= rule[3] for rule in rules) for i in range(K)]
    may = [all(lead(i, rule) >= -rule[3] for rule in rules) for i in range(K)]
    axes = [d for d in range(D) if compared[d]]

    def beats(j, i, by):
        return all(means[i, d] + by < means[j, d] for d in axes)

    events = []

    def hold_low(i, rule, part):  # the lower bound on z_i must not exceed z_i
        column, up = rule[0], rule[1]
        if up > 0:
            low[i, column] = min(low[i, column], means[i, column])
        else:
            high[i, column] = max(high[i, column], means[i, column])
        events.append((i, "low", part))

    def hold_high(i, rule, part):
        column, up = rule[0], rule[1]
        if up > 0:
            high[i, column] = max(high[i, column], means[i, column])
        else:
            low[i, column] = min(low[i, column], means[i, column])
        events.append((i, "high", part))

    for i in range(K):
        if not may[i]:
            rule = next(rule for rule in rules if lead(i, rule) < -rule[3])
            hold_low(i, rule, 1.0)
            continue
        best = [j for j in range(K) if F[j] and not any(F[h] and beats(h, j, 0) for h in range(K))]
        over = [j for j in best if beats(j, i, eps1)]
        if over:
            for d in axes:
                lower[i, over[0], d] = truth[i, over[0], d]
                events.append((i, "keep", 1 / D))
            continue
        if F[i]:
            for rule in rules:
                hold_high(i, rule, 1 / (K - 1 + q))
        if F[i] and not any(may[j] and beats(j, i, 0) for j in range(K)):
            for j in range(K):
                if j == i or not may[j]:
                    continue
                far = [d for d in axes if truth[i, j, d] >= eps2]
                d = far[0] if far else next(d for d in axes if truth[i, j, d] >= 0)
                upper[i, j, d] = truth[i, j, d]
                events.append((i, "drop", 1 / (K - 1 + q)))
    return lower, upper, low, high, events


def crossed(lower, upper, low, high, eps1):
    """A view of bounds that may cross: their middle and half-width may be anything."""
    return moment(lower, upper, low, high, eps1)


CASES = [
    ({"y": Limit(most=0.75)}, 0.0),
    ({"y": Limit(least=0.75, slack=0.3)}, 0.0),
    ({"y": Limit(most=0.75, slack=0.3, compared=True)}, 0.6),
    ({"x": Limit(least=0.25, compared=True), "y": Limit(most=1.25, slack=0.3)}, 0.0),
]


def every_pattern(K, grid):
    for flat in product(grid, repeat=2 * K):
        yield np.array(flat).reshape(K, 2)


@pytest.mark.parametrize(("limits", "eps1"), CASES)
def test_no_goal_goes_wrong_while_the_counted_bounds_hold(limits, eps1):
    """Every pattern of three arms and two objectives on a grid of three values."""
    answered, wrong = wrong_answers(limits, eps1)
    assert answered > 1000
    assert not wrong, wrong[0]


def wrong_answers(limits, eps1):
    """(answers, wrong ones) over every pattern, the counted bounds holding."""
    asked, answered, wrong = goals(limits, eps1), 0, []
    for means in every_pattern(3, (0.0, 0.5, 1.0)):
        for eps2 in (0.0, 0.6):
            lower, upper, low, high, _ = worst(means, limits, eps1, eps2)
            view = crossed(lower, upper, low, high, eps1)
            for goal in asked:
                if isinstance(goal, pt.Cover) != bool(eps2):
                    continue
                answer = goal.decide(view)
                if answer is not None:
                    answered += 1
                    if not goal.is_correct(answer, means):
                        wrong.append((goal, means, answer))
    return answered, wrong


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("own_lower > 0", "own_lower > -0.6"),
        ("infeasible = own_upper < 0", "infeasible = own_upper < 0.6"),
        ("(M_upper < 0) & feasible[None, :]", "M_upper < 0"),
    ],
)
def test_a_mutant_of_the_verdicts_is_caught(old, new):
    edit = Edit("paretoid.goals.limited", "LimitedGoal.verdicts", old, new)
    with applied(edit):
        assert any(wrong_answers(limits, eps1)[1] for limits, eps1 in CASES)


def test_no_counted_event_is_superfluous():
    """Each kind of event, given up alone, makes some goal wrong on some pattern."""
    limits = CASES[0][0]
    spoiled, asked = set(), goals(limits)[:3]
    for means in every_pattern(3, (0.0, 1.0)):
        lower, upper, low, high, _ = worst(means, limits, 0.0, 0.0)
        tables = {"keep": (lower, HUGE), "drop": (upper, -HUGE), "low": (low, HUGE),
                  "high": (high, -HUGE)}  # fmt: skip
        for kind, (table, wrong) in tables.items():
            for place in zip(*np.nonzero(table != wrong), strict=True):
                held = table[place]
                table[place] = wrong
                view = crossed(lower, upper, low, high, 0.0)
                for goal in asked:
                    answer = goal.decide(view)
                    if answer is not None and not goal.is_correct(answer, means):
                        spoiled.add(kind)
                table[place] = held
    assert spoiled == {"keep", "drop", "low", "high"}


@pytest.mark.parametrize(("limits", "eps1"), CASES)
def test_the_levels_add_up_to_delta(limits, eps1):
    """Whatever the means, the events of an arm cost its share at most."""
    for means in every_pattern(3, (0.0, 0.5, 1.0)):
        spent = [0.0] * 3
        for arm, _, part in worst(means, limits, eps1, 0.0)[4]:
            spent[arm] += part
        assert max(spent) <= 1 + 1e-12


RADII = [pt.Mixture(), pt.Mixture(sides="two"), pt.UnknownScale(w=0.2),
         pt.Mixture(shares=pt.Shares(arms=[0.4, 0.3, 0.1, 0.1, 0.1]))]  # fmt: skip


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("q", [1, 2])
def test_the_constants_are_those_of_the_counted_levels(radius, q):
    K, D, delta = 5, 3, 0.1
    part = 0.8 if isinstance(radius, pt.UnknownScale) else 1.0
    shares = np.array(radius.shares.arms if radius.shares else [1 / K] * K)
    found = limit_levels(radius, K, D, delta, q)
    constant = one_sided_constant if radius.sides == "one" else lambda a: -2 * np.log(a)
    assert found.keep == pytest.approx(constant(part * delta * shares))
    assert found.drop == pytest.approx(constant(part * delta * shares / (K - 1 + q)))
    assert found.pairs == delta
    if radius.shares is None:
        rivals = claim_constants(K, D, found.rivals, "claims", radius.sides, None, part).drop
        each = part * delta / (K * (K - 1 + q))
        assert rivals == pytest.approx(float(constant(np.array(each))))


def test_where_pairs_are_counted_single_arms_are_counted_beside_them():
    K, D, q = 4, 2, 2
    found = limit_levels(pt.Mixture(union="pairs"), K, D, 0.1, q)
    count = K * (K - 1) * D // 2 + K * q  # 12 + 8
    assert found.keep == pytest.approx(2 * math.log(count / 0.1))
    assert found.drop == pytest.approx(2 * math.log(count / 0.1))
    assert found.pairs == found.rivals == pytest.approx(0.1 * 12 / count)


def test_the_one_sided_constant_serves_one_stream():
    """log M >= log(1/alpha) at the boundary, for every count that l stands for."""
    for alpha in (0.3, 0.1, 1e-2, 1e-4, 1e-8):
        for ell in (0.0, 0.2, 1.0, 5.0, 20.0):
            y2 = float(one_sided_constant(alpha)) + ell
            y = math.sqrt(y2)
            log_M = math.log(2) - ell / 2 + y2 / 2 + float(log_ndtr(y))
            assert log_M >= math.log(1 / alpha)


def test_one_stream_keeps_its_promise_under_continuous_monitoring():
    """At level 0.2, 2,000 streams of 1,000 each: a correct bound fails once in 10^9 seeds."""
    rng, n = np.random.default_rng(1), np.arange(1, 1001)
    sums = rng.normal(size=(2000, 1000)).cumsum(axis=1)
    l, v = pt.Mixture().arm_terms(np.maximum(n, 8), 5, 2, 0.1)
    bound = np.sqrt((float(one_sided_constant(0.2)) + l) * v)
    wrong = ((sums / n >= bound) & (n >= 8)).any(axis=1).mean()
    assert 0.0 < wrong < 0.2


def test_narrow_intervals_settle_everything():
    """Widths below twice the slack and eps1: every arm is kept or dropped."""
    rng = np.random.default_rng(2)
    limits = {"y": Limit(most=0.75, slack=0.3, compared=True)}
    for _ in range(500):
        means = rng.integers(0, 5, (4, 2)) / 4
        error, width = rng.uniform(-1, 1, (4, 4, 2)), 0.249
        truth = means[:, None] - means[None] + (error - error.transpose(1, 0, 2)) * width / 2
        alone = means + rng.uniform(-1, 1, (4, 2)) * width
        view = moment(truth - width, truth + width, alone - width, alone + width, 0.5)
        for goal in goals(limits, 0.5):
            answer = goal.decide(view)
            assert answer is not None
            assert goal.is_correct(answer, means)


@pytest.mark.parametrize("seed", [1, 2])
def test_only_what_is_not_settled_is_sampled(seed):
    rng = np.random.default_rng(seed)
    goal = goals({"y": Limit(most=0.75)})[0]
    seen = set()
    for _ in range(400):
        means = rng.integers(0, 5, (4, 2)) / 4
        truth, width = means[:, None] - means[None], rng.exponential(0.4, (4, 4, 2))
        alone = rng.exponential(0.3, (4, 2))
        view = moment(truth - width, truth + width, means - alone, means + alone)
        said, pair = goal.verdicts(view), goal.contest(view)
        b, c = pair
        if (said.kept | said.dropped).all():  # only what is awaited could change it
            assert b == c
            assert b == 0 or said.h[b] == said.h[said.kept].min()
            continue
        seen.add(b == c)
        if b == c:
            assert not said.feasible[b]
            assert not said.infeasible[b]
        else:
            assert said.M_lower[b, c] <= 0 <= said.M_upper[b, c]
    assert seen == {True, False}


def test_needed_and_allowed_by_hand():
    """Effect and toxicity: the best arm is too toxic, the next is at the limit's edge."""
    bounds = Limits({"y": Limit(most=0.3, slack=0.05)}).bound(NAMES, [1.0, -1.0])
    means = np.array([[3.0, -0.5], [2.0, -0.32], [1.0, -0.1], [0.5, -0.1]])
    needed, allowed = bounds.sets(means)
    assert needed.tolist() == [False, False, False, False]  # arm 1 may be feasible and dominate 2
    assert allowed.tolist() == [False, True, True, False]
    goal = pt.ParetoSet(limits={"y": Limit(most=0.3, slack=0.05)}).bind(NAMES, [1.0, -1.0])
    for answer, right in [((1,), True), ((2,), True), ((1, 2), True), ((0,), False), ((3,), False)]:
        assert goal.is_correct(np.isin(np.arange(4), answer), means) == right


def test_the_empty_answer_is_right_when_nobody_is_feasible():
    goal = pt.ParetoSet(limits={"y": Limit(most=-9.0)}).bind(NAMES, SIGN)
    assert goal.is_correct(np.zeros(2, dtype=bool), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pt.at_most("a lot"), "most='a lot' must be a number"),
        (lambda: pt.at_most(float("nan")), "most=nan must be a finite number"),
        (lambda: pt.at_least(1.0, slack=-1), "slack=-1.0 must not be negative"),
        (lambda: pt.at_least(1.0, compared="yes"), "compared='yes' must be True"),
        (lambda: Limit(), "needs one of most= and least="),
        (lambda: pt.ParetoSet(limits={"y": 0.3}), r"limits\['y'\]=0.3 must be a limit, at_most"),
        (lambda: pt.ParetoSet(limits={}), "must be a table"),
        (lambda: pt.Cover(limits={"z": pt.at_most(1)}).bind(NAMES, SIGN), "'z', which is no obj"),
        (
            lambda: pt.ParetoSet(limits={"x": pt.at_most(1), "y": pt.at_most(1)}).bind(NAMES, SIGN),
            "nothing is left to be",
        ),
        (
            lambda: pt.AtMost(1, limits={"y": pt.at_most(1)}).is_correct(
                [True, False], [[0, 0]] * 2
            ),
            "has limits by name",
        ),
    ],
)
def test_bad_limits_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()
