"""The numbers of theory/README.md are what the code gives, and its table leaves nothing out."""

import doctest
import re
from pathlib import Path

from paretoid import load_instance, theory
from paretoid.theory import KaufmannKoolen, Mixture

ROOT = Path(theory.__file__).parent
README = (ROOT / "README.md").read_text(encoding="utf-8").split("## Proofs of the radii")[0]

# The labels of the paper's definitions, lemmas, theorems, corollaries, remarks and equations.
LABELS = """
    eps-cover def_good_event recrule_epsPSI ineq_gene stop-rec-rules correctness-generic beta
    sampcompl samplwm samplold
    sampl-complex-eps bounding-inverting-tau eq-St re-CI prob-cE prop24 stoppingcond equiv-bt
    gap_opt eq-lem-samplod step1 existence_dom stopping-rule correctness-eps1-eps-2-cover
    sampcompl2 lemma_change_distrib sampl_compl_BAI improve_ape_for_BAI sampling-rule-BAI
    sampling-rule-BAI2 eq-simpli stopping-time-simplif beta-single correctness-single-beta
    ub-proba-cE-tilde to_bound exp_sampl_eq1 bound_T_star eq_bound_T_star1 ineq_log lambert_dom
    bound_W_1 bound_part_tps upper-bound-t0 sign_g bound-log-log bound_inv_beta
    eq_bound_inv_beta_1 eq_bound_inv_beta_2 bound_inv_beta_ek
"""


def test_examples_of_the_readme_run():
    test = doctest.DocTestParser().get_doctest(README, {}, "README", "README.md", 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted > 5
    assert result.failed == 0


def bounds_of(name, k):
    bandit = load_instance(name)
    at = {"k": k, "scale": bandit.scale}
    return [theory.theorem_1(bandit.oriented, 0.1, **at)] + [
        theory.sample_bound(bandit.oriented, 0.1, radius, **at)
        for radius in (KaufmannKoolen(), Mixture(union="pairs"))
    ]


def test_the_readme_quotes_the_bounds_on_covboost():
    for k in (None, 1):
        for value, rounded in zip(
            bounds_of("covboost", k), bounds_of("covboost-printed", k), strict=True
        ):
            assert f"{value:,.0f}" in README
            assert 1.01 < rounded / value < 1.03  # some 2% more


def test_documents_have_one_figure_of_theorem_1_on_covboost():
    """The rounded table gives another one, which nobody should meet."""
    rounded = f"{bounds_of('covboost-printed', None)[0]:,.0f}"
    top = ROOT.resolve().parent
    documents = [path for part in ("", "theory", "validation", "examples", "validation/paper")
                 for path in (top / part).glob("*.md")]  # fmt: skip
    assert len(documents) > 5
    assert [path.name for path in documents if rounded in path.read_text(encoding="utf-8")] == []


def test_every_labelled_statement_of_the_paper_has_a_row():
    assert [label for label in LABELS.split() if label not in README] == []


def test_every_test_named_in_the_documents_exists():
    errata = (ROOT / "ERRATA.md").read_text(encoding="utf-8")
    tests = Path(__file__).parent
    sources = {path.name: path.read_text(encoding="utf-8") for path in tests.glob("test_*.py")}
    for name in re.findall(r"`(test_\w+\.py)(?:::(\w+))?`", README + errata):
        file, function = name
        assert file in sources, file
        assert not function or f"def {function}(" in sources[file], name
    for number in re.findall(r"test_(\d\d[a-d]?)\b", errata):
        assert f"def test_{number}_" in sources["test_errata.py"], number


def test_every_test_named_in_the_proofs_exists():
    proofs = (ROOT / "PROOFS.md").read_text(encoding="utf-8")
    tests = Path(__file__).parents[1]
    sources = {path.name: path.read_text(encoding="utf-8") for path in tests.rglob("test_*.py")}
    named = re.findall(r"`(?:(test_\w+\.py)::)?(test_\w+)`", proofs)
    assert len(named) > 80
    for file, function in named:
        searched = [sources[file]] if file else sources.values()
        assert any(f"def {function}(" in source for source in searched), (file, function)


def test_every_citation_has_an_entry():
    bibliography = (ROOT / "references.bib").read_text(encoding="utf-8")
    keys = set(re.findall(r"@\w+\{(\w+),", bibliography))
    for path in [*ROOT.glob("*.py"), ROOT / "PROOFS.md"]:
        for key in re.findall(r"\[([a-z]+\d{4})\b", path.read_text(encoding="utf-8")):
            assert key in keys, (path.name, key)
