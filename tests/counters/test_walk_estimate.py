"""Walk cycles of Zen, estimated from IBS samples: the reader of perf's text, the estimate, the command."""

from __future__ import annotations

import csv
import math
import random

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.results.table_io import write_cells
from tessera.machine.perf.ibs import estimate_csv, estimate_walks, parse_ibs, read_ibs
from tests.counters.builders import LOGS

WRITTEN = LOGS / "ibs" / "written-6.12-zen3.txt"
#: Student's t, 97.5%, 3 degrees of freedom, from a printed table.
T3 = 3.182
#: Process 4242, user mode: 60, 80, 100 and 120 cycles; the sample with 0 is left out.
MEAN, DEVIATION = 90.0, math.sqrt((30**2 + 10**2 + 10**2 + 30**2) / 3)


def sample(l1=1, l2=1, refill=50, pid=12, misc=2, period=1000, words=True):
    """perf's lines of one sample; bits 2, 3 and 48 to 63 of the register, as AMD's manual numbers them."""
    number = 1 | l1 << 2 | l2 << 3 | refill << 48
    said = f" LdOp 1 StOp 0 DcL1TlbMiss {l1} DcL2TlbMiss {l2} DcMiss 1 TlbRefillLat {refill:5}" * words
    record = f"0x10 [0x90]: PERF_RECORD_SAMPLE(IP, {misc:#x}): {pid}/{pid}: 0x401000 period: {period} addr: 0"
    return [f"ibs_op_data3:\t{number:016x}{said}", "IbsDCLinAd:\t00007f0000001000", f"0 123 {record}"]


def lines(*samples):
    return [line for one in samples for line in one]


def failure(code, *arguments, **keywords):
    with pytest.raises(TesseraError) as error:
        estimate_walks(*arguments, **keywords)
    assert error.value.code == f"walks-{code}"
    return str(error.value)


def test_the_written_text_has_ten_samples():
    found = read_ibs(WRITTEN)
    assert [one.refill_cycles for one in found] == [60, 18, 100, 0, 900, 80, 500, 0, 0, 120]
    assert [one.missed for one in found] == [True, False, True, False, True, True, True, False, True, True]
    assert [one.mode for one in found].count("kernel") == 1
    assert {one.pid for one in found} == {4242, 77} and {one.period for one in found} == {98416}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_names_of_programs_with_line_ends_of_their_own(tmp_path, end):
    """perf prints them as they are: U+2028 and form feeds begin no line, so they can't forge a sample."""
    forged = "\x0c".join(["PERF_RECORD_COMM: x", *sample(refill=999)]) + "\u2028" + "\u2028".join(sample())
    (tmp_path / "ibs.txt").write_bytes(end.join([forged, *sample(refill=7)]).encode())
    (found,) = read_ibs(tmp_path / "ibs.txt")
    assert (found.refill_cycles, found.line) == (7, 2)


def test_estimate_is_misses_times_the_mean():
    found = estimate_walks(read_ibs(WRITTEN), 1_000_000, pid=4242)
    assert found.cycles.value == pytest.approx(MEAN * 1_000_000)
    assert found.cycles.half_width == pytest.approx(T3 * DEVIATION / math.sqrt(4) * 1_000_000, rel=1e-3)
    assert (found.refill.count, found.empty, found.ops, found.longest) == (4, 1, 8, 0)


def test_modes_and_processes_choose_samples():
    samples = read_ibs(WRITTEN)
    assert estimate_walks(samples, 10).refill.value == pytest.approx((4 * MEAN + 500) / 5)
    assert estimate_walks(samples, 10, mode="uk", pid=4242).refill.value == pytest.approx(
        (4 * MEAN + 900) / 5
    )
    message = failure("no-samples", samples, 10, pid=4711)
    assert "4711" in message and "4242" in message


def test_the_number_needs_no_words():
    """Newer versions of perf leave words out; the register has the same bits."""
    with_words = list(parse_ibs(lines(sample(), sample(l1=0, l2=0, refill=0))))
    without = list(parse_ibs(lines(sample(words=False), sample(l1=0, l2=0, refill=0, words=False))))
    assert [one.data3 for one in with_words] == [one.data3 for one in without]


def test_a_refill_without_a_walk_does_not_count():
    """An L2 TLB hit has a refill latency, too; only misses of both levels are walks."""
    samples = list(parse_ibs(lines(sample(refill=40), sample(refill=60), sample(l2=0, refill=7))))
    assert estimate_walks(samples, 100).cycles.value == pytest.approx(5000)


def test_an_interval_contains_the_mean_that_the_samples_were_drawn_from():
    rng, inside = random.Random(5), 0
    for _ in range(200):
        drawn = [sample(refill=round(rng.gauss(200, 40))) for _ in range(30)]
        found = estimate_walks(list(parse_ibs(lines(*drawn))), 1000).cycles
        inside += abs(found.value - 200_000) <= found.half_width
    assert 180 <= inside <= 199


