"""``tessera lab os`` and ``simulate --os`` on a recorded program: tests/traces/examples/phases.tst."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from functools import cache

import pandas as pd
import pytest

from tessera.core import progress, scenarios
from tessera.core.files import build_dir
from tessera.core.results.table_io import read_cells
from tessera.simulate import operating_system
from tests.in_process import tessera

pytestmark = pytest.mark.toolchain
SIX = ("thp-always", "thp-never", "fragmented-50", "fragmented-90", "small-memory", "small-fragmented")
SHORT = ("pressure-swap", "pressure-thp", "pressure-zram", "page-cache-full", "hugetlb-pool")
NEEDED = (("imitation", "tessera-os"), ("simulator", "tessera-sim"), ("tracer", "tessera-trace"))
COUNTS = ["stlb_hits", "stlb_misses", "walk_cycles", "program_dram_loads", "walker_dram_loads"]


@pytest.fixture(scope="module")
def trace(root):
    for component, name in NEEDED:
        if not (build_dir(component) / name).exists():
            pytest.skip(f"build/{component}/{name} is missing: ./run tessera dev build {component}")
    return root / "tests" / "traces" / "examples" / "phases.tst"


@pytest.fixture(scope="module")
def logs(trace, tmp_path_factory):
    """A folder with the logs of eleven scenarios; in SHORT, memory is short, or in pools."""
    folder = tmp_path_factory.mktemp("logs")
    for name in (*SIX, *SHORT):
        done = tessera(
            "lab", "os", "run", "--trace", trace, "--scenario", name, "--out", folder / f"{name}.oslog"
        )
        assert done.returncode == 0, done.stderr
    return folder


@cache
def table(log, name) -> pd.DataFrame:
    """Not to be changed. A container for each of these many tables would take a second."""
    line = [build_dir("imitation") / "tessera-os", "show", log, "--csv", name]
    done = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True)
    return pd.read_csv(io.StringIO(done.stdout))


@pytest.fixture(scope="module")
def mixed(trace, tmp_path_factory):
    """A trace with files, shared memory and huge pages outside the pools, in a machine that is too small."""
    folder = tmp_path_factory.mktemp("mixed")
    example, scenario = folder / "example.tst", folder / "mixed.yaml"
    subprocess.run([build_dir("imitation") / "driver" / "os_example", example], check=True)
    scenario.write_text(
        "description: 32MB, 8MB of it in a pool, swap, a full page cache\nmemory_bytes: 33554432\n"
        "thp: {enabled: always, defrag: always}\nhugetlb: {pages_2mb: 4}\nswap: {bytes: 67108864}\n"
        "page_cache: {at_start: files, other_bytes: 67108864}\nslab: {areas: true}\n"
    )
    done = tessera(
        "lab", "os", "run", "--trace", example, "--scenario", scenario, "--out", folder / "mixed.oslog"
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_faults_by_kind(logs):
    """A fault of 2MB stands for at most 512 faults of 4KB."""
    always, never = (table(logs / f"{name}.oslog", "faults") for name in ("thp-always", "thp-never"))
    shown = operating_system.show_log(logs / "thp-never.oslog", "faults")
    assert pd.read_csv(io.StringIO(shown)).equals(never)
    assert set(never.page_size) == {"4KB"}
    large = always[always.page_size == "2MB"]
    assert len(large) > 0
    assert len(never) > len(always)
    assert len(never) - len(always) <= 511 * len(large)
    assert never.block.is_monotonic_increasing
    assert not never.duplicated(["block", "page", "pool", "cause"]).any()


def counters(log) -> dict[str, int]:
    return table(log, "counters").set_index("counter").value.to_dict()


def test_counters_agree_with_faults(logs, mixed):
    """Each scenario shows what it is for."""
    for log in [*(logs / f"{name}.oslog" for name in (*SIX, *SHORT)), mixed / "mixed.oslog"]:
        found, faults = counters(log), table(log, "faults")
        assert found["pgfault"] == len(faults)
        majors = faults[faults.cause.isin(["swap", "file-read", "copy-read"])]
        assert (majors.major == 1).all() and faults.major.sum() == len(majors) == found["pgmajfault"]
        records = table(log, "records")
        reclaimed = records[(records.kind == "unmap") & (records.cause == "reclaimed")]
        assert (found["pgsteal_anon"] + found["pgsteal_file"] > 0) or len(reclaimed) == 0
        assert (found["pswpout"] > 0) == (faults.cause.isin(["swap", "swap-cache"]).any())
    for name in ("pressure-swap", "pressure-thp", "pressure-zram"):
        assert counters(logs / f"{name}.oslog")["pswpin"] > 100, name
    assert counters(logs / "pressure-zram.oslog")["disk_writes"] == 0
    assert counters(logs / "page-cache-full.oslog")["pgsteal_file"] > 1000
    assert counters(logs / "hugetlb-pool.oslog")["hugetlb_2mb_free"] == 16
    assert counters(logs / "hugetlb-pool.oslog")["slabs"] > 0


def test_all_kinds_of_memory_in_one_program(mixed):
    faults = table(mixed / "mixed.oslog", "faults")
    assert set(faults.pool) == {"brk", "mmap", "file", "outside"}
    assert {"page", "copy", "swap", "swap-cache", "file", "file-read", "pool"} <= set(faults.cause)
    pool = faults[faults.cause == "pool"]
    assert len(pool) == 4 and (pool.page_size == "2MB").all() and (pool.pool == "outside").all()


def test_tables_agree(logs):
    for name in (*SIX, *SHORT):
        log = logs / f"{name}.oslog"
        faults, kinds, sizes = (table(log, of) for of in ("faults", "kinds", "sizes"))
        assert kinds.faults.sum() == len(faults) == sizes.faults.iloc[-1]
        records, areas, chunks = (table(log, of) for of in ("records", "areas", "chunks"))
        assert (records.kind == "area").sum() == len(areas) == records[records.kind == "call"].frame.iloc[-1]
        counted = table(log, "counters").set_index("counter").value
        assert counted.pgfault == len(faults)
        mapped = sizes.pages_4kb.iloc[-1] + 512 * sizes.pages_2mb.iloc[-1]
        assert chunks.pages.sum() >= mapped  # at the moment when most is mapped
        assert (chunks.least_pages * chunks.chunks <= chunks.pages).all()


def cells_of(trace, logs, folder) -> dict[str, pd.DataFrame]:
    found = {}
    for engine in ("reference", "timing", "partial"):
        out = folder / f"{engine}.csv"
        done = tessera(
            "simulate", "--trace", trace, "--platform", "haswell-sim", "--os", logs, "--engine", engine,
            "--sampling", "full", "--set", "memory.allocator=mapped",
            "--write", f"faults={folder / 'faults.csv'}", "--out", out,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found[engine] = read_cells(out).set_index("layout")
    for engine in ("timing", "partial"):
        assert found[engine][COUNTS].equals(found["reference"][COUNTS])
    assert found["timing"].runtime_cycles.equals(found["reference"].runtime_cycles)
    return found


def test_eleven_scenarios_are_equal_on_all_engines(trace, logs, tmp_path):
    found = cells_of(trace, logs, tmp_path)
    assert sorted(found["reference"].index) == sorted((*SIX, *SHORT))
    misses = found["timing"].stlb_misses
    assert misses["thp-never"] > misses["thp-always"]
    assert found["timing"].walk_cycles["thp-never"] > found["timing"].walk_cycles["thp-always"]
    faults = pd.read_csv(tmp_path / "faults.csv")
    assert (faults.layout == "pressure-swap").sum() > (faults.layout == "thp-never").sum()
    assert list(faults.columns)[:5] == ["layout", "access", "block", "kind", "order"]
    for name, rows in faults.groupby("layout"):
        assert len(rows) == counters(logs / f"{name}.oslog")["pgfault"]
        assert rows.access.is_monotonic_increasing
    assert set(faults.order) == {0, 9}


def test_files_and_huge_pages_are_equal_on_all_engines(mixed, tmp_path):
    cells_of(mixed / "example.tst", mixed / "mixed.oslog", tmp_path)


def test_a_rerun_is_bit_identical(trace, logs, tmp_path):
    for name in ("fragmented-50", *SHORT):
        out = tmp_path / "new" / f"{name}.oslog"
        assert tessera("lab", "os", "run", "--trace", trace, "--scenario", name, "--out", out).returncode == 0
        assert out.read_bytes() == (logs / f"{name}.oslog").read_bytes()


@pytest.mark.parametrize("name", ["thp-never", "pressure-swap"])
def test_a_killed_run_leaves_no_log_and_begins_again(trace, logs, tmp_path, name):
    """Killed at any moment: the log is complete or absent."""
    out = tmp_path / "killed.oslog"
    flat = tmp_path / "scenario.txt"
    flat.write_text(scenarios.load_scenario(name).flat())
    line = [build_dir("imitation") / "tessera-os", "run", "--trace", trace, "--scenario", flat, "--out", out]
    for milliseconds in (1, 3, 10, 30):
        with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                process.wait(milliseconds / 1000)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
        if out.exists():
            assert out.read_bytes() == (logs / f"{name}.oslog").read_bytes()
            out.unlink()
    assert subprocess.run(line, capture_output=True).returncode == 0
    assert out.read_bytes() == (logs / f"{name}.oslog").read_bytes()


def test_progress_is_shown_on_long_runs(trace, tmp_path, monkeypatch, capsys):
    """A line for what the program tells; none if it takes less than the time between two lines."""
    scenario, told = scenarios.load_scenario("thp-never"), []
    operating_system.run_scenario(
        trace, scenario, tmp_path / "a.oslog", lambda percent, accesses: told.append((percent, accesses))
    )
    assert told and told[-1] == (100, 437576)
    shown = progress.PercentProgress("phases under thp-never")
    shown(12, 437576)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "PERCENT_SECONDS", 0)
    shown(12, 437576)
    assert capsys.readouterr().err == "phases under thp-never: 12% of 437576 accesses\n"


def test_16gb_in_small_pages_take_less_than_1gb_of_this_machine(trace, tmp_path):
    """3.9 million pages and 7,697 tables, 15 GB of 16 GB."""
    at, size, events = "0x40000000", hex(15 << 30), tmp_path / "events"
    events.write_text(f"mmap {at} {size} rw\nmadvise {at} {size} nohugepage\ntouch {at} w {size}\n")
    line = [str(build_dir("imitation") / "tessera-vm"), "replay", str(events), "--memory", "16GB"]
    # Linux counts the memory before exec, too, so the program's parent must be smaller than this process.
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=2, stderr=2)\n"
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", code, *line], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert 50 << 10 < int(done.stdout) < 1 << 20  # kB


def test_bad_input_is_named(trace, logs, tmp_path, root):
    def refused(*words, status):
        done = tessera(*words)
        assert done.returncode == status, done.stderr
        return done.stderr

    tiny = tmp_path / "tiny.yaml"
    tiny.write_text("description: too small\nmemory_bytes: 16777216\nthp: {enabled: never}\n")
    out = tmp_path / "out.oslog"
    text = refused("lab", "os", "run", "--trace", trace, "--scenario", tiny, "--out", out, status=1)
    assert "os/out-of-memory" in text and "block" in text and "page" in text
    assert not out.exists()
    tiny.write_text(tiny.read_text() + "swap: {bytes: 1048576}\n")
    text = refused("lab", "os", "run", "--trace", trace, "--scenario", tiny, "--out", out, status=1)
    assert "os/out-of-memory" in text and "255 of 255" in text
    assert "tiny.yaml" in refused(
        "lab", "os", "run", "--trace", trace, "--scenario", tiny, "--out", tiny, status=2
    )
    assert "memory_bytes" in tiny.read_text()
    text = refused("lab", "os", "run", "--trace", trace, "--scenario", "thp-always", "--out", trace, status=2)
    assert "phases.tst" in text
    assert "kinds" in refused("lab", "os", "show", logs / "thp-always.oslog", "--csv", "pictures", status=2)
    assert "os/log-magic" in refused("lab", "os", "show", trace, status=1)
    assert "directory" in refused("lab", "os", "show", logs, status=1)
    damaged = tmp_path / "damaged.oslog"
    content = bytearray((logs / "thp-always.oslog").read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    cells = [
        "--platform",
        "haswell-sim",
        "--engine",
        "partial",
        "--sampling",
        "full",
        "--out",
        tmp_path / "c.csv",
    ]
    assert "os/log-checksum" in refused("simulate", "--trace", trace, "--os", damaged, *cells, status=1)
    growing = tmp_path / "growing-8.oslog"
    growing.write_bytes((logs / "thp-always.oslog").read_bytes())
    assert "growing-8" in refused("simulate", "--trace", trace, "--os", growing, *cells, status=2)
    layouts = ["--mappings", logs, "--write", f"faults={tmp_path / 'f.csv'}"]
    assert "--write faults" in refused("simulate", "--trace", trace, *layouts, *cells, status=2)
    both = ["--os", logs, "--mappings", logs]
    assert "--os" in refused("simulate", "--trace", trace, *both, *cells, status=2)


def test_a_log_of_another_trace_is_named(trace, logs, tmp_path):
    part = tmp_path / "part.tst"
    cut = [build_dir("tracer") / "tessera-trace", "cut", trace, part, "--start", "0", "--accesses", "1000"]
    assert subprocess.run(cut, capture_output=True).returncode == 0
    done = tessera(
        "simulate", "--trace", part, "--platform", "haswell-sim", "--os", logs / "thp-always.oslog",
        "--engine", "partial", "--sampling", "full", "--out", tmp_path / "cells.csv",
    )  # fmt: skip
    assert done.returncode == 1
    assert "os/other-trace" in done.stderr


def test_the_log_notes_memory_from_before_the_recording(trace, logs, tmp_path):
    """A part of a trace begins with areas that exist; the whole trace begins before the first of them."""
    part, log = tmp_path / "part.tst", tmp_path / "part.oslog"
    words = ["--start", "200000", "--accesses", "1000"]
    cut = [build_dir("tracer") / "tessera-trace", "cut", trace, part, *words]
    assert subprocess.run(cut, capture_output=True).returncode == 0
    operating_system.run_scenario(part, scenarios.load_scenario("thp-never"), log)
    assert "recording.begin: " in operating_system.show_log(log)
    assert "recording.begin: " not in operating_system.show_log(logs / "thp-never.oslog")


def test_a_trace_without_events_is_named(trace, tmp_path):
    """An imported trace has no calls."""
    other, records = tmp_path / "other.tst", tmp_path / "other.champsim"
    records.write_bytes((0x401000).to_bytes(8, "little").ljust(64, b"\0") * 10)
    tool = build_dir("tracer") / "tessera-trace"
    assert subprocess.run([tool, "import-champsim", records, other], capture_output=True).returncode == 0
    done = tessera(
        "lab", "os", "run", "--trace", other, "--scenario", "thp-always", "--out", tmp_path / "x.oslog"
    )
    assert done.returncode == 2
    assert "--events" in done.stderr and "--roi whole" in done.stderr


def test_list_names_scenarios_and_keys():
    text = tessera("lab", "os", "list").stdout
    assert all(name in text for name in scenarios.scenario_names())
    assert "fragmentation.target_thousandths" in tessera("lab", "os", "list", "--keys").stdout
