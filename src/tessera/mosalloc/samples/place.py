"""Where the pools of a recorded run were: from the report of ``mosalloc-run --report``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError

_AGAIN = "under perf record: tessera mosalloc run --layout examples/all-4kb.csv --report FILE -- PROGRAM"


@dataclass(frozen=True)
class Place:
    """Process of the run, and each pool's (base address, bytes)."""

    pid: int
    bases: dict[str, tuple[int, int]]

    @property
    def pool_bytes(self) -> dict[str, int]:
        """Sizes of the pools, as a layout needs them."""
        return {pool: size for pool, (_, size) in self.bases.items()}


def read_place(path: Path | str) -> Place:
    """Process and pools of a run under 4KB pages.

    Raises:
        TesseraError: the file is no report, or the run had huge pages: its misses are those that are left.
    """
    owner = f"report {path}"
    try:
        found = json.loads(Path(path).read_text())
        bases = {pool["type"]: (_whole(pool, "base"), _whole(pool, "size_bytes")) for pool in found["pools"]}
        place, windows = Place(_whole(found, "pid"), bases), len(found["windows"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise TesseraError(owner, f"{type(error).__name__}: {error}", _AGAIN, code="samples-report") from None
    if set(bases) != {"brk", "mmap"}:
        pools = ", ".join(map(str, bases)) or "none"  # JSON may have a number there
        raise TesseraError(owner, f"it has the pools {pools}", _AGAIN, code="samples-report")
    if windows:
        raise TesseraError(
            owner,
            f"the run had {windows} windows of huge pages: misses that these removed are not in the samples",
            _AGAIN,
            code="samples-report",
        )
    return place


def _whole(found: dict, key: str) -> int:
    """A whole number that is not negative; ``true``, 1.5 and Infinity of JSON are none."""
    value = found[key]
    if type(value) is not int or value < 0:
        raise ValueError(f"{key} is {value!r}, not a whole number")
    return value
