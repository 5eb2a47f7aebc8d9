"""Cones: domination that knows how much of one objective is worth how much of another.

Under a cone {x : W x >= 0} arm j dominates arm i if W (mu_j - mu_i) > 0 in every row. That is
Pareto domination of the outcomes W x, so everything proved for these holds: only the outcomes
change. The rows of W are weights: each says one way of adding the objectives up, and an arm is
dominated if another is better in all of these ways. W = 1 is the Pareto set itself.

Where a radius learns scales, outcomes must be jointly Gaussian, so that every row of W x is
Gaussian; that each objective is so by itself does not suffice (theory/PROOFS.md, Section 1).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from paretoid.bandits import Bandit, GaussianBandit
from paretoid.text import meant
from paretoid.theory.checks import FloatArray, WrongTypeError, refusal
from paretoid.theory.units import as_scale


def in_cone(bandit: Bandit, W: Any) -> GaussianBandit:
    """The bandit whose outcomes are W times those of `bandit`, larger being better.

    W         (rows, D), or statements that `preferences` reads, in units of the objectives
    scales    sqrt(diag(W Sigma W')), exactly, for a Gaussian bandit with a covariance or one scale
              for each objective

    Its Pareto set is what the cone keeps. Rows are named after what they add up. Outcomes of the
    bandit are jointly Gaussian, and so are those returned.

    >>> bandit = GaussianBandit([[1.0, 0.0], [0.0, 1.0], [0.3, 0.1]], objectives=["x", "y"])
    >>> from paretoid.theory import pareto_set
    >>> pareto_set(bandit.oriented)
    array([ True,  True,  True])
    >>> narrow = in_cone(bandit, [[1.0, 0.5], [0.5, 1.0]])
    >>> narrow.objectives, pareto_set(narrow.oriented)
    (('x + 0.5 y', '0.5 x + y'), array([ True,  True, False]))
    """
    if not isinstance(bandit, GaussianBandit):
        raise WrongTypeError(
            f"in_cone takes a GaussianBandit, not {type(bandit).__name__}: sums of other outcomes "
            f"are of another kind. Give the combined outcomes to a bandit of your own."
        )
    table = as_cone(W, bandit.objectives)
    if not bandit.common_scale:
        raise ValueError(
            "in_cone needs one scale for each objective, common to all arms, or a covariance: with "
            "scales that differ by arm every arm has a covariance of its own."
        )
    flip = bandit.sign
    if hasattr(bandit, "covariance"):
        root = np.linalg.cholesky(bandit.covariance * np.outer(flip, flip))
    else:
        root = np.diag(bandit.scale[0])
    return ConeBandit(
        bandit.oriented @ table.T, table @ root, bandit.arms, row_names(table, bandit.objectives)
    )


class ConeBandit(GaussianBandit):
    """Gaussian outcomes with a root of their covariance, which may be singular: see `in_cone`.

    >>> ConeBandit(np.eye(2), np.array([[3.0, 4.0], [0.0, 2.0]]), ["A", "B"], ["x", "y"]).scale[0]
    array([5., 2.])
    """

    def __init__(
        self, means: FloatArray, root: FloatArray, arms: Sequence[str], names: Sequence[str]
    ) -> None:
        scale = np.sqrt((root**2).sum(axis=1))
        super().__init__(means, scale, arms=arms, objectives=names)
        lower = np.asarray(
            np.linalg.qr(root.T, mode="r")
        ).T  # the same covariance, lower triangular
        self._root = np.zeros((len(root), len(root)))
        self._root[:, : lower.shape[1]] = lower
        self.covariance = self._root @ self._root.T


def as_cone(W: Any, objectives: Sequence[str]) -> FloatArray:
    """W as (rows, D) weights, or from statements; what is no cone to prefer by is refused.

    >>> as_cone([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], ["x", "y"])    # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: the rows of W contradict each other: ...
    """
    D = len(objectives)
    if isinstance(W, str) or (
        isinstance(W, Sequence) and len(W) and all(isinstance(part, str) for part in W)
    ):
        return preferences(W, objectives)
    try:
        table = np.array(W, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise refusal(isinstance(error, ValueError))(
            f"W={W!r} must be a table of numbers: {error}."
        ) from error
    if table.ndim != 2 or table.shape[1] != D or not len(table) or not np.isfinite(table).all():
        raise ValueError(
            f"W has shape {table.shape}; it must be (rows, {D}), finite weights of the objectives "
            f"{', '.join(objectives)} in each row."
        )
    empty = np.flatnonzero(~table.any(axis=1))
    if len(empty):
        raise ValueError(
            f"row {empty[0]} of W is zero: it calls all arms equal, so that none could ever "
            f"dominate another. Leave it out."
        )
    unit = table / np.abs(table).max(axis=1, keepdims=True)
    if np.linalg.matrix_rank(unit) < D:
        _, _, basis = np.linalg.svd(unit)
        blind = " + ".join(f"{w:.2g} {o}" for w, o in zip(basis[-1], objectives, strict=True))
        raise ValueError(
            f"the cone of W is not pointed: no row sees the direction {blind}, so arms that differ "
            f"in it alone are tied for ever. Add a row, or leave an objective out."
        )
    if _widest(unit) <= 1e-9:
        raise ValueError(
            "the rows of W contradict each other: nothing is better in all of them, so no arm "
            "could ever dominate another. Take one of the rows that oppose each other out."
        )
    return table


def _widest(unit: FloatArray) -> float:
    """The largest t with W x >= t for an x of entries within 1; 0: the cone has no inside."""
    from scipy.optimize import linprog

    rows, D = unit.shape
    solved = linprog(
        np.append(np.zeros(D), -1.0), A_ub=np.column_stack([-unit, np.ones(rows)]),
        b_ub=np.zeros(rows), bounds=[(-1, 1)] * D + [(0, 1)],
    )  # fmt: skip
    return float(-solved.fun)


def row_names(table: FloatArray, objectives: Sequence[str]) -> list[str]:
    """What each row adds up, in words; different rows have different names.

    >>> row_names(np.array([[1.0, 0.0], [2.0, -0.5]]), ["IgG", "T cell"])
    ['IgG', '2 IgG - 0.5 T cell']
    """
    names: list[str] = []
    for row in table:
        text = ""
        for weight, objective in zip(row, objectives, strict=True):
            if weight:
                sign = " - " if weight < 0 else " + "
                number = "" if abs(weight) == 1 else f"{abs(weight):.6g} "
                text += (sign if text else sign.strip(" +")) + number + objective
        names.append(text)
    return [
        name if names.count(name) == 1 else f"{name} (row {at})" for at, name in enumerate(names)
    ]


# -- preferences in words ------------------------------------------------------------------------

_TIMES = {"": 1.0, "half": 0.5, "twice": 2.0, "thrice": 3.0, "three times": 3.0, "four times": 4.0,
          "five times": 5.0, "ten times": 10.0}  # fmt: skip
_STATEMENT = re.compile(
    r"(?P<first>.+?)\s+(?:is\s+)?at\s+(?P<bound>most|least)\s+"
    r"(?:(?P<times>[\w.]+(?:\s+times)?)\s+)?as\s+important\s+as\s+(?P<second>.+?)\.?",
    re.IGNORECASE,
)


def preferences(
    statements: str | Sequence[str], objectives: Sequence[str], units: Any = None
) -> FloatArray:
    """W from statements about the weights of objectives, in words.

    A statement is "A at most twice as important as B", "A at least half as important as B", "A at
    least as important as B", "A at most 3.5 times as important as B". Importance is the weight of
    one unit of an objective, `units` (D,) of its own scale, by default 1: pass the standard
    deviations to compare those. Weights are never negative. What is not said is open, so every
    weighting that fits the statements counts: the rows of W are the extreme ones, and an arm is
    dominated if another is better by all of them.

    >>> preferences("IgG at most twice as important as T cells", ["IgG", "T cells"])
    array([[0. , 1. ],
           [1. , 0.5]])
    """
    names = list(objectives)
    D = len(names)
    said = [statements] if isinstance(statements, str) else list(statements)
    rows = [np.eye(D)] + [_constraint(sentence, names)[None] for sentence in said]
    rays = extreme_rays(np.concatenate(rows))
    if len(rays) == 0 or np.linalg.matrix_rank(rays) < D:
        never = [name for at, name in enumerate(names) if not rays[:, at].any()]
        left = f" leave no weight for {', '.join(never)}" if never else " fix a ratio of weights"
        raise ValueError(
            f"the preferences {'; '.join(said)!r}{left}: together they contradict each other, or "
            f"leave a single weighting. Loosen one of them."
        )
    return np.asarray(rays / as_scale(1.0 if units is None else units, 1, D)[0])


def _constraint(sentence: str, names: list[str]) -> FloatArray:
    """a with a . w >= 0 for the weights w that a statement allows."""
    read = _STATEMENT.fullmatch(" ".join(sentence.split()))
    if read is None:
        raise ValueError(
            f"{sentence!r} cannot be read; write for instance '{names[0]} at most twice as "
            f"important as {names[-1]}', or 'at least', 'half', '3 times'."
        )
    first, second = (_position(read[part], names) for part in ("first", "second"))
    if first == second:
        raise ValueError(f"{sentence!r} compares {names[first]} with itself. Name two objectives.")
    words = (read["times"] or "").lower()
    number = words.removesuffix("times").strip()
    if words in _TIMES:
        times = _TIMES[words]
    else:
        try:
            times = float(number)
        except ValueError:
            raise ValueError(f"{sentence!r}: {words!r} must be a number of times.") from None
    if not 0 < times < 1e9:
        raise ValueError(f"{sentence!r}: {words!r} must be above 0 and finite.")
    row = np.zeros(len(names))
    sign = 1.0 if read["bound"].lower() == "most" else -1.0
    row[first], row[second] = -sign, sign * times  # w_first <= times w_second, or >=
    return row


def _position(name: str, names: list[str]) -> int:
    flat = [known.lower() for known in names]
    if name.strip().lower() not in flat:
        raise ValueError(
            f"there is no objective {name.strip()!r}{meant(name.strip(), names)} There are: "
            f"{', '.join(names)}."
        )
    return flat.index(name.strip().lower())


def extreme_rays(constraints: FloatArray) -> FloatArray:
    """(rays, D) the edges of {w : A w >= 0}, each with largest entry 1; by trying every edge.

    An edge is where D - 1 independent constraints are tight; with D objectives and n statements
    there are at most (D + n) choose (D - 1) to try.

    >>> extreme_rays(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 2.0]]))
    array([[0. , 1. ],
           [1. , 0.5]])
    """
    n, D = constraints.shape
    found: list[FloatArray] = []
    for tight in itertools.combinations(range(n), D - 1):
        _, sizes, basis = np.linalg.svd(constraints[list(tight)].reshape(D - 1, D))
        if D > 1 and sizes.min() < 1e-12:
            continue
        for ray in (basis[-1], -basis[-1]):
            if (constraints @ ray >= -1e-12).all():
                scaled = np.where(np.abs(ray) < 1e-12, 0.0, ray) / np.abs(ray).max()
                if not any(np.allclose(scaled, other, atol=1e-9) for other in found):
                    found.append(scaled)
    found.sort(key=lambda ray: tuple(ray.round(9)))  # in the same order whatever the last bit is
    return np.array(found).reshape(len(found), D)
