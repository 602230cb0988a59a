"""Pool sizes of a layout without size rows, as in the library's ``core/layout.h`` (a test compares)."""

from __future__ import annotations

from tessera.core.units import GB

DEFAULT_POOL_BYTES = {"brk": 64 * GB, "mmap": 256 * GB}
