"""`paretoid bounds`: how hard an instance is, before anything is sampled."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretoid.cli.options import (
    Delta,
    Eps1,
    Force,
    Instance,
    Json,
    Kind,
    Less,
    More,
    OutFile,
    Quiet,
    Scale,
    numbers,
    shell_names,
)
from paretoid.cli.terminal import check_file, note, say, say_json, table, wrap, write
from paretoid.text import count, counted, joined, measure
from paretoid.theory.sharp_bound import INVERTIBLE

if TYPE_CHECKING:
    import xarray as xr

#: radii that have a sharp bound
_RADII = shell_names((kind.__name__ for kind in INVERTIBLE), default="Mixture")

#: name of a bound, in words
_LABELS = {
    "sharp_bound_pairs": "APE, at most (sharp, union='pairs')",
    "sharp_bound": "APE, at most (sharp)",
    "theorem_1": "APE, at most (Theorem 1)",
    "expected_lucb1": "APE, mean at most (LUCB1Like)",
    "characteristic": "any method, mean at least",
    "lower_bound": "Theorem 2's formula",
}


def bounds(
    instance: Instance = "covboost",
    k: Annotated[
        int | None, typer.Option(metavar="K", help="Ask for k arms instead of all.")
    ] = None,
    eps1: Eps1 = "0",
    delta: Delta = 0.1,
    radius: Annotated[
        str, typer.Option(metavar="RADIUS", help=f"{_RADII}; with arguments, mixture:rho=100.")
    ] = "mixture",
    scale: Scale = None,
    kind: Kind = None,
    minimize: Less = None,
    maximize: More = None,
    out: OutFile = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Derive the closed forms behind the bounds anew, here, and say how each is "
            "proved; no instance is read.",
        ),
    ] = False,
) -> None:
    """Show the gaps, omega, T* and all bounds of an instance.

    Example: paretoid bounds covboost --k 2 --delta 0.05
    """
    if check:
        _check(json, quiet)
        return
    from paretoid.cli import members
    from paretoid.goals import AtMost, Goal, ParetoSet
    from paretoid.theory.sharp_bound import check_invertible

    check_file(out, (".csv", ".json", ".nc"), force=force, inputs=[instance])
    bandit = members.instance(instance, kind, scale, minimize, maximize)
    slack = numbers(eps1, "--eps1")
    goal: Goal = ParetoSet(slack) if k is None else AtMost(k, slack)
    judge = members.radius(radius)
    try:
        check_invertible(judge)
    except ValueError as error:
        names = shell_names(kind.__name__ for kind in INVERTIBLE).split(", ")
        ways = joined((f"--radius {name}" for name in names), "or")
        raise ValueError(
            f"{error} On the command line: {ways}; the bound of LUCB1Like is listed with either."
        ) from None
    data = describe(bandit, goal, delta, judge)
    if out is not None:
        write(out, rows=lambda: _rows(data), data=data, dataset=lambda: _dataset(data), force=force)
        note(f"wrote {out}", quiet)
    if json:
        say_json(data)
    else:
        say(_text(data))


def describe(bandit: Any, goal: Any, delta: float, radius: Any) -> dict[str, Any]:
    """Gaps, omega, T* and bounds as plain data; gaps are in units of the outcomes' scale."""
    from paretoid import theory
    from paretoid.bounds import Problem, sample_bounds
    from paretoid.goals import AtMost
    from paretoid.theory.units import in_scale_units

    bounds = sample_bounds(bandit, goal, delta, radius)
    mu, eps = in_scale_units(bandit.oriented, goal.eps1, bandit.scale)
    k = goal.k if isinstance(goal, AtMost) else None
    known = Problem.of(bandit)
    time = known.time if known.outcomes else None
    return {
        "arms": list(bandit.arms),
        "objectives": list(bandit.objectives),
        "minimize": list(bandit.minimize),
        "outcomes": bandit.model,
        "goal": str(goal),
        "delta": delta,
        "radius": repr(radius),
        "guarantee": radius.guarantee,
        "optimal": theory.pareto_set(bandit.oriented),
        "gaps": theory.gaps(mu),
        "omega": theory.omega(mu),
        "omega_k": None if k is None else theory.omega_k(mu, k),
        "gaps_of_the_goal": theory.combined_gaps(mu, eps, k),
        "characteristic_time": None
        if time is None
        else {"time": time.time, "lower": time.lower, "weights": time.weights},
        "bounds": {
            name: {
                "samples": float(bound),
                "holds": bound.holds,
                "source": bound.source,
                "proved": bound.proved,
                "probability": bound.probability,
            }
            for name, bound in bounds.items()
        },
    }


