"""The constants and inversions behind the upper bounds, as `theory.symbolic` derives them.

What is left here needs the package's own radii on a grid, or shows that a step could fail.
"""

import itertools
import math

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from paretoid import theory
from paretoid.cli import main
from paretoid.theory import symbolic
from paretoid.theory.symbolic import derivation
from paretoid.theory.symbolic.derivation import Derivation, zero

#: checked by tests that theory/PROOFS.md and ERRATA.md name
ELSEWHERE = {
    "pairs_spend_delta", "mixing_over_a_normal_prior", "the_best_rho",
    "gaussian_divergence_of_a_shift", "binary_divergence_from_one_half",
    "theorem_1_holds_with_the_exact_calibration",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in symbolic.DERIVATIONS if name not in ELSEWHERE])
def test_every_step_of_a_derivation_holds(name):
    verdict = symbolic.DERIVATIONS[name].check()
    assert verdict.holds, verdict
    assert verdict.statement.endswith(".")
    assert verdict.how in symbolic.HOW


@pytest.mark.parametrize("name", symbolic.FORMULAS)
def test_a_closed_form_is_what_the_package_computes(name):
    """To 1e-9 of the value or absolutely: the package raises two constants by 1e-12 on purpose."""
    formula = symbolic.FORMULAS[name]
    numeric = formula.numeric()

    @settings(max_examples=20, deadline=None, derandomize=True, database=None)
    @given(
        st.tuples(
            *(
                st.integers(int(low), int(high)) if symbol.is_integer else st.floats(low, high)
                for symbol, (low, high) in zip(formula.symbols, formula.ranges, strict=True)
            )
        )
    )
    def agrees(arguments):
        theirs = float(formula.function(*arguments))
        ours = complex(numeric(*arguments)).real
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)

    agrees()


def test_a_closed_form_carries_its_latex_its_source_and_no_other_symbols():
    for name, formula in symbolic.FORMULAS.items():
        assert formula.expression.free_symbols <= set(formula.symbols), name
        assert formula.latex
        assert "[" in formula.source or "PROOFS" in formula.source or "docstring" in formula.source
    sources = {key for formula in symbolic.FORMULAS.values() for key in formula.source.split("]")}
    assert any("[kone2023, Theorem 1" in source for source in sources)


def test_a_wrong_constant_is_noticed():
    """The constants of Theorem 1 are 85.9 and 128.8: a claim that they are smaller fails."""
    first = 80 + 16 / sp.E
    assert not Derivation("x", "x.", "symbolic", "", lambda: [zero(first - 88)]).check().holds
    assert not Derivation("x", "x.", "symbolic", "", lambda: [first < 85]).check().holds
    assert not Derivation("x", "nothing.", "symbolic", "", lambda: []).check().holds
    x = sp.symbols("x", positive=True)
    assert not zero(sp.log(1 + x) - x)
    cells = list(derivation.cells(12, 100, 50))
    assert cells[0].a == 12
    assert cells[-1].b == 100
    assert all(left.b == right.a for left, right in itertools.pairwise(cells))
    assert math.log(2 * math.log(11.5)) > 11.5 / math.e**2  # twelve is not far from sharp


def test_bounds_check_says_how_each_is_proved_and_fails_with_a_derivation(capsys, monkeypatch):
    few = {
        name: symbolic.DERIVATIONS[name] for name in ("lambert_inversion", "four_zeta_three_fifths")
    }
    few["wrong"] = Derivation("wrong", "One is two.", "numerical", "nobody", lambda: [1 == 2])
    monkeypatch.setattr(symbolic, "rederive", lambda: [each.check() for each in few.values()])
    with pytest.raises(SystemExit) as ended:
        main(["bounds", "--check"])
    out = capsys.readouterr().out
    assert ended.value.code == 1
    assert "symbolic: 1 of 1 hold; algebra" in out
    assert "interval: 1 of 1 hold; interval arithmetic" in out
    assert "numerical: 0 of 1 hold; evaluated on a dense grid: evidence, no proof." in out
    assert "FAILS: One is two. nobody" in out


# ---- Theorem 1


def test_theorem_1_holds_with_the_exact_calibration():
    verdict = symbolic.DERIVATIONS["theorem_1_holds_with_the_exact_calibration"].check()
    assert verdict.holds
    assert verdict.steps == 61


# ---- the best-arm remark


def test_controlling_pairs_with_the_best_arm_is_enough():
    # In case 2.2 with b_t and c_t both sub-optimal, pairs with the best arm * give
    # Delta_c <= beta_*c - beta_*b + beta_bc; when c is sampled (n_c <= n_b) that is at most
    # 2 beta_cc. Closed: if n_b is the largest, beta_*c^2 <= beta_*b^2 + beta_bc^2; else
    # n_* >= n_b >= n_c and both beta_*c and beta_bc are at most beta_cc. Here on a grid.
    counts = np.unique(np.geomspace(1, 1e12, 60).round())
    best, b, c = np.meshgrid(counts, counts, counts, indexing="ij")
    for level in (0.9, 0.1, 1e-4):
        radius = theory.KaufmannKoolen()
        beta = {
            pair: radius.half_width(*pair_counts, 2, 1, level)
            for pair, pair_counts in {
                "*c": (best, c), "*b": (best, b), "bc": (b, c), "cc": (c, c)
            }.items()
        }  # fmt: skip
        chosen = c <= b
        excess = beta["*c"] - beta["*b"] + beta["bc"] - 2 * beta["cc"]
        assert (excess[chosen] <= 1e-12).all()  # rounding where all counts agree
