"""`paretoid simulate`: adaptive experiments on an instance, many times over."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoid.cli.options import (
    Eps1,
    Instance,
    Json,
    Kind,
    Less,
    OutFile,
    Quiet,
    Scale,
    Seed,
)
from paretoid.cli.terminal import (
    Interrupted,
    check_file,
    note,
    say,
    say_json,
    table,
    wrap,
    write,
)
from paretoid.text import count

if TYPE_CHECKING:
    import xarray as xr

Goals = Annotated[
    list[str] | None,
    typer.Option("--goal", metavar="GOAL", help="pareto-set (default), at-most:k=2, cover:eps2=1."),
]
Radii = Annotated[
    list[str] | None,
    typer.Option("--radius", metavar="RADIUS", help="mixture (default), unknown-scale, "
                 "kaufmann-koolen, single-arm; with arguments, mixture:rho=100."),
]  # fmt: skip


def simulate(
    instance: Instance = "covboost",
    goal: Goals = None,
    k: Annotated[list[int] | None, typer.Option(metavar="K", help="Also ask for k arms.")] = None,
    eps1: Eps1 = "0",
    eps2: Annotated[
        list[str] | None,
        typer.Option(metavar="X[,X...]", help="Also ask for a cover with this slack."),
    ] = None,
    radius: Radii = None,
    delta: Annotated[
        list[float] | None,
        typer.Option(metavar="DELTA", help="Allowed probability of a wrong answer; default 0.1."),
    ] = None,
    rule: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="ape, uniform-elimination, round-robin; for one objective lucb, lucbpp, ugapec.",
        ),
    ] = "ape",
    replications: Annotated[
        int, typer.Option("--replications", "-n", metavar="N", help="How many runs.")
    ] = 100,
    max_samples: Annotated[int | None, typer.Option(metavar="N", help="Budget of a run.")] = None,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep finished runs here; the same command goes on."),
    ] = None,
    threads: Annotated[int | None, typer.Option(metavar="N", help="Default: one per core.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of a Dask cluster: tcp://HOST:8786.")
    ] = None,
    scale: Scale = None,
    kind: Kind = None,
    minimize: Less = None,
    seed: Seed = 1,
    out: OutFile = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Simulate adaptive experiments: arms returned, samples needed.

    --goal, --k, --eps2, --radius and --delta may be given several times; all are compared. With
    --store a campaign can be interrupted and go on, also with more --replications.

    Example: paretoid simulate covboost --k 2 --radius mixture --radius unknown-scale
    """
    import paretoid as pt
    from paretoid.cli import members

    check_file(out, (".nc", ".csv", ".json"))
    bandit = members.instance(instance, kind, scale, minimize)
    goals = members.goals(goal, k, eps1, eps2)
    radii = [members.radius(each) for each in radius or []] or None
    campaign = pt.Campaign(
        bandit, goals, rule=members.rule(rule), radii=radii, deltas=delta or [0.1],
        replications=replications, seed=seed, max_samples=max_samples,
    )  # fmt: skip
    try:
        with _executor(threads, scheduler) as executor:
            found = campaign.run(store, executor=executor, progress=not quiet)
    except KeyboardInterrupt as stopped:
        raise Interrupted(" ".join(getattr(stopped, "__notes__", []))) from None
    except pt.CampaignError as error:
        raise ValueError(str(error)) from error
    data = describe(found)
    if out is not None:
        write(out, data=data, rows=lambda: _rows(found), dataset=lambda: found)
        note(f"wrote {out}", quiet)
    if json:
        say_json(data)
    else:
        say(_text(data))


@contextmanager
def _executor(threads: int | None, scheduler: str | None) -> Iterator[Executor | None]:
    """What --threads or --scheduler ask for; None is one thread per core."""
    from paretoid.theory.checks import check_count

    if threads is not None and scheduler is not None:
        raise ValueError("--threads are of this machine, --scheduler has its own; give one.")
    if scheduler is not None:
        from paretoid.runs import dask_executor

        with dask_executor(scheduler) as cluster:
            yield cluster
    elif threads is not None:
        check_count(threads, name="--threads", why="somebody has to do the work.")
        with ThreadPoolExecutor(threads) as pool:
            yield pool
    else:
        yield None