def _text(data: dict[str, Any]) -> str:
    head = (
        f"{counted(len(data['arms']), 'arm')}, "
        f"{counted(len(data['objectives']), 'objective')}; {data['goal']}; "
        f"delta = {data['delta']:g}; {data['radius']}: {data['guarantee']}"
    )
    time = data["characteristic_time"]
    heads = ["arm", "S*", "gap", "omega", *(["w*"] if time else [])]
    columns = [
        data["arms"],
        ["yes" if inside else "" for inside in data["optimal"]],
        [f"{x:.3f}" for x in data["gaps"]],
        [f"{x:.3f}" for x in data["omega"]],
        *([[f"{x:.1%}" for x in time["weights"]]] if time else []),
    ]
    lines = [wrap(head), "", table(heads, list(zip(*columns, strict=True)))]
    lines += ["", wrap("S* is the Pareto set. Gaps and omega are in units of the outcomes' scale.")]
    if data["omega_k"] is not None:
        lines.append(wrap(f"omega^k, the k-th largest omega: {data['omega_k']:.3f}."))
    if time is not None:
        finite = math.isfinite(time["time"])
        bracket = f"{time['time'] / time['lower'] - 1:.0e}" if finite else "0"
        lines.append(wrap(f"T* = {measure(time['time'])}, certified within a factor 1 + {bracket}; "
                          f"w* are its shares of the samples. Exact problem."))  # fmt: skip
    bounds = data["bounds"]
    labels = _labels(bounds)
    rows = [[labels[name], count(bound["samples"])] for name, bound in bounds.items()]
    lines += ["", table(["bound", "samples"], rows), ""]
    for name, bound in bounds.items():
        lines.append(wrap(f"{labels[name]}: {bound['holds']}. {bound['source']}", "  "))
    if any(math.isinf(bound["samples"]) for bound in bounds.values()):
        lines.append(wrap("Infinite: two arms tie, so nothing settles this goal for certain. Give "
                          "a slack with --eps1, or ask for fewer arms with --k."))  # fmt: skip
    return "\n".join(lines)


def _labels(bounds: dict[str, Any]) -> dict[str, str]:
    """Name of each bound in words; a sharp bound that comes last rests on an unlikely event."""
    if list(bounds)[-1:] == ["sharp_bound"]:
        return _LABELS | {"sharp_bound": "APE, if all intervals hold (sharp)"}
    return _LABELS


def _check(json: bool, quiet: bool) -> None:
    """Derivations by how they are proved; exit code 1 if one fails."""
    from paretoid.theory import symbolic

    note("deriving, which takes some ten seconds", quiet)
    verdicts = symbolic.rederive()
    failed = [verdict for verdict in verdicts if not verdict.holds]
    if json:
        say_json({"holds": not failed, "derivations": [asdict(verdict) for verdict in verdicts]})
    else:
        for how, worth in symbolic.HOW.items():
            mine = [verdict for verdict in verdicts if verdict.how == how]
            right = sum(verdict.holds for verdict in mine)
            say(wrap(f"{how}: {right} of {len(mine)} hold; {worth}."))
            for verdict in mine:
                word = "" if verdict.holds else "FAILS: "
                say(wrap(f"  {word}{verdict.statement} {verdict.source}", "    "))
            say()
        forms = counted(len(symbolic.FORMULAS), "closed form")
        say(wrap(f"{forms} as SymPy expressions: paretoid.theory.symbolic.FORMULAS."))
    if failed:
        raise typer.Exit(1)


def _rows(data: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """Long form: one row per arm and quantity, then one per bound."""
    time = data["characteristic_time"]
    tables = {
        "optimal": [int(inside) for inside in data["optimal"]],
        **{name: data[name].tolist() for name in ("gaps", "omega", "gaps_of_the_goal")},
        **({"weights": time["weights"].tolist()} if time else {}),
    }
    rows = [[name, arm, value] for name, column in tables.items()
            for arm, value in zip(data["arms"], column, strict=True)]  # fmt: skip
    if time:
        rows.append(["characteristic_time", "", time["time"]])
    rows += [[name, "", bound["samples"]] for name, bound in data["bounds"].items()]
    return ["quantity", "arm", "value"], rows


def _dataset(data: dict[str, Any]) -> xr.Dataset:
    import xarray as xr

    time = data["characteristic_time"]
    variables: dict[str, Any] = {
        name: ("arm", data[name]) for name in ("optimal", "gaps", "omega", "gaps_of_the_goal")
    }
    if time:
        variables["weights"] = ("arm", time["weights"])
        variables["characteristic_time"] = time["time"]
    for name, bound in data["bounds"].items():
        about = {"units": "samples", "holds": bound["holds"], "source": bound["source"]}
        variables[name] = ((), bound["samples"], about)
    attrs = {name: data[name] for name in ("goal", "delta", "radius", "guarantee", "outcomes")}
    return xr.Dataset(variables, {"arm": data["arms"]}, attrs)
