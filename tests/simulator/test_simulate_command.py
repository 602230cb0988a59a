"""``tessera simulate`` with the real simulator: what may not matter does not, what stops it loses nothing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from tessera.core.results.table_io import CELL_COLUMNS, read_cells
from tessera.simulate.sampling import ENGINES

from .conftest import ACCESSES, require_built, write_layout

pytestmark = pytest.mark.toolchain
PLAN = ["--sampling", "units=3,warmup_accesses=20000,timed_instructions=15000"]


def argv(trace, layouts, out, *words):
    line = [sys.executable, "-m", "tessera", "simulate", "--trace", trace, "--platform", "haswell-sim"]
    return [str(word) for word in [*line, "--layouts", layouts, "--out", out, *words]]


def tessera(*arguments):
    return subprocess.run(argv(*arguments), capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def layouts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layouts")
    for i in range(5):
        write_layout(folder, f"growing-{2 * i}", [(0, 8 * i)] if i else [])
    return folder


def test_threads_order_and_way_of_naming_change_nothing(random_trace, layouts, tmp_path):
    first = tessera(
        random_trace, layouts, tmp_path / "a.csv", *PLAN, "--write", f"units={tmp_path}/a-units.csv"
    )
    assert first.returncode == 0, first.stderr
    shuffled = [layouts / f"growing-{i}.csv" for i in (4, 8, 0, 6, 2)]
    more = [word for path in shuffled[1:] for word in ("--layouts", path)]
    words = [*PLAN, "--jobs", 2, "--cache", tmp_path / "other", "--write", f"units={tmp_path}/b-units.csv"]
    second = tessera(random_trace, shuffled[0], tmp_path / "b.csv", *words, *more)
    assert second.returncode == 0, second.stderr
    a, b = read_cells(tmp_path / "a.csv"), read_cells(tmp_path / "b.csv")
    assert list(b.layout) == [path.stem for path in shuffled]
    b = b.set_index("layout").loc[a.layout].reset_index()[list(CELL_COLUMNS)]
    pd.testing.assert_frame_equal(a, b)
    assert a.stlb_misses.is_monotonic_decreasing and (a.accesses == ACCESSES).all()
    units = pd.read_csv(tmp_path / "a-units.csv")
    assert len(units) == 5 * 3 and (units.instructions == 15000).all()
    key = ["layout", "unit"]
    other = pd.read_csv(tmp_path / "b-units.csv").sort_values(key).reset_index(drop=True)
    pd.testing.assert_frame_equal(units.sort_values(key).reset_index(drop=True), other)


def test_parquet_holds_the_same(random_trace, layouts, tmp_path):
    words = [*PLAN, "--engine", "partial"]
    assert tessera(random_trace, layouts, tmp_path / "a.csv", *words).returncode == 0
    assert tessera(random_trace, layouts, tmp_path / "a.parquet", *words).returncode == 0
    a, b = read_cells(tmp_path / "a.csv"), read_cells(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(a, b, check_dtype=False)
    assert a.runtime_cycles.isna().all() and (a.runtime_provenance == "").all()


def test_several_platforms_are_one_table(random_trace, layouts, tmp_path):
    done = tessera(random_trace, layouts, tmp_path / "a.csv", *PLAN, "--platform", "broadwell-sim")
    assert done.returncode == 0, done.stderr
    table = read_cells(tmp_path / "a.csv")
    assert list(table.platform) == ["haswell-sim"] * 5 + ["broadwell-sim"] * 5
    twice = tessera(random_trace, layouts, tmp_path / "a.csv", "--platform", "haswell-sim")
    assert twice.returncode == 2 and "named twice" in twice.stderr


def kept(cache):
    return {path.name: path.stat().st_mtime_ns for path in cache.glob("*/*.json")}


MANY = 130  # more than the two widest passes hold


@pytest.fixture(scope="module")
def many(random_trace, tmp_path_factory):
    """Layouts that are all different, their command's options, and what a run gives that nobody stops."""
    folder = tmp_path_factory.mktemp("many")
    for i in range(MANY):
        write_layout(folder, f"random-{i}", [(i % 31, i % 31 + 1)] if i < 31 else [(0, i % 29 + 1), (30, 31)])
        with (folder / f"random-{i}.csv").open("a") as stream:
            stream.write(f"file,-1,0,{4096 * i}\n")
    words = ["--engine", "partial", "--sampling", "full"]
    out = tmp_path_factory.mktemp("whole") / "whole.csv"
    assert tessera(random_trace, folder, out, *words).returncode == 0
    return folder, words, out.read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_run_goes_on_where_it_was(random_trace, many, tmp_path, number):
    folder, words, whole = many
    cache = tmp_path / "cache"
    words = [*words, "--cache", cache]
    process = subprocess.Popen(
        argv(random_trace, folder, tmp_path / "stopped.csv", *words),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not kept(cache) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert process.poll() is None, "the run ended before it could be stopped"
    os.kill(process.pid, number)
    errors = process.communicate(timeout=60)[1]
    before = kept(cache)
    assert 0 < len(before) < MANY
    assert not (tmp_path / "stopped.csv").exists()
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 128 + number
        assert f"{len(before)} of {MANY} layouts are finished" in errors and "goes on there" in errors

    resumed = tessera(random_trace, folder, tmp_path / "resumed.csv", *words)
    assert resumed.returncode == 0, resumed.stderr
    assert f"{len(before)} of {MANY} layouts are in the cache" in resumed.stderr
    after = kept(cache)
    assert len(after) == MANY and {name: after[name] for name in before} == before
    assert (tmp_path / "resumed.csv").read_text() == whole


def test_damage_in_the_middle_names_frame_and_byte(random_trace, layouts, tmp_path):
    data = bytearray(random_trace.read_bytes())
    data[len(data) // 2] ^= 0x10
    broken = tmp_path / "broken.tst"
    broken.write_bytes(data)
    for threads in (1, 2):
        done = tessera(broken, layouts, tmp_path / "a.csv", "--engine", "partial", "--jobs", threads)
        assert done.returncode == 2, done.stderr
        assert re.search(r"frame \d+.* byte \d+", done.stderr) and done.stderr.count("what to do: ") == 1
    assert not (tmp_path / "a.csv").exists()


def test_a_layout_beyond_the_pools_is_a_failed_row(random_trace, layouts, tmp_path):
    write_layout(tmp_path, "random-7", [(31, 33)])
    done = tessera(random_trace, layouts, tmp_path / "a.csv", *PLAN, "--layouts", tmp_path / "random-7.csv")
    assert done.returncode == 1
    table = read_cells(tmp_path / "a.csv")
    assert list(table.status) == ["ok"] * 5 + ["failed"]
    assert "[layout/outside-pool]" in table.message[5] and "random-7.csv" in table.message[5]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--engine", "magic"], "partial, reference, timing"),
        (["--sampling", "full,units=3"], "units=N"),
        (["--sampling", "absent.csv"], "absent.csv"),
        (["--write", "halves=a.csv"], "designs, dram-rows, fault-times, faults"),
        (["--write", "units=a.csv", "--write", "units=b.csv"], "given twice"),
        (["--write", "units"], "names no file"),
        (["--out", "cells.xlsx"], ".parquet"),
    ],
)
def test_wrong_requests_say_what_to_do(random_trace, layouts, tmp_path, words, found):
    done = tessera(random_trace, layouts, tmp_path / "a.csv", *words)
    assert done.returncode == 2 and found in done.stderr and done.stderr.count("what to do: ") == 1


