"""The table of programs: registration, layouts, pages, and how it is shown."""

from __future__ import annotations

import csv
import dataclasses
import re

import pytest
from click.testing import CliRunner

from tessera.cli.lab.allocator import allocator
from tessera.core.checks import FAIL, PASS, SKIP
from tessera.core.errors import TesseraError
from tessera.core.units import MB, PAGE_1GB, PAGE_2MB
from tessera.lab.allocator_proof.programs import session
from tessera.lab.allocator_proof.programs.driver import ProgramOutcome, ProvedProgram
from tessera.lab.allocator_proof.programs.registry import PROGRAMS, program_named, programs_by_name
from tessera.lab.allocator_proof.programs.session import MOSAIC_NAMES, mosaic, pages_needed

SMALL = ProvedProgram("small", "", lambda box: "", (), heap_bytes=8 * MB, anon_bytes=6 * MB)


def test_the_same_name_twice_is_refused():
    with pytest.raises(ValueError, match="'small'"):
        programs_by_name([SMALL, SMALL])


def test_an_unknown_program_lists_the_valid_names():
    with pytest.raises(TesseraError, match="program 'emacs'") as error:
        program_named("emacs")
    assert "redis" in str(error.value) and "stress-vm" in str(error.value)


def test_an_unknown_layout_lists_the_valid_names():
    with pytest.raises(TesseraError, match="(?s)'1gb'.*: 2mb, 4kb, mixed"):
        mosaic("1gb", SMALL)
    done = CliRunner().invoke(allocator, ["programs", "redis", "--layout", "8kb"])
    assert "layout '8kb'" in str(done.exception)


def test_the_issues_programs_are_all_there():
    families = {re.sub(r"-(linked|preloaded|hints)$", "", name) for name in PROGRAMS}
    stressors = {"malloc", "mmap", "mremap", "brk", "vm", "fork", "pthread", "memfd"}
    tests = {"test_mmap", "test_threading", "test_ctypes", "test_subprocess"}
    assert families == {
        "redis", "memcached", "sqlite3", "git", "gcc", "node", "java", "jemalloc", "tcmalloc", "mimalloc",
        *(f"stress-{name}" for name in stressors), *(f"cpython-{name}" for name in tests),
    }  # fmt: skip


def test_windows_of_the_three_layouts():
    def shape(name: str) -> list[tuple[str, int, int]]:
        return [(w.pool, w.start // MB, w.end // MB) for w in mosaic(name, SMALL).windows]

    assert shape("4kb") == []
    assert shape("2mb") == [("brk", 0, 8), ("mmap", 0, 6)]
    assert shape("mixed") == [("brk", 0, 2), ("brk", 4, 6), ("mmap", 0, 2), ("mmap", 4, 6)]


def test_the_1gb_window_is_for_programs_of_one_process():
    assert mosaic("mixed", SMALL, page_1gb=True).pages(PAGE_1GB) == 1
    assert mosaic("mixed", dataclasses.replace(SMALL, processes=2), page_1gb=True).pages(PAGE_1GB) == 0
    assert mosaic("2mb", SMALL, page_1gb=True).pages(PAGE_1GB) == 0


def test_each_process_needs_its_own_pages():
    assert pages_needed("2mb", SMALL) == 7
    assert pages_needed("mixed", dataclasses.replace(SMALL, processes=3)) == 3 * 4


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_run_needs_more_than_400_pages(name):
    row = PROGRAMS[name]
    assert max(pages_needed(layout, row) for layout in MOSAIC_NAMES) <= 400
    assert row.heap_bytes % PAGE_2MB == row.anon_bytes % PAGE_2MB == 0


def test_the_image_installs_what_the_programs_need(root):
    listed = set()
    for image in ("toolchain", "programs"):
        content = (root / "docker" / image / "Dockerfile").read_text().replace("\\\n", " ")
        listed |= set(re.search(r"--no-install-recommends([^&]*)", content).group(1).split())
    assert {need.package for row in PROGRAMS.values() for need in row.needs} <= listed


OUTCOMES = [
    ProgramOutcome("redis", "4kb", PASS, "", 1.25, 0, 3, 5 * MB, 7 * MB, None, 11, 12),
    ProgramOutcome("redis", "2mb", FAIL, "values, lost", 0.5, tail="a\nb", repeat="again"),
    ProgramOutcome("redis", "mixed", SKIP, "no pages"),
]


def test_the_table_has_a_row_for_each_run_and_counts_verdicts():
    lines = session.outcomes_table(OUTCOMES).splitlines()
    assert lines[1].split() == "redis 4kb PASS 1.2 0 3 5.0 7.0 - 11 12".split()
    assert lines[-1] == "1 PASS, 1 FAIL, 1 SKIP"


def test_csv_keeps_reasons_and_leaves_unknown_numbers_empty(tmp_path):
    session.write_outcomes(OUTCOMES, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["verdict"] for row in rows] == [PASS, FAIL, SKIP]
    assert [row["reason"] for row in rows] == ["", "values, lost", "no pages"]
    assert (rows[0]["heap_used_bytes"], rows[0]["outside_bytes"]) == (str(5 * MB), "")


def test_a_failure_is_shown_with_its_last_lines_and_the_command():
    shown = ["FAIL redis 2mb (0.5 s): values, lost", "    | a", "    | b", "  repeat: again"]
    assert session.failure_details(OUTCOMES[1]).splitlines() == shown


def test_the_list_needs_neither_engine_nor_image(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    done = CliRunner().invoke(allocator, ["programs", "--list"])
    assert done.exit_code == 0 and len(done.output.splitlines()) == len(PROGRAMS)
