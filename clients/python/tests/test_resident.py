"""Calls by runners that stay on the machines of a real grid, and what calls can do to them."""

import concurrent.futures
import itertools
import os
import signal
import sys
import time

import pytest

import mutirao

PATIENCE = 120


def die(x):
    if x == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    return x


def test_calls_of_an_executor_share_interpreters_and_those_of_another_do_not(grid):
    with grid.executor() as one, grid.executor() as other:
        ours = {one.submit(os.getpid).result(PATIENCE) for _ in range(6)}
        theirs = {other.submit(os.getpid).result(PATIENCE) for _ in range(6)}
    assert 1 <= len(ours) <= 2
    assert 1 <= len(theirs) <= 2
    assert not ours & theirs


def test_a_call_that_ends_its_process_fails_without_its_neighbours(grid):
    with grid.executor(failures_max=1) as executor:
        futures = executor.map_futures(die, range(6), chunksize=6)
        for x, future in enumerate(futures):
            if x != 3:
                assert future.result(PATIENCE) == x
        with pytest.raises(mutirao.TaskFailed, match="failed on lab/.*ended by SIGSEGV") as failure:
            futures[3].result(PATIENCE)
        assert failure.value.machine.startswith("lab/")
        assert executor.submit(die, 4).result(PATIENCE) == 4


def test_neighbours_of_a_call_that_is_killed_have_results_too(grid):
    def killed(x):
        if x == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return x

    with grid.executor(failures_max=1) as executor:
        futures = executor.map_futures(killed, range(3), chunksize=3)
        assert [futures[x].result(PATIENCE) for x in (0, 2)] == [0, 2]
        with pytest.raises(mutirao.TaskFailed, match="ended by SIGKILL") as failure:
            futures[1].result(PATIENCE)
        assert failure.value.exit_status == 137


def test_the_neighbours_of_a_call_that_ends_its_process_have_results_for_whoever_attaches(grid):
    with grid.executor(failures_max=1) as executor:
        concurrent.futures.wait(executor.map_futures(die, range(6), chunksize=6), PATIENCE)
        [job] = executor.jobs
    futures = grid.attach(job.id).futures()
    assert [futures[x].result(PATIENCE) for x in (0, 5)] == [0, 5]
    with pytest.raises(mutirao.TaskFailed, match="SIGSEGV"):
        futures[3].result(PATIENCE)


def test_each_call_has_its_own_output(grid):
    def say(x):
        print("call", x)
        print("error", x, file=sys.stderr)

    with grid.executor() as executor:
        futures = [executor.submit(say, x) for x in range(4)]
        concurrent.futures.wait(futures, PATIENCE)
        assert [future.stdout() for future in futures] == [f"call {x}\n" for x in range(4)]


def test_a_call_beyond_its_memory_fails_and_the_next_gets_a_new_runner(grid):
    def hold(size):
        held = bytearray(size)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(size / 1e7)
        return len(held)

    with grid.executor(memory="200M", failures_max=1) as executor:
        with pytest.raises(mutirao.TaskFailed, match="MUT_MEMORY_MAX"):
            executor.submit(hold, 600_000_000).result(PATIENCE)
        assert executor.submit(hold, 1000).result(PATIENCE) == 1000


def test_cancelling_a_running_call_ends_it_and_not_the_executor(grid, until, tmp_path):
    def wait(path):
        open(path, "w").close()
        time.sleep(600)

    with grid.executor() as executor:
        future = executor.submit(wait, str(tmp_path / "began"))
        until((tmp_path / "began").exists, "it runs")
        future.task.cancel()
        with pytest.raises(concurrent.futures.CancelledError):
            future.result(PATIENCE)
        assert executor.submit(abs, -4).result(PATIENCE) == 4


def test_a_call_that_never_ends_is_ended_by_its_time(grid):
    def endless():
        return sum(1 for _ in itertools.count())

    with grid.executor(time="1s", failures_max=1) as executor:
        with pytest.raises(mutirao.TaskFailed, match="MUT_RUN_TIME_MAX"):
            executor.submit(endless).result(PATIENCE)
        assert executor.submit(abs, -4).result(PATIENCE) == 4


def test_a_generator_is_no_result(grid):
    with grid.executor() as executor:
        with pytest.raises(TypeError, match="the result cannot be sent home: .*generator"):
            executor.submit(lambda: (x for x in itertools.count())).result(PATIENCE)


def test_a_closure_over_an_open_file_is_refused_at_submission(grid, tmp_path):
    with open(tmp_path / "open", "w") as file, grid.executor() as executor:
        with pytest.raises(mutirao.ArgumentError, match="the function .* cannot be sent to another machine: .*file"):
            executor.submit(lambda: file.write("text"))
        assert executor.submit(abs, -4).result(PATIENCE) == 4


def test_another_python_on_the_machine_is_named_before_anything_runs(grid, tmp_path):
    # A stand-in that says that it is Python 3.1.
    fake = tmp_path / "python3.1"
    fake.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'import sys, runpy\nsys.version_info = (3, 1)\n"
        'sys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name="__main__")\' "$@"\n'
    )
    fake.chmod(0o755)
    ran = tmp_path / "ran"
    with grid.executor(python=str(fake), failures_max=1) as executor:
        with pytest.raises(mutirao.TaskFailed, match=r"is Python 3\.1 here, and the function comes from Python 3\.\d+") as failure:
            executor.submit(lambda: open(str(ran), "w").close()).result(PATIENCE)
    assert failure.value.exit_status == 86
    assert not ran.exists()


def test_many_calls_and_few_futures_at_a_time(grid):
    """A program that submits without end holds as many calls as it allows itself."""
    with grid.executor(pending_max=100) as executor:
        most = 0
        for number in range(1000):
            executor.submit(abs, number)
            most = max(most, len(executor._open))
    assert most <= 100
