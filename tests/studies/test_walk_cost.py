"""The cost of a walk: evidence and its rules, both ends, and claims that depend on the value."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest
import yaml

from tessera.core import platforms, reference
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.cell_tables import CELLS
from tessera.core.results.report_tables import CLAIMS
from tessera.core.results.table_io import frame_of, write_table
from tessera.lab import walk_cost
from tessera.lab.study import Run
from tessera.lab.walk_cost import ends
from tessera.report.claims import VERDICTS, load_claims

from .builders import lab_run

HEADER = ",".join(walk_cost.EVIDENCE_COLUMNS)
GOOD = "A manual,A processor,It says so.,5,9,true,It measures this."


# ---------------------------------------------------------------- the committed evidence


def test_no_source_decides_so_there_are_two_ends():
    found = walk_cost.sources()
    assert found and walk_cost.deciding(found) == ()
    assert walk_cost.LOWER_CYCLES < walk_cost.UPPER_CYCLES


def test_the_ends_are_those_of_the_configurations():
    config = yaml.safe_load((repo_root() / "config" / "walk-cost.yaml").read_text())
    assert config["changes"] == {walk_cost.KEY: walk_cost.UPPER_CYCLES}
    for name in config["platforms"]:
        assert platforms.load_platform(name).values[walk_cost.KEY].value == walk_cost.LOWER_CYCLES
    (chase,) = [one for one in walk_cost.sources() if "chase" in one.source]
    assert chase.cycles_high == pytest.approx(29.0 - 7.3)
    assert math.ceil(chase.cycles_high) == walk_cost.UPPER_CYCLES


def test_the_residues_of_the_printed_counters():
    """Cycles that the loads leave, if one pays for all levels that it reaches, or only for the last."""
    where = {"page_size": "4KB"}
    table = reference.select_published("table7_xalancbmk", where).set_index(["counter", "agent"])["value"]
    latency = {"l1d": 4, "l2": 12, "l3": 34}  # OPERA D5.10 Table 5
    reach = [table[f"{level}_loads", "walker"] for level in latency] + [0.0]
    every = sum(count * cycles for count, cycles in zip(reach, latency.values(), strict=False))
    served = [above - below for above, below in zip(reach, reach[1:], strict=False)]
    last = sum(count * cycles for count, cycles in zip(served, latency.values(), strict=True))
    walks, misses = table["walk_cycles", "program"], table["tlb_misses", "program"]
    residues = [(walks - loads) / misses for loads in (every, last)]
    (micro,) = [one for one in walk_cost.sources() if one.source.startswith("MICRO'20")]
    assert residues == pytest.approx([7.4, 16.6])
    assert [micro.cycles_low, micro.cycles_high] == pytest.approx(residues)
    (opera,) = [one for one in walk_cost.sources() if one.source.startswith("OPERA")]
    assert opera.cycles_low == opera.cycles_high == pytest.approx(residues[0])


# ---------------------------------------------------------------- reader of the evidence


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (GOOD, ""),
        ("A manual,A processor,It says so.,,,false,It has no number.", ""),
        ("MICRO'20 Table 7,A processor,It says so.,7,9,false,Its own claims.", ""),
        ("MICRO'20 Table 7,A processor,It says so.,7,9,true,Its own claims.", "MICRO'20 Table 7"),
        ("OPERA D5.10,A processor,It says so.,7,9,true,Its own claims.", "OPERA D5.10"),
        ("A manual,A processor,It says so.,,9,true,One bound.", "cycles_low"),
        ("A manual,A processor,It says so.,9,5,true,Swapped.", "9 .*5"),
        ("A manual,A processor,It says so.,5,5,true,Equal.", ""),
        ("A manual,A processor,It says so.,-1,5,true,Negative.", "'-1'"),
        ("A manual,A processor,It says so.,few,5,true,A word.", "'few'"),
        ("A manual,A processor,It says so.,nan,5,true,Not a number.", "'nan'"),
        ("A manual,A processor,It says so.,5,9,yes,A word.", "'yes'"),
        ("A manual,,It says so.,5,9,true,No processor.", "processor"),
        ("A manual,A processor,It says so.,5,9,true", "7"),
        (GOOD + ",more", "7"),
    ],
)
def test_evidence_that_breaks_a_rule_is_refused(tmp_path, row, code):
    path = tmp_path / "evidence.csv"
    path.write_text(f"{HEADER}\n{row}\n")
    if not code:
        assert len(walk_cost.sources(path)) == 1
        return
    with pytest.raises(TesseraError, match=code) as error:
        walk_cost.sources(path)
    assert "line 2" in error.value.asked


def test_a_source_that_may_decide_is_found(tmp_path):
    path = tmp_path / "evidence.csv"
    path.write_text(f"{HEADER}\n{GOOD}\n")
    (one,) = walk_cost.deciding(walk_cost.sources(path))
    assert (one.cycles_low, one.cycles_high) == (5, 9)
    path.write_text("source,cycles\n")
    with pytest.raises(TesseraError, match="may_decide"):
        walk_cost.sources(path)


# ---------------------------------------------------------------- committed verdicts


def test_the_committed_verdicts_are_those_of_known_claims():
    known = {claim.id for claim in load_claims(repo_root() / "config" / "claims.yaml")}
    for one in walk_cost.committed():
        assert one.id in known and {one.verdict_lower, one.verdict_upper} <= set(VERDICTS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1"),
        ("id,verdict\n", "line 1"),
        ("a,HOLDS,\n", "line 2"),
        ("a,HOLDS,FAILS,1,2\na,HOLDS,HOLDS,1,1\n", "line 3.*'a'"),
        (",HOLDS,FAILS,1,2\n", "line 2"),
    ],
)
def test_a_broken_file_of_verdicts_is_refused(tmp_path, text, message):
    path = tmp_path / "verdicts.csv"
    path.write_text(text if message == "line 1" else ",".join(walk_cost.Ends._fields) + "\n" + text)
    with pytest.raises(TesseraError, match=message):
        walk_cost.read_verdicts(path)


# ---------------------------------------------------------------- the comparison


def claims(**provenance: str) -> pd.DataFrame:
    """A claims table; each claim holds, and obtained 1."""
    rows = [
        {"id": name, "provenance": kind, "verdict": "HOLDS-IN-SIMULATION", "obtained": "1"}
        for name, kind in provenance.items()
    ]
    return frame_of(CLAIMS, [dict.fromkeys(CLAIMS.names, "") | row for row in rows])


def test_only_simulated_claims_are_compared():
    lower = claims(same="simulated", flips="simulated", gone="simulated", study="simulated", clock="measured",
                   paper="published", never="")  # fmt: skip
    upper = lower.copy()
    upper.loc[upper["id"] == "flips", ["verdict", "obtained"]] = ["FAILS-IN-SIMULATION", "2"]
    upper.loc[upper["id"] == "gone", ["verdict", "obtained", "provenance"]] = ["NOT-MEASURABLE-HERE", "", ""]
    upper.loc[upper["id"] == "clock", "verdict"] = "DEVIATES"
    upper.loc[upper["id"] == "study", ["provenance", "reason"]] = [
        "",
        "studies/probes/probes.csv does not exist",
    ]
    found = {one.id: one for one in ends(lower, upper)}
    assert list(found) == ["same", "flips", "gone"]
    assert [one.differs for one in found.values()] == [False, True, True]
    assert found["flips"] == ("flips", "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION", "1", "2")


def test_runs_with_other_claims_are_refused():
    with pytest.raises(TesseraError, match="has b"):
        ends(claims(a="simulated", b="simulated"), claims(a="simulated"))
    with pytest.raises(TesseraError, match="order"):
        ends(claims(a="simulated", b="simulated"), claims(b="simulated", a="simulated"))


@pytest.fixture
def runs(tmp_path):
    """Two finished runs with one claim that differs, at the lower and at the upper end."""
    made = []
    for cycles, verdict in ((0, "HOLDS-IN-SIMULATION"), (walk_cost.UPPER_CYCLES, "FAILS-IN-SIMULATION")):
        root = tmp_path / f"end-{cycles}"
        (root / "provenance").mkdir(parents=True)
        config = {"changes": {walk_cost.KEY: cycles}} if cycles else {}
        (root / "provenance" / "config.json").write_text(json.dumps(config))
        write_table(
            CLAIMS, claims(one="simulated", two="simulated").assign(verdict=verdict), root / "claims.csv"
        )
        cell = {"platform": "haswell-sim", "layout": "growing-0", "repeat": 0, "status": "ok"}
        rows = [{"workload": name} | cell for name in ("gups", "pr")]
        rows += [{"workload": "gups"} | cell | {"platform": f"host-{cycles}"}]  # this machine is not compared
        write_table(CELLS, frame_of(CELLS, rows), root / "cells.csv")
        made.append(root)
    return made


def compare(lower, upper, out):
    return walk_cost.walk_cost.function(Run(out), lower, upper)


def test_the_file_is_what_the_reader_reads(runs, tmp_path):
    out = tmp_path / "verdicts.csv"
    shown = lab_run("walk-cost", f"lower={runs[0]}", f"upper={runs[1]}", out=out)
    assert shown.exit_code == 0 and "2 claims" in shown.output
    assert walk_cost.read_verdicts(out) == tuple(
        walk_cost.Ends(name, "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION", "1", "1")
        for name in ("one", "two")
    )


def test_swapped_or_unfinished_runs_are_refused(runs, tmp_path):
    lower, upper = runs
    for first, second in ((upper, lower), (lower, lower), (upper, upper)):
        with pytest.raises(TesseraError, match="walker.begin_cycles|none"):
            compare(first, second, tmp_path / "v.csv")
    (upper / "provenance" / "config.json").unlink()
    with pytest.raises(TesseraError, match="config.json"):
        compare(lower, upper, tmp_path / "v.csv")
    assert not (tmp_path / "v.csv").exists()


def test_a_failed_cell_is_no_cost_of_a_walk(runs, tmp_path):
    cells = pd.read_csv(runs[1] / "cells.csv")
    cells.loc[1, "status"] = "failed"
    cells.to_csv(runs[1] / "cells.csv", index=False)
    with pytest.raises(TesseraError, match="1 cells .*pr, haswell-sim, growing-0"):
        compare(*runs, tmp_path / "v.csv")
