"""Hard bandits: flawed algorithms that easy bandits let pass are found out on them."""

import json
import sys
from statistics import NormalDist

import numpy as np
import pytest
from typer.testing import CliRunner

import paretoid as pt
from paretoid import theory
from paretoid.cli.app import app
from paretoid.validation import HardBandit, delta_correctness, engine, hard_bandits

DELTA = 0.1
EASY = [
    pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [1.2, 1.2], [-1.0, -1.0]], 0.5),
    pt.GaussianBandit([[1.0, 0.0], [0.0, 1.0], [-0.8, -0.8]]),
]
SMALL = [*hard_bandits(2, 1, DELTA), *hard_bandits(5, 2, DELTA)]


def guess(bandit, delta, seed):
    """Sample every arm 20 times and believe the averages."""
    rng = np.random.default_rng(seed)
    x = np.array([bandit.sample(arm, 20, rng).mean(axis=0) for arm in range(bandit.K)])
    return theory.pareto_set(x), 20 * bandit.K


def round_robin(width, block=250):
    """All arms in turn, until each is beaten or cannot be; tested after every round."""

    def algorithm(bandit, delta, seed):
        K, D = bandit.K, bandit.D
        rng = np.random.default_rng(seed)
        sums = np.zeros((K, D))
        beaten, clear = np.zeros(K, dtype=bool), np.zeros(K, dtype=bool)
        done = 0
        itself = np.eye(K, dtype=bool)
        while True:
            x = np.array([bandit.sample(arm, block, rng) for arm in range(K)]).cumsum(axis=1)
            n = done + np.arange(1, block + 1)
            means = ((sums[:, None] + x) / n[:, None]).swapaxes(0, 1)  # (block, K, D)
            radius = width(n, K, D, delta) * bandit.scale.max()
            ahead = (means[:, :, None] - means[:, None]).max(axis=3)  # M(i, j) of every round
            lost = (ahead < -radius[:, None, None]) & ~itself
            safe = (ahead > radius[:, None, None]) | itself
            beaten_by = beaten | np.logical_or.accumulate(lost.any(axis=2))
            clear_by = clear | np.logical_or.accumulate(safe.all(axis=2))
            settled = (beaten_by | clear_by).all(axis=1)
            if settled.any():
                return ~beaten_by[settled.argmax()], int(K * n[settled.argmax()])
            sums, done = sums + x[:, -1], done + block
            beaten, clear = beaten_by[-1], clear_by[-1]

    return algorithm


def _one_look(n, K, D, delta):
    """Right at one n that was fixed beforehand, for all K (K - 1) D claims together."""
    return NormalDist().inv_cdf(1 - delta / (K * (K - 1) * D)) * np.sqrt(2 / n)


def _all_looks(n, K, D, delta):
    """The same with delta shared out over all n: 1/(n (n + 1)) sums to 1."""
    return 2 * np.sqrt(np.log(K * (K - 1) * D * n * (n + 1.0) / delta) / n)


peeking = round_robin(_one_look)
no_union = engine(pt.ParetoSet(0.3), radius=pt.Mixture(union="none"))


@pytest.mark.parametrize(("flawed", "bandits"), [(guess, SMALL), (peeking, hard_bandits(2, 1))])
def test_guessing_and_peeking_pass_where_it_is_easy_and_are_rejected_where_it_is_hard(
    flawed, bandits
):
    """Both err in three of four runs at the exact tie of two arms: missed once in 10^7 seeds."""
    assert delta_correctness(flawed, EASY, DELTA, max_runs=60).passed
    verdict = delta_correctness(flawed, bandits, DELTA, max_runs=60)
    assert verdict.rejected, verdict.summary()
    assert f"of these {len(bandits)} bandits" in verdict.summary().splitlines()[0]


def test_a_union_left_out_is_found_out_in_a_crowd():
    """30 equal arms and a margin: more than half of the runs are wrong (README)."""
    goal = pt.ParetoSet(0.3)
    assert delta_correctness(no_union, EASY, DELTA, goal=goal, max_runs=60).passed
    hard = [h for h in hard_bandits(30, 1, DELTA, eps1=0.3) if h.name == "crowd"]
    assert delta_correctness(no_union, hard, DELTA, goal=goal, max_runs=100).rejected


