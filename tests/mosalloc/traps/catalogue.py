"""Each trap of a preloaded allocator, and each failure of the one we come after: where it is tested."""

from __future__ import annotations

from . import catalogue_of_failures, catalogue_of_kernel, catalogue_of_pages, catalogue_of_starts
from .rows import FAILURE, TRAP, Row

__all__ = ["FAILURE", "ROWS", "TRAP"]
ROWS: tuple[Row, ...] = (
    *catalogue_of_starts.ROWS,
    *catalogue_of_pages.ROWS,
    *catalogue_of_kernel.ROWS,
    *catalogue_of_failures.ROWS,
)
