"""Bandits: how outcomes are drawn, their scale, their names, and which way is better."""

from paretoid.bandits.base import Bandit
from paretoid.bandits.bernoulli import BernoulliBandit
from paretoid.bandits.gaussian import GaussianBandit
from paretoid.bandits.mixed import MixedBandit
from paretoid.bandits.resampled import ResampledBandit

__all__ = ["Bandit", "BernoulliBandit", "GaussianBandit", "MixedBandit", "ResampledBandit"]
