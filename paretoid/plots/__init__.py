"""Pictures, with Matplotlib, which loads when the first one is drawn.

Every function takes `ax=` (`axes=` where there are several panels) or makes a figure of its own,
and returns the Axes; nothing is shown and pyplot keeps no figure open. Save with
`axes.get_figure().savefig("front.svg")`. All of them read without colour: lightness, markers and
dashes tell things apart.

>>> import paretoid as pt
>>> axes = front(pt.load_instance("covboost"), ("IgG", "T cell"))
>>> axes.get_xlabel(), len(axes.texts) >= 20
('IgG', True)
"""

from paretoid.plots.allocation import pulls
from paretoid.plots.assurance import assurance
from paretoid.plots.cones import cones
from paretoid.plots.coordinates import parallel
from paretoid.plots.covers import samples_against_eps2
from paretoid.plots.fits import forest, projections
from paretoid.plots.operating import operating
from paretoid.plots.over_time import intervals
from paretoid.plots.pareto_front import front
from paretoid.plots.probability import pareto_probability
from paretoid.plots.recruitment import recruitment
from paretoid.plots.settled import settled
from paretoid.plots.stopping import stopping_times

__all__ = [
    "assurance", "cones", "forest", "front", "intervals", "operating", "parallel",
    "pareto_probability", "projections", "pulls", "recruitment", "samples_against_eps2",
    "settled", "stopping_times",
]  # fmt: skip
