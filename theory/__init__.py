"""The mathematics of Pareto set identification: gaps, radii, bounds. Imports no engine."""

from theory.calibration import K1, C_g, C_g_approximate, claim_counts, levels
from theory.dominance import domination, margins, pareto_set
from theory.gaps import combined_gaps, easiest_arms, gaps, omega, omega_k
from theory.radii import (
    KaufmannKoolen,
    Mixture,
    PairwiseRadius,
    Radius,
    SingleArm,
    UnknownScale,
    chi,
)

__all__ = [
    "K1", "C_g", "C_g_approximate", "KaufmannKoolen", "Mixture", "PairwiseRadius", "Radius",
    "SingleArm", "UnknownScale", "chi", "claim_counts", "combined_gaps", "domination",
    "easiest_arms", "gaps", "levels", "margins", "omega", "omega_k", "pareto_set",
]  # fmt: skip
