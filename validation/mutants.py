"""The checks must bite: mistakes somebody could make, each caught by a named check.

A mutant is an edit of the source of the NumPy reference or of the theory, applied in memory, or a
changed parameter; patching a compiled callee would do nothing. An edit whose text no longer
occurs exactly once in the source is an error, so mutants cannot silently become harmless.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paretoid.bandits import Bandit, GaussianBandit
from paretoid.engine.program import Program
from paretoid.goals import AtMost, Cover, Goal, ParetoSet
from paretoid.loop import Intervals
from paretoid.runs import simulate
from paretoid.theory.checks import FloatArray, check_choice
from paretoid.theory.radii import Mixture, Radius, UnknownScale
from paretoid.validation.delta_correct import delta_correctness
from paretoid.validation.guard import assert_independent_replications
from paretoid.validation.pathwise import check_path, reference_path
from paretoid.validation.radius_coverage import coverage

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
    change: Callable[[Program], Program] | None = None
    radius: Radius | None = None
    shrink: float = 1.0


_REFERENCE = "paretoid.loop"
_WIDTHS = "np.sqrt((program.keep + logs) * spread), np.sqrt((program.drop + logs) * spread)"


def _unflipped(program: Program) -> Program:
    sign = np.sign(program.spread)
    return program._replace(location=program.location * sign, spread=np.abs(program.spread))


def _no_union(program: Program) -> Program:
    keep, drop = Mixture(union="none").constants(2, 1, _DELTA)
    return program._replace(keep=keep, drop=drop)


def _stale(old: Intervals, fresh: Intervals, arm: int) -> Intervals:
    """The table with the row of `arm` renewed, and its column forgotten."""
    tables = []
    for before, now in ((old.mean, fresh.mean), (old.keep, fresh.keep), (old.drop, fresh.drop)):
        table = before.copy()
        table[arm] = now[arm]
        tables.append(table)
    return Intervals(*tables)


class _PluggedIn(UnknownScale):
    """The sample variance taken for the variance: chi_n = n - 1."""

    def arm_terms(self, counts: Any, K: int, D: int, delta: float) -> tuple[FloatArray, FloatArray]:
        n = np.asarray(counts, dtype=np.float64)
        v = (n + self.rho) / (n * n * np.maximum(n - 1, 1))
        return np.log((n + self.rho) / self.rho), v

    def first_count(self, K: int, D: int, delta: float) -> int:
        return 2


def _reference(function: str, old: str, new: str) -> tuple[Edit, ...]:
    return (Edit(_REFERENCE, function, old, new),)


MUTANTS = (
    Mutant(
        "radius divided by 2", "a constant lost in the radius itself", ("coverage",),
        radius=Mixture(), shrink=2.0,
    ),
    Mutant(
        "radius divided by 4", "a factor lost where the engine computes it",
        ("intervals", "delta-correctness"),
        _reference("intervals", _WIDTHS, f"*(w / 4 for w in ({_WIDTHS}))"),
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
        _reference("intervals", "rho, n = program.rho, counts", "rho, n = program.rho, counts + 1"),
    ),
    Mutant(
        "S(t) in place of OPT(t)", "arms that look optimal taken for arms known to be",
        ("answer", "stopping rule"), _reference("decide", "OPT = h > 0", "OPT = S"),
    ),
    Mutant(
        "> for >= in the k-rule", "waits for k + 1 arms", ("stopping rule", "omega^k"),
        _reference("decide", "OPT.sum() >= program.k[q]", "OPT.sum() > program.k[q]"),
    ),
    Mutant(
        "< for >= in the k-rule", "stops while fewer than k arms are known",
        ("answer", "stopping rule"),
        _reference("decide", "OPT.sum() >= program.k[q]", "OPT.sum() < program.k[q]"),
    ),
    Mutant(
        "c_t maximised", "the least likely dominator sampled", ("sampling rule", "Delta"),
        _reference(
            "decide", "np.argmin(np.where(others[b], M_lower[b], np.inf))",
            "np.argmax(np.where(others[b], M_lower[b], -np.inf))",
        ),
    ),
    Mutant(
        "eps not rescaled", "eps in own units beside means in units of the scale",
        ("answer", "stopping rule"),
        _reference(
            "reference_run", "program.eps1 / divisor, program.eps2 / divisor",
            "program.eps1, program.eps2",
        ),
    ),
    Mutant(
        "minimised objective not flipped", "less taken for worse",
        ("answer", "intervals"), change=_unflipped,
    ),
    Mutant(
        "O(t) without its second part", "arms not certified dominated left out",
        ("recommendation", "answer"),
        _reference("decide", "answer = S | ~(g > 0)", "answer = S"),
    ),
    Mutant(
        "k-answer not cut to k", "all of OPT(t) returned", ("recommendation", "answer"),
        _reference("decide", "answer[ranked[: program.k[q]]] = True", "answer[ranked] = True"),
    ),
    Mutant(
        "stale column after a pull", "only the row of the sampled arm renewed", ("intervals",),
        (
            Edit(
                _REFERENCE, "reference_run",
                "difference = intervals(program, counts, sums, ss, inverse, len(run.arms))",
                "fresh = intervals(program, counts, sums, ss, inverse, len(run.arms))\n"
                "        start = len(run.arms) == K * program.first\n"
                "        difference = fresh if start else _stale(difference, fresh, arm)",
            ),
        ),
    ),
    Mutant(
        "eps2 credited outside OPT", "arms covered by arms that are not returned",
        ("answer", "stopping rule"),
        _reference(
            "decide", "np.where(OPT[:, None], eps2[q], 0.0)",
            "np.broadcast_to(eps2[q], (K, len(eps1)))",
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
                "paretoid.theory.sharp_bound", "sample_bound", "for drop in (False, True):",
                "for drop in (False,):", ("paretoid.validation._replay",),
            ),
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
        if mutant is not None:
            change = mutant.change
            for edit in mutant.edits:
                stack.enter_context(applied(edit))
        if everything or "independent replications" in wanted:
            _replications(caught)
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
def applied(edit: Edit) -> Iterator[None]:
    """The edited function in its module (and in `edit.places`) while the context lasts.

    >>> from paretoid import loop
    >>> with applied(MUTANTS[5].edits[0]):
    ...     "OPT = h > 0" in loop.decide.__doc__
    False
    """
    module = importlib.import_module(edit.module)
    original = module.__dict__[edit.function]
    source = textwrap.dedent(inspect.getsource(original))
    if source.count(edit.old) != 1:
        raise ValueError(
            f"{edit.old!r} occurs {source.count(edit.old)} times in {edit.module}.{edit.function}, "
            f"not once: the source has changed, so this mutant tests nothing. Update its edit."
        )
    # Globals are looked up in the module itself, so other patches stay in force.
    space = module.__dict__
    extra = {"_stale": _stale}
    space.update(extra)
    code = compile(source.replace(edit.old, edit.new), f"<mutant of {edit.function}>", "exec")
    where = [module, *map(importlib.import_module, edit.places)]
    try:
        exec(code, space)  # defines the edited function in the module
        for place in where[1:]:
            setattr(place, edit.function, space[edit.function])
        yield
    finally:
        for place in where:
            setattr(place, edit.function, original)
        for name in extra:
            space.pop(name, None)


def table(found: dict[str, dict[str, str]]) -> str:
    """The table of validation/README.md: mutant, mistake, and the checks that caught it.

    >>> print(table({"radius divided by 2": {"coverage": "..."}}).splitlines()[2])
    | radius divided by 2 | a constant lost in the radius itself | coverage |
    """
    by_name = {mutant.name: mutant for mutant in MUTANTS}
    lines = ["| mutant | the mistake | caught by |", "|---|---|---|"]
    for name, caught in found.items():
        check_choice(name, tuple(by_name), name="mutant", why="those are the mutants.")
        checks = ", ".join(c.replace("|", r"\|") for c in by_name[name].checks if c in caught)
        lines.append(f"| {name} | {by_name[name].mistake} | {checks or '**nothing**'} |")
    return "\n".join(lines)


def hunt_all() -> dict[str, dict[str, str]]:
    """`hunt` for every mutant, by name."""
    return {mutant.name: hunt(mutant) for mutant in MUTANTS}


def survivors(found: dict[str, dict[str, str]]) -> list[str]:
    """Mutants that some check they are meant for did not catch.

    >>> survivors({"radius divided by 2": {}})
    ['radius divided by 2']
    """
    by_name = {mutant.name: mutant for mutant in MUTANTS}
    return [name for name, caught in found.items() if set(by_name[name].checks) - set(caught)]


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
    found = hunt_all()
    for name, caught in found.items():
        print(f"{name}: {'; '.join(caught) or 'SURVIVES'}")
    fresh, left = table(found), survivors(found)
    if options.update:
        text = README.read_text(encoding="utf-8")
        head, rest = text.split(_BEGIN)
        tail = rest.split(_END)[1]
        README.write_text(f"{head}{_BEGIN}\n{fresh}\n{_END}{tail}", encoding="utf-8")
    stale = documented_table() != fresh
    if stale:
        print("The table in validation/README.md is out of date; run with --update.")
    if left:
        print(f"Not caught as documented: {', '.join(left)}.")
    return int(bool(left) or stale)


if __name__ == "__main__":
    sys.exit(main())
