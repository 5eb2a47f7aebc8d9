"""Arms that are settled against participants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paretoid.labels import inside_of, label_of
from paretoid.plots import style
from paretoid.runs.settling import mean_settled
from paretoid.theory.checks import check_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def settled(known: Any, goal: int = 0, *, ax: Axes | None = None) -> Axes:
    """How many arms are surely in, surely out and undecided at each N, on average.

    known   of `settled_by`, a plan, or of `estimation.settled_in_plan` for sizes of one's own
    goal    position of the goal to draw

    The bands add up to all arms. Runs whose goal is answered count with what they knew then, so a
    goal that asks for few arms leaves the others undecided for good. The dotted line is the share
    of runs with an answer.

    >>> import paretoid as pt
    >>> bandit = pt.GaussianBandit([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0]])
    >>> axes = settled(pt.settled_by(bandit, [30, 60, 120], replications=10, seed=1))
    >>> axes.get_ylabel(), axes.get_ylim()[1]
    ('arms, mean', np.float64(3.0))
    """
    import xarray as xr
    from matplotlib.ticker import MaxNLocator

    names = set(known.variables) if isinstance(known, xr.Dataset) else set()
    if not {"budget", "settled"} <= names:
        raise ValueError(
            f"{type(known).__name__} does not say what is settled at each N: pass what settled_by, "
            f"plan or estimation.settled_in_plan returns. Runs of simulate say it of their end "
            f"alone, and so does a plan whose trials no compiled loop runs."
        )
    goals = [str(name) for name in known.goal.values]
    goal = check_count(goal, name="goal", least=0, most=len(goals) - 1, why="it is a position.")
    one = mean_settled(known).isel(goal=goal)
    optimal, dominated, undecided = one.arms_settled.transpose("verdict", "budget").values
    N, answered = one.budget.values, one.answered.values
    K: Any = round(float((optimal + dominated + undecided)[0]))
    axes = style.one_axes(ax, 6.5, 4.0)
    inside, sure = inside_of(goals[goal], known.attrs)
    bands = (
        (0 * optimal, optimal, style.DARK, "", f"{sure} {inside}"),
        (optimal, optimal + dominated, style.LIGHT, "//", f"{sure} out"),
        (optimal + dominated, 0 * optimal + K, "0.93", "", "undecided"),
    )
    for low, high, color, hatch, label in bands:
        axes.fill_between(
            N, low, high, facecolor=color, edgecolor="white", hatch=hatch, lw=0, label=label
        )  # fmt: skip
    axes.plot(N, K * answered, color="black", ls=":", lw=1.8, label="share of runs with an answer")
    axes.set_xlim(N[0], N[-1] if len(N) > 1 else N[0] + 1)
    axes.set_ylim(0, K)
    axes.set_xlabel("participants N")
    axes.set_ylabel("arms, mean")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    share = axes.secondary_yaxis("right", functions=(lambda arms: arms / K, lambda part: part * K))
    share.set_ylabel("share of arms, of runs")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    style.legend(axes)
    title = style.wrap(label_of(goals[goal], known.attrs), 70)
    axes.set_title(title, loc="right", fontsize="small", y=-0.24)
    return axes
