"""Methods of a campaign in sentences, and what it takes to repeat it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paretoid.registry import calls
from paretoid.report import methods
from paretoid.report.page import Block, TextBlock, settings, versions_table

if TYPE_CHECKING:
    from paretoid.report.stored import StoredCampaign

#: a script prints so many means; it reads more than that from the store
_PRINTED = 400

_OUTCOMES = {
    "GaussianBandit": "Gaussian with the scales stated as standard deviations",
    "BernoulliBandit": "0 or 1, with the stated means as probabilities (sub-Gaussian, scale 1/2)",
    "ResampledBandit": "drawn with replacement from the data given for each arm",
}


def campaign_methods(stored: StoredCampaign) -> list[str]:
    """Model, rule, radii with their guarantees, goals, runs and intervals."""
    about = stored.about
    kinds = sorted({case["kind"] for case in stored.cases})
    outcomes = "; ".join(f"{_OUTCOMES.get(kind, kind)}" for kind in kinds)
    joint = any("covariance" in case for case in stored.cases)
    words = [
        f"Model: outcomes were {outcomes}, independent from sample to sample"
        + (", correlated between objectives. " if joint else ". ")
        + methods.PARETO
    ]
    rule = str(about["rule"])
    words.append(methods.APE if rule.startswith("APE") else f"Sampling rule: {rule}.")
    for text, radius, guarantee in zip(
        about["radii"], stored.radii, about["guarantees"], strict=True
    ):
        promises = [methods.guarantee(radius, guarantee == "proved", d) for d in about["deltas"]]
        said = promises[0]
        if len(promises) > 1 and guarantee == "proved":
            levels = ", ".join(f"{d:g}" for d in about["deltas"])
            said = said.replace(f"delta = {about['deltas'][0]:g}", f"delta ({levels})")
        words.append(f"{methods.intervals_of(radius, text)} {said}")
    asked = "; ".join(
        f"{label}: {goal.words()}"
        for label, goal in zip(methods.labels(stored.goals), stored.goals, strict=True)
    )
    words.append(f"Goals. {asked[:1].upper()}{asked[1:]}.")
    limit = about["max_samples"]
    budget = (
        "Runs had no budget and all ended by their stopping rule."
        if limit is None
        else f"A run that reached {limit:,} samples without an answer was stopped and counted as "
        f"censored, never as wrong."
    )
    key = "(r,)" if about["single"] else "(i, r)"
    words.append(
        f"Runs: {stored.runs.sizes['replication']:,} replications of every setting. Replication r "
        f"{'' if about['single'] else 'of instance i '}drew from NumPy's SeedSequence("
        f"{about['seed']}, spawn_key={key}), the same for every radius, delta and goal, so "
        f"comparisons between these are paired. {budget}"
    )
    words.append(methods.INTERVALS)
    return words


def repeat(stored: StoredCampaign, command: str) -> list[Block]:
    """What it takes to run the campaign again: commands, settings and versions."""
    about = stored.about
    blocks: list[Block] = []
    if command:
        blocks += [TextBlock("This report:"), TextBlock(command, "code")]
    bandits = "bandit" if about["single"] else "bandits"
    script = f"""import paretoid as pt

runs = pt.open_campaign({str(stored.directory)!r})    # all runs, read when needed

# The same numbers again:
{_bandits(stored)}
campaign = pt.Campaign(
    {bandits},
    [{calls("; ".join(about["goals"]))}],
    rule={calls(about["rule"])},
    radii=[{calls("; ".join(about["radii"]))}],
    deltas={about["deltas"]!r},
    replications={stored.runs.sizes["replication"]}, seed={about["seed"]},
    max_samples={about["max_samples"]!r},
)
campaign.run("another directory")"""
    blocks += [TextBlock("In Python:"), TextBlock(script, "code")]
    blocks.append(settings("Settings", [
        ("seed", about["seed"]), ("rule", about["rule"]),
        ("radii", "; ".join(f"{r}: {g}" for r, g in zip(
            about["radii"], about["guarantees"], strict=True))),
        ("deltas", ", ".join(f"{d:g}" for d in about["deltas"])),
        ("goals", "; ".join(about["labels"])),
        ("replications", f"{stored.runs.sizes['replication']:,}"),
        ("budget of a run", "none" if about["max_samples"] is None
         else f"{about['max_samples']:,} samples"),
    ]))  # fmt: skip
    if stored.versions:
        told = [(str(name), value) for name, value in stored.versions.items()]
        blocks.append(settings("Versions that ran the simulations", told))
    blocks.append(versions_table())
    return blocks


def _bandits(stored: StoredCampaign) -> str:
    """Python that makes what the campaign was about, as far as the store holds it."""
    about, cases = stored.about, stored.cases
    known = all(case["kind"] in ("GaussianBandit", "BernoulliBandit") for case in cases)
    small = sum(case["means"].size for case in cases) <= _PRINTED
    if not known or not (small or not any("covariance" in case for case in cases)):
        kinds = ", ".join(sorted({case["kind"] for case in cases}))
        name = "bandit" if about["single"] else "bandits"
        return (
            f"{name} = ...    # {kinds}: the store does not hold all that its outcomes were drawn\n"
            f"# from, or it is too much to print; put in your own, or one of the same data"
        )
    names = (
        f"names = dict(\n    arms={about['arms']!r},\n    objectives={about['objectives']!r},\n"
        f"    minimize={about['minimize']!r},\n)\n"
    )
    made = [_bandit(stored, i, small) for i in range(len(cases))]
    if about["single"]:
        return f"{names}bandit = {made[0]}"
    rows = "".join(f"    {stored.labels[i]!r}: {bandit},\n" for i, bandit in enumerate(made))
    return f"{names}bandits = {{\n{rows}}}"


def _bandit(stored: StoredCampaign, i: int, small: bool) -> str:
    """One instance: its numbers, or where they stand in the store."""
    case = stored.cases[i]
    place = "" if stored.about["single"] else f"[{i}]"
    means = case["means"].tolist() if small else f"runs.means.values{place}"
    if case["kind"] == "BernoulliBandit":
        return f"pt.BernoulliBandit({means}, **names)"
    if "covariance" in case:
        return f"pt.GaussianBandit({means}, covariance={case['covariance']}, **names)"
    scale = case["scale"].tolist() if small else f"runs.scale.values{place}"
    if (case["scale"] == case["scale"].flat[0]).all():
        scale = case["scale"].flat[0].item()
    return f"pt.GaussianBandit({means}, {scale}, **names)"
