"""``tessera simulate --mappings``: designs under generated mappings, the cache, and rejected requests.

The trace has random loads in 32 2MB pages. The L1 TLB of park-haswell holds all of them (8 sets of 4 ways),
so each 2MB page misses L1 once, at its first access.
"""

from __future__ import annotations

import pandas as pd
import pytest
import yaml

from tessera.core.platforms import PLATFORM_FILE, platforms_folder
from tessera.core.results.table_io import read_cells
from tests.in_process import tessera

from .conftest import write_layout

pytestmark = pytest.mark.toolchain
WHOLE = ["--engine", "partial", "--sampling", "full"]
COUNTS = ["stlb_hits", "stlb_misses", "walk_cycles"]
LARGE_PAGES = 32


@pytest.fixture(scope="module")
def mappings(random_trace, tmp_path_factory):
    """A folder with the mappings low (4KB pages) and max (one chunk, 2MB pages) of the trace."""
    found = tmp_path_factory.mktemp("mappings")
    for kind in ("low", "max"):
        out = found / f"{kind}.csv"
        done = tessera("mapping", "generate", "--trace", random_trace, "--kind", kind, "--out", out)
        assert done.returncode == 0, done.stderr
    return found


@pytest.fixture
def simulate(random_trace, mappings, tmp_path):
    """Runs the command on park-haswell; gives cells by name and the text on stderr."""

    def run(*words, pages=("--mappings", mappings), platform="park-haswell"):
        line = ["simulate", "--trace", random_trace, "--platform", platform, *pages]
        done = tessera(*line, *WHOLE, "--out", tmp_path / "cells.csv", *words)
        assert done.returncode == 0, done.stderr
        return read_cells(tmp_path / "cells.csv").set_index("layout"), done.stderr

    return run


def test_three_designs_under_two_mappings(simulate, tmp_path):
    cells, structures = {}, {}
    for design in ("thp", "rmm", "anchor"):
        out = tmp_path / f"{design}.csv"
        cells[design], _ = simulate("--set", f"mmu.design={design}", "--write", f"designs={out}")
        structures[design] = pd.read_csv(out).set_index(["layout", "structure"])
        assert list(cells[design].index) == ["low", "max"]
        assert set(cells[design].message) == {f"set: mmu.design={design}"}
    assert tuple(cells["thp"].loc["max", COUNTS[:2]]) == (0, LARGE_PAGES)
    for design in ("rmm", "anchor"):  # the first walk brings the range, or the anchor, of the only chunk
        assert tuple(cells[design].loc["max", COUNTS[:2]]) == (LARGE_PAGES - 1, 1)
        misses = cells[design].stlb_misses["low"]
        assert misses < cells["thp"].stlb_misses["low"]
        assert misses + cells[design].stlb_hits["low"] == cells["thp"].loc["low", COUNTS[:2]].sum()
    assert structures["thp"].empty  # no structures but the TLBs
    of_max = structures["rmm"].loc["max"]
    assert tuple(of_max.loc["range", ["accesses", "hits"]]) == (LARGE_PAGES, LARGE_PAGES - 1)
    assert of_max.lookup_cycles["range"] == LARGE_PAGES * 8  # 8 cycles each (Park, Table 3.3)
    assert tuple(structures["anchor"].loc[("max", "anchor"), ["accesses", "hits"]]) == (LARGE_PAGES, 31)
    assert "background" in of_max.index and of_max.lookup_cycles.isna()["background"]


def test_a_mapping_that_is_one_layout_gives_the_cell_of_that_layout(simulate, tmp_path):
    write_layout(tmp_path, "growing-8", [(0, LARGE_PAGES)])
    layout, _ = simulate(pages=("--layouts", tmp_path / "growing-8.csv"))
    mapping, _ = simulate()
    assert list(layout.loc["growing-8", COUNTS]) == list(mapping.loc["max", COUNTS])
    assert (mapping.message == "").all()


def test_a_platform_file_chooses_a_design_as_the_option_does(simulate, tmp_path):
    tree = PLATFORM_FILE.read(platforms_folder() / "park-haswell.yaml")
    tree["name"], source = "anchors", "assumed: test"
    tree["mmu"] = {"design": {"value": "anchor", "source": source}}
    tree["design"] = {"anchor": {"distance_pages": {"value": 8192, "source": source}}}
    path = tmp_path / "anchors.yaml"
    path.write_text(yaml.safe_dump(tree, sort_keys=False))
    by_file, _ = simulate(platform=path)
    by_option, _ = simulate("--set", "mmu.design=anchor", "--set", "design.anchor.distance_pages=8192")
    assert by_file[COUNTS].equals(by_option[COUNTS])
    assert set(by_file.platform) == {"anchors"} and set(by_option.platform) == {"park-haswell"}
    # The chunk of 16384 pages has two anchors, and each is absent once.
    assert tuple(by_file.loc["max", COUNTS[:2]]) == (LARGE_PAGES - 2, 2)


def test_structures_come_from_the_cache_and_a_changed_mapping_is_simulated(simulate, mappings, tmp_path):
    words = ["--set", "mmu.design=rmm", "--cache", tmp_path / "cache", "--write"]
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in mappings.glob("*.csv"):
        (copy / path.name).write_bytes(path.read_bytes())
    pages = ("--mappings", copy)
    first, _ = simulate(*words, f"designs={tmp_path}/a.csv", pages=pages)
    again, said = simulate(*words, f"designs={tmp_path}/b.csv", pages=pages)
    assert "2 of 2" in said and again.equals(first)
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    (copy / "max.csv").write_bytes((mappings / "low.csv").read_bytes())
    changed, _ = simulate(*words, f"designs={tmp_path}/c.csv", pages=pages)
    assert list(changed.loc["max", COUNTS]) == list(first.loc["low", COUNTS])


def test_mappings_and_layouts_exclude_each_other(random_trace, mappings, tmp_path):
    line = ["simulate", "--trace", random_trace, "--platform", "park-haswell", "--out", tmp_path / "a.csv"]
    both = tessera(*line, "--mappings", mappings, "--layouts", mappings)
    assert both.returncode == 2 and "--layouts and --mappings" in both.stderr
    none = tessera(*line)
    assert none.returncode == 2 and "--mappings" in none.stderr
    assert not (tmp_path / "a.csv").exists()


def test_a_mapping_with_an_error_is_a_failed_row_with_the_name_of_its_file(random_trace, mappings, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("epoch,pool,page,frame,pages,page_size\n0,mmap,0,513,512,2MB\n")
    words = ["--mappings", mappings, "--mappings", bad, *WHOLE, "--write", f"designs={tmp_path}/d.csv"]
    line = ["simulate", "--trace", random_trace, "--platform", "park-haswell", "--out", tmp_path / "a.csv"]
    done = tessera(*line, *words)
    assert done.returncode == 1
    table = read_cells(tmp_path / "a.csv")
    assert list(table.status) == ["ok", "ok", "failed"] and list(table.layout) == ["low", "max", "bad"]
    assert "bad.csv line 2" in table.message[2] and "[mapping/alignment]" in table.message[2]
