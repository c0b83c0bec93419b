"""A sequence of byte strings in one file, any of which can be read alone.

    8 bytes   MUTCALL1
    8 bytes   n, little-endian, as all numbers
    8 (n+1)   where each begins, from the start of the data on, and where the last ends
    ...       the data
"""

from __future__ import annotations

import io
import os
import struct
import sys
from typing import BinaryIO, List, Sequence

MAGIC = b"MUTCALL1"


def pack(items: Sequence[bytes]) -> bytes:
    ends = [0]
    for item in items:
        ends.append(ends[-1] + len(item))
    return b"".join([MAGIC, struct.pack(f"<Q{len(ends)}Q", len(items), *ends), *items])


def unpack(data: bytes) -> List[bytes]:
    """All of them. Raises ValueError for other bytes, and for those that are cut short."""
    return read_some(io.BytesIO(data), 0, sys.maxsize)


def read_some(file: BinaryIO, first: int, count: int) -> List[bytes]:
    """Those from `first` on, `count` at most, without reading the others. Raises ValueError as unpack does."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(8) != MAGIC or size < 16:
        raise ValueError("expected packed calls or results, found something else")
    (total,) = struct.unpack("<Q", file.read(8))
    data = 24 + 8 * total
    if data > size:
        raise ValueError("the calls or results are cut short")
    last = min(first + count, total)
    if last <= first:
        return []
    file.seek(16 + 8 * first)
    ends = struct.unpack(f"<{last - first + 1}Q", file.read(8 * (last - first + 1)))
    if data + ends[-1] > size or any(start > end for start, end in zip(ends, ends[1:])):
        raise ValueError("the calls or results are cut short")
    file.seek(data + ends[0])
    return [file.read(end - start) for start, end in zip(ends, ends[1:])]
