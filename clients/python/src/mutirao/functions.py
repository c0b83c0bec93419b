"""Functions as tasks: how calls travel, and the futures that stand for them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import io
import os
import pathlib
import pickle
import shlex
import site
import sys
import sysconfig
import zipfile
from typing import TYPE_CHECKING, Any, Callable, Generator, Optional, Sequence

import cloudpickle

from .broker.v1 import broker_pb2 as pb
from .common.v1 import common_pb2
from .errors import ArgumentError, MutiraoError, RemoteTraceback
from .job import Job, Task, failure_of
from .packets import pack, unpack

if TYPE_CHECKING:
    from .grid import Grid

CALLS = "MUTIRAO_CALLS"  # In a job's environment: how many calls each of its groups has, and how many a task runs.


class Future(concurrent.futures.Future):  # type: ignore[type-arg]
    """The result of a call on the grid. It is known by job, task and place, so that another process can have it too."""

    def __init__(self) -> None:
        super().__init__()
        self.job: Optional[Job] = None
        self.task_index: Optional[int] = None
        self._on_cancel: Optional[Callable[[Future], bool]] = None

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
        if self._on_cancel is not None and not self.running() and not self.done() and not self._on_cancel(self):
            return False
        return super().cancel()

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self).__await__()


@functools.lru_cache(maxsize=1)
def runner() -> bytes:
    """The archive that runs calls: our runner and cloudpickle. The same bytes for the same versions, so that it is staged once."""
    here = pathlib.Path(__file__).parent
    files = {"__main__.py": (here / "_runner.py").read_bytes()}
    library = pathlib.Path(cloudpickle.__file__).parent
    for path in sorted(library.glob("*.py")):
        files[f"cloudpickle/{path.name}"] = path.read_bytes()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data)
    return out.getvalue()


_seen_modules = 0


def send_own_modules() -> None:
    """Has functions of the user's own files travel whole: machines have installed packages at most, and not her scripts."""
    global _seen_modules
    if len(sys.modules) == _seen_modules:
        return
    _seen_modules = len(sys.modules)
    paths = sysconfig.get_paths()
    installed = tuple({paths[key] + os.sep for key in ("stdlib", "platstdlib", "purelib", "platlib")} | {sys.prefix + os.sep, site.getusersitepackages() + os.sep})
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py") or file.startswith(installed):
            continue
        if name not in ("__main__", "__mp_main__") and name.partition(".")[0] != "mutirao" and getattr(module, "__name__", None) == name:
            cloudpickle.register_pickle_by_value(module)


def pickled(what: str, value: Any) -> bytes:
    send_own_modules()
    try:
        data: bytes = cloudpickle.dumps(value, protocol=4)
        return data
    except Exception as error:
        raise ArgumentError(f"{what} cannot be sent to another machine: {type(error).__name__}: {error}", "MUT_BAD_REQUEST") from error


def command_of(python: Optional[str], chunk: int) -> str:
    """Runs the interpreter of this process where a machine has it, else python3; a name that was given is taken as it is."""
    version = "%d.%d" % sys.version_info[:2]
    rest = f"runner.pyz function calls {{}} {chunk} {version}"
    if python is not None:
        return f"exec {shlex.quote(python)} {rest}"
    return f"p={shlex.quote(sys.executable or 'python3')}; [ -x \"$p\" ] || p=python{version}; command -v \"$p\" >/dev/null || p=python3; exec \"$p\" {rest}"


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


