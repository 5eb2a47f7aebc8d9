"""The numbers of theory/README.md are what the code gives, and its table leaves nothing out."""

import doctest
import re
from pathlib import Path

import numpy as np

from paretoid import theory
from paretoid.theory import KaufmannKoolen, Mixture

ROOT = Path(theory.__file__).parent
README = (ROOT / "README.md").read_text(encoding="utf-8").split("## Proofs of the radii")[0]

# The paper's table of log means, see test_errata.py; scales from its pooled variances, unrounded.
SCALES = np.sqrt([0.70437039, 0.82845749, 1.53743137])
TABLE = """
    9.50 6.86 4.56  9.29 6.64 4.04  9.05 6.41 3.56  10.21 7.49 4.43  10.05 7.20 4.36
    8.34 5.67 3.51  8.22 5.46 3.64  9.75 7.27 4.71  10.43 7.61 4.72  8.94 6.19 3.84
    7.81 5.26 3.97  8.85 6.59 4.73  8.44 6.15 4.59  9.93 7.39 4.75  8.71 7.20 4.91
    7.51 5.31 3.96  7.27 4.99 4.02  8.62 6.33 4.66  10.35 7.77 5.00  8.29 5.92 3.87
"""
COVBOOST = np.array(TABLE.split(), dtype=float).reshape(20, 3)

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


def test_the_readme_quotes_the_bounds_on_covboost():
    for k in (None, 1):
        values = [theory.theorem_1(COVBOOST, 0.1, k=k, scale=SCALES)] + [
            theory.sample_bound(COVBOOST, 0.1, radius, k=k, scale=SCALES)
            for radius in (KaufmannKoolen(), Mixture(union="pairs"))
        ]
        for value in values:
            assert f"{value:,.0f}" in README


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
