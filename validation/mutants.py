"""The checks must bite: mistakes somebody could make, each caught by a named check.

A mutant is an edit of the source of the readable loop, of what it looks through or of the theory,
applied in memory, or a changed parameter; patching a compiled callee would do nothing. An edit
whose text no longer occurs exactly once in the source is an error, so mutants cannot silently
become harmless.

`python -m paretoid.validation.mutants` hunts them all and compares with the table in
validation/README.md; `--update` rewrites the table.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from paretoid.bandits import Bandit, GaussianBandit
from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.runs import simulate
from paretoid.theory.checks import FloatArray, check_choice
from paretoid.theory.radii import Mixture, Radius, UnknownScale
from paretoid.theory.radii.claims import claim_constants
from paretoid.validation import levels, rates
from paretoid.validation.delta_correct import delta_correctness
from paretoid.validation.guard import assert_independent_replications
from paretoid.validation.pathwise import check_path, reference_path
from paretoid.validation.radius_coverage import coverage
from paretoid.view import Lens, View
from paretoid.writing import write_text

README = Path(__file__).with_name("README.md")
_BEGIN, _END = "<!-- mutants -->", "<!-- end of mutants -->"


@dataclass(frozen=True)
class Edit:
    """Replace `old`, which occurs once in the source of `function`, by `new`.

    `places` names other modules that imported the function by name.
    """

    module: str
    function: str
    old: str
    new: str
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mutant:
    """A mistake and the checks that must catch it, every one of them.

    edits    of the reference or the theory
    change   of the numbers a run reads
    radius   for "coverage": a wrong radius, or the right one divided by `shrink`
    """

    name: str
    mistake: str
    checks: tuple[str, ...]
    edits: tuple[Edit, ...] = ()
    change: Callable[[Lens], None] | None = None
    radius: Radius | None = None
    shrink: float = 1.0


def _no_union(lens: Lens) -> None:
    keep, drop = Mixture(union="none").constants(2, 1, _DELTA)
    levels = lens.levels
    lens.levels = replace(
        levels, keep=np.full_like(levels.keep, keep), drop=np.full_like(levels.drop, drop)
    )


def _stale(old: View | None, fresh: View, arm: int) -> View:
    """The view with the row of `arm` renewed in its tables, and its column forgotten."""
    if old is None:
        return fresh
    tables = {}
    for name in ("difference", "keep", "drop"):
        tables[name] = getattr(old, name).copy()
        tables[name][arm] = getattr(fresh, name)[arm]
    return replace(fresh, **tables)


class _PluggedIn(UnknownScale):
    """The sample variance taken for the variance: chi_n = n - 1."""

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        n = np.asarray(counts, dtype=np.float64)
        v = (n + self.rho) / (n * n * np.maximum(n - 1, 1))
        return np.log((n + self.rho) / self.rho), v

    def first_count(self, K: int, D: int, delta: float) -> int:
        return 2


class _Following(Mixture):
    """rho = n at every count: the best rho in hindsight, which costs nothing."""

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        n = np.asarray(counts, dtype=np.float64)
        return np.zeros_like(n), 1 / n


def _one_sided(function: str, old: str, new: str) -> Edit:
    return Edit("paretoid.theory.one_sided", function, old, new, ("paretoid.theory.radii.claims",))


def _edit(module: str, function: str, old: str, new: str) -> tuple[Edit, ...]:
    return (Edit(f"paretoid.{module}", function, old, new),)


MUTANTS = (
    Mutant(
        "radius divided by 2", "a constant lost in the radius itself", ("coverage",),
        radius=Mixture(), shrink=2.0,
    ),
    Mutant(
        "radius divided by 4", "a factor lost where the engine computes it",
        ("intervals", "delta-correctness"),
        _edit(
            "view", "Lens._pairs", "spread = v[:, None, :] + v[None, :, :]",
            "spread = (v[:, None, :] + v[None, :, :]) / 16",
        ),
    ),
    Mutant(
        "union bound dropped", "one interval's level used for all of them",
        ("intervals", "coverage"), change=_no_union, radius=Mixture(union="none"),
    ),
    Mutant(
        "variance plugged in", "the sample variance taken for the variance", ("coverage",),
        radius=_PluggedIn(rho=0.5),
    ),
    Mutant(
        "counts off by one", "n + 1 in the radius", ("intervals",),
        _edit("view", "Lens._terms", "look_up(samples.counts)", "look_up(samples.counts + 1)"),
    ),
    Mutant(
        "S(t) in place of OPT(t)", "arms that look optimal taken for arms known to be",
        ("answer", "stopping rule"),
        _edit("view", "View.optimal", "return self.h > 0", "return self.S"),
    ),
    Mutant(
        "> for >= in the k-rule", "waits for k + 1 arms", ("stopping rule", "omega^k"),
        _edit("goals.at_most", "AtMost.decide", "OPT.sum() < self.k", "OPT.sum() <= self.k"),
    ),
    Mutant(
        "< for >= in the k-rule", "stops while fewer than k arms are known",
        ("answer", "stopping rule"),
        _edit("goals.at_most", "AtMost.decide", "OPT.sum() < self.k", "OPT.sum() >= self.k"),
    ),
    Mutant(
        "c_t maximised", "the least likely dominator sampled", ("sampling rule", "Delta"),
        _edit(
            "view", "View.c", "np.argmin(self.M_lower[self.b])",
            "np.argmax(np.where(np.isinf(self.M_lower[self.b]), -np.inf, self.M_lower[self.b]))",
        ),
    ),
    Mutant(
        "eps not rescaled", "eps in own units beside means in units of the scale",
        ("answer", "stopping rule"),
        (
            *_edit("view", "Lens.view", "eps1 * inverse if self.unknown else eps1 / unit", "eps1"),
            *_edit("view", "View.in_units", "values / self.unit", "values"),
        ),
    ),
    Mutant(
        "minimised objective not flipped", "less taken for worse",
        ("answer", "intervals"),
        _edit("loop", "checked", "return values * bandit.sign", "return values"),
    ),
    Mutant(
        "O(t) without its second part", "arms not certified dominated left out",
        ("recommendation", "answer"),
        _edit("goals.pareto_set", "ParetoSet.decide", "view.S | ~view.dominated", "view.S"),
    ),
    Mutant(
        "k-answer not cut to k", "all of OPT(t) returned", ("recommendation", "answer"),
        _edit("goals.at_most", "AtMost.decide", "ranked[: self.k]", "ranked"),
    ),
    Mutant(
        "stale column after a pull", "only the row of the sampled arm renewed", ("intervals",),
        (
            *_edit("loop", "run", "while limit is None", "view = None\n    while limit is None"),
            *_edit(
                "loop", "run",
                "view = lens.view(samples, len(history.arms), unit, standing, memory)",
                "view = _stale(view, lens.view(samples, len(history.arms), unit, standing, memory),"
                " arm)",
            ),
        ),
    ),
    Mutant(
        "eps2 credited outside OPT", "arms covered by arms that are not returned",
        ("answer", "stopping rule"),
        _edit(
            "goals.cover", "Cover.decide",
            "np.where(OPT[:, None], view.in_units(self.eps2), 0.0)",
            "np.broadcast_to(view.in_units(self.eps2), view.means.shape)",
        ),
    ),
    Mutant(
        "gap without delta^-", "optimal arms' distance to sub-optimal ones forgotten",
        ("Delta", "2 beta at (a_t, a_t)"),
        (
            Edit(
                "paretoid.theory.gaps", "gaps",
                "np.minimum(result[optimal], below.min(axis=0))", "result[optimal]",
                ("paretoid.validation._replay",),
            ),
        ),
    ),
    Mutant(
        "bound with one radius", "beta_keep alone inverted, not beta_keep + beta_drop",
        ("sharp bound",),
        (
            Edit(
                "paretoid.theory.sharp_bound", "_Widths.towards",
                "both = (self.C_keep, self.C_drop)", "both = (self.C_keep,)",
            ),
        ),
    ),
    Mutant(
        "no penalty", "the half-plane taken as if its prior cost nothing", ("half-plane",),
        (_one_sided("one_sided_constant", "2 * penalty(level) - 2 * np.log", "-2 * np.log"),),
    ),
    Mutant(
        "used before a quarter of rho", "one-sided bounds from the first sample on",
        ("half-plane",),
        (_one_sided("first_usable_count", "values * LEAST_SHARE_OF_RHO", "values * 0.001"),),
    ),
    Mutant(
        "both sides", "two-sided bounds with one-sided constants", ("levels",),
        _edit(
            "theory.radii.claims", "claim_constants",
            "return Constants(2 * math.log(1 / (part * keep)), 2 * math.log(1 / (part * drop)), "
            'None, "two")',
            "return Constants(float(one_sided_constant(part * keep)), "
            'float(one_sided_constant(part * drop)), None, "two")',
        ),
    ),
    Mutant(
        "one-sided at the level of pairs", "pairs counted once, although either side can be wrong",
        ("levels",),
        _edit(
            "theory.radii.claims", "claim_constants", "for count in (K * D, K * (K - 1))",
            "for count in (K1(K, D), K1(K, D))",
        ),
    ),
    Mutant(
        "shares sum to 2 delta", "each arm's share given to keeping and to dropping it anew",
        ("levels",),
        _edit(
            "theory.shares", "Shares.arm_levels", "return check_delta(delta)",
            "return 2 * check_delta(delta)",
        ),
    ),
    Mutant(
        "rivals renormalised twice", "a rival's share divided by the others' sum, and again",
        ("levels",),
        _edit(
            "theory.shares", "Shares.role_terms", "2 * (np.log(_others(rivals)) + math.log",
            "2 * (2 * np.log(_others(rivals)) + math.log",
        ),
    ),
    Mutant(
        "rho chosen after the data", "rho follows the count, so that l never grows",
        ("coverage",), radius=_Following(),
    ),
    Mutant(
        "planned rates for nothing", "a prior with planned draws weighed as if it had none",
        ("evidence",),
        _edit(
            "theory.binary", "_value", "prior.rho + (prior.ones + prior.zeros)", "prior.rho"
        ),
    ),
    Mutant(
        "seeds shared", "every replication draws the same noise", ("independent replications",),
        (
            Edit(
                "paretoid.runs.chunk", "generator",
                "np.random.SeedSequence(seed, spawn_key=key)", "np.random.SeedSequence(seed)",
            ),
        ),
    ),
)  # fmt: skip

_DELTA = 0.2
_DEFAULT = Mixture()


@dataclass(frozen=True)
class Scene:
    """A small problem on which paths are replayed, chosen so that some mistake shows."""

    bandit: Bandit
    goals: tuple[Goal, ...]
    radius: Radius = _DEFAULT
    seeds: tuple[int, ...] = (0,)
    max_samples: int = 400


def _scenes() -> list[Scene]:
    corner = GaussianBandit([[3.0, 0.0], [0.0, 3.0], [2.7, -0.6]], scale=0.6)
    front = GaussianBandit([[3.0, 0.0], [2.0, 1.0], [1.0, 2.0], [0.0, 3.0]], scale=0.7)
    costs = GaussianBandit(
        [[3.0, 30.0], [2.0, 10.0], [1.0, 20.0]], scale=[0.5, 5.0], objectives=["effect", "cost"],
        minimize=["cost"],
    )  # fmt: skip
    near = GaussianBandit([[1.0, 1.0], [0.9, 0.9], [-1.0, 0.0]], scale=0.5)
    twins = GaussianBandit([[1.0, 1.05], [1.05, 1.0], [-1.0, 0.0]], scale=0.3)
    units = GaussianBandit([[30.0], [29.0], [26.0]], scale=10.0)
    easy = GaussianBandit([[9.0, 0.0], [0.0, 1.0], [0.2, 0.8]], scale=0.5)
    far = GaussianBandit([[100.0, 0.0], [0.0, 100.0]], scale=1.0)
    two = GaussianBandit([[0.0], [1.0]], scale=0.5)
    pairs = Mixture(union="pairs")
    return [
        Scene(corner, (ParetoSet(), AtMost(2), Cover(0.0, 0.5)), pairs, (0, 1), 700),
        Scene(front, (ParetoSet(), AtMost(1), AtMost(2), Cover(0.0, 2.5)), seeds=(0, 1)),
        Scene(costs, (ParetoSet(1.0), AtMost(2, 1.0))),
        Scene(near, (ParetoSet(0.5), AtMost(1, 0.5), Cover(0.5, 0.25)), pairs, tuple(range(3))),
        Scene(twins, (ParetoSet(0.4), AtMost(2, 0.4)), seeds=tuple(range(4))),
        Scene(near, (ParetoSet(), Cover(0.0, 1.0), AtMost(1)), seeds=(0, 1, 2)),
        Scene(units, (ParetoSet(2.0), AtMost(1, 2.0)), seeds=(0, 1)),
        Scene(easy, (ParetoSet(), AtMost(1))),
        Scene(far, (ParetoSet(), AtMost(1))),
        Scene(two, (ParetoSet(), AtMost(1)), seeds=tuple(range(6))),
    ]


SCENES = _scenes()
_WIDE = np.concatenate([np.eye(4) * 3, -np.ones((4, 4)) * np.arange(1, 5)[:, None]])


def hunt(mutant: Mutant | None = None, wanted: Sequence[str] | None = None) -> dict[str, str]:
    """The checks that catch `mutant`, with what each says; None is the engine as it is.

    `wanted` are the checks of interest; looking ends when all have been seen. For the engine as
    it is all are tried, and nothing should be found.

    >>> sorted(hunt(MUTANTS[0]))
    ['coverage']
    """
    if wanted is None:
        wanted = ("coverage",) if mutant is None else mutant.checks
    caught: dict[str, str] = {}
    everything = mutant is None
    with ExitStack() as stack:
        change = None
        stack.callback(claim_constants.cache_clear)  # after the edits are undone
        if mutant is not None:
            change = mutant.change
            stack.enter_context(applied(*mutant.edits))
        if everything or "independent replications" in wanted:
            _replications(caught)
        if everything or {"levels", "half-plane"} & set(wanted):
            claim_constants.cache_clear()
            caught.update(levels.faults())
        if everything or "evidence" in wanted:
            caught.update(rates.faults())
        if everything or "coverage" in wanted:
            _coverage(caught, mutant)
        if everything or "delta-correctness" in wanted:
            _delta_correctness(caught, change)
        for scene in SCENES:
            for seed in scene.seeds:
                if not everything and set(wanted) <= set(caught):
                    return {check: caught[check] for check in wanted}
                path = reference_path(
                    scene.bandit, scene.goals, radius=scene.radius, delta=_DELTA, seed=seed,
                    max_samples=scene.max_samples, change=change,
                )  # fmt: skip
                for violation in check_path(path).violations:
                    caught.setdefault(violation.check, str(violation))
    return caught if everything else {check: caught[check] for check in wanted if check in caught}


def _replications(caught: dict[str, str]) -> None:
    try:
        assert_independent_replications(simulate.simulate, GaussianBandit([[0.0], [3.0]]))
    except AssertionError as error:
        caught["independent replications"] = str(error)


def _coverage(caught: dict[str, str], mutant: Mutant | None) -> None:
    radius: Radius = Mixture()
    shrink = 1.0
    if mutant is not None and mutant.radius is not None:
        radius, shrink = mutant.radius, mutant.shrink
    means = _WIDE if radius == Mixture(union="none") else [[0.0], [0.0]]
    result = coverage(
        radius, means=means, delta=0.1, rules=("alternate", "freeze"), replications=400,
        horizon=100 * len(means), shrink=shrink,
    )  # fmt: skip
    # A correct radius fails here once in 10^6 seeds at most.
    if not result.holds(1e-6):
        caught["coverage"] = result.summary()


def _delta_correctness(caught: dict[str, str], change: Any) -> None:
    bandit = GaussianBandit([[0.0], [0.02]], scale=1.0)

    def reference(given: Bandit, delta: float, seed: int) -> tuple[Any, int]:
        path = reference_path(given, delta=delta, seed=seed, max_samples=300, change=change)
        stop = path.stops[0]
        return (None, len(path.arm)) if stop is None else (stop[1], stop[0])

    verdict = delta_correctness(reference, bandit, delta=0.05, max_runs=60)
    if verdict.rejected:
        caught["delta-correctness"] = verdict.summary()


@contextmanager
def applied(*edits: Edit) -> Iterator[None]:
    """The edited functions in their modules (and in `Edit.places`) while the context lasts.

    >>> from paretoid.view import View
    >>> before = View.optimal
    >>> with applied(*MUTANTS[5].edits):
    ...     View.optimal is before
    False
    """
    by_function: dict[tuple[str, str], list[Edit]] = {}
    for edit in edits:
        by_function.setdefault((edit.module, edit.function), []).append(edit)
    with ExitStack() as stack:
        for (module, function), same in by_function.items():
            stack.enter_context(_replaced(module, function, same))
        yield


@contextmanager
def _replaced(name: str, function: str, edits: list[Edit]) -> Iterator[None]:
    """One function, or one method of a class, with all its edits."""
    module: Any = importlib.import_module(name)
    *owner, attribute = function.split(".")
    holder = getattr(module, owner[0]) if owner else module
    original = vars(holder)[attribute]
    plain: Any = original.fget if isinstance(original, property) else original
    plain = plain.func if isinstance(plain, cached_property) else plain
    source = textwrap.dedent(inspect.getsource(plain))
    for edit in edits:
        if source.count(edit.old) != 1:
            raise ValueError(
                f"{edit.old!r} occurs {source.count(edit.old)} times in {name}.{function}, not "
                f"once: the source has changed, so this mutant tests nothing. Update its edit."
            )
        source = source.replace(edit.old, edit.new)
    # Globals are looked up in the module itself, so other patches stay in force.
    space: dict[str, Any] = {}
    extra = {"_stale": _stale}
    vars(module).update(extra)
    exec(compile(source, f"<mutant of {function}>", "exec"), vars(module), space)
    made = space[attribute]
    if isinstance(made, cached_property):
        made.__set_name__(holder, attribute)
    where = [holder, *(importlib.import_module(place) for edit in edits for place in edit.places)]
    try:
        for place in where:
            setattr(place, attribute, made)
        yield
    finally:
        for place in where:
            setattr(place, attribute, original)
        for extra_name in extra:
            vars(module).pop(extra_name, None)


def table(hunted: dict[str, dict[str, str]]) -> str:
    """The table of validation/README.md: mutant, mistake, and the checks that caught it.

    >>> print(table({"radius divided by 2": {"coverage": "..."}}).splitlines()[2])
    | radius divided by 2 | a constant lost in the radius itself | coverage |
    """
    by_name = {mutant.name: mutant for mutant in MUTANTS}
    lines = ["| mutant | the mistake | caught by |", "|---|---|---|"]
    for name, caught in hunted.items():
        check_choice(name, tuple(by_name), name="mutant", why="those are the mutants.")
        checks = ", ".join(c.replace("|", r"\|") for c in by_name[name].checks if c in caught)
        lines.append(f"| {name} | {by_name[name].mistake} | {checks or '**nothing**'} |")
    return "\n".join(lines)


def hunt_all() -> dict[str, dict[str, str]]:
    """`hunt` for every mutant, by name."""
    return {mutant.name: hunt(mutant) for mutant in MUTANTS}


def survivors(hunted: dict[str, dict[str, str]]) -> list[str]:
    """Mutants that some check they are meant for did not catch.

    >>> survivors({"radius divided by 2": {}})
    ['radius divided by 2']
    """
    by_name = {mutant.name: mutant for mutant in MUTANTS}
    return [name for name, caught in hunted.items() if set(by_name[name].checks) - set(caught)]


def documented_table() -> str:
    """The table as validation/README.md has it."""
    text = README.read_text(encoding="utf-8")
    return text.split(_BEGIN)[1].split(_END)[0].strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Hunt all mutants; 1 if one survives or the README's table is out of date."""
    parser = argparse.ArgumentParser(
        prog="python -m paretoid.validation.mutants", description=__doc__
    )
    parser.add_argument("--update", action="store_true", help="rewrite the table in README.md")
    options = parser.parse_args(arguments)
    hunted = hunt_all()
    for name, caught in hunted.items():
        print(f"{name}: {'; '.join(caught) or 'SURVIVES'}")
    fresh, left = table(hunted), survivors(hunted)
    if options.update:
        text = README.read_text(encoding="utf-8")
        head, rest = text.split(_BEGIN)
        tail = rest.split(_END)[1]
        write_text(README, f"{head}{_BEGIN}\n{fresh}\n{_END}{tail}", force=True)
    stale = documented_table() != fresh
    if stale:
        print("The table in validation/README.md is out of date; run with --update.")
    if left:
        print(f"Not caught as documented: {', '.join(left)}.")
    return int(bool(left) or stale)


if __name__ == "__main__":
    sys.exit(main())
