"""Functions as tasks: how calls travel, and the futures that stand for them."""

from __future__ import annotations

import asyncio
import base64
import concurrent.futures
import functools
import importlib.util
import io
import marshal
import math
import os
import pathlib
import pickle
import re
import shlex
import sys
import sysconfig
import threading
import time
import zipfile
from typing import TYPE_CHECKING, Any, Callable, Generator, Iterable, Optional, Sequence

import cloudpickle

from .broker.v1 import broker_pb2 as pb
from .common.v1 import common_pb2
from .errors import ArgumentError, MutiraoError, RemoteTraceback, TaskFailed
from .job import Job, Task, failure_of
from .packets import pack, unpack

if TYPE_CHECKING:
    from .grid import Grid

VERSION = "%d.%d" % sys.version_info[:2]
TIMELESS = (2020, 1, 1, 0, 0, 0)  # So that the same files are the same archive.
CANCEL_BATCH = 10_000  # Tasks of one call.
# The end of a group's command says how many calls each of its tasks runs, and how many there are.
COMMAND = re.compile(r" runner\.pyz \{\} [\d.]+ (?P<chunk>\d+) (?P<count>\d+)$")
KEPT_S = 10.0
CRASHED, KILLED = 87, 137  # Exit status of a task some of whose calls ended their process; where one was ended by SIGKILL.
INLINE_MAX = 48 << 10  # Bytes of the calls of a task that travel with it.
INLINE_TOTAL_MAX = 256 << 10  # Of those of one append; more are a file.


# Of all futures: one of its own for each would be most of what a future holds. Ends are rare, and who waits looks again.
_condition = threading.Condition()
_ENDS = ("CANCELLED", "CANCELLED_AND_NOTIFIED", "FINISHED")


def _after_fork() -> None:
    global _condition
    _condition = threading.Condition()


os.register_at_fork(after_in_child=_after_fork)


