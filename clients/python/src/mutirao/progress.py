"""A bar for as_completed."""

from __future__ import annotations

import sys
import time
from typing import Any, Iterator


def draw(each: Iterator[Any], total: int) -> Iterator[Any]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _lines(each, total)
    return iter(tqdm(each, total=total, unit="task"))


def _lines(each: Iterator[Any], total: int) -> Iterator[Any]:
    last = 0.0
    count = 0
    for count, one in enumerate(each, 1):
        if time.monotonic() - last > 0.2:
            last = time.monotonic()
            print(f"\r{count} of {total}", end="", file=sys.stderr, flush=True)
        yield one
    print(f"\r{count} of {total}", file=sys.stderr, flush=True)
