"""What the numbers of a trial stand for: units of endpoints, and which of them are logarithms.

The engine sees a log-normal endpoint as natural logarithms, in which a difference is a ratio of
geometric means. People read ratios and their own units, so whatever says a margin, a limit, a mean
or a difference of means to them asks here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from paretoid.text import interval, joined, margin, meant, measure
from paretoid.theory.checks import WrongTypeError, shown

if TYPE_CHECKING:
    from paretoid.theory.limits import Limit


@dataclass(frozen=True)
class Units:
    """The endpoints of a trial: their names, their units, and those recorded as logarithms.

    >>> units = Units(("IgG", "pain"), logs=("IgG",), units={"IgG": "ELU/ml", "pain": "mm"})
    >>> units.margin(math.log(1.5)), units.margin((math.log(1.5), 2.0)), units.margin((0.0, 0.0))
    ('1.5-fold in IgG and 0.4055 mm in pain', '1.5-fold in IgG and 2 mm in pain', '0')
    >>> units.value("IgG", math.log(20_000)), units.value("pain", 12.5)
    ('20,000 ELU/ml', '12.5 mm')
    >>> units.difference("IgG", math.log(1.5), math.log(2)), units.difference("pain", -1.0, 2.5)
    ('1.5 to 2-fold', '-1 to 2.5 mm')
    >>> units.difference("IgG", -math.inf, math.inf), units.spread("IgG", 0.5)
    ('-', 'sd of logs 0.5')

    Nothing is known of the endpoints of most bandits, and then numbers are only numbers:

    >>> Units().margin((0.5, 0.5)), Units().value("x", 0.25)
    ('0.5', '0.25')
    """

    endpoints: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def checked(cls, endpoints: Iterable[str], logs: Any, units: Any) -> Units:
        """What somebody says of these endpoints; names of others are refused.

        >>> Units.checked(["IgG"], ["Igg"], {})
        Traceback (most recent call last):
            ...
        ValueError: logs names 'Igg', which is no objective; did you mean 'IgG'? There are: IgG.
        """
        names = tuple(endpoints)
        listed = [logs] if isinstance(logs, str) else logs
        if isinstance(listed, Mapping) or not isinstance(listed, Iterable):
            raise WrongTypeError(
                f"logs={shown(logs)} must be a list of the objectives whose outcomes are recorded "
                f"as natural logarithms."
            )
        if not isinstance(units, Mapping) or not all(isinstance(u, str) for u in units.values()):
            raise WrongTypeError(
                f"units={shown(units)} must be a table from objectives to the names of their units."
            )
        for what, told in (("logs", tuple(listed)), ("units", tuple(units))):
            for name in told:
                if name not in names:
                    raise ValueError(
                        f"{what} names {shown(name)}, which is no objective{meant(name, names)} "
                        f"There are: {', '.join(names)}."
                    )
        inside = frozenset(listed)
        return cls(names, tuple(name for name in names if name in inside), dict(units))

    def to_dict(self) -> dict[str, Any]:
        """Plain data of what is known beyond the names, without what is empty.

        >>> Units(("x", "y"), units={"x": "mm", "y": ""}).to_dict()
        {'units': {'x': 'mm'}}
        """
        units = {name: unit for name, unit in self.units.items() if unit}
        return {key: value for key, value in (("logs", list(self.logs)), ("units", units)) if value}

    @classmethod
    def of(cls, attributes: Mapping[Any, Any]) -> Units | None:
        """Those that a plan wrote into its attributes; None: there are none.

        >>> made = Units(("IgG",), ("IgG",), {"IgG": "ELU/ml"})
        >>> Units.of({"units": made.to_json()}) == made, Units.of({})
        (True, None)
        """
        if "units" not in attributes:
            return None
        told = json.loads(attributes["units"])
        return cls(tuple(told["endpoints"]), tuple(told["logs"]), told["units"])

    def to_json(self) -> str:
        """As text, for the attributes of a Dataset."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def margin(self, eps: Any, among: Iterable[str] | None = None) -> str:
        """A slack, as a ratio where outcomes are logarithms; by endpoint where it differs.

        among   the endpoints that are compared; default: all

        >>> Units(("IgG", "pain"), logs=("IgG",)).margin((math.log(1.5), 2.0), among=["IgG"])
        '1.5-fold'
        """
        values = list(eps) if isinstance(eps, Iterable) else [eps] * max(len(self.endpoints), 1)
        if not any(values) or not self.endpoints:
            return margin(eps) if any(values) else "0"
        by_name = dict(zip(self.endpoints, values, strict=True))
        slacks = {name: self._slack(name, by_name[name]) for name in among or self.endpoints}
        if len({*slacks.values()}) == 1:
            return next(iter(slacks.values()))
        if len({by_name[name] for name in slacks}) == 1 and not self.logs:
            return margin(values[0])
        return joined(f"{slack} in {name}" for name, slack in slacks.items())

    def _slack(self, name: str, eps: float) -> str:
        if not eps:
            return "0"
        return self._fold(_exp(eps)) if name in self.logs else self._with_unit(name, eps)

    def value(self, name: str, mean: float) -> str:
        """A mean or a limit of an endpoint: a geometric mean where outcomes are logarithms."""
        return self._with_unit(name, _exp(mean) if name in self.logs else mean)

    def limit(self, name: str, limit: Limit) -> str:
        """A limit of an endpoint, in its own unit.

        >>> from paretoid import at_least
        >>> Units(("IgG",), ("IgG",)).limit("IgG", at_least(math.log(500)))
        'at least 500'
        """
        return limit.words(self.value(name, limit.value), self._slack(name, limit.slack))

    def difference(self, name: str, low: float, high: float, digits: int = 4) -> str:
        """An interval of a difference of means: of a ratio where outcomes are logarithms.

        A ratio that nothing bounds from below lies above 0:

        >>> Units(("IgG",), logs=("IgG",)).difference("IgG", -math.inf, math.log(2))
        '0 to 2-fold'
        """
        if not (math.isfinite(low) or math.isfinite(high)):
            return interval(low, high)
        unit = self.units.get(name, "")
        if name in self.logs:
            unit = "-fold"
            low, high = _exp(low), _exp(high)
        between = interval(low, high, partial(measure, digits=digits))
        return f"{between} {unit}".rstrip().replace(" -fold", "-fold")

    def spread(self, name: str, sd: float) -> str:
        """The standard deviation of one outcome, beside a mean, whose unit it has."""
        return f"{'sd of logs' if name in self.logs else 'sd'} {measure(sd, 3)}"

    def _fold(self, ratio: float) -> str:
        return f"{measure(ratio)}-fold"

    def _with_unit(self, name: str, value: float) -> str:
        unit = self.units.get(name, "")
        return measure(value) + (f" {unit}" if unit else "")


def _exp(value: float) -> float:
    """Infinite where the number is too large for a float, as bounds of few outcomes may be."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


#: of endpoints of which nothing is known
PLAIN = Units()
