"""Runs calls on a machine of the grid, in a folder with the files `function` and, for long arguments, `calls`.

    python3 runner.pyz --serve PYTHON             takes tasks as frames: docs/reference/runners.md
    python3 runner.pyz VALUE PYTHON CHUNK COUNT   runs one task; CHUNK and COUNT are for those who read the command

VALUE is `i:` and calls in base64, or `f:FIRST:COUNT` for calls of the file. The results go to the file `result`.
Needs Python 3.8 and nothing else: cloudpickle travels within the archive. Exit status 86: this machine lacks the Python or
the modules of the calls. 87: a call ended its process; the others have their results. 137: the same, and a process was ended
by SIGKILL, perhaps for lack of memory.
"""

import base64
import os
import pickle
import select
import signal
import struct
import sys
import time
import traceback
from typing import Any, BinaryIO, Callable, Dict, List, Optional, Set, Tuple

# Lies next to this file in the archive.
try:
    from packets import pack, read_some, unpack
except ImportError:  # In the package, for its tests.
    from .packets import pack, read_some, unpack

UNFIT, CRASHED, KILLED = 86, 87, 128 + signal.SIGKILL
NONE = b"\x80\x04N."
FLUSH_S = 0.001  # Results of calls that took longer are safe from a crash of the next.
FUNCTIONS_MAX = 64  # Functions that are kept loaded.
# For the process that goes on after a crash: results so far, and the calls that ended their process.
PARTIAL, CRASHES = ".results", ".crashes"


class Unfit(Exception):
    """This machine cannot run the function."""


def describe(error: BaseException) -> bytes:
    """What of an exception can travel: itself where it can be pickled and read back, else its name and text."""
    try:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        message = str(error)
    except BaseException:
        text = message = "(its text cannot be had)"
    packed = None
    try:
        import cloudpickle

        dumped: bytes = cloudpickle.dumps(error, protocol=4)
        pickle.loads(dumped)
        packed = dumped
    except BaseException:
        packed = None
    return pickle.dumps({"error": packed, "kind": type(error).__name__, "message": message, "traceback": text}, protocol=4)


def describe_crash(how: str) -> bytes:
    return pickle.dumps({"crash": how}, protocol=4)


def dump(value: Any) -> bytes:
    """cloudpickle takes more, and ten times as long."""
    if value is None:
        return NONE
    try:
        return pickle.dumps({"value": value}, protocol=4)
    except Exception:
        import cloudpickle

        result: bytes = cloudpickle.dumps({"value": value}, protocol=4)
        return result


def run(function: Callable[..., Any], packed: bytes) -> bytes:
    try:
        args, kwargs = pickle.loads(packed)
        value = function(*args, **kwargs)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return describe(error)
    try:
        return dump(value)
    except BaseException as error:
        failure = TypeError("the result cannot be sent home: %s: %s" % (type(error).__name__, error))
        failure.__cause__ = error
        return describe(failure)


def require_version(version: str) -> None:
    here = "%d.%d" % sys.version_info[:2]
    if here != version:
        raise Unfit(
            "%s is Python %s here, and the function comes from Python %s; expected the same version. "
            "Name one that every machine has with executor(python=...)" % (sys.executable, here, version)
        )


class Missing:
    """Finds every module that nobody else finds, and notes its name."""

    def __init__(self) -> None:
        self.names: Set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        import importlib.machinery

        self.names.add(name.partition(".")[0])
        loader: Any = self
        return importlib.machinery.ModuleSpec(name, loader, is_package=True)

    def create_module(self, spec: Any) -> Any:
        import types

        module = types.ModuleType(spec.name)
        setattr(module, "__getattr__", lambda name: type(name, (), {}))
        return module

    def exec_module(self, module: Any) -> None:
        pass


def missing_modules(data: bytes) -> List[str]:
    """All modules that a pickle needs and this machine lacks: loading stops at the first."""
    finder: Any = Missing()
    before = set(sys.modules)
    sys.meta_path.append(finder)
    try:
        pickle.loads(data)
    except BaseException:
        pass
    finally:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in finder.names:
                del sys.modules[name]
    return sorted(finder.names)


def load(data: bytes) -> Callable[..., Any]:
    try:
        function: Callable[..., Any] = pickle.loads(data)
        return function
    except ModuleNotFoundError as error:
        names = missing_modules(data) or [str(error.name)]
        raise Unfit(
            "%s lacks %s, which the function needs: %s. Install them on this machine, or have the calls go to others with "
            "executor(requirements=...)" % (sys.executable, "the module" if len(names) == 1 else "modules", ", ".join(names))
        )


