"""An existing Dask cluster as an executor."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

#: seconds to wait for a scheduler
_PATIENCE = 5


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Executor on the Dask scheduler at `address`, such as tcp://HOST:8786.

    Its workers need paretoid in the same version; nothing else has to be set up, and results are
    those of any other executor. The cluster is left running.

    >>> from distributed import LocalCluster
    >>> from paretoid import BernoulliBandit, Campaign
    >>> campaign = Campaign(BernoulliBandit([[0.9], [0.1]]), replications=3, seed=1)
    >>> with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
    ...     with dask_executor(cluster.scheduler_address) as executor:
    ...         runs = campaign.run(executor=executor)
    >>> runs.identical(campaign.run())
    True
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("a Dask scheduler needs the extra: pip install 'paretoid[dask]'") from None
    try:
        # In a thread: a notebook has an event loop of its own already.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _knock(address)).result()
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError, RuntimeError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {address!r} ({error or type(error).__name__}). Check "
            f"that it runs (dask scheduler), that host and port are those it printed, such as "
            f"tcp://HOST:8786, and that no firewall is between."
        ) from None
    with client:
        if not client.nthreads():
            raise ValueError(
                f"the Dask scheduler at {address!r} has no workers; start some with: dask worker "
                f"{address}"
            )
        yield client.get_executor(pure=False)


async def _knock(address: str) -> None:
    """Raise if nobody shakes hands in time; `Client(timeout=...)` alone would wait for ever."""
    from distributed.comm.core import connect

    comm = await asyncio.wait_for(connect(address, timeout=_PATIENCE - 1), _PATIENCE)
    await comm.close()
