"""An executor of concurrent.futures on the grid."""

from __future__ import annotations

import concurrent.futures
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional, Sequence, Union

from .errors import ArgumentError
from .functions import Future, Options, cancel_waiting, follow, pickled, submit_calls
from .job import Job

if TYPE_CHECKING:
    from .grid import Grid

GATHER_S = 0.01  # How long submissions are gathered before they go out as one job.
BATCH = 1000  # Calls of one job that were submitted one by one.
CHUNK_MAX = 1000  # Calls of one task.
CHUNKS_PER_PROCESSOR = 8
JOB_CALLS_MAX = 1_000_000
JOB_BYTES_MAX = 256 << 20  # Arguments of the calls of one job.


class Executor(concurrent.futures.Executor):
    """Leaving `with` waits for all calls; detach() leaves them to the grid, for attach() later."""

    def __init__(self, grid: Grid, options: Options, pending_max: int) -> None:
        self._grid, self._options, self._pending_max = grid, options, max(1, pending_max)
        self._lock = threading.Condition()
        self._queue: list[tuple[Future, bytes, bytes]] = []
        self._closed = False
        self._idle = True
        self._open: set[Future] = set()
        self._thread: Optional[threading.Thread] = None
        self.jobs: list[Job] = []

    def _add_futures(self, count: int) -> list[Future]:
        """As many futures, when there is room for all of them. With the lock held."""
        self._lock.wait_for(lambda: self._closed or len(self._open) + count <= max(self._pending_max, count))
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        futures = [Future() for _ in range(count)]
        self._open.update(futures)
        return futures

    def _watch_ends(self, futures: list[Future]) -> None:
        for future in futures:
            future.add_done_callback(self._done)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Like Executor.submit. Raises ArgumentError at once for what cannot be pickled; waits while too much is pending."""
        function = pickled(f"the function {getattr(fn, '__qualname__', fn)!s}", fn)
        call = pickled("an argument", (args, kwargs))
        with self._lock:
            [future] = self._add_futures(1)
            future._take_back = self._take_back
            self._queue.append((future, function, call))
            if self._thread is None:
                self._thread = threading.Thread(target=self._send, name="mutirao-submit", daemon=True)
                self._thread.start()
            self._lock.notify_all()
        self._watch_ends([future])
        return future

    def _done(self, future: Any) -> None:
        with self._lock:
            self._open.discard(future)
            self._lock.notify_all()

    def _take_back(self, future: Future) -> bool:
        """Whether a call had not been sent, and will not be."""
        with self._lock:
            for at, (queued, _, _) in enumerate(self._queue):
                if queued is future:
                    del self._queue[at]
                    return True
        return False

    def _send(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._queue or self._closed)
                if not self._queue:
                    return
            time.sleep(GATHER_S)
            with self._lock:
                batch = self._take()
                self._idle = False
            by_function: dict[bytes, list[tuple[Future, bytes]]] = {}
            for future, function, call in batch:
                by_function.setdefault(function, []).append((future, call))
            groups = [(function, [call for _, call in entries]) for function, entries in by_function.items()]
            futures = [future for entries in by_function.values() for future, _ in entries]
            if futures:
                self._start(groups, futures, 1)
            with self._lock:
                self._idle = True
                self._lock.notify_all()

    def _take(self) -> list[tuple[Future, bytes, bytes]]:
        """The oldest calls of the queue, as many as make a job."""
        count = size = 0
        for _, _, call in self._queue:
            if count == BATCH or size >= JOB_BYTES_MAX:
                break
            count, size = count + 1, size + len(call)
        batch, self._queue = self._queue[:count], self._queue[count:]
        return batch

    def _start(self, groups: Sequence[tuple[bytes, Sequence[bytes]]], futures: list[Future], chunk: int) -> None:
        try:
            job = submit_calls(self._grid, str(uuid.uuid4()), groups, chunk, self._options)
        except BaseException as error:
            for future in futures:
                future._resolve(None, error)
            if not isinstance(error, Exception):
                raise
            return
        self.jobs.append(job)
        follow(job, futures, chunk, [len(calls) for _, calls in groups])

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: Optional[float] = None,
        chunksize: Union[int, str] = "auto",
    ) -> Iterator[Any]:
        """Like Executor.map, as one job. `chunksize` calls run in one process; "auto" makes eight chunks per processor."""
        end = None if timeout is None else time.monotonic() + timeout
        futures: list[Optional[Future]] = [*self.map_futures(fn, *iterables, chunksize=chunksize)]

        def results() -> Iterator[Any]:
            try:
                for at, future in enumerate(futures):
                    assert future is not None
                    futures[at] = None  # A result that was given is not kept.
                    yield future.result(None if end is None else max(0.0, end - time.monotonic()))
            finally:
                cancel_waiting([future for future in futures if future is not None], "its results are no longer read")

        return results()

    def map_futures(self, fn: Callable[..., Any], *iterables: Iterable[Any], chunksize: Union[int, str] = "auto") -> list[Future]:
        """The futures of the calls that map() makes, in their order."""
        if chunksize != "auto" and (not isinstance(chunksize, int) or chunksize < 1):
            raise ArgumentError(f"chunksize is {chunksize!r}; expected 'auto' or a number from 1 on", "MUT_BAD_REQUEST")
        function = pickled(f"the function {getattr(fn, '__qualname__', fn)!s}", fn)
        futures: list[Future] = []
        calls: list[bytes] = []
        size = 0
        calls_max = min(JOB_CALLS_MAX, self._pending_max)
        for args in zip(*iterables):
            calls.append(pickled("an argument", (args, {})))
            size += len(calls[-1])
            if size >= JOB_BYTES_MAX or len(calls) >= calls_max:
                futures.extend(self._map_job(function, calls, chunksize))
                calls, size = [], 0
        if calls:
            futures.extend(self._map_job(function, calls, chunksize))
        return futures

    def _map_job(self, function: bytes, calls: list[bytes], chunksize: Union[int, str]) -> list[Future]:
        if isinstance(chunksize, int):
            chunk = chunksize
        else:
            processors = max(1, self._grid.processors())
            chunk = min(CHUNK_MAX, max(1, -(-len(calls) // (CHUNKS_PER_PROCESSOR * processors))))
        with self._lock:
            futures = self._add_futures(len(calls))
        self._watch_ends(futures)
        self._start([(function, calls)], futures, chunk)
        return futures

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._closed = True
            queued = [future for future, _, _ in self._queue] if cancel_futures else []
            if cancel_futures:
                self._queue = []
                self._lock.notify_all()
                # What is being sent right now can be cancelled when it has a job.
                self._lock.wait_for(lambda: self._idle)
            self._lock.notify_all()
            waiting = list(self._open)
        for future in queued:
            future._cancel_here()
        if cancel_futures:
            cancel_waiting(waiting, "the executor was shut down")
        if wait:
            with self._lock:
                self._lock.wait_for(lambda: not self._open)

    def detach(self) -> list[int]:
        """Leaves what has been submitted to the grid, and answers the numbers of its jobs: attach() has their futures.

        Futures that are here get their results as long as the program lives.
        """
        with self._lock:
            self._closed = True
            self._lock.notify_all()
            self._lock.wait_for(lambda: not self._queue and self._idle)
        return [job.id for job in self.jobs]


def as_completed(what: Any, timeout: Optional[float] = None, progress: bool = False) -> Iterator[Any]:
    """Futures or the tasks of a job, each as it ends. `progress` draws a bar on standard error (with tqdm where it is installed)."""
    each: Iterator[Any]
    if isinstance(what, Job):
        total, each = len(what), iter(what.as_completed(timeout))
    else:
        futures = list(what)
        total, each = len(futures), iter(concurrent.futures.as_completed(futures, timeout))
    if not progress:
        return each
    from .progress import draw

    return draw(each, total)


__all__ = ["Executor", "as_completed"]