def read_calls(value: str) -> List[bytes]:
    """The calls of one task, as its value and its folder have them."""
    kind, _, rest = value.partition(":")
    calls: List[bytes]
    if kind == "i":
        calls = unpack(base64.b64decode(rest))
    else:
        first, count = map(int, rest.split(":"))
        with open("calls", "rb") as file:
            calls = read_some(file, first, count)
    return calls


class Worker:
    """Runs tasks in this process, and keeps functions that it has loaded."""

    def __init__(self) -> None:
        self.functions: Dict[Any, Callable[..., Any]] = {}
        self.on_result: Callable[[List[bytes]], None] = lambda results: None
        self.on_call: Callable[[int], None] = lambda number: None

    def function(self) -> Callable[..., Any]:
        # In a runner's folder it is a link to a file that is named by its content.
        try:
            key: Any = os.readlink("function")
        except OSError:
            key = None
        if key is not None and key in self.functions:
            return self.functions[key]
        with open("function", "rb") as file:
            function = load(file.read())
        if key is not None:
            if len(self.functions) >= FUNCTIONS_MAX:
                del self.functions[next(iter(self.functions))]
            self.functions[key] = function
        return function

    def run_task(self, value: str, done: List[bytes], crashes: Dict[int, bytes]) -> int:
        """Runs the calls behind those that are done, but for those that ended their process, and writes the results of all."""
        # A call may go to another folder, or close what it prints to.
        result = os.path.abspath("result")
        calls = read_calls(value)
        results = done
        try:
            function = self.function()
        except Unfit as error:
            print("mutirao: %s" % error, file=sys.stderr)
            return UNFIT
        except BaseException as error:
            results = [describe(error)] * len(calls)
        else:
            for number in range(len(results), len(calls)):
                if number in crashes:
                    results.append(crashes[number])
                    continue
                self.on_call(number)
                results.append(run(function, calls[number]))
                self.on_result(results)
            self.on_call(-1)
        flush_output()
        with open(result + ".part", "wb") as file:
            file.write(pack(results))
        os.rename(result + ".part", result)
        return CRASHED if crashes else 0


def flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass


def read_exactly(file: BinaryIO, size: int) -> Optional[bytes]:
    data = file.read(size)
    return data if len(data) == size else None


def read_frame(file: BinaryIO) -> Optional[bytes]:
    head = read_exactly(file, 4)
    return None if head is None else read_exactly(file, struct.unpack(">I", head)[0])


def fields_of(body: bytes) -> List[bytes]:
    fields, at = [], 1
    while at < len(body):
        (size,) = struct.unpack_from(">I", body, at)
        fields.append(body[at + 4 : at + 4 + size])
        at += 4 + size
    return fields


def frame(kind: bytes, *fields: str) -> bytes:
    body = kind + b"".join(struct.pack(">I", len(data)) + data for data in (field.encode() for field in fields))
    return struct.pack(">I", len(body)) + body


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class Progress:
    """What outlives a crash of a task's process: which call ran, in shared memory, and the results before it, in a file."""

    def __init__(self, shared: Any) -> None:
        self.shared, self.path, self.saved, self.saved_at = shared, "", 0, 0.0
        self.fd: Optional[int] = None

    def begin(self, path: str, done: List[bytes]) -> None:
        self.path, self.saved, self.saved_at = path, len(done), time.monotonic()
        if done:  # A result that was cut short is written again.
            os.truncate(path, sum(8 + len(item) for item in done))

    def note_call(self, number: int) -> None:
        struct.pack_into("<q", self.shared, 0, number)

    def note_results(self, results: List[bytes]) -> None:
        now = time.monotonic()
        if now - self.saved_at < FLUSH_S:
            return
        if self.fd is None:
            self.fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        write_all(self.fd, b"".join(struct.pack("<Q", len(item)) + item for item in results[self.saved :]))
        self.saved, self.saved_at = len(results), now

    def end(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
        self.fd = None


def read_partial(path: str) -> List[bytes]:
    """What the crashed process wrote; a last result that is cut short is left out."""
    items: List[bytes] = []
    try:
        with open(path, "rb") as file:
            while True:
                head = read_exactly(file, 8)
                item = None if head is None else read_exactly(file, struct.unpack("<Q", head)[0])
                if item is None:
                    return items
                items.append(item)
    except OSError:
        return items


def work(tasks: BinaryIO, answers: int, shared: Any) -> None:
    """The process that runs tasks, until its parent lets go of it."""
    worker, progress = Worker(), Progress(shared)
    worker.on_call, worker.on_result = progress.note_call, progress.note_results
    while True:
        body = read_frame(tasks)
        if body is None:
            return
        _, folder, value, *variables = (field.decode("utf-8", "surrogateescape") for field in fields_of(body))
        os.chdir(folder)
        for variable in variables:
            name, _, text = variable.partition("=")
            os.environ[name] = text
        begun = time.process_time()
        partial = os.path.join(folder, PARTIAL)
        crashes = read_crashes(folder)
        # A fresh task has none of both.
        done = read_partial(partial) if crashes else []
        progress.begin(partial, done)
        status = worker.run_task(value, done, crashes)
        progress.end()
        flush_output()
        write_all(answers, struct.pack("<BI", status, int(1000 * (time.process_time() - begun))))


class Child:
    """The process that runs tasks, as its parent has it."""

    def __init__(self, shared: Any) -> None:
        tasks_in, self.tasks = os.pipe()
        self.answers, answers_out = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.tasks)
            os.close(self.answers)
            work(os.fdopen(tasks_in, "rb"), answers_out, shared)
            sys.exit(0)
        os.close(tasks_in)
        os.close(answers_out)
        # Its end shows also while processes that it has forked hold its pipes open.
        self.pidfd = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None

    def run(self, body: bytes) -> Optional[Tuple[int, int]]:
        """Status and milliseconds; None when it ended instead."""
        try:
            write_all(self.tasks, struct.pack(">I", len(body)) + body)
        except BrokenPipeError:
            return None
        watched = [self.answers] if self.pidfd is None else [self.answers, self.pidfd]
        ready, _, _ = select.select(watched, [], [])
        data = os.read(self.answers, 5) if self.answers in ready else b""
        return struct.unpack("<BI", data) if len(data) == 5 else None

    def wait(self) -> int:
        """As a shell reports it."""
        _, status = os.waitpid(self.pid, 0)
        return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def close(self) -> None:
        for fd in (self.tasks, self.answers, self.pidfd):
            if fd is not None:
                os.close(fd)


