"""What concurrent.futures promises of an executor, kept by one whose calls run on a grid."""

import asyncio
import concurrent.futures
import os
import threading
import time

import pytest

import mutirao
from mutirao.broker.v1.broker_pb2 import GetJobRequest

PATIENCE = 90


def square(x):
    return x * x


def add(a, b=0, *, c=0):
    return a + b + c


def divide(x):
    return 1 / x


def test_submit_takes_arguments_and_keywords(executor):
    assert executor.submit(add, 1, 2, c=3).result(PATIENCE) == 6


def test_keywords_may_have_the_names_of_our_own_parameters(executor):
    assert executor.submit(lambda **words: sorted(words), self=1, fn=2).result(PATIENCE) == ["fn", "self"]


def test_map_keeps_the_order_and_stops_with_the_shortest(executor):
    assert list(executor.map(pow, range(10), range(7))) == list(map(pow, range(10), range(7)))


@pytest.mark.parametrize("chunksize", [1, 3, 1000, "auto"])
def test_map_has_the_same_results_for_every_chunk_size(executor, chunksize):
    assert list(executor.map(square, range(20), chunksize=chunksize)) == [square(x) for x in range(20)]


def test_map_of_nothing_makes_no_job(grid):
    with grid.executor() as executor:
        assert list(executor.map(square, [])) == []
        assert executor.jobs == []


def test_map_raises_where_the_failed_call_stands(executor):
    results = executor.map(divide, [1, 2, 0, 4])
    assert next(results) == 1
    assert next(results) == 0.5
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_map_gives_up_after_its_timeout(executor):
    with pytest.raises(concurrent.futures.TimeoutError):
        list(executor.map(time.sleep, [0, 8], timeout=1, chunksize=1))


def test_a_wrong_chunk_size_is_refused(executor):
    for wrong in (0, -1, 1.5, "all"):
        with pytest.raises(ValueError, match="chunksize"):
            executor.map(square, [1], chunksize=wrong)


def test_an_exception_comes_home_with_its_type_and_the_traceback_of_there(executor):
    future = executor.submit(divide, 0)
    error = future.exception(PATIENCE)
    assert type(error) is ZeroDivisionError
    assert isinstance(error.__cause__, mutirao.RemoteTraceback)
    assert "in divide" in str(error.__cause__) and "ZeroDivisionError" in str(error.__cause__)


def test_an_exception_that_cannot_be_pickled_is_told_in_words(executor):
    def fail():
        class Locked(Exception):
            def __init__(self):
                super().__init__("the door is shut")
                self.lock = threading.Lock()

        raise Locked()

    with pytest.raises(mutirao.MutiraoError, match="Locked: the door is shut"):
        executor.submit(fail).result(PATIENCE)


def test_an_exception_with_more_arguments_than_its_text_does_not_break_the_reader(executor):
    def fail():
        class Two(Exception):
            def __init__(self, one, two):
                super().__init__(f"{one} and {two}")

        raise Two(1, 2)

    with pytest.raises(Exception, match="1 and 2"):
        executor.submit(fail).result(PATIENCE)


def test_sys_exit_is_an_exception_of_the_call_and_not_the_end_of_its_neighbours(executor):
    def leave(x):
        if x == 1:
            raise SystemExit(3)
        return x

    futures = executor.map_futures(leave, range(3), chunksize=3)
    assert futures[0].result(PATIENCE) == 0 and futures[2].result(PATIENCE) == 2
    assert type(futures[1].exception(PATIENCE)) is SystemExit


def test_a_result_that_cannot_be_pickled_is_an_error_that_says_so(executor):
    with pytest.raises(TypeError, match="the result cannot be sent home"):
        executor.submit(threading.Lock).result(PATIENCE)


def test_what_cannot_be_pickled_is_refused_at_submission(executor):
    lock = threading.Lock()
    with pytest.raises(mutirao.ArgumentError, match="cannot be sent"):
        executor.submit(lambda: lock)
    with pytest.raises(mutirao.ArgumentError, match="an argument cannot be sent"):
        executor.submit(square, lock)
    with pytest.raises(mutirao.ArgumentError, match="an argument cannot be sent"):
        executor.map(square, [lock])


def test_a_module_that_is_missing_there_is_named(executor):
    def needs():
        import a_module_that_nobody_has  # noqa: F401

    with pytest.raises(ModuleNotFoundError, match="a_module_that_nobody_has"):
        executor.submit(needs).result(PATIENCE)


def test_closures_lambdas_and_classes_of_this_program_travel(executor):
    class Point:
        def __init__(self, x):
            self.x = x

    factor = 3
    assert executor.submit(lambda p: Point(p.x * factor), Point(5)).result(PATIENCE).x == 15


def test_done_callbacks_run_once_and_with_the_future(executor):
    seen = []
    future = executor.submit(square, 4)
    future.add_done_callback(seen.append)
    assert future.result(PATIENCE) == 16
    future.add_done_callback(seen.append)
    assert seen == [future, future]


