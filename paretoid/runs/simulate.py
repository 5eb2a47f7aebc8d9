"""Many replications of one configuration, or of a sequence of bandits, as an xarray Dataset."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from paretoid.bandits import Bandit
from paretoid.conduct import Conduct
from paretoid.goals import Goal
from paretoid.registry import text
from paretoid.rules import Rule
from paretoid.theory.radii import Radius

if TYPE_CHECKING:
    import xarray as xr


def simulate(
    bandit: Bandit | Sequence[Bandit],
    goals: Goal | Sequence[Goal] | None = None,
    *,
    rule: Rule | None = None,
    radius: Radius | None = None,
    delta: float = 0.1,
    replications: int = 1,
    seed: int = 0,
    max_samples: int | None = None,
    conduct: Conduct | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> xr.Dataset:
    """Run `rule` on `bandit` until each goal's stopping rule holds, `replications` times.

    Goals with the same eps1 are read off one stream of samples, others get a stream of their
    own with the same seed. `bandit` may be a sequence of bandits of one shape, names and
    direction; then results gain a leading dimension `instance`.

    Replication r draws from `SeedSequence(seed, spawn_key=(r,))`, of instance i from
    `spawn_key=(i, r)`: the same whatever the executor, the number of workers and the order.
    `executor` is any `concurrent.futures.Executor`; by default one thread per core.

    Returns a Dataset with dims goal, replication, arm (and instance):
    stopping_time, stopped (False: `max_samples` ran out, so the time is a lower bound, the
    answer is empty and `correct` is False; count those apart, they are no errors), answer,
    correct, pulls; and settled, what is certain of each arm at the end, answered or not: 1 for arms
    surely optimal up to eps1, -1 for arms surely out (dominated, or beyond a limit of the goal), 0
    for undecided ones. Once certified at a test it stays, and all of it is right together with
    probability 1 - delta; 0 everywhere, and said in its attributes, for rules without intervals on
    pairs of arms. Attributes name what it takes to repeat it, and the `guarantee`.

    With a `conduct`, a replication is a trial on a calendar: participants are enrolled at a rate,
    outcomes come late or not at all, goals are tested at looks. stopping_time and pulls count
    enrolled participants; two more variables are analysed, participants with an outcome in every
    endpoint at that look, and duration, its day (NaN without a rate). Outcomes are drawn as
    without a conduct, participant by participant.

    Without `max_samples`, a problem that this goal can never settle, or only with more than 1e11
    samples, is refused. For several radii or deltas, and for results that survive a crash, see
    `Campaign`.

    >>> from paretoid import BernoulliBandit
    >>> bandit = BernoulliBandit([[0.9, 0.2], [0.1, 0.8], [0.05, 0.1]])
    >>> runs = simulate(bandit, replications=2, seed=1)
    >>> runs.answer.isel(goal=0, replication=0).values
    array([ True,  True, False])
    >>> runs.settled.isel(goal=0, replication=0).values
    array([ 1,  1, -1], dtype=int8)
    >>> runs.attrs["guarantee"]
    'proved'
    >>> from paretoid import Conduct
    >>> late = Conduct(rate=5.0, delay=28.0, look=50)
    >>> runs = simulate(bandit, replications=2, seed=1, conduct=late, max_samples=4000)
    >>> (runs.stopping_time % 50).values.tolist(), bool((runs.analysed < runs.stopping_time).all())
    ([[0, 0]], True)
    """
    from paretoid.runs.campaign import Campaign
    from paretoid.runs.results import Memory

    campaign = Campaign(
        bandit, goals, rule=rule, radii=None if radius is None else [radius], deltas=[delta],
        replications=replications, seed=seed, max_samples=max_samples, conduct=conduct,
    )  # fmt: skip
    memory = Memory(campaign)
    campaign.fill(memory, executor, progress, patient=False)
    runs = memory.dataset(without=("radius", "delta", "objective"))
    (radius,), (delta,), (guarantee,) = campaign.radii, campaign.deltas, campaign.guarantees
    runs.attrs.update(delta=delta, radius=text(radius), guarantee=guarantee)
    return runs
