"""Windows of a region: equal parts of the limit, spread evenly over the region of interest.

With a limit of L accesses, K windows and a region of N accesses, each window records L/K accesses and window
w begins at access w N/K. So a gap has (N - L)/K accesses. A region that is no longer than the limit is
recorded whole, as one window.
"""

from __future__ import annotations

from dataclasses import dataclass

from tessera.core.errors import EXIT_FAILED, TesseraError

#: Fewest accesses of one of several windows. Shorter ones would mostly fill caches that the gap left stale:
#: a STLB of 1536 entries and its page-walk caches need some 100,000 accesses of a random stream.
MIN_WINDOW_ACCESSES = 1_000_000

#: Fewest accesses of a gap: as ``min_gap_accesses`` of the plugin (event_buffers.h says why).
MIN_GAP_ACCESSES = 1 << 22


@dataclass(frozen=True)
class Plan:
    """What the plugin does: windows of the same length, with gaps of the same length behind them.

    Attributes:
        windows: 0 to count the region without recording.
        window_accesses: of each window; 0 for no limit.
        gap_accesses: 0 for one window.
    """

    windows: int
    window_accesses: int
    gap_accesses: int


def plan(windows: int, max_accesses: int | None, region_accesses: int | None) -> Plan:
    """The windows of a region of ``region_accesses`` within a limit of ``max_accesses``.

    Raises:
        TesseraError: a number is missing, not positive, or makes windows or gaps too short. ``code`` is
            ``windows-number``, ``windows-region``, ``windows-limit``, ``windows-short`` or ``windows-gap``.
    """
    asked = f"--windows {windows}"
    if windows < 0:
        raise TesseraError(
            asked, "a recording has at least 1 window", "give 1 or more", code="windows-number"
        )
    if region_accesses is not None and region_accesses <= 0:
        found = "a region has at least 1 access"
        raise TesseraError(f"--region-accesses {region_accesses}", found, _COUNT, code="windows-region")
    if windows <= 1:
        return Plan(windows, max_accesses or 0, 0)
    if region_accesses is None:
        found = "several windows are spread over the region, so its number of accesses is needed"
        raise TesseraError(asked, found, _COUNT, code="windows-region")
    if max_accesses is None:
        found = "several windows share a limit of accesses, and there is none"
        raise TesseraError(asked, found, "add --max-accesses N", code="windows-limit")
    if region_accesses <= max_accesses:
        return Plan(1, max_accesses, 0)
    window, gap = max_accesses // windows, (region_accesses - max_accesses) // windows
    if window < MIN_WINDOW_ACCESSES:
        raise TesseraError(
            f"{asked} --max-accesses {max_accesses}",
            f"a window would have {window} accesses, and needs at least {MIN_WINDOW_ACCESSES}",
            f"give fewer windows, or --max-accesses {windows * MIN_WINDOW_ACCESSES} or more",
            code="windows-short",
        )
    if gap < MIN_GAP_ACCESSES:
        raise TesseraError(
            f"{asked} --max-accesses {max_accesses} --region-accesses {region_accesses}",
            f"a gap would have {gap} accesses, and needs at least {MIN_GAP_ACCESSES}",
            f"give fewer windows, or --max-accesses {region_accesses} to record the whole region",
            code="windows-gap",
        )
    return Plan(windows, window, gap)


_COUNT = "count the region: tessera trace count -- PROGRAM; then give --region-accesses N"


def check_region(program: str, declared: int | None, span: int | None, header: dict) -> None:
    """Refuse a region with another number of accesses than was declared, or one that ends within its span.

    A region that was stopped before its end is not checked.

    Raises:
        TesseraError: the numbers differ; ``code`` is ``region-accesses``.
    """
    seen = header["region_accesses_seen"]
    if span is not None and header["region_ended"] and seen < span:
        raise TesseraError(
            f"record '{program}' with windows in the first {span} accesses",
            f"the region has {seen} accesses",
            "give a smaller span (in a workload's file: window_span), or the region's own number",
            exit_code=EXIT_FAILED,
            code="region-accesses",
        )
    if declared is None or not header["region_ended"] or seen == declared:
        return
    raise TesseraError(
        f"record '{program}' with --region-accesses {declared}",
        f"the region has {seen} accesses, so the windows lie elsewhere than asked",
        f"give --region-accesses {seen} (in a workload's file: region_accesses), and record it again",
        exit_code=EXIT_FAILED,
        code="region-accesses",
    )
