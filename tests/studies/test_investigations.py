"""investigations/*: README and frozen table agree, scripts start; the grid over xml-transform runs."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

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
