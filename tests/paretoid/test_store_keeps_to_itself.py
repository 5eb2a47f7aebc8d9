"""A store makes, changes and removes its own files only; whatever else is there stays as it is."""

from __future__ import annotations

import os

import pytest

import paretoid as pt
from paretoid.cli.app import main

BANDIT = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]])
OLD_DRAFT = f"q0-d0-s0-i0-1-r0-2-{'0' * 32}.nc.draft"


def campaign(replications=2):
    return pt.Campaign(BANDIT, replications=replications, seed=1)


def picture(folder):
    """Every name below a folder with its bytes, links as what they lead to."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in folder.rglob("*")
    }


def test_drafts_of_the_user_survive_a_store_beside_them_and_behind_links(tmp_path):
    outside, store = tmp_path / "outside", tmp_path / "store"
    outside.mkdir()
    (outside / "thesis.draft").write_text("years of work")
    campaign().run(store)
    for name in ("novel.draft", "chunks/mine.draft", "checkpoints/.paretoid-notes"):
        (store / name).write_text("mine")
    (store / "shelf").symlink_to(outside, target_is_directory=True)
    (store / "chunks" / f".paretoid-{'a' * 12}-{OLD_DRAFT[:-6]}").write_text("half a chunk")
    (store / "chunks" / OLD_DRAFT).write_text("half a chunk of version 0.1.0")
    (store / "campaign.json.draft").write_text("half a manifest of version 0.1.0")
    campaign(4).run(store)
    assert (outside / "thesis.draft").read_text() == "years of work"
    for name in ("novel.draft", "chunks/mine.draft", "checkpoints/.paretoid-notes"):
        assert (store / name).read_text() == "mine"
    assert (store / "shelf").is_symlink()
    ours = [name for name in picture(store) if "draft" in name or "paretoid" in name]
    assert sorted(ours) == ["checkpoints/.paretoid-notes", "chunks/mine.draft", "novel.draft"]


@pytest.mark.parametrize(
    "name",
    ["novel.draft", "thesis.tex", ".git/config", "chunks/mine.csv", "checkpoints/model.pt", "lock"],
)
def test_a_directory_that_is_neither_empty_nor_a_store_is_refused_untouched(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = picture(tmp_path)
    with pytest.raises(ValueError, match=r"holds other files .* Name a new or an empty directory"):
        campaign().run(tmp_path)
    assert picture(tmp_path) == before


def test_the_command_line_refuses_the_working_directory_of_somebody(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arms.csv").write_text("arm,gain\nA,0.5\nB,0.1\n")
    (tmp_path / "novel.draft").write_text("mine")
    before = picture(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(["simulate", "arms.csv", "--scale", "1", "-n", "2", "--store", "."])
    assert "it is no store" in capsys.readouterr().err
    assert picture(tmp_path) == before


def test_a_campaign_json_that_is_not_ours_is_refused_untouched(tmp_path):
    (tmp_path / "campaign.json").write_text('{"advertising": true}')
    before = picture(tmp_path)
    with pytest.raises(ValueError, match="cannot be read"):
        campaign().run(tmp_path)
    assert picture(tmp_path) == before


@pytest.mark.parametrize("name", ["chunks", "checkpoints", "lock", "campaign.json"])
def test_a_store_never_writes_through_a_link(tmp_path, name):
    store, outside = tmp_path / "store", tmp_path / "outside"
    campaign().run(store)
    (store / name).rename(outside)
    (store / name).symlink_to(outside)
    before = picture(tmp_path)
    with pytest.raises(ValueError, match=r"is a link, and a store writes only into its own"):
        campaign(4).run(store)
    assert picture(tmp_path) == before


def test_a_link_in_place_of_a_chunk_is_replaced_and_not_what_it_leads_to(tmp_path):
    store = tmp_path / "store"
    expected = campaign().run(store).load()
    (chunk,) = (store / "chunks").iterdir()
    precious = tmp_path / "precious"
    precious.write_text("mine")
    chunk.unlink()
    chunk.symlink_to(precious)
    with pytest.warns(UserWarning, match="is damaged"):
        again = campaign().run(store)
    assert again.load().identical(expected)
    assert precious.read_text() == "mine"
    assert not chunk.is_symlink()


def test_what_a_writer_killed_before_its_manifest_left_is_no_obstacle(tmp_path):
    (tmp_path / "chunks").mkdir()
    (tmp_path / "lock").touch()
    (tmp_path / f".paretoid-{'0' * 12}-campaign.json").write_text("{")
    campaign().run(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "campaign.json", "checkpoints", "chunks", "lock",
    ]  # fmt: skip


def test_an_empty_directory_and_a_named_link_to_one_are_fine(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "short name").symlink_to(tmp_path / "empty")
    campaign().run(tmp_path / "short name")
    assert (tmp_path / "empty" / "campaign.json").is_file()
