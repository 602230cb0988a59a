"""The commands of ``tessera trace``, and requests that they refuse."""

from __future__ import annotations

import csv
import json
import lzma
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.mapping.mapping_file import POOL_NUMBERS
from tessera.core.mapping.paging import read_touches
from tessera.record import traces


def tessera(*arguments: object):
    return CliRunner().invoke(cli, ["trace", *map(str, arguments)], catch_exceptions=True)


@pytest.mark.toolchain
def test_record_info_verify_export_import(components, tmp_path: Path):
    trace, records, back = tmp_path / "t.tst", tmp_path / "t.champsim", tmp_path / "back.tst"
    recorded = tessera("record", "--out", trace, "--max-accesses", 5000, "--", "/bin/echo", "--help")
    assert recorded.exit_code == 0, recorded.output
    described = json.loads(tessera("info", trace, "--json").output)
    assert described["accesses"] <= 5000
    assert not described["complete_roi"]
    assert "incomplete" in tessera("info", trace).output
    pages = described["outside_4kb_pages"]
    assert (
        f"{pages} distinct 4KB pages" in tessera("info", trace).output
        and described["outside_accesses"] is None
    )
    assert "intact" in tessera("info", trace).output
    assert tessera("export", trace, "--out", records).exit_code == 0
    packed = tmp_path / "t.champsim.xz"
    packed.write_bytes(lzma.compress(records.read_bytes()))
    assert tessera("import", packed, "--out", back).exit_code == 0
    found = traces.trace_info(back)
    assert found["accesses"] == described["accesses"]
    assert found["stores"] == described["stores"]
    assert found["distinct_4kb_pages"] == described["distinct_4kb_pages"]
    assert found["program"] == "t.champsim.xz"
    assert 0 < found["outside_accesses"] <= found["accesses"]


@pytest.mark.toolchain
def test_first_touches_are_those_of_the_dump(components, dumped, tmp_path: Path):
    trace, out = tmp_path / "t.tst", tmp_path / "touches.csv"
    assert (
        tessera("record", "--out", trace, "--max-accesses", 50000, "--", "/bin/echo", "--help").exit_code == 0
    )
    assert tessera("touches", trace, "--out", out).exit_code == 0
    expected, seen, pools = ["pool,page,access"], set(), traces.trace_info(trace)["pools"]
    for access, (_, address) in enumerate(dumped(trace)[1]):
        for pool in pools:
            page = (address - pool["base"]) // 4096
            inside = pool["base"] <= address < pool["base"] + pool["size_bytes"]
            if inside and (pool["kind"], page) not in seen:
                seen.add((pool["kind"], page))
                expected.append(f"{pool['kind']},{page},{access}")
    assert len(expected) > 2
    assert out.read_text().splitlines() == expected


#: Loads of 8 bytes, each across two pages that nothing touched before, of an array in the mmap pool.
ACROSS = """
#include <sys/mman.h>
int main(void) {
    char* at = (char*)mmap(0, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TESSERA_ROI_BEGIN();
    for (int i = 0; i < 100; i++) (void)*(volatile long*)(at + 8192 * i + 4092);
    TESSERA_ROI_END();
    return 0;
}
"""


@pytest.mark.toolchain
def test_an_access_that_crosses_a_page_touches_two_and_demand_paging_maps_both(compiled, tmp_path: Path):
    trace, out = tmp_path / "t.tst", tmp_path / "touches.csv"
    traces.record_program([compiled("across", ACROSS)], trace)
    assert tessera("touches", trace, "--out", out).exit_code == 0
    found = read_touches(out)
    pages = found.page[found.pool == POOL_NUMBERS["mmap"]]
    first = int(pages[0])
    assert pages.tolist() == list(range(first, first + 200))
    assert np.unique(found.access, return_counts=True)[1].tolist().count(2) == 100
    pages_of = tmp_path / "demand.csv"
    words = ["mapping", "generate", "--kind", "demand", "--trace", str(trace), "--out", str(pages_of)]
    made = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert made.exit_code == 0, made.output


@pytest.mark.toolchain
def test_import_takes_pools_and_refuses_bad_ones(components, tmp_path: Path):
    record = bytearray(64)
    record[0:8] = (0x400000).to_bytes(8, "little")
    record[32:40] = (0x7F0000001000).to_bytes(8, "little")
    plain = tmp_path / "one"
    plain.write_bytes(bytes(record) * 10)
    traces.import_champsim(plain, tmp_path / "o.tst", mmap_pool="0x7f0000000000:0x7f0000100000")
    (pool,) = traces.trace_info(tmp_path / "o.tst")["pools"]
    assert (pool["kind"], pool["base"], pool["size_bytes"]) == ("mmap", 0x7F0000000000, 1 << 30)
    assert (pool["used_bytes"], pool["distinct_4kb_pages"]) == (1 << 20, 1)
    with pytest.raises(TesseraError, match="not START:END"):
        traces.import_champsim(plain, tmp_path / "p.tst", mmap_pool="12")
    with pytest.raises(TesseraError, match="64-byte record"):
        traces.import_champsim(_truncated(plain), tmp_path / "q.tst")
    assert not (tmp_path / "q.tst").exists()


