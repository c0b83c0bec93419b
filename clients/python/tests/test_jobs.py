"""Bags of commands, their tasks, and what is refused."""

import concurrent.futures

import pytest

import mutirao

PATIENCE = 90


def test_a_bag_over_parameters_brings_files_and_output(grid, tmp_path):
    (tmp_path / "in put.txt").write_text("given ")
    job = grid.bag(
        "cat 'data' && echo {a}-{b} && echo {b} > out",
        mutirao.product(a=[1, 2], b=["x y", "$HOME"]),
        inputs={str(tmp_path / "in put.txt"): "data"},
        outputs={"out": str(tmp_path / "of-{a}-{b}.txt")},
        label="two by two",
    )
    assert job.wait(PATIENCE) == "finished"
    assert [task.stdout for task in job] == ["given 1-x y\n", "given 1-$HOME\n", "given 2-x y\n", "given 2-$HOME\n"]
    assert (tmp_path / "of-2-$HOME.txt").read_text() == "$HOME\n"
    assert len(job) == 4 and job[-1].index == 3 and job.summary().label == "two by two"


def test_outputs_without_a_place_are_read_from_the_broker(grid):
    job = grid.bag("seq {} > out", 3, outputs=["out"])
    job.wait(PATIENCE)
    assert job[2].read("out") == b"1\n2\n"
    with pytest.raises(mutirao.MutiraoError, match="brought no file"):
        job[2].read("other")


def test_words_are_quoted(grid):
    job = grid.bag(["printf", "%s|", "a b", "$HOME", "it's"])
    job.wait(PATIENCE)
    assert job[0].stdout == "a b|$HOME|it's|"


def test_tasks_come_as_they_end_and_failures_are_told(grid):
    job = grid.bag("test {} -ne 1 || { echo oh >&2; exit 7; }", range(3))
    assert sorted(task.index for task in mutirao.as_completed(job, PATIENCE)) == [0, 1, 2]
    assert job.status == "failed"
    assert (job[1].status, job[1].exit_status, job[1].stderr) == ("failed", 7, "oh\n")
    assert "7" in job[1].explain()


def test_the_same_key_is_the_same_job(grid):
    first = grid.bag("true", key="once")
    assert grid.bag("true", key="once").id == first.id


def test_a_cancelled_job_ends(grid):
    job = grid.bag("true", requirements="name == nowhere")
    job.cancel("not now")
    assert job.wait(PATIENCE) == "cancelled"
    assert job.summary().cancel_reason.text == "not now"


def test_retry_runs_what_failed(grid, tmp_path):
    job = grid.bag(f"test -e {tmp_path}/there", 1)
    assert job.wait(PATIENCE) == "failed"
    (tmp_path / "there").touch()
    assert job.retry() == 1
    assert job.wait(PATIENCE) == "finished"


def test_wait_gives_up_after_its_timeout(grid):
    job = grid.bag("true", requirements="name == nowhere")
    with pytest.raises(concurrent.futures.TimeoutError, match="has not ended within"):
        job.wait(0.2)
    job.cancel()


def test_resources_and_the_ledger(grid):
    job = grid.bag("echo $MUTIRAO_CPUS $MUTIRAO_MEMORY_BYTES", memory="64M", time="1m")
    assert job.wait(PATIENCE) == "finished"
    assert job[0].stdout.split()[-1] == str(64 << 20)
    assert sum(row["used"] for row in job.ledger()) > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"command": "echo {c}", "parameters": [{"a": 1}]}, "no parameter {c}"),
        ({"command": "true", "parameters": []}, "no parameters"),
        ({"command": "true", "parameters": [{"a": 1}, {"b": 1}]}, "row 1"),
        ({"command": "true", "memory": "lots"}, "is no size"),
        ({"command": "true", "time": "soon"}, "is no duration"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_sent(grid, words, said):
    with pytest.raises(ValueError, match=said):
        grid.bag(**words)


def test_a_job_that_there_is_not(grid):
    with pytest.raises(mutirao.MutiraoError) as error:
        grid.attach(999_999)
    assert error.value.code == "MUT_NOT_FOUND"


def test_a_bag_of_commands_has_no_futures(grid):
    job = grid.bag("true")
    with pytest.raises(mutirao.MutiraoError, match="not made of functions"):
        job.futures()


def test_no_broker_in_a_home(tmp_path):
    with pytest.raises(mutirao.MutiraoError, match="no broker has started"):
        mutirao.connect(str(tmp_path), patience=0)


def test_html_of_a_job_escapes_its_label(grid):
    job = grid.bag("true", label="<b>&")
    job.wait(PATIENCE)
    assert "&lt;b&gt;&amp;" in job._repr_html_() and "1 finished" in job._repr_html_()


def test_a_program_that_is_sent_can_be_run(grid, tmp_path):
    (tmp_path / "simulate").write_text("#!/bin/sh\necho ran $1\n")
    (tmp_path / "simulate").chmod(0o755)
    job = grid.bag("./simulate {seed}", mutirao.product(seed=[4]), inputs=[str(tmp_path / "simulate")])
    assert job.wait(PATIENCE) == "finished"
    assert job[0].stdout == "ran 4\n"


def test_one_path_in_place_of_a_list_is_refused(grid):
    with pytest.raises(mutirao.ArgumentError, match="is one path"):
        grid.bag("true", inputs="simulate")
    with pytest.raises(FileNotFoundError):
        grid.bag("true", inputs=["/nowhere/at/all"])


def test_wait_after_a_retry_waits_for_what_runs_again(grid, tmp_path):
    job = grid.bag(f"mkdir {tmp_path}/once; test -e {tmp_path}/there", 1)
    assert job.wait(PATIENCE) == "failed"
    other = grid.attach(job.id)
    assert other.wait(PATIENCE) == "failed"
    (tmp_path / "there").touch()
    assert job.retry() == 1
    assert [other.wait(PATIENCE), job.wait(PATIENCE)] == ["finished", "finished"]
    assert [task.status for task in job.as_completed(PATIENCE)] == ["finished"]


def test_a_broker_at_a_port_is_never_given_the_token(tmp_path, live, monkeypatch):
    monkeypatch.setenv("MUTIRAO_HOME", str(tmp_path))
    (tmp_path / "token").write_text("secret")
    with pytest.raises(mutirao.MutiraoError) as error:
        mutirao.connect(broker="127.0.0.1:9", patience=0)
    assert error.value.code == "MUT_BAD_CONFIG" and "certificates" in str(error.value)
