"""A recorded program under placements: cells of the closed form, failed recordings, the commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.results.kernel_tables import PROGRAMS
from tessera.core.results.table_io import read_file
from tessera.lab.numa import placement_study
from tessera.lab.numa import program_study as programs
from tessera.lab.numa.placement_costs import published_machine
from tessera.lab.numa.placement_study import placement_cases
from tessera.lab.numa.program_study import placements_of_program
from tessera.lab.study import Recording, Run
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import FULL
from tests.synthetic import placements as made

MB = 1 << 20
HEADER = {
    "accesses": 5000,
    "program": "btree",
    "pools": [
        {"kind": "brk", "used_bytes": 100, "size_bytes": 4 * MB},
        {"kind": "mmap", "used_bytes": 5 * MB, "size_bytes": 8 * MB},
    ],
}


@pytest.fixture
def info(tmp_path):
    """Writes info.json of a recording."""

    def write(**changes) -> Path:
        about = {"rows": {"mitosis": "BTree"}, "footprint_bytes": 5 * MB}
        path = tmp_path / "info.json"
        said = {"workload": "mitosis-btree", "status": "ok", "message": "", "size": "scaled", "about": about}
        path.write_text(json.dumps(said | changes))
        return path

    return write


@pytest.fixture
def asked(monkeypatch):
    """Cells of the closed form in place of the simulator; what it was asked for."""
    seen: dict = {}

    def simulate_all(trace, platforms, layouts, *, workload, **options):
        seen.update(options, platforms=platforms, layouts={path.stem: path.read_text() for path in layouts})
        return [
            [made.cell(case, path.stem) | {"workload": workload} for path in layouts]
            for case in placement_cases(published_machine())
        ]

    monkeypatch.setattr(placement_study, "simulate_all", simulate_all)
    monkeypatch.setattr(programs.traces, "trace_info", lambda path: HEADER)
    return seen


def simulated(info: Path, scale: float = 14):
    run, trace = Run(info.with_name("out.csv")), Recording(info)
    return placements_of_program.function(run, trace, CellCache(None), scale=scale, sampling=FULL)


def test_the_table_has_scale_program_and_loads_by_memory(info, asked):
    rows = simulated(info())
    assert len(rows) == 2 * 17 and set(rows["status"]) == {"ok"}
    same = rows[["workload", "program", "platform", "scale", "size", "footprint_bytes", "accesses"]]
    assert [tuple(row) for row in same.drop_duplicates().itertuples(index=False)] == [
        ("mitosis-btree", "BTree", "haswell-4s-sim-by-14", 14, "scaled", 5 * MB, 5000)
    ]
    remote = rows[(rows["configuration"] == "RP-RD") & (rows["page_size"] == "4KB")].iloc[0]
    loads = ["walker_dram_local", "walker_dram_remote", "program_dram_local", "program_dram_remote"]
    assert list(remote[loads]) == [0, 1000, 0, 2000]
    assert remote["walk_cycles"] == remote["formula_walk_cycles"] == 100_000 + 1000 * 580
    assert remote["runtime_ratio"] == pytest.approx((680_000 + 580_000 + 100_000) / 760_000)


def test_every_placement_runs_on_the_scaled_machine_with_the_used_parts_of_pools(info, asked):
    simulated(info())
    assert len(asked["platforms"]) == 17
    for one in asked["platforms"]:
        assert one.values["cache.l3.bytes"].value == 5 * MB // 2
        assert one.values["tlb.stlb.entries"].value == 72 and one.values["numa.nodes"].value == 2
    head = "type,pageSize,startOffset,endOffset\nbrk,-1,0,4194304\nmmap,-1,0,8388608\n"
    assert asked["layouts"] == {
        "4kb": head,
        "2mb": head + "brk,2097152,0,2097152\nmmap,2097152,0,6291456\n",
    }


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_a_recording_that_is_missing_is_one_row_with_its_reason(info, asked, status):
    rows = simulated(info(status=status, message="NO-MEMORY-3"))
    assert list(rows["status"]) == [status] and list(rows["message"]) == ["NO-MEMORY-3"]
    assert list(rows["program"]) == ["BTree"] and not asked


def test_the_commands_print_ratios_and_verdicts(info, asked, folder, tmp_path):
    about = {"rows": {"mitosis": "GUPS"}, "footprint_bytes": 4 << 30}
    out, bars = tmp_path / "gups.csv", tmp_path / "bars.csv"
    words = ["lab", "run", "numa-program", f"trace={info(about=about)}", "scale=16", "--out", str(out)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0 and f"34 rows -> {out}" in done.output, done.output
    assert len(read_file(PROGRAMS, out)) == 34
    words = ["lab", "run", "numa-judge", f"programs={out}", f"source={folder()}", "--out", str(bars)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert "7 HOLDS-IN-SIMULATION, 0 FAILS-IN-SIMULATION, 7 listed" in done.output
    assert len(bars.read_text().splitlines()) == 15


def test_a_scale_without_a_machine_is_refused_before_any_simulation(info, asked):
    with pytest.raises(TesseraError) as refused:
        simulated(info(), scale=99)
    assert refused.value.code == "numa-scale-l3" and "99" in str(refused.value) and not asked
