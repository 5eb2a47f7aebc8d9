"""Operating characteristics: what a design does in scenarios that are named before the trial."""

from paretoid.operating.characteristics import operating_characteristics
from paretoid.operating.scenarios import Scenario, read_scenarios

__all__ = ["Scenario", "operating_characteristics", "read_scenarios"]
