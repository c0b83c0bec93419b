"""One stream of events for all jobs of a client."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Optional

import grpc

from .broker.v1 import broker_pb2 as pb
from .connection import Connection

if TYPE_CHECKING:
    from .job import Job


class Watcher:
    """Hands the events of jobs to those that were added. Goes on behind the last event when the broker was away."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._jobs: dict[int, list[Job]] = {}
        self._lock = threading.Lock()
        self._thread: Optional[threading.Thread] = None
        self._stream: Any = None
        self._closed = False

    def add(self, job: Job) -> None:
        """From now on the job hears of its events; what was before is read once, so that none is missed."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the grid is closed; connect again")
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
        after, told, journal = 0, 0, None
        begun = False
        while not self._closed:
            try:
                request = pb.WatchJobRequest(
                    job_id=0,
                    after_sequence=after,
                    after_event_count=told,
                    journal_instance=journal,
                    # The first time only what comes from now on: what has been is asked for by each job.
                    last_changes=None if begun else 0,
                )
                self._stream = self._connection.watch(request)
                for message in self._stream:
                    journal = message.journal_instance or None
                    begun = begun or message.HasField("last_sequence")
                    if message.HasField("last_sequence"):
                        after, told = message.last_sequence, message.last_event_count
                    if not message.events:
                        # All before this is told: what each job missed meanwhile can be asked for.
                        for job in self._all():
                            job._reconcile()
                    for event in message.events:
                        with self._lock:
                            heard = list(self._jobs.get(event.job_id, ()))
                        for job in heard:
                            job._hear(event)
            except grpc.RpcError as error:
                if self._closed:
                    return
                if error.code() == grpc.StatusCode.OUT_OF_RANGE:
                    # The broker was restored from a backup: its events are counted anew.
                    after, told, journal, begun = 0, 0, None, False
                    continue
                time.sleep(0.2)
                self._connection.reopen()
            except Exception:
                if self._closed:
                    return
                time.sleep(0.2)
                self._connection.reopen()

    def close(self) -> None:
        self._closed = True
        if self._stream is not None:
            self._stream.cancel()
