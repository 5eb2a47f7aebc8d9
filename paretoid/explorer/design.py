"""What is fixed before the first outcome: arms, objectives, goals, delta, radius, rule, conduct."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paretoid.arithmetic import CENTRED
from paretoid.bandits import Bandit, GaussianBandit, MixedBandit
from paretoid.bandits.kinds import Kind, as_kinds, is_gaussian, plain_kinds, ranges
from paretoid.conduct import Conduct
from paretoid.directions import IN_TOML, check_directions, directions
from paretoid.engine.build import check_radius
from paretoid.engine.rates import is_binary, refuse_other_outcomes
from paretoid.explorer.cone import Measured
from paretoid.goals import Cover, Goal, ParetoSet
from paretoid.goals.base import with_union
from paretoid.parts import as_goals, check_limits, default_mixture, guarantee_of
from paretoid.randomisation import Randomisation
from paretoid.registry import from_dict, is_ours, to_dict
from paretoid.rules import APE, BestArmRule, Rule
from paretoid.text import meant
from paretoid.theory.checks import (
    BoolArray,
    WrongTypeError,
    as_epsilon,
    check_choice,
    check_count,
    check_delta,
    is_listed,
    shown,
)
from paretoid.theory.limits import Limit, limit_levels
from paretoid.theory.radii import BetaBinomial, MixedScale, Radius, UnknownScale
from paretoid.theory.units import as_scale
from paretoid.units import PLAIN, Units

#: of a file of allocations, before those of the objectives
COLUMNS = ("id", "arm", "how")

OUTCOMES = ("gaussian", "bounded", "binary")
_KEYS = (
    "arms", "objectives", "minimize", "goals", "delta", "outcomes", "scale", "radius", "rule",
    "seed", "cone", "informed_by", "arithmetic", "conduct", "max_samples",
    "randomise", "logs", "units",
)  # fmt: skip


class Design:
    """The design of a trial, checked; see `Explorer` for the arguments.

    conduct, max_samples   how the trial is meant to run, as it was simulated: looks, burn-in,
                           recruitment, delays, losses, participants. No proof rests on them
    logs, units            objectives recorded as natural logarithms, and units by objective, in
                           which people are told margins and means. No proof rests on them

    >>> design = Design(["A", "B"], ["response", "harm"], delta=0.1, minimize=["harm"])
    >>> design.radius
    UnknownScale(rho=30.0, w=0.1, a=3.0, union='claims', sides='one')
    >>> design.same_as(Design.from_dict(design.to_dict()))
    True
    >>> design.same_as(Design(["A", "B"], ["response", "harm"], delta=0.1))
    False
    >>> kinds = {"response": "gaussian", "harm": "binary"}
    >>> Design(["A", "B"], ["response", "harm"], minimize=["harm"], outcomes=kinds).radius.scales
    ('unknown', 'known')
    """

    def __init__(
        self,
        arms: Sequence[str],
        objectives: Sequence[str],
        goal: Goal | Sequence[Goal] | None = None,
        delta: float = 0.1,
        *,
        scale: Any = None,
        radius: Radius | None = None,
        minimize: Iterable[str] = (),
        outcomes: str | Mapping[str, Any] | Sequence[Any] = "gaussian",
        rule: Rule | None = None,
        seed: int = 0,
        cone: Any = None,
        randomise: Randomisation | None = None,
        conduct: Conduct | None = None,
        max_samples: int | None = None,
        logs: Iterable[str] = (),
        units: Mapping[str, str] | None = None,
    ) -> None:
        for name, value in (("arms", arms), ("objectives", objectives)):
            if not _are_names(value):
                raise ValueError(
                    f"{name}={shown(value)} must be a list of names, none of them empty."
                )
        if isinstance(minimize, Mapping) or not (isinstance(minimize, str) or is_listed(minimize)):
            raise WrongTypeError(f"minimize={shown(minimize)} must be a list of objectives.")
        taken = [name for name in objectives if name in COLUMNS]
        if taken:
            raise ValueError(
                f"no objective can be named {taken[0]!r}: files of outcomes have the columns "
                f"{', '.join(COLUMNS)} beside the objectives. Choose another name."
            )
        self.cone: Measured | None = None
        if cone is not None:
            check_count(len(arms), name="the number of arms", least=2, why="one is no choice.")
            if not isinstance(outcomes, str) and any(
                kind != "gaussian" for kind in as_kinds(outcomes, objectives)
            ):
                raise ValueError(
                    "a cone adds outcomes up, and sums of different kinds are of none of them. "
                    "Leave out the cone, or pass outcomes='bounded' with a scale for each."
                )
            if outcomes == "binary":
                raise ValueError(
                    "a cone adds outcomes up, and sums of 0 and 1 are not binary. Pass "
                    "outcomes='bounded', with scale=0.5."
                )
            self.cone = Measured.of(cone, objectives, minimize, scale)
            objectives, minimize = self.cone.rows, ()
            scale = self.cone.row_scale(len(arms))
        K, D = len(arms), len(objectives)
        check_count(K, name="the number of arms", least=2, why="optimal means against another.")
        check_count(D, name="the number of objectives", why="something must be measured.")
        self.kinds: tuple[Kind, ...] | None = None  # of each objective, where they may differ
        if not isinstance(outcomes, str):
            self.kinds = as_kinds(outcomes, objectives)
            if is_gaussian(self.kinds).all():
                outcomes, self.kinds = "gaussian", None
        else:
            check_choice(
                outcomes, OUTCOMES, name="outcomes", why="radii are proved for some of them; where "
                "objectives differ give a table of them.",
            )  # fmt: skip
        self.measured_in = Units.checked(
            (self.cone.objectives if self.cone else objectives), logs, units or {}
        )
        given: dict[str, Any] = {"arms": arms, "objectives": objectives, "minimize": minimize}
        self.bandit: Bandit
        if self.kinds is None:
            self.bandit = GaussianBandit(np.zeros((K, D)), scale, **given)
            self.learnt = np.full(D, scale is None)
        else:
            self.bandit = _mixed(self.kinds, scale, K, given)
            self.learnt = self.bandit.gaussian & (scale is None)
        self.given_scale = scale is not None
        self.K, self.D = K, D
        self.arms, self.objectives = self.bandit.arms, self.bandit.objectives
        self.minimize, self.sign = self.bandit.minimize, self.bandit.sign
        self.scale = self.bandit.scale if self.given_scale else None
        self.delta = check_delta(delta)
        self.outcomes = outcomes if self.kinds is None else plain_kinds(self.kinds, objectives)
        self.rule = APE() if rule is None else rule
        if not isinstance(self.rule, Rule):
            raise WrongTypeError(
                f"rule={shown(rule)} must be a sampling rule: APE(), another of ours, or an "
                f"instance of your own subclass of Rule."
            )
        self.goals = as_goals(ParetoSet() if goal is None else goal, self.bandit)
        self.radius = _as_radius(radius, self.bandit, self.learnt, self.outcomes, self.rule)
        if radius is None:
            self.radius = with_union(self.radius, self.goals)
        self.rule.check(self.bandit, self.goals, self.radius)
        check_limits(self.goals, self.radius, self.bandit, self.delta)
        if len({tuple(as_epsilon(goal.eps1, D)) for goal in self.goals}) > 1:
            raise ValueError(
                f"the goals ({self._asked()}) differ in eps1, the margin, which steers "
                f"the sampling: one trial can follow only one. Give them a common eps1."
            )
        if len({goal.limits for goal in self.goals}) > 1:
            raise ValueError(
                f"the goals ({self._asked()}) differ in their limits, whose claims "
                f"share delta: one trial can have one set of limits. Give all goals the same."
            )
        self.seed = check_count(seed, name="seed", least=0, why="it is handed to a SeedSequence.")
        self.informed_by: tuple[str, ...] = ()  # data that shaped the radius, by name or digest
        self.centred = True  # False: an older ledger, whose outcomes are summed as they are
        self.guarantee = guarantee_of(self.rule, self.radius, self.goals, K, D, self.delta)
        if not self.scale_is_credible:  # of an older ledger: new ones are refused
            self.guarantee = "heuristic"
        self.max_samples = max_samples
        if max_samples is not None:
            self.max_samples = check_count(
                max_samples, name="max_samples", why="it counts participants."
            )
        if conduct is not None:
            if not isinstance(conduct, Conduct):
                raise WrongTypeError(
                    f"conduct={shown(conduct)} must be a Conduct, such as Conduct(look=100)."
                )
            conduct.check(self.arms, (self.cone or self).objectives, max_samples)
            if conduct.burn_in and self.rule.in_rounds:
                raise ValueError(
                    f"conduct.burn_in={conduct.burn_in} and {self.rule!r}: a live trial is tested "
                    f"when a round of this rule ends, and a burn-in ends none, so it would run "
                    f"otherwise than it was simulated. Leave burn_in out, or use APE()."
                )
            if conduct.randomise is not None:  # of a plan; a design says it in one place
                if randomise not in (None, conduct.randomise):
                    raise ValueError(
                        f"randomise=({randomise}) and conduct.randomise=({conduct.randomise}) both "
                        f"say how arms are drawn, and differ. Give one of them."
                    )
                randomise, conduct = conduct.randomise, replace(conduct, randomise=None)
                conduct = None if conduct == Conduct() else conduct
        for name in self.measured_in.logs:
            if self.cone is None and not self.bandit.gaussian[self.objectives.index(name)]:
                raise ValueError(
                    f"logs names {name!r}, whose outcomes are 0 or 1 or lie in a range: they are "
                    f"recorded as they are. Leave it out."
                )
        self.conduct = conduct
        self.randomise = _as_randomisation(randomise, self.arms, self.rule)
        if self.randomise is not None and self.conduct is not None:
            replace(self.conduct, randomise=self.randomise)  # refuses arms that come in turn

    def _asked(self) -> str:
        return ", ".join(goal.label(self.units) for goal in self.goals)

    def index(self, arm: int | str) -> int:
        """The position of an arm by its name or position.

        >>> Design(["A", "B"], ["x"]).index("B")
        1
        """
        if isinstance(arm, str):
            check_choice(arm, tuple(self.arms), name="arm", why="those are the arms of this trial.")
        return self.bandit.index(arm)

    def to_dict(self) -> dict[str, Any]:
        """The design as plain data, for JSON; `from_dict` reads it and the TOML of the command."""
        return self._written(to_dict)

    def described(self) -> dict[str, Any]:
        """As `to_dict`, with the text of members that no file could name.

        >>> Design(["A", "B"], ["x"]).described()["goals"]
        [{'kind': 'ParetoSet', 'eps1': 0.0}]
        """
        return self._written(lambda member: to_dict(member) if is_ours(member) else repr(member))

    def _written(self, write: Callable[[Any], Any]) -> dict[str, Any]:
        given: Any = self if self.cone is None else self.cone
        scale = None if given.scale is None else np.asarray(given.scale).tolist()
        cone = {} if self.cone is None else {"cone": self.cone.W.tolist()}
        return {
            "arms": list(self.arms),
            "objectives": list(given.objectives),
            "minimize": list(given.minimize),
            "goals": [write(goal) for goal in self.goals],
            "delta": self.delta,
            "outcomes": self.outcomes,
            "scale": scale,
            "radius": write(self.radius),
            "rule": write(self.rule),
            "seed": self.seed,
            **cone,
            **({"informed_by": list(self.informed_by)} if self.informed_by else {}),
            **({"arithmetic": CENTRED} if self.centred else {}),
            **({} if self.randomise is None else {"randomise": self.randomise.to_dict()}),
            **({} if self.conduct is None else {"conduct": self.conduct.to_dict()}),
            **({} if self.max_samples is None else {"max_samples": self.max_samples}),
            **self.measured_in.to_dict(),
        }

    @property
    def units(self) -> Units:
        """How margins and means of the objectives are told; the rows of a cone have no units.

        >>> Design(["A", "B"], ["IgG"], logs=["IgG"]).units.margin(float(np.log(1.5)))
        '1.5-fold'
        """
        return self.measured_in if self.cone is None else PLAIN

    @property
    def limits(self) -> Mapping[str, Limit]:
        """What arms must meet, by objective: all goals of a trial have the same limits.

        >>> from paretoid import at_most
        >>> goal = ParetoSet(limits={"harm": at_most(0.3)})
        >>> Design(["A", "B"], ["response", "harm"], goal, minimize=["harm"]).limits["harm"]
        Limit(most=0.3)
        """
        return self.goals[0].limits or {}

    @property
    def ways(self) -> str:
        """Which way each objective is better, and which ones have a limit only.

        >>> Design(["A", "B"], ["response", "harm"], minimize=["harm"]).ways
        'more response and less harm is better'
        """
        measured: Any = self if self.cone is None else self.cone
        return directions(measured.objectives, measured.minimize, self.limits, self.measured_in)

    @property
    def binary(self) -> BoolArray:
        """(D,) where outcomes are 0 or 1.

        >>> kinds = {"response": "gaussian", "harm": "binary"}
        >>> Design(["A", "B"], ["response", "harm"], outcomes=kinds).binary
        array([False,  True])
        """
        kinds = [self.outcomes] * self.D if self.kinds is None else self.kinds
        return np.array([kind == "binary" for kind in kinds])

    def same_as(self, other: Design) -> bool:
        """True: both designs are written alike in a ledger."""
        return json.dumps(self.described()) == json.dumps(other.described())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, stored: bool = False) -> Design:
        """A design from plain data; unknown keys are refused, with a guess at what was meant.

        `stored`: from a ledger, which may be older than an argument of a radius.
        """
        _check_keys(data, _KEYS, "the design")
        for key in ("arms", "objectives"):
            if key not in data:
                raise ValueError(f"the design has no {key}; give a list of names.")
        goals = data.get("goals", [])
        if not isinstance(goals, list):
            raise ValueError("goals must be a list of tables, [[goals]] in TOML.")
        conduct = data.get("conduct")
        if not isinstance(conduct, Mapping | None):
            raise WrongTypeError(
                f"conduct={shown(conduct)} must be a table, such as look = 100 in [conduct]."
            )
        rule = data.get("rule", {})
        if isinstance(rule, Mapping):
            rule = {"kind": "APE", **rule}  # as in the first ledgers, which knew no other
        check_choice(data.get("arithmetic", CENTRED), (CENTRED,), name="arithmetic",
                     why="outcomes are summed from a reference.")  # fmt: skip
        design = cls(
            data["arms"],
            data["objectives"],
            [from_dict(goal, "goal") for goal in goals] or None,
            data.get("delta", 0.1),
            scale=data.get("scale"),
            radius=from_dict(data["radius"], "radius", stored=stored) if "radius" in data else None,
            minimize=data.get("minimize", ()),
            outcomes=data.get("outcomes", "gaussian"),
            rule=from_dict(rule, "rule"),
            seed=data.get("seed", 0),
            cone=data.get("cone"),
            randomise=Randomisation.from_dict(data["randomise"]) if "randomise" in data else None,
            conduct=None if conduct is None else Conduct.from_dict(conduct),
            max_samples=data.get("max_samples"),
            logs=data.get("logs", ()),
            units=data.get("units"),
        )
        if "minimize" not in data and not stored:
            check_directions((design.cone or design).objectives, [], [], "the design", IN_TOML)
        design.centred = "arithmetic" in data or not stored
        informed = data.get("informed_by", [])
        if not isinstance(informed, list) or not all(isinstance(name, str) for name in informed):
            raise WrongTypeError(
                f"informed_by={shown(informed)} must be a list of texts that name the data which "
                f"shaped the radius: a citation, or sha256: and the digest of a file."
            )
        design.informed_by = tuple(informed)
        return design

    @property
    def scale_is_credible(self) -> bool:
        """False: outcomes 0 or 1 whose scale is below 1/2, the only one that holds for every rate.

        >>> Design(["A", "B"], ["x"], outcomes="binary", scale=0.1).scale_is_credible
        False
        """
        return self.outcomes != "binary" or bool((self.bandit.scale >= 0.5).all())

    @property
    def in_rounds(self) -> bool:
        """True: the rule samples several arms between two tests, in its own order.

        Not in a randomised trial, where chance has the order: it is tested whenever outcomes come.

        >>> from paretoid import RoundRobin
        >>> Design(["A", "B"], ["x"], rule=RoundRobin()).in_rounds
        True
        >>> Design(["A", "B"], ["x"], rule=RoundRobin(), randomise=Randomisation()).in_rounds
        False
        """
        return self.rule.in_rounds and self.randomise is None

    def families(self) -> int:
        """How many sets of upper bounds must hold for all goals to be right together.

        One vector eps2, or all scalar ones, are served by one choice of objective for each pair;
        eps2 = 0 by any of them. Others are counted each; D objectives are all there are
        (theory/PROOFS.md, Section 4, several goals at once).

        >>> goals = [Cover(eps2=(1.0, 0.0)), Cover(eps2=(0.0, 1.0)), ParetoSet()]
        >>> design = Design(["A", "B", "C", "D"], ["x", "y"], goals, delta=0.1)
        >>> design.families(), design.level()
        (2, 0.05)
        """
        vectors = {
            tuple(as_epsilon(goal.eps2, self.D, name="eps2"))
            for goal in self.goals
            if isinstance(goal, Cover)
        }
        scalars = {eps2 for eps2 in vectors if len(set(eps2)) == 1}
        counted = len(vectors - scalars) + any(max(eps2) > 0 for eps2 in scalars)
        return min(max(counted, 1), self.D)

    def level(self) -> float:
        """The delta at which upper bounds are taken: shared out where goals need different ones.

        The radius says whether one choice of levels serves them all, at the delta that limits
        leave to it. A heuristic one has no levels to share out.

        >>> from paretoid import Shares
        >>> uneven = BetaBinomial(shares=Shares(arms=[0.98, 0.01, 0.01]))
        >>> for radius in (uneven, BetaBinomial()):    # equal shares of few arms: all pairs hold
        ...     goals = [Cover(eps2=(0.3, 0.0)), Cover(eps2=(0.0, 0.3))]
        ...     coins = {"radius": radius, "outcomes": "binary", "scale": 0.5}
        ...     print(Design(["A", "B", "C"], ["x", "y"], goals, 0.1, **coins).level())
        0.05
        0.1
        """
        K, D, limits = self.K, self.D, len(self.limits)
        left = limit_levels(self.radius, K, D, self.delta, limits).rivals if limits else self.delta
        alone = self.radius.guarantee != "proved" or self.radius.counts_pairs(K, D, left)
        return self.delta if alone else self.delta / self.families()


def _mixed(kinds: Sequence[Kind], scale: Any, K: int, names: dict[str, Any]) -> MixedBandit:
    """A bandit of these kinds, whose means nobody looks at."""
    gaussian, (low, high) = is_gaussian(kinds), ranges(kinds)
    middle = np.where(gaussian, 0.0, (np.where(gaussian, 0, low) + np.where(gaussian, 0, high)) / 2)
    width = np.where(gaussian, 4.0, np.where(gaussian, 1, high) - np.where(gaussian, 0, low))
    if scale is not None:
        D = len(kinds)
        stated = as_scale(scale, K, D)
        for d in np.flatnonzero((stated != width / 2).any(axis=0) & ~gaussian):
            raise ValueError(
                f"scale gives {names['objectives'][d]!r} the scale {stated[0, d]:g}, and outcomes "
                f"between {low[d]:g} and {high[d]:g} have {width[d] / 2:g}, half of their range. "
                f"Leave out scale=, which is for Gaussian objectives, or state the half."
            )
    mixed = MixedBandit(np.tile(middle, (K, 1)), kinds, sd=width / 4, **names)
    return mixed.with_scale(scale)


def _as_radius(
    radius: Radius | None, bandit: Bandit, learnt: BoolArray, outcomes: Any, rule: Rule
) -> Radius:
    """`radius`, or the proved default, if its theorem covers these outcomes.

    `learnt` are the objectives whose scale is not known beforehand.
    """
    scaled = not learnt.any()
    named = outcomes in ("bounded", "binary")
    if named and (not scaled or isinstance(radius, (UnknownScale, MixedScale))):
        raise ValueError(
            f"{outcomes} outcomes need a scale: UnknownScale, which learns it, is proved for "
            f"Gaussian outcomes only. An outcome between low and high is sub-Gaussian with scale "
            f"(high - low)/2, so pass scale=0.5 for 0 or 1, and radius=Mixture() (the default "
            f"with a scale), KaufmannKoolen(), LUCB1Like() or, for 0 or 1, BetaBinomial()."
        )
    single = isinstance(rule, BestArmRule)
    if single and not scaled:
        raise ValueError(
            f"rule={rule!r} compares bounds on single arms, and none of those is proved for an "
            f"unknown scale. Pass scale=, or rule=APE(), whose UnknownScale() learns it."
        )
    if radius is None:
        if isinstance(rule, BestArmRule):
            return rule.default_radius
        return default_mixture(learnt)
    if isinstance(radius, BetaBinomial):  # a bandit of one kind is Gaussian here, whatever it is
        if outcomes != "binary" and not is_binary(bandit):
            refuse_other_outcomes(radius, f"a trial with outcomes={outcomes!r}")
    else:
        check_radius(radius, bandit, rule)
    known = radius.known(bandit.D)
    if (known & learnt).any():
        instead = "UnknownScale()" if learnt.all() else "MixedScale(...)"
        raise ValueError(
            f"radius={radius!r} needs the scale of each objective, fixed before the data, and "
            f"none was given. Pass scale=, or radius={instead} for Gaussian outcomes."
        )
    if isinstance(radius, (UnknownScale, MixedScale)) and (~known & ~learnt).any():
        raise ValueError(
            f"{type(radius).__name__}() learns the scale and would ignore the one given. Leave out "
            f"scale=, or use Mixture(), which needs fewer samples if the scale is right."
        )
    return radius


def _as_randomisation(given: Any, arms: Sequence[str], rule: Rule) -> Randomisation | None:
    """`given`, if its floors and its control fit the arms."""
    if given is None:
        return None
    if not isinstance(given, Randomisation):
        raise ValueError(
            f"randomise={shown(given)} must be a Randomisation, such as Randomisation(floor=0.1, "
            f"block=6), or left out: then the rule alone decides."
        )
    if rule.budget is not None:
        raise ValueError(
            f"rule={rule!r} spends a budget in phases that chance would upset, and its answer "
            f"rests on how arms were chosen. Randomise with APE(), or leave randomise out."
        )
    given.floors(arms)
    return given


def _are_names(value: Any) -> bool:
    listed = is_listed(value) and hasattr(value, "__len__")
    if not listed or isinstance(value, (str, Mapping)):
        return False
    return all(isinstance(name, str) and name.strip() for name in value)


def _check_keys(table: Mapping[str, Any], allowed: Sequence[str], what: str) -> None:
    for key in table:
        if key not in allowed:
            raise ValueError(
                f"{what} knows no {key!r}{meant(key, allowed)} It takes {', '.join(allowed)}."
            )
