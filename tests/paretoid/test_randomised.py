"""Randomised, concealed allocation: what is drawn, what the ledger shows, what is refused."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import shutil
import stat
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import paretoid as pt
from paretoid.cli.trial import app
from paretoid.explorer import Design, LedgerError
from paretoid.explorer.design_toml import design_toml
from paretoid.explorer.secret import Secret
from paretoid.randomisation import Randomisation, composition, pick, raised

ARMS = ["placebo", "dose 1", "dose 2", "dose 3"]
MEANS = {"placebo": 0.0, "dose 1": 0.5, "dose 2": 0.6, "dose 3": 3.0}


def trial(folder, scheme, name="t", ledger=False, **options):
    """A trial of ARMS, with its seed file in `folder`."""
    return pt.Explorer(
        ARMS, ["response"], scale=1.0, randomise=scheme, seed_file=folder / f"{name}.json",
        ledger=folder / f"{name}.db" if ledger else None, author="", **options,
    )  # fmt: skip


def run(explorer, n, rng, strata=(None,)):
    """n participants, each told before the next comes; their arms."""
    arms = []
    for i in range(n):
        placed = explorer.ask(stratum=strata[i % len(strata)])
        explorer.tell(placed, [MEANS[placed.arm] + rng.normal()])
        arms.append(placed.arm)
    return arms


# -- the numbers -----------------------------------------------------------------------------------

shares = st.lists(st.floats(0, 1), min_size=2, max_size=6).filter(lambda x: sum(x) > 0.01)


@given(shares, st.floats(0, 1), st.integers(2, 30), st.floats(0, 1, exclude_max=True))
@settings(max_examples=60, deadline=None)
def test_no_arm_is_below_its_floor_and_a_block_has_what_its_probabilities_say(w, f, size, chance):
    K = len(w)
    floors = [f * (i + 1) / (K * (K + 1) / 2) for i in range(K)]  # they add up to f
    p = raised([x / math.fsum(w) for x in w], floors)
    assert math.isclose(math.fsum(p), 1.0, abs_tol=1e-12)
    assert all(q >= least - 1e-12 for q, least in zip(p, floors, strict=True))
    above = [(q, x) for q, x, least in zip(p, w, floors, strict=True) if q > least + 1e-9]
    ratios = [q / x for q, x in above]
    assert all(math.isclose(r, ratios[0], rel_tol=1e-6) for r in ratios)  # proportions are kept
    made = composition(p, size, chance)
    assert sum(made) == size
    for n, q in zip(made, p, strict=True):
        assert math.floor(size * q - 1e-6) <= n <= math.ceil(size * q + 1e-6)


def test_a_block_has_each_arm_as_often_as_its_probability_on_average():
    p = [0.07, 0.4, 0.03, 0.5]
    grid = (np.arange(10_000) + 0.5) / 10_000  # chance is uniform, so the mean is an integral
    mean = np.mean([composition(p, 7, chance) for chance in grid], axis=0)
    np.testing.assert_allclose(mean, 7 * np.array(p), atol=1e-3)


def test_an_arm_is_picked_by_its_weight():
    grid = (np.arange(1000) + 0.5) / 1000
    seen = Counter(pick([1, 0, 3], chance) for chance in grid)
    assert seen == {0: 250, 2: 750}


def test_lots_are_what_an_auditor_computes_from_the_seed_file(tmp_path):
    secret = Secret.new()
    secret.save(tmp_path / "seed.json")
    data = json.loads((tmp_path / "seed.json").read_text())
    key = bytes.fromhex(data["secret"])
    assert len(key) == 32
    mac = hmac.new(key, f"{data['trial']}\n5\nnorth".encode(), hashlib.sha512).digest()
    word = int.from_bytes(mac[:8], "big") >> 11
    assert secret.lots("north", 5)[0] == word / 2**53
    text = f"paretoid randomisation\n{data['trial']}\n{data['secret']}"
    assert secret.public["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert stat.S_IMODE((tmp_path / "seed.json").stat().st_mode) == 0o600
    assert data["secret"] not in repr(secret)


# -- trials ----------------------------------------------------------------------------------------


def test_without_floors_a_block_is_the_batch_of_the_rule_in_another_order(tmp_path):
    rng = np.random.default_rng(1)
    drawn = trial(tmp_path, Randomisation(floor=0.0, block=8))
    plain = pt.Explorer(ARMS, ["response"], scale=1.0)
    for _ in range(5):
        ours, theirs = drawn.ask(8), plain.ask(8)
        assert Counter(a.arm for a in ours) == Counter(a.arm for a in theirs)
        outcomes = {arm: list(MEANS[arm] + rng.normal(size=8)) for arm in ARMS}
        for asked, explorer in ((ours, drawn), (theirs, plain)):
            left = {arm: list(values) for arm, values in outcomes.items()}
            for placed in sorted(asked, key=lambda a: a.id):
                explorer.tell(placed, [left[placed.arm].pop()])


@pytest.mark.parametrize("block", [None, 6, (4, 6)])
def test_two_trials_with_the_same_outcomes_have_different_arms(tmp_path, block):
    scheme = Randomisation(floor=0.1, block=block)
    lists = [
        run(trial(tmp_path, scheme, str(i), delta=1e-99), 40, np.random.default_rng(1))
        for i in range(2)
    ]
    assert lists[0] != lists[1]  # equal by chance less than once in 10^6 pairs of secrets


def test_a_batch_is_what_single_calls_within_a_block_give(tmp_path):
    one = trial(tmp_path, Randomisation(block=6))
    arms = [a.arm for a in one.ask(6)]
    other = trial(tmp_path, Randomisation(block=6), "other")
    other._secret = one._secret  # the same list
    other_arms = [other.ask().arm for _ in range(6)]
    assert arms == other_arms


def test_every_arm_keeps_its_floor_and_the_control_its_share(tmp_path):
    scheme = Randomisation(floor=0.1, block=10, control="placebo", control_share=0.3)
    explorer = trial(tmp_path, scheme, delta=1e-99)
    arms = run(explorer, 100, np.random.default_rng(1))
    for block in range(10):  # 10 p is a whole number at the floors
        seen = Counter(arms[10 * block : 10 * block + 10])
        assert min(seen[arm] for arm in ARMS) >= 1
        assert seen["placebo"] >= 3
    status = explorer.status()
    assert status.control == "placebo"
    assert status.to_dict()["control"] == "placebo"
    assert all(f"{arm} - placebo" in str(status) for arm in ARMS[1:])
    assert "placebo - placebo" not in str(status)


def test_strata_have_blocks_of_their_own(tmp_path):
    scheme = Randomisation(floor=0.25, block=4, strata=["north", "south"])
    explorer = trial(tmp_path, scheme)
    arms = run(explorer, 16, np.random.default_rng(1), ["north", "south"])
    for site in (arms[::2], arms[1::2]):
        assert sorted(site[:4]) == sorted(site[4:]) == sorted(ARMS)
    explorer.ask(request="visit 1", stratum="north")
    with pytest.raises(ValueError, match="stratum 'north', and now comes for 'south'"):
        explorer.ask(request="visit 1", stratum="south")
    assert explorer.ask(request="visit 1", stratum="north").id == 17


def test_the_ledger_alone_does_not_say_who_is_next(tmp_path):
    explorer = trial(tmp_path, Randomisation(floor=0.25, block=(4, 8)), ledger=True)
    explorer.ask(2)
    bodies = [json.loads(row[4]) for row in explorer.rows()]
    assert set(bodies[0]["secret"]) == {"trial", "sha256"}
    assert set(bodies[1]) == {"first", "arms", "rest", "ended", "drawn"}
    assert bodies[1]["rest"] == []
    assert bodies[1]["drawn"] == [{"at": 0, "probabilities": [0.25] * 4}]
    key = json.loads((tmp_path / "t.json").read_text())["secret"]
    explorer.close()
    assert key.encode() not in (tmp_path / "t.db").read_bytes()
    assert bytes.fromhex(key) not in (tmp_path / "t.db").read_bytes()


@pytest.mark.parametrize("rule", [pt.RoundRobin(), pt.UniformElimination(), pt.Tracking()])
def test_rules_in_rounds_and_with_a_memory_are_randomised_verified_and_answer(tmp_path, rule):
    explorer = trial(tmp_path, Randomisation(block=5), rule=rule)
    rng = np.random.default_rng(1)
    for _ in range(60):
        if explorer.answer is not None:
            break
        for placed in explorer.ask(5):
            explorer.tell(placed, [MEANS[placed.arm] + rng.normal()])
    assert explorer.answer == ("dose 3",)
    explorer.verify(seed_file=tmp_path / "t.json")


def test_a_ledger_goes_on_where_it_was_from_its_snapshot_too(tmp_path, monkeypatch):
    monkeypatch.setattr("paretoid.explorer.session._SNAPSHOT", 5)
    scheme = Randomisation(block=6, strata=["north", "south"])
    explorer = trial(tmp_path, scheme, ledger=True)
    rng = np.random.default_rng(1)
    run(explorer, 9, rng, ["north", "south", "north"])
    explorer.close()
    with pt.Explorer.open(tmp_path / "t.db", seed_file=tmp_path / "t.json") as again:
        assert any(row[3] == "kept" for row in again.rows())
        lists, replayed = again._current().lists.to_dict(), again.replay().lists.to_dict()
        assert lists == replayed
        run(again, 9, rng, ["south"])
        again.verify(seed_file=tmp_path / "t.json")


def test_overrides_and_withdrawals_take_their_place_in_the_list(tmp_path):
    explorer = trial(tmp_path, Randomisation(floor=0.25, block=4))
    first, second, *rest = explorer.ask(4)
    new = explorer.override(first, "dose 3", reason="allergy")
    explorer.withdraw(second, reason="nobody came")
    for placed in (new, *rest):
        explorer.tell(placed, [MEANS[placed.arm]])
    assert sorted(a.arm for a in explorer.ask(4)) == sorted(ARMS)  # a block of its own
    explorer.verify(seed_file=tmp_path / "t.json")


# -- the proof afterwards --------------------------------------------------------------------------


def test_verify_finds_an_arm_that_is_not_on_the_list(tmp_path):
    explorer = trial(tmp_path, Randomisation(block=6))
    run(explorer, 5, np.random.default_rng(1))
    body = explorer._proposal(explorer._current(), 1, None)
    body["arms"] = ["dose 2" if body["arms"] != ["dose 2"] else "dose 1"]
    with explorer._writing():
        explorer._record("asked", body)  # a chain as sound as any
    explorer.verify()
    with pytest.raises(LedgerError, match=r"event \d+ \(asked\) gave allocation 6 the arm"):
        explorer.verify(seed_file=tmp_path / "t.json")


def test_verify_finds_probabilities_that_nobody_wished_for(tmp_path):
    explorer = trial(tmp_path, Randomisation())
    run(explorer, 5, np.random.default_rng(1))
    body = explorer._proposal(explorer._current(), 1, None)
    body["drawn"][0]["probabilities"] = [0.4, 0.2, 0.2, 0.2]
    with explorer._writing():
        explorer._record("asked", body)
    with pytest.raises(LedgerError, match="other probabilities than the rule's wishes"):
        explorer.verify(seed_file=tmp_path / "t.json")


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "says"),
    [
        (lambda: Randomisation(floor=0.3), "add up to 1.2, and there is only 1 to share out"),
        (lambda: Randomisation(floor=0.25, control="placebo", control_share=0.5), "add up to 1.25"),
        (lambda: Randomisation(floor={"dose 4": 0.1}), "floor names 'dose 4'"),
        (lambda: Randomisation(control="placbo"), "did you mean 'placebo'"),
        (lambda: Randomisation(control_share=0.2), "control= says which arm"),
        (lambda: Randomisation(control="placebo", control_share=0), "must be positive"),
        (lambda: Randomisation(floor=-0.1), "must be a probability"),
        (lambda: Randomisation(floor=True), "must be a finite number"),
        (lambda: Randomisation(floor=10**400), "must be a finite number"),
        (lambda: Randomisation(floor=math.nan), "must be a finite number"),
        (lambda: Randomisation(block=1), "at least 2|in 2"),
        (lambda: Randomisation(block=[4, 4]), "different lengths"),
        (lambda: Randomisation(block="6"), "must be an integer"),
        (lambda: Randomisation(strata="north"), "list of different names"),
        (lambda: Randomisation(strata=["a", "a"]), "list of different names"),
        (lambda: Randomisation.from_dict({"blok": 4}), "did you mean 'block'"),
        (lambda: Randomisation.from_dict([4]), "must be a table"),
        (lambda: "blocks", "must be a Randomisation"),
    ],
)
def test_a_scheme_that_does_not_fit_is_refused_in_a_sentence(scheme, says):
    with pytest.raises(ValueError, match=says):
        Design(ARMS, ["x"], randomise=scheme())


def test_a_budget_rule_is_not_randomised():
    with pytest.raises(ValueError, match="rests on how arms were chosen"):
        Design(
            ARMS, ["x"], scale=1.0, rule=pt.EGE("SR", budget=100),
            radius=pt.Mixture(sides="two"), randomise=Randomisation(),
        )  # fmt: skip


def test_a_design_file_has_the_whole_scheme():
    import tomllib

    scheme = Randomisation({"placebo": 0.1}, (4, 6), ["north"], "placebo", 0.3)
    design = Design(ARMS, ["x"], randomise=scheme)
    again = Design.from_dict(tomllib.loads(design_toml(design)))
    assert again.randomise == scheme
    assert again.same_as(design)
    assert "randomise" not in Design(ARMS, ["x"]).to_dict()


def test_no_ledger_is_left_where_the_seed_file_cannot_be_and_no_seed_file_without_ledger(tmp_path):
    scheme = Randomisation()
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(ValueError, match="exists already"):
        trial(tmp_path, scheme, ledger=True)
    (tmp_path / "t.json").unlink()
    (tmp_path / "t.db").write_text("")
    with pytest.raises(LedgerError, match="exists already"):
        trial(tmp_path, scheme, ledger=True)
    assert not (tmp_path / "t.json").exists()
    (tmp_path / "t.db").unlink()
    with pytest.raises(ValueError, match="needs a seed file"):
        pt.Explorer(ARMS, ["x"], randomise=scheme, ledger=tmp_path / "t.db")
    with pytest.raises(ValueError, match="is for a randomised trial"):
        pt.Explorer(ARMS, ["x"], seed_file=tmp_path / "t.json", ledger=tmp_path / "t.db")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Call `paretoid trial`; returns (exit code, stdout) or the refusal."""
    monkeypatch.chdir(tmp_path)
    scheme = Randomisation(floor=0.1, block=4, strata=["north", "south"])
    design = Design(ARMS, ["response"], scale=1.0, randomise=scheme)
    Path("design.toml").write_text(design_toml(design), encoding="utf-8")

    def call(*words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        if isinstance(result.exception, ValueError):
            return str(result.exception)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.exit_code, result.stdout

    return call


def test_the_commands_from_the_secret_to_the_proof_and_every_refusal(command):
    assert "needs a seed file" in command("new", "design.toml", "t.db")
    assert not Path("t.db").exists()
    code, said = command("new", "design.toml", "t.db", "--seed-file", "s.json",
                         "--control", "placebo=30%")  # fmt: skip
    assert code == 0
    assert "permuted blocks of 4" in said
    assert "30% to placebo, the control" in " ".join(said.split())
    code, said = command("next", "t.db", "--seed-file", "s.json", "--stratum", "north", "-n", 5)
    assert code == 0
    head = said.split()[-1]
    other = ("new", "design.toml", "u.db", "--seed-file", "u.json")
    assert command(*other)[0] == 0
    Path("open.json").write_bytes(Path("s.json").read_bytes())
    os.chmod("open.json", 0o644)
    Path("bad.json").write_text("{}")
    os.chmod("bad.json", 0o600)
    for words, why in (
        ((), "who gets which arm follows from its seed file"),
        (("--seed-file", "s.json"), "say which the participant belongs to: north, south"),
        (("--seed-file", "s.json", "--stratum", "west"), "stratum='west' was not declared"),
        (("--seed-file", "u.json", "--stratum", "north"), "does not fit the hash in the ledger"),
        (("--seed-file", "none.json", "--stratum", "north"), "cannot be read: No such file"),
        (("--seed-file", "open.json", "--stratum", "north"), "has mode 0644"),
        (("--seed-file", "bad.json", "--stratum", "north"), "is no seed file"),
    ):
        assert why in command("next", "t.db", *words)
    assert command("verify", "t.db", "--head", head)[0] == 0
    assert command("status", "t.db", "--json")[1].count(head) == 1  # nothing was recorded
    assert "shows only with --seed-file" in command("verify", "t.db")[1]
    assert "is the one that the secret's list says" in command(
        "verify", "t.db", "--seed-file", "s.json"
    )[1]  # fmt: skip
    assert "does not fit the hash" in command("verify", "t.db", "--seed-file", "u.json")


def test_a_plain_trial_takes_no_seed_file_no_stratum_and_no_control(command):
    Path("plain.toml").write_text(design_toml(Design(ARMS, ["response"], scale=1.0)))
    assert "has no [randomise]" in command("new", "plain.toml", "p.db", "--seed-file", "p.json")
    assert "has no [randomise]" in command("new", "plain.toml", "p.db", "--control", "placebo")
    assert not Path("p.json").exists()
    assert command("new", "plain.toml", "p.db")[0] == 0
    Secret.new().save("p.json")
    assert "is not randomised" in command("next", "p.db", "--seed-file", "p.json")
    assert "is not randomised" in command("next", "p.db", "--stratum", "north")
    assert "is not randomised" in command("verify", "p.db", "--seed-file", "p.json")


def test_what_would_tell_the_control_is_refused_in_a_blinded_trial(command):
    words = ("new", "design.toml", "t.db", "--seed-file", "s.json", "--blind", "key.json")
    assert "gives the control arm by arm" in command(*words, "--control", "placebo")
    assert not Path("s.json").exists()
    assert command(*words)[0] == 0


def test_an_old_ledger_is_not_randomised_and_goes_on(tmp_path):
    shutil.copy(Path(__file__).with_name("old_files") / "ape.db", tmp_path / "old.db")
    with pt.Explorer.open(tmp_path / "old.db") as old:
        assert old.design.randomise is None
        assert old.status().control is None
        old.ask(2)
        old.verify()


# -- simulated -------------------------------------------------------------------------------------

BANDIT = pt.GaussianBandit([[0.0], [0.5], [0.6], [3.0]], 1.0, arms=ARMS)


def simulated(scheme, n=60, **options):
    conduct = pt.Conduct(look=20, randomise=scheme)
    options = {"delta": 1e-99, "replications": 2, "seed": 1, **options}
    return pt.simulate(BANDIT, conduct=conduct, max_samples=n, **options)


def test_a_simulated_trial_keeps_floors_and_the_control_and_repeats_itself():
    scheme = Randomisation(floor=0.1, block=10, control="placebo", control_share=0.3)
    runs, again = simulated(scheme), simulated(scheme)
    pulls = runs.pulls.values[0]
    assert (pulls.sum(axis=1) == 60).all()
    assert (pulls >= 6).all()  # six blocks, and 10 p is a whole number at the floors
    assert (pulls[:, 0] >= 18).all()
    assert (pulls == again.pulls.values[0]).all()
    assert (pulls != simulated(scheme, seed=2).pulls.values[0]).any()
    assert "randomised: permuted blocks of 10" in runs.attrs["conduct"]
    assert runs.attrs["guarantee"] == "proved"


def test_a_simulated_trial_takes_the_arms_of_a_live_one_with_the_same_lots(tmp_path):
    from paretoid import loop
    from paretoid.runs import conducted
    from paretoid.runs.chunk import generator
    from paretoid.runs.setting import Setting

    scheme = Randomisation(floor=0.1, block=(4, 6), strata=["north", "south"])
    setting = Setting(BANDIT, (pt.ParetoSet(),), pt.APE(), pt.Mixture(), 1e-99, 40,
                      pt.Conduct(look=5, randomise=scheme))  # fmt: skip
    assert not setting.compiled
    lots, arms = np.random.default_rng(3).random((40, 4)), []
    draws = loop.outcomes_from(BANDIT, generator(1, (0,)))
    conducted.run(setting, draws, np.zeros((0, 2)), watch=lambda i, a: arms.append(a), lots=lots)
    site = np.where(lots[:, 3] < 0.5, "north", "south")
    rows = {name: lots[site == name] for name in ("north", "south")}

    class Table:
        """A secret whose numbers are the table's."""

        def lots(self, stratum, number):
            return tuple(rows[stratum][number - 1][:3])

    live = trial(tmp_path, scheme, delta=1e-99)
    live._secret = Table()
    outcomes = loop.outcomes_from(BANDIT, generator(1, (0,)))
    for i, arm in enumerate(arms):
        placed = live.ask(stratum=str(site[i]))
        assert placed.arm == ARMS[arm]
        live.tell(placed, outcomes(arm))


def test_a_conduct_with_a_scheme_is_read_back_and_refuses_what_does_not_fit():
    conduct = pt.Conduct(rate=5.0, randomise=Randomisation(0.1, (4, 6), ["north"]))
    assert pt.Conduct.from_dict(json.loads(json.dumps(conduct.to_dict()))) == conduct
    assert not conduct.is_ideal
    assert eval(repr(conduct), {"Conduct": pt.Conduct, "Randomisation": Randomisation}) == conduct
    with pytest.raises(ValueError, match=r"add up to 1\.2"):
        simulated(Randomisation(floor=0.3))
    with pytest.raises(ValueError, match="must be a Randomisation"):
        pt.Conduct(randomise="blocks")
    with pytest.raises(ValueError, match="places arms in turn"):
        pt.Conduct(randomise=Randomisation(), burn_in=2)


def test_the_options_of_plan_and_simulate_say_the_whole_scheme():
    from paretoid.cli.conduct import read, scheme_of

    scheme = scheme_of("4,6", ["A=10%", "B=0.2"], "A=30%", "north, south")
    assert scheme == Randomisation({"A": 0.1, "B": 0.2}, (4, 6), ["north", "south"], "A", 0.3)
    assert scheme_of("simple", ["10%"], "A", None) == Randomisation(0.1, control="A")
    assert scheme_of("6", None, None, None) == Randomisation(block=6)
    assert read(None, None, None, None, 0, scheme) == pt.Conduct(randomise=scheme)
    assert read(None, None, None, None, 0, scheme_of(None, None, None, None)) is None
    with pytest.raises(ValueError, match="--control is about how arms are drawn by chance"):
        scheme_of(None, None, "A", None)
    with pytest.raises(ValueError, match="must be simple, or the length of blocks"):
        scheme_of("blocks", None, None, None)


def test_a_design_takes_the_scheme_of_the_conduct_that_was_simulated_and_says_it_once():
    from paretoid.registry import split

    scheme = Randomisation({"placebo": 0.2}, (4, 6), ["north"], "placebo")
    conduct = pt.Conduct(look=10, randomise=scheme)
    assert pt.Conduct(**split(repr(conduct))[1]) == conduct  # as a plan keeps it
    design = Design(ARMS, ["x"], conduct=conduct, max_samples=50)
    assert design.randomise == scheme
    assert design.conduct == pt.Conduct(look=10)
    assert Design.from_dict(design.to_dict()).same_as(design)
    alone = Design(ARMS, ["x"], conduct=pt.Conduct(randomise=scheme), max_samples=50)
    assert alone.conduct is None
    with pytest.raises(ValueError, match="both say how arms are drawn, and differ"):
        Design(ARMS, ["x"], conduct=conduct, max_samples=50, randomise=Randomisation())
    with pytest.raises(ValueError, match="places arms in turn"):
        Design(ARMS, ["x"], conduct=pt.Conduct(burn_in=2), max_samples=50, randomise=scheme)