def test_wait_and_as_completed_of_concurrent_futures(executor):
    fast, slow = executor.submit(square, 2), executor.submit(time.sleep, 2)
    done, pending = mutirao.wait([fast, slow], PATIENCE, mutirao.FIRST_COMPLETED)
    assert fast in done and slow in pending
    assert list(concurrent.futures.as_completed([slow, fast], PATIENCE))[0] is fast


def test_running_is_seen_and_a_running_call_is_not_cancelled(executor, until):
    future = executor.submit(time.sleep, 3)
    until(future.running, "the call runs")
    assert not future.cancel() and not future.cancelled()
    assert future.result(PATIENCE) is None
    assert not future.cancel()


def test_a_call_that_waits_is_cancelled_alone(grid):
    executor = grid.executor(requirements="name == nowhere")
    first, second = executor.map_futures(square, [1, 2], chunksize=1)
    assert first.cancel() and first.cancelled()
    assert first.task.status == "cancelled" and second.task.status == "ready"
    assert second.cancel()
    executor.shutdown()
    assert executor.jobs[0].wait(PATIENCE) == "cancelled"
    executor.shutdown()


def test_calls_that_share_a_task_are_not_cancelled_one_by_one(grid):
    executor = grid.executor(requirements="name == nowhere")
    first, second = executor.map_futures(square, [1, 2], chunksize=2)
    assert not first.cancel() and not second.done()
    first.task.cancel()
    for future in (first, second):
        with pytest.raises(concurrent.futures.CancelledError):
            future.result(PATIENCE)
    executor.shutdown()


def test_those_who_wait_for_a_cancelled_call_are_told(grid):
    executor = grid.executor(requirements="name == nowhere")
    first, second = executor.map_futures(square, [1, 2], chunksize=1)
    threading.Timer(0.5, first.cancel).start()
    assert next(mutirao.as_completed([first], PATIENCE)) is first
    threading.Timer(0.5, executor.jobs[0].cancel).start()
    done, pending = mutirao.wait([first, second], PATIENCE)
    assert done == {first, second} and not pending and second.cancelled()


def test_a_call_may_wait_for_another_in_its_callback(executor, until):
    first, second = executor.map_futures(square, [1, 2], chunksize=2)
    seen = []
    first.add_done_callback(lambda _: seen.append(second.result(PATIENCE)))
    third = executor.submit(square, 3)
    third.add_done_callback(lambda _: seen.append(executor.submit(square, 4).result(PATIENCE)))
    assert third.result(PATIENCE) == 9
    until(lambda: len(seen) == 2, "both callbacks end", PATIENCE)
    assert sorted(seen) == [4, 16]


def test_a_function_is_sent_as_it_is_at_its_submission(executor):
    factor = 1

    def scale(x):
        return x * factor

    first = executor.submit(scale, 10)
    factor = 5
    assert [first.result(PATIENCE), executor.submit(scale, 10).result(PATIENCE)] == [10, 50]


def test_a_map_of_more_than_may_be_pending_goes_on_as_results_come(grid):
    with grid.executor(pending_max=3) as executor:
        assert list(executor.map(square, range(10))) == [square(x) for x in range(10)]
        [job] = executor.jobs
        assert len(job.futures()) == 10
        spec = grid.connection.call("GetJob", GetJobRequest(job_id=job.id)).spec
        assert len(spec.groups) == 4, "no more than three calls were without an end at a time"


def test_a_task_that_runs_again_has_new_futures(grid, tmp_path):
    def once(folder):
        if not os.path.exists(f"{folder}/there"):
            os.kill(os.getpid(), 9)
        return "done"

    with grid.executor(failures_max=1) as executor:
        future = executor.submit(once, str(tmp_path))
        with pytest.raises(mutirao.TaskFailed):
            future.result(PATIENCE)
    job = future.job
    assert job.wait(PATIENCE) == "failed"
    (tmp_path / "there").touch()
    assert job.retry() == 1
    assert job.futures()[0].result(PATIENCE) == "done"
    assert isinstance(future.exception(), mutirao.TaskFailed)


def test_a_call_may_leave_its_folder_and_close_its_output(executor):
    def roam(x):
        import sys

        os.chdir("/")
        sys.stdout.close()
        return x

    assert list(executor.map(roam, [1, 2], chunksize=2)) == [1, 2]


def test_an_exception_without_a_text_of_its_own_spoils_nothing(executor):
    def fail(x):
        class Mute(Exception):
            def __str__(self):
                raise ValueError("no words")

        if x:
            raise Mute()
        return x

    good, bad = executor.map_futures(fail, [0, 1], chunksize=2)
    assert good.result(PATIENCE) == 0
    assert type(bad.exception(PATIENCE)).__name__ == "Mute"


def test_results_of_a_closed_grid_are_errors_and_those_of_its_job_are_kept(live):
    grid = mutirao.connect(str(live.home))
    executor = grid.executor()
    future = executor.submit(time.sleep, 1.5)
    [job] = executor.detach()
    grid.close()
    with pytest.raises(mutirao.MutiraoError, match="closed"):
        future.result(PATIENCE)
    with mutirao.connect(str(live.home)) as other:
        again = other.attach(job)
        assert again.wait(PATIENCE) == "finished"
        assert again.futures()[0].result(PATIENCE) is None


