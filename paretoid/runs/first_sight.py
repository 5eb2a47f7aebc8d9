"""A small first campaign is over before the engine would be compiled: the readable loop runs it."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from paretoid.engine.cache import is_compiled

if TYPE_CHECKING:
    from paretoid.runs.campaign import Campaign

#: seconds of the readable loop by the bound, some four times the truth; compiling takes longer
_SOON = 4.0


def soonest(campaign: Campaign) -> Campaign:
    """The campaign; or the same in the readable loop if kernels would have to be compiled for it.

    Both loops give the same results, bit for bit, so only the waiting depends on it. Trials on a
    calendar are left to the kernels. Nothing is compiled behind the scenes: a process that
    outlives the command would surprise, and one that does not would not be done in time.

    >>> import paretoid as pt
    >>> hard = pt.Campaign(pt.load_instance("covboost"), replications=100)
    >>> soonest(hard) is hard
    True
    """
    if campaign.conduct is not None or not campaign.compiled:
        return campaign
    readable = copy(campaign)
    readable.readable = True
    for name in ("compiled", "seconds"):
        vars(readable).pop(name, None)  # was cached
    small = float(readable.seconds.sum()) * campaign.replications <= _SOON
    return readable if small and not is_compiled(campaign._compile) else campaign