class Future(concurrent.futures.Future):  # type: ignore[type-arg]
    """The result of a call on the grid. It is known by job, task and place, so that another process can have it too."""

    # A program may hold a million.
    __slots__ = (
        "_state",
        "_result",
        "_exception",
        "_waiter_list",
        "_callback_list",
        "_owner",
        "job",
        "task_index",
        "_sharers",
        "_claimed",
        "_is_holding",
        "_take_back",
    )

    def __init__(self, owner: Optional[Callable[[Future], None]] = None) -> None:
        """`owner` is called at its end, before the callbacks."""
        self._state = "PENDING"
        self._result = self._exception = None
        self._waiter_list: Optional[list[Any]] = None
        self._callback_list: Optional[list[Any]] = None
        self._owner = owner
        self.job: Optional[Job] = None
        self.task_index: Optional[int] = None
        self._sharers = 0  # Calls that its task runs, itself included; 0 before it was submitted.
        self._claimed = False
        self._is_holding = False
        self._take_back: Optional[Callable[[Future], bool]] = None  # While it has not been submitted.

    # As the class above knows them; made when they are used.
    @property
    def _condition(self) -> threading.Condition:  # type: ignore[override]
        return _condition

    @property
    def _waiters(self) -> list[Any]:  # type: ignore[override]
        if self._waiter_list is None:
            self._waiter_list = []
        return self._waiter_list

    @property
    def _done_callbacks(self) -> list[Any]:
        if self._callback_list is None:
            self._callback_list = []
        return self._callback_list

    def _has_ended(self) -> bool:
        return self._state in _ENDS

    def result(self, timeout: Optional[float] = None) -> Any:
        error = self.exception(timeout)
        try:
            if error is not None:
                raise error
            return self._result
        finally:
            del error, self  # No cycle of an exception and its frames.

    def exception(self, timeout: Optional[float] = None) -> Optional[BaseException]:
        with _condition:
            if not _condition.wait_for(self._has_ended, timeout):
                raise concurrent.futures.TimeoutError()
            if self._state != "FINISHED":
                raise concurrent.futures.CancelledError()
            return self._exception

    def set_result(self, result: Any) -> None:
        self._finish(result, None)

    def set_exception(self, exception: Optional[BaseException]) -> None:
        self._finish(None, exception)

    def _finish(self, result: Any, exception: Any) -> None:
        with _condition:
            if self._state in _ENDS:
                raise concurrent.futures.InvalidStateError(f"{self._state}: {self!r}")
            self._result, self._exception, self._state = result, exception, "FINISHED"
            for waiter in self._waiter_list or ():
                (waiter.add_result if exception is None else waiter.add_exception)(self)
            _condition.notify_all()
        self._invoke_callbacks()

    @property
    def task(self) -> Optional[Task]:
        """The task that runs the call; None before it was submitted."""
        return None if self.job is None or self.task_index is None else Task(self.job, self.task_index)

    @property
    def machine(self) -> Optional[str]:
        return None if self.task is None else self.task.machine

    def stdout(self) -> str:
        """What its task printed; calls that ran in one task share it."""
        return "" if self.task is None else self.task.stdout

    def explain(self) -> str:
        return "It has not been submitted yet." if self.task is None else self.task.explain()

    def cancel(self) -> bool:
        """Takes back a call that does not run. One that shares its task with others cannot be taken out of it."""
        if self.running() or self.done():
            return self.cancelled()
        if self._take_back is None or not self._take_back(self):
            task = self.task
            if task is None or self._sharers != 1:
                return False
            try:
                task.cancel("cancelled by its future")
            except MutiraoError:
                return False
        return self._cancel_here()

    def _cancel_here(self) -> bool:
        """Makes it a cancelled one, of which those who wait for it know; False where it runs or has an end."""
        is_cancelled = super().cancel()
        with self._condition:
            if self._state == "CANCELLED":
                self.set_running_or_notify_cancel()
        return is_cancelled

    def _begin(self) -> bool:
        """Whether it runs from now on, or ran already; False where it has an end."""
        with self._condition:
            return self._state == "RUNNING" or (self._state == "PENDING" and self.set_running_or_notify_cancel())

    def _resolve(self, value: Any, failure: Optional[BaseException]) -> None:
        """Gives it its end, unless it has one."""
        with self._condition:
            if self._claimed or not self._begin():
                return
            self._claimed = True
        if failure is not None:
            self.set_exception(failure)
        else:
            self.set_result(value)

    def _hold_callbacks(self) -> bool:
        """Callbacks are not called when it gets its end, but when that is said; True where there are any to be called."""
        with self._condition:
            if self.done():
                return False
            self._is_holding = True
            return True

    def _invoke_callbacks(self) -> None:
        if self._is_holding:
            return
        owner, self._owner = self._owner, None
        if owner is not None:
            owner(self)
        if self._callback_list is not None:
            super()._invoke_callbacks()  # type: ignore[misc]

    def _release_callbacks(self) -> None:
        with self._condition:
            self._is_holding = False
            is_done = self.done()
        if is_done:
            self._invoke_callbacks()

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self).__await__()


@functools.lru_cache(maxsize=1)
def runner() -> bytes:
    """The archive that runs calls: our runner and cloudpickle. The same bytes for the same versions, so that it is staged once."""
    here = pathlib.Path(__file__).parent
    files = {"__main__.py": (here / "_runner.py").read_bytes(), "packets.py": (here / "packets.py").read_bytes()}
    library = pathlib.Path(cloudpickle.__file__).parent
    for path in sorted(library.glob("*.py")):
        files[f"cloudpickle/{path.name}"] = path.read_bytes()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, TIMELESS), data)
            # A Python of another version takes the source instead. Compiling that anew would be half of a task's start.
            archive.writestr(zipfile.ZipInfo(name + "c", TIMELESS), compiled(name, data))
    return out.getvalue()


