"""Options of a recording, checked before the program starts, and their lines for the plugin.

``roi`` is one text with the same form in command lines, workload files and Python:

- ``markers``: between the markers of roi.h; ``whole``: the program's own code to its end; ``auto``:
  markers if the executable holds one, else whole.
- ``skip:N``: like whole, but recording begins after N instructions that access memory, in the program's
  own code and all code that it calls (counted per block, so the program runs slower than under QEMU
  alone).
- ``switch:FILE``: while a companion enables it through FILE
  (:class:`tessera.record.traces.companion.RecordingSwitch`).
- ``closed:NAME``, ``written:NAME``: from the close of, or the first write to, a file with this name (the
  last part of its path) to the program's end. Nothing is counted for it, so the part before runs at QEMU's
  speed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name

#: Regions of interest without an argument, and those with one.
ROI_CHOICES = ("auto", "whole", "markers")
ROI_FORMS = (*ROI_CHOICES, "skip:N", "switch:FILE", "closed:NAME", "written:NAME")
_WITH_ARGUMENT = ("skip", "switch", "closed", "written")
_ONE_THREAD = ("skip", "closed", "written")

#: Which thread is recorded, besides a number (0 is the main thread, in the order of their start).
THREAD_CHOICES = ("first", "busiest")


@dataclass(frozen=True)
class Options:
    """Options of one recording.

    Attributes:
        roi: its forms are at the top of this file.
        max_accesses: recording stops there; None for no limit.
        threads: the program starts threads.
        thread: ``first`` that enters the region, ``busiest`` (the first to execute 65536 blocks in it), or
            the number of a thread (0: the main one).
        kernel_accesses: also record what system calls read and write of the program's memory.
        stop_when_recorded: end the program once ``max_accesses`` are recorded.
        windows: how many parts of the region are recorded (:func:`plan_windows`); 0 to count the region only.
        region_accesses: data accesses of the whole region; None if unknown.
        window_span: accesses at the beginning of the region that the windows lie in; None for all.
        fixed_clocks: the program sees a clock that only its own calls advance.
        events: also record the program's calls to memory management (``events.h`` of the tracer).
    """

    roi: str = "auto"
    max_accesses: int | None = None
    threads: bool = False
    thread: str = "first"
    kernel_accesses: bool = False
    stop_when_recorded: bool = False
    windows: int = 1
    region_accesses: int | None = None
    window_span: int | None = None
    fixed_clocks: bool = False
    events: bool = False

    def __post_init__(self):
        kind, colon, argument = self.roi.partition(":")
        if kind not in (*ROI_CHOICES, *_WITH_ARGUMENT) or bool(colon) != (kind in _WITH_ARGUMENT):
            raise unknown_name("region of interest", self.roi, ROI_FORMS)
        if kind == "skip" and not (argument.isdecimal() and int(argument) > 0):
            raise TesseraError(
                f"--roi {self.roi}",
                "the form is skip:N with a positive whole number N of accesses",
                "give, for example, --roi skip:1000000",
                code="roi-skip-count",
            )
        if kind in ("closed", "written") and (not argument or "/" in argument or "\n" in argument):
            raise TesseraError(
                f"--roi {self.roi}",
                f"the form is {kind}:NAME with the name of a file without its folder",
                f"give, for example, --roi {kind}:input.xml",
                code="roi-file-name",
            )
        if kind in _ONE_THREAD and self.threads:
            raise TesseraError(
                f"--roi {self.roi}",
                f"{kind} watches one thread, but --threads allows several",
                "use --roi markers or --roi switch:FILE",
                code=f"roi-{kind}-threads",
            )
        if kind == "switch" and not Path(argument).is_file():
            raise TesseraError(
                f"--roi {self.roi}",
                f"the file {argument} does not exist",
                f"make it: tessera trace switch {argument} off",
                code="roi-switch-missing",
            )
        if self.max_accesses is not None and self.max_accesses <= 0:
            raise TesseraError(
                f"--max-accesses {self.max_accesses}", "the limit must be positive", "give 1 or more"
            )
        if self.thread not in THREAD_CHOICES and not self.thread.isdecimal():
            raise unknown_name("thread", self.thread, (*THREAD_CHOICES, "a number"))
        if self.thread != "first" and not self.threads:
            raise TesseraError(
                f"--thread {self.thread}",
                "this option chooses among several threads, but only one is expected",
                "add --threads (threads=True)",
                code="thread-without-threads",
            )
        if self.stop_when_recorded and self.max_accesses is None:
            raise TesseraError(
                "--stop-when-recorded",
                "this option needs a limit on the recorded accesses",
                "add --max-accesses N",
                code="stop-without-limit",
            )
        self._check_windows(kind)

    def _check_windows(self, roi: str) -> None:
        plan_windows(self.windows, self.max_accesses, self.window_span or self.region_accesses)
        if not self.counts or not (self.threads or roi == "switch"):
            return
        declared = f"--region-accesses {self.region_accesses}"
        asked = (
            f"--windows {self.windows}"
            if self.windows > 1
            else declared
            if self.windows
            else "count a region"
        )
        found = "the accesses of a region can be counted for one thread only, but --threads allows several"
        if roi == "switch":
            found = f"--roi {self.roi} follows another process, so the region has no fixed number of accesses"
        remedy = "record one window, without --region-accesses"
        raise TesseraError(
            asked, found, remedy, code="windows-switch" if roi == "switch" else "windows-threads"
        )

    @property
    def counts(self) -> bool:
        """Whether the accesses of the whole region are counted, recorded or not."""
        return self.windows != 1 or self.region_accesses is not None

    @property
    def switch(self) -> Path | None:
        """The control file of ``switch:FILE``, absolute."""
        kind, _, argument = self.roi.partition(":")
        return Path(argument).absolute() if kind == "switch" else None

    def settings(self) -> dict[str, object]:
        """Lines of the plugin's settings file."""
        roi = f"switch:{self.switch}" if self.switch else self.roi
        windows = plan_windows(self.windows, self.max_accesses, self.window_span or self.region_accesses)
        return {
            "roi": roi,
            "max_accesses": self.max_accesses or 0,
            "count_region": int(self.counts),
            **asdict(windows),
            "threads": int(self.threads),
            "thread": self.thread,
            "kernel_accesses": int(self.kernel_accesses),
            "fixed_clocks": int(self.fixed_clocks),
            "stop_when_recorded": int(self.stop_when_recorded),
            "events": int(self.events),
        }


