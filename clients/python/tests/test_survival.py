"""Futures outlive the program that made them, and a broker that is killed."""

import json
import os
import signal

import pytest

import mutirao

PATIENCE = 120

SUBMITS = """
import mutirao, sys, os, signal
executor = mutirao.connect().executor()
executor.map_futures(lambda x: (x, open("/proc/sys/kernel/random/uuid").read()), range(int(sys.argv[1])), chunksize=2)
print(executor.detach()[0], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""

READS = """
import json, mutirao, sys
futures = mutirao.connect().attach(int(sys.argv[1])).futures()
print(json.dumps([future.result(100) for future in futures]))
"""


def test_another_program_has_the_same_results_after_the_first_was_killed(live):
    killed = live.python(SUBMITS, 9)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    job = int(killed.stdout)
    readers = [live.python(READS, job) for _ in range(2)]
    first, second = (json.loads(reader.stdout or reader.stderr) for reader in readers)
    assert [x for x, _ in first] == list(range(9))
    assert first == second, "nothing ran a second time"


def test_the_open_job_of_a_killed_program_keeps_its_calls_until_somebody_closes_it(live, grid):
    killed = live.python(
        "import mutirao, os, signal\n"
        "future = mutirao.connect().executor().submit(abs, -3)\n"
        "future.result(60)\n"
        "print(future.job.id, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    job = grid.attach(int(killed.stdout))
    assert job.status == "running"
    assert job.futures()[0].result(PATIENCE) == 3
    job.close()
    assert job.wait(PATIENCE) == "finished"


def test_futures_get_their_results_when_the_broker_was_killed_in_the_middle(live, grid, until, tmp_path):
    def slowly(x, folder):
        import time

        with open(f"{folder}/{x}", "a") as file:
            file.write("ran\n")
        time.sleep(0.2)
        return x

    with grid.executor(replicas_max=1) as executor:
        futures = executor.map_futures(slowly, range(30), [str(tmp_path)] * 30, chunksize=1)
        until(lambda: sum(future.done() for future in futures) >= 3, "three calls end", PATIENCE)
        killed = live.broker()
        os.kill(killed, signal.SIGKILL)
        assert [future.result(PATIENCE) for future in futures] == list(range(30))
        assert live.broker() != killed
    assert [(tmp_path / str(x)).read_text() for x in range(30)] == ["ran\n"] * 30
    assert grid.attach(futures[0].job.id).status == "finished"


def test_submissions_wait_for_a_broker_that_is_away(live, grid):
    with grid.executor() as executor:
        os.kill(live.broker(), signal.SIGKILL)
        assert executor.submit(abs, -4).result(PATIENCE) == 4


def test_a_failed_call_stays_failed_for_whoever_attaches(live, grid):
    def fail():
        raise LookupError("nothing here")

    with grid.executor() as executor:
        job = executor.map_futures(lambda _: fail(), [0])[0]
        assert isinstance(job.exception(PATIENCE), LookupError)
    with mutirao.connect(str(live.home)) as other:
        again = other.attach(job.job.id).futures()[0]
        assert isinstance(again.exception(PATIENCE), LookupError)


def test_futures_wait_through_a_grid_that_was_stopped_and_started(live, grid):
    with grid.executor() as executor:
        future = executor.submit(abs, -3)
        job = executor.map_futures(abs, [-1, -2])[0].job
        live.run("down")
        waiting = grid.executor()
        late = waiting.submit(abs, -9)
        live.run("up", "--clusters", "0", "--machines", "2", "--detach")
        assert future.result(PATIENCE) == 3
        assert late.result(PATIENCE) == 9
        waiting.shutdown()
    assert job.wait(PATIENCE) == "finished"


def test_a_job_that_the_broker_does_not_have_ends_its_futures_and_nobody_elses(grid):
    from mutirao.functions import Future, follow

    lost = Future()
    follow(mutirao.Job(grid, 999_999), [lost], 0, [(1, 1)])
    with pytest.raises(mutirao.MutiraoError) as error:
        lost.result(PATIENCE)
    assert error.value.code == "MUT_NOT_FOUND"
    with grid.executor() as executor:
        assert executor.submit(abs, -1).result(PATIENCE) == 1
