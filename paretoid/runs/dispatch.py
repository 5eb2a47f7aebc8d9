"""Tasks to an executor, the longest first; a task that pauses goes back into the queue."""

from __future__ import annotations

import heapq
import multiprocessing
import os
import pickle
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from paretoid.runs.chunk import Checkpoint, Chunk
from paretoid.runs.dask_cluster import BEAT, Pulse, threads_of
from paretoid.runs.tiles import Tile, Work
from paretoid.theory.checks import shown

#: workers of an executor that does not say how many it has
_MANY = 128
#: seconds of work, by the bound, that are over before a pool of threads has started
_SHORT = 0.005

Outcome = tuple[Chunk, ...] | Checkpoint | Exception


@dataclass(frozen=True)
class Task:
    """A tile to compute: what a worker gets, where it goes on, and the seconds it may take."""

    tile: Tile
    work: Work
    seconds: float
    start: Checkpoint | None = None


class Here(Executor):
    """The thread that submits does the work, at once.

    >>> Here().submit(divmod, 7, 2).result()
    (3, 1)
    """

    _max_workers = 1

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The future of a call that is over."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def executor_for(executor: Any, compiled: bool, work: Any, seconds: float) -> Iterator[Executor]:
    """The given executor, left open; or one of our own, closed at the end.

    Compiled loops let go of the interpreter's lock and run on threads, one per core; if they take
    `seconds` that are not worth a thread, on this one. The readable
    loop does not: it runs in processes, where the system can fork and `work` can be sent to them,
    else on one thread.
    """
    if isinstance(executor, Executor):
        yield executor
    elif executor is None:
        pool: Executor
        if compiled and seconds <= _SHORT:
            pool = Here()
        elif compiled:
            pool = ThreadPoolExecutor(os.cpu_count() or 1)
        elif _can_fork(work):
            context = multiprocessing.get_context("fork")
            pool = ProcessPoolExecutor(os.cpu_count() or 1, mp_context=context)
        else:
            pool = ThreadPoolExecutor(1)
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    else:
        raise ValueError(
            f"executor={shown(executor)} must be a concurrent.futures.Executor or None; for Dask "
            f"pass client.get_executor()."
        )


def _can_fork(work: Any) -> bool:
    """True: processes can be made by forking, and `work` can be pickled for them."""
    if "fork" not in multiprocessing.get_all_start_methods() or (os.cpu_count() or 1) < 2:
        return False
    if sys.platform == "darwin":  # forking there may break libraries of the system
        return False
    try:
        pickle.dumps(work)
    except Exception:  # what pickling raises depends on what is pickled
        return False
    return True


def workers_of(executor: Executor) -> int:
    """How many tasks it runs at once, or a guess."""
    client = getattr(executor, "_client", None)  # Dask's; it has no public name for it
    if client is not None:
        return max(1, threads_of(client))
    return getattr(executor, "_max_workers", None) or _MANY


def runs_here(executor: Executor) -> bool:
    """True: its workers share this machine, and so its cache of compiled kernels."""
    return isinstance(executor, (Here, ThreadPoolExecutor, ProcessPoolExecutor))


def dispatch(tasks: Iterable[Task], executor: Executor) -> Iterator[tuple[Task, Outcome]]:
    """Yield every task with its chunks, with the exception it raised, or with a pause.

    After a pause the task goes on by itself; what is yielded is for the record. Two tasks per
    worker are under way, so the order is decided late. Leaving early cancels what has not begun.
    """
    window = 2 * workers_of(executor)
    waiting = [(-task.seconds, order, task) for order, task in enumerate(tasks)]
    heapq.heapify(waiting)
    order = len(waiting)
    under_way: dict[Future[Any], Task] = {}
    pulse = Pulse(executor)
    try:
        while waiting or under_way:
            while waiting and len(under_way) < window:
                task = heapq.heappop(waiting)[2]
                under_way[executor.submit(task.work, task.start)] = task
            done = wait(under_way, timeout=BEAT, return_when=FIRST_COMPLETED).done
            if done:
                pulse.well()
            else:
                pulse.check()
            for future in done:
                task = under_way.pop(future)
                outcome: Outcome
                try:
                    outcome = future.result()
                except BrokenExecutor:
                    raise
                except CancelledError:
                    outcome = RuntimeError("the executor cancelled it")
                except Exception as error:
                    outcome = error
                yield task, outcome
                if isinstance(outcome, Checkpoint):
                    order += 1
                    heapq.heappush(waiting, (-task.seconds, order, replace(task, start=outcome)))
    finally:
        for future in under_way:
            future.cancel()
