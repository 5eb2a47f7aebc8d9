"""The HTML reports as files: complete, closed to the world, and true to their numbers."""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
import typer
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import paretoid as pt
from paretoid import plots, text
from paretoid.cli.command_line import command_as_typed
from paretoid.estimation import pareto_probability, plan, save_fit
from paretoid.estimation.model import trial_of
from paretoid.report import campaign_report, plan_report, read_store, write_plan
from paretoid.report.figures import drawing, new_axes, picture
from paretoid.report.page import Cell, Section, TableBlock, TextBlock, render, write_page
from paretoid.report.plan_repeat import script as script_text
from paretoid.report.plan_text import as_dict, as_text


class Parsed(HTMLParser):
    """A page taken apart: tags with attributes, texts by innermost tag, table cells by row."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.tables: list[list[list[str]]] = []
        self._open: list[str] = []
        self._cell = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._cell = True

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data):
        self.texts.append((self._open[-1] if self._open else "", data))
        if self._cell:
            self.tables[-1][-1][-1] += data

    def under(self, *tags: str) -> str:
        return "".join(text for tag, text in self.texts if tag in tags)

    def rows(self, head: str) -> list[list[str]]:
        """The body of the first table whose heads include `head`."""
        return next(table[1:] for table in self.tables if head in table[0])


def assert_closed(html: str) -> Parsed:
    """Nothing refers to anything outside, and what is referred to inside is there once."""
    page = Parsed(html)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = []
    for tag, attrs in page.tags:
        assert tag not in ("iframe", "img", "object", "embed", "base", "form", "video", "audio")
        assert "src" not in attrs
        for name, value in attrs.items():
            assert not name.startswith("on")
            targets += re.findall(r"url\(([^)]*)\)", value or "")
            if name.endswith("href") and (tag, value) != ("link", "data:,"):
                targets.append(value)
            targets += [f"#{each}" for each in (value or "").split() if name == "aria-labelledby"]
    assert targets
    assert {target for target in targets if target[0] != "#" or target[1:] not in ids} == set()
    style = page.under("style")
    assert "url(" not in style
    assert "@import" not in style
    scripts = [text for tag, text in page.texts if tag == "script"]
    assert len(scripts) == 1
    policy = next(a["content"] for _, a in page.tags if "http-equiv" in a)
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    return page


@pytest.fixture(scope="module")
def html(nasty_plan):
    return plan_report(*nasty_plan, command="paretoid plan 'a & b.csv' --k 1")


def test_a_plan_is_one_file_that_refers_to_nothing_outside(html):
    page = assert_closed(html)
    assert sum(tag == "svg" for tag, _ in page.tags) >= 4
    assert "http" not in html.replace("http-equiv", "")


def test_a_campaign_is_one_file_in_which_names_are_text(nasty_store):
    html = campaign_report(read_store(nasty_store), command="paretoid report 'a <b>'")
    page = assert_closed(html)
    assert "http" not in html.replace("http-equiv", "")
    assert {tag for tag, _ in page.tags}.isdisjoint({"b", "u"})
    names = [row[0] for row in page.rows("truly optimal")]
    assert len(names) == 4
    drawn = page.under("text", "tspan")
    assert all(name.split(" \x07")[0][:12] in drawn for name in names)
    assert {row[0] for row in page.rows("instance")} == {"easy & <u>", "hard"}
    words = page.under("p")
    for said in (
        "Gaussian with the scales", "SeedSequence(7", "The radius is heuristic", "Goals.",
        "Proved: if outcomes are sub-Gaussian", "400 samples", "one interval per arm",
    ):  # fmt: skip
        assert said in words
    code = page.under("code")
    assert "paretoid report 'a <b>'" in code
    compile(code.split("'a <b>'")[1], "report", "exec")


def test_names_are_text_whatever_they_spell(nasty_fit, html):
    page = Parsed(html)
    names = trial_of(nasty_fit).arms
    shown = [row[0] for row in page.rows("P(optimal)")]
    assert shown == list(names)
    drawn = page.under("text", "tspan")
    for name in names:
        assert name.split(" 長")[0].replace("\x07", "\ufffd") in drawn  # text, not a path
    assert {tag for tag, _ in page.tags}.isdisjoint({"b", "i", "em"})
    assert "{{ 7 * 7 }}" in html


def test_numbers_of_the_plan_stand_in_the_report(nasty_plan, html):
    _, shares, planned = nasty_plan
    page = Parsed(html)
    rows = {row[0]: row[1:] for row in page.rows("N for 90% assurance")}
    assert list(rows) == ["all optimal arms", "one arm"]
    for g, cells in enumerate(rows.values()):
        each = planned.isel(goal=g)
        needed = float(each.samples_needed.sel(assurance_level=0.9))
        assert cells[1].startswith(f"{needed:,.0f} ")
        # With 40 draws the ends are the 32nd and the 40th: P(Binomial(40, 0.9) <= 31) = 1.5%,
        # P(<= 32) = 4.2%, P(= 40) = 1.5%, P(>= 39) = 8.0%.
        ordered = np.sort(np.where(each.stopped, each.stopping_time, np.inf))
        high = "> 400" if np.isinf(ordered[39]) else f"{ordered[39]:,.0f}"
        assert cells[1].endswith(f"{ordered[31]:,.0f} to {high}")
        assert cells[2].startswith(f"{float(each.plug_in_stopping_time.mean()):,.0f} ")
        assert cells[3].startswith(f"{float(each.censored):.1%}")
        assert cells[4].startswith(f"{float(each.error_rate):.1%}")
        ends = f"{ordered[31]:,.0f} to {high.replace('>', 'more than')}"
        said = f"{needed:,.0f} participants (simulation error: 95% interval {ends})"
        assert said in page.under("p")
        # The terminal says the same, and what it is.
        lines = [line.split("  ") for line in as_text(*nasty_plan).splitlines()]
        errors = [line[-1].strip() for line in lines if "simulation error, 95%" in " ".join(line)]
        assert errors[3 * g + 1] == f"{ordered[31]:,.0f} to {high}"
    arms = page.rows("P(optimal)")
    for i, row in enumerate(arms):
        assert row[1].startswith(f"{100 * float(shares.optimal[i]):.0f}"[:1])
        spread = planned.pulls[0, :, i].values.std(ddof=1) / np.sqrt(40)
        value, error = row[3].split(" ± ")
        assert float(value) == pytest.approx(float(planned.allocation[0, i]), abs=0.5)
        assert float(error) == pytest.approx(spread, rel=0.06)  # two digits
    assert "Doe & <em>Roe</em>" in page.under("p")


def test_bounds_stand_apart_from_n_with_what_they_hold_for_in_page_and_text(nasty_plan):
    fit, shares, planned = nasty_plan
    assert planned.sizes["draw"] == 40  # an even number: the median lies between two draws
    page, text = Parsed(plan_report(fit, shares, planned)), as_text(fit, shares, planned)
    found = as_dict(fit, shares, planned)["goals"]
    legend = [item.get_text() for item in plots.assurance(planned).get_legend().get_texts()]
    assert not any("bound" in line or "Theorem" in line for line in legend)
    assert not any("bound" in head for head in page.rows("N for 90% assurance")[0])
    words = " ".join(text.split())
    remark = "(Mixture, a union over pairs, uniform shares), which is told each draw's scales"
    assert remark in words.split("Upper bounds, median draw.")[1]
    assert remark in page.under("p", "figcaption", "small", "div")
    assert "a trial takes no more than that with probability at least 1 - delta" in words
    seen = set()
    for g, row in enumerate(page.rows("sharp bound, median draw")):
        for name, cell in (("sharp_bound", row[1]), ("theorem_1", row[2])):
            ordered = sorted(planned[name].values[g].tolist())
            middle = (ordered[19] + ordered[20]) / 2
            shown = f"{float(f'{middle:.3g}'):,.0f}"
            assert cell.startswith(f"{shown} ")
            assert found[str(planned.goal.values[g])][f"{name}_median"] == pytest.approx(middle)
            assert shown in words.split("Upper bounds, median draw.")[1]
            seen.add(shown)
    assert len(seen) == 4


def test_the_other_answers_are_named_with_their_shares(nasty_plan):
    fit, shares, planned = nasty_plan
    answer = np.zeros((2, 40, 4), dtype=bool)
    answer[..., 0] = True
    answer[0, 7, 1] = True  # one other answer to the first goal
    answer[1, 7, 1] = True  # two others to the second
    answer[1, 8:10, 2] = True
    made = planned.assign(
        answer=(planned.answer.dims, answer),
        stopped=(planned.stopped.dims, np.ones((2, 40), dtype=bool)),
    )
    first, second = Parsed(plan_report(fit, shares, made)).under("li", "p").split("How many:")[1:3]
    names = [str(arm) for arm in planned.arm.values]
    assert f"Otherwise: 2.5% {names[0]}, {names[1]}." in first
    assert f"Otherwise: 5.0% {names[0]}, {names[2]}; 2.5% {names[0]}, {names[1]}." in second
    assert "How sure: the probability of a wrong answer is proved to be at most 0.1; " in first
    lines = as_text(fit, shares, made, 120).splitlines()
    assert any(line.split() == f"{names[0]}, {names[2]} 5.0%".split() for line in lines)
    data = as_dict(fit, shares, made)["goals"][str(planned.goal.values[1])]["answers"]
    assert data[1] == {"arms": [names[0], names[2]], "share": 0.05}
    answer[0, 7, 1] = False
    alone = made.assign(answer=(planned.answer.dims, answer))
    first = Parsed(plan_report(fit, shares, alone)).under("li", "p").split("How many:")[1]
    assert "Otherwise" not in first


def test_no_long_number_of_a_radius_stands_in_a_readers_text(nasty_plan, html):
    fit, shares, planned = nasty_plan
    page = Parsed(html)
    long = re.compile(r"\d\.\d{6,}")
    assert long.search(planned.attrs["radius"])
    assert not long.search(page.under("p", "td", "th", "li", "figcaption"))
    assert not long.search(as_text(fit, shares, planned))
    session = {}
    exec(next(code for code in codes(html) if "radius = " in code), session)
    assert repr(session["radius"]) == planned.attrs["radius"]
    assert session["goals"] == [pt.ParetoSet(0.1), pt.AtMost(1, 0.1)]


def test_the_column_source_is_cited_in_page_text_and_json(nasty_plan):
    fit, shares, planned = nasty_plan
    told = fit.copy(deep=True)
    trial = json.loads(told["posterior"].attrs["paretoid_trial"])
    trial["sources"] = ["Doe 2020, Table 2", "Roe 2021, p. 7"]
    told["posterior"].attrs["paretoid_trial"] = json.dumps(trial)
    said = "Source of the numbers: Doe 2020, Table 2; Roe 2021, p. 7."
    assert said in " ".join(as_text(told, shares, planned).split())
    assert said in Parsed(plan_report(told, shares, planned)).under("p")
    assert as_dict(told, shares, planned)["sources"] == trial["sources"]


def test_methods_name_model_priors_radius_guarantee_and_how_to_repeat_it(html):
    page = Parsed(html)
    words = page.under("p")
    for said in (
        "chi² with n - 1 degrees of freedom", "LogNormal(log 0.15, 0.7)", "Gaussian",
        "(UnknownScale, rho", "Proved: if outcomes are Gaussian", "R-hat", "Clopper-Pearson",
    ):  # fmt: skip
        assert said in words
    code = page.under("code")
    assert "paretoid plan 'a & b.csv' --k 1" in code
    assert "seed=1" in code
    for block in codes(html)[1:]:
        compile(block, "report", "exec")
    names = [row[0] for row in page.rows("setting")] + [
        row[0] for table in page.tables for row in table
    ]
    assert {"seed", "delta", "radius", "Python", "paretoid", "numpy"} <= set(names)


def codes(html):
    """The blocks of code in a report."""
    return [unescape(block.split("</code>")[0]) for block in html.split("<code>")[1:]]


def script_of(html):
    """The Python block of a plan's report."""
    return next(block for block in codes(html) if "estimation.plan(" in block)


