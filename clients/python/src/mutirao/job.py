"""Jobs and their tasks, as the broker has them."""

from __future__ import annotations

import concurrent.futures
import math
import threading
import time
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence, Union

from .broker.v1 import broker_pb2 as pb
from .errors import BrokerAway, MutiraoError, TaskFailed

if TYPE_CHECKING:
    from .functions import Future
    from .grid import Grid

STATUS = {
    pb.TASK_STATUS_WAITING: "waiting",
    pb.TASK_STATUS_READY: "ready",
    pb.TASK_STATUS_RUNNING: "running",
    pb.TASK_STATUS_VERIFYING: "verifying",
    pb.TASK_STATUS_FINISHED: "finished",
    pb.TASK_STATUS_FAILED: "failed",
    pb.TASK_STATUS_CANCELLED: "cancelled",
}
JOB_STATUS = {
    pb.JOB_STATUS_RUNNING: "running",
    pb.JOB_STATUS_FINISHED: "finished",
    pb.JOB_STATUS_FAILED: "failed",
    pb.JOB_STATUS_CANCELLED: "cancelled",
}
ENDS = {"tasks.finished": "finished", "tasks.failed": "failed", "tasks.cancelled": "cancelled"}
PAGE = 1000
NO_RESULTS: Mapping[int, Any] = {}


def failure_of(grid: Grid, record: Any) -> TaskFailed:
    """The exception for a task that was given up, from its last replica."""
    last = max(record.replicas, key=lambda replica: replica.ended_unix_ms, default=None)
    if last is None:
        return TaskFailed(f"task {record.task_index} of job {record.job_id} failed before it ran")
    stderr = ""
    try:
        output = grid.connection.output(record.job_id, record.task_index, math.inf)
        stderr = output.standard_error.decode(errors="replace")
    except MutiraoError:
        pass  # What it printed may be gone; why it failed is known all the same.
    reason = f"{last.reason} {last.detail.text}".strip() or f"exit status {last.exit_status}"
    tail = f"\n{stderr[-2000:]}" if stderr else ""
    message = f"task {record.task_index} of job {record.job_id} failed on {last.machine_id}: {reason}{tail}"
    return TaskFailed(message, last.reason, last.exit_status, last.machine_id, stderr)


class Task:
    """A task of a job. What it says is asked of the broker when it is read."""

    def __init__(self, job: Job, index: int) -> None:
        self.job = job
        self.index = index

    def __repr__(self) -> str:
        return f"<Task {self.index} of job {self.job.id}>"

    @property
    def record(self) -> Any:
        return self._read_record()

    def _read_record(self, patience: Optional[float] = None) -> Any:
        request = pb.ListTasksRequest(job_id=self.job.id, task_indexes=[self.index])
        tasks = self.job.grid.connection.call("ListTasks", request, patience=patience).tasks
        if not tasks:
            raise MutiraoError(f"job {self.job.id} has no task {self.index}", "MUT_NOT_FOUND")
        return tasks[0]

    @property
    def status(self) -> str:
        return STATUS[self.record.status]

    @property
    def value(self) -> str:
        """The text that stands for {} in its command; JSON where it has several parameters."""
        return str(self.record.value)

    @property
    def machine(self) -> Optional[str]:
        """Where its accepted replica ran, or runs; None before one was placed."""
        replicas = self.record.replicas
        accepted = [replica for replica in replicas if replica.accepted]
        return str((accepted or list(replicas))[-1].machine_id) if replicas else None

    @property
    def exit_status(self) -> Optional[int]:
        """Of its accepted replica, else of the last that ended; None before."""
        ended = [replica for replica in self.record.replicas if replica.ended_unix_ms]
        accepted = [replica for replica in ended if replica.accepted]
        return int((accepted or ended)[-1].exit_status) if ended else None

    @property
    def stdout(self) -> str:
        return str(self.job.grid.connection.output(self.job.id, self.index).standard_output.decode(errors="replace"))

    @property
    def stderr(self) -> str:
        return str(self.job.grid.connection.output(self.job.id, self.index).standard_error.decode(errors="replace"))

    def read(self, path: str, patience: Optional[float] = None) -> bytes:
        """The bytes of an output that was kept at the broker, by its path on the machine."""
        for file in self.job.grid.connection.output(self.job.id, self.index, patience).files:
            if file.path == path:
                return self.job.grid.connection.download(file.content.sha256, patience)
        raise MutiraoError(f"{self!r} brought no file {path}", "MUT_NOT_FOUND")

    def cancel(self, reason: str = "") -> None:
        """Ends it, and what runs of it; the others of its job go on. One that has ended stays as it is."""
        self.job.cancel_tasks([self.index], reason)

    def explain(self) -> str:
        """Why it is where it is, in sentences."""
        subject = pb.TaskSubject(job_id=self.job.id, task_index=self.index)
        return self.job.grid._explain(pb.ExplainRequest(task=subject))


