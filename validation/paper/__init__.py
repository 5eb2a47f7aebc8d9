"""The paper's experiments, repeated: raw results, a table with intervals and verdicts, a picture.

>>> from paretoid.validation.paper import EXPERIMENTS
>>> sorted(EXPERIMENTS)[:3]
['best-arm', 'covboost', 'cover-fixed']

What agrees, what differs and why: validation/paper/README.md.
"""

from paretoid.validation.paper.reproduction import EXPERIMENTS, Reproduction, reproduce

__all__ = ["EXPERIMENTS", "Reproduction", "reproduce"]