def asked_by(script):
    """(goals, keywords) that the script gives to `estimation.plan`."""
    calls = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Call)]
    call = next(node for node in calls if ast.unparse(node.func) == "estimation.plan")
    evaluated = {
        keyword.arg: eval(ast.unparse(keyword.value), {"pt": pt}) for keyword in call.keywords
    }
    return eval(ast.unparse(call.args[1]), {"pt": pt}), evaluated


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.floats(0, 1e6), min_size=2, max_size=2),
    st.floats(0, 1e-3),
    st.floats(0.01, 0.99),
    st.booleans(),
)
def test_the_goals_of_the_script_are_those_of_the_plan_to_the_last_digit(eps, slack, delta, folded):
    goals = [pt.ParetoSet(slack), pt.AtMost(2, eps), pt.Cover(tuple(eps), slack)]
    sizes = {"goal": list(map(str, goals)), "samples": np.arange(1, 21) * 5}
    counts = {"draw": 3, "replication": 2}
    attrs = {
        "asked": "; ".join(map(repr, goals)), "fold": 1 + slack if folded else 0.0,
        "delta": delta, "max_samples": 100, "seed": 7, "radius": repr(pt.Mixture(rho=1 + slack)),
    }  # fmt: skip
    empty = {name: (name, np.zeros(size)) for name, size in counts.items()}
    made = xr.Dataset(empty, {**sizes, "arm": ["A"]}, attrs)
    asked, options = asked_by(script_text(made, None, ""))
    assert asked == goals
    assert options.pop("fold", 0.0) == attrs["fold"]
    assert options == {
        "radius": pt.Mixture(rho=1 + slack), "delta": delta, "draws": 3, "replications": 2,
        "max_samples": 100, "seed": 7,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("goals", "options"),
    [
        ([pt.ParetoSet(1 / 3), pt.AtMost(2, (0.1 + 0.2, np.pi / 7))], {}),
        ([pt.Cover(np.e / 9, np.pi / 9)], {"radius": pt.Mixture(rho=2 / 3), "samples": [77, 200],
                                           "scale_quantile": 0.9, "delta": 1 / 7, "seed": 5}),
        ([pt.ParetoSet(limits={"ease & rest": pt.at_least(1.1, slack=0.1)})],
         {"radius": pt.Mixture(shares=pt.Shares([0.4, 0.3, 0.2, 0.1])),
          "conduct": pt.Conduct(look=50), "correlation": 0.5}),
    ],
)  # fmt: skip
def test_the_script_of_a_plan_gives_the_same_numbers(
    nasty_fit, goals, options, tmp_path, monkeypatch
):
    planned = plan(nasty_fit, goals, draws=3, replications=2, max_samples=300, **options)
    shares = pareto_probability(nasty_fit, limits=goals[0].limits)
    script = script_of(plan_report(nasty_fit, shares, planned))
    assert asked_by(script)[0] == goals
    monkeypatch.chdir(tmp_path)
    save_fit(nasty_fit, "fit.nc")
    session = {}
    exec(script, session)
    xr.testing.assert_identical(session["plan"], planned)
    xr.testing.assert_identical(session["optimal"], shares)