# Windows of a region: equal parts of the limit, spread evenly over the region of interest.
#
# With a limit of L accesses, K windows and a region of N accesses, each window records L/K accesses and
# window w begins at access w N/K. So a gap has (N - L)/K accesses. A region that is no longer than the limit
# is recorded whole, as one window.

#: Fewest accesses of one of several windows. Shorter ones would mostly fill caches that the gap left stale:
#: a STLB of 1536 entries and its page-walk caches need some 100,000 accesses of a random stream.
MIN_WINDOW_ACCESSES = 1_000_000

#: Fewest accesses of a gap: as ``min_gap_accesses`` of the plugin (event_buffers.h says why).
MIN_GAP_ACCESSES = 1 << 22


@dataclass(frozen=True)
class WindowPlan:
    """What the plugin does: windows of the same length, with gaps of the same length behind them.

    Attributes:
        windows: 0 to count the region without recording.
        window_accesses: of each window; 0 for no limit.
        gap_accesses: 0 for one window.
    """

    windows: int
    window_accesses: int
    gap_accesses: int


def plan_windows(windows: int, max_accesses: int | None, region_accesses: int | None) -> WindowPlan:
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
        return WindowPlan(windows, max_accesses or 0, 0)
    if region_accesses is None:
        found = "several windows are spread over the region, so its number of accesses is needed"
        raise TesseraError(asked, found, _COUNT, code="windows-region")
    if max_accesses is None:
        found = "several windows share a limit of accesses, and there is none"
        raise TesseraError(asked, found, "add --max-accesses N", code="windows-limit")
    if region_accesses <= max_accesses:
        return WindowPlan(1, max_accesses, 0)
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
    return WindowPlan(windows, window, gap)


_COUNT = "count the region: tessera trace record --count -- PROGRAM; then give --region-accesses N"


def refuse_region(program: str, declared: int | None, span: int | None, header: dict) -> str | None:
    """Refuse a region whose accesses are not about as many as declared, or that ends within its span.

    Windows lie at fixed accesses, each with a gap behind it, so a region that ends a little earlier or later
    has the same ones. Programs of the distribution make some accesses more or fewer with other versions of
    their libraries, or on another host. So a difference of at most a thousandth, and at most the smallest
    gap, is told and not refused.
    A region that was stopped before its end is not checked.

    Returns:
        What to tell if the numbers differ by at most that; None if they are equal.

    Raises:
        TesseraError: they differ by more; ``code`` is ``region-accesses``.
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
        return None
    if abs(seen - declared) <= min(declared // 1000, MIN_GAP_ACCESSES):
        found = f"the region has {seen} accesses, and {declared} were declared"
        return f"'{program}': {found}; no window lies elsewhere"
    raise TesseraError(
        f"record '{program}' with --region-accesses {declared}",
        f"the region has {seen} accesses, so the windows lie elsewhere than asked",
        f"give --region-accesses {seen} (in a workload's file: region_accesses), and record it again",
        exit_code=EXIT_FAILED,
        code="region-accesses",
    )
