"""The sequential test: its mathematics exactly, and algorithms that misbehave."""

import math
import re
import signal
import threading

import numpy as np
import pytest

import paretoid as pt
from paretoid.intervals import share_upper_bound
from paretoid.validation import assert_delta_correct, delta_correctness, engine
from paretoid.validation.delta_correct import run_seed
from paretoid.validation.evidence import log_evidence, sequential_upper_bound
from paretoid.validation.guard import (
    OutOfBudget,
    assert_independent_replications,
    fingerprint,
    guarded,
)

PAIR = pt.GaussianBandit([[0.0], [1.0]])
RIGHT = np.array([False, True])


def coin(rate):
    """Wrong with probability `rate`."""

    def algorithm(bandit, delta, seed):
        wrong = np.random.default_rng(seed).random() < rate
        return (~RIGHT if wrong else RIGHT), 1

    return algorithm


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5])
def test_at_delta_the_bet_is_a_martingale(delta):
    for n in (0, 1, 7, 50):
        for s in {0, n // 3, n}:
            up, down = (math.exp(log_evidence(n + 1, s + x, delta)) for x in (1, 0))
            now = math.exp(log_evidence(n, s, delta))
            assert delta * up + (1 - delta) * down == pytest.approx(now, rel=1e-9)


@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_the_bet_loses_on_average_below_delta(delta):
    for n, s in ((0, 0), (10, 1), (40, 20)):
        up, down = (math.exp(log_evidence(n + 1, s + x, delta)) for x in (1, 0))
        p = delta / 2
        assert p * up + (1 - p) * down <= math.exp(log_evidence(n, s, delta))


def _ever(p, horizon, crossed):
    """P(crossed(n, s) for some n <= horizon), exactly, for s successes of probability p."""
    alive, total = np.array([1.0]), 0.0
    for n in range(1, horizon + 1):
        alive = np.concatenate([alive * (1 - p), [0.0]]) + np.concatenate([[0.0], alive * p])
        out = np.array([crossed(n, s) for s in range(n + 1)])
        total += alive[out].sum()
        alive = np.where(out, 0.0, alive)
    return total


def test_a_correct_algorithm_is_rejected_less_often_than_promised():
    limit = math.log(1 / 0.05)
    ever = _ever(0.1, 200, lambda n, s: log_evidence(n, s, 0.1) >= limit)
    assert 0.001 < ever <= 0.05


def test_the_sequential_bound_holds_at_all_times_together():
    ever = _ever(0.2, 120, lambda n, s: sequential_upper_bound(n, s, 0.9) < 0.2)
    assert 0.001 < ever <= 0.1


def test_the_sequential_bound_is_wider_than_the_fixed_one():
    for n, s in ((10, 0), (100, 5), (1000, 100)):
        assert sequential_upper_bound(n, s) > share_upper_bound(s, n)
    assert sequential_upper_bound(0, 0) == 1.0


def test_an_algorithm_far_above_delta_is_rejected_early():
    verdict = delta_correctness(coin(0.5), PAIR, delta=0.05, max_runs=500)
    assert verdict.rejected
    assert verdict.runs < 60
    assert not verdict.passed
    with pytest.raises(AssertionError, match="REJECTED"):
        assert_delta_correct(coin(0.5), PAIR, delta=0.05)


def test_a_right_algorithm_is_certified_with_a_number():
    # Wrong with chance 0.02: rejected at delta = 0.1 in less than one in 10^6 seeds.
    verdict = delta_correctness(coin(0.02), PAIR, delta=0.1, max_runs=400)
    assert verdict.certified
    assert verdict.errors == verdict.records[0].errors
    assert verdict.errors / 400 < verdict.records[0].clopper_pearson < verdict.upper <= 0.1
    assert "certified" in verdict.summary()


def test_everything_follows_from_the_seed():
    one, two = (delta_correctness(coin(0.3), PAIR, delta=0.5, seed=4) for _ in range(2))
    assert one == two
    assert one != delta_correctness(coin(0.3), PAIR, delta=0.5, seed=5)


def test_the_promise_must_hold_on_every_bandit():
    def half(bandit, delta, seed):
        return coin(0.5 if bandit.means[1, 0] > 5 else 0.0)(bandit, delta, seed)

    others = [PAIR] * 9 + [pt.GaussianBandit([[0.0], [9.0]])]
    verdict = delta_correctness(half, others, delta=0.1, max_runs=100)
    assert verdict.rejected  # pooled, the error rate would be 0.05
    assert [record.errors > 0 for record in verdict.records] == [False] * 9 + [True]


def _only_fault(verdict):
    assert not verdict.passed
    assert not verdict.rejected
    (fault,) = verdict.faults
    assert str(fault.seed) in verdict.summary()
    return fault


def sometimes(trouble):
    """Run `trouble` for one seed in four, else answer rightly."""

    def algorithm(bandit, delta, seed):
        return trouble(bandit) if seed % 4 == 0 else (RIGHT, 1)

    return algorithm


def _raise(bandit):
    raise RuntimeError("disk full")


def _forever(bandit):
    rng = np.random.default_rng()  # fresh noise, so that budget is the only trouble
    while True:
        try:
            bandit.sample(0, 10, rng)
        except Exception:
            continue  # must not swallow the budget


def _mutate(bandit):
    bandit.means = bandit.means + 1
    return RIGHT, 1


def _overwrite(bandit):
    bandit.means.setflags(write=True)
    bandit.means[:] = 7.0
    return RIGHT, 1


def _leave(bandit):
    raise SystemExit("enough")


@pytest.mark.parametrize(
    ("trouble", "kind", "words"),
    [
        (_raise, "raised", "RuntimeError: disk full"),
        (lambda b: (RIGHT[:1], 1), "malformed", r"shape \(1,\)"),
        (lambda b: ([0, 1], 1), "malformed", "int64"),
        (lambda b: RIGHT, "malformed", "stopping time"),
        (lambda b: None, "malformed", "not \\(mask, samples\\)"),
        (lambda b: (RIGHT, -1), "malformed", "no number of samples"),
        (lambda b: (RIGHT, 1.5), "malformed", "no number of samples"),
        (lambda b: ([[True], [True, False]], 1), "malformed", "no mask"),
        (lambda b: (None, 77), "unfinished", "gave up after 77"),
        (_forever, "unfinished", "budget of 1000"),
        (_mutate, "mutated", "changed its bandit"),
        (_overwrite, "mutated", "changed its bandit"),
        (_leave, "raised", "SystemExit: enough"),
    ],
)
def test_misbehaviour_is_reported_with_its_seed_and_the_rest_goes_on(trouble, kind, words):
    algorithm = sometimes(trouble)
    verdict = delta_correctness(algorithm, PAIR, max_runs=60, budget=1000)
    fault = _only_fault(verdict)
    assert fault.kind == kind
    assert fault.seed % 4 == 0
    assert re.search(words, fault.detail)
    record = verdict.records[0]
    assert record.runs == 60
    assert 5 <= record.faults[kind] <= 30  # one in four of 60
    assert record.errors == 0
    assert record.worst > record.upper


def test_an_empty_set_is_a_wrong_answer_and_said_to_be_empty():
    verdict = delta_correctness(lambda b, d, s: (np.zeros(2, dtype=bool), 3), PAIR, max_runs=50)
    assert verdict.rejected
    assert verdict.records[0].empty == verdict.errors
    assert f"empty set shown by seed {run_seed(0, 0, 0)}" in verdict.summary()


def test_a_run_that_loops_without_drawing_is_ended_by_the_clock():
    def hang(bandit):
        while True:
            pass

    if threading.current_thread() is not threading.main_thread():  # some test runners
        with pytest.raises(ValueError, match="main thread"):
            delta_correctness(sometimes(hang), PAIR, max_runs=8, seconds=0.05)
        return
    verdict = delta_correctness(sometimes(hang), PAIR, max_runs=8, seconds=0.05)
    assert _only_fault(verdict).kind == "unfinished"


def test_a_time_limit_is_refused_where_no_timer_can_ring():
    found = []

    def elsewhere():
        try:
            delta_correctness(coin(0.0), PAIR, max_runs=1, seconds=1.0)
        except ValueError as error:
            found.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert "needs the main thread" in found[0]


def test_frozen_randomness_is_found():
    def same(bandit, delta, seed):
        x = bandit.sample(1, 5, 0).mean() > bandit.sample(0, 5, 1).mean()
        return np.array([not x, x]), 10

    assert _only_fault(delta_correctness(same, PAIR, max_runs=5)).kind == "shared"


def test_a_seed_that_does_not_repeat_its_run_is_found():
    calls = []

    def restless(bandit, delta, seed):
        calls.append(seed)
        return RIGHT, len(calls)

    assert _only_fault(delta_correctness(restless, PAIR, max_runs=5)).kind == "irreproducible"


def test_the_bandit_itself_is_never_touched():
    before = PAIR.means.copy()
    delta_correctness(lambda b, d, s: _mutate(b), PAIR, max_runs=3)
    delta_correctness(lambda b, d, s: _overwrite(b), PAIR, max_runs=3)
    np.testing.assert_array_equal(PAIR.means, before)
    assert type(PAIR) is pt.GaussianBandit


@pytest.mark.parametrize("goal", [pt.ParetoSet(0.2), pt.AtMost(1, 0.2), pt.Cover(0.2, 0.3)])
def test_our_engine_keeps_its_promise(goal):
    bandits = [
        pt.GaussianBandit([[0.0, 2.0], [2.0, 0.0], [0.5, 0.5]], minimize=["objective 1"]),
        pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.05, 0.1]]),
    ]
    # A correct engine fails once in 10^6 seeds at most.
    assert assert_delta_correct(engine(goal), bandits, goal=goal, max_runs=80).certified


