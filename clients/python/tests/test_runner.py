"""The program that runs calls on a machine, alone."""

import pickle
import subprocess
import sys

import cloudpickle
import pytest

from mutirao.functions import runner
from mutirao.packets import pack, unpack

HERE = "%d.%d" % sys.version_info[:2]


def run(folder, function, calls, index, chunk, version=HERE):
    (folder / "runner.pyz").write_bytes(runner())
    (folder / "function").write_bytes(function)
    (folder / "calls").write_bytes(pack(calls))
    args = [sys.executable, "-S", "runner.pyz", "function", "calls", str(index), str(chunk), version]
    return subprocess.run(args, cwd=folder, capture_output=True, text=True, timeout=60)


def test_it_runs_its_own_calls_only_and_needs_no_package_of_the_machine(tmp_path):
    calls = [pickle.dumps(((x,), {})) for x in range(7)]
    assert run(tmp_path, cloudpickle.dumps(lambda x: x + 1), calls, 2, 3).returncode == 0
    assert [pickle.loads(item) for item in unpack((tmp_path / "result").read_bytes())] == [{"value": 7}]


def test_another_python_is_told_before_anything_runs(tmp_path):
    done = run(tmp_path, b"no pickle at all", [], 0, 1, "3.1")
    assert done.returncode == 86
    assert f"is Python {HERE} here, and the function comes from Python 3.1" in done.stderr
    assert not (tmp_path / "result").exists()


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
