"""campaign.json: what was changed in it is noticed, and guarantees are asked of the members."""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path

import pytest

import paretoid as pt
from paretoid.report import read_store
from paretoid.report.stored import as_dict
from paretoid.runs.files import manifest_text, read_manifest

OLD = Path(__file__).with_name("old_files") / "store"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    campaign(2).run(folder)
    return folder


def campaign(replications):
    return pt.Campaign(
        {"one": pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]], arms=["ä", "b"])},
        [pt.ParetoSet(0.1), pt.AtMost(1)],
        radii=[pt.Mixture(), pt.Mixture(union="none")], replications=replications, seed=3,
    )  # fmt: skip


@pytest.fixture
def copy(store, tmp_path):
    shutil.copytree(store, tmp_path / "copy")
    return tmp_path / "copy"


def test_no_random_change_alters_what_is_read(copy):
    """500 bytes flipped, removed, doubled or exchanged: refused, or nothing else is read."""
    path, dice = copy / "campaign.json", random.Random(17)
    text, expected = path.read_bytes(), read_manifest(copy)
    refused = 0
    for _ in range(500):
        data, at = bytearray(text), dice.randrange(len(text))
        other = dice.randrange(len(text))
        match dice.randrange(4):
            case 0:
                data[at] ^= 1 << dice.randrange(8)
            case 1:
                del data[at : at + dice.randint(1, 20)]
            case 2:
                data[at:at] = data[at : at + dice.randint(1, 20)]
            case 3:
                data[at], data[other] = data[other], data[at]
        path.write_bytes(bytes(data))
        try:
            read = read_manifest(copy)
        except ValueError:
            refused += 1
        else:
            assert read == expected
    assert refused > 250  # most of it is no white space


def test_a_changed_manifest_is_refused_by_readers_and_writers(copy):
    path = copy / "campaign.json"
    path.write_text(path.read_text().replace('"seed": 3', '"seed": 4'))
    for use in (pt.open_campaign, read_store, campaign(2).run):
        with pytest.raises(ValueError, match="changed after it was written"):
            use(copy)


def test_a_forged_guarantee_is_not_believed_even_with_its_digest(copy):
    manifest = json.loads((copy / "campaign.json").read_text())
    assert manifest["campaign"]["guarantees"] == ["proved", "heuristic"]
    manifest["campaign"]["guarantees"] = ["proved", "proved"]
    (copy / "campaign.json").write_text(manifest_text(manifest))
    assert pt.open_campaign(copy).guarantee.values.tolist() == ["proved", "heuristic"]
    said = as_dict(read_store(copy))["settings"]
    assert {row["guarantee"] for row in said if "none" in row["radius"]} == {"heuristic"}


def test_nor_is_one_in_a_store_of_the_time_before_digests(tmp_path):
    shutil.copytree(OLD, tmp_path / "old")
    path = tmp_path / "old" / "campaign.json"
    manifest = json.loads(path.read_text())
    assert "digest" not in manifest
    manifest["campaign"]["guarantees"] = ["proved"] * 4
    path.write_text(json.dumps(manifest))
    kept = pt.open_campaign(tmp_path / "old").guarantee.values.tolist()
    assert kept == ["proved", "proved", "proved", "heuristic"]


def test_a_store_goes_on_signed(copy):
    before = json.loads((copy / "campaign.json").read_text())
    campaign(3).run(copy)
    after = json.loads((copy / "campaign.json").read_text())
    assert after["replications"] == 3
    assert after["digest"] != before["digest"]
    pt.open_campaign(copy).load()


MEMBERS = """
import paretoid as pt

class Careful(pt.Mixture):
    guarantee = "proved"

class Careless(pt.Mixture):
    pass
"""


def test_a_member_that_can_no_longer_be_imported_is_heuristic(tmp_path, monkeypatch):
    (tmp_path / "careful_members.py").write_text(MEMBERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    import careful_members

    mine = pt.Campaign(
        pt.BernoulliBandit([[0.9], [0.1]]), max_samples=200,
        radii=[careful_members.Careful(), careful_members.Careless(), pt.Mixture()],
    )  # fmt: skip
    expected = ["proved", "heuristic", "proved"]
    assert mine.run(tmp_path / "store").guarantee.values.tolist() == expected
    assert pt.open_campaign(tmp_path / "store").guarantee.values.tolist() == expected
    monkeypatch.delitem(sys.modules, "careful_members")
    (tmp_path / "careful_members.py").write_text("this is no Python")
    now = pt.open_campaign(tmp_path / "store").guarantee.values.tolist()
    assert now == ["heuristic", "heuristic", "proved"]


@pytest.mark.parametrize(
    "damage",
    [
        {"instances": None}, {"streams": [[0], [0]]}, {"radii": [1]}, {"deltas": ["x"]},
        {"goals": []}, {"instances": [{"label": 1, "kind": "x", "means": [], "scale": []}]},
        {"rule": None},
    ],
)  # fmt: skip
def test_a_manifest_without_digest_and_without_sense_is_refused_in_a_sentence(tmp_path, damage):
    shutil.copytree(OLD, tmp_path / "old")
    path = tmp_path / "old" / "campaign.json"
    manifest = json.loads(path.read_text())
    manifest["campaign"].update(damage)
    path.write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"cannot be read: .*Restore it from a copy"):
        pt.open_campaign(tmp_path / "old")


def test_every_goal_of_ours_has_its_guarantee_again(tmp_path):
    mine = pt.Campaign(
        pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]], objectives=["gain", "harm"]),
        [pt.ParetoSet(limits={"harm": pt.at_most(0.5)}), pt.Cover(0.1, 0.2), pt.PracticalSet(0.5)],
        radii=[pt.Mixture(), pt.Mixture(union="pairs")],
        max_samples=50,
    )
    mine.run(tmp_path)
    kept = pt.open_campaign(tmp_path).guarantee.values.tolist()
    assert kept == mine.guarantees
    assert "proved" in kept
