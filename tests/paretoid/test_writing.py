"""Files come to be whole or not at all, new unless asked otherwise, and never through a link."""

from __future__ import annotations

import ast
import os
import stat
from pathlib import Path

import pytest

import paretoid as pt
from paretoid.cli.app import main
from paretoid.writing import make_folder, new_file, write_text

ROOT = Path(__file__).parents[2]


def test_a_body_that_fails_leaves_what_was_there(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail():
        with new_file(target, force=True) as draft:
            draft.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_comes_while_the_body_runs_is_not_overwritten(tmp_path):
    target = tmp_path / "a.txt"

    def race():
        with new_file(target) as draft:
            draft.write_text("ours")
            target.write_text("theirs")

    with pytest.raises(ValueError, match="exists already"):
        race()
    assert target.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [target]


def test_force_replaces_a_link_and_not_what_it_leads_to(tmp_path):
    precious, link = tmp_path / "precious", tmp_path / "link.txt"
    precious.write_text("mine")
    link.symlink_to(precious)
    with pytest.raises(ValueError, match="exists already"):
        write_text(link, "new")
    write_text(link, "new", force=True)
    assert (precious.read_text(), link.read_text()) == ("mine", "new\n")
    assert not link.is_symlink()


def test_force_replaces_no_directory_and_no_device(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(ValueError, match="only files are replaced"):
            write_text(tmp_path / name, "new", force=True)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_modes_follow_the_umask_the_old_file_or_the_wish_for_privacy(tmp_path):
    def mode(path):
        return stat.S_IMODE(path.stat().st_mode)

    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "a")
        assert mode(tmp_path / "new") == 0o640
        (tmp_path / "new").chmod(0o444)
        write_text(tmp_path / "new", "b", force=True)
        assert mode(tmp_path / "new") == 0o444
        with new_file(tmp_path / "secret", private=True) as draft:
            draft.write_text("c")
        assert mode(tmp_path / "secret") == 0o600
    finally:
        os.umask(before)


def test_long_names_and_folders_that_are_files_are_refused_in_a_sentence(tmp_path):
    write_text(tmp_path / ("é" * 120 + ".txt"), "240 bytes and a suffix")
    (tmp_path / "file").touch()
    for path in (tmp_path / ("x" * 300), tmp_path / "file" / "a.txt", tmp_path / "no" / "a.txt"):
        with pytest.raises(ValueError, match=r"cannot be written: .*Name another file"):
            write_text(path, "")
    with pytest.raises(NotADirectoryError):
        make_folder(tmp_path / "file" / "folder")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("arms.csv").write_text("arm,gain\nA,0.5\nB,0.1\n")
    return tmp_path


def run(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code, capsys.readouterr().err


SIMULATE = ("simulate", "arms.csv", "--scale", "1", "-n", "2", "--max-samples", "50")


@pytest.mark.parametrize("suffix", ["csv", "json", "nc"])
def test_out_writes_new_files_only_unless_forced(here, capsys, suffix):
    out = f"result.{suffix}"
    assert run(capsys, *SIMULATE, "--out", out)[0] == 0
    first = Path(out).read_bytes()
    Path(out).write_text("mine")
    code, said = run(capsys, *SIMULATE, "--out", out)
    assert code == 2
    assert "exists already" in said
    assert "--force" in said
    assert Path(out).read_text() == "mine"
    assert run(capsys, *SIMULATE, "--out", out, "--force")[0] == 0
    assert len(Path(out).read_bytes()) == len(first)
    assert not list(here.glob(".paretoid-*"))


@pytest.mark.parametrize("name", ["arms.csv", "./arms.csv", "link.csv", "hard.csv"])
@pytest.mark.parametrize("command", ["simulate", "bounds"])
def test_out_is_never_the_input_even_by_force(here, capsys, command, name):
    Path("link.csv").symlink_to("arms.csv")
    os.link("arms.csv", "hard.csv")
    before = Path("arms.csv").read_text()
    words = [command, "arms.csv", "--scale", "1", "--out", name, "--force"]
    code, said = run(capsys, *words)
    assert code == 2
    assert "is what is read here" in said
    assert Path("arms.csv").read_text() == before


def test_a_report_replaces_nothing_unasked_and_leaves_the_store_through_no_link(here, capsys):
    assert run(capsys, *SIMULATE, "--store", "kept", "-q")[0] == 0
    Path("precious.html").write_text("mine")
    Path("kept/report.html").symlink_to(here / "precious.html")
    code, said = run(capsys, "report", "kept")
    assert (code, "--force" in said) == (2, True)
    assert run(capsys, "report", "kept", "--force")[0] == 0
    assert Path("precious.html").read_text() == "mine"
    assert "<html" in Path("kept/report.html").read_text()


def test_out_is_no_file_of_a_store_even_by_force(here, capsys):
    assert run(capsys, *SIMULATE, "--store", "kept", "-q")[0] == 0
    (chunk,) = Path("kept/chunks").iterdir()
    before = chunk.read_bytes()
    for out in (chunk, "kept/campaign.json"):
        code, said = run(capsys, *SIMULATE, "--out", out, "--force")
        assert (code, "where a campaign keeps its runs" in said) == (2, True)
    assert chunk.read_bytes() == before
    pt.open_campaign("kept").load()


def test_a_folder_of_results_is_checked_before_the_work(here, capsys):
    Path("plan").mkdir()
    Path("plan/arms.csv").write_text("mine")
    code, said = run(capsys, "plan", "covboost-groupB", "--out", "plan")
    assert code == 2
    assert "plan/arms.csv exists already" in said
    assert "fitting" not in said
    assert [path.name for path in Path("plan").iterdir()] == ["arms.csv"]
    Path("CERTIFICATE.md").write_text("mine")
    code, said = run(capsys, "certify", "--quick", "--out", ".")
    assert (code, "CERTIFICATE.md exists already" in said) == (2, True)


def test_templates_and_instances_replace_nothing_unasked(here, capsys):
    code, said = run(capsys, "datasets", "covboost", "--kind", "instance", "--out", "arms.csv")
    assert (code, "exists already" in said) == (2, True)
    bandit = pt.BernoulliBandit([[0.5], [0.25]])
    with pytest.raises(ValueError, match="exists already"):
        pt.write_instance(bandit, "arms.csv")
    pt.write_instance(bandit, "arms.csv", force=True)
    assert pt.read_instance("arms.csv", kind="bernoulli").means[1, 0] == 0.25


#: makers of files; what they write to, or on, must be the draft of `new_file` or a stream in memory
WRITERS = {"write_text", "write_bytes", "to_netcdf", "savefig", "replace", "rename", "open"}
#: a ledger is made new by SQLite, after the operating system's own exclusive creation
OWN_WAYS = {
    "paretoid/writing.py", "paretoid/explorer/ledger.py",
    # a copy of a ledger, damaged on purpose in a folder of its own
    "validation/faults/ledger.py", "validation/faults/store.py",
}  # fmt: skip


def test_files_are_written_in_one_place_only():
    strays = []
    for folder in ("paretoid", "theory", "validation"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if name in OWN_WAYS or {"theory", "validation"} & set(Path(name).parts[1:2]):
                continue
            strays += [
                f"{name}:{node.lineno}: {ast.unparse(node)[:60]}"
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Call) and _writes(node)
            ]
    assert not strays


def _writes(call: ast.Call) -> bool:
    """Does a call write to a file that is no draft?"""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name not in WRITERS:
        return False
    receiver = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if name in ("replace", "rename"):
        return receiver == "os"
    if name == "open":
        modes = [
            word.value
            for word in [*call.args, *(given.value for given in call.keywords)]
            if isinstance(word, ast.Constant) and isinstance(word.value, str)
        ]
        return receiver != "draft" and any(mode[:1] in ("w", "a", "x") for mode in modes)
    target = receiver if name.startswith("write_") else ast.unparse(call.args[0])
    # write_text without a receiver is ours; savefig of a report goes into memory
    return target not in ("", "draft", "str(draft)", "file")
