"""Sampling rules: which arm next."""

from paretoid.rules.ape import APE
from paretoid.rules.base import Rule
from paretoid.rules.best_arm import BestArmRule
from paretoid.rules.ege import EGE
from paretoid.rules.lucb import LUCB, LUCBpp
from paretoid.rules.posterior_sampling import PosteriorSampling
from paretoid.rules.round_robin import RoundRobin
from paretoid.rules.top_two import TopTwo
from paretoid.rules.tracking import Tracking
from paretoid.rules.ugapec import UGapEc
from paretoid.rules.uniform_elimination import UniformElimination

__all__ = [
    "APE", "EGE", "LUCB", "BestArmRule", "LUCBpp", "PosteriorSampling", "RoundRobin", "Rule",
    "TopTwo", "Tracking", "UGapEc", "UniformElimination",
]  # fmt: skip
