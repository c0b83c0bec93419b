"""Executors beside each other on this machine, in one run: `python bench/python_executors.py [INPUTS] [NAME ...]`.

Needs the package with `joblib` and `distributed`, and a grid whose home MUTIRAO_HOME names. Each executor has two
workers. Prints JSON lines: no-op calls a second of a map, and the time of one call from submit to result.
"""

import concurrent.futures
import json
import statistics
import sys
import time

CALLS = 20  # One after the other, for the time of one.


def no_op(x):
    return x


def measure(name, inputs, map_all, call_once):
    warm_up = list(map_all(range(4)))
    assert warm_up == list(range(4))
    begun = time.perf_counter()
    results = list(map_all(range(inputs)))
    mapped = time.perf_counter() - begun
    assert results == list(range(inputs))
    times = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        assert call_once(7) == 7
        times.append(time.perf_counter() - begun)
    figures = {
        "executor": name,
        "inputs": inputs,
        "calls_per_s": round(inputs / mapped),
        "call_ms_p50": round(1000 * statistics.median(times), 2),
        "call_ms_max": round(1000 * max(times), 2),
    }
    print(json.dumps(figures), flush=True)


def process_pool(inputs):
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        chunk = max(1, inputs // 16)
        measure("ProcessPoolExecutor", inputs, lambda xs: pool.map(no_op, xs, chunksize=chunk), lambda x: pool.submit(no_op, x).result())


def joblib_loky(inputs):
    import joblib

    with joblib.Parallel(n_jobs=2) as parallel:
        measure(
            "joblib (loky)",
            inputs,
            lambda xs: parallel(joblib.delayed(no_op)(x) for x in xs),
            lambda x: parallel([joblib.delayed(no_op)(x)])[0],
        )


def dask(inputs):
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            measure(
                "Dask",
                inputs,
                lambda xs: client.gather(client.map(no_op, xs, pure=False)),
                lambda x: client.submit(no_op, x, pure=False).result(),
            )


def mutirao_grid(inputs):
    import mutirao

    with mutirao.connect() as grid, grid.executor() as executor:
        measure("Mutirao", inputs, lambda xs: executor.map(no_op, xs), lambda x: executor.submit(no_op, x).result())


EXECUTORS = {"pool": process_pool, "joblib": joblib_loky, "dask": dask, "mutirao": mutirao_grid}

if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    for chosen in sys.argv[2:] or EXECUTORS:
        EXECUTORS[chosen](count)
