"""The JSON that ``mosalloc-run --report`` writes, as types."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError

#: call (``mmap``, ...) -> where it went (``pool``, ``kernel``, ``failed``) -> how often
Calls = dict[str, dict[str, int]]


@dataclass(frozen=True)
class WindowReport:
    """One window: page sizes in bytes; ``found`` is the smallest in it, 0 if it was not mapped."""

    pool: str
    start: int
    end: int
    asked: int
    found: int
    confirmed: bool


@dataclass(frozen=True)
class PoolReport:
    """One pool in bytes: ``used_bytes`` is its high-water mark, ``live_bytes`` is allocated now."""

    pool: str
    base: int
    size_bytes: int
    used_bytes: int
    live_bytes: int
    calls: int


@dataclass(frozen=True)
class Report:
    """The requested and the actual pages of one run.

    ``verdict`` is ``confirmed``, ``fallback`` (other pages, and they were allowed), ``mismatch`` or
    ``unchecked``; ``reason`` says why it is not the first. ``used_bytes`` is each pool's high-water mark.
    ``children`` are sums over all forked children. ``file_pool``, ``calls``, ``outside`` and ``children``
    are None in reports of launchers that do not count them.
    """

    verdict: str
    reason: str
    exit_status: int | None
    signal: int | None
    used_bytes: dict[str, int]
    windows: tuple[WindowReport, ...]
    counters: dict[str, int]
    allow_fallback: bool
    pools: tuple[PoolReport, ...] = ()
    file_pool: PoolReport | None = None
    calls: Calls | None = None
    outside: dict[str, int | bool] | None = field(default=None)
    children: dict[str, int] | None = field(default=None)

    @property
    def confirmed(self) -> bool:
        """True if every page had the size that the layout gives."""
        return self.verdict == "confirmed"


def read_report(path: Path | str) -> Report:
    """Read a report; a missing or damaged one is an error that names the file."""
    try:
        data = json.loads(Path(path).read_text())
        windows = tuple(
            WindowReport(
                w["type"],
                w["start_offset"],
                w["end_offset"],
                w["asked_page_bytes"],
                w["found_page_bytes"],
                w["confirmed"],
            )
            for w in data["windows"]
        )
        return Report(
            data["verdict"],
            data["reason"],
            data["exit_status"],
            data["signal"],
            {pool["type"]: pool["used_bytes"] for pool in data["pools"]},
            windows,
            data["counters"],
            data["allow_fallback"],
            tuple(pool_report(pool) for pool in data["pools"]),
            pool_report({"type": "file"} | data["file_pool"]) if data.get("file_pool") else None,
            data.get("calls"),
            data.get("outside"),
            data.get("children"),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TesseraError(
            f"mosalloc report {path}",
            f"{type(error).__name__}: {error}",
            "give a file that mosalloc-run --report wrote",
            exit_code=EXIT_FAILED,
        ) from None


def pool_report(row: dict) -> PoolReport:
    """One entry of ``pools``, or ``file_pool``; KeyError names what is missing."""
    names = ("base", "size_bytes", "used_bytes", "live_bytes", "calls")
    return PoolReport(row["type"], *(row[name] for name in names))
