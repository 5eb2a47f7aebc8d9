"""Find the Pareto-optimal arms of a noisy multi-objective experiment, with a guarantee.

Importing this loads NumPy and nothing heavy; Numba, xarray and the rest come when first needed.
"""

from typing import TYPE_CHECKING, Any

from paretoid.bandits import Bandit, BernoulliBandit, GaussianBandit, ResampledBandit
from paretoid.campaign import Campaign, CampaignError, open_campaign
from paretoid.explorer import Allocation, Explorer
from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.instance_files import read_instance, write_instance
from paretoid.instances import INSTANCES, load_instance
from paretoid.rules import APE, LUCB, LUCBpp, RoundRobin, Rule, UGapEc, UniformElimination
from paretoid.simulation import simulate
from paretoid.tracing import Run, run_once
from theory.radii import KaufmannKoolen, Mixture, Radius, SingleArm, UnknownScale
from theory.single_stream import ArmMixture, IteratedLogarithm

if TYPE_CHECKING:
    from paretoid import plots

__version__ = "0.1.0"

__all__ = [
    "APE", "INSTANCES", "LUCB", "Allocation", "ArmMixture", "AtMost", "Bandit", "BernoulliBandit",
    "Campaign", "CampaignError", "Cover", "Explorer", "GaussianBandit", "Goal", "IteratedLogarithm",
    "KaufmannKoolen", "LUCBpp", "Mixture", "ParetoSet", "Radius", "ResampledBandit", "RoundRobin",
    "Rule", "Run", "SingleArm", "UGapEc", "UniformElimination", "UnknownScale", "load_instance",
    "open_campaign", "plots", "read_instance", "run_once", "simulate", "write_instance",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """`pt.plots`, when first used."""
    if name == "plots":
        from importlib import import_module

        return import_module("paretoid.plots")
    raise AttributeError(f"module 'paretoid' has no attribute {name!r}")
