"""A grid of two machines for all tests. MUTIRAO_COMMAND names the command line, as words of a shell; by default it is this checkout's."""

import faulthandler
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

import mutirao

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHECKOUT = f"{ROOT}/node_modules/.bin/node {ROOT}/packages/cli/bin/mutirao.js"
COMMAND = shlex.split(os.environ.get("MUTIRAO_COMMAND", CHECKOUT))


@pytest.fixture(autouse=True)
def bounded():
    """A test that hangs says where, and ends the run."""
    faulthandler.dump_traceback_later(300, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


class LiveGrid:
    def __init__(self, home):
        self.home = home

    def run(self, *args, timeout=180):
        done = subprocess.run([*COMMAND, *args, "--home", str(self.home)], capture_output=True, text=True, timeout=timeout)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def broker(self):
        return json.loads((self.home / "broker.json").read_text())["pid"]

    def python(self, program, *args, timeout=120):
        """Runs a program in a Python of its own."""
        env = {**os.environ, "MUTIRAO_HOME": str(self.home)}
        return subprocess.run([sys.executable, "-c", program, *map(str, args)], capture_output=True, text=True, timeout=timeout, env=env)


@pytest.fixture(scope="session")
def live():
    home = pathlib.Path(tempfile.mkdtemp(prefix="mutirao-py-"))
    grid = LiveGrid(home)
    try:
        grid.run("up", "--clusters", "0", "--machines", "2", "--detach")
        yield grid
    finally:
        subprocess.run([*COMMAND, "down", "--home", str(home)], capture_output=True, timeout=120)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def grid(live):
    with mutirao.connect(str(live.home)) as grid:
        yield grid


@pytest.fixture
def executor(grid):
    with grid.executor() as executor:
        yield executor


@pytest.fixture
def until():
    def wait(condition, what, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"{what}: not within {seconds} s"
            time.sleep(0.02)

    return wait
