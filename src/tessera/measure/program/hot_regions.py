"""Hot regions of a program: the memory that holds most of its TLB misses, by samples of this processor.

The samples, and the choice of the fewest pages, are those of ``tessera mosalloc suggest --method perf``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import GB, format_bytes
from tessera.measure.suggest import sampled_profile
from tessera.measure.suggest.profile import Profile, compact_order, fewest_pages, windows_of_pages
from tessera.measure.suggest.server_load import Load

#: Share of the pools' misses that the printed regions hold.
SHARE = 0.9
#: Rows of the table; further regions are in its last row.
MOST = 10
_POOLS = {"brk": 4 * GB, "mmap": 12 * GB}  #: as `tessera mosalloc suggest` has by default
_NAMES = {"brk": "heap pool", "mmap": "anonymous pool"}

HEADS = ("region", "size", "TLB misses", "share of all")


@dataclass(frozen=True)
class HotRegion:
    """Neighbouring 2MB pages of a pool (bytes from its start), and the misses in them."""

    pool: str
    start: int
    end: int
    misses: float


def require_samples() -> None:
    """Raise an error unless this machine samples TLB misses (code ``cannot-sample``)."""
    if reason := sampled_profile.why_unusable():
        raise TesseraError(
            "--regions",
            f"TLB misses can't be sampled here: {reason}",
            "tessera mosalloc suggest --method simulate -- PROGRAM finds the regions by simulation; samples"
            " of another machine: tessera mosalloc suggest --samples FILE REPORT (docs/howto/samples.md)",
            exit_code=EXIT_FAILED,
            code="cannot-sample",
        )


def sampled(program: Sequence[str], *, load: Load | None) -> Profile:
    """Run the program once under 4KB pages, with samples of its TLB misses."""
    with tempfile.TemporaryDirectory(prefix="tessera-regions-") as name:
        return sampled_profile.recorded_profile(program, Path(name), pool_bytes=dict(_POOLS), load=load)


def hot_regions(profile: Profile, share: float = SHARE) -> list[HotRegion]:
    """The fewest 2MB pages that hold ``share`` of the pools' misses.

    Neighbouring pages are one region; the region with most misses comes first.

    Raises:
        TesseraError: no miss lies in the pools (code ``no-miss-in-pools``).
    """
    pages = compact_order(profile)
    if not pages:
        raise TesseraError(
            "--regions",
            f"none of {profile.total:,.0f} TLB misses lies in the pools",
            "give the program that does the work: Tessera does not follow exec and child processes",
            exit_code=EXIT_FAILED,
            code="no-miss-in-pools",
        )
    held = pages[: fewest_pages(profile, pages, share)]
    found = [
        HotRegion(
            one.pool,
            one.start,
            one.end,
            sum(
                profile.misses[page]
                for page in held
                if page[0] == one.pool and one.start <= page[1] < one.end
            ),
        )
        for one in windows_of_pages(held)
    ]
    return sorted(found, key=lambda one: (-one.misses, one.pool, one.start))


def region_rows(regions: Sequence[HotRegion], profile: Profile) -> Iterator[tuple[str, str, str, str]]:
    """Rows under :data:`HEADS`; misses outside the pools are a part of all."""
    for one in regions[:MOST]:
        place = f"{_NAMES[one.pool]} {format_bytes(one.start)}"
        yield place, format_bytes(one.end - one.start), *_numbers(one.misses, profile)
    if rest := regions[MOST:]:
        size = format_bytes(sum(one.end - one.start for one in rest))
        yield f"{len(rest)} more", size, *_numbers(sum(one.misses for one in rest), profile)
    yield "outside the pools", "", *_numbers(profile.outside, profile)


def _numbers(misses: float, profile: Profile) -> tuple[str, str]:
    return f"{misses:,.0f}", f"{misses / (profile.total or 1):.1%}"
