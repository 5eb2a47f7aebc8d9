"""From published trial summaries to bandits and trial plans. PyMC and ArviZ load when first used.

>>> trial = load_trial("covboost-groupB")
>>> trial.endpoints
('IgG', 'NT50 wild-type', 'NT50 delta')
"""

from paretoid.estimation.compat import load_fit, save_fit
from paretoid.estimation.datasets import TRIALS, load_trial
from paretoid.estimation.informed import informed
from paretoid.estimation.instances import plug_in_bandit, posterior_bandits
from paretoid.estimation.margins import fold_margin
from paretoid.estimation.model import build_model
from paretoid.estimation.planning import plan
from paretoid.estimation.predictive import posterior_check, prior_check
from paretoid.estimation.prior_sensitivity import sensitivity, under_priors
from paretoid.estimation.probability import pareto_probability
from paretoid.estimation.sampling import FitError, attempts, fit
from paretoid.estimation.settling import settled_in_plan
from paretoid.estimation.summary import TrialSummary

__all__ = [
    "TRIALS", "FitError", "TrialSummary", "attempts", "build_model", "fit", "fold_margin",
    "informed", "load_fit", "load_trial", "pareto_probability", "plan", "plug_in_bandit",
    "posterior_bandits", "posterior_check", "prior_check", "save_fit", "sensitivity",
    "settled_in_plan", "under_priors",
]  # fmt: skip
