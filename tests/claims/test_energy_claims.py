"""Claims about threads and energy: findings that hold in one world and fail in another; printed claims.

In the synthetic tree R = 1000 + 2 C, so R / f is about a microsecond, and 5 W need microjoules; 1e6
instructions need a millijoule. Worlds change instructions and loads.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import yaml

from tessera.core.results.loader import Pair
from tessera.lab.energy import guz_model
from tessera.report.claims import judged_claims
from tessera.report.claims.claim import Missing
from tessera.report.evaluators import energy

SAME, LEAST = "opera-energy-same-percentage", "opera-energy-fastest-needs-least"
LOADS = [f"{side}_{level}_loads" for side in ("program", "walker") for level in ("l1d", "l2", "l3", "dram")]


@pytest.fixture
def verdict(make_tree, tmp_path, claim_entries):
    """Verdict of a claim in a changed tree."""

    def judge(claim, change):
        tree = make_tree(tmp_path / "results")
        tree.cells["instructions"] = 0.0
        tree.cells[LOADS] = 0.0
        change(tree.cells)
        entries = {"claims": [entry for entry in claim_entries if entry["id"] == claim]}
        (tmp_path / "claims.yaml").write_text(yaml.safe_dump(entries, sort_keys=False))
        return judged_claims(tree.write(), tmp_path / "claims.yaml").iloc[0]

    return judge


def nothing(cells):
    """No instruction and no load: energy is static."""


def instructions(cells):
    cells["instructions"] = 1e6


def more_loads(cells):
    """The fastest layout reads memory far more than one that is slower by 1 part in 1000."""
    cells.loc[cells["layout"] == "growing-8", "program_dram_loads"] = 1e4


@pytest.mark.parametrize(
    ("claim", "change", "name"),
    [
        (SAME, nothing, "HOLDS-IN-SIMULATION"),
        (SAME, instructions, "FAILS-IN-SIMULATION"),
        (LEAST, nothing, "HOLDS-IN-SIMULATION"),
        (LEAST, more_loads, "FAILS-IN-SIMULATION"),
    ],
)
def test_findings_can_hold_and_fail(verdict, claim, change, name):
    row = verdict(claim, change)
    assert row["verdict"] == name and row["provenance"] == "simulated"


def test_cells_without_loads_decide_nothing(verdict):
    def lost(cells):
        cells["walker_dram_loads"] = None

    row = verdict(SAME, lost)
    assert row["verdict"] == "NOT-MEASURABLE-HERE"


def test_cells_of_a_platform_without_a_file_decide_nothing():
    """Measured cells have no loads by level; their platform (class and machine) is no file of ours."""

    class Measured:
        def samples(self, pair):
            rows = pd.DataFrame({"layout": ["growing-0", "growing-8"], "runtime_cycles": [2.0, 1.0]})
            return rows.assign(instructions=1.0, **dict.fromkeys(LOADS)).set_index("layout")

        def once(self, key, make):
            return make()

    with pytest.raises(Missing, match="haswell-1234abcd"):
        energy._energy_rows(Measured(), Pair("gups-8gb", "haswell-1234abcd"), [])


KEYS = ("quantity", "item")


def table(**values):
    rows = [(name, "x", value) for name, value in values.items()]
    return {"opera_table7": (KEYS, rows)}


@pytest.mark.parametrize(
    ("claim", "values", "name"),
    [
        ("opera-threads-available", {"sockets": 2, "cores_per_socket": 12, "threads_per_core": 2,
                                     "threads_available": 48}, "CONSISTENT"),
        ("opera-threads-available", {"sockets": 2, "cores_per_socket": 12, "threads_per_core": 2,
                                     "threads_available": 24}, "CONTRADICTED"),
        ("opera-threads-one-processor", {"cores_per_socket": 12, "threads_per_core": 1, "threads_used": 24},
         "CONTRADICTED"),
        ("opera-threads-listed-once", {"listed": 1}, "CONSISTENT"),
        ("opera-threads-two-reasons", {"threads_used": 24, "llc": 30, "guz_llc": 4,
                                       "guz_threads_magnitude": 100}, "CONSISTENT"),
        ("opera-threads-two-reasons", {"threads_used": 24, "llc": 4, "guz_llc": 30,
                                       "guz_threads_magnitude": 100}, "CONTRADICTED"),
    ],
)  # fmt: skip
def test_printed_claims(judge_printed, claim, values, name):
    assert judge_printed(claim, table(**values))[0] == name


def test_rules_of_the_model_can_fail():
    """Outside of their conditions the same evaluators give values that break the rules."""
    assert energy.threads_deepest_fall(None, None, 100, 1, [3.0, 8.0]).value > 0.1
    behind = guz_model.load_machine("guz-4mb").changed(
        "test", locality_bytes=8.0 * 2**20
    )  # one thread is behind the peak
    n = np.arange(1, 201)
    depths = [guz_model.deepest_fall(guz_model.scaled_cache(behind, factor), n) for factor in (1, 7.5)]
    assert depths[0] == 0 and depths[1] > 0.4


@pytest.mark.parametrize("claim", ["opera-threads-same-rate", "opera-energy-measured"])
def test_what_needs_rapl_names_the_command(verdict, claim):
    row = verdict(claim, nothing)
    assert row["verdict"] == "NOT-MEASURABLE-HERE" and "tessera lab threads measure" in row["reason"]
