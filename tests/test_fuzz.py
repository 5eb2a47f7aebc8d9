"""A fuzzer of our own: hostile values at every entrance, by Python and by the command line.

The contract: a value, or `ValueError`/`TypeError` with a sentence (on the command line exit code 0,
1 or 2, never 3); no hang; no file but those that were named. `pytest tests/test_fuzz.py --full`
tries a hundred times as many.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import paretoid as pt
from paretoid import theory
from paretoid.cli.app import main
from paretoid.validation.guard import time_limit

#: seconds for one call; far more than any needs, so that only a hang meets it
LIMIT = 120.0
BANDIT = pt.BernoulliBandit([[0.9, 0.2], [0.1, 0.8]])

numbers = st.one_of(
    st.floats(),
    st.integers(-3, 30),
    st.sampled_from(
        [10**400, -(10**400), 2**63, 2**64, 5e-324, 1e308, 1e-300, True, False, None, 1j]
    ),
    st.sampled_from([np.float32(0.5), np.int8(3), np.bool_(True), np.datetime64("2020-01-01")]),
    st.text(max_size=4),
    st.binary(max_size=3),
)
values = st.recursive(numbers, lambda inner: st.lists(inner, max_size=4), max_leaves=9)

ENTRANCES = {
    "GaussianBandit": lambda x: pt.GaussianBandit(x, 1.0),
    "BernoulliBandit": pt.BernoulliBandit,
    "ResampledBandit": lambda x: pt.ResampledBandit(x, scale=1.0),
    "scale": lambda x: pt.GaussianBandit([[0.0, 1.0], [1.0, 0.0]], x),
    "covariance": lambda x: pt.GaussianBandit([[0.0, 1.0], [1.0, 0.0]], covariance=x),
    "arms": lambda x: pt.BernoulliBandit([[0.5], [0.2]], arms=x),
    "minimize": lambda x: pt.BernoulliBandit([[0.5], [0.2]], minimize=x),
    "ParetoSet": pt.ParetoSet,
    "Cover": lambda x: pt.Cover(0.0, x),
    "AtMost": pt.AtMost,
    "APE": pt.APE,
    "Mixture": pt.Mixture,
    "union": lambda x: pt.Mixture(union=x),
    "UnknownScale": lambda x: pt.UnknownScale(w=x),
    "a": lambda x: pt.UnknownScale(a=x),
    "Shares": pt.Shares,
    "sample": lambda x: BANDIT.sample(x, 1, 0),
    "labels": lambda x: pt.Campaign([BANDIT, BANDIT], labels=x),
    "deltas": lambda x: pt.Campaign(BANDIT, deltas=x),
    "pareto_set": theory.pareto_set,
    "gaps": theory.gaps,
    "C_g": theory.C_g,
    "kl_bernoulli": lambda x: theory.kl_bernoulli(x, 0.5),
    "informed_shares": theory.informed_shares,
    "open_campaign": pt.open_campaign,
    "load_instance": pt.load_instance,
}


def within_contract(call, *arguments) -> None:
    try:
        with time_limit(LIMIT), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            call(*arguments)
    except (ValueError, TypeError) as error:
        said = str(error)
        assert 10 < len(said) < 3000, f"no sentence: {said[:200]!r}"


def run_examples(test, count: int) -> None:
    settings(
        max_examples=count, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )(test)()  # fmt: skip


def test_any_value_at_any_entrance_is_taken_or_refused_in_a_sentence(examples, tmp_path):
    @given(st.sampled_from(sorted(ENTRANCES)), values)
    def fuzz(entrance, value):
        within_contract(ENTRANCES[entrance], value)

    with contextlib.chdir(tmp_path):
        run_examples(fuzz, 300 * examples)
    assert not list(tmp_path.iterdir())


words = st.one_of(
    st.floats().map(str),
    st.integers(-2, 5).map(str),
    st.sampled_from(
        ["0.1", "0.1,0.2", "1" * 400, "1e999", "5e-324", str(2**63), "nan", "", " ", "--",
         "\x1b[2J", "mixture", "mixture:rho=1e400", "mixture:rho=[", "ape", "json:JSONDecoder",
         "../x.csv", "/dev/null", "out.csv", "out.json", "out.nc", "arms.csv", "kept", "covboost",
         "é\u202e"]
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6),
)  # fmt: skip
COMMANDS = {
    "bounds": ["--scale", "--k", "--eps1", "--delta", "--radius", "--kind", "--minimize", "--out"],
    "simulate": ["--scale", "--k", "--eps1", "--eps2", "--delta", "--radius", "--rule", "--seed",
                 "--goal", "--kind", "--store", "--out"],
    "datasets": ["--kind", "--out"],
    "report": ["--out"],
}  # fmt: skip
contents = st.one_of(
    st.just("arm,gain,ease\nA,0.5,0.1\nB,0.1,0.2\n"),
    st.text(max_size=60),
    st.lists(st.lists(words, min_size=1, max_size=4), max_size=5).map(
        lambda rows: "\n".join(",".join(row) for row in rows)
    ),
)
calls = st.sampled_from(sorted(COMMANDS)).flatmap(
    lambda command: st.tuples(
        st.just(command),
        st.one_of(st.just("arms.csv"), words),
        st.lists(st.tuples(st.sampled_from(COMMANDS[command]), words), max_size=3),
    )
)


def listing(folder: Path) -> dict[str, bytes | None]:
    paths = sorted(folder.rglob("*"))
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in paths}


def test_any_command_line_ends_with_a_sentence_and_writes_only_what_was_named(examples):
    @given(calls, contents)
    def fuzz(call, content):
        command, first, options = call
        line = [command, first, *(word for option in options for word in option)]
        if command == "simulate":
            line += ["-n", "2", "--max-samples", "20", "--quiet"]
        with tempfile.TemporaryDirectory() as above:
            here = Path(above, "here")
            here.mkdir()
            (here / "arms.csv").write_text(content, encoding="utf-8", errors="replace")
            before = listing(Path(above))
            err = io.StringIO()
            code = None
            try:
                with (
                    contextlib.chdir(here), contextlib.redirect_stderr(err), time_limit(LIMIT),
                    contextlib.redirect_stdout(io.StringIO()),
                ):  # fmt: skip
                    main(line)
            except SystemExit as ended:
                code = ended.code
            assert code in (0, 1, 2), (line, content, err.getvalue()[-500:])
            after = listing(Path(above))
            named = {os.path.normpath(os.path.join("here", word)) for word in line}
            strays = [
                name
                for name in {**before, **after}
                if before.get(name, math.nan) != after.get(name, math.nan)
                and not any(name == known or name.startswith(f"{known}/") for known in named)
            ]
            assert not strays, (line, strays)
            assert after["here/arms.csv"] == before["here/arms.csv"], line

    pt.simulate(BANDIT, max_samples=20)  # compiles, which may take longer than the limit
    run_examples(fuzz, 40 * examples)
