"""Find the Pareto-optimal arms of a noisy multi-objective experiment, with a guarantee.

Importing this loads NumPy and nothing heavy; Numba, xarray and the rest come when first needed.
"""

from paretoid.bandits import Bandit, BernoulliBandit, GaussianBandit, ResampledBandit
from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.instances import INSTANCES, load_instance
from paretoid.rules import APE, Rule
from paretoid.simulation import simulate
from paretoid.tracing import Run, run_once
from theory.radii import KaufmannKoolen, Mixture, Radius, SingleArm, UnknownScale

__version__ = "0.1.0"

__all__ = [
    "APE", "INSTANCES", "AtMost", "Bandit", "BernoulliBandit", "Cover", "GaussianBandit", "Goal",
    "KaufmannKoolen", "Mixture", "ParetoSet", "Radius", "ResampledBandit", "Rule", "Run",
    "SingleArm", "UnknownScale", "load_instance", "run_once", "simulate",
]  # fmt: skip
