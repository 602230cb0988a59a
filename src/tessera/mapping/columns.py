"""Numbers of a plain CSV text as one numpy array; names of pools and page sizes become numbers first."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np

from tessera.mapping.rows import POOLS, UNMAPPED

POOL_NUMBERS = {pool: number for number, pool in enumerate(POOLS)}


def columns(body: bytes, width: int, numbers: Mapping[str, int]) -> np.ndarray:
    """The columns of rows that a regular expression has accepted; shape ``(width, rows)``, int64.

    Args:
        body: the rows without the header; an empty cell is -1 (``UNMAPPED``).
        width: cells of a row.
        numbers: word -> number.
    """
    for word, number in numbers.items():
        body = body.replace(word.encode(), str(number).encode())
    body = body.replace(b",,", f",{UNMAPPED},".encode())
    if not body:
        return np.zeros((width, 0), dtype=np.int64)
    return np.loadtxt(io.BytesIO(body), dtype=np.int64, delimiter=",", ndmin=2).T
