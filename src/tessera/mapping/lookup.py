"""Frames of pages in one state of a mapping."""

from __future__ import annotations

import numpy as np

from tessera.core.errors import TesseraError
from tessera.mapping.rows import POOLS, Rows


def frames(name: str, state: Rows, pool: np.ndarray, page: np.ndarray, access: np.ndarray) -> tuple:
    """Frame and page size of each touched 4KB page.

    Args:
        name: of the mapping, for the message.
        state: sorted disjoint rows.
        pool, page, access: of each touch: index in ``POOLS``, page of the pool, number of the access.

    Returns:
        Frames of 4KB and sizes in pages of 4KB, each with the shape of ``page``.

    Raises:
        TesseraError: a touched page has no row; ``code`` is ``mapping/touched``.
    """
    place = Rows(pool, page, page, np.ones_like(page), np.ones_like(page)).start
    row = np.searchsorted(state.start, place, side="right") - 1
    known = row >= 0
    row = np.maximum(row, 0)
    if len(state):
        known &= place < state.end[row]
    if not known.all():
        first = int(np.flatnonzero(~known)[access[~known].argmin()])
        raise TesseraError(
            f"mapping {name}",
            f"access {access[first]} touches page {page[first]} of pool {POOLS[pool[first]]}: no row has it",
            "make a mapping of the whole trace: tessera mapping generate --trace T --kind medium --out FILE",
            code="mapping/touched",
        )
    return state.frame[row] + page - state.page[row], state.size[row]
