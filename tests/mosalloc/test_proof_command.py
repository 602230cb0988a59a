"""The command that prints every table: its accounting with sections made up here, its parsers, a real run."""

from __future__ import annotations

import csv
import json
import re

import pytest
from click.testing import CliRunner

from tessera.cli.lab.allocator import allocator
from tessera.core.checks import FAIL, PASS, SKIP, Check
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.core.layouts.layout import Window
from tessera.core.units import MB, PAGE_1GB, PAGE_2MB
from tessera.lab.allocator_proof.suite import differential
from tessera.lab.allocator_proof.suite import proof as suite_proof
from tessera.lab.allocator_proof.suite.cases import matrix_text, others_text, read_junit, split_by_condition
from tessera.lab.allocator_proof.suite.section import Findings, Section
from tessera.lab.allocator_proof.suite.threads import asked_pages, describe_pages, pages_above_4kb, seen_pages

GOOD = Section(
    "good", "Good table", lambda _: Findings([Check("a", PASS)], "a fine", [{"name": "a", "ns": 7}])
)
BAD = Section(
    "bad", "Bad table", lambda _: Findings([Check("b", FAIL, "3 is not 4"), Check("c", PASS)], "b c")
)
SKIPPED = Section("skipped", "Other table", lambda _: Findings([Check("d", SKIP, "9 pages missing")], "d"))
EMPTY = Section("empty", "Empty table", lambda _: Findings([], ""))


def broken(_request) -> Findings:
    raise ZeroDivisionError("by accident")


BROKEN = Section("broken", "Broken table", broken)


@pytest.fixture
def proof(monkeypatch, tmp_path):
    """``proof(sections, *options)``: the command with these sections instead of the real ones."""

    def run(sections, *options):
        monkeypatch.setattr(suite_proof, "SECTIONS", tuple(sections))
        return CliRunner().invoke(allocator, ["proof", "--out", str(tmp_path / "out"), *options])

    return run


def test_all_passed(proof, tmp_path):
    done = proof([GOOD])
    assert done.exit_code == 0, done.output
    assert "1. Good table (0 s)\n===" in done.output
    assert "a fine\n1 passed, 0 failed, 0 skipped" in done.output
    assert "in all: 1 passed, 0 failed, 0 skipped" in done.output
    assert (tmp_path / "out/good.csv").read_text() == "name,ns\na,7\n"
    written = json.loads((tmp_path / "out/good.json").read_text())
    assert written["checks"] == [{"name": "a", "verdict": "PASS", "reason": ""}]
    assert [written[verdict] for verdict in ("PASS", "FAIL", "SKIP")] == [1, 0, 0]


def test_a_failure_is_named_and_counted(proof):
    done = proof([BAD, GOOD])
    assert done.exit_code == 1
    assert "FAIL b: 3 is not 4\n1 passed, 1 failed, 0 skipped" in done.output
    assert "in all: 2 passed, 1 failed, 0 skipped" in done.output


def test_a_section_that_raises_fails_and_the_others_still_run(proof, tmp_path):
    done = proof([BROKEN, GOOD])
    assert done.exit_code == 1
    assert "FAIL broken: ZeroDivisionError: by accident\n0 passed, 1 failed, 0 skipped" in done.output
    assert "2. Good table" in done.output
    written = json.loads((tmp_path / "out/broken.json").read_text())
    assert written["checks"][0]["reason"] == "ZeroDivisionError: by accident"


def test_a_skip_says_what_is_missing_and_does_not_fail(proof):
    done = proof([SKIPPED, GOOD])
    assert done.exit_code == 0
    assert "SKIP d: 9 pages missing\n0 passed, 0 failed, 1 skipped" in done.output
    assert "in all: 1 passed, 0 failed, 1 skipped" in done.output


@pytest.mark.parametrize("sections", [[SKIPPED], [EMPTY], [EMPTY, GOOD], []])
def test_what_proves_nothing_is_not_a_success(proof, sections):
    assert proof(sections).exit_code == 1


def test_all_failures_are_named_but_skips_are_grouped(proof):
    skips = [Check(f"s{i}", SKIP, "no pages") for i in range(5)]
    fails = [Check(f"f{i}", FAIL, "wrong") for i in range(5)]
    done = proof([Section("many", "Many", lambda _: Findings([*skips, *fails], ""))])
    assert "FAIL f0, f1, f2, f3, f4: wrong" in done.output
    assert "SKIP s0, s1, s2 and 2 more: no pages" in done.output


