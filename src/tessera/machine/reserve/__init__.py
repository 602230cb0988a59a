"""Reserve huge pages for real runs: only with permission, checked, and always released.

From the bottom: :mod:`machine_state` (locks and records, in one place of the machine), :mod:`pools` (the
kernel's pools), :mod:`reservation` (reserve and release), :mod:`settings` (other settings of the kernel, in
the same way).
"""

from tessera.machine.reserve.pools import huge_pages_free, huge_pages_total, nodes, supported_sizes
from tessera.machine.reserve.reservation import (
    HugePagesUnavailable,
    keep_huge_pages,
    release_kept,
    require_room,
    reserve_huge_pages,
    reserving_allowed,
    restore_leftovers,
)

__all__ = [
    "HugePagesUnavailable",
    "huge_pages_free",
    "huge_pages_total",
    "keep_huge_pages",
    "nodes",
    "release_kept",
    "require_room",
    "reserve_huge_pages",
    "reserving_allowed",
    "restore_leftovers",
    "supported_sizes",
]
