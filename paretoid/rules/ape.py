"""Adaptive Pareto Exploration [kone2023, Section 3.1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from paretoid.rules.base import Rule, less_sampled
from paretoid.theory.checks import check_choice
from paretoid.theory.radii import Mixture, Radius

if TYPE_CHECKING:
    from paretoid.view import View


@dataclass(frozen=True)
class APE(Rule):
    """Sample the less sampled of b_t and c_t, or both.

    b_t is the arm outside OPT with the largest min_j M+(i, j); c_t the arm most likely to
    dominate it, argmin_j max_d (L^d + eps1^d). Ties: argmax and argmin take the lowest index;
    with equal counts b_t is sampled. `pull="both"` samples b_t, then c_t, before the next test,
    as the authors' later code does.

    >>> APE()
    APE(pull='less sampled')
    """

    pull: str = "less sampled"

    guarantee = "proved"
    default_radius: ClassVar[Radius] = Mixture()

    def __post_init__(self) -> None:
        check_choice(
            self.pull, ("less sampled", "both"), name="pull", why="see the docstring of APE."
        )

    @property
    def in_rounds(self) -> bool:
        """True with `pull="both"`: then two arms are sampled before the next test."""
        return self.pull == "both"

    def choose(self, view: View, rng: np.random.Generator) -> list[int]:
        """b_t and c_t, or the less sampled of them."""
        if self.in_rounds:
            return [view.b, view.c] if view.b != view.c else [view.b]
        return [less_sampled(view.b, view.c, view.counts)]