def test_the_longest_refill_is_counted():
    samples = list(parse_ibs(lines(sample(refill=65535), sample(refill=10))))
    assert estimate_walks(samples, 1).longest == 1


@pytest.mark.parametrize(
    ("code", "samples", "misses", "value"),
    [
        ("no-misses", [sample(), sample()], 0, "M is 0"),
        ("no-refill", [sample(), sample(l2=0)], 5, "1"),
        ("no-refill", [sample(refill=0), sample(refill=0)], 5, "0 of these"),
        ("periods", [sample(), sample(period=1016)], 5, "1,016"),
    ],
)
def test_refusals(code, samples, misses, value):
    assert value in failure(code, list(parse_ibs(lines(*samples))), misses)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (["ibs_op_data3:\t12 LdOp 1", "x PERF_RECORD_SAMPLE"], "16 digits"),
        ([sample()[0].replace("DcL2TlbMiss 1", "DcL2TlbMiss 0"), *sample()[1:]], "DcL2TlbMiss 0"),
        ([sample()[0].replace("TlbRefillLat    50", "TlbRefillLat    51"), *sample()[1:]], "51"),
        ([sample()[0], *sample()], "line 1"),
        ([sample()[0]], "cut"),
        ([sample()[0], "0 1 0x1 [0x9]: PERF_RECORD_MMAP2 1/1"], "MMAP2"),
    ],
)
def test_other_lines_are_errors(text, value):
    with pytest.raises(TesseraError) as error:
        list(parse_ibs(text))
    assert error.value.code == "ibs-row" and value in str(error.value)


def test_files_without_samples(tmp_path):
    path = tmp_path / "ibs.txt"
    for data, code in (
        (b"", "ibs-empty"),
        (b"gups 1/1 1000 cycles: 1\n", "ibs-empty"),
        (b"PERFILE2", "ibs-row"),
    ):
        path.write_bytes(data)
        with pytest.raises(TesseraError) as error:
            read_ibs(path)
        assert error.value.code == code


def run(*words):
    return CliRunner().invoke(cli, ["measure", "walk-estimate", *map(str, words)])


def test_command_writes_a_row_that_is_no_cell(tmp_path):
    out = tmp_path / "estimate.csv"
    done = run("--ibs", WRITTEN, "--misses", 1000, "--pid", 4242, "--out", out)
    assert done.exit_code == 0, done.output
    assert "9e+04" in done.output and "estimated" in done.output and "1 samples" in done.output
    row = next(csv.DictReader(out.open()))
    assert row["walk_cycles_ibs_estimate"] == "90000" and row["provenance"] == "estimated"
    assert (row["stlb_misses"], row["samples_missed"], row["samples"]) == ("1000", "4", "8")
    assert "walk_cycles" not in row


def test_misses_of_a_cells_file(tmp_path):
    cells, row = tmp_path / "cells.csv", {
        "workload": "gups", "platform": "zen3-lab", "layout": "growing-0", "repeat": 0, "status": "ok",
        "message": "", "runtime_cycles": 9e6, "stlb_hits": 5, "stlb_misses": 2000, "instructions": 1e6,
        "runtime_provenance": "measured", "tlb_provenance": "measured", "engine": "perf",
    }  # fmt: skip
    write_cells([row, row | {"layout": "growing-8", "stlb_misses": 7}], cells)
    done = run("--ibs", WRITTEN, "--cells", cells, "--layout", "4kb", "--pid", 4242)
    assert done.exit_code == 0 and "1.8e+05" in done.output
    done = run("--ibs", WRITTEN, "--cells", cells, "--layout", "growing-3")
    assert done.exception.code == "misses-absent"
    write_cells([row, row | {"workload": "xsbench"}], cells)
    done = run("--ibs", WRITTEN, "--cells", cells)
    assert done.exception.code == "misses-several" and "xsbench" in str(done.exception)
    write_cells([row | {"tlb_provenance": "simulated", "runtime_provenance": "simulated"}], cells)
    assert run("--ibs", WRITTEN, "--cells", cells).exception.code == "misses-simulated"


def test_either_misses_or_cells():
    assert run("--ibs", WRITTEN).exit_code == 2
    assert run("--ibs", WRITTEN, "--misses", 5, "--cells", "cells.csv").exit_code == 2


def test_the_name_is_no_column_of_cells():
    from tessera.core.results.cell_tables import CELLS

    found = estimate_walks(read_ibs(WRITTEN), 5)
    names = estimate_csv(found, "u").splitlines()[0].split(",")
    assert "walk_cycles_ibs_estimate" in names
    assert "walk_cycles_ibs_estimate" not in [column.name for column in CELLS.columns]