def test_our_engine_out_of_budget_is_unfinished_not_wrong():
    verdict = delta_correctness(
        engine(max_samples=10), pt.GaussianBandit([[0.0], [0.1]]), max_runs=3
    )
    assert _only_fault(verdict).kind == "unfinished"


def test_our_engine_is_ended_by_the_budget_like_any_other():
    close = pt.GaussianBandit([[0.0], [0.01]])
    fault = _only_fault(delta_correctness(engine(), close, max_runs=3, budget=5000))
    assert fault.kind == "unfinished"
    assert "budget of 5000" in fault.detail


def test_simulate_gives_every_replication_its_own_noise():
    assert_independent_replications(pt.simulate, PAIR, replications=40, seed=3)
    assert_independent_replications(pt.simulate, Coins(COINS), replications=6, seed=3)


class Coins(pt.Bandit):
    """Drawn one at a time, from the stream itself."""

    def draw(self, rng, arm):
        return (rng.random(self.D) < self.means[arm]).astype(float)


class ByFill(Coins):
    """Drawn one at a time, by a block of one row."""

    def draw(self, rng, arm):
        noise = np.empty((1, self.D))
        self.fill(rng, noise)
        return (noise[0] < self.means[arm]).astype(float)


COINS = [[0.9], [0.1]]


