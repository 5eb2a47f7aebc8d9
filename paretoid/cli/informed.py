"""`--informed-by`: radii of a simulation from a fit or a published table, arms matched by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretoid.cli.published import read_trial

if TYPE_CHECKING:
    from paretoid.bandits import Bandit
    from paretoid.design.informed import SharedRadius
    from paretoid.estimation import TrialSummary
    from paretoid.goals import Goal
    from paretoid.theory.radii import Radius


def informed_radii(
    source: str,
    bandit: Bandit,
    goals: Sequence[Goal],
    radii: Sequence[Radius] | None,
    deltas: Sequence[float],
    seed: int,
    max_samples: int | None = None,
) -> list[Radius]:
    """The radii asked for, or Mixture, informed by `source` at the one delta there is."""
    from paretoid.design.informed import CEILING
    from paretoid.estimation import informed
    from paretoid.theory.radii import Mixture

    if len(deltas) > 1:
        raise ValueError(
            f"--informed-by shares out one delta, and {len(deltas)} were given: what an arm needs "
            f"depends on it. Run the command once for each."
        )
    given, trial = _source(source)
    order = _order(trial, bandit, source)
    return [
        _reordered(
            informed(given, list(goals), deltas[0], radius=radius, seed=seed,
                     max_samples=max_samples or CEILING), order)
        for radius in radii or [Mixture()]
    ]  # fmt: skip


def _source(source: str) -> tuple[Any, TrialSummary]:
    from paretoid.estimation import load_fit
    from paretoid.estimation.model import trial_of

    if Path(source).suffix.lower() == ".nc":
        fit = load_fit(source)
        return fit, trial_of(fit)
    trial = read_trial(source, None, None, None, None, None, 0.95, None)
    return trial, trial


def _order(trial: TrialSummary, bandit: Bandit, source: str) -> list[int]:
    """Where each arm of the instance stands in the source."""
    missing = [arm for arm in bandit.arms if arm not in trial.arms]
    if missing or len(trial.arms) != bandit.K or len(trial.endpoints) != bandit.D:
        raise ValueError(
            f"--informed-by {source} has the arms {', '.join(trial.arms)} and "
            f"{len(trial.endpoints)} endpoints; the instance has {', '.join(bandit.arms)} and "
            f"{bandit.D} objectives. Arms are matched by name, so the names must be the same; "
            f"select endpoints with `paretoid fit --endpoints`."
        )
    return [trial.arms.index(arm) for arm in bandit.arms]


def _reordered(radius: SharedRadius, order: Sequence[int]) -> SharedRadius:
    from paretoid.theory.shares import Shares

    def by_arm(values: Any) -> Any:
        return tuple(values[i] for i in order) if isinstance(values, tuple) else values

    shares = radius.shares
    if shares is not None:
        shares = Shares(by_arm(shares.arms), by_arm(shares.rivals), shares.objectives)
    return radius.with_design(by_arm(radius.rho), shares)
