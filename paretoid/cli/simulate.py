"""`paretoid simulate`: adaptive experiments on an instance, many times over."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoid.cli import conduct
from paretoid.cli.informed import informed_radii
from paretoid.cli.options import (
    Eps1,
    Force,
    Instance,
    Json,
    Kind,
    Less,
    Limit,
    MarginMeans,
    More,
    OutFile,
    Quiet,
    Scale,
    Seed,
    shell_names,
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
from paretoid.labels import inside_of
from paretoid.registry import ARM_RADII, GOALS, PAIR_RADII, RATE_RADII, RULES
from paretoid.rules.best_arm import BestArmRule
from paretoid.text import count, counted, settled, shares

if TYPE_CHECKING:
    import xarray as xr

Goals = Annotated[
    list[str] | None,
    typer.Option(
        "--goal",
        metavar="GOAL",
        help=f"{shell_names(GOALS, default='ParetoSet')}; with arguments, at-most:k=2.",
    ),
]
Radii = Annotated[
    list[str] | None,
    typer.Option(
        "--radius",
        metavar="RADIUS",
        help=f"{shell_names([*PAIR_RADII, *RATE_RADII], default='Mixture')}; with arguments, "
        f"mixture:rho=100. With a rule for one objective: {shell_names(ARM_RADII)}.",
    ),
]

#: rules for one objective, and those that spend a budget
_BEST_ARM = [name for name, kind in RULES.items() if issubclass(kind, BestArmRule)]
_BUDGETED = [name for name, kind in RULES.items() if getattr(kind, "budget", None) is not None]
_OTHERS = [name for name in RULES if name not in (*_BEST_ARM, *_BUDGETED)]


def simulate(
    instance: Instance = "covboost",
    goal: Goals = None,
    k: Annotated[list[int] | None, typer.Option(metavar="K", help="Also ask for k arms.")] = None,
    eps1: Eps1 = "0",
    eps2: Annotated[
        list[str] | None,
        typer.Option(metavar="X[,X...]", help="Also ask for a cover with this slack."),
    ] = None,
    margin_means: MarginMeans = "any",
    limit: Limit = None,
    radius: Radii = None,
    informed_by: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Share delta out by what this fit (.nc) or published table (.csv) leads to "
            "expect; the guarantee does not lean on it.",
        ),
    ] = None,
    delta: Annotated[
        list[float] | None,
        typer.Option(metavar="DELTA", help="Allowed probability of a wrong answer; default 0.1."),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help=f"{shell_names(_OTHERS, default='APE')}; for one objective "
            f"{shell_names(_BEST_ARM)}; with --budget {shell_names(_BUDGETED, default='EGE')}, "
            f"ege:scheme=SH.",
        ),
    ] = None,
    replications: Annotated[
        int, typer.Option("--replications", "-n", metavar="N", help="How many runs.")
    ] = 100,
    max_samples: Annotated[int | None, typer.Option(metavar="N", help="Budget of a run.")] = None,
    rate: conduct.Rate = None,
    delay: conduct.Delay = None,
    look: conduct.Look = None,
    dropout: conduct.Dropout = None,
    burn_in: conduct.BurnIn = 0,
    randomise: conduct.Randomise = None,
    floor: conduct.Floor = None,
    control: conduct.Control = None,
    strata: conduct.Strata = None,
    budget: Annotated[
        int | None,
        typer.Option(metavar="N", help="Answer after N samples, whatever is known by then."),
    ] = None,
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
    maximize: More = None,
    seed: Seed = 1,
    out: OutFile = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Simulate adaptive experiments: arms returned, samples needed.

    --goal, --k, --eps2, --radius and --delta may be given several times; all are compared. With
    --store a campaign can be interrupted and go on, also with more --replications. --budget asks
    what N samples are good for, without a delta: EGE by default, or any rule with its best guess.

    Example: paretoid simulate covboost --k 2 --radius mixture --radius unknown-scale
    """
    import paretoid as pt
    from paretoid.cli import members
    from paretoid.cli.budget import describe as describe_budget
    from paretoid.cli.budget import shown as shown_budget

    suffixes = (".nc", ".csv", ".json") if budget is None else (".json",)
    check_file(out, suffixes, force=force, inputs=[instance])
    bandit = members.instance(instance, kind, scale, minimize, maximize)
    goals = members.goals(goal, k, eps1, eps2, margin_means, limit)
    radii = [members.radius(name) for name in radius or []] or None
    if budget is not None:
        _refuse_beside_budget(
            {
                "--max-samples": max_samples, "--store": store, "--threads": threads,
                "--scheduler": scheduler, "--informed-by": informed_by,
                "--radius twice": (radius or [])[1:], "--delta twice": (delta or [])[1:],
            }
        )  # fmt: skip
        data = describe_budget(
            bandit, goals, members.rule(rule or "ege", budget), radii[0] if radii else None,
            (delta or [0.1])[0], budget, replications, seed,
        )  # fmt: skip
        if out is not None:
            write(out, data=data, rows=lambda: ([], []), force=force)  # .json alone is let through
            note(f"wrote {out}", quiet)
        say_json(data) if json else say(shown_budget(data))
        return
    scheme = conduct.scheme_of(randomise, floor, control, strata)
    if informed_by is not None:
        radii = informed_radii(informed_by, bandit, goals, radii, delta or [0.1], seed, max_samples)
    campaign = pt.Campaign(
        bandit, goals, rule=members.rule(rule or "ape"), radii=radii, deltas=delta or [0.1],
        replications=replications, seed=seed, max_samples=max_samples,
        conduct=conduct.read(rate, delay, look, dropout, burn_in, scheme),
    )  # fmt: skip
    if store is None and threads is None and scheduler is None:
        from paretoid.runs.first_sight import soonest

        campaign = soonest(campaign)
        if campaign.readable:
            note("small enough to do without the engine, which is not compiled yet", quiet)
    try:
        with _executor(threads, scheduler) as executor:
            runs = campaign.run(store, executor=executor, progress=not quiet)
    except KeyboardInterrupt as stopped:
        raise Interrupted(" ".join(getattr(stopped, "__notes__", []))) from None
    except pt.CampaignError as error:
        raise ValueError(str(error)) from error
    data = describe(runs)
    if out is not None:
        write(out, data=data, rows=lambda: _rows(runs), dataset=lambda: runs, force=force)
        note(f"wrote {out}", quiet)
    if json:
        say_json(data)
    else:
        say(_text(data))


