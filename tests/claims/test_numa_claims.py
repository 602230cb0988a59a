"""Claims about placements hold in the world of the closed form and fail where the paper would be wrong."""

from __future__ import annotations

import pytest
import yaml

from tessera.core.results.kernel_tables import FRAGMENTED, MAPS, PLACEMENTS
from tessera.report.claims import judged_claims
from tests.synthetic import placements as made
from tests.synthetic.tables import put

HOLDS, FAILS = "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION"


@pytest.fixture
def verdict(tmp_path, claim_entries):
    """Verdict of a claim in a tree that has the study, and the tables of the guest that are given."""

    def judge(claim, guest=(), **options):
        put(tmp_path / "results", PLACEMENTS, made.table(**options))
        for declared, table in guest:
            put(tmp_path / "results", declared, table)
        entries = {"claims": [entry for entry in claim_entries if entry["id"] == claim]}
        (tmp_path / "claims.yaml").write_text(yaml.safe_dump(entries, sort_keys=False))
        return judged_claims(tmp_path / "results", tmp_path / "claims.yaml").iloc[0]

    return judge


def scaled(name: str, column: str, factor: float, layout: str = "4kb"):
    """One configuration's number, times a factor."""

    def change(case, of_layout, cell):
        wanted = (case.where.name, of_layout) == (name, layout)
        return cell | ({column: cell[column] * factor} if wanted else {})

    return change


def by_hog(values: dict[int, float]):
    """Runtimes of RPI-LD by lines of the hog; others stay."""

    def change(case, layout, cell):
        wanted = case.where.name == "RPI-LD" and layout == "4kb"
        return cell | ({"runtime_cycles": 760_000 * values[round(case.lines)]} if wanted else {})

    return change


@pytest.mark.parametrize(
    ("claim", "change", "name"),
    [
        # R(LP-LD) = 760,000; RPI-LD / LP-LD = 2.32, RPI-RDI / LP-LD = 3.63
        ("mitosis-migration-speedup", scaled("LP-LD", "runtime_cycles", 1), HOLDS),
        ("mitosis-migration-speedup", scaled("RPI-LD", "runtime_cycles", 2.11 / 2.316), FAILS),
        ("mitosis-migration-speedup", scaled("RPI-LD", "runtime_cycles", 4.37 / 2.316), FAILS),
        ("mitosis-migration-speedup", by_hog({70: 1, 140: 3.2, 187: 9, 280: 9}), HOLDS),
        ("mitosis-remote-tables-slowdown", scaled("LP-LD", "runtime_cycles", 1), HOLDS),
        ("mitosis-remote-tables-slowdown", scaled("RP-LD", "runtime_cycles", 9), FAILS),
        ("mitosis-all-remote-slowdown", scaled("LP-LD", "runtime_cycles", 1), HOLDS),
        ("mitosis-all-remote-slowdown", scaled("RPI-RDI", "runtime_cycles", 0.5), FAILS),
        ("mitosis-local-fastest", scaled("LP-LD", "runtime_cycles", 1), HOLDS),
        ("mitosis-local-fastest", scaled("RP-LD", "runtime_cycles", 0.5), FAILS),
        ("mitosis-all-remote-slowest", scaled("LP-LD", "runtime_cycles", 1), HOLDS),
        ("mitosis-all-remote-slowest", scaled("LP-RD", "runtime_cycles", 9), FAILS),
        ("mitosis-gups-2mb-walks", scaled("LP-LD", "stlb_misses", 1, "2mb"), HOLDS),
        ("mitosis-gups-2mb-walks", scaled("LP-LD", "stlb_misses", 0.89, "2mb"), FAILS),
        ("mitosis-gups-2mb-no-difference", scaled("LP-LD", "runtime_cycles", 1), HOLDS),
        ("mitosis-gups-2mb-no-difference", scaled("RPI-LD", "runtime_cycles", 1.06, "2mb"), FAILS),
        ("tessera-numa-formula", scaled("LP-LD", "runtime_cycles", 1), "PASS"),
        ("tessera-numa-formula", scaled("RP-RD", "walk_cycles", 1.0001), "FAIL"),
    ],
)
def test_claims_can_hold_and_fail(verdict, claim, change, name):
    row = verdict(claim, change=change)
    assert row["verdict"] == name, row["reason"]
    assert row["provenance"] == "simulated"


def test_an_effect_whose_interval_reaches_1_is_none(verdict):
    def wide(case, layout, cell):
        return cell | {"runtime_cycles_ci95": cell["runtime_cycles"]}

    row = verdict("mitosis-migration-speedup", change=wide)
    assert row["verdict"] == FAILS and float(row["obtained"]) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"gb": 1},
        {"change": lambda case, layout, cell: cell | {"status": "failed", "message": "x"}},
        {"change": lambda case, layout, cell: cell | {"runtime_cycles": ""}},
    ],
)
def test_other_sizes_failures_and_missing_runtimes_decide_nothing(verdict, options):
    row = verdict("mitosis-migration-speedup", **options)
    assert row["verdict"] == "NOT-MEASURABLE-HERE"


@pytest.mark.parametrize(
    ("claim", "table", "name", "obtained"),
    [
        ("tessera-numa-guest-maps", (MAPS, made.maps(0)), "PASS", 0),
        ("tessera-numa-guest-maps", (MAPS, made.maps(1)), "FAIL", 1),
        ("tessera-numa-fragmented-bound", (FRAGMENTED, made.fragmented(0.25, 64 << 20)), "PASS", 1),
        ("tessera-numa-fragmented-bound", (FRAGMENTED, made.fragmented(0.25, 60 << 20)), "FAIL", 64 / 60),
        # 4KB pages: 760,000 cycles, and 1,760,000 with remote tables and the hog; 2MB pages: 480,000
        ("mitosis-fragmented-speedup", (FRAGMENTED, made.fragmented(0.25)), HOLDS, 1440 / 690),
        ("mitosis-fragmented-speedup", (FRAGMENTED, made.fragmented(0.9)), FAILS, 608 / 508),
    ],
)
def test_claims_of_the_guest_can_hold_and_fail(verdict, claim, table, name, obtained):
    declared, rows = table
    if declared is FRAGMENTED:  # a run that failed decides nothing
        rows = rows[rows["status"] == "ok"]
    row = verdict(claim, guest=[(declared, rows)])
    assert row["verdict"] == name, row["reason"]
    assert float(row["obtained"]) == pytest.approx(obtained, rel=1e-5)
    assert row["provenance"] == ("simulated" if claim.startswith("mitosis") else "measured")


@pytest.mark.parametrize("claim", ["tessera-numa-fragmented-bound", "mitosis-fragmented-speedup"])
def test_a_run_that_failed_is_named(verdict, claim):
    row = verdict(claim, guest=[(FRAGMENTED, made.fragmented())])
    assert row["verdict"] == "NOT-MEASURABLE-HERE" and "GUEST-3" in row["reason"]


@pytest.mark.parametrize("claim", ["tessera-numa-guest-maps", "mitosis-fragmented-speedup"])
def test_without_the_guest_nothing_is_decided(verdict, claim):
    row = verdict(claim)
    assert row["verdict"] == "NOT-MEASURABLE-HERE" and "snakemake --cores all kernel" in row["reason"]
