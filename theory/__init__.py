"""The mathematics of Pareto set identification: gaps, radii, bounds. Imports no engine.

`theory.symbolic`, which loads SymPy, has the closed forms as expressions, and their derivations.
"""

from importlib import import_module
from typing import Any

from paretoid.theory.binary import difference_bound, log_evidence, log_mixture
from paretoid.theory.bound import Bound
from paretoid.theory.calibration import K1, C_g, C_g_approximate, claim_counts, levels
from paretoid.theory.characteristic_time import (
    CharacteristicTime,
    characteristic_lower_bound,
    characteristic_time,
    kl_bernoulli,
)
from paretoid.theory.dominance import domination, margins, pareto_set
from paretoid.theory.fixed_budget import (
    H_2,
    budget_error_bound,
    budget_lower_bound,
    moving_costs,
    schedule,
)
from paretoid.theory.gaps import combined_gaps, easiest_arms, gaps, omega, omega_k
from paretoid.theory.inversion import (
    lambert_bounds,
    lambert_exponential_bound,
    log_crossings,
    loglog_time,
    lucb1_time,
    lucb1_time_bound,
    radius_time,
)
from paretoid.theory.lower_bounds import best_arm_lower_bound, lower_bound, lower_bound_instance
from paretoid.theory.one_sided import first_usable_count, one_sided_constant, penalty
from paretoid.theory.practical import practical_domination, practical_gaps, practical_set
from paretoid.theory.radii import (
    BetaBinomial,
    KaufmannKoolen,
    LUCB1Like,
    MixedScale,
    Mixture,
    PairwiseRadius,
    Radius,
    RoleTerms,
    UnknownScale,
    chi,
)
from paretoid.theory.shares import Shares, informed_rho, informed_shares
from paretoid.theory.sharp_bound import sample_bound, samples_to_separate
from paretoid.theory.single_stream import ArmMixture, ArmRadius, IteratedLogarithm
from paretoid.theory.upper_bounds import (
    best_arm_bound,
    cover_bound,
    expected_samples_lucb1,
    theorem_1,
)

__all__ = [
    "BetaBinomial", "K1", "LUCB1Like", "C_g", "C_g_approximate", "KaufmannKoolen", "MixedScale",
    "Mixture",
    "PairwiseRadius", "Radius", "RoleTerms",
    "UnknownScale", "chi", "claim_counts", "combined_gaps", "domination",
    "easiest_arms", "gaps", "levels", "margins", "omega", "omega_k", "pareto_set",
    "Bound", "best_arm_bound", "best_arm_lower_bound", "cover_bound", "expected_samples_lucb1",
    "lambert_bounds", "lambert_exponential_bound", "log_crossings", "loglog_time", "lower_bound",
    "lower_bound_instance", "lucb1_time", "lucb1_time_bound", "radius_time", "sample_bound",
    "samples_to_separate", "theorem_1",
    "CharacteristicTime", "characteristic_lower_bound", "characteristic_time", "kl_bernoulli",
    "ArmMixture", "ArmRadius", "IteratedLogarithm",
    "Shares", "first_usable_count", "informed_rho", "informed_shares",
    "difference_bound", "log_evidence", "log_mixture",
    "one_sided_constant", "penalty",
    "practical_domination", "practical_gaps", "practical_set",
    "H_2", "budget_error_bound", "budget_lower_bound", "moving_costs", "schedule",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "symbolic":  # SymPy takes long to load
        return import_module(f"{__name__}.symbolic")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
