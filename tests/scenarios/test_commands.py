"""``tessera os`` and ``tessera simulate --os`` on a recorded program: tests/traces/examples/phases.tst."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys

import pandas as pd
import pytest

from tessera.core.paths import build_dir
from tessera.results.cells import read_cells
from tessera.scenarios import model

pytestmark = pytest.mark.toolchain
SIX = ("thp-always", "thp-never", "fragmented-50", "fragmented-90", "small-memory", "small-fragmented")
NEEDED = (("imitation", "tessera-os"), ("simulator", "tessera-sim"), ("tracer", "tessera-trace"))
COUNTS = ["stlb_hits", "stlb_misses", "walk_cycles", "program_dram_loads", "walker_dram_loads"]


def tessera(*words, **options):
    line = [sys.executable, "-m", "tessera", *(str(word) for word in words)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, **options)


@pytest.fixture(scope="module")
def trace(root):
    for component, name in NEEDED:
        if not (build_dir(component) / name).exists():
            pytest.skip(f"build/{component}/{name} is missing: ./run tessera build {component}")
    return root / "tests" / "traces" / "examples" / "phases.tst"


@pytest.fixture(scope="module")
def logs(trace, tmp_path_factory):
    """A folder with the logs of six scenarios."""
    folder = tmp_path_factory.mktemp("logs")
    for name in SIX:
        done = tessera("os", "run", "--trace", trace, "--scenario", name, "--out", folder / f"{name}.oslog")
        assert done.returncode == 0, done.stderr
    return folder


def table(log, name) -> pd.DataFrame:
    done = tessera("os", "show", log, "--csv", name)
    assert done.returncode == 0, done.stderr
    return pd.read_csv(io.StringIO(done.stdout))


def test_faults_by_kind(logs):
    """A fault of 2MB stands for at most 512 faults of 4KB."""
    always, never = (table(logs / f"{name}.oslog", "faults") for name in ("thp-always", "thp-never"))
    assert set(never.page_size) == {"4KB"}
    large = always[always.page_size == "2MB"]
    assert len(large) > 0
    assert len(never) > len(always)
    assert len(never) - len(always) <= 511 * len(large)
    assert never.block.is_monotonic_increasing
    assert not never.duplicated(["block", "page", "pool", "cause"]).any()


def test_tables_agree(logs):
    for name in SIX:
        log = logs / f"{name}.oslog"
        faults, kinds, sizes = (table(log, of) for of in ("faults", "kinds", "sizes"))
        assert kinds.faults.sum() == len(faults) == sizes.faults.iloc[-1]
        records, areas, chunks = (table(log, of) for of in ("records", "areas", "chunks"))
        assert (records.kind == "area").sum() == len(areas) == records[records.kind == "call"].frame.iloc[-1]
        mapped = sizes.pages_4kb.iloc[-1] + 512 * sizes.pages_2mb.iloc[-1]
        assert chunks.pages.sum() >= mapped  # at the moment when most is mapped
        assert (chunks.least_pages * chunks.chunks <= chunks.pages).all()


def test_six_scenarios_are_equal_on_all_engines(trace, logs, tmp_path):
    found = {}
    for engine in ("reference", "timing", "partial"):
        out = tmp_path / f"{engine}.csv"
        done = tessera(
            "simulate", "--trace", trace, "--platform", "haswell-sim", "--os", logs, "--engine", engine,
            "--sampling", "full", "--set", "memory.allocator=mapped", "--out", out,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found[engine] = read_cells(out).set_index("layout")
    assert sorted(found["reference"].index) == sorted(SIX)
    for engine in ("timing", "partial"):
        assert found[engine][COUNTS].equals(found["reference"][COUNTS])
    assert found["timing"].runtime_cycles.equals(found["reference"].runtime_cycles)
    misses = found["timing"].stlb_misses
    assert misses["thp-never"] > misses["thp-always"]
    assert found["timing"].walk_cycles["thp-never"] > found["timing"].walk_cycles["thp-always"]


def test_a_rerun_is_bit_identical(trace, logs, tmp_path):
    out = tmp_path / "new" / "again.oslog"
    assert tessera("os", "run", "--trace", trace, "--scenario", "fragmented-50", "--out", out).returncode == 0
    assert out.read_bytes() == (logs / "fragmented-50.oslog").read_bytes()


def test_a_killed_run_leaves_no_log_and_begins_again(trace, logs, tmp_path):
    """Killed at any moment: the log is complete or absent."""
    out = tmp_path / "killed.oslog"
    flat = tmp_path / "scenario.txt"
    flat.write_text(model.load("thp-never").flat())
    line = [build_dir("imitation") / "tessera-os", "run", "--trace", trace, "--scenario", flat, "--out", out]
    for milliseconds in (1, 3, 10, 30):
        with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                process.wait(milliseconds / 1000)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
        if out.exists():
            assert out.read_bytes() == (logs / "thp-never.oslog").read_bytes()
            out.unlink()
    assert subprocess.run(line, capture_output=True).returncode == 0
    assert out.read_bytes() == (logs / "thp-never.oslog").read_bytes()


def test_bad_input_is_named(trace, logs, tmp_path, root):
    def refused(*words, status):
        done = tessera(*words)
        assert done.returncode == status, done.stderr
        return done.stderr

    tiny = tmp_path / "tiny.yaml"
    tiny.write_text("description: too small\nmemory_bytes: 16777216\nthp: {enabled: never}\n")
    out = tmp_path / "out.oslog"
    text = refused("os", "run", "--trace", trace, "--scenario", tiny, "--out", out, status=1)
    assert "os/out-of-memory" in text and "block" in text and "page" in text
    assert not out.exists()
    assert "tiny.yaml" in refused("os", "run", "--trace", trace, "--scenario", tiny, "--out", tiny, status=2)
    assert "memory_bytes" in tiny.read_text()
    text = refused("os", "run", "--trace", trace, "--scenario", "thp-always", "--out", trace, status=2)
    assert "phases.tst" in text
    assert "kinds" in refused("os", "show", logs / "thp-always.oslog", "--csv", "pictures", status=2)
    assert "os/log-magic" in refused("os", "show", trace, status=1)
    assert "directory" in refused("os", "show", logs, status=1)
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


def test_a_trace_without_events_is_named(trace, tmp_path):
    """An imported trace has no calls."""
    other, records = tmp_path / "other.tst", tmp_path / "other.champsim"
    records.write_bytes(bytes(64 * 10))
    tool = build_dir("tracer") / "tessera-trace"
    assert subprocess.run([tool, "import-champsim", records, other], capture_output=True).returncode == 0
    done = tessera("os", "run", "--trace", other, "--scenario", "thp-always", "--out", tmp_path / "x.oslog")
    assert done.returncode == 2
    assert "--events" in done.stderr and "--roi whole" in done.stderr


def test_list_names_scenarios_and_keys():
    text = tessera("os", "list").stdout
    assert all(name in text for name in model.names())
    assert "fragmentation.target_thousandths" in tessera("os", "list", "--keys").stdout
