"""joblib, and what uses it, on the grid."""

import math
import os

import pytest

joblib = pytest.importorskip("joblib")

import mutirao.joblib  # noqa: E402

mutirao.joblib.register()


def square(x):
    return x * x


@pytest.fixture
def on_grid(live):
    with joblib.parallel_config("mutirao", home=str(live.home)):
        yield


def test_calls_run_on_the_grid_in_their_order(on_grid):
    results = joblib.Parallel(n_jobs=2)(joblib.delayed(square)(x) for x in range(50))
    assert results == [x * x for x in range(50)]
    assert os.getpid() not in joblib.Parallel(n_jobs=2)(joblib.delayed(os.getpid)() for _ in range(4))


def test_all_processors_of_the_grid_are_meant_by_default(on_grid):
    assert joblib.effective_n_jobs(-1) == 2


def test_one_call_of_parallel_is_one_job_that_ends(on_grid, grid):
    joblib.Parallel(n_jobs=2)(joblib.delayed(math.sqrt)(x) for x in range(20))
    job = next(grid.jobs())
    assert job.wait(60) == "finished"
    assert job.summary().label == "joblib"


def test_an_exception_is_raised_and_ends_the_rest(on_grid, grid):
    with pytest.raises(ZeroDivisionError):
        joblib.Parallel(n_jobs=2)(joblib.delayed(divmod)(1, x) for x in range(10))
    assert next(grid.jobs()).wait(60) in ("finished", "cancelled", "failed")


def test_what_runs_in_parallel_inside_a_call_runs_there(on_grid):
    def outer(x):
        return sum(joblib.Parallel(n_jobs=2)(joblib.delayed(square)(y) for y in range(x)))

    assert joblib.Parallel(n_jobs=2)(joblib.delayed(outer)(x) for x in (2, 3)) == [1, 5]


def test_results_come_as_a_generator(on_grid):
    results = joblib.Parallel(n_jobs=2, return_as="generator")(joblib.delayed(square)(x) for x in range(5))
    assert list(results) == [0, 1, 4, 9, 16]


def test_a_grid_search_of_scikit_learn(on_grid):
    model_selection = pytest.importorskip("sklearn.model_selection")
    from sklearn.datasets import load_iris
    from sklearn.svm import SVC

    X, y = load_iris(return_X_y=True)
    search = model_selection.GridSearchCV(SVC(), {"C": [0.1, 1, 10], "kernel": ["linear", "rbf"]}, cv=3, n_jobs=-1)
    search.fit(X, y)
    assert search.best_score_ > 0.95
    assert len(search.cv_results_["params"]) == 6
