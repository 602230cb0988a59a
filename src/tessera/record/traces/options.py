"""Options of a recording, checked before the program starts, and their lines for the plugin.

``roi`` is one text with the same form in command lines, workload files and Python:

- ``markers``: between the markers of roi.h; ``whole``: the program's own code to its end; ``auto``: markers
  if the executable holds one, else whole.
- ``skip:N``: like whole, but recording begins after N instructions that access memory, in the program's
  own code and all code that it calls (counted per block, so the program runs slower than under QEMU alone).
- ``switch:FILE``: while a companion enables it through FILE (:class:`tessera.record.traces.switch.Switch`).
- ``closed:NAME``, ``written:NAME``: from the close of, or the first write to, a file with this name (the last
  part of its path) to the program's end. Nothing is counted for it, so the part before runs at QEMU's speed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from tessera.core.errors import TesseraError, unknown_name
from tessera.record.traces.windows import plan

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
        roi: see the module.
        max_accesses: recording stops there; None for no limit.
        threads: the program starts threads.
        thread: ``first`` that enters the region, ``busiest`` (the first to execute 65536 blocks in it), or
            the number of a thread (0: the main one).
        kernel_accesses: also record what system calls read and write of the program's memory.
        stop_when_recorded: end the program once ``max_accesses`` are recorded.
        windows: how many parts of the region are recorded (:mod:`.windows`); 0 to count the region only.
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
        plan(self.windows, self.max_accesses, self.window_span or self.region_accesses)
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
        windows = plan(self.windows, self.max_accesses, self.window_span or self.region_accesses)
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
