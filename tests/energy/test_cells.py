"""E8 and E9 on cells by hand: joules, limits, which mosaic needs least, and the tables."""

from __future__ import annotations

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.lab.study import run_command
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.study_tables import ENERGY, SAVINGS
from tessera.core.results.table_io import CELL_COLUMNS, read_file
from tessera.lab.energy import cell_energy, power
from tessera.lab.energy.sourced_values import Leaf

HZ = {"haswell-sim": 2.1e9}


def cell(layout, runtime, l1d=100, l2=40, l3=20, dram=10, walker=4, **more):
    row = dict.fromkeys(CELL_COLUMNS) | {
        "workload": "w", "platform": "haswell-sim", "layout": layout, "repeat": 0, "status": "ok",
        "runtime_cycles": runtime, "instructions": 1000, "accesses": 300, "stlb_misses": 5,
        "runtime_provenance": "simulated", "tlb_provenance": "simulated", "engine": "timing",
    }  # fmt: skip
    loads = {"l1d": l1d, "l2": l2, "l3": l3, "dram": dram}
    row |= {f"program_{level}_loads": count for level, count in loads.items()}
    return row | {f"walker_{level}_loads": walker for level in loads} | more


def table(*rows):
    return pd.DataFrame(rows, columns=list(CELL_COLUMNS))


def constants(static=2.0, instruction=0.0, l1d=0.0, l2=0.0, l3=0.0, dram=0.0):
    numbers = (static, instruction, l1d, l2, l3, dram)
    values = {key: Leaf(value, "test") for key, value in zip(power.KEYS, numbers, strict=True)}
    return power.Power("made", "", values)


def test_joules_by_hand():
    """R/f = 1 s: 2 W, 1000 instructions of 0.5 J, and 104, 44, 24, 14 loads of 1, 2, 3, 4 J."""
    counts = cell_energy.events(table(cell("growing-0", 2_100_000_000)), HZ)
    assert counts.tolist() == [[1.0, 1000, 104, 44, 24, 14]]
    joules, share = cell_energy.energies(counts, constants(2, 0.5, 1, 2, 3, 4))
    assert joules.tolist() == [2 + 500 + 104 + 88 + 72 + 56] and share.tolist() == [2 / 822]


def test_loads_are_those_of_the_cells():
    rows = table(cell("growing-0", 9), cell("growing-8", 7, l1d=7, dram=1, walker=0))
    counts = cell_energy.events(rows, HZ)
    for column, level in enumerate(power.LEVELS, start=2):
        both = rows[f"program_{level}_loads"] + rows[f"walker_{level}_loads"]
        assert counts[:, column].tolist() == both.tolist()


def rows_of(*found, sets=None):
    return cell_energy.pair_rows("w", "haswell-sim", table(*found), sets or [constants()], HZ)


def test_without_dynamic_energy_e9_is_exact():
    (row,) = rows_of(cell("growing-0", 1000), cell("growing-8", 730, dram=3))
    assert row["energy_saved_2mb"] == row["runtime_saved_2mb"] == pytest.approx(0.27)
    assert row["ratio_2mb"] == 1 and row["static_share"] == 1


def test_e9_also_holds_if_the_dynamic_part_scales_alike():
    """Loads and instructions fall with R: the second case of the closed form (h)."""
    half = cell("growing-8", 500, l1d=50, l2=20, l3=10, dram=5, walker=2, instructions=500)
    (row,) = rows_of(cell("growing-0", 1000), half, sets=[constants(2, 0.5, 1, 2, 3, 4)])
    assert row["ratio_2mb"] == pytest.approx(1)


def test_a_constant_dynamic_part_saves_the_static_share():
    """Equal instructions and loads: dE/E over dR/R is the static share of the 4KB run."""
    pair = cell("growing-0", 2.1e9), cell("growing-8", 1.05e9)
    (row,) = rows_of(*pair, sets=[constants(2, 0.002)])
    assert row["static_share"] == pytest.approx(0.5)
    assert row["ratio_2mb"] == pytest.approx(0.5)


def test_the_fastest_mosaic_may_not_need_least():
    """growing-4 is fastest by 1%, and growing-8 has half of its DRAM loads."""
    rows = [
        cell("growing-0", 1000, dram=40),
        cell("growing-4", 800, dram=40),
        cell("growing-8", 808, dram=16),
    ]
    sets = [constants(), constants(2, dram=2e-8)]
    static, dynamic = rows_of(*rows, cell("1gb", 1, dram=0), sets=sets)
    assert static["fastest_layout"] == static["least_energy_layout"] == "growing-4"
    assert static["fastest_needs_least"] and static["reversed_share"] == 0
    assert dynamic["fastest_layout"] == "growing-4" and dynamic["least_energy_layout"] == "growing-8"
    assert not dynamic["fastest_needs_least"] and dynamic["reversed_share"] == pytest.approx(1 / 3)
    found = cell_energy.sentences(pd.DataFrame([dynamic | {"constants": power.BASELINE}]))
    more = 100 * dynamic["excess_of_fastest"]
    assert any(
        f"growing-4 is fastest, and needs {more:.2f}% more energy than growing-8" in line for line in found
    )


def test_a_pair_without_its_anchors_has_no_rows():
    assert rows_of(cell("growing-0", 10)) == []


def write_cells(folder, *rows):
    path = folder / "cells.csv"
    table(*rows).to_csv(path, index=False)
    return path


def test_the_command_writes_both_tables(tmp_path):
    rows = [cell("growing-0", 1000), cell("growing-8", 700), cell("growing-3", None, status="failed")]
    done = CliRunner().invoke(
        run_command,
        ["energy", f"cells={write_cells(tmp_path, *rows)}", "--out", str(tmp_path / "energy")],
        catch_exceptions=False,
    )
    assert done.exit_code == 0 and "static only" in done.output
    joules = read_file(ENERGY, tmp_path / "energy" / "energy.csv")
    assert joules["layout"].tolist() == ["growing-0", "growing-8"] and (joules["energy_j"] > 0).all()
    saved = read_file(SAVINGS, tmp_path / "energy" / "savings.csv")
    assert saved["constants"].tolist() == [
        one.name for one in power.swept_power(power.read_power(power.default_power_file()))
    ]
    limit = saved.set_index("constants").loc["static only"]
    assert limit["energy_saved_2mb"] == pytest.approx(0.3, rel=1e-12)


def test_real_runs_and_failed_cells_are_left_out(tmp_path):
    rows = [cell("growing-0", None, runtime_ns=5.0), cell("growing-8", None, status="failed")]
    found = cell_energy.energy_table(table(*rows), constants())
    assert tuple(found.columns) == ENERGY.names and found.empty
    assert cell_energy.savings_of_cells(table(*rows), constants()).empty
    assert cell_energy.sentences(cell_energy.savings_of_cells(table(*rows), constants())) == []


def test_frequency_of_a_detected_platform(tmp_path):
    text = (
        (repo_root() / "config" / "platforms" / "haswell-sim.yaml")
        .read_text()
        .replace("2100000000", "1900000000")
    )
    (tmp_path / "host-sim.yaml").write_text(text)
    assert cell_energy.frequency_of("host-sim", tmp_path) == 1.9e9
    assert cell_energy.frequency_of("haswell-sim", tmp_path) == 2.1e9
    with pytest.raises(TesseraError, match="host-sim"):
        cell_energy.frequency_of("host-sim")


def test_cells_without_loads_by_level():
    with pytest.raises(TesseraError, match="walker_dram_loads"):
        cell_energy.usable_cells(table(cell("growing-0", 1)).drop(columns="walker_dram_loads"))
