"""Each mistake is caught by the checks that validation/README.md names, and by no accident."""

import pytest

from paretoid import loop
from paretoid.validation import mutants
from paretoid.validation.mutants import MUTANTS, Edit, applied, hunt, table
from paretoid.view import View

FOUND = {}


@pytest.mark.slow  # one by one; the table below hunts them all
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mutant_is_caught_by_every_check_named_for_it(mutant):
    FOUND[mutant.name] = hunt(mutant)
    missing = set(mutant.checks) - set(FOUND[mutant.name])
    assert not missing, f"{mutant.name} survives {', '.join(sorted(missing))}: a check is missing"


@pytest.mark.slow
def test_the_engine_itself_raises_no_alarm():
    # Coverage and the sequential test: wrong once in 10^6 seeds each. The rest is certain.
    assert hunt(None) == {}


@pytest.mark.slow  # the quick battery of .ci/run hunts every mutant
def test_the_table_in_the_readme_is_what_was_found():
    found = {m.name: FOUND.get(m.name) or hunt(m) for m in MUTANTS}
    fresh = table(found)
    assert mutants.documented_table() == fresh, "run python -m paretoid.validation.mutants --update"


def test_there_are_mutants_for_every_mistake_asked_for():
    assert len(MUTANTS) >= 14
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert all(mutant.checks for mutant in MUTANTS)


def test_an_edit_is_undone_afterwards():
    before = View.optimal, loop.chosen
    edits = (
        Edit("paretoid.view", "View.optimal", "self.h > 0", "self.S"),
        Edit("paretoid.loop", "chosen", "if not arms:", "if arms:"),
        Edit("paretoid.loop", "chosen", "< len(arms)", "> len(arms)"),
    )
    with applied(*edits):
        assert View.optimal is not before[0]
        assert loop.chosen is not before[1]
    assert (View.optimal, loop.chosen) == before
    assert not hasattr(loop, "_stale")


def test_an_edit_that_no_longer_applies_is_an_error():
    edit = Edit("paretoid.loop", "chosen", "no such text", "")
    with pytest.raises(ValueError, match="occurs 0 times"), applied(edit):
        pass


def test_a_survivor_fails_the_command_and_update_rewrites_the_table(tmp_path, monkeypatch, capsys):
    readme = tmp_path / "README.md"
    readme.write_text("before <!-- mutants -->\nold\n<!-- end of mutants --> after")
    monkeypatch.setattr(mutants, "README", readme)
    monkeypatch.setattr(mutants, "MUTANTS", MUTANTS[:1])
    assert mutants.main([]) == 1  # the table is out of date
    assert "old" in readme.read_text()  # and is left alone
    assert mutants.main(["--update"]) == 0
    assert readme.read_text().startswith("before <!-- mutants -->\n| mutant")
    assert readme.read_text().rstrip().endswith("<!-- end of mutants --> after")
    monkeypatch.setattr(mutants, "hunt", lambda mutant: {})
    assert mutants.main(["--update"]) == 1
    assert "Not caught as documented: radius divided by 2" in capsys.readouterr().out
