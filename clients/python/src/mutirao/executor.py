"""An executor of concurrent.futures on the grid."""

from __future__ import annotations

import atexit
import concurrent.futures
import math
import os
import threading
import time
import uuid
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional, Sequence, Union

from .errors import ArgumentError, MutiraoError
from .functions import Future, Options, append_calls, cancel_waiting, follow, open_job, pickled
from .job import Job

if TYPE_CHECKING:
    from .grid import Grid

GATHER_S = 0.01  # How long submissions are gathered before they go out together.
BURST_S = 0.05  # What comes later than this after the append before is not gathered.
BATCH = 1000  # Calls of one append that were submitted one by one.
CHUNK_MAX = 1000  # Calls of one task.
CHUNKS_PER_PROCESSOR = 8
APPEND_CALLS_MAX = 1_000_000
APPEND_BYTES_MAX = 256 << 20  # Arguments of the calls of one append.

live: weakref.WeakSet[Executor] = weakref.WeakSet()


def close_at_exit() -> None:
    """A program that ends without shutdown() leaves no job that waits for more calls of it."""
    for executor in list(live):
        job = executor._job
        if job is not None and executor._pid == os.getpid() and not job.grid.connection.is_closed:
            try:
                job.close(patience=0)
            except MutiraoError:
                pass


atexit.register(close_at_exit)