class Job:
    """A job of the broker. Others may hold the same job: it is known by its number."""

    def __init__(self, grid: Grid, job_id: int, task_count: Optional[int] = None) -> None:
        self.grid = grid
        self.id = job_id
        self._count = task_count
        self._changed = threading.Condition()
        self._ended: dict[int, str] = {}  # Tasks by index, and how they ended.
        self._over = False
        self._failure: Optional[BaseException] = None  # Why nothing more is known of it.
        self._epoch = 0  # Grows when tasks run again: what was read before says nothing then.
        self._watched = False
        # Calls whose results are not here yet, by task: the futures of all calls of the task, once for each who has them.
        self._calls: dict[int, list[Sequence[Future]]] = {}

    def __repr__(self) -> str:
        return f"<Job {self.id}>"

    def _repr_html_(self) -> str:
        import html

        summary = self.summary()
        counts = ", ".join(
            f"{getattr(summary, name + '_count')} {name}"
            for name in ("waiting", "ready", "running", "finished", "failed", "cancelled")
            if getattr(summary, name + "_count")
        )
        label = f" {html.escape(summary.label)}" if summary.label else ""
        share = 100 * (summary.finished_count + summary.failed_count + summary.cancelled_count) / max(summary.task_count, 1)
        return f"<p><b>job {self.id}</b>{label}: {JOB_STATUS[summary.status]}; {counts}<br><progress max=100 value={share:.1f}></progress></p>"

    def __len__(self) -> int:
        if self._count is not None:
            return self._count
        summary = self.summary()
        if not summary.open:
            self._count = int(summary.task_count)
        return int(summary.task_count)

    def __getitem__(self, index: int) -> Task:
        if not -len(self) <= index < len(self):
            raise IndexError(f"job {self.id} has {len(self)} tasks")
        return Task(self, index % len(self))

    def __iter__(self) -> Iterator[Task]:
        return (Task(self, index) for index in range(len(self)))

    def summary(self) -> Any:
        return self.grid.connection.call("GetJob", pb.GetJobRequest(job_id=self.id, without_spec=True)).job

    @property
    def status(self) -> str:
        return JOB_STATUS[self.summary().status]

    def wait(self, timeout: Optional[float] = None) -> str:
        """Waits until the job has ended, through restarts of the broker; answers how. Raises TimeoutError."""
        self._watch(timeout)
        with self._changed:
            if not self._changed.wait_for(lambda: self._over, timeout):
                raise concurrent.futures.TimeoutError(f"job {self.id} has not ended within {timeout} s")
            if self._failure is not None:
                raise self._failure
        return self.status

    def cancel(self, reason: str = "") -> None:
        self.grid.connection.call("CancelJob", pb.CancelJobRequest(job_id=self.id, reason=reason))

    def close(self, patience: Optional[float] = None) -> None:
        """Has it take no more calls: it ends with the last of those that it has."""
        self.grid.connection.call("CloseJob", pb.CloseJobRequest(job_id=self.id), patience=patience)

    def cancel_tasks(self, tasks: Sequence[int], reason: str = "") -> None:
        """Ends some of its tasks, and what runs of them; the others go on. Those that have ended stay as they are."""
        request = pb.CancelTasksRequest(job_id=self.id, task_indexes=tasks, reason=reason)
        self.grid.connection.call("CancelTasks", request)

    def retry(self, tasks: Optional[Sequence[int]] = None) -> int:
        """Runs what failed or was cancelled once more; answers how many tasks that is. futures() has new ones for them."""
        self._forget(tasks)
        try:
            answer = self.grid.connection.call("RetryTasks", pb.RetryTasksRequest(job_id=self.id, task_indexes=tasks or []))
        finally:
            if self._watched:
                self._reconcile()
        return int(answer.retried_count)

    def explain(self) -> str:
        return self.grid._explain(pb.ExplainRequest(job_id=self.id))

    def ledger(self) -> list[dict[str, Union[str, float]]]:
        """Processor-seconds held, used, lost to other replicas, killed and idle, for each request and the shared machines."""
        rows: list[dict[str, Union[str, float]]] = []
        request = pb.GetLedgerRequest(job_id=self.id)
        while True:
            answer = self.grid.connection.call("GetLedger", request)
            for row in answer.rows:
                kinds = ("requested", "held", "used", "losers", "killed", "idle")
                times = {kind: getattr(row, f"{kind}_processor_ms") / 1000 for kind in kinds}
                rows.append({"provider": row.provider_id, "request": row.request_id, **times})
            if not answer.HasField("next_page_token"):
                return rows
            request.page_token = answer.next_page_token

    def futures(self) -> list[Future]:
        """Futures of the calls of this job, where it was made of functions: also in another process, on another day."""
        from .functions import futures_of

        return futures_of(self)

    def as_completed(self, timeout: Optional[float] = None) -> Iterator[Task]:
        """Its tasks, each as it ends, however it ends."""
        self._watch(timeout)
        end = None if timeout is None else time.monotonic() + timeout
        given: set[int] = set()
        while True:
            with self._changed:
                left = None if end is None else max(0.0, end - time.monotonic())
                if not self._changed.wait_for(lambda: len(self._ended) > len(given) or self._over, left):
                    raise concurrent.futures.TimeoutError(f"{len(self) - len(given)} tasks of job {self.id} have not ended")
                fresh = [index for index in self._ended if index not in given]
                over = self._over
            for index in fresh:
                given.add(index)
                yield Task(self, index)
            if over and not fresh:
                return

    # What the watcher calls, from its thread. Futures are given their ends outside of the lock: callbacks are the user's.

    def _watch(self, patience: Optional[float] = None) -> None:
        """Receives events from now on, and reads what was before; waits so many seconds for a broker that is away."""
        with self._changed:
            if self._watched:
                return
            self._watched = True
            self._over = False
            self._failure = None
            self._epoch += 1
        self.grid.watcher.add(self)
        try:
            self._reconcile(math.inf if patience is None else patience)
        except BrokerAway:
            pass  # The watcher reads it when the broker is back.
        except Exception as error:
            self._lose(error)

    def _hear(self, event: Any) -> None:
        indexes: Sequence[int] = event.task_indexes
        is_whole = event.task_count <= len(indexes)
        if event.type in ENDS:
            if is_whole:
                self._end(indexes, ENDS[event.type], {result.task_index: result for result in event.results.results})
            else:
                self._reconcile()
        elif event.type == "tasks.started":
            for index in indexes:
                for futures in self._calls.get(index, ()):
                    for future in futures:
                        future._begin()
        elif event.type == "tasks.retried":
            self._forget(indexes if is_whole else None)
            self._reconcile()
        elif event.type in ("job.finished", "job.failed", "job.cancelled"):
            with self._changed:
                if self._count is None or len(self._ended) < self._count:
                    is_whole = False
            if is_whole:
                self._finish(self._epoch)
            else:
                self._reconcile()

    def _grow(self, count: int) -> None:
        """It has at least so many tasks."""
        with self._changed:
            self._count = max(self._count or 0, count)

    def _forget(self, tasks: Optional[Sequence[int]]) -> None:
        """These tasks, or all that did not finish, run again."""
        with self._changed:
            self._epoch += 1
            for index in list(self._ended) if not tasks else tasks:
                if self._ended.get(index) != "finished":
                    self._ended.pop(index, None)

    def _end(self, indexes: Sequence[int], how: str, results: Mapping[int, Any] = NO_RESULTS) -> None:
        """`results`: what came with the event."""
        from .functions import settle

        with self._changed:
            for index in indexes:
                self._ended[index] = how
            calls = [(index, self._calls.pop(index)) for index in indexes if index in self._calls]
            self._changed.notify_all()
        for index, lists in calls:
            for futures in lists:
                settle(self, index, how, futures, results.get(index))

    def _expect(self, calls: dict[int, Sequence[Future]]) -> None:
        """These futures get the results of its tasks, also of those that have ended."""
        from .functions import settle

        with self._changed:
            ended = {index: self._ended[index] for index in calls if index in self._ended}
            for index, futures in calls.items():
                if index not in ended:
                    self._calls.setdefault(index, []).append(futures)
        for index, how in ended.items():
            settle(self, index, how, calls[index])
        self._watch()

    def _reconcile(self, patience: Optional[float] = None) -> None:
        """Reads which tasks have ended: at the start, after the broker was away, and at the end of the job."""
        epoch = self._epoch
        found: set[int] = set()
        request = pb.GetJobRequest(job_id=self.id, without_spec=True)
        summary = self.grid.connection.call("GetJob", request, patience=patience).job
        for status, how, count in (
            (pb.TASK_STATUS_FINISHED, "finished", summary.finished_count),
            (pb.TASK_STATUS_FAILED, "failed", summary.failed_count),
            (pb.TASK_STATUS_CANCELLED, "cancelled", summary.cancelled_count),
        ):
            tasks = pb.ListTasksRequest(job_id=self.id, status=status, page_size=PAGE)
            while count > 0:
                answer = self.grid.connection.call("ListTasks", tasks, patience=patience)
                if epoch != self._epoch:
                    return  # Tasks run again, and whoever said so reads anew.
                indexes = [task.task_index for task in answer.tasks]
                found.update(indexes)
                self._end(indexes, how)
                if not answer.HasField("next_task_index"):
                    break
                tasks.from_task_index = answer.next_task_index
        if summary.status != pb.JOB_STATUS_RUNNING:
            self._finish(epoch)
        else:
            # What failed before and is not among these runs again, and nobody listened when that was said.
            self._keep(found, epoch)

    def _keep(self, found: set[int], epoch: int) -> None:
        with self._changed:
            if epoch == self._epoch:
                self._ended = {index: how for index, how in self._ended.items() if how == "finished" or index in found}

    def _finish(self, epoch: int) -> None:
        with self._changed:
            if epoch != self._epoch:
                return
            self._over = True
            # Whoever waits for it again asks again: it may be retried meanwhile.
            self._watched = False
            self._changed.notify_all()
        self.grid.watcher.remove(self)

    def _lose(self, error: BaseException) -> None:
        """Nothing more will be known of it, for example after the broker was put back from a backup without it."""
        self.grid.watcher.remove(self)
        with self._changed:
            calls, self._calls = self._calls, {}
            self._over, self._watched, self._failure = True, False, error
            self._changed.notify_all()
        for lists in calls.values():
            for futures in lists:
                for future in futures:
                    future._resolve(None, error)
