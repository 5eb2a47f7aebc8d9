"""A pytest plugin: `delta_correct` as a fixture, its settings as a marker, its findings at the end.

    @pytest.mark.delta_correct(max_runs=500, seed=7)
    def test_my_algorithm_keeps_its_promise(delta_correct):
        delta_correct(my_algorithm, bandits, delta=0.05)

The fixture is `validation.assert_delta_correct`; keyword arguments of the marker are its defaults
in that test. What was certified is listed at the end of the run. Only pytest is imported here:
the plugin is loaded by every pytest run of a project that has paretoid installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

_KEY = "delta_correct"
_MARKER = (
    "delta_correct(**defaults): default arguments of the fixture `delta_correct` in this test, "
    "such as max_runs, seed, false_alarm, confidence, budget, seconds, goal."
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def delta_correct(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`validation.assert_delta_correct`, its defaults from the marker, reported at the end."""
    marker = request.node.get_closest_marker("delta_correct")
    if marker is not None and marker.args:
        raise pytest.UsageError(
            f"@pytest.mark.delta_correct takes keyword arguments alone, not {marker.args!r}: each "
            f"is a default of assert_delta_correct. Write @pytest.mark.delta_correct(max_runs=500)."
        )
    defaults = dict(marker.kwargs) if marker is not None else {}

    def check(algorithm: Any, bandits: Any, delta: float = 0.1, **options: Any) -> Any:
        from paretoid.validation.delta_correct import delta_correctness

        verdict = delta_correctness(algorithm, bandits, delta, **{**defaults, **options})
        # On the item, so that it also travels from the workers of a distributed run.
        request.node.user_properties.append((_KEY, verdict.summary()))
        if not verdict.passed:
            pytest.fail(verdict.summary(), pytrace=False)
        return verdict

    return check


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List what was certified, and what was not."""
    certified = [
        (report.nodeid, text)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for key, text in report.user_properties
        if key == _KEY
    ]
    if not certified:
        return
    terminalreporter.section("delta-correctness")
    for nodeid, text in sorted(certified):
        terminalreporter.write_line(nodeid)
        for line in text.splitlines():
            terminalreporter.write_line(f"  {line}")