class Executor(concurrent.futures.Executor):
    """Runs calls as tasks of one open job. Leaving `with` waits for all of them; detach() leaves them to the grid, for attach() later."""

    def __init__(self, grid: Grid, options: Options, pending_max: int) -> None:
        self._grid, self._options, self._pending_max = grid, options, max(1, pending_max)
        self._lock = threading.Condition()
        self._queue: list[tuple[Future, bytes, bytes]] = []
        self._closed = False
        self._sending = 0  # Appends on their way.
        self._job: Optional[Job] = None  # While it takes calls.
        self._opening = threading.Lock()
        self._closing = threading.Lock()
        self._latest: Callable[[], Optional[Future]] = lambda: None
        self._pid = os.getpid()
        self._open: set[Future] = set()
        self._thread: Optional[threading.Thread] = None
        self.jobs: list[Job] = []  # One, unless somebody closed or cancelled it.
        live.add(self)

    def _add_futures(self, count: int) -> list[Future]:
        """As many futures, when there is room for all of them. With the lock held."""
        self._lock.wait_for(lambda: self._closed or len(self._open) + count <= max(self._pending_max, count))
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        done = self._done
        futures = [Future(done) for _ in range(count)]
        self._open.update(futures)
        return futures

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Like Executor.submit. Raises ArgumentError at once for what cannot be pickled; waits while too much is pending."""
        function = pickled(f"the function {getattr(fn, '__qualname__', fn)!s}", fn)
        call = pickled("an argument", (args, kwargs))
        with self._lock:
            [future] = self._add_futures(1)
            future._take_back = self._take_back
            self._latest = weakref.ref(future)
            self._queue.append((future, function, call))
            if self._thread is None:
                self._thread = threading.Thread(target=self._send, name="mutirao-submit", daemon=True)
                self._thread.start()
            self._lock.notify_all()
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
        sent_at = -math.inf
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._queue or self._closed)
                if not self._queue:
                    break
            # A call that comes alone goes at once; of many, those that come together are one append.
            if time.monotonic() - sent_at < BURST_S:
                time.sleep(GATHER_S)
            with self._lock:
                batch = self._take()
                self._sending += 1
            by_function: dict[bytes, list[tuple[Future, bytes]]] = {}
            for future, function, call in batch:
                by_function.setdefault(function, []).append((future, call))
            groups = [(function, [call for _, call in entries]) for function, entries in by_function.items()]
            futures = [future for entries in by_function.values() for future, _ in entries]
            if futures:
                self._start(groups, futures, 1)
            sent_at = time.monotonic()
            self._sent()
        self._close_job()

    def _take(self) -> list[tuple[Future, bytes, bytes]]:
        """The oldest calls of the queue, as many as make an append."""
        count = size = 0
        for _, _, call in self._queue:
            if count == BATCH or size >= APPEND_BYTES_MAX:
                break
            count, size = count + 1, size + len(call)
        batch, self._queue = self._queue[:count], self._queue[count:]
        return batch

    def _sent(self) -> None:
        with self._lock:
            self._sending -= 1
            self._lock.notify_all()

    def _close_job(self) -> None:
        """Lets the job end, once nothing more can come. A broker that is away keeps it open: `mutirao job close` closes it."""
        # Whoever comes second waits: the grid may be closed when shutdown() or detach() has returned.
        with self._closing:
            with self._lock:
                if not self._closed or self._queue or self._sending > 0 or self._job is None:
                    return
                job, self._job = self._job, None
            try:
                job.close()
            except MutiraoError:
                pass

    def _get_job(self, instead_of: Optional[Job] = None) -> Job:
        """The open job of this executor; another one where somebody closed or cancelled it."""
        with self._opening:
            if self._job is None or self._job is instead_of:
                job = open_job(self._grid, str(uuid.uuid4()), self._options)
                self.jobs.append(job)
                self._job = job
            return self._job

    def _append(self, groups: Sequence[tuple[bytes, Sequence[bytes]]], chunk: int) -> tuple[Job, int]:
        key = str(uuid.uuid4())
        job = self._get_job()
        try:
            return job, append_calls(job, key, groups, chunk, self._options)
        except MutiraoError as error:
            if error.code != "MUT_JOB_CLOSED":
                raise
        job = self._get_job(job)
        return job, append_calls(job, key, groups, chunk, self._options)

    def _start(self, groups: Sequence[tuple[bytes, Sequence[bytes]]], futures: list[Future], chunk: int) -> None:
        try:
            job, first_task = self._append(groups, chunk)
        except BaseException as error:
            for future in futures:
                future._resolve(None, error)
            if not isinstance(error, Exception):
                raise
            return
        follow(job, futures, first_task, [(len(calls), chunk) for _, calls in groups])

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: Optional[float] = None,
        chunksize: Union[int, str] = "auto",
    ) -> Iterator[Any]:
        """Like Executor.map. `chunksize` calls run in one process; "auto" makes eight chunks per processor."""
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
        calls_max = min(APPEND_CALLS_MAX, self._pending_max)
        for args in zip(*iterables):
            calls.append(pickled("an argument", (args, {})))
            size += len(calls[-1])
            if size >= APPEND_BYTES_MAX or len(calls) >= calls_max:
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
            # Calls are numbered in the order of their submission, also for whoever attaches.
            latest = self._latest()
            self._lock.wait_for(lambda: self._closed or latest is None or latest.job is not None or latest.done())
            futures = self._add_futures(len(calls))
            self._sending += 1
        try:
            self._start([(function, calls)], futures, chunk)
        finally:
            self._sent()
            self._close_job()
        return futures

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._closed = True
            queued = [future for future, _, _ in self._queue] if cancel_futures else []
            if cancel_futures:
                self._queue = []
                self._lock.notify_all()
                # What is being sent right now can be cancelled when it has a job.
                self._lock.wait_for(lambda: self._sending == 0)
            self._lock.notify_all()
            waiting = list(self._open)
        for future in queued:
            future._cancel_here()
        if cancel_futures:
            cancel_waiting(waiting, "the executor was shut down")
        if wait:
            with self._lock:
                self._lock.wait_for(lambda: not self._open and not self._queue and self._sending == 0)
        self._close_job()

    def detach(self) -> list[int]:
        """Leaves what has been submitted to the grid, and answers the numbers of its jobs: attach() has their futures.

        Futures that are here get their results as long as the program lives.
        """
        with self._lock:
            self._closed = True
            self._lock.notify_all()
            self._lock.wait_for(lambda: not self._queue and self._sending == 0)
        self._close_job()
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