def test_only_and_the_order_of_the_proof(proof):
    done = proof([GOOD, BAD, SKIPPED], "--only", "skipped", "--only", "good")
    assert done.output.index("1. Good table") < done.output.index("2. Other table")
    assert "Bad table" not in done.output
    assert "section 'best': no such section" in str(proof([GOOD], "--only", "best").exception)


def test_an_older_result_does_not_stay(proof, tmp_path):
    proof([GOOD])
    proof([Section("good", "Good table", broken)])
    assert not (tmp_path / "out/good.csv").exists()


def test_the_real_sections_and_their_order():
    assert [section.name for section in suite_proof.SECTIONS] == [
        "cases", "differential", "libraries", "lives", "threads", "stacks", "programs", "benchmark",
    ]  # fmt: skip


@pytest.mark.parametrize(("options", "expected"), [
    ((), (False, 10_000_000, None)),
    (("--quick",), (True, 200_000, None)),
    (("--quick", "--operations", "5", "--cases", "^4kb"), (True, 5, "^4kb")),
])  # fmt: skip
def test_what_the_sections_are_asked_for(proof, options, expected):
    seen = []

    def run(request):
        seen.append((request.quick, request.operations, request.cases))
        return Findings([Check("x", PASS)], "")

    assert proof([Section("x", "X", run)], *options).exit_code == 0
    assert seen == [expected]


def test_a_check_needs_a_known_status_and_a_reason():
    with pytest.raises(ValueError, match="'a'.*'-'.*'PASS'"):
        Check("a", "-")
    with pytest.raises(ValueError, match="'a'.*SKIP"):
        Check("a", SKIP)


JUNIT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x" tests="7">
  <testcase name="kernel.fork" classname="kernel.fork" time="0.5" status="run"><system-out/></testcase>
  <testcase name="kernel.brk" classname="kernel.brk" time="0.5" status="run"/>
  <testcase name="2mb.fork" time="1" status="notrun">
    <skipped message="SKIP_RETURN_CODE=77"/><system-out>
SKIP: 8 pages of 2048KB needed, 0 free
</system-out></testcase>
  <testcase name="2mb.brk" time="1" status="fail">
    <failure message=""/><system-out>case.c:7: brk is 3, not 4
</system-out></testcase>
  <testcase name="1gb.fork" time="0" status="notrun">
    <skipped message="Unable to find executable: x"/></testcase>
  <testcase name="Layout.Reads" time="0.25" status="run"/>
  <testcase name="Layout.Refuses" time="0.25" status="fail"><failure message="Timeout"/></testcase>
  <testcase name="sanitized.thread" time="3" status="run"/>
  <testcase name="layout_fuzz" time="3" status="disabled"/>
