"""Sampling rules: which arm next."""

from paretoid.rules.ape import APE
from paretoid.rules.base import Rule

__all__ = ["APE", "Rule"]
