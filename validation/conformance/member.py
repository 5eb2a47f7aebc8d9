"""What the tests of goals, rules and radii share."""

from __future__ import annotations

import copy
import pickle
from typing import Any, ClassVar

import numpy as np

from paretoid.bandits import BernoulliBandit, GaussianBandit
from paretoid.theory.member import GUARANTEES, worth


class MemberTests:
    """Identity and guarantee of `member`."""

    member: ClassVar[Any]

    def test_it_says_proved_or_heuristic(self) -> None:
        """What it is worth is one of two words."""
        assert worth(self.member) in GUARANTEES

    def test_it_equals_its_copy_and_has_the_same_text(self) -> None:
        """Results are looked up by text, so equal members print the same and others do not."""
        twin = copy.deepcopy(self.member)
        assert twin == self.member
        assert repr(twin) == repr(self.member)
        assert hash(twin) == hash(self.member)
        assert " at 0x" not in repr(self.member), "its text changes from process to process"

    def test_it_travels_to_other_processes(self) -> None:
        """Workers are sent it by pickle, if its class can be imported."""
        if "<locals>" in type(self.member).__qualname__:
            return  # it runs in one process then
        assert pickle.loads(pickle.dumps(self.member)) == self.member


def problems(D: int = 2) -> list[Any]:
    """Small bandits that a member must cope with: easy, tied, binary, unequal scales.

    >>> [bandit.K for bandit in problems()]
    [3, 4, 3, 2]
    """
    means = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [-1.0, -1.0, 0.0]])[:, :D]
    tied = np.array([[1.0, 0.5, 0.0], [1.0, 0.5, 0.0], [0.0, -1.0, -1.0], [2.0, -2.0, 1.0]])[:, :D]
    coins = np.array([[0.9, 0.2, 0.5], [0.1, 0.8, 0.5], [0.05, 0.1, 0.2]])[:, :D]
    return [
        GaussianBandit(means, 0.7),
        GaussianBandit(tied, 0.5),
        BernoulliBandit(coins, minimize=["objective 0"]),
        GaussianBandit(means[:2], [[0.5] * D, [1.5] * D]),
    ]