def name_end(status: int) -> str:
    if status <= 128:
        return "the process that ran it ended with status %d" % status
    try:
        name = signal.Signals(status - 128).name
    except ValueError:
        name = "signal %d" % (status - 128)
    return "the process that ran it was ended by %s" % name


def count_calls(value: str) -> int:
    kind, _, rest = value.partition(":")
    return len(unpack(base64.b64decode(rest))) if kind == "i" else int(rest.split(":")[1])


def note_crash(folder: str, number: int, status: int) -> None:
    """That call has its end, and a new process goes on behind it. Short calls before it may run again."""
    with open(os.path.join(folder, CRASHES), "a") as file:
        file.write("%d %d\n" % (number, status))


def read_crashes(folder: str) -> Dict[int, bytes]:
    try:
        with open(os.path.join(folder, CRASHES)) as file:
            pairs = [line.split() for line in file]
    except OSError:
        return {}
    return {int(number): describe_crash(name_end(int(status))) for number, status in pairs}


def serve() -> int:
    """Takes frames until their end, and has a child run them: a call that ends its process does not end this one."""
    import mmap

    calls = os.fdopen(os.dup(0), "rb")
    answers = os.dup(3)
    os.close(3)
    # What calls start must not read frames.
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    shared = mmap.mmap(-1, 8)
    child: Optional[Child] = None
    write_all(answers, frame(b"R", "1", "Python %s" % sys.version.split()[0]))
    while True:
        body = read_frame(calls)
        if body is None:
            break
        fields = fields_of(body)
        write_all(answers, frame(b"B", fields[0].decode()))
        number, folder, value = (field.decode("utf-8", "surrogateescape") for field in fields[:3])
        status, spent, killed = UNFIT, 0, False
        while True:
            struct.pack_into("<q", shared, 0, -1)
            if child is None:
                child = Child(shared)
            answer = child.run(body)
            if answer is not None:
                status, spent = answer
                # Whoever sees a kernel that lacks memory goes by this status.
                if status == CRASHED and killed:
                    status = KILLED
                break
            status = child.wait()
            killed = killed or status == KILLED
            child.close()
            child = None
            (running,) = struct.unpack_from("<q", shared, 0)
            if running < 0 or count_calls(value) == 1:
                status = status or 1  # It has no result.
                break
            note_crash(folder, running, status)
        write_all(answers, frame(b"E", number, str(status), str(spent)))
    if child is not None:
        child.close()
        child.wait()
    return 0


def main(arguments: List[str]) -> int:
    try:
        require_version(arguments[1])
    except Unfit as error:
        print("mutirao: %s" % error, file=sys.stderr)
        return UNFIT
    # This archive, also when a call has gone to another folder; and modules that travel with a task.
    sys.path[0] = os.path.realpath(sys.path[0])
    sys.path.insert(0, "")
    if arguments[0] == "--serve":
        return serve()
    return Worker().run_task(arguments[0], [], {})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
