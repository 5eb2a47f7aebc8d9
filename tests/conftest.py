"""Options of the test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="also the slow tests; fuzz for an hour, not a minute"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow; pytest --full runs it"))


@pytest.fixture(scope="session")
def examples(request: pytest.FixtureRequest) -> int:
    """By how much the fuzzer multiplies its examples."""
    return 100 if request.config.getoption("--full") else 1