@pytest.mark.parametrize("kind", [Coins, ByFill])
def test_a_guard_counts_what_is_drawn_singly(kind):
    given = guarded(kind(COINS, 0.5), budget=10)
    rng = np.random.default_rng(1)
    given.sample(0, 7, rng)
    given.draw(rng, 1)
    assert given.drawn == 8
    with pytest.raises(OutOfBudget, match="budget of 10"):
        given.sample(0, 3, rng)
    assert given.draws_singly
    assert fingerprint(given) == fingerprint(kind(COINS, 0.5))


@pytest.mark.parametrize("kind", [Coins, ByFill])
def test_a_budget_ends_an_algorithm_on_a_bandit_that_draws_singly(kind):
    def endless(bandit, delta, seed):
        while True:
            bandit.sample(0, 5, np.random.default_rng(seed))

    verdict = delta_correctness(endless, kind(COINS, 0.5), max_runs=3, budget=1000)
    assert _only_fault(verdict).kind == "unfinished"


def test_runs_that_share_their_stream_are_told_also_where_outcomes_are_drawn_singly():
    def first_arm(bandit, delta, seed):
        bandit.sample(0, 3, np.random.default_rng(7))
        return np.array([True, False]), 3

    bandit = Coins(COINS, 0.5)
    assert _only_fault(delta_correctness(first_arm, bandit, max_runs=5)).kind == "shared"

    def own(bandit, delta, seed):  # three coins are often the same: that is no fault
        bandit.sample(0, 3, np.random.default_rng(seed))
        return np.array([True, False]), 3

    assert delta_correctness(own, bandit, max_runs=20).faults == ()


def test_replications_that_share_a_stream_are_told_also_where_outcomes_are_drawn_singly():
    def copies(bandit, replications, seed):
        for _ in range(replications):
            bandit.sample(0, 3, np.random.default_rng(seed))

    for bandit in (Coins(COINS), PAIR):
        with pytest.raises(AssertionError, match="only 1 different streams"):
            assert_independent_replications(copies, bandit, replications=4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"algorithm": 3}, "must be callable"),
        ({"bandits": []}, "non-empty"),
        ({"bandits": [1]}, "must be a Bandit"),
        ({"delta": 1.5}, "strictly between 0 and 1"),
        ({"goal": "psi"}, "must be one of ParetoSet, Cover"),
        ({"goal": pt.AtMost(5)}, "k=5"),
        ({"false_alarm": 0}, "false_alarm=0"),
        ({"max_runs": 0}, "max_runs=0"),
        ({"confidence": 2}, "confidence=2"),
        ({"budget": 0}, "budget=0"),
        ({"seconds": -1}, "seconds=-1"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_bad_arguments_are_refused_in_sentences(change, words):
    arguments = {"algorithm": coin(0.0), "bandits": PAIR, "delta": 0.1, **change}
    with pytest.raises(ValueError, match=words):
        delta_correctness(**arguments)


def test_a_limit_of_ages_is_refused_and_leaves_no_alarm_behind():
    """A limit that no timer knows is a mistake of the caller's, not of the algorithm."""

    def algorithm(bandit, delta, seed):
        return np.array([True, True]), 1

    bandit = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]])
    for seconds in (2**62, 1e300, 2**1000):
        with pytest.raises(ValueError, match=r"seconds=.* must be .* at most"):
            assert_delta_correct(algorithm, [bandit], delta=0.1, seconds=seconds)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, signal.SIG_IGN)
