"""A sequence of byte strings in one file, any of which can be read alone.

    8 bytes   MUTCALL1
    8 bytes   n, little-endian, as all numbers
    8 (n+1)   where each begins, from the start of the data on, and where the last ends
    ...       the data
"""

from __future__ import annotations

import struct
from typing import Sequence

MAGIC = b"MUTCALL1"


def pack(items: Sequence[bytes]) -> bytes:
    ends = [0]
    for item in items:
        ends.append(ends[-1] + len(item))
    return b"".join([MAGIC, struct.pack(f"<Q{len(ends)}Q", len(items), *ends), *items])


def unpack(data: bytes) -> list[bytes]:
    if data[:8] != MAGIC or len(data) < 16:
        raise ValueError("these are no calls or results")
    (count,) = struct.unpack_from("<Q", data, 8)
    start = 24 + 8 * count
    if count > len(data) or start > len(data):
        raise ValueError("these calls or results are cut short")
    ends = struct.unpack_from(f"<{count + 1}Q", data, 16)
    return [data[start + ends[at] : start + ends[at + 1]] for at in range(count)]
