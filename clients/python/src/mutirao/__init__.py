"""Run Python functions and commands on a Mutirao grid. See https://docs.python.org/3/library/concurrent.futures.html for the shape of executors.

    import mutirao
    with mutirao.connect() as grid, grid.executor() as executor:
        print(list(executor.map(abs, range(-5, 5))))
"""

from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, FIRST_EXCEPTION, wait

from .errors import ArgumentError, BrokerAway, MutiraoError, RemoteTraceback, TaskFailed
from .executor import Executor, as_completed
from .functions import Future
from .grid import Grid, connect, product
from .job import Job, Task

__version__ = "0.1.0"
__all__ = [
    "ALL_COMPLETED",
    "FIRST_COMPLETED",
    "FIRST_EXCEPTION",
    "ArgumentError",
    "BrokerAway",
    "Executor",
    "Future",
    "Grid",
    "Job",
    "MutiraoError",
    "RemoteTraceback",
    "Task",
    "TaskFailed",
    "as_completed",
    "connect",
    "product",
    "wait",
]
