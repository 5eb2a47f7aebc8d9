"""All batteries of faults, counts as JSON."""

from __future__ import annotations

import argparse
from functools import partial

from paretoid.validation.faults import failures, run


def main(arguments: list[str] | None = None) -> int:
    """Run them all; the exit code says whether all held."""
    parser = argparse.ArgumentParser(
        prog="python -m paretoid.validation.faults", description=__doc__
    )
    parser.add_argument("--scale", type=float, default=1.0, help="0.1 does a tenth of it")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    wrong = failures(run(given.scale, given.seed, partial(print, flush=True)))
    print("\n".join(wrong) or "nothing acknowledged was lost, everything changed was noticed")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
