"""Pages for a program, and what they gain over 4KB pages.

Variants: 4KB only, transparent huge pages, hugetlb for malloc, or the mosaic of a layout. Rounds of runs in
random order give an interval of each paired ratio.
"""

from __future__ import annotations

import ctypes
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import read_layout
from tessera.core.statistics import Interval, mean_interval, paired_ratio_interval
from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
from tessera.machine.reserve import huge_pages_free, require_room, reserve_huge_pages
from tessera.measure.mosalloc.launcher import mosalloc_command
from tessera.measure.mosalloc.pools import LARGE_PAGE_SYSFS, large_page_settings
from tessera.measure.program.single_run import Usage, run_watched
from tessera.measure.suggest.server_load import Load

# The variants.

BASE, THP, HUGETLB = "4kb", "thp", "hugetlb"
_TUNABLE = "GLIBC_TUNABLES"


@dataclass(frozen=True)
class PageVariant:
    """``pages`` says in words what the program gets; ``layout``: a file for the allocator."""

    name: str
    pages: str
    without_thp: bool = True
    variables: Mapping[str, str] = field(default_factory=dict)
    layout: Path | None = None
    huge: bool = False
    remedy: str = "free memory (it may be fragmented), or try a layout"

    def run(self, program: Sequence[str], load: Load | None, *, watch: bool = False) -> Usage:
        """Run the program once; the allocator of a layout checks its pages itself."""
        argv = mosalloc_command(program, self.layout) if self.layout else list(program)
        return run_watched(
            argv,
            variables=dict(self.variables),
            without_thp=self.without_thp,
            load=load,
            watch=watch and self.huge and self.layout is None,
            quiet=True,
        )

    def pages_reserved(self) -> AbstractContextManager:
        """A block with the huge pages of a layout."""
        if self.layout is None:
            return nullcontext()
        layout = read_layout(self.layout)
        return reserve_huge_pages(layout.pages(PAGE_2MB), layout.pages(PAGE_1GB))

    def check(self, warm: Usage) -> str:
        """What the uncounted first run had, for the text.

        Raises:
            TesseraError: no huge page was seen, so the variant would compare 4KB pages with themselves.
        """
        if not self.huge or self.layout is not None:
            return self.pages
        if not warm.huge_bytes:
            raise TesseraError(
                f"--try {self.name}",
                "no huge page was seen in a trial run of the program",
                self.remedy,
                code="no-huge-pages",
            )
        return f"{self.pages}; up to {format_bytes(warm.huge_bytes)} seen in the program itself"


def base_variant() -> PageVariant:
    return PageVariant(BASE, "4KB pages (transparent huge pages off for this program)")


def variant(name: str, sysfs: Path = LARGE_PAGE_SYSFS) -> PageVariant:
    """The variant of a word of ``--try``.

    Raises:
        TesseraError: no such word or file; this machine can't give these pages.
    """
    if name == THP:
        return _thp(large_page_settings(sysfs).get("enabled", "never"), sysfs)
    if name == HUGETLB:
        _require_glibc(name)
        require_room(PAGE_2MB, 1)
        if not huge_pages_free(PAGE_2MB):
            raise TesseraError(
                f"--try {name}", "no 2MB page is free", "reserve some: tessera mosalloc reserve --help",
                code="no-huge-pages",
            )  # fmt: skip
        return PageVariant(name, "2MB pages of hugetlb for malloc", variables=_tunable("2"), huge=True)
    path = Path(name)
    if not path.is_file():
        raise TesseraError(
            f"--try {name}", "no such word, and no such file", f"use {THP}, {HUGETLB}, or a layout file"
        )
    layout = read_layout(path)
    return PageVariant(
        path.stem, f"mosaic of {path.name}: {len(layout.windows)} windows", layout=path, huge=True
    )


def _thp(enabled: str, sysfs: Path) -> PageVariant:
    if enabled == "always":
        return PageVariant(THP, "transparent huge pages for all memory", without_thp=False, huge=True)
    if enabled == "madvise":
        _require_glibc(THP)
        return PageVariant(
            THP,
            "transparent huge pages for malloc",
            without_thp=False,
            variables=_tunable("1"),
            huge=True,
            remedy=f"for memory not of malloc, as root: echo always > {sysfs}/enabled; or try a layout",
        )
    raise TesseraError(
        f"--try {THP}",
        f"{sysfs}/enabled is '{enabled}', so no program gets transparent huge pages",
        f"as root: echo madvise > {sysfs}/enabled",
        code="no-huge-pages",
    )


