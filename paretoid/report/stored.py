"""A stored campaign opened for a report: its runs summarised, its texts read back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoid.bounds import Problem
from paretoid.goals import Goal
from paretoid.registry import goal_of, radius_of
from paretoid.report import methods
from paretoid.report.limits import limits
from paretoid.runs.files import read_manifest
from paretoid.runs.reading import open_campaign
from paretoid.runs.store import canonical
from paretoid.summaries import Summary, summaries
from paretoid.theory.bound import Bound
from paretoid.theory.checks import FloatArray
from paretoid.theory.radii import Radius

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class StoredCampaign:
    """A campaign opened for a report, with the objects that its texts name.

    runs    lazy, with all of instance, radius, delta, goal, replication
    about   what its manifest says of it
    cases   its instances, means and scale as arrays
    settings    the summary of every instance, radius, delta and goal, with its bounds
    """

    directory: Path
    runs: xr.Dataset
    about: dict[str, Any]
    versions: dict[str, Any]
    goals: list[Goal]
    radii: list[Radius | None]
    cases: list[dict[str, Any]]
    sign: FloatArray
    settings: list[tuple[Summary, dict[str, Bound]]]

    def oriented(self, i: int) -> FloatArray:
        """(K, D) means of an instance, larger is better."""
        return np.asarray(self.cases[i]["means"] * self.sign)

    def radius(self, q: int) -> str:
        """The radius at position q, in few words."""
        return methods.radius_label(self.radii[q], self.about["radii"][q])

    @property
    def labels(self) -> list[str]:
        """The names of the instances."""
        return [str(case["label"]) for case in self.cases]


def read_store(directory: str | Path) -> StoredCampaign:
    """Open a finished campaign and summarise its runs; refuses what is none, in a sentence.

    >>> import tempfile
    >>> from paretoid import BernoulliBandit, Campaign
    >>> campaign = Campaign(BernoulliBandit([[0.9, 0.2], [0.1, 0.8]]), replications=3, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = campaign.run(folder)
    ...     stored = read_store(folder)
    ...     stored.about["seed"], stored.runs.sizes["replication"]
    (1, 3)
    """
    manifest = read_manifest(Path(directory))
    runs = open_campaign(directory)
    if "instance" not in runs.dims:
        runs = runs.expand_dims("instance")
    about = {**manifest["campaign"], **canonical(manifest["campaign"])}
    goals = [goal_of(text) for text in about["goals"]]
    if None in goals:
        raise ValueError(
            f"{directory} asks for {', '.join(about['goals'])}, and not all of these are goals "
            f"that this version of paretoid knows."
        )
    known = [goal for goal in goals if goal is not None]
    radii = [radius_of(text) for text in about["radii"]]
    sign = np.where([name in about["minimize"] for name in about["objectives"]], -1.0, 1.0)
    cases = [
        {**case, "means": np.array(case["means"]), "scale": np.array(case["scale"])}
        for case in about["instances"]
    ]
    problems = [_problem(case, sign) for case in cases]
    settings = []
    for summary in summaries(runs):
        i, q, d, g = summary.at
        bounds = limits(problems, i, known[g], about["deltas"][d], radii[q], about["rule"])
        settings.append((summary, bounds))
    versions = manifest.get("versions", {})
    return StoredCampaign(
        Path(directory), runs, about, versions, known, radii, cases, sign, settings
    )


def _problem(case: dict[str, Any], sign: FloatArray) -> Problem:
    laws = {"GaussianBandit": "gaussian", "BernoulliBandit": "bernoulli"}
    outcomes = "" if "covariance" in case else laws.get(case["kind"], "")
    return Problem(case["means"] * sign, case["scale"], case["scale"], outcomes)


def as_dict(stored: StoredCampaign) -> dict[str, Any]:
    """The numbers of the report for machines."""
    about = stored.about
    rows = []
    for summary, bounds in stored.settings:
        i, q, d, g = summary.at
        rows.append({
            "instance": stored.labels[i], "radius": about["radii"][q],
            "guarantee": about["guarantees"][q], "delta": about["deltas"][d],
            "goal": about["labels"][g], "runs": summary.runs, "censored": summary.censored,
            "wrong": summary.wrong, "mean_samples": summary.mean, "median_samples": summary.median,
            "error_rate": summary.error, "sharp_bound": bounds.get("sharp_bound"),
            "theorem_1": bounds.get("theorem_1"), "mean_bound": bounds.get("expected_lucb1"),
            "least_mean": bounds.get("characteristic"),
            "returned": dict(zip(about["arms"], summary.returned.tolist(), strict=True)),
            "mean_pulls": dict(zip(about["arms"], summary.pulls.tolist(), strict=True)),
        })  # fmt: skip
    return {"seed": about["seed"], "rule": about["rule"], "max_samples": about["max_samples"],
            "paretoid": about["paretoid"], "settings": rows}  # fmt: skip
