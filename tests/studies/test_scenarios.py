"""The study of scenarios: failures as rows, its tables, and faults that can be counted by hand."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest

from tessera.cli.pipeline.failures import failures
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.core.results.os_tables import OF_LOG, SCENARIO_CELLS, SCENARIO_FAULTS, SCENARIO_SIZES
from tessera.core.results.table_io import read_file, read_tree_table
from tessera.core.results.tree import ResultsTree
from tessera.lab.studies import scenarios
from tessera.lab.study import Run, read_words, run_study
from tessera.simulate import operating_system

from .builders import lab_run, recorded

PLATFORM = "haswell-sim"
#: `tessera lab os show` of a log: at most 3 pages of 4KB (one more of zeros) and 2 of 2MB at one time
SHOWN = {
    "sizes": "block,pages_4kb,zero_pages_4kb,pages_2mb,areas,faults\n0,0,0,0,1,0\n5,3,1,1,2,5\n9,1,0,2,1,6\n",
    "kinds": "kind,page_size,faults\npage,2MB,2\npage,4KB,3\nzero,4KB,1\n",
    "chunks": "least_pages,chunks,pages\n1,3,3\n512,1,1024\n",
    "areas": "pool,page,pages,rights,huge_pages\nmmap,0,1024,rw-,default\n",
    "counters": "counter,value\npgfault,6\npgmajfault,4\npswpout,11\n",
}


@pytest.fixture
def world(monkeypatch, tmp_path):
    """A recording, an imitation that runs out of memory under `memory-short`, and a simulator of formulas."""
    asked = []

    def run(trace, scenario, out, progress=None):
        if scenario.name == "memory-short":
            raise TesseraError("tessera-os", "no frame for page 7 [os/out-of-memory]", "give it more memory")
        out.write_text(scenario.name)

    def simulate(trace, platform, files, *, kind, **options):
        asked.append((kind.word, [file.stem for file in files]))
        if kind.word == "layout" and getattr(simulate, "refuses", False):
            raise TesseraError("tessera-sim", "it ended with status -9", "see above", exit_code=1)
        rows = []
        for file in files:
            row = {"layout": file.stem, "status": "ok", "message": ""} | dict.fromkeys(scenarios._COUNTS, 100)
            bad = file.stem == "thp-never"
            rows.append({"layout": file.stem, "status": "failed", "message": "LOG-3"} if bad else row)
        return rows

    def layouts(trace, folder):
        return [folder / f"{name}.csv" for name in ("growing-0", "growing-8")]

    monkeypatch.setattr(scenarios.operating_system, "run_scenario", run)
    monkeypatch.setattr(
        scenarios.operating_system, "log_lines", lambda log, table: iter(SHOWN[table].splitlines())
    )
    monkeypatch.setattr(scenarios, "simulate_platform", simulate)
    monkeypatch.setattr(scenarios, "write_uniform_layouts", layouts)
    simulate.asked = asked
    info = recorded(ResultsTree(tmp_path).scenario_recording("made"))
    simulate.study = lambda *names: study_of(info, *names, out=info.parents[1])
    simulate.info = info
    return simulate


def study_of(trace, *names, out):
    """The cells that the study writes."""
    words = [f"trace={trace}", f"platform={PLATFORM}", f"scenarios={','.join(names)}", "sampling=full"]
    values = read_words("scenarios", scenarios.scenarios, words, out)
    return run_study(scenarios.scenarios, Run(out), values)[0]


def test_a_scenario_that_ends_early_is_a_row_and_the_others_go_on(world, tmp_path):
    found = world.study("thp-always", "memory-short", "thp-never").set_index("name")
    assert list(found.index) == ["thp-always", "memory-short", "thp-never", "growing-0", "growing-8"]
    assert found["status"].tolist() == ["ok", "failed", "failed", "ok", "ok"]
    assert "os/out-of-memory" in found.loc["memory-short", "message"]
    assert found.loc["thp-never", "message"] == "LOG-3"
    assert found.loc[["memory-short", "thp-never"], "stlb_misses"].isna().all()
    assert world.asked == [("log", ["thp-always", "thp-never"]), ("layout", ["growing-0", "growing-8"])]
    (one,) = failures(tmp_path, reserve=False)
    assert one.path == ResultsTree(tmp_path).scenarios("made", "cells") and len(one.beside) == 5
    assert all(path.exists() for path in one.beside)


def test_a_cell_has_what_its_log_says(world, tmp_path):
    found = world.study("thp-always").set_index("name")
    row = found.loc["thp-always"]
    counts = ["faults", "major_faults", "swapped_out_pages", "areas"]
    assert row[counts].tolist() == [6, 4, 11, 1]
    assert row["most_2mb_bytes"] == 2 * 2**21
    assert row["most_mapped_bytes"] == 4096 + 2 * 2**21  # at the end; before: 3 pages and one of 2MB
    assert found.loc["growing-8", counts].isna().all() and set(found["provenance"]) == {"simulated"}
    for name, table in OF_LOG.items():
        written = read_tree_table(table, ResultsTree(tmp_path), "made")
        assert len(written) == SHOWN[name].count("\n") - 1 and set(written["scenario"]) == {"thp-always"}


def test_a_failed_recording_or_a_dead_simulator_is_in_every_row(world, tmp_path):
    world.refuses = True
    found = world.study("thp-always")
    assert (
        found["status"].tolist() == ["ok", "failed", "failed"] and found["message"].iloc[1].count("-9") == 1
    )
    world.info.write_text(json.dumps({"workload": "made", "status": "failed", "message": "RECORDING-5"}))
    found = world.study("thp-always", "thp-never")
    assert found["name"].tolist() == ["thp-always", "thp-never"]
    assert found["message"].str.contains("RECORDING-5").all()
    assert len(read_tree_table(SCENARIO_SIZES, ResultsTree(tmp_path), "made")) == 0
    reasons = {one.path: one.reason for one in failures(tmp_path, reserve=False)}
    assert "RECORDING-5" in reasons[ResultsTree(tmp_path).scenario_recording("made")] and len(reasons) == 2


def test_wrong_names_end_the_study(world):
    with pytest.raises(TesseraError, match="thp-alway"):
        world.study("thp-alway")
    with pytest.raises(TesseraError, match="thp-always"):
        world.study("thp-always", "thp-never", "thp-always")


# -- with the imitation and the simulator

NEEDED = (("imitation", "tessera-os"), ("simulator", "tessera-sim"), ("tracer", "tessera-trace"))


@pytest.fixture(scope="module")
def phases(root):
    for component, name in NEEDED:
        if not (build_dir(component) / name).exists():
            pytest.skip(f"build/{component}/{name} is missing: ./run tessera dev build {component}")
    return root / "tests" / "traces" / "examples" / "phases.tst"


@pytest.mark.toolchain
def test_the_command_writes_every_table_and_again_the_same(phases, tmp_path):
    from tessera.record import traces

    words = [f"trace={phases}", "platform=haswell-sim", "scenarios=thp-never,pressure-thp", "sampling=full"]
    for name in ("one", "two"):
        done = lab_run("scenarios", *words, out=tmp_path / name)
        assert done.exit_code == 0 and "thp-never" in done.output, done.output
    files = sorted(path.name for path in (tmp_path / "one").glob("*.csv"))
    assert files == sorted(table.file for table in (SCENARIO_CELLS, *OF_LOG.values()))
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    found = read_file(SCENARIO_CELLS, tmp_path / "one" / "cells.csv").set_index("name")
    assert list(found.index) == ["thp-never", "pressure-thp", "growing-0", "growing-8"]
    info = traces.trace_info(phases)
    for count in ("accesses", "instructions"):
        assert set(found[count]) == {info[count]}
    # A walk behind each fault finds the page, so there are at least as many as under a layout.
    assert found.loc["thp-never", "stlb_misses"] >= found.loc["growing-0", "stlb_misses"]
    assert found.loc["pressure-thp", "swapped_out_pages"] > 0 == found.loc["thp-never", "swapped_out_pages"]
    kinds = read_file(SCENARIO_FAULTS, tmp_path / "one" / "faults.csv")
    assert kinds.groupby("scenario")["faults"].sum().to_dict() == found["faults"].dropna().to_dict()


@pytest.mark.toolchain
def test_the_pages_that_fault_are_those_that_the_trace_touches(phases, tmp_path):
    """Pages of 4KB only: an independent list of first touches has the same pages."""
    from tessera.core import scenarios
    from tessera.record import traces

    log, listed = tmp_path / "thp-never.oslog", tmp_path / "touches.csv"
    operating_system.run_scenario(phases, scenarios.load_scenario("thp-never"), log)
    faults = pd.read_csv(io.StringIO(operating_system.show_log(log, "faults")))
    traces.write_touches(phases, listed)
    touched = pd.read_csv(listed)
    pools = faults[faults["pool"].isin(["brk", "mmap"])]
    assert set(zip(pools["pool"], pools["page"], strict=True)) == set(
        zip(touched["pool"], touched["page"], strict=True)
    )


PROGRAM = r"""
#include <sys/mman.h>
int main() {
  const int rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  volatile char* a = (volatile char*)mmap(0, (STORED + LOADED) * 4096L, rw, anonymous, -1, 0);
  for (long i = 0; i < STORED; ++i) a[i * 4096] = 1;
  volatile char* b = a + STORED * 4096L;
  char sum = 0;
  for (long i = 0; i < LOADED; ++i) sum += b[i * 4096];
  for (long i = 0; i < COPIED; ++i) b[i * 4096] = 1;
  return sum;
}
"""


@pytest.mark.toolchain
def test_faults_of_a_first_touch_are_counted_by_hand(phases, tmp_path):
    """N stores to untouched pages are N faults of 4KB, or N / 512 of 2MB; a load and then a store are two."""
    from tessera.lab.studies.scenario_recording import WHOLE
    from tessera.machine.container import RunOptions, toolchain
    from tessera.record import traces

    if not (build_dir("mosalloc") / "libmosalloc-events.so").exists():
        pytest.skip("mosalloc is not built: ./run tessera dev build mosalloc")
    source = tmp_path / "touch.c"
    source.write_text(PROGRAM)
    kinds = {}
    for name, (stored, loaded, copied) in {"few": (512, 512, 0), "many": (4096, 1024, 200)}.items():
        program = tmp_path / name
        numbers = [f"-DSTORED={stored}", f"-DLOADED={loaded}", f"-DCOPIED={copied}"]
        argv = ["g++", "-x", "c++", "-O1", "-march=x86-64-v3", *numbers, str(source), "-o", str(program)]
        toolchain().run(argv, options=RunOptions(writes=(tmp_path,)))
        traces.record_program(
            [program], tmp_path / f"{name}.tst", anon_pool="64MB", paths=[tmp_path], **WHOLE
        )
        out = tmp_path / f"{name}-study"
        done = study_of(tmp_path / f"{name}.tst", "thp-never", "thp-always", out=out)
        assert set(done["status"]) == {"ok"}, list(done["message"])
        rows = read_file(SCENARIO_FAULTS, out / "faults.csv")
        kinds[name] = rows.set_index(["scenario", "kind", "page_size"])["faults"]
    more = kinds["many"].sub(kinds["few"], fill_value=0)
    assert more["thp-never", "page", "4KB"] == 4096 - 512
    assert more["thp-never", "zero", "4KB"] == 1024 - 512
    assert more["thp-never", "copy", "4KB"] == 200
    assert more["thp-always", "page", "2MB"] == (4096 - 512) / 512