def test_interval_files_reach_the_simulator(random_trace, layouts, tmp_path):
    table = tmp_path / "intervals.csv"
    table.write_text("start_access,warmup_accesses,timed_instructions,weight\n9,100,50,1\n5,0,50,1\n")
    done = tessera(random_trace, layouts, tmp_path / "a.csv", "--sampling", table)
    assert done.returncode == 2 and "intervals.csv, line 3" in done.stderr
    table.write_text("start_access,warmup_accesses,timed_instructions,weight\n5,100,50,3\n400000,0,50,1\n")
    words = ["--sampling", table, "--write", f"units={tmp_path}/units.csv"]
    assert tessera(random_trace, layouts, tmp_path / "a.csv", *words).returncode == 0
    units = pd.read_csv(tmp_path / "units.csv")
    assert list(units[units.layout == "growing-0"].start_access) == [5, 400000]
    cells = read_cells(tmp_path / "a.csv").set_index("layout")
    for layout, unit in units.groupby("layout"):
        weight = unit.unit.map({0: 3, 1: 1})
        ratio = (weight * unit.walk_cycles).sum() / (weight * unit.instructions).sum()
        assert cells.walk_cycles[layout] == pytest.approx(ratio * cells.instructions[layout], abs=0.5)
    assert cells.program_l1d_loads.isna().all()


def test_platforms_and_their_components_are_listed_and_engines_explained():
    require_built(("simulator", "tessera-sim"))
    words = [sys.executable, "-m", "tessera"]
    text = "".join(
        subprocess.run([*words, *more], capture_output=True, text=True, check=True).stdout
        for more in (("platform", "show"), ("simulate", "--help"))
    )
    for word in (*ENGINES, "haswell-sim", "replacement", "tree-plru", "prefetcher"):
        assert word in text, text


def test_engines_are_those_of_the_simulator(root):
    from tessera.core.files import built
    from tessera.machine.container import toolchain

    require_built(("simulator", "tessera-sim"))
    listed = toolchain().run([built("simulator", "tessera-sim"), "engines"], capture=True).stdout
    assert {line.split(":")[0] for line in listed.splitlines()} == set(ENGINES)
