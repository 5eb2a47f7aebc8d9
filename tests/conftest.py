"""Options of the test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="fuzz for an hour instead of for a minute")


@pytest.fixture(scope="session")
def examples(request: pytest.FixtureRequest) -> int:
    """By how much the fuzzer multiplies its examples."""
    return 100 if request.config.getoption("--full") else 1