def compiled(name: str, source: bytes) -> bytes:
    """A .pyc without a time in it, of which nobody checks whether its source has changed."""
    code = compile(source, name, "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + importlib.util.source_hash(source) + marshal.dumps(code)


_seen_modules = 0
_ours = ("mutirao", "cloudpickle", "grpc", "google")


def send_own_modules() -> None:
    """Has functions of the user's own files travel whole: machines have installed packages at most, and not her scripts."""
    global _seen_modules
    if len(sys.modules) == _seen_modules:
        return
    _seen_modules = len(sys.modules)
    for name, module in list(sys.modules.items()):
        if name in ("__main__", "__mp_main__") or name.partition(".")[0] in _ours or getattr(module, "__name__", None) != name:
            continue
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and not is_installed(file, name.count(".")):
            cloudpickle.register_pickle_by_value(module)


@functools.lru_cache(maxsize=None)
def installed_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    keys = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({os.path.realpath(paths[key]) + os.sep for key in keys} | {os.path.dirname(os.path.realpath(os.__file__)) + os.sep})


@functools.lru_cache(maxsize=None)
def is_target(folder: str) -> bool:
    """Whether packages were installed into a folder: they leave their metadata there."""
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:
        return False


def is_installed(file: str, depth: int) -> bool:
    """Of the standard library, or of a package that was installed; `depth` of its name below the package's."""
    path = pathlib.Path(os.path.realpath(file))
    if path.parts and ("site-packages" in path.parts or "dist-packages" in path.parts):
        return True
    parents = path.parents
    top = depth + (1 if path.name == "__init__.py" else 0)
    return str(path).startswith(installed_folders()) or is_target(str(parents[min(top, len(parents) - 1)]))


def pickled(what: str, value: Any) -> bytes:
    send_own_modules()
    try:
        data: bytes = cloudpickle.dumps(value, protocol=4)
        return data
    except Exception as error:
        raise ArgumentError(f"{what} cannot be sent to another machine: {type(error).__name__}: {error}", "MUT_BAD_REQUEST") from error


def command_of(python: Optional[str], arguments: str) -> str:
    """Runs the interpreter of this process where a machine has it, else python3; a name that was given is taken as it is."""
    if python is not None:
        return f"exec {shlex.quote(python)} runner.pyz {arguments}"
    return (
        f"p={shlex.quote(sys.executable or 'python3')}; [ -x \"$p\" ] || p=python{VERSION}; "
        f'command -v "$p" >/dev/null || p=python3; exec "$p" runner.pyz {arguments}'
    )


def values_of(calls: Sequence[bytes], chunk: int) -> tuple[list[str], bool]:
    """For each task where its calls are: in its value, or in a file, which is needed then."""
    starts = range(0, len(calls), chunk)
    packed = [pack(calls[start : start + chunk]) for start in starts] if sum(map(len, calls)) <= INLINE_TOTAL_MAX else []
    if packed and sum(map(len, packed)) <= INLINE_TOTAL_MAX and max(map(len, packed)) <= INLINE_MAX:
        return ["i:" + base64.b64encode(data).decode() for data in packed], False
    return [f"f:{start}:{min(chunk, len(calls) - start)}" for start in starts], True


class Options:
    """What the tasks of calls ask for. `time` and `memory` bound a task; a task runs `chunk` calls."""

    def __init__(
        self,
        cpus: Optional[int] = None,
        resources: Optional[Any] = None,
        limits: Optional[Any] = None,
        requirements: str = "",
        python: Optional[str] = None,
        label: str = "",
        replicas_max: Optional[int] = None,
        failures_max: Optional[int] = None,
        environment: Optional[dict[str, str]] = None,
    ) -> None:
        self.cpus, self.resources, self.limits, self.requirements = cpus, resources, limits, requirements
        self.python, self.label = python, label
        self.replicas_max, self.failures_max = replicas_max, failures_max
        self.environment = environment or {}


def open_job(grid: Grid, key: str, options: Options) -> Job:
    """A job without tasks that takes some until it is closed. Waits for a broker that is away for as long as it takes."""
    job = pb.JobSpec(
        label=options.label or "Python calls",
        environment=options.environment,
        processors=options.cpus,
        resources=options.resources,
        limits=options.limits,
        replicas_max=options.replicas_max,
        failures_max=options.failures_max,
        open=True,
    )
    request = pb.SubmitJobRequest(job=job, client_job_id=key)
    answer = grid.connection.call("SubmitJob", request, timeout=120, patience=math.inf)
    return Job(grid, answer.job_id, answer.task_count)


def append_calls(job: Job, key: str, groups: Sequence[tuple[bytes, Sequence[bytes]]], chunk: int, options: Options) -> int:
    """Adds calls to an open job: of each function its pickled self and the pickled arguments of its calls.

    Answers the index of the first of their tasks. Waits for a broker that is away for as long as it takes: the same key
    is the same append.
    """
    connection = job.grid.connection
    archive = connection.upload(runner(), math.inf)

    def source(content: Any, path: str) -> Any:
        return pb.InputSpec(source=pb.InputSource(content=content), root=common_pb2.ROOT_PLAYPEN, path=path)

    specs = []
    for function, calls in groups:
        values, needs_file = values_of(calls, chunk)
        inputs = [source(archive, "runner.pyz"), source(connection.upload(function, math.inf), "function")]
        if needs_file:
            inputs.append(source(connection.upload(pack(calls), math.inf), "calls"))
        specs.append(
            pb.TaskGroup(
                command=command_of(options.python, f"{{}} {VERSION} {chunk} {len(calls)}"),
                runner=common_pb2.Runner(command=command_of(options.python, f"--serve {VERSION}"), protocol_version=1),
                list=pb.ValueList(values=values),
                inputs=inputs,
                outputs=[pb.OutputSpec(root=common_pb2.ROOT_PLAYPEN, path="result")],
                requirements=options.requirements,
            )
        )
    request = pb.AppendTasksRequest(job_id=job.id, append_key=key, groups=specs)
    answer = connection.call("AppendTasks", request, timeout=120, patience=math.inf)
    job._grow(answer.first_task_index + answer.task_count)
    return int(answer.first_task_index)


def follow(job: Job, futures: Sequence[Future], first_task: int, parts: Sequence[tuple[int, int]]) -> None:
    """Ties futures to calls of a job, in their order from a task on, and watches it. Of each part: calls, calls of a task."""
    calls: dict[int, Sequence[Future]] = {}
    at, task = 0, first_task
    for count, chunk in parts:
        for start in range(at, at + count, chunk):
            sharers = futures[start : min(start + chunk, at + count)]
            for future in sharers:
                future.job, future.task_index, future._sharers = job, task, len(sharers)
            calls[task] = sharers
            task += 1
        at += count
    job._expect(calls)


def futures_of(job: Job) -> list[Future]:
    """Of an open job, those of the calls that it has now."""
    groups = job.grid.connection.call("GetJob", pb.GetJobRequest(job_id=job.id, without_values=True)).spec.groups
    matches = [COMMAND.search(group.command) for group in groups]
    parts = [(int(match["count"]), int(match["chunk"])) for match in matches if match is not None]
    if len(parts) < len(groups):
        raise MutiraoError(f"job {job.id} was not made of functions, so it has tasks and no futures: iterate over the job", "MUT_BAD_REQUEST")
    futures = [Future() for _ in range(sum(count for count, _ in parts))]
    follow(job, futures, 0, parts)
    return futures


def settle(job: Job, index: int, how: str, entries: Sequence[Future], result: Any = None) -> None:
    """Gives the futures of a task that has ended their results: those that came with the event, else in a thread that fetches them."""
    data = None if result is None else next((file.data for file in result.files if file.path == "result" and file.HasField("data")), None)
    # Unpickling and callbacks may take long, and a callback may wait for another call: neither must hold up the stream.
    job.grid._fetchers.put(lambda: settle_task(job, index, how, entries, data))


def settle_task(job: Job, index: int, how: str, entries: Sequence[Future], data: Optional[bytes] = None) -> None:
    task = Task(job, index)
    failure: Optional[BaseException] = None
    lost: Optional[TaskFailed] = None
    outcomes: list[bytes] = []
    try:
        if how == "cancelled":
            failure = concurrent.futures.CancelledError()
        elif how == "failed":
            lost = failure_of(job.grid, task._read_record(math.inf))
            try:
                if has_results(lost, len(entries)):
                    outcomes = unpack(read_kept(task))
                else:
                    failure = lost
            except MutiraoError:
                if lost.exit_status == CRASHED:
                    raise
                failure = lost  # All of it was killed.
        else:
            outcomes = unpack(task.read("result", math.inf) if data is None else data)
    except BaseException as reason:
        failure = reason
    # A callback may wait for another call of its task: all have their ends before any is called.
    held = [future for future in entries if future._hold_callbacks()]
    for place, future in enumerate(entries):
        if how == "cancelled" and future._cancel_here():
            continue
        if failure is None and place >= len(outcomes):
            failure = MutiraoError(f"task {index} of job {job.id} brought only {len(outcomes)} results", "MUT_BAD_REPORT")
        value, error = (None, failure) if failure is not None else read_outcome(outcomes[place], lost)
        future._resolve(value, error)
    for future in held:
        future._release_callbacks()


def has_results(lost: TaskFailed, calls: int) -> bool:
    """Whether other calls of a failed task may have results."""
    if lost.exit_status == KILLED:
        return calls > 1 and lost.code in ("MUT_COMMAND_FAILED", "MUT_OUT_OF_MEMORY")
    return lost.exit_status == CRASHED


def read_kept(task: Task) -> bytes:
    """The results of a task that failed: they are kept after its end was announced."""
    end = time.monotonic() + KEPT_S
    while True:
        try:
            return task.read("result", math.inf)
        except MutiraoError as error:
            if error.code != "MUT_CONTENT_NOT_FOUND" or time.monotonic() > end:
                raise
        time.sleep(0.05)


def cancel_waiting(futures: Iterable[Future], reason: str) -> None:
    """Cancels the tasks of which all calls that have no end are among these and do not run."""
    tasks: dict[Job, dict[int, list[Future]]] = {}
    for future in futures:
        if future.job is not None and future.task_index is not None and not future.done() and not future.running():
            tasks.setdefault(future.job, {}).setdefault(future.task_index, []).append(future)
    for job, calls in tasks.items():
        whole = [index for index, sharers in calls.items() if len(sharers) == sharers[0]._sharers]
        for start in range(0, len(whole), CANCEL_BATCH):
            part = whole[start : start + CANCEL_BATCH]
            try:
                job.cancel_tasks(part, reason)
            except MutiraoError:
                continue  # They have ended meanwhile, or the broker is away: they run on.
            for index in part:
                for future in calls[index]:
                    future._cancel_here()


def read_outcome(item: bytes, lost: Optional[TaskFailed] = None) -> tuple[Any, Optional[BaseException]]:
    try:
        outcome = pickle.loads(item)
    except BaseException as failure:
        return None, failure
    if outcome is None:
        return None, None
    if "value" in outcome:
        return outcome["value"], None
    if "crash" in outcome:
        where = "" if lost is None else f" on {lost.machine}"
        message = f"the call failed{where}: {outcome['crash']}"
        if lost is None:
            return None, TaskFailed(message, "MUT_COMMAND_FAILED", CRASHED)
        return None, TaskFailed(message, lost.code or "MUT_COMMAND_FAILED", lost.exit_status, lost.machine, lost.stderr)
    error: Any = None
    try:
        if outcome["error"] is not None:
            error = pickle.loads(outcome["error"])
    except BaseException:
        pass  # Its class is not here; its name and its words are.
    if not isinstance(error, BaseException):
        error = MutiraoError(f"{outcome['kind']}: {outcome['message']}")
    error.__cause__ = RemoteTraceback(outcome["traceback"])
    return None, error
