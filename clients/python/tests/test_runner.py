"""The program that runs calls on a machine, alone."""

import hashlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
import types

import cloudpickle
import pytest

from mutirao._runner import fields_of, frame
from mutirao.functions import runner, values_of
from mutirao.packets import pack, unpack

HERE = "%d.%d" % sys.version_info[:2]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "runner.pyz").write_bytes(runner())
    return tmp_path


def pickled_calls(*values):
    return [pickle.dumps(((value,), {})) for value in values]


def results_of(folder):
    return [pickle.loads(item) for item in unpack((folder / "result").read_bytes())]


def run(folder, function, value, version=HERE):
    (folder / "function").write_bytes(function)
    args = [sys.executable, "-S", "runner.pyz", value, version, "3", "7"]
    return subprocess.run(args, cwd=folder, capture_output=True, text=True, timeout=60)


def test_it_runs_its_own_calls_only_and_needs_no_package_of_the_machine(folder):
    (folder / "calls").write_bytes(pack(pickled_calls(*range(7))))
    assert run(folder, cloudpickle.dumps(lambda x: x + 1), "f:6:3").returncode == 0
    assert results_of(folder) == [{"value": 7}]


def test_calls_may_come_with_the_task(folder):
    [value], needs_file = values_of(pickled_calls(1, 2), 2)
    assert not needs_file
    assert run(folder, cloudpickle.dumps(lambda x: x + 1), value).returncode == 0
    assert results_of(folder) == [{"value": 2}, {"value": 3}]


def test_long_arguments_are_a_file():
    values, needs_file = values_of(pickled_calls("x" * 50_000, "y", "z"), 2)
    assert needs_file
    assert values == ["f:0:2", "f:2:1"]


def test_another_python_is_told_before_anything_runs(folder):
    done = run(folder, b"no pickle at all", "f:0:1", "3.1")
    assert done.returncode == 86
    assert f"is Python {HERE} here, and the function comes from Python 3.1" in done.stderr
    assert not (folder / "result").exists()


def test_all_missing_modules_are_named_before_anything_runs(folder):
    first, second = types.ModuleType("not_here"), types.ModuleType("nor_here")
    first.one = second.two = None

    class Needy:
        def __call__(self, x):
            return first, second

    sys.modules.update(not_here=first, nor_here=second)
    try:
        function = cloudpickle.dumps(Needy())
    finally:
        del sys.modules["not_here"], sys.modules["nor_here"]
    [value], _ = values_of(pickled_calls(1), 1)
    done = run(folder, function, value)
    assert done.returncode == 86
    assert "lacks modules, which the function needs: nor_here, not_here. Install them" in done.stderr
    assert not (folder / "result").exists()


class Resident:
    """A runner that stays, as an agent has it."""

    def __init__(self, folder):
        self.folder, self.count = folder, 0
        calls, answers = folder / "in", folder / "out"
        os.mkfifo(calls)
        os.mkfifo(answers)
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {sys.executable} -S runner.pyz --serve {HERE} <in 3>out"], cwd=folder, stdout=subprocess.PIPE, text=True
        )
        self.calls = os.open(calls, os.O_WRONLY)
        self.answers = os.open(answers, os.O_RDONLY)
        self.ready = self.read()

    def read(self):
        (size,) = struct.unpack(">I", os.read(self.answers, 4))
        return fields_of(os.read(self.answers, size))

    def call(self, function, *values, **variables):
        """Its folder, and its exit status."""
        self.count += 1
        folder = self.folder / str(self.count)
        folder.mkdir()
        data = cloudpickle.dumps(function)
        place = self.folder / hashlib.sha256(data).hexdigest()
        place.write_bytes(data)
        (folder / "function").symlink_to(place)
        [value], _ = values_of(pickled_calls(*values), len(values))
        body = frame(b"C", str(self.count), str(folder), value, *(f"{name}={text}" for name, text in variables.items()))
        os.write(self.calls, body)
        assert self.read() == [str(self.count).encode()]  # It has begun the call.
        number, status, _ = self.read()
        assert int(number) == self.count
        return folder, int(status)

    def end(self):
        os.close(self.calls)
        out, _ = self.process.communicate(timeout=30)
        return out


