"""Pool sizes of a layout without size rows; ``core/layout.h`` of the library has the same (a test compares)."""

from __future__ import annotations

from tessera.units import GB

DEFAULT_POOL_BYTES = {"brk": 4 * GB, "mmap": 12 * GB}
