r"""How strongly runs speak against "wrong with probability at most delta", however often one looks.

After n runs with s errors the bet against an error rate of at most delta is worth

.. math:: E_n = \frac{1}{1-\delta} \int_\delta^1
    \Bigl(\frac q\delta\Bigr)^{s} \Bigl(\frac{1-q}{1-\delta}\Bigr)^{n-s} dq,

the likelihood ratio of error rate q against delta, averaged over q uniform on (delta, 1). For a
fixed q > delta each factor has mean at most 1 if the error rate is at most delta, so by Ville's
inequality a correct algorithm ever reaches 1/alpha with probability at most alpha, however long
one watches. Bounds for a number of runs that was fixed beforehand are in `paretoid.intervals`.
"""

from __future__ import annotations

import math

from paretoid.intervals import check_confidence
from paretoid.theory.checks import check_between, check_count, check_delta


def log_evidence(runs: int, errors: int, delta: float) -> float:
    r"""log E_n, the mixture bet against "error rate <= delta".

    Errors make it grow, right answers cost a little; at 1/alpha the bet is won.

    >>> round(math.exp(log_evidence(1, 1, 0.5)), 3)     # 2 * mean of q over (1/2, 1) = 1.5
    1.5
    """
    from scipy.special import betaincc, betaln

    runs = check_count(runs, name="runs", least=0, why="it is how many were made.")
    errors = check_count(errors, name="errors", least=0, most=runs, why="some of the runs.")
    delta = check_delta(delta)
    right = runs - errors
    tail = float(betaincc(errors + 1.0, right + 1.0, delta))
    if tail <= 0:  # far below delta: the bet is lost
        return -math.inf
    bet = float(betaln(errors + 1.0, right + 1.0)) + math.log(tail) - math.log1p(-delta)
    return bet - errors * math.log(delta) - right * math.log1p(-delta)


def sequential_upper_bound(runs: int, errors: int, confidence: float = 0.95) -> float:
    """The error rate is below this at all numbers of runs together, with `confidence`.

    The largest p whose mixture likelihood ratio against Beta(1/2, 1/2) is below 1/(1-confidence).

    >>> 0.05 < sequential_upper_bound(100, 0) < 0.06
    True
    """
    from scipy.special import betaln

    runs = check_count(runs, name="runs", least=0, why="it is how many were made.")
    errors = check_count(errors, name="errors", least=0, most=runs, why="some of the runs.")
    alpha = 1 - check_confidence(confidence)
    right = runs - errors
    if right == 0:
        return 1.0
    limit = float(betaln(errors + 0.5, right + 0.5) - betaln(0.5, 0.5)) - math.log(1 / alpha)

    def likelihood(p: float) -> float:
        return (errors * math.log(p) if errors else 0.0) + right * math.log1p(-p)

    low, high = errors / runs, 1 - 1e-15  # the likelihood falls from its top at `low`
    if likelihood(high) >= limit:
        return 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if middle > 0 and likelihood(middle) >= limit else (low, middle)
    return high


def would_notice(
    runs: int, delta: float, false_alarm: float = 1e-6, power: float = 0.9
) -> float | None:
    """The smallest error rate that so many runs find out with probability `power`; None: none.

    They find it out if the bet is won after the last of them: with s errors or more, where the
    evidence of s reaches 1/false_alarm. At delta = 0.1
    six wrong answers in six runs are worth 10^6/(7 * 0.9) = 158,730, too little, and seven in seven
    10^7/(8 * 0.9) = 1,388,889; all seven are wrong with probability p^7, 0.9 at p = 0.985.

    >>> would_notice(6, 0.1) is None, round(would_notice(7, 0.1), 3)
    (True, 0.985)
    """
    from scipy.special import betaincinv

    limit = -math.log(check_between(false_alarm, 0, 1, name="false_alarm", why="it is a chance."))
    power = check_between(power, 0, 1, name="power", why="it is a chance.")
    if log_evidence(runs, runs, delta) < limit:
        return None
    low, high = -1, runs  # the evidence grows with the errors
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if log_evidence(runs, middle, delta) >= limit else (middle, high)
    return float(betaincinv(high, runs - high + 1, power))