def _refuse_beside_budget(given: dict[str, Any]) -> None:
    """--budget is one comparison of short runs: what is for long ones is refused beside it."""
    for name, value in given.items():
        if value:
            raise ValueError(
                f"{name} does not go with --budget, which makes short runs and keeps none. Leave "
                f"one of them out."
            )


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


def describe(runs: xr.Dataset) -> dict[str, Any]:
    """Per radius, delta and goal: samples, errors, arms returned; for text and JSON."""
    from paretoid.summaries import summaries

    arms = [str(arm) for arm in runs.arm.values]
    results = []
    for summary in summaries(runs):
        _, q, d, g = summary.at
        shares = zip(arms, (summary.returned / summary.runs).tolist(), strict=True)
        returned = sorted((pair for pair in shares if pair[1]), key=lambda pair: -pair[1])
        results.append(
            {
                "radius": str(runs.radius.values[q]),
                "guarantee": str(runs.guarantee.values[q]),
                "delta": float(runs.delta.values[d]),
                "goal": str(runs.goal.values[g]),
                "mean_samples": summary.mean[0],
                "standard_error": summary.standard_error,
                "quantiles": {f"{share:g}": n for share, n in summary.quantiles.items()},
                "censored": summary.censored,
                "wrong": summary.wrong,
                "settled": None
                if summary.settled is None
                else dict(zip(("optimal", "dominated", "undecided"), summary.settled, strict=True)),
                "wrong_95": summary.error[1:],
                **_calendar(runs, summary.at),
                "returned": dict(returned),
                "mean_pulls": dict(zip(arms, summary.pulls.tolist(), strict=True)),
            }
        )
    return {
        "arms": arms,
        "replications": runs.sizes["replication"],
        **{
            name: runs.attrs[name]
            for name in ("rule", "seed", "max_samples", "paretoid", "conduct")
            if name in runs.attrs
        },
        "results": results,
    }


