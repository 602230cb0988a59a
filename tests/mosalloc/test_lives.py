"""Random lives with and without the library: the same results, each mechanism used; faults are found."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.core.files import repo_root
from tessera.lab.allocator_proof.suite import lives
from tessera.machine.program_paths import preloadable

pytestmark = [pytest.mark.toolchain]

FOLDER = repo_root() / "artifacts/mosalloc/tests/lives"
SKIPPED = 77
OPERATIONS, HITS = 200_000, 20
#: What compare.py asks for, for two lives at a time.
PAGES = 80
WINDOWS = ("window brk 0", "window mmap 0", "window mmap 6MB")
FORKS = ("forks", "children", "ended marks")
SPLITS = (*FORKS, "splits", "exchanges", "zeroed bytes", "ignored advice")
WHOLE = ("softened", "kept by pins", "kept without userfaultfd", "refused calls", "refused marks")
CHILDREN = ("children's splits",)
COPIES = ("copied forks", "copied bytes")
MECHANISMS = {
    "2mb": (*SPLITS, *CHILDREN, *WHOLE, *WINDOWS),
    "2mb-few": (*SPLITS, *COPIES, *WINDOWS),
    "demand": (*SPLITS, *CHILDREN, *WHOLE, *WINDOWS),
    "exact": (*SPLITS, *CHILDREN, *WINDOWS),
    "stacks": (*SPLITS, *CHILDREN, *WHOLE, *WINDOWS),
}


@pytest.fixture
def compare(build):
    """Runs the judge on the built component; returns the finished process."""

    def run(*arguments, **options) -> subprocess.CompletedProcess:
        argv = [sys.executable, str(FOLDER / "compare.py"), str(build), *map(str, arguments)]
        return subprocess.run(argv, capture_output=True, text=True, timeout=280, **options)

    return run


def hits(output: str, layout: str) -> dict[str, int]:
    """The counts that the judge printed."""
    line = re.search(rf"^hits {layout}: (.*)$", output, re.M).group(1)
    return {name: int(count) for name, count in re.findall(r"([^,]+?) (\d+)(?:, |$)", line)}


def judged(done: subprocess.CompletedProcess, layout: str, mechanisms: tuple[str, ...]) -> None:
    """A PASS over all operations without a difference, and enough hits of each mechanism."""
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = rf"^PASS {layout}: (\d+) operations, (\d+) lives, 0 differences, [\d.]+ s$"
    operations, count = map(int, re.search(verdict, done.stdout, re.M).groups())
    assert operations >= OPERATIONS
    assert count >= 50
    found = hits(done.stdout, layout)
    assert set(found) == set(mechanisms)
    assert min(found.values()) >= HITS, found


def test_no_difference_with_small_pages(compare):
    done = compare("--layout", "4kb", "--operations", OPERATIONS, "--min-hits", HITS)
    judged(done, "4kb", FORKS)


@pytest.mark.hugepages
@pytest.mark.parametrize("layout", MECHANISMS)
def test_no_difference_under_windows(compare, huge_pages, layout):
    huge_pages(PAGES)
    done = compare("--layout", layout, "--operations", OPERATIONS, "--min-hits", HITS)
    if done.returncode == SKIPPED:  # no mount namespace, or other processes took the pages
        pytest.skip(done.stdout)
    judged(done, layout, MECHANISMS[layout])


def test_lives_without_the_library_agree(compare):
    done = compare("--plain", "--operations", 50_000, "--seed", 1000)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^PASS 4kb: \d+ operations, \d+ lives, 0 differences", done.stdout, re.M)


def test_a_mechanism_that_was_not_hit_is_a_failure(compare):
    done = compare("--operations", 5_000, "--min-hits", 1_000_000)
    assert done.returncode == 1
    assert re.search(r"^FAIL 4kb: \d+ operations, \d+ lives, 0 differences", done.stdout, re.M)
    assert "forks, children, ended marks" in done.stdout


@pytest.mark.parametrize(
    ("fault", "result"),
    [
        ("fork", "wrong_bytes"),
        ("pin", "wrong_bytes"),
        ("mark", "policy_of_new"),
        ("handler", "handlers|digest|handler_faults"),
    ],
)
def test_a_faulty_library_is_found(compare, build, fault, result):
    library = build / "libbroken_lives.so"
    done = compare("--library", library, "--operations", 20_000, env=dict(os.environ, BROKEN=fault))
    assert done.returncode == 1
    assert re.search(r"^DIFFERENT 4kb: seed \d+", done.stdout, re.M)
    assert re.search(rf"  (?:without: (?:{result})|at:      (?:{result}))", done.stdout), done.stdout
    repeat = re.search(r"repeat:  (.*)", done.stdout).group(1)
    assert f"LD_PRELOAD={preloadable(library)}" in repeat and "--trace" in repeat


def test_a_life_that_hangs_is_found(compare, build):
    """The watchdog ends the whole family; the next life is not disturbed."""
    library = build / "libbroken_lives.so"
    done = compare(
        "--library", library, "--operations", 1, "--jobs", 1, "--hangs-after", 2,
        env=dict(os.environ, BROKEN="hang"),
    )  # fmt: skip
    assert done.returncode == 1
    assert "hung for 2 s" in done.stdout


def test_missing_huge_pages_are_a_skip_that_names_them(compare):
    from tessera.core.units import PAGE_2MB
    from tessera.machine.reserve import huge_pages_free

    if huge_pages_free(PAGE_2MB) >= PAGES // 2:
        pytest.skip("huge pages are free here, so nothing is missing")
    done = compare("--layout", "2mb", "--jobs", 1)
    assert done.returncode == SKIPPED
    assert f"SKIP 2mb: {PAGES // 2} pages of 2MB needed" in done.stdout


def _module(path: Path):
    """The module in this file; its name may be that of another module, too."""
    spec = importlib.util.spec_from_file_location(f"lives_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_counters_are_read_by_the_names_of_the_header(tmp_path):
    """A word per field, in the header's order; texts in between are skipped."""
    import struct

    counters = _module(FOLDER / "counters.py")
    names = counters.fields()
    assert names[:5] == ["magic", "pid", "state", "passed_through", "window_count"]
    for name in (
        "pools[1].used_bytes",
        "calls[13].failed",
        "unsplit_by[1]",
        "children.forks",
        "full_calls[2]",
    ):
        assert names.count(name) == 1
    assert names[-1] == 512  # the reason of a refusal, before the table of windows
    file = tmp_path / "map"
    words = [
        struct.pack("<Q", i + 7) if isinstance(name, str) else bytes(name) for i, name in enumerate(names)
    ]
    file.write_bytes(b"".join(words))
    assert counters.read(file, names)["children.forks"] == names.index("children.forks") + 7
    file.write_bytes(b"".join(words)[:100])
    assert counters.read(file, names) == {}


