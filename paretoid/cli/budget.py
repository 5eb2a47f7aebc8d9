"""`paretoid simulate --budget N`: what N samples are good for, without a delta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paretoid.cli.terminal import wrap
from paretoid.text import counted, measure, shares

if TYPE_CHECKING:
    from paretoid.bandits import Bandit
    from paretoid.goals import Goal
    from paretoid.rules import Rule
    from paretoid.theory.radii import Radius


def describe(
    bandit: Bandit,
    goals: list[Goal],
    rule: Rule,
    radius: Radius | None,
    delta: float,
    budget: int,
    replications: int,
    seed: int,
) -> dict[str, Any]:
    """Per goal: wrong answers after `budget` samples; with EGE the bounds at the true means."""
    import paretoid as pt
    from paretoid.intervals import share
    from paretoid.registry import text
    from paretoid.theory import budget_error_bound, budget_lower_bound

    bounds = {}
    if isinstance(rule, pt.EGE):
        runs = pt.simulate(
            bandit, goals, rule=rule, radius=radius, replications=replications, seed=seed
        )
        sure = 0.0 * runs.stopped.mean("replication")  # it is never certain
        means, scale = bandit.oriented, bandit.scale
        bounds["error_bound"] = float(budget_error_bound(means, budget, rule.scheme, scale))
        bounds["lower_bound"] = float(budget_lower_bound(means, budget, scale))
    else:
        runs = pt.anytime(
            bandit, [budget], goals, rule=rule, radius=radius, delta=delta,
            replications=replications, seed=seed,
        ).isel(budget=0)  # fmt: skip
        sure = runs.stopped.mean("replication")
    arms = [str(arm) for arm in runs.arm.values]
    results = []
    for g, goal in enumerate(goals):
        one = runs.isel(goal=g)
        wrong = int((~one.correct).sum())
        parts = zip(arms, one.answer.mean("replication").values.tolist(), strict=True)
        results.append(
            {
                "goal": str(goal),
                "wrong": wrong,
                "wrong_95": share(wrong, replications)[1:],
                "certain": float(sure[g]),
                "returned": dict(sorted((part for part in parts if part[1]), key=lambda p: -p[1])),
            }
        )
    return {
        "arms": arms, "replications": replications, "rule": text(rule), "seed": seed,
        "budget": budget, "guarantee": "heuristic", **bounds, "results": results,
    }  # fmt: skip


def shown(data: dict[str, Any]) -> str:
    """The same for a terminal."""
    runs = data["replications"]
    lines = [
        wrap(f"{counted(len(data['arms']), 'arm')}, {counted(runs, 'simulated experiment')}, "
             f"{data['rule']}, seed {data['seed']}"),
        wrap(f"answers after {data['budget']:,} samples, whatever is known by then: heuristic"),
    ]  # fmt: skip
    if "error_bound" in data:
        lines.append(
            wrap(
                f"at the true means the error is at most {measure(data['error_bound'], 3)}; with "
                f"so many samples no algorithm errs less than {measure(data['lower_bound'], 3)} "
                f"both here and with one arm moved"
            )
        )
    for result in data["results"]:
        lines += [
            "",
            wrap(result["goal"], "  "),
            wrap(
                f"  wrong    {result['wrong']:,} of {runs:,} (95%: {shares(*result['wrong_95'])})"
            ),
        ]
        if result["certain"]:
            lines.append(f"  certain  {result['certain']:.1%} had stopped by then")
        lines += [
            wrap(f"  {part:6.1%}  {arm}", " " * 11) for arm, part in result["returned"].items()
        ]
    return "\n".join(lines)