def submit_calls(
    grid: Grid, key: str, groups: Sequence[tuple[bytes, Sequence[bytes]]], chunk: int, options: Options
) -> Job:
    """Submits calls as one job: of each function its pickled self and the pickled arguments of its calls."""
    connection = grid.connection
    archive = connection.upload(runner())

    def source(content: Any, path: str) -> Any:
        return pb.InputSpec(source=pb.InputSource(content=content), root=common_pb2.ROOT_PLAYPEN, path=path)

    specs = []
    for function, calls in groups:
        inputs = [
            source(archive, "runner.pyz"),
            source(connection.upload(function), "function"),
            source(connection.upload(pack(calls)), "calls"),
        ]
        specs.append(
            pb.TaskGroup(
                command=command_of(options.python, chunk),
                range=common_pb2.IntegerRange(first=0, count=-(-len(calls) // chunk)),
                inputs=inputs,
                outputs=[pb.OutputSpec(root=common_pb2.ROOT_PLAYPEN, path="result")],
                requirements=options.requirements,
            )
        )
    counts = " ".join(str(len(calls)) for _, calls in groups)
    job = pb.JobSpec(
        label=options.label or "Python calls",
        groups=specs,
        environment={**options.environment, CALLS: f"{chunk} {counts}"},
        processors=options.cpus,
        resources=options.resources,
        limits=options.limits,
        replicas_max=options.replicas_max,
        failures_max=options.failures_max,
    )
    answer = connection.call("SubmitJob", pb.SubmitJobRequest(job=job, client_job_id=key), timeout=120)
    return Job(grid, answer.job_id, answer.task_count)


def follow(job: Job, futures: Sequence[Future], chunk: int, counts: Sequence[int]) -> None:
    """Ties futures to the calls of a job, in their order, and watches it."""
    at = task = 0
    for count in counts:
        for place in range(count):
            future = futures[at + place]
            future.job, future.task_index = job, task + place // chunk
        at += count
        task += -(-count // chunk)
    job._futures = list(futures)
    job._by_task = {}
    for future in futures:
        assert future.task_index is not None
        job._by_task.setdefault(future.task_index, []).append(future)
    job._watch()


def futures_of(job: Job) -> list[Future]:
    spec = job.grid.connection.call("GetJob", pb.GetJobRequest(job_id=job.id)).spec
    if CALLS not in spec.environment:
        raise MutiraoError(f"job {job.id} was not made of functions, so it has tasks and no futures: iterate over the job", "MUT_BAD_REQUEST")
    chunk, *counts = (int(word) for word in spec.environment[CALLS].split())
    futures = [Future() for _ in range(sum(counts))]
    follow(job, futures, chunk, counts)
    return futures


def start_futures(job: Job, index: int) -> None:
    with job._settling:
        for future in job._by_task.get(index, ()):
            if not future.running() and not future.done():
                future.set_running_or_notify_cancel()


def settle(job: Job, indexes: Sequence[int], how: str) -> None:
    """Gives results to the futures of tasks that have ended, in the threads that fetch them."""
    for index in indexes:
        job.grid._fetchers.submit(settle_task, job, index, how)


def settle_task(job: Job, index: int, how: str) -> None:
    futures = [future for future in job._by_task.get(index, ()) if not future.done()]
    if not futures:
        return
    if how == "cancelled":
        with job._settling:
            for future in futures:
                take_back(future)
        return
    try:
        if how == "failed":
            error = failure_of(job.grid, Task(job, index).record)
            outcomes: Sequence[tuple[Any, Optional[BaseException]]] = [(None, error)] * len(futures)
        else:
            outcomes = [read_outcome(item) for item in unpack(Task(job, index).read("result"))]
            futures = job._by_task[index]
            if len(outcomes) != len(futures):
                raise MutiraoError(f"task {index} of job {job.id} brought {len(outcomes)} results for {len(futures)} calls", "MUT_BAD_REPORT")
    except BaseException as error:
        outcomes = [(None, error)] * len(futures)
    with job._settling:
        for future, (value, failure) in zip(futures, outcomes):
            resolve(future, value, failure)


def resolve(future: Future, value: Any, failure: Optional[BaseException]) -> None:
    """Gives a future its end, unless it has one: a task may be heard of twice."""
    if future.done() or (not future.running() and not future.set_running_or_notify_cancel()):
        return
    if failure is not None:
        future.set_exception(failure)
    else:
        future.set_result(value)


def take_back(future: Future) -> None:
    """The end of a call whose task was cancelled."""
    if not concurrent.futures.Future.cancel(future):
        resolve(future, None, concurrent.futures.CancelledError())


def read_outcome(item: bytes) -> tuple[Any, Optional[BaseException]]:
    try:
        outcome = pickle.loads(item)
        if outcome is None:
            return None, None
        if "value" in outcome:
            return outcome["value"], None
        error: Optional[BaseException] = None
        if outcome["error"] is not None:
            error = pickle.loads(outcome["error"])
    except BaseException as failure:
        return None, failure
    if not isinstance(error, BaseException):
        error = MutiraoError(f"{outcome['kind']}: {outcome['message']}")
    error.__cause__ = RemoteTraceback(outcome["traceback"])
    return None, error
