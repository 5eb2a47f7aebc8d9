"""The command line as a person meets it: help, mistakes, pipes, narrow terminals, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import paretoid as pt
from paretoid import registry
from paretoid.cli import published
from paretoid.cli.app import EXIT_CODES, _explain, app
from paretoid.cli.datasets import _find
from paretoid.cli.options import shell_names
from paretoid.cli.terminal import Interrupted, NotShown, table
from paretoid.estimation.model import build_model
from paretoid.text import as_json
from paretoid.validation.paper import EXPERIMENTS

COMMANDS = [
    "plan", "oc", "fit", "simulate", "report", "bounds", "datasets", "certify", "reproduce",
    "version",
]  # fmt: skip


def process(command: str, **options) -> subprocess.CompletedProcess[str]:
    """A shell command in which `paretoid` is ours."""
    line = f'paretoid() {{ "{sys.executable}" -m paretoid "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, **options)


# --- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("columns", [40, 80])
def test_help_has_an_example_that_parses_and_fits_the_terminal(cli, command, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = cli(command, "--help")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= columns
    if columns == 80:
        assert len(out.splitlines()) <= 80  # two screens at most
    assert re.search(rf"Examples?: .*paretoid {command}", re.sub(r"\s+", " ", out))
    assert "--json" in out


def test_every_command_is_listed_with_what_it_does(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = cli("--help")
    assert code == 0
    for command in [*COMMANDS, "trial"]:
        line = re.search(rf"^  {command} +(\S.*)$", out, re.M)
        assert line, command
        assert not line[1].endswith("..."), command
    assert "--install-completion" in out
    assert "Example: paretoid simulate covboost" in re.sub(r"\s+", " ", out)
    assert cli("-h") == (code, out, "")
    assert cli("bounds", "-h") == cli("bounds", "--help")


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom paretoid.cli import main\n"
        "try: main(['plan', '--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('numba', 'xarray', 'pandas', 'scipy', 'pymc', 'arviz', 'matplotlib',"
        "'sympy', 'dask', 'distributed', 'validation') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "[]", result.stderr


def test_options_of_one_name_mean_one_thing():
    """The same spelling has the same type, and the uniform ones the same help, everywhere."""
    seen: dict[str, set[tuple[str, str]]] = {}
    for command in app.registered_commands:
        for name, hint in command.callback.__annotations__.items():
            seen.setdefault(name, set()).add(str(hint))
    for name in ("json", "quiet", "seed"):
        assert len(seen[name]) == 1, seen[name]


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulte"], "Did you mean 'simulate'"),
        (["simulate", "--replicatons", "3"], "--replications"),
        (["simulate", "--replications", "many"], "--replications"),
        (["simulate", "--replications", "0"], "replications=0"),
        (["simulate", "--threads", "0"], "--threads=0"),
        (["simulate", "covbost"], "did you mean 'covboost'"),
        (["simulate", "--delta", "2"], "strictly between 0 and 1"),
        (["simulate", "--k", "50"], "1..20"),
        (["simulate", "--eps1", "0.1,b"], "--eps1 '0.1,b' must be a number"),
        (["simulate", "--goal", "AtMost"], "needs k, as in AtMost:k=2"),
        (["simulate", "--goal", "cover:eps=1"], "no argument 'eps'; did you mean 'eps"),
        (["simulate", "--goal", "atmos:k=1"], "did you mean 'AtMost'"),
        (["simulate", "--radius", "mixtur"], "did you mean 'Mixture'"),
        (["simulate", "--radius", "mixture:rho=-1"], "rho=-1 must be"),
        (["simulate", "--radius", "mixture:rho"], "must be key=value"),
        (["simulate", "--radius", "mixture:rho=1,rho=2"], "gives rho twice"),
        (["simulate", "--rule", "lucb"], "looks for the best arm"),
        (["simulate", "doses.csv"], "not how far outcomes scatter"),
        (["simulate", "covboost", "--scale", "1"], "is bundled"),
        (["simulate", "--out", "."], "is a directory"),
        (["simulate", "--out", "x.xlsx"], "must end in .nc, .csv or .json"),
        (["simulate", "--out", "nowhere/x.nc"], "there is no directory nowhere"),
        (["bounds", "nowhere.csv", "--scale", "1"], "nowhere.csv is no file"),
        (["bounds", "."], "is a directory"),
        (["bounds", "text.csv", "--scale", "1"], "row 3, column ease: 'a lot' is no number"),
        (["bounds", "--radius", "SingleArm"], "has no exact inversion"),
        (["bounds", "--radius", "single-arm"], "--radius mixture or --radius kaufmann-koolen"),
        (["simulate", "tied.csv", "--scale", "1"], "or pass --max-samples to run to a budget"),
        (["report", "nowhere"], "'nowhere' is no campaign"),
        (["report", "nowhere"], "`paretoid simulate --store`"),
        (["bounds", "--seed", "1"], "--seed"),
        (["datasets", "comcov"], "no dataset 'comcov'; did you mean 'comcov2'"),
        (["datasets", "--kind", "table"], "--kind='table' must be one of"),
        (["datasets", "--out", "x.csv"], "say its name first"),
        (["datasets", "covboost", "--out", "x.csv"], "say --kind instance or --kind trial"),
        (["datasets", "comcov2", "--out", "x.toml"], "must end in .csv or .json"),
        (["fit", "comcov"], "did you mean 'comcov2'"),
        (["fit", "nowhere.csv"], "nowhere.csv is no file"),
        (["fit", "doses.csv"], "the heading does not say what its numbers"),
        (["fit", "--chains", "1"], "chains=1"),
        (["fit", "--variances", "none"], "variances='none' must be one of"),
        (["plan", "nowhere.nc"], "nowhere.nc is no file"),
        (["plan", "nowhere.nc"], "paretoid fit ... --out FILE.nc"),
        (["plan", "broken.nc"], "broken.nc is no netCDF file"),
        (["plan", "broken.nc", "--level", "0.9"], "they belong to `paretoid fit`"),
        (["plan", "--out", "doses.csv"], "is a file, and results need a directory"),
        (["certify", "--quick", "--full"], "exclude each other"),
        (["certify", "--seed", "-1", "--quick"], "seed=-1"),
        (["reproduce", "tabel1"], "did you mean 'table1'"),
        (["reproduce", "table1", "--out", "doses.csv"], "is a file"),
        (["version", "--seed", "1"], "--seed"),
    ],
)
def test_mistakes_end_with_a_sentence_and_code_2(cli, words, said, doses, tmp_path):
    (tmp_path / "text.csv").write_text("arm,ease\nA,1\nB,a lot\n")
    (tmp_path / "tied.csv").write_text("arm,ease\nA,1\nB,1\n")
    (tmp_path / "broken.nc").write_text("no netCDF")
    before = sorted(tmp_path.rglob("*"))
    code, out, err = cli(*words)
    assert code == 2
    assert said in err
    assert out == ""
    assert "Traceback" not in err
    assert len(err.splitlines()) <= 6
    assert sorted(tmp_path.rglob("*")) == before  # nothing is left behind


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("fit --seed -3", "--seed=-3 must be an integer of at least 0"),
        ("fit --variances foo", "--variances='foo' must be one of 'pooled', 'partial', 'separate'"),
        ("fit --chains 0", "--chains=0 must be an integer of at least 2"),
        ("fit --chains 1", "--chains=1 must be an integer of at least 2"),
        ("fit --draws 9", "--draws=9 must be an integer of at least 10"),
        ("fit --tune -1", "--tune=-1 must be an integer of at least 10"),
        ("fit --target-accept 1", "--target-accept=1.0 must lie between 0 and 1"),
        ("fit --target-accept nan", "--target-accept=nan must lie between 0 and 1"),
        ("plan --seed -3", "--seed=-3 must be an integer of at least 0"),
        ("plan --variances foo", "--variances='foo' must be one of"),
        ("plan --draws 0", "--draws=0 must be an integer of at least 1"),
        ("plan --max-samples 0", "--max-samples=0 must be an integer of at least 1"),
    ],
)
def test_what_the_sampler_would_refuse_is_refused_before_it_starts(cli, words, said):
    code, out, err = cli(*words.split())
    assert (code, out) == (2, "")
    assert said in err
    assert "fitting" not in err  # not after half a minute of compiling


def test_a_traceback_is_shown_only_for_debug(cli):
    for words in (["--debug", "bounds", "covbost"], ["bounds", "covbost", "--debug"]):
        code, _, err = cli(*words)
        assert code == 2
        assert "Traceback" in err
        assert err.rstrip().endswith("Or give a file that ends in .csv or .toml.")
    code, _, err = cli("bounds", "--", "--debug")  # after -- it is a word
    assert code == 2
    assert err.startswith("paretoid: no instance '--debug'.")


def test_a_mistake_of_our_own_is_told_apart_from_bad_input_and_failed_checks(cli, monkeypatch):
    def broken(*_, **__):
        raise KeyError("Oops")

    monkeypatch.setattr("paretoid.instances.load_instance", broken)
    code, _, err = cli("bounds")
    assert code == 3
    assert "a mistake of paretoid's own, KeyError: 'Oops'" in err
    assert "--debug" in err
    assert "Traceback" not in err
    code, _, err = cli("bounds", "--debug")
    assert code == 3
    assert "Traceback" in err


def test_what_the_system_refuses_is_bad_input(cli, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "x.json")

    monkeypatch.setattr(Path, "write_text", full)
    code, _, err = cli("bounds", "--out", "x.json")
    assert (code, err) == (
        2,
        "paretoid: x.json cannot be written: No space left on device. Name another file.\n",
    )


@pytest.mark.filterwarnings("default")
def test_warnings_are_sentences(cli, tmp_path):
    """A file that is not UTF-8 is read, and that is said; without places in our source."""
    (tmp_path / "latin.csv").write_bytes("arm,a\nKöln,1\nB,2\n".encode("latin-1"))
    code, out, err = cli("bounds", "latin.csv", "--scale", "1")
    assert code == 0
    assert "Köln" in out
    assert err.startswith("paretoid: latin.csv is not UTF-8; it was read as Windows-1252.")
    assert len(err.splitlines()) == 1


def test_ctrl_c_is_one_line_and_code_130(cli, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("paretoid.instances.load_instance", interrupt)
    assert cli("bounds") == (130, "", "paretoid: interrupted.\n")
    monkeypatch.setattr("paretoid.validation.paper.table1.parts", interrupted_parts)
    code, out, err = cli("reproduce", "table1", "--quick", "--quiet")
    assert (code, out) == (130, "")
    assert err.startswith("paretoid: interrupted. 0 of 1 configurations are kept in reproduced")
    assert len(err.splitlines()) == 1


def interrupted_parts(count, seed):
    class Part:
        name = "one"

        def run(self):
            raise KeyboardInterrupt

    return [Part()]


# --- pipes and terminals --------------------------------------------------------------------------


def test_output_may_be_piped_into_head(doses):
    """Nothing but the result on stdout, nothing on stderr, the code that the command gave."""
    for command in ("datasets", "bounds doses.csv --scale 1 --json"):
        for reader, lines in (("head -1", 1), ("true", 0)):  # true is gone before we write
            line = f"set -o pipefail; paretoid {command} | {reader}"
            result = process(line, cwd=doses.parent)
            assert len(result.stdout.splitlines()) == lines
            assert (result.returncode, result.stderr) == (0, "")


def test_closed_streams_are_no_mistake():
    assert process("paretoid datasets >&- 2>&-").returncode == 0
    result = process("paretoid bounds covbost 2>&-")
    assert (result.returncode, result.stdout) == (2, "")


def test_a_full_disk_is_a_sentence():
    result = process("paretoid datasets > /dev/full")
    assert result.returncode == 2
    assert result.stderr == "paretoid: stdout cannot be written to: No space left on device.\n"


def terminal(command: str, columns: int, **environment: str) -> str:
    """What a command writes to a terminal of so many columns."""
    import pty

    controller, end = pty.openpty()
    words = [sys.executable, "-m", "paretoid", *command.split()]
    variables = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", **environment}
    with subprocess.Popen(words, stdout=end, stderr=end, env=variables) as running:
        os.close(end)
        text = b""
        try:
            while block := os.read(controller, 1 << 16):
                text += block
        except OSError:  # the other end is closed
            pass
        os.close(controller)
        assert running.wait() == 0
    return text.decode()


def test_a_narrow_terminal_cuts_no_number_and_no_colour_means_none():
    text = terminal("bounds covboost", 40, NO_COLOR="1")
    assert "\x1b" not in text
    assert "…" not in text
    assert max(len(line.rstrip("\r")) for line in text.split("\n")) <= 40
    assert re.search(r"0\.098 +0\.098", text)
    assert "───" in text  # Rich's table
    assert "\x1b[1m" in terminal("bounds covboost", 80)


def test_tables_too_wide_for_the_terminal_become_lists(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    heads = ["arm", "first number", "second number", "third"]
    assert table(heads, [["A", "123,456,789.00", "123,456,789", ""]]).splitlines() == [
        "A",
        "  first number   123,456,789.00",
        "  second number  123,456,789",
    ]
    monkeypatch.delenv("COLUMNS")
    wide = table(heads, [["A" * 300, "1", "2", "[bold]3[/]"]])  # piped: as wide as it takes
    assert wide.splitlines()[1].split() == ["A" * 300, "1", "2", "[bold]3[/]"]


def test_names_cannot_steer_the_terminal(cli, tmp_path):
    (tmp_path / "x.csv").write_text("arm,a\n\x1b[2JA\x07,1\nB,9\n")
    for words in (["bounds", "x.csv", "--scale", "1"], ["bounds", "x.csv", "--scale", "0"]):
        _, out, err = cli(*words)
        assert not set(out + err) & set("\x1b\x07\r")
    assert "has a control character" in cli("bounds", "x.csv", "--scale", "1")[2]


def test_json_has_no_nan_and_no_infinity():
    import numpy as np

    data = {"a": [np.float64("nan"), -np.inf, 1], "b": np.array([[True]]), "c": Path("x"), 3: "é"}
    assert as_json(data).encode().decode() == json.dumps(
        {"a": [None, None, 1], "b": [[True]], "c": "x", "3": "é"}, indent=2, ensure_ascii=False
    )


# --- completion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("paretoid sim", ["simulate"]),
        ("paretoid bounds cov", ["covboost", "covboost-printed"]),
        ("paretoid bounds do", ["doses.csv"]),
        ("paretoid bounds folder/", ["folder/x.toml"]),
        ("paretoid plan com", ["comcov2"]),
        ("paretoid plan f", ["fit.nc", "folder/"]),
        ("paretoid report f", ["folder/"]),
        ("paretoid datasets com", ["comcov2"]),
        ("paretoid reproduce cover", ["cover-random", "cover-fixed"]),
        ("paretoid simulate --repl", ["--replications"]),
    ],
)
def test_tab_completes_commands_options_names_and_files(line, offered, cli, doses, monkeypatch):
    (doses.parent / "folder").mkdir()
    for name in ("folder/x.toml", "folder/x.txt", "fit.nc"):
        (doses.parent / name).write_text("")
    monkeypatch.setenv("_PARETOID_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    assert cli()[1].split() == offered


def offered_by_tab():
    """(command, parameter, names) wherever Tab offers names of ours."""

    def below(command, name):
        for child, inside in getattr(command, "commands", {}).items():
            yield from below(inside, f"{name} {child}".strip())
        for parameter in command.params:
            if getattr(parameter, "_custom_shell_complete", None) is not None:
                context = typer.Context(command, info_name=name)
                names = [item.value for item in parameter.shell_complete(context, "")]
                yield name, parameter.name, names

    return list(below(typer.main.get_command(app), ""))


def test_every_name_that_tab_offers_is_taken(tmp_path, monkeypatch):
    """By what the command does first with it; a completion that this does not know fails."""
    monkeypatch.chdir(tmp_path)  # no files to offer

    def fitted(name):
        return build_model(published.read_trial(name, None, None, None, None, None, 0.95, None))

    takers = {
        "plan trial": fitted, "oc trial": fitted, "fit trial": fitted,
        "oc instance": pt.load_instance, "simulate instance": pt.load_instance,
        "bounds instance": pt.load_instance, "datasets name": lambda name: _find(name, None),
        "reproduce name": EXPERIMENTS.__getitem__,
    }  # fmt: skip
    for command, parameter, names in offered_by_tab():
        assert len(names) == len(set(names))
        for name in names:  # commands on a ledger or a store offer files alone, and here are none
            takers[f"{command} {parameter}"](name)


def test_the_help_lists_every_member_of_the_registry(cli, monkeypatch):
    """Under the name one types, which is that of the class whatever its hyphens."""
    monkeypatch.setenv("COLUMNS", "10000")
    text = re.sub(r"-\s+", "-", cli("simulate", "--help")[1])  # lines break after a hyphen
    flat = {word.replace("-", "") for word in re.findall(r"[a-z0-9-]+", text)}
    for kinds in (registry.GOALS, registry.RULES, registry.RADII):
        assert {name.lower() for name in kinds} <= flat
    bounds = cli("bounds", "--help")[1]
    assert "mixture (default), kaufmann-koolen" in " ".join(bounds.split())


def test_a_new_member_is_listed_without_a_word_more(monkeypatch):
    assert shell_names([*registry.RULES, "NewRule2X"]).endswith("ugap-ec, new-rule2-x")
    for what, kinds in (("rule", registry.RULES), ("radius", registry.RADII)):
        for word in shell_names(kinds).split(", "):
            assert registry.type_of(word, what) in kinds.values()


def test_exit_codes_are_said_wherever_they_are_listed(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "10000")
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    for text in (cli("--help")[1], readme):
        listed = " ".join(text.split()).partition("Exit codes: ")[2]
        expected = ", ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())
        assert listed.startswith(expected)
    ends = [NotShown("x"), ValueError("x"), Interrupted("x"), RuntimeError("x"), OSError("x")]
    codes = [_explain(error, debug=True) for error in ends]
    assert codes == [4, 2, 130, 3, 2]
    assert set(codes) <= set(EXIT_CODES)


def test_version(cli):
    assert cli("version") == cli("--version") == (0, pt.__version__ + "\n", "")
    found = json.loads(cli("version", "--json")[1])
    assert found["paretoid"] == pt.__version__
    assert found["python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")