def test_all_calls_are_of_one_job_that_ends_with_the_executor(grid):
    with grid.executor() as executor:
        first = executor.submit(square, 2)
        mapped = executor.map_futures(square, range(5), chunksize=2)
        assert [first.result(PATIENCE), *(future.result(PATIENCE) for future in mapped)] == [4, 0, 1, 4, 9, 16]
        assert executor.submit(square, 3).result(PATIENCE) == 9
        [job] = executor.jobs
        assert job.status == "running", "more may come"
        again = grid.attach(job.id)
        assert [future.result(PATIENCE) for future in again.futures()] == [4, 0, 1, 4, 9, 16, 9]
        assert len(again) == 5
    assert job.wait(PATIENCE) == "finished"


def test_calls_after_the_job_was_cancelled_are_of_another_one(grid):
    with grid.executor() as executor:
        assert executor.submit(square, 2).result(PATIENCE) == 4
        executor.jobs[0].cancel()
        assert executor.submit(square, 3).result(PATIENCE) == 9
        assert len(executor.jobs) == 2


def test_a_program_that_ends_without_shutdown_leaves_no_open_job(live, grid):
    program = "import mutirao\nfuture = mutirao.connect().executor().submit(abs, -3)\nprint(future.result(60), future.job.id)"
    done = live.python(program)
    value, job = done.stdout.split()
    assert value == "3", done.stderr
    assert grid.attach(int(job)).wait(PATIENCE) == "finished"


def test_submit_after_shutdown_is_refused(grid):
    executor = grid.executor()
    executor.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(square, 1)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.map(square, [1])
    executor.shutdown()


def test_shutdown_waits_for_what_was_submitted(grid):
    executor = grid.executor()
    futures = [executor.submit(square, x) for x in range(5)]
    executor.shutdown(wait=True)
    assert all(future.done() for future in futures)


def test_shutdown_can_cancel_what_has_not_begun(grid):
    executor = grid.executor(requirements="name == nowhere")
    futures = [executor.submit(square, x) for x in range(3)]
    executor.shutdown(wait=True, cancel_futures=True)
    assert all(future.done() for future in futures)
    for future in futures:
        with pytest.raises(concurrent.futures.CancelledError):
            future.result()


def test_submissions_from_several_threads(grid):
    with grid.executor() as executor:
        futures = []
        threads = [
            threading.Thread(target=lambda base=base: futures.extend(executor.submit(square, base + x) for x in range(20)))
            for base in (0, 20, 40)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(future.result(PATIENCE) for future in futures) == [square(x) for x in range(60)]
        assert len(executor.jobs) == 1


def test_a_future_can_be_awaited(executor):
    async def both():
        return await asyncio.gather(*(asyncio.ensure_future(wait_for(executor.submit(square, x))) for x in (2, 3)))

    async def wait_for(future):
        return await future

    assert asyncio.run(both()) == [4, 9]


def test_a_submit_waits_while_too_much_is_pending(grid, until):
    with grid.executor(pending_max=2) as executor:
        reached = threading.Event()
        first = [executor.submit(time.sleep, 1) for _ in range(2)]

        def third():
            executor.submit(square, 1)
            reached.set()

        thread = threading.Thread(target=third)
        thread.start()
        until(lambda: reached.is_set() or any(f.done() for f in first), "a call ends")
        assert any(future.done() for future in first)
        thread.join(PATIENCE)
        assert reached.is_set()


def test_what_a_call_prints_is_kept_and_where_it_ran_is_known(executor):
    future = executor.submit(print, "hello from there")
    future.result(PATIENCE)
    assert future.stdout() == "hello from there\n"
    assert future.machine.startswith("lab/")
    assert "finished on lab/" in future.explain()


def test_the_environment_of_an_executor_reaches_its_calls(grid):
    with grid.executor(environment={"COLOUR": "blue green"}) as executor:
        assert executor.submit(os.getenv, "COLOUR").result(PATIENCE) == "blue green"


def test_a_killed_process_is_a_failed_task(grid):
    with grid.executor(failures_max=1) as executor:
        with pytest.raises(mutirao.TaskFailed) as failure:
            executor.submit(lambda: os.kill(os.getpid(), 9)).result(PATIENCE)
        assert failure.value.machine.startswith("lab/")


def test_a_call_beyond_its_time_is_a_failed_task(grid):
    with grid.executor(failures_max=1, time="1s") as executor:
        with pytest.raises(mutirao.TaskFailed, match="MUT_"):
            executor.submit(time.sleep, 60).result(PATIENCE)


def test_results_of_many_megabytes(executor):
    result = executor.submit(lambda n: bytes(n), 20_000_000).result(PATIENCE)
    assert len(result) == 20_000_000


def test_a_child_after_a_fork_has_a_connection_of_its_own(grid, until):
    with grid.executor() as executor:
        assert executor.submit(square, 2).result(PATIENCE) == 4
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, str(grid.processors()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    until(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid, "the child ends")
    assert int(os.read(reader, 10)) == grid.processors()
