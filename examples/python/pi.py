#!/usr/bin/env python3
"""Estimates pi from random points: twenty calls of a function on the grid.

Start a grid with `mutirao up`, install the package (docs/guides/python.md), then: python3 examples/python/pi.py
"""

import random

import mutirao

POINTS = 100_000


def count_inside(seed: int) -> int:
    draw = random.Random(seed).random
    return sum(draw() ** 2 + draw() ** 2 < 1 for _ in range(POINTS))


with mutirao.connect() as grid, grid.executor(label="pi") as executor:
    counts = list(executor.map(count_inside, range(20)))
print(f"pi is about {4 * sum(counts) / (POINTS * len(counts)):.4f}, from {POINTS * len(counts)} points in {len(counts)} calls")
