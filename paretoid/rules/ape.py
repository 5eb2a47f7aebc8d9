"""Adaptive Pareto Exploration [kone2023, Section 3.1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoid.engine.program import SINGLE_ARM, Program
from paretoid.rules.base import Advance, Rule
from paretoid.theory.checks import check_choice


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

    def __post_init__(self) -> None:
        check_choice(
            self.pull, ("less sampled", "both"), name="pull", why="see the docstring of APE."
        )

    @property
    def both(self) -> bool:
        """Are both arms sampled before the next test?"""
        return self.pull == "both"

    def kernel(self, program: Program) -> Advance:
        """The engine's loop; the textbook's for `SingleArm`, whose radii all change each round."""
        from paretoid.engine import ape, yardstick

        if program.radius != SINGLE_ARM:
            return ape.advance
        work = yardstick.workspace(*program.location.shape)
        nothing = np.zeros((0, 5), dtype=np.int64), np.zeros((0, 3))

        def advance(program: Any, state: Any, runs: Any, noise: Any) -> None:
            for q, r in enumerate(runs):
                yardstick.advance(program, state, r, noise[q], *nothing, work)

        return advance
