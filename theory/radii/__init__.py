"""Confidence radii for differences of means, and what each one proves: one file each.

A radius says what it is worth: `guarantee` is "proved" or "heuristic". Proofs are in
theory/PROOFS.md, their steps in tests/theory/test_radii_derivations.py.
"""

from paretoid.theory.radii.base import PairwiseRadius, Radius, RoleTerms
from paretoid.theory.radii.beta_binomial import BetaBinomial
from paretoid.theory.radii.claims import MixtureRadius
from paretoid.theory.radii.kaufmann_koolen import KaufmannKoolen
from paretoid.theory.radii.lucb1_like import LUCB1Like
from paretoid.theory.radii.mixed_scale import MixedScale
from paretoid.theory.radii.mixture import Mixture
from paretoid.theory.radii.unknown_scale import CHI_EXACT, UnknownScale, chi

__all__ = [
    "CHI_EXACT", "BetaBinomial", "KaufmannKoolen", "LUCB1Like", "MixedScale", "Mixture",
    "MixtureRadius",
    "PairwiseRadius", "Radius", "RoleTerms", "UnknownScale", "chi",
]  # fmt: skip