@pytest.mark.parametrize("eps1", [0.0, 0.5])
def test_our_engine_keeps_its_promise_on_all_of_them(eps1):
    """A correct engine fails once in 10^6 seeds at most."""
    goal = pt.ParetoSet(eps1)
    for K, D in ((2, 1), (5, 2), (4, 3)):
        ours, hard = engine(goal, max_samples=20_000), hard_bandits(K, D, DELTA, eps1=eps1)
        verdict = delta_correctness(ours, hard, DELTA, goal=goal, max_runs=25)
        assert verdict.passed, verdict.summary()
        first, near = verdict.records[:2]
        assert first.unanswered == 0
        assert near.unanswered < 13  # most runs take less than half of the budget
        tie = verdict.records[2]
        assert tie.unanswered >= 20 if eps1 == 0 else tie.unanswered == 0


def test_an_honest_elimination_passes_without_an_answer_at_ties():
    """Correct and slow: it errs in fewer than 1 of 1,000 runs."""
    verdict = delta_correctness(round_robin(_all_looks), SMALL, DELTA, max_runs=15)
    assert verdict.passed, verdict.summary()
    tie = verdict.records[2]
    assert (tie.unanswered, tie.errors, tie.faults) == (15, 0, {})
    assert "exact tie" in tie.bandit
    assert "0/15 wrong, 15 without an answer" in verdict.summary()


def test_who_hangs_is_faulty_also_where_nobody_has_to_answer():
    def gives_up(bandit, delta, seed):
        bandit.sample(0, 1, np.random.default_rng(seed))
        return None, 1

    def loops(bandit, delta, seed):
        while True:
            pass

    clear, _, tie = hard_bandits(2, 1)[:3]
    assert delta_correctness(gives_up, tie, max_runs=2).records[0].unanswered == 2
    assert [f.kind for f in delta_correctness(gives_up, clear, max_runs=2).faults] == ["unfinished"]
    hung = delta_correctness(loops, tie, max_runs=2, seconds=0.05)
    assert [f.kind for f in hung.faults] == ["unfinished"]


def test_they_are_the_same_every_time_and_scaled_to_the_margin():
    one, two = hard_bandits(4, 2, 0.05), hard_bandits(4, 2, 0.05)
    assert [h.name for h in one] == [h.name for h in two]
    assert len({h.name for h in one}) == len(one)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.bandit.means, b.bandit.means)
    for hard in hard_bandits(4, 2, eps1=0.6):
        assert isinstance(hard, HardBandit)
        assert hard.bandit.scale.max() == pytest.approx(2.0)
    only_clear = [h.must_answer for h in one]
    assert only_clear == [True] + [False] * (len(one) - 1)


@pytest.mark.parametrize("change", [{"K": 1}, {"D": 0}, {"delta": 1}, {"eps1": -1}])
def test_what_makes_no_bandit_is_refused(change):
    with pytest.raises(ValueError, match=f"{next(iter(change))}"):
        hard_bandits(**{"K": 2, "D": 1, **change})


GUESS = """
import json, sys
def say(**what): print(json.dumps(what), flush=True)
for line in sys.stdin:
    begin = json.loads(line)
    means = []
    for arm in range(begin["K"]):
        say(sample=arm, size=20)
        x = json.loads(input())["outcomes"]
        means.append([sum(column) / 20 for column in zip(*x)])
    say(answer=[i for i, a in enumerate(means)
                if not any(all(q > p for p, q in zip(a, b)) for b in means)])
"""


def test_the_command_line_rejects_a_program_that_guesses(tmp_path):
    script = tmp_path / "guess.py"
    script.write_text(GUESS.replace("input()", "sys.stdin.readline()"), encoding="utf-8")
    words = ["certify", "--program", f"{sys.executable} {script}", "--long-lived", "--json"]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 1
    found = json.loads(said.output)
    assert found["rejected"]
    assert found["verdict"].endswith("of these 10 bandits")