def test_an_older_plan_is_repeated_as_far_as_it_is_known(nasty_plan):
    fit, shares, planned = nasty_plan
    old = planned.copy()
    del old.attrs["asked"], old.attrs["scale_quantile"]
    script = script_of(plan_report(fit, shares, old))
    assert "# margins to six digits" in script
    assert asked_by(script)[0] == [pt.ParetoSet(0.1), pt.AtMost(1, 0.1)]


def test_how_the_fit_was_made_stands_in_the_report(nasty_plan, html):
    fit, shares, planned = nasty_plan
    row = next(r for table in Parsed(html).tables for r in table if r[0] == "seed of the fit")
    assert row[1] == "not kept with the fit"
    assert "estimation.fit(" not in Parsed(html).under("code")
    told = fit.copy(deep=True)
    told["posterior"].attrs |= {
        "paretoid_seed": "23", "paretoid_tune": 1500, "paretoid_target_accept": 0.95,
        "paretoid_sampler": "pymc",
    }  # fmt: skip
    page = Parsed(plan_report(told, shares, planned))
    row = next(r for table in page.tables for r in table if r[0] == "seed of the fit")
    assert row[1] == "23"
    code = page.under("code")
    assert (
        "\nfit = estimation.fit(trial_of(fit), 'partial', draws=200, tune=1500, chains=2, "
        "seed=23, target_accept=0.95)\n"
    ) in code
    assert "import trial_of" in code
    said = "2 chains of 200 draws after 1,500 of tuning, target acceptance 0.95, seed 23"
    assert said in page.under("p")
    bad, good = {"diagnostics": None, "problems": ["1 divergent transitions"]}, {"problems": []}
    made = [
        {"tune": 1500, "target_accept": 0.95, "every": 1, **bad},
        {"tune": 3000, "target_accept": 0.99, "every": 4, **bad, **good},
    ]
    told["posterior"].attrs |= {
        "paretoid_attempts": json.dumps(made), "paretoid_prior_width": 2.0,
    }  # fmt: skip
    page = Parsed(plan_report(told, shares, planned))
    assert (
        "had problems (1 divergent transitions), so the draws are those of a second: 3,000 of "
        "tuning, target acceptance 0.99, every 4th draw kept"
    ) in page.under("p")
    assert "all of them made 2 times as wide" in page.under("p")
    assert "'partial', prior_width=2.0, draws" in page.under("code")
    told["posterior"].attrs["paretoid_priors"] = "the user's own"
    del told["posterior"].attrs["paretoid_prior_width"]
    code = Parsed(plan_report(told, shares, planned)).under("code")
    assert "'partial', priors=..., draws" in code