@pytest.mark.toolchain
def test_arrays_that_no_pool_reaches_are_said_by_every_command(components, tmp_path: Path):
    record = struct.Struct("<QBB2B4B2Q4Q")
    bases = [16 << 40, 17 << 40, 18 << 40]
    loads = (bases[n % 3] + 4096 * (n // 3) for n in range(3 * 512))
    far = tmp_path / "far.champsim"
    far.write_bytes(
        b"".join(record.pack(0x401000, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, load, 0, 0, 0) for load in loads)
    )
    trace, layouts = tmp_path / "far.tst", tmp_path / "layouts"
    said = tessera("import", far, "--out", trace).output
    assert said.count("1024 (66.7%)") == 2 and "sizes of accesses: unknown, so none crosses a page\n" in said
    ranges = re.search(r"(--brk-pool) (\S+) (--mmap-pool) (\S+)$", said.strip())
    assert "1024 accesses (66.7%), 1024 distinct 4KB pages (66.7%)" in tessera("info", trace).output
    described = json.loads(tessera("info", trace, "--json").output)
    assert (described["outside_accesses"], described["outside_4kb_pages"]) == (1024, 1024)
    options = ["--trace", str(trace), "--platform", "haswell-sim"]
    note = "1024 of 1536 touched 4KB pages (66.7%), 1024 of 1536 accesses (66.7%)"
    made = CliRunner().invoke(cli, ["layouts", "generate", *options, "--out", str(layouts)])
    assert made.exit_code == 0 and note in made.output
    run = ["simulate", *options, "--sampling", "tlbs", "--layouts", str(layouts / "growing-[08].csv")]
    done = CliRunner().invoke(cli, [*run, "--out", str(tmp_path / "cells.csv")])
    assert done.exit_code == 0 and note in done.output
    # With the pools that the import proposes, every array is in one: two pools that span terabytes.
    said = tessera("import", far, "--out", trace, *ranges.groups()).output
    assert said.count("0 (0.0%)") == 2 and "--mmap-pool" not in said
    made = CliRunner().invoke(cli, ["layouts", "generate", *options, "--out", str(layouts)])
    assert made.exit_code == 0 and "outside" not in made.output
    done = CliRunner().invoke(cli, [*run, "--out", str(tmp_path / "cells.csv")])
    assert done.exit_code == 0 and "outside" not in done.output
    misses = {row["layout"]: row for row in csv.DictReader((tmp_path / "cells.csv").open())}
    assert int(misses["growing-8"]["stlb_misses"]) * 100 < int(misses["growing-0"]["stlb_misses"])


@pytest.mark.toolchain
def test_a_damaged_archive_is_named(components, tmp_path: Path):
    packed = tmp_path / "t.xz"
    packed.write_bytes(lzma.compress(bytes(6400))[:-20])
    with pytest.raises(TesseraError):
        traces.import_champsim(packed, tmp_path / "t.tst")
    assert not (tmp_path / "t.tst").exists()


@pytest.mark.parametrize(
    ("keywords", "found"),
    [
        ({"roi": "sometimes"}, "(?s)'sometimes'.*switch:FILE"),
        ({"max_accesses": 0}, "--max-accesses 0"),
        ({"anon_pool": "1000GB"}, "--anon-pool 1000GB.*64GB"),
        ({"heap_pool": "many"}, "--heap-pool.*many"),
    ],
    ids=[
        "keywords0-no such region of interest",
        "keywords1-not positive",
        "keywords2-at most",
        "keywords3-not a size",
    ],
)
def test_wrong_requests_are_refused_before_anything_runs(tmp_path: Path, keywords: dict, found: str):
    with pytest.raises(TesseraError, match=found):
        traces.record_program(["/bin/true"], tmp_path / "t.tst", **keywords)


def test_an_unknown_program_is_named(tmp_path: Path):
    with pytest.raises(TesseraError, match="/no/such/program") as caught:
        traces.record_program(["/no/such/program"], tmp_path / "t.tst")
    assert caught.value.code == "program-not-found"


def _truncated(path: Path) -> Path:
    cut = path.with_name("cut")
    cut.write_bytes(path.read_bytes()[:-7])
    return cut
