"""What a bandit is: how outcomes are drawn, their scale, their names, which way is better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from paretoid.arithmetic import check_offsets
from paretoid.theory.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    WrongTypeError,
    as_means,
    check_choice,
    check_count,
    check_name,
    is_listed,
    shown,
)
from paretoid.theory.units import as_scale


def _names(names: Sequence[str] | None, size: int, what: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{what} {i}" for i in range(size))
    if isinstance(names, str):
        raise WrongTypeError(f"{what}s={shown(names)} is one string; pass a list of {size} names.")
    if not is_listed(names):
        raise WrongTypeError(f"{what}s={shown(names)} must be a list of {size} names.")
    listed: Any = names if hasattr(names, "__len__") else tuple(names)
    if len(listed) != size:
        raise ValueError(
            f"{what}s has {len(listed)} names for {size} {what}s; pass one name for each."
        )
    result = tuple(check_name(name, what=what) for name in listed)
    repeated = sorted(name for name, times in Counter(result).items() if times > 1)
    if repeated:
        raise ValueError(
            f"{what}s repeats {', '.join(map(repr, repeated))}: results are looked up by name, "
            f"so each must be different."
        )
    return result


class Law(NamedTuple):
    """How the engine makes an outcome, oriented, from a row of noise; see `Bandit.law`.

    kind      "affine", "threshold", "table" or "latent"
    location  (K, D) affine: the outcome is location + spread * noise;
              threshold: it is `spread` where noise < location, else 0
    spread    (K, D)
    data      (rows, D) table: row starts[arm] + floor(noise * size) of the arm's rows;
              latent: low, high and step, for x = location + spread * noise: where step is 1 the
              outcome is high if x > 0, else low; where it is 0 it is x, cut at low and high
    starts    (K + 1,) where each arm's rows begin

    >>> from paretoid import BernoulliBandit
    >>> law = BernoulliBandit([[0.2], [0.7]], minimize=["objective 0"]).law()
    >>> law.kind, law.location.ravel(), law.spread.ravel()
    ('threshold', array([0.2, 0.7]), array([-1., -1.]))
    """

    kind: str
    location: FloatArray
    spread: FloatArray
    data: FloatArray
    starts: IntArray

    @classmethod
    def affine(cls, location: FloatArray, spread: FloatArray) -> Law:
        """Location plus spread times noise.

        >>> Law.affine(np.zeros((2, 1)), np.ones((2, 1))).kind
        'affine'
        """
        data, starts = _no_table(location)
        return cls("affine", np.array(location), np.array(spread), data, starts)

    @classmethod
    def threshold(cls, location: FloatArray, spread: FloatArray) -> Law:
        """`spread` where the noise is below the location, else 0.

        >>> Law.threshold(np.full((2, 1), 0.3), np.ones((2, 1))).kind
        'threshold'
        """
        data, starts = _no_table(location)
        return cls("threshold", np.array(location), np.array(spread), data, starts)

    @classmethod
    def table(
        cls, location: FloatArray, spread: FloatArray, data: FloatArray, starts: IntArray
    ) -> Law:
        """A row of the arm's data; location and spread are not looked at.

        >>> Law.table(np.zeros((2, 1)), np.ones((2, 1)), np.ones((5, 1)), np.array([0, 2, 5])).kind
        'table'
        """
        return cls("table", np.array(location), np.array(spread), np.array(data), np.array(starts))

    @classmethod
    def latent(
        cls, location: FloatArray, spread: FloatArray, low: Any, high: Any, step: Any
    ) -> Law:
        """An affine function of the noise, cut at low and high or turned into one of them.

        >>> cut = Law.latent(np.zeros((2, 1)), np.ones((2, 1)), [-1.0], [1.0], [False])
        >>> cut.kind, cut.data.ravel()
        ('latent', array([-1.,  1.,  0.]))
        """
        data = np.array([low, high, step], dtype=np.float64)
        starts = _no_table(location)[1]
        return cls("latent", np.array(location), np.array(spread), data, starts)


def _no_table(location: FloatArray) -> tuple[FloatArray, IntArray]:
    return np.zeros((0, location.shape[1])), np.zeros(1, dtype=np.int64)


class Bandit:
    """K arms with D outcomes each. Use one of the members, or write your own.

    means       (K, D) in the user's own direction and units
    scale       (K, D) sub-Gaussian scale of each outcome
    arms, objectives    names
    minimize    objectives where less is better
    oriented    (K, D) means with minimised objectives negated: larger is better

    >>> from paretoid import GaussianBandit
    >>> bandit = GaussianBandit(
    ...     [[1.0, 3.0], [0.0, 2.0]], scale=[1.0, 0.5], arms=["A", "B"],
    ...     objectives=["benefit", "harm"], minimize=["harm"],
    ... )
    >>> bandit
    GaussianBandit(K=2, D=2, minimize=['harm'])
    >>> bandit.oriented
    array([[ 1., -3.],
           [ 0., -2.]])
    >>> bandit.index("B"), bandit.common_scale
    (1, True)

    All randomness enters as noise, (samples, noise_width), so an outcome can be checked by hand:

    >>> noise = np.empty((1, bandit.noise_width))
    >>> bandit.fill(np.random.default_rng(7), noise)
    >>> bool((bandit.outcome(1, noise) == [0.0, 2.0] + noise * [1.0, 0.5]).all())
    True
    >>> bandit.law().spread    # what the engine is told
    array([[ 1. , -0.5],
           [ 1. , -0.5]])

    *Your own* says what its means and sub-Gaussian scales are, which nobody can check, and how one
    outcome is drawn:

    >>> class Uniform(Bandit):
    ...     def draw(self, rng, arm):
    ...         return rng.uniform(self.means[arm] - 1, self.means[arm] + 1)
    >>> import paretoid as pt
    >>> mine = Uniform([[3.0, 0.0], [0.0, 3.0], [-1.0, -1.0]], scale=1.0)    # within 1: scale 1
    >>> runs = pt.simulate(mine, replications=2, seed=1)
    >>> bool(runs.correct.all())
    True

    >>> mine.draws_singly, mine.compiled_law, mine.draw(np.random.default_rng(1), 0).shape
    (True, None, (2,))

    That runs in the readable loop. One that writes `fill` and `outcome` instead draws noise in
    blocks; if its outcomes are affine in the noise, a threshold of it or a row of a table, it says
    so by `law` and runs compiled.

    model       "gaussian" for Gaussian outcomes, which `UnknownScale` needs; else any word
    gaussian    (D,) objectives with Gaussian outcomes: all, or none, as `model` says
    """

    model: ClassVar[str] = "other"
    noise_width: int

    def __init__(
        self,
        means: Any,
        scale: Any = 1.0,
        arms: Sequence[str] | None = None,
        objectives: Sequence[str] | None = None,
        minimize: Iterable[str] = (),
    ) -> None:
        self.means = as_means(means)
        K, D = self.means.shape
        self.K, self.D = K, D
        self.scale = as_scale(scale, K, D)
        check_offsets(self.means, self.scale)
        self.arms = _names(arms, K, "arm")
        self.objectives = _names(objectives, D, "objective")
        if isinstance(minimize, str):
            minimize = [minimize]
        if not is_listed(minimize):
            raise WrongTypeError(
                f"minimize={shown(minimize)} must be a list of objectives, those where less is "
                f"better."
            )
        self.minimize = tuple(str(name) for name in minimize)
        unknown = [name for name in self.minimize if name not in self.objectives]
        if unknown:
            raise ValueError(
                f"minimize names {', '.join(map(repr, unknown))}, which is no objective: they are "
                f"{', '.join(map(repr, self.objectives))}."
            )
        self.sign = np.where([name in self.minimize for name in self.objectives], -1.0, 1.0)
        self.oriented = self.means * self.sign + 0.0  # no -0.0
        self.noise_width = D
        for array in (self.means, self.scale, self.sign, self.oriented):
            array.setflags(write=False)

    @property
    def gaussian(self) -> BoolArray:
        """(D,) objectives whose outcomes are Gaussian, so that their variance can be learnt.

        >>> from paretoid import MixedBandit
        >>> MixedBandit([[0.0, 0.1], [1.0, 0.2]], ["gaussian", "binary"], sd=1.0).gaussian
        array([ True, False])
        """
        return np.full(self.D, self.model == "gaussian")

    @property
    def common_scale(self) -> bool:
        """True where every objective has one scale for all arms."""
        return bool((self.scale == self.scale[0]).all())

    def fill(self, rng: np.random.Generator, noise: FloatArray) -> None:
        """Fill `noise`, (samples, noise_width): the only randomness of a run.

        Two half blocks must equal one whole block, so that blocking never changes a result.
        """
        rng.random(out=noise)

    def law(self) -> Law | None:
        """How outcomes come from noise, if the engine knows how; None: only `outcome` knows.

        A subclass that changes `outcome` or `draw` changes `law` too, or loses the compiled loop.
        """
        return None

    @property
    def compiled_law(self) -> Law | None:
        """`law`, where nobody below the class that wrote it has changed what an outcome is."""
        lineage = type(self).__mro__

        def nearest(name: str) -> int:
            return next(at for at, kind in enumerate(lineage) if name in vars(kind))

        spoken = min(nearest("outcome"), nearest("draw"))
        return self.law() if nearest("law") <= spoken else None

    @property
    def draws_singly(self) -> bool:
        """True: the author wrote `draw`, or nothing that makes outcomes from blocks of noise."""
        lineage = type(self).__mro__
        writes = next(kind for kind in lineage if {"draw", "outcome"} & set(vars(kind)))
        return "draw" in vars(writes)

    def draw(self, rng: np.random.Generator, arm: int) -> FloatArray:
        """(D,) one outcome of an arm, in the user's own direction."""
        noise = np.empty((1, self.noise_width))
        self.fill(rng, noise)
        return np.asarray(self.outcome(arm, noise)[0])

    def sample(self, arm: int | str, size: int, rng: np.random.Generator | int) -> FloatArray:
        """(size, D) outcomes of one arm, by index or name, in the user's own direction.

        >>> from paretoid import BernoulliBandit
        >>> BernoulliBandit([[0.0, 1.0], [1.0, 0.0]]).sample("arm 1", 2, 7)
        array([[1., 0.],
               [1., 0.]])
        """
        index = self.index(arm)
        size = check_count(size, name="size", least=0, why="it is how many outcomes to draw.")
        stream = np.random.default_rng(rng)
        if self.draws_singly:
            outcomes = [self.draw(stream, index) for _ in range(size)]
            return np.array(outcomes, dtype=np.float64).reshape(size, self.D)
        noise = np.empty((size, self.noise_width))
        self.fill(stream, noise)
        return self.outcome(index, noise)

    def outcome(self, arm: int, noise: FloatArray) -> FloatArray:
        """(size, D) outcomes of one arm from rows of noise, in the user's own direction."""
        raise NotImplementedError(
            f"{type(self).__name__} must define draw(rng, arm), or outcome(arm, noise)."
        )

    def index(self, arm: int | str) -> int:
        """The position of an arm given by name or position."""
        if isinstance(arm, str):
            check_choice(arm, self.arms, name="arm", why="those are the arms of this bandit.")
            return self.arms.index(arm)
        return check_count(arm, name="arm", least=0, most=self.K - 1, why="it is a position.")

    def __repr__(self) -> str:
        least = f", minimize={list(self.minimize)}" if self.minimize else ""
        return f"{type(self).__name__}(K={self.K}, D={self.D}{least})"
