"""Which passes and touches count, and what a damaged file of latencies is."""

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.os_tables import FAULT_COMB, FAULT_LATENCY, FAULT_PASSES
from tessera.core.results.table_io import frame_of
from tessera.lab.faults.kinds import KINDS, kind_named
from tessera.lab.faults.latencies import SERIES_HEAD, judged_series, read_cycles
from tessera.lab.faults.measured import comb_rows, latency_rows, pass_rows

HERTZ = 1e9  # so that 1 ms is a million cycles
FACT = {"minor_faults": 100, "huge_bytes": 0}


def one_pass(outside):
    cycles = np.full(100, 1000)
    cycles[:outside] = 1_000_001
    return cycles


def of(kind, rows, facts=None, warmup=0):
    return judged_series(kind_named(kind), np.array(rows), facts or [FACT] * len(rows), HERTZ, 50, warmup)


def test_a_pass_counts_with_5_in_100_from_outside_and_not_with_6():
    found = of("write-4kb", [one_pass(5), one_pass(6)])
    assert [bool(one.refused) for one in found.passes] == [False, True]
    assert len(found.passes[0].kept) == 95 and "6 of 100" in found.passes[1].refused


def test_exactly_1_ms_is_inside():
    cycles = np.full(100, 1_000_000)
    assert of("write-4kb", [cycles]).passes[0].outside.sum() == 0


def test_warm_up_passes_do_not_count():
    found = of("write-4kb", [one_pass(0)] * 3, warmup=2)
    assert [bool(one.refused) for one in found.passes] == [True, True, False]


@pytest.mark.parametrize(("kind", "faults", "counts"), [
    ("write-4kb", 99, False), ("write-4kb", 100, True), ("read-file", 7, True), ("touch-again", 0, True),
])  # fmt: skip
def test_kinds_whose_touches_fault_need_a_fault_for_each(kind, faults, counts):
    found = of(kind, [one_pass(0)], [{"minor_faults": faults, "huge_bytes": 0}])
    assert bool(found.counted) == counts


@pytest.mark.parametrize(("pages", "counts"), [(99, False), (100, True)])
def test_2mb_faults_need_2mb_pages(pages, counts):
    found = of("write-2mb", [one_pass(0)], [{"minor_faults": 100, "huge_bytes": pages << 21}])
    assert bool(found.counted) == counts
    assert counts or f"{pages} of 100" in found.passes[0].refused


def test_rows_have_the_columns_of_their_tables():
    found = of("write-4kb", [one_pass(0), one_pass(1), one_pass(6)])
    latency, combs, passes = latency_rows(found), comb_rows(found), pass_rows(found)
    for table, rows in ((FAULT_LATENCY, latency), (FAULT_COMB, combs), (FAULT_PASSES, passes)):
        assert set().union(*rows) <= set(table.names)
        assert len(frame_of(table, rows)) == len(rows)
    assert {row["passes"] for row in latency} == {2} and {row["ns"] for row in latency} == {1000}
    assert [row["outside"] for row in passes] == [0, 1, 6]
    assert [row.get("cosine_repeat") is not None for row in passes] == [True, False, False]


def test_a_kind_without_a_pass_that_counts_has_no_quantile_and_no_comb():
    found = of("write-4kb", [one_pass(6)])
    assert latency_rows(found) == [] and comb_rows(found) == [] and len(pass_rows(found)) == 1


def written(tmp_path, lines):
    path = tmp_path / "write-4kb.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


GOOD = [SERIES_HEAD, "0,0,10", "0,1,20", "1,0,30", "1,1,40"]


def test_latencies_by_pass_and_touch(tmp_path):
    assert read_cycles(written(tmp_path, GOOD), 2, 2).tolist() == [[10, 20], [30, 40]]


@pytest.mark.parametrize(
    "lines",
    [["pass,touch,cycles", *GOOD[1:]], GOOD[:-1], [*GOOD, "2,0,1"], [GOOD[0], *GOOD[:0:-1]],
     [*GOOD[:-1], "1,1,x"], [*GOOD[:-1], "1,1"], [*GOOD[:-1], "1,1,-4"], [""]],
    ids=["head", "short", "long", "order", "letter", "column", "negative", "empty"],
)  # fmt: skip
def test_a_damaged_file_is_named(tmp_path, lines):
    path = written(tmp_path, lines)
    with pytest.raises(TesseraError) as error:
        read_cycles(path, 2, 2)
    assert str(path) in error.value.asked


def test_kinds_have_names_of_their_own():
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    with pytest.raises(TesseraError) as error:
        kind_named("write-8kb")
    assert "write-2mb" in error.value.remedy
