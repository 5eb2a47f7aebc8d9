"""Two roles: what a site sees and does, and that it learns nothing of arms or of others."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import paretoid as pt
from paretoid.cli.trial import app
from paretoid.explorer import LedgerError, messages, queue, sync
from paretoid.explorer.backup import copy_ledger
from paretoid.explorer.messages import (
    LENGTH,
    LETTERS,
    as_line,
    as_mark,
    as_request,
    key_of,
    read_message,
)
from paretoid.explorer.secret import Secret
from paretoid.explorer.site import ANSWERS, ENTRIES, Answers, Site
from paretoid.explorer.sync import AGAIN, ENDED, UNTAKEN, add_site, codes
from paretoid.explorer.sync import sync as synchronise

ARMS = ["zzplacebozz", "zzdoseonezz", "zzdosetwozz"]
MEASURED = ["IgG", "fever"]


def noon():
    return datetime(2026, 1, 5, 12, tzinfo=UTC)


def trial(**options):
    """A trial in memory that will not stop after a few participants."""
    return pt.Explorer(ARMS, MEASURED, minimize=["fever"], author="stat", clock=noon, **options)


@pytest.fixture
def north(tmp_path):
    """(trial, folder, site) of a blinded site."""
    explorer, folder = trial(), tmp_path / "north"
    add_site(explorer, folder)
    return explorer, folder, Site(folder, author="ann", clock=noon)


def everything(folder):
    """The bytes of all files of a folder, hidden ones too, and their names."""
    files = sorted(Path(folder).rglob("*"))
    return b"".join(file.name.encode() + file.read_bytes() for file in files if file.is_file())


def answer(site):
    """The answer to the last thing entered."""
    return site.entries()[-1]["answer"]


def plant(folder, **changes):
    """Add a line that a hostile site could write; a copy of the last one with changes."""
    path = folder / ENTRIES
    fields = json.loads(path.read_text().splitlines()[-1])
    del fields["once"]
    with path.open("ab") as file:
        file.write(as_line({**fields, **changes}))


# -- what a site does ------------------------------------------------------------------------------


def test_what_a_site_enters_comes_into_the_ledger_and_back(north):
    explorer, folder, site = north
    first, second = site.enrol(2)
    assert answer(site) == "waiting"
    assert site.participants() == []
    assert synchronise(explorer, folder).placed == 2
    site.tell(first, ["9.1", None])
    site.tell(second, {"IgG": 8.7, "fever": "missing"})
    site.correct(first, {"IgG": 9.2}, reason="typing error")
    assert synchronise(explorer, folder).recorded == 3
    assert [entry["answer"] for entry in site.entries()] == ["taken"] * 5
    assert [person["outcomes"] for person in site.participants()] == [
        {"IgG": 9.2}, {"IgG": 8.7, "fever": "missing"},
    ]  # fmt: skip
    state = explorer.replay()
    assert [list(column) for column in state.values] == [
        [9.2, 8.7], [pytest.approx(float("nan"), nan_ok=True), float("inf")],
    ]  # fmt: skip
    assert explorer.verify() == explorer.head
    notes = [json.loads(row[4]).get("note", "") for row in explorer.rows()]
    assert any("ann, 2026-01-05T12:00:00+00:00 (site north, message " in note for note in notes)


def test_a_place_that_nobody_received_is_given_back(north):
    explorer, folder, site = north
    (code,) = site.enrol()
    synchronise(explorer, folder)
    site.withdraw(code, reason="did not come")
    synchronise(explorer, folder)
    assert site.participants() == [{"code": code, "withdrawn": True, "outcomes": {}}]
    assert explorer.status().waiting == ()
    with pytest.raises(ValueError, match=f"{code} was withdrawn"):
        site.tell(code, [9.1, 0.0])


def test_names_with_hidden_and_with_odd_letters_are_no_dead_end(tmp_path):
    """An objective's name may hold anything, and a site's what a French keyboard gives."""
    explorer, folder = pt.Explorer(["a", "b"], ["Ig\u202eG"]), tmp_path / "Ch\u00e2teau\u00a0Nord"
    add_site(explorer, folder)
    site = Site(folder, author="Zo\u00e9\u00a0M.")
    *people, last = site.enrol(12)
    synchronise(explorer, folder)
    for i, code in enumerate(people):
        site.tell(code, [9 + i / 10])
    (odd,) = site.plausible(last, [9500.0])
    site.tell(last, [9500.0], note=odd)
    site.correct(last, [9.5], reason="lu \u00ab\u202f9500\u202f\u00bb")
    taken = synchronise(explorer, folder)
    assert (taken.recorded, taken.refused) == (12, [])  # 9500 was corrected while it waited
    assert taken.waiting == []
    assert site.participants()[-1]["outcomes"] == {"Ig\u202eG": 9.5}


def test_arms_are_shown_only_where_the_statistician_says_so_each_time(tmp_path):
    explorer, folder = trial(), tmp_path / "north"
    add_site(explorer, folder, show_arms=True)
    site = Site(folder, author="ann")
    site.enrol(3)
    with pytest.raises(ValueError, match=r"arms have been shown .* would now be hidden"):
        synchronise(explorer, folder)
    assert explorer.replay().arms.tolist() == []  # nothing was taken
    synchronise(explorer, folder, show_arms=True)
    assert {person["arm"] for person in site.participants()} == set(ARMS)
    blinded = tmp_path / "south"
    add_site(explorer, blinded)
    (blinded / ANSWERS).write_text(
        (blinded / ANSWERS).read_text().replace('"hidden"', '"shown"')  # by the site itself
    )
    south = Site(blinded, author="bob")
    south.enrol()
    with pytest.raises(ValueError, match="Nothing was taken"):
        synchronise(explorer, blinded)


def test_an_override_keeps_the_code_and_a_blinded_site_sees_nothing_of_it(north, tmp_path):
    explorer, folder, site = north
    (code,) = site.enrol()
    synchronise(explorer, folder)
    before = everything(folder)
    (person,) = codes(explorer)
    other = next(arm for arm in ARMS if arm != person.arm)
    new = explorer.override(person.id, other, reason="the vial was broken")
    synchronise(explorer, folder)
    assert everything(folder) == before
    assert [(p.code, p.arm, p.id) for p in codes(explorer)] == [(code, other, new.id)]
    site.tell(code, [9.1, 0.0])
    synchronise(explorer, folder)
    assert explorer.replay().values[0].tolist()[1] == 9.1  # of the allocation in its stead


def test_in_a_trial_randomised_by_site_each_has_its_own_list(tmp_path):
    scheme = pt.Randomisation(strata=["north", "south"])
    explorer = trial(randomise=scheme, seed_file=tmp_path / "seed.json")
    for name, n in (("north", 3), ("south", 1)):
        add_site(explorer, tmp_path / name)
        Site(tmp_path / name, author="a").enrol(n)
        synchronise(explorer, tmp_path / name)
    strata = explorer.replay().lists.strata
    assert {name: here.placed for name, here in strata.items()} == {"north": 3, "south": 1}
    assert explorer.verify(seed_file=tmp_path / "seed.json") == explorer.head


def test_where_strata_are_not_sites_the_site_says_which(tmp_path):
    explorer = trial(
        randomise=pt.Randomisation(strata=["young", "old"]), seed_file=tmp_path / "seed.json"
    )
    add_site(explorer, tmp_path / "north")
    site = Site(tmp_path / "north", author="a")
    for wrong in (None, "odl"):
        with pytest.raises(ValueError, match=r"stratum=.* must be one of .* young, old"):
            site.enrol(stratum=wrong)
    site.enrol(stratum="old")
    plant(tmp_path / "north", stratum="nobody", code="A" * LENGTH)
    taken = synchronise(explorer, tmp_path / "north")
    assert taken.placed == 1
    assert "must be one of those declared" in answer(site)
    assert explorer.replay().lists.strata["old"].placed == 1


def test_without_its_seed_file_a_randomised_trial_takes_nothing_and_refuses_nothing(tmp_path):
    explorer = trial(randomise=pt.Randomisation(), seed_file=tmp_path / "seed.json")
    add_site(explorer, tmp_path / "north")
    site = Site(tmp_path / "north", author="a")
    site.enrol()
    secret, explorer._secret = explorer._secret, None
    with pytest.raises(ValueError, match="seed file"):
        synchronise(explorer, tmp_path / "north")
    assert answer(site) == "waiting"
    explorer._secret = secret
    synchronise(explorer, tmp_path / "north")
    assert answer(site) == "taken"


# -- a blinded site learns nothing of arms ---------------------------------------------------------


@contextmanager
def same_chance(seed):
    """Codes and nonces from a seed, and one name for all trials: what else differs is a leak."""
    rng = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages.secrets, "choice", rng.choice)
        patch.setattr(
            messages.secrets, "token_hex", lambda n: f"{rng.getrandbits(8 * n):0{2 * n}x}"
        )
        patch.setattr(sync, "trial_of", lambda explorer: "0123456789abcdef")
        yield


def conducted(explorer, folder, script, seed):
    """Play a script at a site; what its files hold, and what it was told, after every step."""
    moments = []
    with same_chance(seed):
        add_site(explorer, folder)
        site = Site(folder, author="ann", clock=noon)
        for step, (what, which, value) in enumerate([("enrol", 2, 0), ("sync", 0, 0), *script]):
            placed = [person["code"] for person in site.participants()]
            code = placed[which % len(placed)] if placed else "NOBODYAA"
            try:
                if what == "enrol":
                    site.enrol(1 + which % 3)
                elif what == "tell":
                    site.plausible(code, [value, float(step)])
                    site.tell(code, [value, float(step)])
                elif what == "correct":
                    site.correct(code, {"IgG": value}, reason="misread")
                elif what == "withdraw":
                    site.withdraw(code, reason="not there")
                else:
                    synchronise(explorer, folder)
                said = ""
            except ValueError as error:
                said = str(error)
            inside = sorted(file.name for file in folder.iterdir())
            moments.append((said, inside, everything(folder).replace(bytes(folder), b"")))
        synchronise(explorer, folder)
        moments.append(("", everything(folder)))
        moments.append((site.participants(), site.entries()))
    return moments


steps = st.tuples(
    st.sampled_from(["enrol", "enrol", "tell", "tell", "correct", "withdraw", "sync"]),
    st.integers(0, 5),
    st.floats(-50, 50),
)


@given(
    st.lists(steps, max_size=12), st.permutations(range(3)), st.integers(0, 2**32), st.booleans()
)
@settings(max_examples=15, deadline=None)
def test_trials_that_differ_in_who_gets_which_arm_look_alike_byte_for_byte(
    script, order, seed, randomised
):
    """Arms permuted and, randomised, drawn from other secrets: every file after every step."""
    seen = []
    for arms in (ARMS, [ARMS[i] for i in order]):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            options = {"randomise": pt.Randomisation(), "seed_file": folder / "seed.json"}
            explorer = pt.Explorer(arms, MEASURED, author="stat", clock=noon,
                                   **(options if randomised else {}))  # fmt: skip
            seen.append(conducted(explorer, folder / "north", script, seed))
            assert not any(arm.encode() in everything(folder / "north") for arm in arms)
    assert seen[0] == seen[1]


# -- odd outcomes wait for the statistician, and no site knows -------------------------------------

#: an outcome that is odd for one arm and not for another, and the other way round
ODD, RIGHT = [100.055, 0.55], [0.055, 0.55]


@pytest.fixture
def odd(tmp_path):
    """(trial, folder, site, code) after an odd outcome of the code was synchronised."""
    explorer, folder = trial(), tmp_path / "north"
    add_site(explorer, folder)
    site = Site(folder, author="ann", clock=noon)
    people = site.enrol(12)
    synchronise(explorer, folder)
    arm = {person.code: person.arm for person in codes(explorer)}
    for i, code in enumerate(people):
        site.tell(code, [100.0 + i / 100 if arm[code] == ARMS[0] else i / 100, i / 10])
    synchronise(explorer, folder)
    late = site.enrol(3)
    synchronise(explorer, folder)
    code = next(p.code for p in codes(explorer) if p.code in late and p.arm != ARMS[0])
    assert site.plausible(code, ODD) == ()  # the site has seen such numbers
    site.tell(code, ODD)  # but not on this arm
    assert synchronise(explorer, folder).recorded == 0
    return explorer, folder, site, code


def told_of(explorer, code):
    """What the ledger has of a participant, None where it waits."""
    state = explorer.replay()
    position = next(p.position for p in codes(explorer) if p.code == code)
    return [None if column[position] != column[position] else column[position]
            for column in state.values]  # fmt: skip


def test_an_outcome_that_is_odd_for_its_arm_waits_without_a_word_to_the_site(odd):
    explorer, folder, site, code = odd
    (waiting,) = synchronise(explorer, folder).waiting
    assert (waiting.site, waiting.code, waiting.outcome) == (
        "north", code, {"IgG": 100.055, "fever": 0.55},
    )  # fmt: skip
    assert "IgG=100.055 of" in waiting.questions[0]
    assert "lies far outside" in waiting.questions[0]
    assert told_of(explorer, code) == [None, None]
    assert answer(site) == "taken"
    assert b"far outside" not in everything(folder)
    assert waiting.name.encode() not in (folder / ANSWERS).read_bytes().replace(
        waiting.key.encode(), b""
    )
    seen = next(p for p in site.participants() if p["code"] == code)
    assert seen["outcomes"] == waiting.outcome
    with pytest.raises(ValueError, match=r"was told before, as 100\.055"):
        site.tell(code, RIGHT)
    with pytest.raises(ValueError, match="has outcomes already"):
        site.withdraw(code, reason="did not come")
    assert explorer.verify() == explorer.head


def test_the_folder_is_the_same_whether_an_outcome_is_odd_or_not(tmp_path):
    """The same entries, byte for byte, in trials where other arms are behind the codes."""
    seen, waits = [], []
    arms = [i % 3 for i in range(12)]
    for name, behind in (("one", arms), ("two", sorted(arms))):  # in the second each arm has both
        folder, explorer = tmp_path / name / "north", trial()
        folder.parent.mkdir()
        with same_chance(7):
            add_site(explorer, folder)
            site = Site(folder, author="ann", clock=noon)
            people = site.enrol(12)
            synchronise(explorer, folder)
            for person, arm in zip(codes(explorer), behind, strict=True):
                if person.arm != ARMS[arm]:
                    explorer.override(person.id, ARMS[arm], reason="a vial")
            for i, code in enumerate(people):
                site.tell(code, [100.0 * (arms[i] == 0) + i / 100, i / 10])
            synchronise(explorer, folder)
            late = site.enrol(6)
            synchronise(explorer, folder)
            for i, code in enumerate(late):
                site.tell(code, [100.055 + i / 100, 0.55 + i / 100])
            waits.append(len(synchronise(explorer, folder).waiting))
            moments = [everything(folder)]
            for code in late:
                site.correct(code, {"IgG": 0.5}, reason="misread")
            assert synchronise(explorer, folder).waiting == []
            seen.append([*moments, everything(folder), site.participants(), site.entries()])
    assert seen[0] == seen[1]
    assert waits[0] > waits[1] == 0


def test_what_the_statistician_accepts_is_recorded_and_the_site_sees_no_change(odd):
    explorer, folder, _, code = odd
    before = everything(folder)
    (waiting,) = synchronise(explorer, folder).waiting
    queue.accept(explorer, waiting.name)
    assert told_of(explorer, code) == ODD
    note = json.loads([row for row in explorer.rows() if row[3] == "told"][-1][4])["note"]
    assert note.startswith("asked back: IgG=100.055 of")
    assert "Taken as it is. ann, 2026-01-05T12:00:00+00:00 (site north, message " in note
    for _ in range(2):
        taken = synchronise(explorer, folder)
        assert (taken.recorded, taken.refused, taken.waiting, taken.gone) == (0, [], [], 0)
    assert everything(folder) == before
    with pytest.raises(ValueError, match=f"'{waiting.name}': no outcome waits under it"):
        queue.accept(explorer, waiting.name)
    assert explorer.verify() == explorer.head


def test_what_the_statistician_refuses_the_site_enters_again(odd):
    explorer, folder, site, code = odd
    (waiting,) = synchronise(explorer, folder).waiting
    queue.refuse(explorer, waiting.name)
    for _ in range(2):
        taken = synchronise(explorer, folder)
        assert (taken.recorded, taken.refused, taken.waiting) == (0, [], [])
        assert answer(site) == AGAIN
        assert next(p for p in site.participants() if p["code"] == code)["outcomes"] == {}
    (folder / ANSWERS).unlink()
    assert synchronise(explorer, folder).remade
    assert answer(site) == AGAIN
    site.tell(code, RIGHT)
    assert synchronise(explorer, folder).recorded == 1
    assert told_of(explorer, code) == RIGHT
    assert answer(site) == "taken"


def test_the_same_again_waits_again(odd):
    explorer, folder, site, code = odd
    (waiting,) = synchronise(explorer, folder).waiting
    queue.refuse(explorer, waiting.name)
    synchronise(explorer, folder)
    site.tell(code, ODD, note="measured twice")
    (again,) = synchronise(explorer, folder).waiting
    assert (again.outcome, again.note) == (waiting.outcome, "measured twice")
    assert again.name != waiting.name
    queue.accept(explorer, again.name)
    assert told_of(explorer, code) == ODD


def test_a_correction_by_the_site_takes_the_place_of_what_waits(odd):
    explorer, folder, site, code = odd
    site.correct(code, {"IgG": 100.066}, reason="a digit")  # as odd as before
    taken = synchronise(explorer, folder)
    assert taken.recorded == 0
    (waiting,) = taken.waiting
    assert waiting.outcome == {"IgG": 100.066, "fever": 0.55}
    assert told_of(explorer, code) == [None, None]
    site.correct(code, {"IgG": 0.066}, reason="the unit")
    taken = synchronise(explorer, folder)
    assert (taken.recorded, taken.waiting) == (1, [])
    assert told_of(explorer, code) == [0.066, 0.55]
    assert [entry["answer"] for entry in site.entries()[-3:]] == ["taken"] * 3
    assert synchronise(explorer, folder).recorded == 0
    site.correct(code, {"IgG": 0.077}, reason="again")  # a correction as any other
    assert synchronise(explorer, folder).recorded == 1
    assert told_of(explorer, code) == [0.077, 0.55]
    assert explorer.verify() == explorer.head


def test_a_correction_of_what_waits_and_of_what_is_recorded_is_taken_whole(tmp_path):
    explorer, folder = trial(), tmp_path / "north"
    add_site(explorer, folder)
    site = Site(folder, author="ann", clock=noon)
    *people, last = site.enrol(13)
    synchronise(explorer, folder)
    for i, code in enumerate(people):
        site.tell(code, [9 + i / 10, i / 10])
    site.tell(last, {"fever": 0.5})
    synchronise(explorer, folder)
    site.tell(last, {"IgG": 9500.0})
    assert len(synchronise(explorer, folder).waiting) == 1
    assert told_of(explorer, last) == [None, 0.5]
    site.correct(last, {"IgG": 9.5, "fever": 0.6}, reason="the row above")
    taken = synchronise(explorer, folder)
    assert (taken.recorded, taken.waiting, taken.refused) == (1, [], [])
    assert told_of(explorer, last) == [9.5, 0.6]


@pytest.mark.parametrize("lost", ["entries", "answers", "folder"])
def test_what_waits_is_lost_with_no_file_of_the_site(odd, lost):
    """It was answered, so it is in the ledger, and the site sees it again."""
    explorer, folder, site, code = odd
    if lost == "folder":
        shutil.rmtree(folder)
        add_site(explorer, folder)
    elif lost == "entries":
        (folder / ENTRIES).write_bytes(b"")
    else:
        (folder / ANSWERS).unlink()
    (waiting,) = synchronise(explorer, folder).waiting
    seen = next(p for p in site.participants() if p["code"] == code)
    assert seen["outcomes"] == waiting.outcome == {"IgG": 100.055, "fever": 0.55}
    queue.accept(explorer, waiting.name)
    assert told_of(explorer, code) == ODD


def test_what_waits_is_in_the_ledger_s_file_and_in_its_copy(tmp_path):
    with pt.Explorer(ARMS, MEASURED, minimize=["fever"], ledger=tmp_path / "t.db") as kept:
        folder = tmp_path / "south"
        add_site(kept, folder)
        site = Site(folder, author="ann", clock=noon)
        *people, last = site.enrol(13)
        synchronise(kept, folder)
        for i, each in enumerate(people):
            site.tell(each, [9 + i / 10, i / 10])
        site.tell(last, [9500.0, 0.5])
        (waiting,) = synchronise(kept, folder).waiting
    copy_ledger(tmp_path / "t.db", tmp_path / "copy.db")
    with pt.Explorer.open(tmp_path / "copy.db") as again:
        assert list(queue.Queue.of(again).waiting.values()) == [waiting]
        queue.accept(again, waiting.name)
        assert told_of(again, last) == [9500.0, 0.5]
        assert again.verify() == again.head


def test_what_cannot_be_told_any_more_stays_until_it_is_refused(odd):
    explorer, folder, _, code = odd
    (waiting,) = synchronise(explorer, folder).waiting
    explorer.tell(waiting.id, RIGHT)  # by the statistician, from the paper form
    with pytest.raises(ValueError, match=r"was told before, as 0\.055"):
        queue.accept(explorer, waiting.name)
    assert len(synchronise(explorer, folder).waiting) == 1
    queue.refuse(explorer, waiting.name)
    assert synchronise(explorer, folder).waiting == []
    assert told_of(explorer, code) == RIGHT


def test_an_overridden_participant_keeps_what_waits(odd):
    explorer, folder, _, code = odd
    (waiting,) = synchronise(explorer, folder).waiting
    explorer.override(waiting.id, ARMS[0], reason="the vial was broken")
    queue.accept(explorer, waiting.name)
    assert told_of(explorer, code) == ODD


def test_a_folder_has_no_name_of_an_arm_no_mean_and_nobody_of_another_site(tmp_path):
    """Raw bytes of every file, with drafts and locks; the ledger in its file beside them."""
    with trial(ledger=tmp_path / "trial.db") as explorer:
        sites = {}
        for name in ("north", "south"):
            add_site(explorer, tmp_path / name)
            sites[name] = Site(tmp_path / name, author=f"{name} nurse")
        value = 1000.0
        for _ in range(4):
            for name, site in sites.items():
                (code,) = site.enrol()
                synchronise(explorer, tmp_path / name)
                value += 0.123
                site.tell(code, [value, 0.5])
                synchronise(explorer, tmp_path / name)
        means = explorer.status().means
        head = explorer.head
    texts = {name: everything(tmp_path / name) for name in sites}
    for name, other in (("north", "south"), ("south", "north")):
        strangers = [person["code"] for person in sites[other].participants()]
        for word in [*ARMS, head, other, *strangers]:
            assert word.encode() not in texts[name]
        for person in sites[other].participants():
            assert repr(person["outcomes"]["IgG"]).encode() not in texts[name]
        own = {value for person in sites[name].participants() for value in
               person["outcomes"].values()}  # fmt: skip
        for mean in set(means.ravel().tolist()) - own:
            assert f"{mean:.4f}".rstrip("0").encode() not in texts[name]


def test_codes_are_random_of_one_length_and_drawn_before_there_is_an_arm(north):
    explorer, _, site = north
    drawn = site.enrol(300)
    assert len(set(drawn)) == 300
    assert {len(code) for code in drawn} == {LENGTH}
    # each letter comes 77 times on average, sd 8.7; beyond 7 sd less than once in 10^9 runs
    counts = [sum(code.count(letter) for code in drawn) for letter in LETTERS]
    assert 15 < min(counts)
    assert max(counts) < 140
    assert explorer.replay().arms.tolist() == []


def test_a_site_learns_that_enrolment_has_ended_and_no_more(tmp_path):
    explorer, folder = pt.Explorer(["zzazz", "zzbzz"], ["y"], scale=1.0), tmp_path / "north"
    add_site(explorer, folder)
    site = Site(folder, author="ann")
    while explorer.answer is None:
        placed = explorer.ask()
        explorer.tell(placed, [9.0 if placed.arm == "zzbzz" else 0.0])
    site.enrol()
    synchronise(explorer, folder)
    assert answer(site) == ENDED
    assert not any(word in everything(folder) for word in (b"zzazz", b"zzbzz"))


def test_what_the_ledger_refuses_is_said_in_one_sentence_without_the_reason(north):
    """Here because of what others have measured, which the site must not learn."""
    explorer, folder, site = north
    for placed in explorer.ask(9):
        explorer.tell(placed, {"fever": float(placed.id % 2)})
    (code,) = site.enrol()
    synchronise(explorer, folder)
    site.tell(code, {"fever": 1.0})
    taken = synchronise(explorer, folder)
    assert answer(site) == UNTAKEN
    assert "the first 10 outcomes of fever are all 0 or 1" in taken.refused[0][2]
    site.tell(code, {"fever": 0.5})
    assert synchronise(explorer, folder).recorded == 1


def test_what_the_statistician_recorded_of_its_participant_a_site_may_know(north):
    explorer, folder, site = north
    (code,) = site.enrol()
    synchronise(explorer, folder)
    site.tell(code, {"IgG": 9.1})
    explorer.tell(1, [8.8, 1.0])  # in the meantime
    synchronise(explorer, folder)
    assert f"IgG of '{code}' was told before, as 8.8" in answer(site)
    assert site.participants()[0]["outcomes"] == {"IgG": 8.8, "fever": 1.0}


# -- nothing is taken twice, nothing is lost -------------------------------------------------------


def test_a_file_delivered_twice_in_one_or_in_two_times_is_taken_once(north):
    explorer, folder, site = north
    (code,) = site.enrol()
    synchronise(explorer, folder)
    site.tell(code, [9.1, 0.0])
    site.correct(code, {"IgG": 9.2}, reason="typing error")
    synchronise(explorer, folder)
    head, text = explorer.head, (folder / ENTRIES).read_bytes()
    for delivered in (text, text + text, text.replace(b"\n", b"\r\n"), text[:-1] + b"\n\n" + text):
        (folder / ENTRIES).write_bytes(delivered)
        taken = synchronise(explorer, folder)
        assert (taken.placed, taken.recorded, taken.refused, taken.gone) == (0, 0, [], 0)
        assert explorer.head == head


@pytest.mark.parametrize("lost", ["missing", "torn", "before", "link"])
def test_answers_that_were_lost_follow_from_the_ledger_again(north, lost, tmp_path):
    explorer, folder, site = north
    path, earlier = folder / ANSWERS, (folder / ANSWERS).read_bytes()
    (code,) = site.enrol()
    synchronise(explorer, folder)
    site.tell(code, [9.1, 0.0])
    synchronise(explorer, folder)
    written, head = path.read_bytes(), explorer.head
    path.unlink()
    if lost == "torn":
        path.write_bytes(written[: len(written) // 2])
        with pytest.raises(ValueError, match="ask the statistician to synchronise"):
            site.enrol()
    elif lost == "before":  # as if the process had been killed after the ledger was written
        path.write_bytes(earlier)
    elif lost == "link":
        (tmp_path / "other").write_text("not to be changed")
        path.symlink_to(tmp_path / "other")
    taken = synchronise(explorer, folder)
    assert taken.remade == (lost != "before")
    assert path.read_bytes() == written
    assert explorer.head == head
    assert not path.is_symlink()
    if lost == "link":
        assert (tmp_path / "other").read_text() == "not to be changed"


def test_a_torn_line_waits_and_is_taken_when_it_is_whole(north):
    explorer, folder, site = north
    site.enrol(2)
    text = (folder / ENTRIES).read_bytes()
    for cut in (1, 20, 200):
        (folder / ENTRIES).write_bytes(text[:-cut])
        taken = synchronise(explorer, folder)
        assert taken.torn
        assert taken.refused == []
    assert len(site.participants()) == 1
    (folder / ENTRIES).write_bytes(text)
    assert synchronise(explorer, folder).placed == 1


def test_a_line_after_a_torn_one_is_whole(north):
    explorer, folder, site = north
    site.enrol()
    with (folder / ENTRIES).open("ab") as file:
        file.write(b'{"trial":"01')  # of a process that was killed
    site.enrol()
    taken = synchronise(explorer, folder)
    assert taken.placed == 2
    ((number, said, _),) = taken.refused
    assert number == 2
    assert "cut short" in said


def test_a_file_that_lost_its_beginning_loses_nothing_in_the_ledger(north):
    explorer, folder, site = north
    first, second = site.enrol(2)
    synchronise(explorer, folder)
    (folder / ENTRIES).write_bytes(b"")
    taken = synchronise(explorer, folder)
    assert taken.gone == 2
    assert [person["code"] for person in site.participants()] == [first, second]
    site.tell(first, [9.1, 0.0])
    assert synchronise(explorer, folder).recorded == 1


def test_a_lost_folder_comes_back_from_the_ledger(north, tmp_path):
    explorer, folder, site = north
    (code,) = site.enrol()
    synchronise(explorer, folder)
    shutil.rmtree(folder)
    add_site(explorer, folder)
    assert [person["code"] for person in site.participants()] == [code]
    site.tell(code, [9.1, 0.0])
    assert synchronise(explorer, folder).recorded == 1


def test_when_the_ledger_cannot_be_written_messages_wait_and_are_not_refused(north, monkeypatch):
    explorer, folder, site = north
    site.enrol(2)
    append, calls = explorer._ledger.append, []

    def full(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise LedgerError("the disk is full")
        return append(*arguments, **options)

    monkeypatch.setattr(explorer._ledger, "append", full)
    with pytest.raises(LedgerError, match="full"):
        synchronise(explorer, folder)
    monkeypatch.undo()
    assert [entry["answer"] for entry in site.entries()] == ["waiting"] * 2
    assert synchronise(explorer, folder).placed == 1  # the first was placed before
    assert [entry["answer"] for entry in site.entries()] == ["taken"] * 2
    assert len(explorer.replay().arms) == 2


def test_a_refusal_is_final_even_if_the_message_would_make_sense_later(north):
    explorer, folder, site = north
    (code,) = site.enrol()
    text = (folder / ENTRIES).read_bytes()
    plant(folder, what="outcome", outcome={"IgG": 9.1}, note=None)
    planted = (folder / ENTRIES).read_bytes().splitlines()[-1]
    early = planted.replace(b',"stratum":null', b"") + b"\n"
    (folder / ENTRIES).write_bytes(early)
    synchronise(explorer, folder)
    assert f"no participant '{code}'" in answer(site)
    (folder / ENTRIES).write_bytes(early + text)
    taken = synchronise(explorer, folder)
    assert (taken.placed, taken.recorded, taken.refused) == (1, 0, [])
    for delivered in (text, early + text):  # an older copy, and the newer one again
        (folder / ENTRIES).write_bytes(delivered)
        assert synchronise(explorer, folder).recorded == 0
    assert site.participants()[0]["outcomes"] == {}


def test_two_at_a_site_and_two_synchronisations_take_turns(tmp_path):
    from threading import Thread

    with trial(ledger=tmp_path / "trial.db") as explorer:
        folder = tmp_path / "north"
        add_site(explorer, folder)
        nurses = [Site(folder, author=name) for name in ("ann", "bob")]

        def takes():
            with pt.Explorer.open(tmp_path / "trial.db") as own:
                synchronise(own, folder)

        for work in ([site.enrol for site in nurses * 4], [takes] * 3):
            threads = [Thread(target=step) for step in work]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(explorer.replay().arms) == 8
        assert len(nurses[0].participants()) == 8


words = st.lists(st.sampled_from(["(site ", ", message ", 32 * "0", ")", "/", "x", " "])).map(
    "".join
)


# -- hostile contents ------------------------------------------------------------------------------

HOSTILE = {
    "no JSON": b"hello",
    "not UTF-8": b'{"what": "\xff\xfe"}',
    "NUL": b"\x00" * 50,
    "a number": b"7",
    "a list": b"[]",
    "deep": b"[" * 5000 + b"]" * 5000,
    "very deep": b"[" * 19_000,
    "huge": b"9" * 3_000_000,
    "many digits": b'{"what":' + b"9" * 10_000 + b"}",
    "nothing known": b'{"what":"status"}',
    "NaN": b'{"what":"outcome","outcome":{"IgG":NaN}}',
}


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_a_line_that_is_no_message_is_refused_and_the_others_are_taken(north, line):
    explorer, folder, site = north
    site.enrol()
    text = (folder / ENTRIES).read_bytes()
    (folder / ENTRIES).write_bytes(line + b"\n" + text)
    taken = synchronise(explorer, folder)
    assert taken.placed == 1
    ((number, said, _),) = taken.refused
    assert number == 1
    assert said.startswith("this was not taken: it ")
    assert (
        len(line) < 8 or line[:8] not in (folder / ANSWERS).read_bytes()
    )  # nothing of it is read back
    assert [entry["answer"] for entry in site.entries()] == [said, "taken"]
    assert synchronise(explorer, folder).refused == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"site": "south"}, "of another site"),
        ({"trial": "f" * 16}, "of another trial"),
        ({"code": "B" * LENGTH}, "no participant"),
        ({"code": "1"}, "its code is none"),
        ({"code": None}, "its code must be a text"),
        ({"outcome": {"IgG": 1e200}}, "finite number"),
        ({"outcome": {"IgG": 10**400}}, "finite number"),
        ({"outcome": {"IgG": True}}, "finite number"),
        ({"outcome": {"IgG": "9.1"}}, "finite number"),
        ({"outcome": {"IgG": {"a": 1}}}, "finite number"),
        ({"outcome": {}}, "table from objectives"),
        ({"outcome": None}, "table from objectives"),
        ({"outcome": {"IgG\x00": 1.0}}, "no objective"),
        ({"outcome": {"nobody": 1.0}}, "no objective"),
        ({"author": "a\x00nn"}, "none of them hidden"),
        ({"author": "a\u202enn"}, "none of them hidden"),
        ({"note": "x" * 501}, "at most 500"),
        ({"time": "yesterday"}, "its time is none"),
        ({"what": "override"}, "none of enrol"),
        ({"what": ["enrol"]}, "none of enrol"),
        ({"what": "enrol"}, "other fields"),
        ({"arm": "zzplacebozz"}, "other fields"),
        ({"unplanned": True}, "other fields"),
    ],
)
def test_a_message_that_lies_is_refused_in_a_sentence_and_changes_nothing(north, changes, said):
    explorer, folder, site = north
    (code,) = site.enrol()
    synchronise(explorer, folder)
    site.tell(code, {"IgG": 9.1})
    synchronise(explorer, folder)
    head, before = explorer.head, site.participants()
    plant(folder, **{"outcome": {"fever": 0.5}, **changes})
    ((_, refused, _),) = synchronise(explorer, folder).refused
    assert said in refused
    assert refused.endswith(".")
    assert explorer.head == head
    assert site.participants() == before


def test_a_site_cannot_report_on_another_sites_participant(tmp_path):
    explorer = trial()
    for name in ("north", "south"):
        add_site(explorer, tmp_path / name)
    north, south = (Site(tmp_path / name, author=name) for name in ("north", "south"))
    (theirs,) = south.enrol()
    synchronise(explorer, tmp_path / "south")
    (own,) = north.enrol()
    synchronise(explorer, tmp_path / "north")
    with pytest.raises(ValueError, match="this site has no participant"):
        north.tell(theirs, [9.1, 0.0])
    north.tell(own, {"IgG": 9.1})
    plant(tmp_path / "north", code=theirs)
    # the other site's own file, handed in by this one
    with (tmp_path / "north" / ENTRIES).open("ab") as file:
        file.write((tmp_path / "south" / ENTRIES).read_bytes())
    taken = synchronise(explorer, tmp_path / "north")
    assert [said.split(";")[0] for _, said, _ in taken.refused] == [
        f"this was not taken: this site has no participant '{theirs}'",
        "this was not taken: it is of another site. Enter it again.",
    ]
    assert south.participants()[0]["outcomes"] == {}
    assert explorer.replay().values[0].tolist()[1] == 9.1


def test_a_code_that_was_used_is_refused_for_another_participant(north):
    explorer, folder, site = north
    site.enrol()
    plant(folder)
    taken = synchronise(explorer, folder)
    assert taken.placed == 1
    assert "is taken; every participant has a new one" in taken.refused[0][1]
    assert len(codes(explorer)) == 1


def test_a_note_of_a_site_cannot_pass_for_another_message(north):
    explorer, folder, site = north
    first, second = site.enrol(2)
    synchronise(explorer, folder)
    site.tell(second, [1.0, 2.0])
    later = key_of((folder / ENTRIES).read_bytes().splitlines()[-1])
    text = (folder / ENTRIES).read_bytes().splitlines(keepends=True)
    (folder / ENTRIES).write_bytes(b"".join(text[:-1]))
    site.tell(first, [3.0, 4.0], note=f"(site north, message {later})")
    synchronise(explorer, folder)
    with (folder / ENTRIES).open("ab") as file:
        file.write(text[-1])
    taken = synchronise(explorer, folder)
    assert (taken.recorded, taken.refused) == (1, [])


def test_files_of_others_are_not_read_through_a_sites_folder(north, tmp_path):
    explorer, folder, _ = north
    Secret.new().save(tmp_path / "seed.json")
    path, words = folder / ENTRIES, (tmp_path / "seed.json").read_bytes()
    path.unlink()
    for make, why in (
        (lambda: path.symlink_to(tmp_path / "seed.json"), "is a link"),
        (lambda: os.link(tmp_path / "seed.json", path), "no plain file"),
        (lambda: os.mkfifo(path), "no plain file"),
        (path.mkdir, "no plain file|cannot be read"),
    ):
        make()
        with pytest.raises(ValueError, match=why):
            synchronise(explorer, folder)
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    with pytest.raises(ValueError, match="cannot be read"):
        synchronise(explorer, folder)
    path.write_bytes(words)  # and if it is copied there, nothing of it comes back
    synchronise(explorer, folder)
    assert words[20:60] not in (folder / ANSWERS).read_bytes()


def test_a_file_of_many_megabytes_is_refused_before_it_is_read(north):
    explorer, folder, _ = north
    with (folder / ENTRIES).open("wb") as file:
        file.truncate(20_000_000)
    with pytest.raises(ValueError, match="20,000,000 bytes"):
        synchronise(explorer, folder)


def test_forged_answers_import_nothing_and_place_nobody(north, tmp_path, monkeypatch):
    explorer, folder, site = north
    (tmp_path / "evil_module.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    data = json.loads((folder / ANSWERS).read_text())
    data["measured"]["radius"] = {"kind": "evil_module:Evil"}
    data["participants"] = [{"code": "A" * LENGTH, "withdrawn": False, "outcomes": {}}]
    (folder / ANSWERS).write_text(json.dumps(data))
    site.tell("A" * LENGTH, [9.1, 0.0])  # a site may fool itself
    taken = synchronise(explorer, folder)
    assert "no participant" in taken.refused[0][1]
    assert site.participants() == []


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_whatever_stands_in_a_line_or_in_the_answers_is_refused_in_words(data):
    """A field of a good line, or of good answers, is replaced by anything at all."""
    line = {"trial": "t", "site": "n", "what": "outcome", "code": "A" * LENGTH, "author": "a",
            "time": "2026-01-05", "outcome": {"IgG": 1.0}, "note": None}  # fmt: skip
    people = [{"code": "A" * LENGTH, "withdrawn": False, "outcomes": {"IgG": 1.0}}]
    answers = json.loads(
        Answers("t", "n", False, {"objectives": ["IgG"]}, (), people, {"k": "taken"}).to_text()
    )
    field = data.draw(st.sampled_from([*line]))
    with suppress(ValueError):
        read_message(
            json.dumps({**line, field: data.draw(anything), "once": "x"}).encode(), "n", "t"
        )
    field = data.draw(st.sampled_from([*answers]))
    text = json.dumps({**answers, field: data.draw(anything)})
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, ANSWERS).write_text(text)
        Path(folder, ENTRIES).write_bytes(data.draw(st.binary(max_size=50)))
        with suppress(ValueError):
            Site(folder, author="a").entries()


def test_the_folder_of_another_trial_or_site_is_refused(north, tmp_path):
    explorer, folder, site = north
    site.enrol()
    other = pt.Explorer(ARMS, MEASURED)
    with pytest.raises(ValueError, match="is the folder of site 'north' of trial"):
        synchronise(other, folder)
    with pytest.raises(ValueError, match="is the folder of site 'north'"):
        synchronise(explorer, folder, "south")
    assert len(other.replay().arms) == len(explorer.replay().arms) == 0


@pytest.mark.parametrize("name", ["", "a\x00b", "x" * 101, "a (site b", "\u202e"])
def test_a_name_that_is_none_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="must be a name"):
        add_site(trial(), tmp_path / "folder", name)
    assert not (tmp_path / "folder").exists()


@given(words.filter(bool), words)
@settings(max_examples=50, deadline=None)
def test_what_the_ledger_notes_of_a_message_is_read_back_whatever_was_written_before(site, words):
    key = "0123456789abcdef" * 2
    site = site.replace("(", "")  # as `add_site` has it
    if site:
        assert as_mark(f"{words} (site {site}, message {key})") == (site, key)
        assert as_request(f"{site}/{'A' * LENGTH}/{key}") == (site, "A" * LENGTH, key)


# -- modes, commands -------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_a_folder_is_for_its_owner_or_for_one_group(north, tmp_path):
    import grp

    explorer, folder, _ = north

    def modes(path):
        return [oct(stat.S_IMODE(p.stat().st_mode)) for p in (path, path / ENTRIES, path / ANSWERS)]

    assert modes(folder) == ["0o700", "0o600", "0o600"]
    shared = tmp_path / "south"
    add_site(explorer, shared, group=grp.getgrgid(os.getgid()).gr_name)
    expected = ["0o2770", "0o660", "0o640"]
    assert modes(shared) == expected
    Site(shared, author="bob").enrol()
    synchronise(explorer, shared)
    assert modes(shared) == expected
    (shared / ANSWERS).unlink()
    synchronise(explorer, shared)
    assert modes(shared) == expected
    with pytest.raises(ValueError, match="there is no group 'no such group'"):
        add_site(explorer, tmp_path / "east", group="no such group")
    assert not (tmp_path / "east").exists()
    with pytest.raises(ValueError, match="exists already"):
        add_site(explorer, shared)


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Call a command of `paretoid trial`; returns what it printed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "design.toml").write_text(
        f"arms = {json.dumps(ARMS)}\nobjectives = ['IgG', 'fever']\nminimize = ['fever']"
    )

    def run(*words, code=0):
        result = CliRunner().invoke(app, [str(word) for word in words])
        if code == 2:
            assert isinstance(result.exception, ValueError), result
            return str(result.exception)
        assert result.exit_code == 0, result.exception
        return result.stdout

    return run


def test_a_trial_with_two_roles_from_the_command_line(call, tmp_path):
    call("new", "design.toml", "trial.db", "--blind", "key.json")
    assert "its own entries and codes" in call("add-site", "trial.db", "north")
    (code,) = json.loads(call("site", "enrol", "north", "--json"))["codes"]
    assert f"waiting: enrol {code}" in call("site", "list", "north")
    assert "north: 1 placed, 0 recorded, 0 refused" in call("sync", "trial.db", "north")
    call("site", "record", "north", code, "-3.5", "0.1")
    call("site", "correct", "north", code, "IgG=3.5", "--reason", "sign", "--yes")
    call("sync", "trial.db", "north")
    listed = call("site", "list", "north")
    assert f"{code}  IgG=3.5, fever=0.1" in listed
    assert "1 participant" in listed
    assert "head" not in listed
    assert f"north  {code}  A" in call("codes", "trial.db")
    (row,) = json.loads(call("codes", "trial.db", "--key", "key.json", "--json"))["codes"]
    assert row["arm"] in ARMS
    (later,) = json.loads(call("site", "enrol", "north", "--json"))["codes"]
    call("site", "withdraw", "north", later, "--reason", "not needed", "--yes")
    out = json.loads(call("sync", "trial.db", "north", "--json"))
    assert (out["sites"][0]["placed"], out["sites"][0]["recorded"]) == (1, 1)
    assert "all sound" in call("verify", "trial.db")


def test_sites_commands_refuse_the_ledger_and_folders_that_are_none(call, tmp_path):
    call("new", "design.toml", "trial.db")
    assert "not on the ledger" in call("site", "list", "trial.db", code=2)
    assert "add-site" in call("site", "list", "nowhere", code=2)
    call("add-site", "trial.db", "north")
    assert "OUTCOME" in call("site", "record", "north", "ABCDEFGH", code=2)
    assert "no participant" in call("site", "record", "north", "ABCDEFGH", "1", "2", code=2)
    call("site", "enrol", "north")
    refusal = call("sync", "trial.db", "nowhere", "north", code=2)  # one does not stop the other
    assert "nowhere" in refusal
    assert "1 participant" in call("site", "list", "north")


def test_an_odd_outcome_is_asked_back_at_the_site_by_its_own_outcomes(call):
    call("new", "design.toml", "trial.db")
    call("add-site", "trial.db", "north")
    *people, last = json.loads(call("site", "enrol", "north", "-n", 12, "--json"))["codes"]
    call("sync", "trial.db", "north")
    site = Site("north", author="ann")
    for i, code in enumerate(people):
        site.tell(code, [9 + i / 10, 0.5 + i / 10])
    refusal = call("site", "record", "north", last, 9500, 0.7, "--json", code=2)
    assert f"IgG=9500 of {last} lies far outside the 11 outcomes of IgG so far" in refusal
    call("site", "record", "north", last, 9500, 0.7, "--yes")
    out = call("sync", "trial.db", "north")
    assert "11 recorded" in out
    assert "odd, and not recorded: 1 outcome; no site knows of this" in out
    flat = " ".join(out.split())
    assert f"north {last}: IgG=9500 of 12 lies far outside the 11 outcomes" in flat
    assert "The site notes: asked back: " in flat
    (command,) = [line for line in out.splitlines() if "as it is: " in line]
    *words, name = command.partition("paretoid trial ")[2].split()
    assert out.count(name) == 3  # the name, and two commands
    listed = call("site", "list", "north")
    assert f"{last}  IgG=9500.0, fever=0.7" in listed
    assert "waiting" not in listed
    assert "odd, and not recorded: 1 outcome" in call("sync", "trial.db")  # also without a folder
    assert "1 odd outcome of sites not recorded yet" in call("status", "trial.db")
    assert json.loads(call("status", "trial.db", "--json"))["odd"] == [name]
    for option in ("--accept", "--refuse"):
        assert f"{option} '00000000': no outcome waits under it" in call(
            "sync", "trial.db", option, "0" * 8, code=2
        )
    (again,) = [line for line in out.splitlines() if "ask again: " in line]
    assert f"refused {name}" in call(*again.partition("paretoid trial ")[2].split())
    assert "odd, and not recorded" not in call("sync", "trial.db", "north")
    assert answer(site) == AGAIN
    call("site", "record", "north", last, 9500, 0.7, "--yes")
    call("sync", "trial.db", "north")
    (name,) = json.loads(call("status", "trial.db", "--json"))["odd"]
    listed = call("site", "list", "north")
    assert f"accepted {name}" in call(*words, name)
    assert call("site", "list", "north") == listed
    assert "odd" not in call("sync", "trial.db", "north")
    data = json.loads(call("sync", "trial.db", "north", "--json"))
    assert (data["waiting"], data["sites"][0]["recorded"]) == ([], 0)
    assert "all sound" in call("verify", "trial.db")


def test_a_site_that_is_no_stratum_of_its_own_is_said_to_choose(call, tmp_path):
    """A name that is misspelt would be one, and would draw from the lists of others."""
    with (tmp_path / "design.toml").open("a") as file:
        file.write('\n[randomise]\nstrata = ["north", "south"]\n')
    call("new", "design.toml", "trial.db", "--seed-file", "seed.json")
    assert "chooses from" not in call("add-site", "trial.db", "north")
    assert "it chooses from north, south" in call("add-site", "trial.db", "nroth")
