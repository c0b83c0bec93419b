"""Runs calls on a machine of the grid: `python3 runner.pyz FUNCTION CALLS INDEX CHUNK PYTHON [COUNT]`, in a folder with those files.

Reads the calls INDEX * CHUNK to INDEX * CHUNK + CHUNK - 1 of the file CALLS, runs FUNCTION on each, and writes the file
`result`. COUNT, all calls of the file, is for those who read the command. Needs Python 3.8 and nothing else: cloudpickle travels within the archive. Exit status 86: another Python.
"""

import os
import pickle
import sys
import traceback
from typing import Any, Callable

# Lies next to this file in the archive.
from packets import pack, read_some


def describe(error: BaseException) -> bytes:
    """What of an exception can travel: itself where it can be pickled and read back, else its name and text."""
    try:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        message = str(error)
    except BaseException:
        text = message = "(its text cannot be had)"
    packed = None
    try:
        import cloudpickle

        dumped: bytes = cloudpickle.dumps(error, protocol=4)
        pickle.loads(dumped)
        packed = dumped
    except BaseException:
        packed = None
    return pickle.dumps(
        {"error": packed, "kind": type(error).__name__, "message": message, "traceback": text}, protocol=4
    )


def run(function: Callable[..., Any], packed: bytes) -> bytes:
    import cloudpickle

    try:
        args, kwargs = pickle.loads(packed)
        value = function(*args, **kwargs)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return describe(error)
    try:
        result: bytes = b"\x80\x04N." if value is None else cloudpickle.dumps({"value": value}, protocol=4)
        return result
    except BaseException as error:
        failure = TypeError("the result cannot be sent home: %s: %s" % (type(error).__name__, error))
        failure.__cause__ = error
        return describe(failure)


def main(function_path: str, calls_path: str, index: int, chunk: int, version: str) -> int:
    here = "%d.%d" % sys.version_info[:2]
    if here != version:
        print(
            "mutirao: %s is Python %s here, and the function comes from Python %s; expected the same version. "
            "Name one that every machine has with executor(python=...)" % (sys.executable, here, version),
            file=sys.stderr,
        )
        return 86
    # A call may go to another folder, or close what it prints to.
    result = os.path.abspath("result")
    with open(calls_path, "rb") as file:
        calls = read_some(file, index * chunk, chunk)
    sys.path.insert(0, os.getcwd())
    try:
        with open(function_path, "rb") as file:
            function = pickle.load(file)
    except BaseException as error:
        results = [describe(error)] * len(calls)
    else:
        results = [run(function, call) for call in calls]
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    with open(result + ".part", "wb") as file:
        file.write(pack(results))
    os.rename(result + ".part", result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]))