def test_problems_and_heuristics_are_said_first(nasty_plan):
    fit, shares, _ = nasty_plan
    worse = fit.copy(deep=True)
    worse["posterior"].attrs["paretoid_problems"] = "7 divergent transitions"
    loose = plan(
        fit, pt.ParetoSet(0.1), radius=pt.Mixture(union="none"), draws=3, replications=2,
        max_samples=300,
    )  # fmt: skip
    words = Parsed(plan_report(worse, shares, loose)).under("p", "li")
    assert words.index("7 divergent transitions") < words.index("nothing bounds the probability")
    assert words.index("nothing bounds the probability") < words.index("How many")
    assert "is proved to be at most" not in words
    assert "How sure: the answer is a heuristic, without a guarantee; " in words
    assert "Proved:" not in words


@pytest.mark.filterwarnings("ignore:Glyph")  # a name that the PNG's font cannot show
def test_a_plan_is_written_with_the_page_beside_the_rest(nasty_plan, tmp_path):
    written = write_plan(*nasty_plan, tmp_path, command="the command")
    assert {"report.html", "plan.json", "arms.csv"} <= {path.name for path in written}
    assert "the command" in (tmp_path / "report.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="cannot be written"):
        write_page(tmp_path / "nowhere" / "report.html", "")


def test_two_pictures_share_no_id_and_keep_what_refers_inside():
    def axes():
        made = new_axes(2.0, 3.0)
        made.plot([1, 2, 3], "o-", clip_on=True, label="a")
        return made

    with drawing():
        pair = [picture(axes(), name, f"say <{name}>") for name in ("one", "two")]
    assert 250 < pair[0].width < 330  # 3 inches of 96 pixels, cut to what is drawn
    blocks = [TextBlock(pair[0].svg), TextBlock(pair[1].svg)]  # as text: escaped
    assert "<svg" not in render("t", "s", [Section("x", blocks, "x")])
    pages = [Parsed(each.svg) for each in pair]
    ids = [{a["id"] for _, a in page.tags if "id" in a} for page in pages]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])
    for page, own in zip(pages, ids, strict=True):
        used = {a["href"][1:] for _, a in page.tags if "href" in a}
        clips = {a["clip-path"][5:-1] for _, a in page.tags if "clip-path" in a}
        assert used | clips == own
        assert {tag for tag, _ in page.tags}.isdisjoint({"metadata", "style"})
    assert pages[0].tags[0][1]["aria-label"] == "say <one>"


