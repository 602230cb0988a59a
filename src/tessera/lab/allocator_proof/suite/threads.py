"""A program that knows nothing of page sizes: eight threads that malloc, mmap, mremap and fork.

Page sizes that it read in its own smaps are compared with those of its layout.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tessera.core.checks import FAIL, PASS, SKIP, Check
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built
from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.tables import table_text
from tessera.core.units import GB, MB, PAGE_1GB, PAGE_2MB, PAGE_4KB, format_bytes
from tessera.lab.allocator_proof.suite.section import Findings, ProofSettings, Section, tail
from tessera.machine.container.process import HostProcess, stopped_at_exit
from tessera.machine.reserve import HugePagesUnavailable, huge_pages_free, reserve_huge_pages, supported_sizes
from tessera.measure.mosalloc.launcher import mosalloc_command
from tessera.measure.mosalloc.report import read_report

# Page sizes by offset in a pool that a program read in its own smaps, beside those of its layout.
#
# The program (``eight_threads``) prints ``when start end KernelPageSize MMUPageSize`` for each of its
# mappings.

#: Page size as text -> offsets (start, end) with it; neighbours are one range.
Pages = dict[str, list[tuple[int, int]]]


def seen_pages(lines: str, when: str, base: int, size_bytes: int) -> Pages:
    """Pages of the pool at ``base`` at one moment; sizes that differ between kernel and MMU show both."""
    found = []
    for line in lines.splitlines():
        words = line.split()
        if len(words) != 5 or words[0] != when:
            continue
        start, end = (int(word, 16) - base for word in words[1:3])
        kernel, mmu = (format_bytes(int(word)) for word in words[3:])
        start, end = max(start, 0), min(end, size_bytes)
        if start < end:
            found.append((start, end, kernel if kernel == mmu else f"{kernel}/{mmu}"))
    return _merged_pages(found)


def asked_pages(windows: Iterable[Window], pool: str) -> Pages:
    """The huge pages that a layout puts into a pool."""
    return _merged_pages((w.start, w.end, format_bytes(w.page_bytes)) for w in windows if w.pool == pool)


def pages_above_4kb(pages: Pages) -> Pages:
    """All but the pages of 4KB."""
    small = format_bytes(PAGE_4KB)
    return {size: ranges for size, ranges in pages.items() if size != small}


def describe_pages(pages: Pages) -> str:
    """``2MB at 0-2MB 4MB-10MB``; ``none`` without any."""

    def place(start: int, end: int) -> str:
        return f"{format_bytes(start) if start else 0}-{format_bytes(end)}"

    parts = [f"{size} at {' '.join(place(*r) for r in ranges)}" for size, ranges in sorted(pages.items())]
    return ", ".join(parts) or "none"


def _merged_pages(found: Iterable[tuple[int, int, str]]) -> Pages:
    pages: Pages = {}
    for start, end, size in sorted(found):
        ranges = pages.setdefault(size, [])
        if ranges and ranges[-1][1] == start:
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))
    return pages


# The section.
#
# The program reads its own smaps halfway and at the end. The pages that it finds must be those of the layout
# and no others, its contents must hash as in a plain run, and with too few huge pages it must not start.

SEED = "20"
TIMEOUT_SECONDS = 120
POOLS = {"brk": 512 * MB, "mmap": 3 * GB}
_2MB = (("brk", 2, 6), ("brk", 10, 12), ("mmap", 0, 2), ("mmap", 4, 10), ("mmap", 64, 68))
WINDOWS_2MB = tuple(Window(pool, a * MB, b * MB, PAGE_2MB) for pool, a, b in _2MB)
#: Behind what the program uses: a child that wrote there would need another page of 1GB.
WINDOW_1GB = Window("mmap", 2 * GB, 3 * GB, PAGE_1GB)
LAYOUTS = (
    Layout("4kb", POOLS),
    Layout("2mb", POOLS, WINDOWS_2MB),
    Layout("2mb and 1gb", POOLS, (*WINDOWS_2MB, WINDOW_1GB)),
)
#: Children of eight threads at a time: each may copy every page of 2MB while its parent goes on writing.
CHILDREN = 8
#: The last run asks for so many pages more than are free.
PAGES_TOO_MANY = 9


@dataclass(frozen=True)
class ThreadObservation:
    """One thing that was looked at."""

    layout: str
    what: str
    expected: str
    found: str
    verdict: str

    @classmethod
    def of(cls, layout: str, what: str, expected: str, found: str) -> ThreadObservation:
        """PASS if both are the same."""
        return cls(layout, what, expected, found, PASS if expected == found else FAIL)


def run(settings: ProofSettings) -> Findings:
    """The program under each layout, and once with too few pages."""
    plain = _plain()
    lines: list[ThreadObservation] = []
    with tempfile.TemporaryDirectory(prefix="tessera-proof-") as name:
        for layout in LAYOUTS:
            lines += _guarded(layout.name, _under(layout, plain, Path(name)))
            settings.say(f"{_worst(lines, layout.name)} eight threads under {layout.name}")
        lines += _guarded("too few pages", _too_few(Path(name)))
        settings.say(f"{_worst(lines, 'too few pages')} eight threads with too few pages")
    checks = [
        Check(
            f"{line.layout}: {line.what}",
            line.verdict,
            {PASS: "", SKIP: line.found}.get(line.verdict, f"{line.found}; expected: {line.expected}"),
        )
        for line in lines
    ]
    heads = ("layout", "what", "verdict", "expected", "found")
    rows = [(ln.layout, ln.what, ln.verdict, ln.expected, ln.found) for ln in lines]
    return Findings(checks, table_text(heads, rows), [asdict(line) for line in lines])


def _worst(lines: list[ThreadObservation], layout: str) -> str:
    verdicts = {line.verdict for line in lines if line.layout == layout}
    return next((verdict for verdict in (FAIL, SKIP, PASS) if verdict in verdicts), FAIL)


def _guarded(layout: str, lines: Iterator[ThreadObservation]) -> Iterator[ThreadObservation]:
    """A layout that can't be had is a SKIP, one that breaks is a FAIL; the next ones go on."""
    try:
        yield from lines
    except HugePagesUnavailable as error:
        yield ThreadObservation(layout, "huge pages", "free", error.sentence, SKIP)
    except TesseraError as error:
        yield ThreadObservation(layout, "run", "ends with results", error.problem, FAIL)


