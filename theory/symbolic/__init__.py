r"""Closed forms as SymPy expressions, and the derivations behind them.

>>> from paretoid.theory import symbolic
>>> formula = symbolic.FORMULAS["mixture_v"]
>>> formula.expression
(n + rho)/n**2
>>> formula.latex
'\\frac{n + \\rho}{n^{2}}'
>>> float(formula.numeric()(10.0, 30.0))
0.4

Every formula agrees with the numerical function that it stands for, and says where it is from.
`rederive` carries out the derivations on this machine and says how each is proved: symbolically,
by interval arithmetic, or, weaker, on a grid of numbers. Gaps have no entry: they are minima and
maxima over arms, no closed forms. SymPy loads when this module does, not with `paretoid.theory`.
"""

from paretoid.theory.symbolic.derivation import HOW, Derivation, Verdict
from paretoid.theory.symbolic.derivations import DERIVATIONS
from paretoid.theory.symbolic.formulas import FORMULAS, Formula


def rederive() -> list[Verdict]:
    """Every derivation, carried out now, in the order of `DERIVATIONS`.

    >>> first = next(iter(DERIVATIONS.values())).check()
    >>> first.name, first.how, first.holds
    ('pairs_spend_delta', 'symbolic', True)
    """
    return [derivation.check() for derivation in DERIVATIONS.values()]


__all__ = ["DERIVATIONS", "Derivation", "FORMULAS", "Formula", "HOW", "Verdict", "rederive"]
