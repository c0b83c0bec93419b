"""Executors beside each other on this machine, in one run: `python bench/python_executors.py [INPUTS] [NAME ...]`.

Needs the package with `joblib`, `distributed` and `numpy`, and a grid whose home MUTIRAO_HOME names. Each executor has
two workers. Prints JSON lines: no-op calls a second of a map, and the time of one call from submit to result. Further
names are about Mutirao alone: `arrays` (1 GB of results in pieces of 1 MB), `futures` (memory of a million of them),
`attach` (to as many calls as INPUTS) and `imports`.
"""

import concurrent.futures
import json
import statistics
import subprocess
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


def piece(number):
    import numpy

    return numpy.full(1 << 17, number, dtype=numpy.float64)


def arrays(_):
    import mutirao

    count = 1000
    with mutirao.connect() as grid, grid.executor() as executor:
        executor.submit(piece, 0).result()
        begun = time.perf_counter()
        total = sum(float(array[0]) for array in executor.map(piece, range(count)))
        seconds = time.perf_counter() - begun
    assert total == sum(range(count))
    print(json.dumps({"of": "arrays", "mebibytes": count, "mb_per_s": round(count * (1 << 20) / 1e6 / seconds, 1)}), flush=True)


def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def futures(_):
    import mutirao

    with mutirao.connect() as grid:
        executor = grid.executor()
        before = resident_mb()
        begun = time.perf_counter()
        held = executor.map_futures(no_op, range(1_000_000))
        submitted = time.perf_counter() - begun
        after = resident_mb()
        results = sum(future.result() for future in held)
        seconds = time.perf_counter() - begun
        assert results == sum(range(1_000_000))
        peak = resident_mb()
        executor.shutdown()
    figures = {"of": "futures", "count": len(held), "mb_before": round(before), "mb_submitted": round(after), "mb_done": round(peak)}
    print(json.dumps({**figures, "submit_s": round(submitted, 1), "all_s": round(seconds, 1)}), flush=True)


def attach(inputs):
    import mutirao

    with mutirao.connect() as grid:
        executor = grid.executor()
        list(executor.map(no_op, range(inputs)))
        [number] = executor.detach()
    begun = time.perf_counter()
    with mutirao.connect() as grid:
        again = grid.attach(number).futures()
        had = time.perf_counter() - begun
        results = [future.result() for future in again]
        seconds = time.perf_counter() - begun
    assert results == list(range(inputs))
    print(json.dumps({"of": "attach", "futures": inputs, "futures_s": round(had, 2), "results_s": round(seconds, 2)}), flush=True)


def imports(_):
    times = {}
    for module in ("grpc", "mutirao"):
        program = f"import time; begun = time.perf_counter(); import {module}; print(time.perf_counter() - begun)"
        runs = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout) for _ in range(7)]
        times[module + "_s"] = round(min(runs), 3)
    print(json.dumps({"of": "imports", **times, "more_s": round(times["mutirao_s"] - times["grpc_s"], 3)}), flush=True)


EXECUTORS = {
    "pool": process_pool,
    "joblib": joblib_loky,
    "dask": dask,
    "mutirao": mutirao_grid,
    "arrays": arrays,
    "futures": futures,
    "attach": attach,
    "imports": imports,
}
PEERS = ("pool", "joblib", "dask", "mutirao")

if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    for chosen in sys.argv[2:] or PEERS:
        EXECUTORS[chosen](count)
