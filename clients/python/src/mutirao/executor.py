"""An executor of concurrent.futures on the grid."""

from __future__ import annotations

import concurrent.futures
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional, Union

from .errors import ArgumentError, MutiraoError
from .functions import Future, Options, follow, pickled, submit_calls
from .job import Job

if TYPE_CHECKING:
    from .grid import Grid

GATHER_S = 0.01  # How long submissions are gathered before they go out as one job.
BATCH = 1000  # Calls of one job that were submitted one by one.
CHUNK_MAX = 1000  # Calls of one task.
CHUNKS_PER_PROCESSOR = 8
CANCEL_BATCH = 10_000  # Tasks of one call.
CALL_BYTES_MAX = 256 << 20  # Arguments of the calls of one job.


class Executor(concurrent.futures.Executor):
    """Leaving `with` waits for all calls; detach() leaves them to the grid, for attach() later."""

    def __init__(self, grid: Grid, options: Options, pending_max: int) -> None:
        self._grid, self._options = grid, options
        self._lock = threading.Condition()
        self._queue: list[tuple[Future, bytes, bytes]] = []
        self._closed = False
        self._idle = True
        self._room = threading.Semaphore(pending_max)
        self._open: set[Future] = set()
        self._functions: dict[int, tuple[Any, bytes]] = {}
        self._thread: Optional[threading.Thread] = None
        self.jobs: list[Job] = []

    def _pickle_function(self, fn: Callable[..., Any]) -> bytes:
        """Once for each function, as long as that lives here."""
        known = self._functions.get(id(fn))
        if known is None:
            known = self._functions[id(fn)] = (fn, pickled(f"the function {getattr(fn, '__qualname__', fn)!s}", fn))
            while len(self._functions) > 100:
                self._functions.pop(next(iter(self._functions)))
        return known[1]

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Like Executor.submit. Raises ArgumentError at once for what cannot be pickled; waits while too much is pending."""
        function, call = self._pickle_function(fn), pickled("an argument", (args, kwargs))
        self._room.acquire()
        with self._lock:
            if self._closed:
                self._room.release()
                raise RuntimeError("cannot schedule new futures after shutdown")
            future = self._add_future()
            self._queue.append((future, function, call))
            if self._thread is None:
                self._thread = threading.Thread(target=self._send, name="mutirao-submit", daemon=True)
                self._thread.start()
            self._lock.notify_all()
        return future

    def _add_future(self) -> Future:
        future = Future()
        future._on_cancel = self._cancel
        self._open.add(future)
        future.add_done_callback(self._done)
        return future

    def _done(self, future: Any) -> None:
        self._room.release()
        with self._lock:
            self._open.discard(future)
            self._lock.notify_all()

    def _cancel(self, future: Future) -> bool:
        """A call that has not been sent is taken back; of those that were, one that has a task of its own is cancelled there."""
        with self._lock:
            for at, (queued, _, _) in enumerate(self._queue):
                if queued is future:
                    del self._queue[at]
                    return True
        task = future.task
        if task is None or len(task.job._by_task.get(task.index, ())) != 1:
            return False
        try:
            task.cancel("cancelled by its future")
            return True
        except MutiraoError:
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
            self._start(groups, futures, 1)
            with self._lock:
                self._idle = True
                self._lock.notify_all()

    def _take(self) -> list[tuple[Future, bytes, bytes]]:
        """The oldest calls of the queue, as many as make a job."""
        count = size = 0
        for _, _, call in self._queue:
            if count == BATCH or size >= CALL_BYTES_MAX:
                break
            count, size = count + 1, size + len(call)
        batch, self._queue = self._queue[:count], self._queue[count:]
        return batch

    def _start(self, groups: Any, futures: list[Future], chunk: int) -> None:
        try:
            job = submit_calls(self._grid, str(uuid.uuid4()), groups, chunk, self._options)
            self.jobs.append(job)
            follow(job, futures, chunk, [len(calls) for _, calls in groups])
        except BaseException as error:
            for future in futures:
                if not future.done() and (future.running() or future.set_running_or_notify_cancel()):
                    future.set_exception(error)

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
                for future in futures:
                    if future is not None:
                        future.cancel()

        return results()

    def map_futures(self, fn: Callable[..., Any], *iterables: Iterable[Any], chunksize: Union[int, str] = "auto") -> list[Future]:
        """The futures of the calls that map() makes, in their order."""
        if chunksize != "auto" and (not isinstance(chunksize, int) or chunksize < 1):
            raise ArgumentError(f"chunksize is {chunksize!r}; expected 'auto' or a number from 1 on", "MUT_BAD_REQUEST")
        function = self._pickle_function(fn)
        futures: list[Future] = []
        calls: list[bytes] = []
        size = 0
        for args in zip(*iterables):
            calls.append(pickled("an argument", (args, {})))
            size += len(calls[-1])
            if size >= CALL_BYTES_MAX or len(calls) >= 1_000_000:
                futures.extend(self._map_job(function, calls, chunksize))
                calls, size = [], 0
        if calls:
            futures.extend(self._map_job(function, calls, chunksize))
        return futures

    def _map_job(self, function: bytes, calls: list[bytes], chunksize: Union[int, str]) -> list[Future]:
        for _ in calls:
            self._room.acquire()
        with self._lock:
            if self._closed:
                for _ in calls:
                    self._room.release()
                raise RuntimeError("cannot schedule new futures after shutdown")
            futures = [self._add_future() for _ in calls]
        if isinstance(chunksize, int):
            chunk = chunksize
        else:
            processors = max(1, self._grid.processors())
            chunk = min(CHUNK_MAX, max(1, -(-len(calls) // (CHUNKS_PER_PROCESSOR * processors))))
        self._start([(function, calls)], futures, chunk)
        return futures

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._closed = True
            queued = [future for future, _, _ in self._queue] if cancel_futures else []
            if cancel_futures:
                self._queue = []
            self._lock.notify_all()
        for future in queued:
            concurrent.futures.Future.cancel(future)
        if cancel_futures:
            self._cancel_waiting()
        if wait:
            with self._lock:
                self._lock.wait_for(lambda: not self._open)

    def _cancel_waiting(self) -> None:
        """Cancels the tasks none of whose calls runs."""
        for job in self.jobs:
            waiting = [
                index
                for index, futures in job._by_task.items()
                if all(not future.done() and not future.running() for future in futures)
            ]
            for start in range(0, len(waiting), CANCEL_BATCH):
                try:
                    job.cancel_tasks(waiting[start : start + CANCEL_BATCH], "the executor was shut down")
                except MutiraoError:
                    pass  # It has ended meanwhile.

    def detach(self) -> list[int]:
        """Leaves what has been submitted to the grid, and answers the numbers of its jobs: attach() has their futures."""
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
