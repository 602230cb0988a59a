"""Pages for a program: 4KB only, transparent huge pages, hugetlb for malloc, or the mosaic of a layout."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
from tessera.layouts.model import read_layout
from tessera.machine.reserve import huge_pages_free, require_room, reserve_huge_pages
from tessera.measure.program.started import Usage, start
from tessera.mosalloc.large_pages import SYSFS, settings
from tessera.mosalloc.runner import command
from tessera.mosalloc.suggest.load import Load

BASE, THP, HUGETLB = "4kb", "thp", "hugetlb"
_TUNABLE = "GLIBC_TUNABLES"


@dataclass(frozen=True)
class Variant:
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
        argv = command(program, self.layout) if self.layout else list(program)
        return start(
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


def base() -> Variant:
    return Variant(BASE, "4KB pages (transparent huge pages off for this program)")


def variant(name: str, sysfs: Path = SYSFS) -> Variant:
    """The variant of a word of ``--try``.

    Raises:
        TesseraError: no such word or file; this machine can't give these pages.
    """
    if name == THP:
        return _thp(settings(sysfs).get("enabled", "never"), sysfs)
    if name == HUGETLB:
        _require_glibc(name)
        require_room(PAGE_2MB, 1)
        if not huge_pages_free(PAGE_2MB):
            raise TesseraError(
                f"--try {name}", "no 2MB page is free", "reserve some: tessera mosalloc reserve --help",
                code="no-huge-pages",
            )  # fmt: skip
        return Variant(name, "2MB pages of hugetlb for malloc", variables=_tunable("2"), huge=True)
    path = Path(name)
    if not path.is_file():
        raise TesseraError(
            f"--try {name}", "no such word, and no such file", f"use {THP}, {HUGETLB}, or a layout file"
        )
    layout = read_layout(path)
    return Variant(path.stem, f"mosaic of {path.name}: {len(layout.windows)} windows", layout=path, huge=True)


def _thp(enabled: str, sysfs: Path) -> Variant:
    if enabled == "always":
        return Variant(THP, "transparent huge pages for all memory", without_thp=False, huge=True)
    if enabled == "madvise":
        _require_glibc(THP)
        return Variant(
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
