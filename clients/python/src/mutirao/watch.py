"""One stream of events for all jobs of a client, and the threads that fetch results."""

from __future__ import annotations

import functools
import queue
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Optional

import grpc

from .broker.v1 import broker_pb2 as pb
from .connection import Connection
from .errors import BrokerAway, MutiraoError

if TYPE_CHECKING:
    from .job import Job

RESULT_BYTES = 1 << 20  # Of results that come with one event; others are fetched.
PAUSE_S = 0.2  # Before a broker that is away is asked again.


class Fetchers:
    """Threads that nobody waits for at the end of the program."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._queue: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def put(self, work: Callable[[], None]) -> None:
        with self._lock:
            if len(self._threads) < self._count:
                thread = threading.Thread(target=self._run, name="mutirao-fetch", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._queue.put(work)

    def _run(self) -> None:
        while True:
            self._queue.get()()


class Watcher:
    """Hands the events of jobs to those that were added, and has these read what they missed while the broker was away."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._jobs: dict[int, list[Job]] = {}
        self._lock = threading.Lock()
        self._thread: Optional[threading.Thread] = None
        self._stream: Any = None
        self._closed = False

    def add(self, job: Job) -> None:
        """From now on the job receives its events; it reads once what was before."""
        with self._lock:
            if self._closed:
                raise MutiraoError("the grid is closed; connect again", "MUT_CANCELLED")
            self._jobs.setdefault(job.id, []).append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mutirao-watch", daemon=True)
                self._thread.start()

    def remove(self, job: Job) -> None:
        with self._lock:
            jobs = self._jobs.get(job.id, [])
            if job in jobs:
                jobs.remove(job)
            if not jobs:
                self._jobs.pop(job.id, None)

    def _all(self) -> list[Job]:
        with self._lock:
            return [job for jobs in self._jobs.values() for job in jobs]

    def _run(self) -> None:
        while not self._closed:
            try:
                # Only what comes from now on: what has been, each job reads when the stream has begun.
                self._stream = self._connection.watch(pb.WatchJobRequest(job_id=0, last_changes=0, result_bytes_max=RESULT_BYTES))
                for message in self._stream:
                    if not message.events:
                        self._reconcile_all()
                    for event in message.events:
                        with self._lock:
                            jobs = list(self._jobs.get(event.job_id, ()))
                        for job in jobs:
                            self._guard(job, functools.partial(job._hear, event))
            except (grpc.RpcError, MutiraoError):
                pass  # The broker is away.
            if not self._closed:
                time.sleep(PAUSE_S)
                self._connection.reopen()

    def _reconcile_all(self) -> None:
        """What each job missed while nobody listened."""
        for job in self._all():
            self._guard(job, job._reconcile)

    def _guard(self, job: Job, work: Callable[[], None]) -> None:
        """One job that the broker does not have, or whose answer makes no sense, must not keep the others from theirs."""
        try:
            work()
        except BrokerAway:
            raise
        except Exception as error:
            job._lose(error)

    def close(self) -> list[Job]:
        """Answers the jobs that were watched."""
        with self._lock:
            self._closed = True
        if self._stream is not None:
            self._stream.cancel()
        return self._all()
