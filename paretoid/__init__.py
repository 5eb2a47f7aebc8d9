"""Find the Pareto-optimal arms of a noisy multi-objective experiment, with a guarantee.

Importing this loads nothing: names are fetched when first used, because the pytest plugin is loaded
by every pytest run of a project that has paretoid installed.
"""

import os.path
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paretoid import estimation, plots, theory, validation, view
    from paretoid.bandits import (
        Bandit,
        BernoulliBandit,
        GaussianBandit,
        MixedBandit,
        ResampledBandit,
    )
    from paretoid.conduct import Conduct
    from paretoid.cones import in_cone, preferences
    from paretoid.explorer import Allocation, Explorer
    from paretoid.goals import AtMost, Cover, Goal, ParetoSet, PracticalSet, at_least, at_most
    from paretoid.instances import INSTANCES, load_instance, read_instance, write_instance
    from paretoid.operating import Scenario, operating_characteristics, read_scenarios
    from paretoid.randomisation import Randomisation
    from paretoid.rules import (
        APE,
        EGE,
        LUCB,
        LUCBpp,
        PosteriorSampling,
        RoundRobin,
        Rule,
        TopTwo,
        Tracking,
        UGapEc,
        UniformElimination,
    )
    from paretoid.runs import Campaign, CampaignError, open_campaign
    from paretoid.runs.anytime import anytime
    from paretoid.runs.settling import settled_by
    from paretoid.runs.simulate import simulate
    from paretoid.runs.trace import Run, run_once
    from paretoid.theory.limits import Limit
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
    )
    from paretoid.theory.shares import Shares
    from paretoid.theory.single_stream import ArmMixture, IteratedLogarithm
    from paretoid.view import View

__version__ = "0.1.0"

#: module: the names that come from it
_NAMES = {
    "bandits": "Bandit BernoulliBandit GaussianBandit MixedBandit ResampledBandit",
    "runs": "Campaign CampaignError open_campaign",
    "conduct": "Conduct",
    "cones": "in_cone preferences",
    "explorer": "Allocation Explorer",
    "goals": "AtMost Cover Goal ParetoSet PracticalSet at_least at_most",
    "randomisation": "Randomisation",
    "instances": "INSTANCES load_instance read_instance write_instance",
    "operating": "Scenario operating_characteristics read_scenarios",
    "rules": "APE EGE LUCB LUCBpp PosteriorSampling RoundRobin Rule TopTwo Tracking UGapEc "
    "UniformElimination",
    "runs.anytime": "anytime",
    "runs.settling": "settled_by",
    "runs.simulate": "simulate",
    "theory.limits": "Limit",
    "theory.radii": "BetaBinomial KaufmannKoolen LUCB1Like MixedScale Mixture PairwiseRadius "
    "Radius RoleTerms UnknownScale",
    "theory.shares": "Shares",
    "theory.single_stream": "ArmMixture IteratedLogarithm",
    "runs.trace": "Run run_once",
    "view": "View",
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names.split()}
_MODULES = ("estimation", "plots", "theory", "validation", "view")

__all__ = [
    "APE", "Allocation", "ArmMixture", "AtMost", "Bandit", "BernoulliBandit", "BetaBinomial",
    "Campaign", "CampaignError", "Conduct", "Cover", "EGE", "Explorer", "GaussianBandit",
    "Goal", "INSTANCES", "IteratedLogarithm", "KaufmannKoolen", "LUCB", "LUCB1Like", "LUCBpp",
    "Limit", "MixedBandit", "MixedScale", "Mixture", "PairwiseRadius", "ParetoSet",
    "PosteriorSampling", "PracticalSet", "Radius", "Randomisation", "ResampledBandit",
    "RoleTerms", "RoundRobin", "Rule", "Run",
    "Scenario", "Shares", "TopTwo", "Tracking", "UGapEc", "UniformElimination",
    "UnknownScale", "View", "anytime", "at_least", "at_most", "estimation", "in_cone",
    "load_instance", "open_campaign", "operating_characteristics", "plots", "preferences",
    "read_instance", "read_scenarios", "run_once", "settled_by", "simulate", "theory",
    "validation", "view", "write_instance",
]  # fmt: skip

# In a clone theory/ and validation/ lie beside this folder, and links in it lead there. Where links
# could not be made (Windows without the privilege), the clone itself is searched for them.
if not os.path.isdir(os.path.join(__path__[0], "theory")):
    __path__.append(os.path.dirname(__path__[0]))


#: what makes or opens Datasets, which have `.paretoid` then
_MAKERS = {"simulate", "anytime", "operating_characteristics", "Campaign", "open_campaign",
           "estimation"}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MAKERS:
        import_module(f"{__name__}.accessor")
    if name in _MODULES:
        return import_module(f"paretoid.{name}")
    if name in _WHERE:
        globals()[name] = getattr(import_module(f"paretoid.{_WHERE[name]}"), name)
        return globals()[name]
    raise AttributeError(f"module 'paretoid' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
