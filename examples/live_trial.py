# %% [markdown]
# # A live trial: two sites, late results, patients who leave
#
# A booster trial, simulated; T-cell results come weeks after the antibodies. Two sites share one
# ledger. Each morning a site asks for as many arms as patients have come; blood is drawn, IgG is
# back after two weeks, T cells after four to eight, and some patients leave. The plot at the end
# shows how the intervals on the differences between boosters close, each endpoint at its pace.
#
# On the command line the same is `paretoid trial new`, `next`, `record`, `status`, `verify`.

# %%
from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

import paretoid as pt
from paretoid.explorer import Status

# The truth, which the trial does not know: log IgG and log T-cell responses of five boosters.
# m1273 is best for antibodies, ChAd for T cells; the other three are dominated.
BOOSTERS = {
    "m1273": (10.4, 4.0),
    "ChAd": (8.8, 5.6),
    "NVX": (9.2, 2.8),
    "VLA": (7.4, 3.9),
    "placebo": (7.2, 2.5),
}
OBJECTIVES = ["IgG", "T cell"]
SPREAD = np.array([0.84, 1.24])  # standard deviations, as in COV-BOOST
GOALS = [pt.AtMost(k=1), pt.ParetoSet()]

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
PATIENTS = {"north": 3, "south": 2}  # a day
LEAVING = 0.03


# %% [markdown]
# A calendar stands in for the clock, so that the log carries the days of the simulated trial.


# %%
class Calendar:
    """The day it is; every event in the ledger carries it."""

    def __init__(self) -> None:
        self.day = 0

    def __call__(self) -> datetime:
        return START + timedelta(days=self.day)


# %% [markdown]
# **The trial.** `ask` allocates, `tell` records; whatever is told is in the ledger before `tell`
# returns. Outcomes may come late, in parts and in any order.


# %%
def run(folder: Path, seed: int = 1) -> tuple[list[tuple[int, Status]], pt.Explorer]:
    """The trial from its first patient to the answer: (day, status) of every week."""
    rng = np.random.default_rng(seed)
    calendar = Calendar()
    # Nobody knows the variances, so no scale is given and the default radius is UnknownScale:
    # proved for Gaussian outcomes, each arm and endpoint with a variance of its own.
    first = pt.Explorer(
        list(BOOSTERS), OBJECTIVES, GOALS, delta=0.1, seed=seed,
        ledger=folder / "trial.db", author="north", clock=calendar,
    )  # fmt: skip
    sites = {
        "north": first,
        "south": pt.Explorer.open(folder / "trial.db", author="south", clock=calendar),
    }
    post: dict[int, list[tuple[str, int, str, float]]] = defaultdict(list)  # results by day
    weeks = []
    while any(answer is None for answer in first.answers.values()):
        # Results of the day, in whatever order the laboratory sends them. An outcome is used as
        # soon as those of all earlier allocations are in, endpoint by endpoint: intervals on
        # whatever happens to have arrived would favour what the laboratory returns quickly.
        for site, id, objective, value in post.pop(calendar.day, []):
            sites[site].tell(id, {objective: value})
        # New patients. A batch is spread over the boosters still in question, counting those
        # whose results are on their way.
        for site, explorer in sites.items():
            if all(answer is not None for answer in explorer.answers.values()):
                break
            for allocation in explorer.ask(PATIENTS[site]):
                if rng.random() < LEAVING:
                    # Moved away before any blood was drawn. Missing for reasons that have nothing
                    # to do with any outcome of the patient, so the trial goes on without it. One
                    # who left because of the booster would be another matter.
                    explorer.tell(allocation, "missing")
                    continue
                values = BOOSTERS[allocation.arm] + SPREAD * rng.normal(size=2)
                late = (14, int(rng.integers(28, 57)))
                for objective, value, days in zip(OBJECTIVES, values, late, strict=True):
                    result = (site, int(allocation.id), objective, float(value))
                    post[calendar.day + days].append(result)
        if calendar.day % 7 == 0:
            weeks.append((calendar.day, first.status()))
        calendar.day += 1
    weeks.append((calendar.day, first.status()))
    sites["south"].close()
    return weeks, first


# %% [markdown]
# **The picture.** An interval that no longer crosses 0 settles one comparison.


# %%
def plot(weeks: list[tuple[int, Status]], path: Path, best: str = "m1273") -> None:
    """The intervals on `best` minus each other booster, week by week; lines are the truth."""
    truth = np.array(list(BOOSTERS.values()))
    axes = pt.plots.intervals(weeks, best, truth=truth, time="day")
    axes.flat[0].get_figure().savefig(path, dpi=110)


# %% [markdown]
# **The report.** Answers, what they rest on, and the hash under which the log can be checked.


# %%
def main(arguments: Sequence[str] = ()) -> None:
    with tempfile.TemporaryDirectory() as folder:
        weeks, explorer = run(Path(folder))
        with explorer:
            day, status = weeks[-1]
            print(f"day {day}")
            print(status)
            # The head hash goes into the report: whoever holds it can check the log years later.
            print(f"log verified up to {explorer.verify(head=status.head)[:16]}...")
        path = Path(arguments[0]) if arguments else Path(tempfile.mkdtemp()) / "intervals.png"
        plot(weeks, path)
        print(f"plot in {path}")


if __name__ == "__main__":
    main()
