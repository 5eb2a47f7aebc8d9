"""Hypothesis strategies for bandits, means, goals and radii, for our tests and other projects'.

    from hypothesis import given, settings
    from paretoid.validation import strategies as vs

    @given(bandit=vs.bandits(shape="chain", ties=False, minimum_gap=0.5))
    @settings(deadline=None)
    def test_my_algorithm_finds_the_top_of_a_chain(bandit): ...

Values are quarters of small integers, so that failing examples shrink to something a person can
read. This is the one module here that imports hypothesis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from paretoid.bandits import Bandit, BernoulliBandit, GaussianBandit
from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.theory.checks import FloatArray, check_choice, check_count, is_real, refusal
from paretoid.theory.gaps import gaps
from paretoid.theory.radii import KaufmannKoolen, LUCB1Like, Mixture, Radius, UnknownScale

#: how the arms lie to each other
SHAPES = (
    "free", "ties", "near ties", "duplicates", "one optimum", "all optimal", "chain",
)  # fmt: skip
SCALES = ("one", "objective", "arm")
_UNIT = 0.25


def means(
    arms: tuple[int, int] = (2, 8),
    objectives: tuple[int, int] = (1, 5),
    shape: str | None = None,
    minimum_gap: float = 0.0,
    ties: bool | None = None,
    largest: int = 12,
) -> st.SearchStrategy[FloatArray]:
    """(K, D) means, larger is better; K and D within the inclusive ranges `arms`, `objectives`.

    shape         one of `SHAPES`; None draws it too
    minimum_gap   every sub-optimality gap is at least this, by stretching; 0 allows all
    ties          True: some objective has two equal arms; False: none has; None: either
    largest       means are multiples of 1/4 up to largest/4 before shapes and stretching

    >>> from hypothesis import find, settings
    >>> find(means((3, 3), (1, 1), "chain"), lambda _: True, settings=settings(database=None))
    array([[0.  ],
           [0.25],
           [0.5 ]])
    """
    K_range = _range(arms, "arms", 2)
    D_range = _range(objectives, "objectives", 1)
    if shape is not None:
        check_choice(shape, SHAPES, name="shape", why="it says how the arms lie to each other.")
    if not isinstance(minimum_gap, (int, float)) or not 0 <= minimum_gap < np.inf:
        raise refusal(is_real(minimum_gap))(
            f"minimum_gap={minimum_gap!r} must be finite and not negative: it is the least "
            f"distance of any arm from changing its place. Pass 0 to allow ties."
        )
    if minimum_gap > 0 and (ties or shape in ("ties", "duplicates")):
        raise ValueError(
            f"minimum_gap={minimum_gap} and ties do not go together: tied arms may have gap 0. "
            f"Pass minimum_gap=0, or ties=False with another shape."
        )
    if ties is False and shape in ("ties", "duplicates"):
        raise ValueError(f"shape={shape!r} has ties; pass ties=None or another shape.")
    largest = check_count(largest, name="largest", why="it is the range of the means, in quarters.")
    return _means(K_range, D_range, shape, float(minimum_gap), ties, largest)


@st.composite
def _means(
    draw: st.DrawFn,
    arms: tuple[int, int],
    objectives: tuple[int, int],
    shape: str | None,
    minimum_gap: float,
    ties: bool | None,
    largest: int,
) -> FloatArray:
    K, D = draw(st.integers(*arms)), draw(st.integers(*objectives))
    if shape is None:
        allowed = SHAPES if ties is not False and minimum_gap == 0 else _UNTIED
        shape = draw(st.sampled_from(allowed))
    if shape == "all optimal" and D == 1:
        if ties is False or minimum_gap > 0:
            assume(objectives[1] > 1)
            D = 2
        else:
            return np.full((K, 1), _UNIT * draw(st.integers(0, largest)))
    if ties is False:
        columns = [draw(st.permutations(range(K))) for _ in range(D)]
        step = draw(st.integers(1, 4))
        mu = _UNIT * step * np.array(columns, dtype=np.float64).T
    else:
        row = st.lists(st.integers(0, largest), min_size=D, max_size=D)
        mu = _UNIT * np.array(draw(st.lists(row, min_size=K, max_size=K)), dtype=np.float64)
    mu = _shaped(draw, mu, shape, largest)
    if ties:
        i, j = draw(st.permutations(range(K)))[:2]
        d = draw(st.integers(0, D - 1))
        mu[i, d] = mu[j, d]
    if ties is False:
        assume(all(len(set(column)) == K for column in mu.T))
    if minimum_gap > 0:
        least = float(gaps(mu).min())
        assume(least > 1e-3)
        mu *= max(1.0, minimum_gap / least)
    return mu


_UNTIED = ("free", "near ties", "one optimum", "all optimal", "chain")


def _shaped(draw: st.DrawFn, mu: FloatArray, shape: str, largest: int) -> FloatArray:
    """`mu` bent into `shape`; most entries stay as drawn."""
    K, D = mu.shape
    if shape == "chain":
        steps = np.cumsum([draw(st.integers(1, 4)) for _ in range(K - 1)])
        rise = _UNIT * np.concatenate([[0.0], steps])
        return np.asarray(mu[0] + rise[draw(st.permutations(range(K)))][:, None])
    if shape == "one optimum":
        top = draw(st.integers(0, K - 1))
        mu[top] = mu.max(axis=0) + _UNIT * draw(st.integers(1, 4))
    elif shape == "all optimal":
        x = np.array(draw(st.permutations(range(K))), dtype=np.float64) * _UNIT
        mu[:, 0], mu[:, 1] = x, -x
    elif shape in ("ties", "near ties", "duplicates"):
        i, j = draw(st.permutations(range(K)))[:2]
        if shape == "duplicates":
            mu[i] = mu[j]
        else:
            d = draw(st.integers(0, D - 1))
            near = 2.0 ** -draw(st.integers(5, 30))  # 0.03 to 1e-9
            mu[i, d] = mu[j, d] + (near if shape == "near ties" else 0.0)
    return mu


def bandits(
    arms: tuple[int, int] = (2, 8),
    objectives: tuple[int, int] = (1, 5),
    shape: str | None = None,
    minimum_gap: float = 0.0,
    ties: bool | None = None,
    scales: str | None = None,
    bernoulli: bool | None = None,
    minimize: bool | None = None,
) -> st.SearchStrategy[Bandit]:
    """Bandits whose `oriented` means come from `means(...)`, in every model and direction.

    scales      "one" for all, per "objective" (up to 1000 apart) or per "arm"; None draws it
    bernoulli   True, False, or None for either; Bernoulli means are squeezed into [0.05, 0.95]
    minimize    True: at least one objective is minimised; False: none; None: either

    `minimum_gap` is in units of the means, before Bernoulli squeezing.

    >>> from hypothesis import find, settings
    >>> bandit = find(
    ...     bandits((2, 2), (1, 1), "chain", bernoulli=False, minimize=True, scales="one"),
    ...     lambda _: True, settings=settings(database=None),
    ... )
    >>> bandit.oriented.tolist(), bandit.minimize
    ([[0.0], [0.25]], ('objective 0',))
    """
    if scales is not None:
        check_choice(scales, SCALES, name="scales", why="it says what the scale depends on.")
    table = means(arms, objectives, shape, minimum_gap, ties)
    return _bandits(table, scales, bernoulli, minimize)


@st.composite
def _bandits(
    draw: st.DrawFn, table: Any, scales: str | None, bernoulli: bool | None, minimize: bool | None
) -> Bandit:
    mu = draw(table)
    K, D = mu.shape
    names = [f"objective {d}" for d in range(D)]
    fewest = 1 if minimize else 0
    chosen = set()
    if minimize is not False:
        chosen = draw(st.sets(st.sampled_from(names), min_size=fewest))
    least = sorted(chosen)
    sign = np.where([name in chosen for name in names], -1.0, 1.0)
    if bernoulli is None:
        bernoulli = draw(st.booleans())
    if bernoulli:
        width = max(float(np.ptp(mu)), 1.0)
        p = 0.05 + 0.9 * (mu - mu.min()) / width
        return BernoulliBandit(
            np.where(sign < 0, 1 - p, p), objectives=names, minimize=least
        )  # fmt: skip
    kind = draw(st.sampled_from(SCALES)) if scales is None else scales
    power = st.integers(-2, 2).map(lambda e: 2.0**e)
    if kind == "arm":
        scale = np.array([[draw(power) for _ in range(D)] for _ in range(K)])
        return GaussianBandit(mu * sign + 0.0, scale, objectives=names, minimize=least)
    if kind == "objective":
        # Means stretch with the scale, so that very different units cost no samples.
        unit = np.array([10.0 ** draw(st.integers(-1, 2)) for _ in range(D)])
        return GaussianBandit(mu * sign * unit + 0.0, unit, objectives=names, minimize=least)
    return GaussianBandit(mu * sign + 0.0, draw(power), objectives=names, minimize=least)


def goals(
    K: int, D: int, largest_eps: float = 1.0, vectors: bool = True
) -> st.SearchStrategy[list[Goal]]:
    """Goals of one eps1 for K arms and D objectives: a ParetoSet, a Cover and an AtMost.

    They can be watched on one stream. eps1 and eps2 are 0, scalars, or with `vectors` one number
    per objective, in eighths up to `largest_eps`.

    >>> from hypothesis import find, settings
    >>> drawn = find(goals(3, 2), lambda _: True, settings=settings(database=None))
    >>> [str(goal) for goal in drawn]
    ['ParetoSet(eps1=0)', 'Cover(eps1=0, eps2=0)', 'AtMost(k=1, eps1=0)']
    """
    K = check_count(K, name="K", least=2, why="it is the number of arms.")
    D = check_count(D, name="D", why="it is the number of objectives.")
    if not isinstance(largest_eps, (int, float)) or not 0 <= largest_eps < np.inf:
        raise refusal(is_real(largest_eps))(
            f"largest_eps={largest_eps!r} must be finite and not negative: a slack."
        )
    eighth = st.integers(0, int(8 * largest_eps)).map(lambda n: n / 8)
    eps: st.SearchStrategy[Any] = st.one_of(st.just(0.0), eighth)
    if vectors:
        eps = st.one_of(eps, st.lists(eighth, min_size=D, max_size=D).map(tuple))

    def build(eps1: Any, eps2: Any, k: int) -> list[Goal]:
        return [ParetoSet(eps1), Cover(eps1, eps2), AtMost(k, eps1)]

    return st.builds(build, eps, eps, st.integers(1, K))


def radii(guarantee: str | None = None, known_scale: bool | None = None) -> Any:
    """Radii of the given guarantee ("proved", "heuristic", None for both).

    known_scale   True leaves out `UnknownScale`, which needs Gaussian outcomes

    >>> from hypothesis import find, settings
    >>> find(radii("proved"), lambda _: True, settings=settings(database=None))
    Mixture(rho=30.0, union='claims', sides='one')
    """
    if guarantee is not None:
        check_choice(
            guarantee, ("proved", "heuristic"), name="guarantee", why="radii declare one of them."
        )
    every: list[Radius] = [
        Mixture(), Mixture(union="pairs"), Mixture(5.0), KaufmannKoolen(),
        KaufmannKoolen(union="claims"), LUCB1Like(), UnknownScale(),
        Mixture(union="none"), KaufmannKoolen("approximate", union="none"),
        UnknownScale(union="none"),
    ]  # fmt: skip
    chosen = [
        radius
        for radius in every
        if guarantee in (None, radius.guarantee)
        and not (known_scale and isinstance(radius, UnknownScale))
        and not (known_scale is False and not isinstance(radius, UnknownScale))
    ]
    return st.sampled_from(chosen)


def _range(value: Any, name: str, least: int) -> tuple[int, int]:
    try:
        low, high = value
    except (TypeError, ValueError) as error:
        raise refusal(isinstance(error, ValueError))(
            f"{name}={value!r} must be a pair (fewest, most); for exactly 3 pass (3, 3)."
        ) from error
    low = check_count(low, name=f"{name}[0]", least=least, why="it is the fewest to draw.")
    high = check_count(high, name=f"{name}[1]", least=low, why="it is the most to draw.")
    return low, high
