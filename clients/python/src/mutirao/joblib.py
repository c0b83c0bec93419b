"""A backend of joblib: what uses joblib, such as scikit-learn, runs on the grid.

    import joblib, mutirao.joblib

    mutirao.joblib.register()
    with joblib.parallel_config("mutirao", memory="2G"):
        search.fit(X, y)
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional

import cloudpickle
from joblib.parallel import AutoBatchingMixin, ParallelBackendBase, SequentialBackend, register_parallel_backend

from .executor import Executor
from .functions import Future, cancel_waiting
from .grid import Grid, connect

Item = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def run_batch(items: list[Item]) -> list[Any]:
    """Runs on a machine. What a call runs in parallel itself runs there one after the other: its task has what it asked for."""
    try:
        from joblib import parallel_config
    except ImportError:
        return [function(*args, **kwargs) for function, args, kwargs in items]
    with parallel_config(backend="sequential", n_jobs=1):
        return [function(*args, **kwargs) for function, args, kwargs in items]


class MutiraoBackend(AutoBatchingMixin, ParallelBackendBase):  # type: ignore[misc]
    """One call of joblib.Parallel is one job. `home` or `grid` name the grid; other arguments are those of `Grid.executor`."""

    supports_retrieve_callback = True

    def __init__(
        self,
        nesting_level: Optional[int] = None,
        inner_max_num_threads: Optional[int] = None,
        grid: Optional[Grid] = None,
        home: Optional[str] = None,
        **options: Any,
    ) -> None:
        super().__init__(nesting_level=nesting_level, inner_max_num_threads=inner_max_num_threads)
        self._grid, self._home, self._options = grid, home, options
        self._executor: Optional[Executor] = None
        self._pending: set[Future] = set()

    @property
    def grid(self) -> Grid:
        if self._grid is None:
            self._grid = connect(self._home)
        return self._grid

    def effective_n_jobs(self, n_jobs: Optional[int]) -> int:
        """As many calls at once; with None or a negative number as many as the grid has processors now."""
        if n_jobs == 0:
            raise ValueError("n_jobs is 0; expected a positive number, or -1 for all processors of the grid")
        return n_jobs if n_jobs is not None and n_jobs > 0 else max(1, self.grid.processors())

    def submit(self, func: Any, callback: Optional[Callable[[Any], Any]] = None) -> Future:
        if self._executor is None:
            self._executor = self.grid.executor(**{"label": "joblib", **self._options})
        # Its items, and not itself: machines need no joblib for functions that do not use it.
        future = self._executor.submit(run_batch, list(func.items))
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future) -> Any:
        return out.result()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        cancel_waiting(list(self._pending), "another call of joblib.Parallel failed")
        self.terminate()

    def terminate(self) -> None:
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False)
        self.reset_batch_stats()

    def get_nested_backend(self) -> tuple[Any, Optional[int]]:
        return SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), None


def register(default: bool = False) -> None:
    """Has joblib know the backend "mutirao"; `default` has it used where none is named."""
    register_parallel_backend("mutirao", MutiraoBackend, make_default=default)


# Its functions travel whole: machines do not have this package.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