def describe(found: xr.Dataset) -> dict[str, Any]:
    """Per radius, delta and goal: samples, errors, arms returned; for text and JSON."""
    import numpy as np

    from paretoid.intervals import share_interval

    runs = found.sizes["replication"]
    results = []
    for r, radius in enumerate(found.radius.values):
        for d, delta in enumerate(found.delta.values):
            for goal in found.goal.values:
                each = found.isel(radius=r, delta=d).sel(goal=goal)
                time, stopped = each.stopping_time.values, each.stopped.values
                wrong = int((stopped & ~each.correct.values).sum())
                low, high = share_interval(np.array(wrong), runs)
                error = time.std(ddof=1) / np.sqrt(runs) if runs > 1 else np.nan
                results.append(
                    {
                        "radius": str(radius),
                        "guarantee": str(found.guarantee.values[r]),
                        "delta": float(delta),
                        "goal": str(goal),
                        "mean_samples": float(time.mean()),
                        "standard_error": float(error),
                        "quantiles": {
                            f"{q:g}": float(np.quantile(time, q)) for q in (0.05, 0.5, 0.95)
                        },
                        "unfinished": int((~stopped).sum()),
                        "wrong": wrong,
                        "wrong_95": [float(low), float(high)],
                        "returned": _shares(each.answer),
                        "mean_pulls": _column(each.pulls.mean("replication")),
                    }
                )
    return {
        "arms": [str(each) for each in found.arm.values],
        "replications": runs,
        **{name: found.attrs[name] for name in ("rule", "seed", "max_samples", "paretoid")},
        "results": results,
    }


def _column(values: xr.DataArray) -> dict[str, float]:
    return {str(arm): float(x) for arm, x in zip(values.arm.values, values.values, strict=True)}


def _shares(answer: xr.DataArray) -> dict[str, float]:
    """Arms returned by some run, with the share of runs, most frequent first."""
    shares = _column(answer.mean("replication"))
    return dict(sorted(((a, s) for a, s in shares.items() if s > 0), key=lambda pair: -pair[1]))


def _text(data: dict[str, Any]) -> str:
    results, runs = data["results"], data["replications"]
    lines = [wrap(f"{len(data['arms'])} arms, {runs:,} simulated experiments, {data['rule']}, seed "
                  f"{data['seed']}")]  # fmt: skip
    if data["max_samples"] >= 0:
        lines.append(wrap(f"at most {data['max_samples']:,} samples each: where the budget ran "
                          f"out, the number of samples is a lower bound"))  # fmt: skip
    several = len({(each["radius"], each["delta"]) for each in results}) > 1
    if several:
        more = "samples: mean and its standard error. Arms returned: --json, or --out FILE."
        return "\n".join([*lines, "", _comparison(results), "", wrap(more)])
    first = results[0]
    lines.append(wrap(f"delta = {first['delta']:g}, {first['radius']}: {first['guarantee']}"))
    for each in results:
        q = each["quantiles"]
        low, high = each["wrong_95"]
        facts = [
            f"  samples  {_mean(each)} on average",
            f"           {count(q['0.05'])} to {count(q['0.95'])} in 90% of runs",
            f"  wrong    {each['wrong']:,} of {runs:,} (95%: {low:.1%} to {high:.1%})",
        ]
        if each["unfinished"]:
            facts.append(f"  budget   ran out in {each['unfinished']:,} of {runs:,}")
        facts += [f"  {share:6.1%}  {arm}" for arm, share in each["returned"].items()]
        lines += ["", wrap(each["goal"], "  "), *(wrap(fact, " " * 11) for fact in facts)]
    return "\n".join(lines)


def _mean(each: dict[str, Any]) -> str:
    least = ">= " if each["unfinished"] else ""
    return f"{least}{count(each['mean_samples'])} +- {count(each['standard_error'])}"


def _comparison(results: list[dict[str, Any]]) -> str:
    heads = ["radius", "goal", "delta", "samples", "5%", "95%", "wrong", "unfinished", "guarantee"]
    rows = [
        [
            each["radius"], each["goal"], f"{each['delta']:g}", _mean(each),
            count(each["quantiles"]["0.05"]), count(each["quantiles"]["0.95"]),
            str(each["wrong"]), str(each["unfinished"]), each["guarantee"],
        ]
        for each in results
    ]  # fmt: skip
    return table(heads, rows, names=2)


def _rows(found: xr.Dataset) -> tuple[list[str], list[list[Any]]]:
    """One row per run: what it answered, whether that is right, its samples in all and per arm."""
    arms = [str(each) for each in found.arm.values]
    heads = ["radius", "guarantee", "delta", "goal", "replication", "stopping_time", "stopped",
             "correct", "answer", *(f"pulls: {arm}" for arm in arms)]  # fmt: skip
    rows: list[list[Any]] = []
    for r, radius in enumerate(found.radius.values):
        for d, delta in enumerate(found.delta.values):
            for g, goal in enumerate(found.goal.values):
                each = found.isel(radius=r, delta=d, goal=g)
                time, stopped = each.stopping_time.values, each.stopped.values
                correct, answer = each.correct.values, each.answer.values
                pulls, guarantee = each.pulls.values, str(found.guarantee.values[r])
                for i in range(len(time)):
                    named = "; ".join(arm for arm, on in zip(arms, answer[i], strict=True) if on)
                    numbers = [i, int(time[i]), bool(stopped[i]), bool(correct[i])]
                    rows.append([str(radius), guarantee, float(delta), str(goal), *numbers, named,
                                 *pulls[i].tolist()])  # fmt: skip
    return heads, rows
