"""The order in which a program first touches its pages: a CSV file ``pool,page,access``.

``tessera trace touches`` writes it from a trace. Rows are in the order of the accesses; ``page`` counts 4KB
from the start of the pool, and ``access`` is the number of the data access in the trace (from 0).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.mapping.check import PAGE_LIMIT
from tessera.mapping.columns import POOL_NUMBERS, columns

HEADER = "pool,page,access"
_FORM = re.compile(rb"pool,page,access\n(?:(?:brk|mmap),[0-9]{1,18},[0-9]{1,18}\n)*+")


@dataclass(frozen=True, eq=False)
class Touches:
    """Distinct pages in the order of their first touches; arrays of shape ``(touches,)``, int64.

    Attributes:
        pool: index in ``rows.POOLS``.
        page: number of the 4KB page in its pool.
        access: number of the access; strictly ascending.
    """

    pool: np.ndarray
    page: np.ndarray
    access: np.ndarray


def read_touches(path: Path | str) -> Touches:
    """Read the file.

    Raises:
        TesseraError: the file is missing, has another form, names a page twice or is not in order; ``code``
            is ``touches-file``, ``touches-form`` or ``touches-order``.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise _refused(path, error.strerror or str(error), "touches-file") from None
    if not (data.endswith(b"\n") and _FORM.fullmatch(data)):  # fullmatch alone may accept a cut row
        raise _refused(path, _first_bad_line(data), "touches-form")
    found = Touches(*columns(data[data.index(b"\n") + 1 :], 3, POOL_NUMBERS))
    wrong = found.page >= PAGE_LIMIT
    wrong |= np.concatenate(([False], np.diff(found.access) <= 0))[: len(wrong)]
    first = np.unique((found.pool << 40) + found.page, return_index=True)[1]
    wrong |= ~np.isin(np.arange(len(wrong)), first)
    if wrong.any():
        line = int(wrong.argmax()) + 2
        found = f"line {line}: the page was touched before, is 2^36 or more, or its access does not ascend"
        raise _refused(path, found, "touches-order")
    return found


def _first_bad_line(data: bytes) -> str:
    lines = data.decode("latin-1").split("\n")
    if lines[0] != HEADER:
        return f"line 1 is '{lines[0][:40]}', and must be {HEADER}"
    row = re.compile("(?:brk|mmap),[0-9]{1,18},[0-9]{1,18}")
    bad = next((at for at, line in enumerate(lines[1:-1], start=2) if not row.fullmatch(line)), len(lines))
    return f"line {bad} is '{lines[bad - 1][:40]}', and must be a pool and two numbers, with a line end"


def _refused(path: Path | str, found: str, code: str) -> TesseraError:
    remedy = "write the file with: tessera trace touches TRACE --out FILE"
    return TesseraError(f"first touches {path}", found, remedy, code=code)