@pytest.fixture
def resident(folder):
    runner = Resident(folder)
    yield runner
    runner.process.kill()
    runner.process.wait()


def value_of(folder):
    [outcome] = results_of(folder)
    return outcome["value"]


def test_a_resident_runner_says_its_protocol_and_keeps_what_it_has_loaded(resident):
    assert resident.ready[0] == b"1"
    pids = {value_of(resident.call(lambda x: os.getpid(), 1)[0]) for _ in range(3)}
    assert len(pids) == 1

    def count(x):
        count.calls = getattr(count, "calls", 0) + 1
        return count.calls

    assert [value_of(resident.call(count, 1)[0]) for _ in range(3)] == [1, 2, 3]


def test_each_call_has_its_folder_and_variables(resident):
    folder, _ = resident.call(lambda x: (os.getcwd(), os.environ["TASK"], os.chdir("/")), 1, TASK="7")
    assert value_of(folder) == (str(folder), "7", None)
    folder, _ = resident.call(lambda x: (os.getcwd(), os.environ["TASK"]), 1, TASK="8")
    assert value_of(folder) == (str(folder), "8")


def test_a_call_that_ends_its_process_fails_alone(resident):
    def deadly(x):
        if x == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    folder, status = resident.call(deadly, 1, 2, 3, 2, 4)
    assert status == 137  # By which the agent sees a kernel that lacks memory.
    crash = {"crash": "the process that ran it was ended by SIGKILL"}
    assert results_of(folder) == [{"value": 1}, crash, {"value": 3}, crash, {"value": 4}]
    # One call alone is the task, and fails with it.
    assert resident.call(deadly, 2)[1] == 137
    assert resident.call(lambda x: os._exit(0), 1)[1] == 1
    assert resident.call(deadly, 5)[1] == 0


def test_slow_calls_do_not_run_again_after_a_crash(resident, tmp_path):
    ran = tmp_path / "ran"

    def note(x):
        with open(ran, "a") as file:
            file.write(f"{x} ")
        time.sleep(0.01)
        return os._exit(3) if x == 2 else x

    assert resident.call(note, 0, 1, 2, 3)[1] == 87
    assert ran.read_text() == "0 1 2 3 "


def test_what_calls_start_does_not_read_frames(resident):
    read = lambda x: subprocess.run(["cat"], capture_output=True, text=True, timeout=30).stdout  # noqa: E731
    assert value_of(resident.call(read, 1)[0]) == ""
    assert value_of(resident.call(lambda x: sys.stdin.read(), 1)[0]) == ""


def test_it_ends_with_its_frames_and_runs_exit_handlers(resident):
    def register(x):
        import atexit

        atexit.register(print, "the end")

    resident.call(register, 1)
    assert resident.end() == "the end\n"
    assert resident.process.returncode == 0


def test_the_archive_is_the_same_each_time():
    first = runner()
    runner.cache_clear()
    assert runner() == first


@pytest.mark.parametrize("items", [[], [b""], [b"a", b"", b"bc" * 1000]])
def test_packets_come_back(items):
    assert unpack(pack(items)) == items


@pytest.mark.parametrize("cut", [20, 30, 42])
def test_what_is_cut_short_is_refused(cut):
    with pytest.raises(ValueError, match="cut short|something else"):
        unpack(pack([b"abc", b"defg"])[:cut])


@pytest.mark.parametrize("data", [b"", b"MUTCALL1", b"MUTCALL2" + bytes(16), b"MUTCALL1" + b"\xff" * 8 + bytes(8)])
def test_what_is_no_packet_is_refused(data):
    with pytest.raises(ValueError):
        unpack(data)
