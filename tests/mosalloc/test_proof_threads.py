"""The section with the program that looks at its own pages: each lie that a run could tell is found.

The runs are made up: what the program prints, the launcher's report and the exit status.
"""

from __future__ import annotations

import json
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from tessera.core.checks import FAIL, PASS, SKIP
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import read_layout
from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.lab.allocator_proof.bench import Result, Row
from tessera.lab.allocator_proof.suite import command_tables, threads
from tessera.lab.allocator_proof.suite.section import ProofSettings
from tessera.machine.reserve import HugePagesUnavailable

HASH = "0123456789abcdef"
BASE = {"brk": 1 << 40, "mmap": 1 << 41}


class Machine:
    """Answers as a right run would; the attributes make it lie."""

    def __init__(self):
        self.hash = HASH
        self.window_bytes = None  # page size shown instead of the window's own
        self.extra = ""  # one more line of smaps
        self.silent_at = ""  # the moment at which the program printed nothing
        self.verdict = "confirmed"
        self.status = 0
        self.refusal = (2, "asked for 9 pages of 2MB: 0 are free\n  as root: sysctl vm.nr_hugepages=9")

    def execute(self, argv: list[str]) -> subprocess.CompletedProcess:
        if "--layout" not in argv:
            return subprocess.CompletedProcess(argv, 0, HASH + "\n", "")
        layout = read_layout(argv[argv.index("--layout") + 1])
        if "--report" not in argv:
            return subprocess.CompletedProcess(argv, self.refusal[0], "", self.refusal[1])
        lines = [self.extra]
        for when in {"halfway", "end"} - {self.silent_at}:
            for base in BASE.values():
                lines.append(f"{when} {base + (200 << 20):x} {base + (201 << 20):x} {PAGE_4KB} {PAGE_4KB}")
            for w in layout.windows:
                size = self.window_bytes or w.page_bytes
                lines.append(f"{when} {BASE[w.pool] + w.start:x} {BASE[w.pool] + w.end:x} {size} {size}")
        self.report(Path(argv[argv.index("--report") + 1]), layout.pool_bytes)
        return subprocess.CompletedProcess(argv, self.status, self.hash + "\n", "\n".join(lines))

    def report(self, path: Path, sizes: dict[str, int]) -> None:
        numbers = {"used_bytes": 1, "live_bytes": 1, "calls": 1}
        pools = [{"type": p, "base": BASE[p], "size_bytes": n} | numbers for p, n in sizes.items()]
        facts = {"verdict": self.verdict, "reason": "", "exit_status": 0, "signal": None}
        rest = {"windows": [], "counters": {}, "allow_fallback": False, "pools": pools}
        path.write_text(json.dumps(facts | rest))


@pytest.fixture
def machine(monkeypatch):
    """A machine with any number of pages; ``verdicts()`` of the section are what the test looks at."""
    made_up = Machine()
    monkeypatch.setattr(threads, "_execute", made_up.execute)
    monkeypatch.setattr(threads, "mosalloc_command", lambda program, file, report=None: [
        "run", "--layout", str(file), *(["--report", str(report)] if report else []), *program,
    ])  # fmt: skip
    monkeypatch.setattr(threads, "built", lambda component, name: Path(name))
    monkeypatch.setattr(threads, "reserve_huge_pages", lambda *_: nullcontext())
    monkeypatch.setattr(threads, "supported_sizes", lambda: [PAGE_2MB, PAGE_1GB])
    monkeypatch.setattr(threads, "huge_pages_free", lambda _: 0)
    return made_up


def failed(tmp_path) -> list[str]:
    found = threads.run(ProofSettings(tmp_path, lambda _: None))
    return [check.name for check in found.checks if check.status == FAIL]


def test_a_right_run(machine, tmp_path):
    found = threads.run(ProofSettings(tmp_path, lambda _: None))
    assert {check.status for check in found.checks} == {PASS}
    assert "1GB at 2GB-3GB, 2MB at 0-2MB 4MB-10MB 64MB-68MB" in found.text
    assert len(found.checks) == 3 * 7 + 4


def test_other_contents(machine, tmp_path):
    machine.hash = "f" * 16
    assert failed(tmp_path) == [f"{name}: hash as in the plain run" for name in ("4kb", "2mb", "2mb and 1gb")]


def test_windows_on_small_pages(machine, tmp_path):
    machine.window_bytes = PAGE_4KB
    names = failed(tmp_path)
    assert "2mb: huge pages of brk, halfway" in names and "2mb and 1gb: huge pages of mmap, end" in names
    assert not [name for name in names if name.startswith("4kb")]


def test_a_huge_page_outside_the_windows(machine, tmp_path):
    at = BASE["mmap"] + (100 << 20)
    machine.extra = f"end {at:x} {at + PAGE_2MB:x} {PAGE_2MB} {PAGE_2MB}"
    expected = [f"{name}: huge pages of mmap, end" for name in ("4kb", "2mb", "2mb and 1gb")]
    assert failed(tmp_path) == expected


def test_a_program_that_saw_nothing(machine, tmp_path):
    machine.silent_at = "halfway"
    assert "4kb: huge pages of brk, halfway" in failed(tmp_path)


def test_the_launcher_does_not_confirm_or_the_program_fails(machine, tmp_path):
    machine.verdict, machine.status = "fallback", 1
    assert [name for name in failed(tmp_path) if name.startswith("4kb")] == [
        "4kb: exit",
        "4kb: launcher's verdict",
    ]


@pytest.mark.parametrize(("refusal", "name"), [
    ((0, "asked for 9 pages of 2MB; sysctl vm.nr_hugepages=9"), "too few pages: exit"),
    ((2, "asked for 9 pages of 2MB: no"), "too few pages: message"),
    ((2, "as root: sysctl vm.nr_hugepages=9"), "too few pages: message"),
])  # fmt: skip
def test_a_refusal_that_does_not_help(machine, tmp_path, refusal, name):
    machine.refusal = refusal
    assert failed(tmp_path) == [name]


def test_pages_that_cannot_be_had_are_skipped_and_a_hang_fails(machine, tmp_path, monkeypatch):
    def unavailable(*_):
        raise HugePagesUnavailable("81 free 2MB pages", "0 are free", "sudo sysctl vm.nr_hugepages=81")

    def hangs(argv):
        if "--report" in argv and not read_layout(argv[argv.index("--layout") + 1]).windows:
            raise TesseraError("run", "it hung for 120 s", "attach gdb")
        return machine.execute(argv)

    monkeypatch.setattr(threads, "_execute", hangs)
    monkeypatch.setattr(
        threads, "reserve_huge_pages", lambda pages, _: unavailable() if pages else nullcontext()
    )
    found = {check.name: check for check in threads.run(ProofSettings(tmp_path, lambda _: None)).checks}
    assert found["4kb: run"].status == FAIL and "it hung" in found["4kb: run"].found
    assert found["2mb: huge pages"].status == SKIP
    assert "sysctl vm.nr_hugepages=81" in found["2mb: huge pages"].found
    assert found["too few pages: exit"].status == PASS


def test_rows_of_the_benchmark_as_checks():
    row = Row("r", "costs", ("r",), "ns", 1.05)
    assert command_tables.benchmark_check(Result.of_pairs(row, [(100.0, 104.0)])).status == PASS
    over = command_tables.benchmark_check(Result.of_pairs(row, [(100.0, 106.0)]))
    assert (over.status, over.found) == (FAIL, "1.060, at most 1.05 is allowed")
    skipped = command_tables.benchmark_check(Result.skipped(row, "gups: build it"))
    assert (skipped.status, skipped.found) == (SKIP, "gups: build it")