LINE = "4kb: 500 operations, 8 lives, 0 differences, 0.4 s\n"
COUNTS = "hits 4kb: forks 31, ended marks 24, window mmap 6MB 90\n"


@pytest.mark.parametrize(("output", "status", "verdict", "reason"), [
    (f"PASS {LINE}{COUNTS}", 0, "PASS", "^$"),
    (f"PASS {LINE}{COUNTS}", 1, "FAIL", "status 1"),
    (f"FAIL {LINE}{COUNTS}  fewer than 30 hits: ended marks\n", 1, "FAIL", "30 hits: ended marks"),
    (f"PASS {LINE.replace('500', '499')}{COUNTS}", 0, "FAIL", "500 operations"),
    (f"PASS {LINE}", 0, "FAIL", "no verdict"),
    (f"PASS {LINE.replace('4kb', '2mb')}{COUNTS}", 0, "FAIL", "no verdict"),
    ("SKIP 4kb: 80 pages of 2MB needed, 0 free\n", 77, "SKIP", "^80 pages of 2MB needed, 0 free$"),
    ("SKIP 4kb: 80 pages of 2MB needed, 0 free\n", 0, "FAIL", "no verdict"),
    ("", 1, "FAIL", "status 1, no verdict"),
])  # fmt: skip
def test_the_verdict_of_the_proof(output, status, verdict, reason):
    line = lives.lives_outcome(output, "4kb", 500, status)
    assert line.verdict == verdict
    assert re.search(reason, line.reason), line.reason
    if verdict == "PASS":
        assert (line.operations, line.lives, line.differences) == (500, 8, 0)
        assert line.fewest_hits == "ended marks: 24"


@pytest.mark.parametrize(("operations", "each"), [(10_000_000, 1_666_667), (200_000, 200_000), (5, 5)])
def test_operations_of_the_proof_for_each_layout(operations, each):
    assert lives.share(operations) == each


@pytest.mark.parametrize("words", [(), ("1", "x", "1"), ("1", "10", "5"), ("1", "10", "1", "--what")])
def test_wrong_arguments(build: Path, words):
    done = subprocess.run([build / "lives", *words], capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage: lives SEED OPERATIONS THREADS" in done.stderr