</testsuite>
"""


@pytest.fixture
def junit(tmp_path):
    path = tmp_path / "junit.xml"
    path.write_text(JUNIT)
    return read_junit(path)


def test_verdicts_of_ctest(junit):
    assert {test.name: (test.verdict, test.reason) for test in junit} == {
        "kernel.fork": (PASS, ""),
        "kernel.brk": (PASS, ""),
        "2mb.fork": (SKIP, "8 pages of 2048KB needed, 0 free"),
        "2mb.brk": (FAIL, "failed: case.c:7: brk is 3, not 4"),
        "1gb.fork": (FAIL, "Unable to find executable: x"),  # did not run, and did not say that it skips
        "Layout.Reads": (PASS, ""),
        "Layout.Refuses": (FAIL, "Timeout"),
        "sanitized.thread": (PASS, ""),
        "layout_fuzz": (FAIL, "status 'disabled'"),
    }


def test_the_matrix(junit):
    matrix, others = split_by_condition(junit)
    assert matrix_text(matrix).splitlines() == [
        "case  kernel  2mb   1gb",
        "fork  PASS    SKIP  FAIL",
        "brk   PASS    FAIL  -",
    ]
    lines = [line.split() for line in others_text(others).splitlines()]
    assert lines == [
        ["test", "verdict", "passed", "failed", "skipped", "s"],
        ["Layout", "FAIL", "1", "1", "0", "0.5"],
        ["sanitized.thread", "PASS", "1", "0", "0", "3.0"],
        ["layout_fuzz", "FAIL", "0", "1", "0", "3.0"],
    ]


def test_results_that_are_missing_or_damaged(tmp_path):
    with pytest.raises(TesseraError, match="tessera dev build --test mosalloc"):
        read_junit(tmp_path / "none.xml")
    (tmp_path / "half.xml").write_text(JUNIT[:200])
    with pytest.raises(TesseraError, match="ctest's results"):
        read_junit(tmp_path / "half.xml")


OK = "PASS 4kb: 500 operations, 1 threads, 0 differences, 0.4 s\n"
DIFFERENT = (
    "DIFFERENT 4kb: seed 1\n  without: a=1\n  with:    a=2\n  repeat:  LD_PRELOAD=x y\n"
    "FAIL 4kb: 500 operations, 1 threads, 1 differences, 0.4 s\n"
)


@pytest.mark.parametrize(("output", "status", "verdict", "reason"), [
    (OK, 0, PASS, "^$"),
    (OK, 1, FAIL, "status 1"),
    (OK.replace("500", "400"), 0, FAIL, "500 operations were asked for"),
    (DIFFERENT, 1, FAIL, "without: a=1 .* repeat:  LD_PRELOAD=x y"),
    ("SKIP 4kb: 6 pages of 2MB needed, 0 free\n", 77, SKIP, "^6 pages of 2MB needed, 0 free$"),
    ("SKIP 4kb: 6 pages of 2MB needed, 0 free\n", 0, FAIL, "no verdict"),
    ("Traceback\n  KeyError: 'x'\n", 1, FAIL, "status 1, no verdict: Traceback . KeyError"),
    ("", 0, FAIL, "no verdict"),
    (OK.replace("4kb", "2mb"), 0, FAIL, "no verdict"),
])  # fmt: skip
def test_the_judges_verdict(output, status, verdict, reason):
    line = differential.differential_outcome(output, "4kb", 1, 500, status)
    assert line.verdict == verdict
    assert re.search(reason, line.reason), line.reason


def test_pages_that_a_program_saw():
    base = 0x40000000
    smaps = "\n".join([
        f"end {base - 4096:x} {base + 2 * MB:x} 4096 4096",  # begins before the pool
        f"end {base + 2 * MB:x} {base + 4 * MB:x} {PAGE_2MB} {PAGE_2MB}",
        f"end {base + 4 * MB:x} {base + 6 * MB:x} {PAGE_2MB} {PAGE_2MB}",  # one range with the one before
        f"end {base + 6 * MB:x} {base + 8 * MB:x} {PAGE_2MB} 4096",
        f"end {base + 64 * MB:x} {base + 66 * MB:x} {PAGE_2MB} {PAGE_2MB}",  # behind the pool
        f"halfway {base + 8 * MB:x} {base + 10 * MB:x} {PAGE_2MB} {PAGE_2MB}",
        "eight_threads:1: something else",
    ])  # fmt: skip
    found = seen_pages(smaps, "end", base, 64 * MB)
    assert found["4KB"] == [(0, 2 * MB)]
    assert describe_pages(pages_above_4kb(found)) == "2MB at 2MB-6MB, 2MB/4KB at 6MB-8MB"
    assert seen_pages(smaps, "start", base, 64 * MB) == {}


def test_pages_that_a_layout_asks_for():
    windows = [
        Window("mmap", 4 * MB, 6 * MB, PAGE_2MB),
        Window("mmap", 0, 2 * MB, PAGE_2MB),
        Window("mmap", PAGE_1GB, 2 * PAGE_1GB, PAGE_1GB),
        Window("brk", 0, 2 * MB, PAGE_2MB),
    ]
    assert describe_pages(asked_pages(windows, "mmap")) == "1GB at 1GB-2GB, 2MB at 0-2MB 4MB-6MB"
    assert describe_pages(asked_pages(windows, "file")) == "none"


@pytest.mark.slow
@pytest.mark.toolchain
def test_a_short_real_run(build, tmp_path):
    options = [
        "--quick",
        "--only",
        "cases",
        "--only",
        "differential",
        "--cases",
        "^4kb",
        "--operations",
        "50000",
    ]
    done = CliRunner().invoke(allocator, ["proof", "--out", str(tmp_path), *options])
    assert done.exit_code == 0, done.output
    with (tmp_path / "cases.csv").open() as stream:
        cases = list(csv.DictReader(stream))
    listed = re.findall(
        r"add_test\((?:\[=\[)?(4kb\.\w+)", (build_dir("mosalloc") / "tests/CTestTestfile.cmake").read_text()
    )
    assert sorted(row["test"] for row in cases) == sorted(listed)
    assert {row["verdict"] for row in cases} == {"PASS"}
    with (tmp_path / "differential.csv").open() as stream:
        lines = {(row["layout"], row["threads"]): row for row in csv.DictReader(stream)}
    for threads in ("1", "4"):
        row = lines["4kb", threads]
        assert (row["verdict"], row["operations"], row["differences"]) == ("PASS", "50000", "0")
    assert {row["verdict"] for row in lines.values()} <= {"PASS", "SKIP"}
    assert re.search(r"^in all: \d+ passed, 0 failed, \d+ skipped$", done.output, re.M)