def _tunable(value: str) -> dict[str, str]:
    others = os.environ.get(_TUNABLE, "")
    mine = f"glibc.malloc.hugetlb={value}"
    return {_TUNABLE: f"{others}:{mine}" if others else mine}


def _require_glibc(name: str) -> None:
    """``glibc.malloc.hugetlb`` is in glibc 2.35 and later."""
    found = ctypes.CDLL(None).gnu_get_libc_version
    found.restype = ctypes.c_char_p
    version = found().decode()
    if tuple(map(int, version.split(".")[:2])) < (2, 35):
        raise TesseraError(
            f"--try {name}",
            f"glibc {version} has no large pages for malloc (2.35 has)",
            "use a newer system, or a layout: tessera mosalloc suggest",
        )


# The gains.


@dataclass(frozen=True)
class Gain:
    """``seconds`` of a variant (mean, 95% interval); ``gain``: the saved share of the time of 4KB pages."""

    variant: PageVariant
    pages: str
    seconds: Interval
    gain: Interval

    @property
    def proven(self) -> bool:
        """Whether the interval excludes 0."""
        return abs(self.gain.value) > self.gain.half_width


def compare_variants(
    program: Sequence[str],
    variants: Sequence[PageVariant],
    *,
    load: Load | None = None,
    pairs: int = 10,
    seed: int = 1,
    say: Callable[[str], None] = lambda text: None,
) -> list[Gain]:
    """Run the program under 4KB pages and each variant, ``pairs`` times each; the first of them is 4KB.

    Raises:
        TesseraError: fewer than two pairs, a run that fails, or pages that can't be had.
    """
    if pairs < 2:
        raise TesseraError(f"--pairs {pairs}", "an interval needs at least 2", "give --pairs 10")
    all_of_them = [base_variant(), *variants]
    names = [one.name for one in all_of_them]
    if twice := [name for name in names if names.count(name) > 1]:
        raise TesseraError(f"--try {twice[0]}", "it is there twice", "name each variant once")
    order, seconds = random.Random(seed), {name: [] for name in names}
    with ExitStack() as stack:
        for one in variants:
            stack.enter_context(one.pages_reserved())
        # The first run of each warms files, clocks and memory, and shows its pages: not counted.
        pages = {one.name: one.check(one.run(program, load, watch=True)) for one in all_of_them}
        for number in range(pairs):
            for one in order.sample(all_of_them, len(all_of_them)):
                seconds[one.name].append(one.run(program, load).seconds)
            shown = ", ".join(f"{name} {values[-1]:.4g} s" for name, values in seconds.items())
            say(f"pair {number + 1} of {pairs}: {shown}")
    return [_gain_of_pairs(one, pages[one.name], seconds[one.name], seconds[names[0]]) for one in all_of_them]


def _gain_of_pairs(one: PageVariant, pages: str, values: Sequence[float], plain: Sequence[float]) -> Gain:
    ratio = paired_ratio_interval(values, plain)
    return Gain(one, pages, mean_interval(values), Interval(1 - ratio.value, ratio.half_width, ratio.count))


# What ``tessera measure -- PROGRAM`` prints, as rows of text.

GAIN_HEADS = ("pages", "seconds", "gain over 4KB pages", "what the program had")


def usage_rows(seen: Usage) -> Iterator[tuple[str, str]]:
    """Software numbers of one run: no TLB miss is among them."""
    yield "clock time", f"{seen.seconds:.4g} s"
    if seen.user is not None:
        yield "processor time", f"{seen.user:.4g} s user, {seen.system:.4g} s kernel"
        yield "page faults", str(seen.faults)
        yield "context switches", str(seen.switches)


def gain_rows(gains: Sequence[Gain]) -> Iterator[tuple[str, str, str, str]]:
    for number, one in enumerate(gains):
        shown = f"{one.seconds.value:.4g} +- {one.seconds.half_width:.2g}"
        yield one.variant.name, shown, _gain_text(one) if number else "-", one.pages


def _gain_text(one: Gain) -> str:
    text = f"{one.gain.value:.1%} +- {one.gain.half_width:.1%}"
    return text if one.proven else f"{text} (may be none)"