def _calendar(runs: xr.Dataset, at: tuple[int, int, int, int]) -> dict[str, float]:
    """Means of a trial on a calendar; nothing of others."""
    if "duration" not in runs:
        return {}
    _, q, d, g = at
    one = runs.isel(radius=q, delta=d, goal=g)
    return {name: float(one[name].mean()) for name in ("analysed", "duration")}


def _text(data: dict[str, Any]) -> str:
    results, runs = data["results"], data["replications"]
    lines = [wrap(f"{counted(len(data['arms']), 'arm')}, {counted(runs, 'simulated experiment')}, "
                  f"{data['rule']}, seed {data['seed']}")]  # fmt: skip
    if data["max_samples"] >= 0:
        lines.append(wrap(f"at most {data['max_samples']:,} samples each: a run whose budget ran "
                          f"out is censored, and its samples are a lower bound"))  # fmt: skip
    if len({(result["radius"], result["delta"]) for result in results}) > 1:
        more = "samples: mean and its standard error. Arms returned: --json, or --out FILE."
        return "\n".join([*lines, "", _comparison(results), "", wrap(more)])
    first = results[0]
    if "conduct" in data:
        lines.append(wrap(f"samples are participants enrolled: {data['conduct']}"))
    lines.append(wrap(f"delta = {first['delta']:g}, {first['radius']}: {first['guarantee']}"))
    for result in results:
        low, high = (count(result["quantiles"][share]) for share in ("0.05", "0.95"))
        facts = [
            f"  samples  {_mean(result)} on average",
            f"           {low} to {high} in 90% of runs",
            f"  wrong    {result['wrong']:,} of {runs:,} (95%: {shares(*result['wrong_95'])})",
        ]
        if "duration" in result:
            facts.append(f"  analysed {count(result['analysed'])} of those enrolled")
            if result["duration"] == result["duration"]:
                facts.append(f"  days     {result['duration']:,.0f} on average")
        if result["censored"]:
            facts.append(f"  censored {result['censored']:,} of {runs:,}")
        if result["settled"] is not None:
            inside = inside_of(result["goal"], result)
            certain = settled(list(result["settled"].values()), "when a run ends", *inside)
            facts.append(f"  settled  {certain}")
        facts += [f"  {share:6.1%}  {arm}" for arm, share in result["returned"].items()]
        lines += ["", wrap(result["goal"], "  "), *(wrap(fact, " " * 11) for fact in facts)]
    return "\n".join(lines)


def _mean(result: dict[str, Any]) -> str:
    least = ">= " if result["censored"] else ""
    return f"{least}{count(result['mean_samples'])} +- {count(result['standard_error'])}"


def _comparison(results: list[dict[str, Any]]) -> str:
    heads = ["radius", "goal", "delta", "samples", "5%", "95%", "wrong", "censored", "guarantee"]
    rows = [
        [
            result["radius"], result["goal"], f"{result['delta']:g}", _mean(result),
            count(result["quantiles"]["0.05"]), count(result["quantiles"]["0.95"]),
            str(result["wrong"]), str(result["censored"]), result["guarantee"],
        ]
        for result in results
    ]  # fmt: skip
    return table(heads, rows, names=2)


def _rows(runs: xr.Dataset) -> tuple[list[str], list[list[Any]]]:
    """One row per run: what it answered, whether that is right, its samples in all and per arm."""
    arms = [str(arm) for arm in runs.arm.values]
    heads = ["radius", "guarantee", "delta", "goal", "replication", "stopping_time", "stopped",
             "correct", "answer", *(f"pulls: {arm}" for arm in arms)]  # fmt: skip
    rows: list[list[Any]] = []
    for r, radius in enumerate(runs.radius.values):
        for d, delta in enumerate(runs.delta.values):
            for g, goal in enumerate(runs.goal.values):
                one = runs.isel(radius=r, delta=d, goal=g)
                time, stopped = one.stopping_time.values, one.stopped.values
                correct, answer = one.correct.values, one.answer.values
                pulls, guarantee = one.pulls.values, str(runs.guarantee.values[r])
                for i in range(len(time)):
                    named = "; ".join(arm for arm, on in zip(arms, answer[i], strict=True) if on)
                    numbers = [i, int(time[i]), bool(stopped[i]), bool(correct[i])]
                    rows.append([str(radius), guarantee, float(delta), str(goal), *numbers, named,
                                 *pulls[i].tolist()])  # fmt: skip
    return heads, rows
