"""Top-two sampling: a coin between the arm in question and its likeliest dominator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paretoid.rules.base import Rule
from paretoid.theory.checks import shown

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True)
class TopTwo(Rule):
    """Sample b_t with probability `share`, else c_t.

    APE's two arms, and the randomised choice of top-two rules [garivier2016, and later] in place of
    the less sampled of both. To compare with: the guarantee is the radius's, as for every rule.

    >>> TopTwo()
    TopTwo(share=0.5)
    """

    share: float = 0.5

    guarantee = "proved"

    def __post_init__(self) -> None:
        number = isinstance(self.share, (int, float)) and not isinstance(self.share, bool)
        if not number or not 0 < self.share < 1:
            raise ValueError(
                f"share={shown(self.share)} must lie strictly between 0 and 1: it is how often "
                f"b_t is sampled, and an arm that is never sampled may keep the run from ending."
            )
        object.__setattr__(self, "share", float(self.share))

    @property
    def in_rounds(self) -> bool:
        """False: one arm is sampled before the next test."""
        return False

    def choose(self, view: View, rng: np.random.Generator) -> list[int]:
        """b_t or c_t, as the coin says."""
        return [view.b if rng.random() < self.share else view.c]
