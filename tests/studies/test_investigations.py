"""investigations/*: README and frozen table agree, scripts start; parts of two of them run."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.core.errors import TesseraError
from tessera.core.results.table_io import read_file
from tessera.lab.studies.sweep import fitted

from .builders import rows

FOLDERS = sorted(p for p in (Path(__file__).resolve().parents[2] / "investigations").iterdir() if p.is_dir())


def script(folder: Path):
    """The investigation's script as a module."""
    (path,) = folder.glob("*.py")
    name = f"investigation_{path.stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses ask for it
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_readme_says_what_the_frozen_table_holds(folder):
    text = (folder / "README.md").read_text()
    for word in ("**Asked.**", "**Run.**", "**Found.**", "**Again.**"):
        assert word in text
    assert re.search(r"\b[0-9a-f]{8}\b", text), "at which commit?"
    found = script(folder).findings()
    assert found
    for line in found:
        assert line in " ".join(text.split()), line


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_command_of_the_readme_starts(folder):
    (path,) = folder.glob("*.py")
    assert f"python investigations/{folder.name}/{path.name} " in (folder / "README.md").read_text()
    done = CliRunner().invoke(script(folder).command, ["--help"])
    assert done.exit_code == 0, done.output


def test_each_part_of_fitting_is_timed(root):
    timing = script(root / "investigations" / "fitting-time")
    assert len(timing.seconds(0, extras=False)) == len(timing.PARTS)


@pytest.fixture(scope="module")
def grid(root):
    return script(root / "investigations" / "xml-grid")


def test_the_frozen_grid_is_a_whole_run(grid):
    table = read_file(grid.TABLE, grid.FROZEN)
    asked = [(float(p.factor), p.tables["categories"], p.begin) for p in grid.GRIDS["published"].points()]
    assert list(zip(table["factor"], table["categories"], table["begin"], strict=True)) == asked
    assert set(table["platform"]) == {"broadwell-sim"} and not table["message"].any()


def test_a_simulator_by_others_counts_the_same_h_and_m(root):
    peers = script(root / "investigations" / "peers")
    table = pd.read_csv(peers.FROZEN)
    by_program = table.pivot(index=["trace", "platform"], columns="program", values=list(peers.COUNTS))
    tessera, other = (by_program.xs(program, axis=1, level=1) for program in ("tessera", "pycachesim"))
    pd.testing.assert_frame_equal(tessera, other)
    assert len(tessera) == 3 * len(peers.PLATFORMS)
    page = (root / "docs/explain/peers.md").read_text()
    hits, misses = tessera.loc[("gups", "haswell-sim"), ["stlb_hits", "stlb_misses"]]
    assert f"| {hits:,} and {misses:,} [1] |" in page
    of = table[table["trace"] == "gups"].groupby("program")["processor_seconds"]
    assert f"{of.min()['tessera']:.2f} to {of.max()['tessera']:.2f} s of processor time [1]" in page
    assert f"pycachesim took {of.max()['pycachesim']:.2f} s" in page
    simulator = root / "artifacts/simulator"
    example, rmm = (
        (simulator / path).read_text() for path in ("tests/examples/next_page.cpp", "src/mmu/designs/rmm.cpp")
    )
    lines = [len(re.findall(r"^ *(?!//)\S.*$", text, re.M)) for text in (example, rmm)]
    assert f"[{lines[0] + 1}: example]" in page and f"RMM {lines[1]} ({len(rmm) / 1000:.1f} KB)" in page


def test_records_are_split_where_the_page_of_code_changes(root, tmp_path, monkeypatch):
    peers = script(root / "investigations" / "peers")
    records = np.zeros(5, peers.RECORD)
    records["ip"] = [0x1FFF, 0x1000, 0x2000, 0x2004, 0x1000]
    records["loads"][:, 0] = [1, 0, 3, 5, 0]
    records["stores"][:, 1] = [2, 0, 0, 6, 0]
    records.tofile(tmp_path / "records")
    found = list(peers.fetches_and_data(tmp_path / "records"))
    assert found == [(0x1FFF, [1, 2]), (0x2000, [3, 5, 6]), (0x1000, [])]
    monkeypatch.setattr(peers, "BLOCK_RECORDS", 3)
    found = list(peers.fetches_and_data(tmp_path / "records"))
    assert found == [(0x1FFF, [1, 2]), (0x2000, [3]), (0, [5, 6]), (0x1000, [])]


def test_numbers_of_a_cubic(grid):
    # R = 1e9 + 3e9 c^3 with c = C / 1e9: 4KB pages take 4e9 cycles, 2MB pages 1e9.
    found = grid.numbers(fitted(pd.DataFrame(rows(lambda C: 1e9 + 3e9 * (C / 1e9) ** 3))))
    assert found["slope_two_point"] == pytest.approx(3)
    assert found["best_degree"] == 3
    assert found["max_error_degree_3"] == pytest.approx(0, abs=1e-6)
    assert found["max_error_degree_1"] > found["max_error_degree_2"] > 0.01
    # C + R2M - C2M = 1e9 + 1e9 - 0 at 4KB pages: the run takes twice as long
    assert found["shortfall_percent"] == pytest.approx(100)
    assert found["gain_2mb_percent"] == pytest.approx(75)


def test_a_point_that_cannot_be_recorded_is_a_row_with_the_reason(grid, monkeypatch, tmp_path):
    def refused(*_):
        raise TesseraError("record xalan", "QEMU-7", "mend it")

    monkeypatch.setattr(grid, "_recorded", refused)
    out = tmp_path / "grid.csv"
    words = ["--size", "tiny", "--platform", "broadwell-sim", "--platform", "haswell-sim", "--out", str(out)]
    done = CliRunner().invoke(grid.command, words)
    assert done.exit_code == 0 and "QEMU-7" in done.output
    table = read_file(grid.TABLE, out)
    assert len(table) == 2 * 8 and set(table["status"]) == {"failed"}
    assert table["message"].str.contains("QEMU-7").all()
    assert table["platform"].tolist()[:2] == ["broadwell-sim", "haswell-sim"]
    out.unlink()
    done = CliRunner().invoke(grid.command, ["--platform", "pdp-11", "--out", str(out)])
    assert done.exit_code == 1 and "pdp-11" in str(done.exception or done.output) and not out.exists()


@pytest.mark.toolchain
def test_a_tiny_grid_and_its_continuation(grid, tools, monkeypatch, tmp_path):
    from tessera.core.files import build_dir
    from tessera.machine.container.image_inputs import workloads_tag
    from tessera.machine.container.images import image_exists

    if not image_exists(workloads_tag()) or not (build_dir("mosalloc") / "libmosalloc.so").exists():
        pytest.skip("./run tessera dev build, ./run tessera dev build --workloads-image")
    small = replace(grid.GRIDS["tiny"], factors=("0.02",), categories=(1000,))
    asked = grid.Study(small, ["broadwell-sim"], tmp_path / "kept", random_count=1)
    first = grid.xml_grid(asked, tmp_path / "grid.csv")
    assert first["status"].tolist() == ["ok", "ok"], first["message"].tolist()
    assert first["begin"].tolist() == ["tree", "output"]
    assert first["accesses"].tolist() == pytest.approx([small.max_accesses] * 2, rel=0.001)
    # When the first line is written, the tree is there and the keys besides.
    assert first["allocated_bytes"][1] > first["allocated_bytes"][0] > 0
    monkeypatch.setattr(grid, "_record", lambda *_: pytest.fail("recorded again"))
    second = grid.xml_grid(asked, tmp_path / "again.csv")
    pd.testing.assert_frame_equal(first, second)