def _execute(argv: list[str]) -> subprocess.CompletedProcess[str]:
    process = HostProcess(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with stopped_at_exit(process):
        try:
            out, err = process.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            raise TesseraError(
                " ".join(argv),
                f"still running after {TIMEOUT_SECONDS} s",
                "run it by hand, attach gdb",
                exit_code=EXIT_FAILED,
            ) from None
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def _program() -> list[str]:
    return [str(built("mosalloc", "eight_threads")), SEED]


def _plain() -> str:
    done = _execute(_program())
    if done.returncode != 0 or not done.stdout.strip():
        raise TesseraError(
            f"plain run of {' '.join(_program())}",
            f"status {done.returncode}: {tail(done.stderr)}",
            "the program fails without the library, too: first repair the program or the machine",
            exit_code=EXIT_FAILED,
        )
    return done.stdout.strip()


def _under(layout: Layout, plain: str, folder: Path) -> Iterator[ThreadObservation]:
    pages = layout.pages(PAGE_2MB)
    needed_1gb = layout.pages(PAGE_1GB)
    if needed_1gb and PAGE_1GB not in supported_sizes():
        raise HugePagesUnavailable(
            f"{needed_1gb} page of 1GB", "this machine has no 1GB pages", "use one that has"
        )
    file, report_file = folder / "layout.csv", folder / "report.json"
    write_layout(layout, file)
    report_file.unlink(missing_ok=True)
    with reserve_huge_pages(pages * (1 + CHILDREN), needed_1gb):
        done = _execute(mosalloc_command(_program(), file, report=report_file))
    ended = f"status {done.returncode}"
    yield ThreadObservation.of(
        layout.name, "exit", "status 0", ended if done.returncode == 0 else f"{ended}: {tail(done.stderr)}"
    )
    yield ThreadObservation.of(
        layout.name, "hash as in the plain run", plain, done.stdout.strip() or "nothing"
    )
    report = read_report(report_file)
    yield ThreadObservation.of(layout.name, "launcher's verdict", "confirmed", report.verdict)
    for pool in report.pools:
        for when in ("halfway", "end"):
            found = seen_pages(done.stderr, when, pool.base, pool.size_bytes)
            text = describe_pages(pages_above_4kb(found)) if found else "no page of this pool in smaps"
            yield ThreadObservation.of(layout.name, f"huge pages of {pool.pool}, {when}",
                          describe_pages(asked_pages(layout.windows, pool.pool)), text)  # fmt: skip


def _too_few(folder: Path) -> Iterator[ThreadObservation]:
    """Windows for more pages than are free: refused before the program runs, with the command to type."""
    free = huge_pages_free(PAGE_2MB) if PAGE_2MB in supported_sizes() else 0
    pages = free + PAGES_TOO_MANY
    size = pages * PAGE_2MB
    layout = Layout(
        "too few pages", {"brk": 64 * MB, "mmap": size + GB}, (Window("mmap", 0, size, PAGE_2MB),)
    )
    file = folder / "too-few.csv"
    write_layout(layout, file)
    done = _execute(mosalloc_command(_program(), file))
    yield ThreadObservation.of(layout.name, "exit", "status 2", f"status {done.returncode}")
    yield ThreadObservation.of(
        layout.name, "output of the program", "nothing", done.stdout.strip() or "nothing"
    )
    for words in (f"asked for {pages} pages of 2MB", "sysctl vm.nr_hugepages="):
        said = words if words in done.stderr else tail(done.stderr) or "nothing"
        yield ThreadObservation.of(layout.name, "message", words, said)


SECTION = Section("threads", "Eight threads that look at their own pages", run)
