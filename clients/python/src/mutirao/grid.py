"""A grid: the broker of a home folder, and what can be asked of it."""

from __future__ import annotations

import errno
import itertools
import json
import os
import re
import shlex
import uuid
import weakref
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union

from .broker.v1 import broker_pb2 as pb
from .common.v1 import common_pb2
from .connection import Connection
from .errors import ArgumentError, MutiraoError
from .executor import Executor
from .functions import Options
from .job import Job
from .watch import Fetchers, Watcher

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
TIMES = {"ms": 1, "s": 1000, "": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
Parameters = Iterable[Mapping[str, Any]]


def size_of(text: Union[str, int]) -> int:
    """Bytes: a number, or text as in "8G" (powers of 1024)."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", str(text).strip(), re.IGNORECASE)
    if match is None:
        raise ArgumentError(f"{text!r} is no size; expected bytes, or a number with K, M, G or T as in '8G'", "MUT_BAD_SIZE")
    return int(float(match[1]) * UNITS[match[2].lower()])


def duration_of(text: Union[str, int, float]) -> int:
    """Milliseconds: a number of seconds, or text as in "90s", "30m", "1h30m"."""
    parts = re.findall(r"(\d+(?:\.\d+)?)\s*(ms|[smhd]?)", str(text).strip())
    if not parts or "".join(number + unit for number, unit in parts) != re.sub(r"\s", "", str(text)):
        raise ArgumentError(f"{text!r} is no duration; expected seconds, or text as in '90s', '30m' or '1h30m'", "MUT_BAD_DURATION")
    return int(sum(float(number) * TIMES[unit] for number, unit in parts))


def product(**parameters: Iterable[Any]) -> list[dict[str, Any]]:
    """All combinations of values: product(seed=range(3), beta=[0.1, 0.2]) makes six. The first varies slowest."""
    return [dict(zip(parameters, values)) for values in itertools.product(*parameters.values())]


def resources_of(memory: Union[str, int, None], gpus: Union[int, float, None], resources: Optional[Mapping[str, int]]) -> Optional[Any]:
    if memory is None and gpus is None and not resources:
        return None
    return common_pb2.ResourceRequest(
        memory_bytes=0 if memory is None else size_of(memory),
        gpu_thousandths=0 if gpus is None else round(gpus * 1000),
        named=dict(resources or {}),
    )


def limits_of(time: Union[str, int, float, None]) -> Optional[Any]:
    return None if time is None else common_pb2.Limits(run_time_ms_max=duration_of(time))


def name_parameters(text: str, names: Sequence[str]) -> str:
    """Writes {name} as the broker takes it. `{{name}}` is the text {name}; `${name}` stays, it is the shell's."""

    def replace(match: re.Match[str]) -> str:
        opened, name, closed = match.groups()
        if len(opened) > 1 and len(closed) > 1:
            return opened[1:] + name + closed[1:]
        if name not in names:
            raise ArgumentError(f"there is no parameter {{{name}}}; expected one of {', '.join(names) or 'none'}", "MUT_BAD_REQUEST")
        return f"{opened[1:]}{{={name}}}{closed[1:]}"

    return re.sub(r"(?<![${])(\{+)([A-Za-z_]\w*)(\}+)", replace, text)


class Grid:
    """A connection to a broker. Closing it leaves jobs and their results as they are."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._start()
        # A child has none of these threads, and locks that they may hold. Its futures are those of attach().
        this = weakref.ref(self)

        def after_fork() -> None:
            grid = this()
            if grid is not None:
                grid.connection.after_fork()
                grid._start()

        os.register_at_fork(after_in_child=after_fork)

    def _start(self) -> None:
        self.watcher = Watcher(self.connection)
        self._fetchers = Fetchers(8)

    def __enter__(self) -> Grid:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends what waits here. Jobs go on, and attach() has their results another time."""
        jobs = self.watcher.close()
        self.connection.close()
        for job in jobs:
            job._lose(MutiraoError(f"the grid was closed; connect again and attach({job.id})", "MUT_CANCELLED"))

    def bag(
        self,
        command: Union[str, Sequence[str]],
        parameters: Union[Parameters, int, range, None] = None,
        *,
        inputs: Union[Sequence[str], Mapping[str, str]] = (),
        outputs: Union[Sequence[str], Mapping[str, str]] = (),
        cpus: Optional[int] = None,
        memory: Union[str, int, None] = None,
        gpus: Union[int, float, None] = None,
        resources: Optional[Mapping[str, int]] = None,
        time: Union[str, int, float, None] = None,
        requirements: str = "",
        environment: Optional[Mapping[str, str]] = None,
        label: str = "",
        key: Optional[str] = None,
    ) -> Job:
        """Submits a command, once for each of the parameters.

        `command` is a line for the shell, or words that are quoted. `{name}` in it and in the paths of outputs stands for
        a parameter, `{}` for the number where `parameters` is a count or a range. `inputs` are local files, at a path of the
        machine where a mapping says so; a broker on another host is sent them now. `outputs` maps paths on the machine to places at the
        broker's host; without a place they are kept at the broker (task.read). `time` bounds each run. The same `key` is the same job.
        """
        line = command if isinstance(command, str) else " ".join(map(shlex.quote, command))
        names: list[str] = []
        group = pb.TaskGroup(requirements=requirements)
        if parameters is None:
            group.range.CopyFrom(common_pb2.IntegerRange(first=0, count=1))
        elif isinstance(parameters, int):
            group.range.CopyFrom(common_pb2.IntegerRange(first=0, count=parameters))
        elif isinstance(parameters, range):
            group.range.CopyFrom(common_pb2.IntegerRange(first=parameters.start, count=len(parameters), step=parameters.step))
        else:
            rows = [{name: str(value) for name, value in row.items()} for row in parameters]
            names = list(rows[0]) if rows else []
            uneven = next((at for at, row in enumerate(rows) if list(row) != names), None)
            if not rows or uneven is not None:
                found = "no parameters" if not rows else f"parameters {', '.join(rows[uneven or 0])} in row {uneven}, {', '.join(names)} in row 0"
                raise ArgumentError(f"found {found}; expected rows with the same names", "MUT_BAD_REQUEST")
            group.list.values.extend(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
        group.command = name_parameters(line, names) if names else line
        for what in (inputs, outputs):
            if isinstance(what, (str, bytes)):
                raise ArgumentError(f"inputs and outputs are lists or mappings of paths, and {what!r} is one path", "MUT_BAD_REQUEST")
        sent = inputs.items() if isinstance(inputs, Mapping) else ((path, os.path.basename(path)) for path in inputs)
        programs = []
        for local, path in sent:
            source = self._source_of(local)
            group.inputs.add(source=source, root=common_pb2.ROOT_PLAYPEN, path=path)
            # A content has no mode of its own.
            if source.HasField("content") and os.access(local, os.X_OK):
                programs.append(shlex.quote(path))
        if programs:
            group.command = f"chmod +x -- {' '.join(programs)} && {{ {group.command}\n}}"
        brought = outputs.items() if isinstance(outputs, Mapping) else ((path, "") for path in outputs)
        for path, local in brought:
            group.outputs.add(
                root=common_pb2.ROOT_PLAYPEN,
                path=name_parameters(path, names) if names else path,
                local_path=name_parameters(local, names) if names else local,
            )
        job = pb.JobSpec(
            label=label,
            groups=[group],
            environment=dict(environment or {}),
            processors=cpus,
            resources=resources_of(memory, gpus, resources),
            limits=limits_of(time),
            home_directory=os.getcwd(),
        )
        request = pb.SubmitJobRequest(job=job, client_job_id=key or str(uuid.uuid4()))
        answer = self.connection.call("SubmitJob", request, timeout=120)
        return Job(self, answer.job_id, answer.task_count)

    def executor(
        self,
        *,
        cpus: Optional[int] = None,
        memory: Union[str, int, None] = None,
        gpus: Union[int, float, None] = None,
        resources: Optional[Mapping[str, int]] = None,
        time: Union[str, int, float, None] = None,
        requirements: str = "",
        environment: Optional[Mapping[str, str]] = None,
        python: Optional[str] = None,
        label: str = "",
        replicas_max: Optional[int] = None,
        failures_max: Optional[int] = None,
        pending_max: int = 1_000_000,
    ) -> Executor:
        """An executor of concurrent.futures whose calls run on the grid.

        `python` is the interpreter on the machines: by default this one where it is there, else python3. `time` bounds
        each task. More than `pending_max` calls without an end make submit() wait.
        """
        options = Options(
            cpus=cpus,
            resources=resources_of(memory, gpus, resources),
            limits=limits_of(time),
            requirements=requirements,
            python=python,
            label=label,
            replicas_max=replicas_max,
            failures_max=failures_max,
            environment=dict(environment or {}),
        )
        return Executor(self, options, pending_max)

    def _source_of(self, local: str) -> Any:
        """A file as the broker of this host reads it by itself, or as a content for one elsewhere."""
        self.connection.stub
        if self.connection.is_local:
            if not os.path.exists(local):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), local)
            return pb.InputSource(local_path=os.path.abspath(local))
        with open(local, "rb") as file:
            return pb.InputSource(content=self.connection.upload(file.read()))

    def attach(self, job_id: int) -> Job:
        """A job that was submitted before, by whom ever and from wherever. Raises MutiraoError when there is none."""
        job = Job(self, job_id)
        job.summary()
        return job

    def jobs(self) -> Iterator[Job]:
        """The user's jobs, newest first."""
        request = pb.ListJobsRequest()
        while True:
            answer = self.connection.call("ListJobs", request)
            yield from (Job(self, job.job_id, None if job.open else job.task_count) for job in answer.jobs)
            if not answer.HasField("next_before_job_id"):
                return
            request.before_job_id = answer.next_before_job_id

    def processors(self) -> int:
        """Of all machines that the broker has now."""
        return int(self.connection.call("GetOverview", pb.GetOverviewRequest()).processors)

    def _explain(self, request: Any) -> str:
        answer = self.connection.call("Explain", request)
        return "\n".join(reason.text for reason in (answer.summary, *answer.details) if reason.text)


def connect(
    home: Optional[str] = None,
    broker: Optional[str] = None,
    *,
    ca: Optional[str] = None,
    cert: Optional[str] = None,
    key: Optional[str] = None,
    patience: float = 60,
) -> Grid:
    """Connects to the broker of a home folder (MUTIRAO_HOME, ~/.mutirao), or at an address (MUTIRAO_BROKER).

    A broker on another host wants certificates: `ca`, `cert` and `key` are files (mutirao identity issue). Calls wait
    `patience` seconds for a broker that is away; futures wait for as long as it takes.
    """
    grid = Grid(Connection(home, broker, ca, cert, key, patience))
    grid.connection.stub  # Says so at once where no broker has started.
    grid.connection.call("GetOverview", pb.GetOverviewRequest())
    return grid