def test_cells_say_how_they_sort():
    assert Cell("b").order == "b"
    assert Cell("1,000", key=1000.0).order == "1000.0"
    assert Cell("∞", key=np.inf).order == "Infinity"
    assert Cell("–", key=np.nan).order == ""
    table = TableBlock("c", ["h"], [[Cell("x")]])
    assert not table.numeric(0)


def test_the_command_is_told_as_it_was_typed():
    app, told = typer.Typer(), []

    @app.command()
    def main(
        context: typer.Context, name: str, k: int = 2, flag: bool = False, loud: bool = True
    ) -> None:
        told.append(command_as_typed(context))

    runner = CliRunner()
    assert runner.invoke(app, ["a b.csv"], prog_name="go").exit_code == 0
    runner.invoke(app, ["--k", "3", "it's", "--flag", "--no-loud"], prog_name="go")
    assert told == ["go 'a b.csv'", "go 'it'\"'\"'s' --k 3 --flag --no-loud"]


def test_plans_and_fits_have_a_summary_and_a_picture_for_notebooks(nasty_plan):
    fit, _, planned = nasty_plan
    posterior = fit["posterior"].to_dataset()
    assert (planned.paretoid.kind, posterior.paretoid.kind) == ("plan", "fit")
    summary = planned.paretoid.summary()
    needed = planned.samples_needed.isel(goal=1).values
    words = [text.at_most(float(n), 400) for n in needed]
    assert summary.rows[1][1 : 1 + len(words)] == words
    middle = float(np.median(posterior.mu.values[:, :, 2, 1]))
    page = posterior.paretoid.summary()
    assert page.rows[2][2].startswith(text.measure(middle, 3))
    for shown in (summary, page):
        assert not re.search("<(script|i|em|b|style)[ >]", shown._repr_html_())
    assert "&lt;script&gt;" in page._repr_html_()
    assert planned.paretoid.plot().get_xlabel() == plots.assurance(planned).get_xlabel()
    assert len(posterior.paretoid.plot()) == len(plots.forest(fit)) == 2
