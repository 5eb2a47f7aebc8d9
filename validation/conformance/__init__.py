"""Tests for members of your own: point one of these classes at it and run pytest.

    from paretoid.validation.conformance import RadiusTests

    class TestBernstein(RadiusTests):
        member = Bernstein()

pytest collects the tests that the class inherits. They check the contract (shapes, ties,
monotonicity, budget, determinism), that compiled and readable loops agree, and what the member says
of itself: a radius that is "proved" must cover, a goal that is "proved" must be answered rightly. A
correct member fails with probability below 1e-6. Our own members pass the same classes.
"""

from paretoid.validation.conformance.bandit import BanditTests
from paretoid.validation.conformance.goal import GoalTests
from paretoid.validation.conformance.radius import RadiusTests
from paretoid.validation.conformance.rates import RateTests
from paretoid.validation.conformance.rule import RuleTests

__all__ = ["BanditTests", "GoalTests", "RadiusTests", "RateTests", "RuleTests"]
