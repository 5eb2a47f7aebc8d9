"""Every example runs; those that print figures print what their text promises."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(  # make_*.py have tests of their own
    path for path in (ROOT / "examples").glob("*.py") if not path.name.startswith("make_")
)


# What the text of an example promises, in what it prints.
PROMISES = {
    "ten_lines": [r"answer=\['A', 'B', 'C'\], proved", r"wrong answers: 0 of 2000"],
    "plan_covboost": [r"BNT/BNT \+ BNT +1\.0", r"participants for 90% assurance"],
    "compare_radii_and_rules": [r"union='none'\) +heuristic", r"RoundRobin\(\) +proved"],
    "certify_your_own": [
        r"naive, ParetoSet\(eps1=0\): REJECTED",
        r"fixed_design, ParetoSet\(eps1=0\): certified",
        r"paretoid, ParetoSet\(eps1=0\): certified",
        r"test_my_algorithm passed",
    ],
    "live_trial": [r"all optimal arms: m1273, ChAd", r"log verified"],
    "campaign_on_dask": [r"wrong answers: 0 of 320", r"as on threads: True"],
}


def test_every_example_promises_something():
    assert {path.stem for path in EXAMPLES} == set(PROMISES)


def marked(path):
    """What README's first command and other tests run as well is left to --full."""
    slow = path.stem in ("plan_covboost", "compare_radii_and_rules", "live_trial")
    return pytest.param(path, marks=[pytest.mark.slow] if slow else [], id=path.stem)


@pytest.mark.parametrize("example", [marked(path) for path in EXAMPLES])
def test_the_example_runs(example, tmp_path):
    result = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    for promise in PROMISES[example.stem]:
        assert re.search(promise, result.stdout), result.stdout
