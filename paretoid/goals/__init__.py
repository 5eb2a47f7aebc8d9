"""Goals: what a correct answer is, when a run may stop, what it answers. One file each."""

from paretoid.goals.at_most import AtMost
from paretoid.goals.base import Goal
from paretoid.goals.cover import Cover
from paretoid.goals.pareto_set import ParetoSet
from paretoid.goals.practical_set import PracticalSet
from paretoid.theory.limits import at_least, at_most

__all__ = ["AtMost", "Cover", "Goal", "ParetoSet", "PracticalSet", "at_least", "at_most"]
