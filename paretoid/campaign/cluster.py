"""An existing Dask cluster as an executor."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

#: seconds to wait for a scheduler
_PATIENCE = 5


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Executor on the Dask scheduler at `address`, such as tcp://10.0.0.5:8786.

    Its workers need paretoid in the same version; nothing else has to be set up, and results are
    those of any other executor. The cluster is left running.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            "a Dask scheduler needs the extra: pip install 'paretoid[dask]'."
        ) from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:  # TimeoutError is an OSError
        raise ValueError(
            f"no Dask scheduler answers at {address!r} ({type(error).__name__}). Check that it "
            f"runs (dask scheduler), that host and port are those it printed, such as "
            f"tcp://HOST:8786, and that no firewall is between."
        ) from None
    with client:
        if not client.nthreads():
            raise ValueError(
                f"the Dask scheduler at {address!r} has no workers; start some with: dask worker "
                f"{address}"
            )
        yield client.get_executor(pure=False)
