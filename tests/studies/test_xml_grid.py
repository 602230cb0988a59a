"""The grid over xml-transform: its points, its numbers from cells made of formulas, and a tiny real run."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.lab.study import study as command
from tessera.core.errors import TesseraError
from tessera.core.results.study_tables import XML_GRID
from tessera.core.results.table_io import read_file
from tessera.lab.one_off import xml_grid
from tessera.lab.one_off.xml_grid import GRIDS, GridPoint, grid_named
from tessera.lab.studies.sweep import fitted

from .builders import rows


def test_the_published_grid_has_all_combinations_and_the_published_point_once():
    points = grid_named("published").points()
    assert len(points) == 3 * 3 * 2 == len({point.name for point in points})
    rule = [point for point in points if point.published]
    assert {point.factor for point in rule} == {Decimal(2), Decimal(4), Decimal(8)}
    assert rule[-1].tables == {"people": 204_000, "items": 174_000, "bids": 174_000, "categories": 8_000}
    # the same point as the size `published`, and not on the other side of a rounding
    assert GridPoint(Decimal(8), 250, "tree").tables["categories"] == 2_000


def test_a_point_has_its_own_document_and_region():
    point = GridPoint(Decimal("0.02"), 250, "output")
    size = point.workload(1 << 27).size(point.name)
    assert " ".join(size.args) == "--people 510 --items 435 --bids 435 --categories 5 --begin output"
    assert GridPoint(Decimal("0.001"), 250, "tree").tables["categories"] == 1


def test_the_committed_table_is_a_whole_run_of_its_grid_and_the_page_quotes_it(root):
    table = read_file(XML_GRID, root / "src/tessera/lab/one_off/xml_grid_published.csv")
    asked = [(float(p.factor), p.tables["categories"], p.begin) for p in GRIDS["published"].points()]
    assert list(zip(table["factor"], table["categories"], table["begin"], strict=True)) == asked
    assert set(table["platform"]) == {"broadwell-sim"} and not table["message"].any()
    page = (root / "docs" / "studies.md").read_text()
    for (factor, begin), part in table.groupby(["factor", "begin"]):
        slope, gain = part["slope"], part["gain_1gb_percent"]
        row = next(line for line in page.splitlines() if line.startswith(f"| {factor:.0f} | {begin} |"))
        assert f"| {slope.min():.2f} to {slope.max():.2f} |" in row
        assert f"| {gain.min():.1f} to {gain.max():.1f}% |" in row
        assert f"| {', '.join(str(degree) for degree in part['best_degree'])} |" in row
    best = (table["best_degree"] == 3).sum()
    assert f"at {best} of {len(table)} points" in page and (table["slope"] > 1).all()


def test_an_unknown_size_names_those_there_are():
    with pytest.raises(TesseraError, match="(?s)'large'.*half, published, tiny"):
        grid_named("large")


def test_numbers_of_a_cubic():
    # R = 1e9 + 3e9 c^3 with c = C / 1e9: 4KB pages take 4e9 cycles, 2MB pages 1e9.
    found = xml_grid.numbers(fitted(pd.DataFrame(rows(lambda C: 1e9 + 3e9 * (C / 1e9) ** 3))))
    assert found["slope_two_point"] == pytest.approx(3)
    assert found["best_degree"] == 3
    assert found["max_error_degree_3"] == pytest.approx(0, abs=1e-6)
    assert found["max_error_degree_1"] > found["max_error_degree_2"] > 0.01
    # C + R2M - C2M = 1e9 + 1e9 - 0 at 4KB pages: the run takes twice as long
    assert found["shortfall_percent"] == pytest.approx(100)
    assert found["gain_2mb_percent"] == pytest.approx(75)


def test_a_point_that_cannot_be_recorded_is_a_row_with_the_reason(monkeypatch, tmp_path):
    def refused(*_):
        raise TesseraError("record xalan", "QEMU-7", "mend it")

    monkeypatch.setattr(xml_grid, "_recorded", refused)
    out = tmp_path / "grid.csv"
    asked = xml_grid.Study(GRIDS["tiny"], ["broadwell-sim", "haswell-sim"], tmp_path)
    xml_grid.xml_grid(asked, out)
    table = read_file(XML_GRID, out)
    assert len(table) == 2 * 8 and set(table["status"]) == {"failed"}
    assert table["message"].str.contains("QEMU-7").all()
    assert table["platform"].tolist()[:2] == ["broadwell-sim", "haswell-sim"]
    assert table["factor"].tolist()[-1] == 0.04


def test_an_unknown_platform_is_named_before_anything_runs(tmp_path):
    shown = CliRunner().invoke(
        command, ["xml-grid", "--size", "tiny", "--platform", "pdp-11", "--out", str(tmp_path / "g.csv")]
    )
    assert isinstance(shown.exception, TesseraError) and "pdp-11" in str(shown.exception)
    assert not (tmp_path / "g.csv").exists()


@pytest.mark.toolchain
def test_a_tiny_grid_and_its_continuation(tools, monkeypatch, tmp_path):
    from tessera.core.files import build_dir
    from tessera.machine.container.image_inputs import workloads_tag
    from tessera.machine.container.images import image_exists

    if not image_exists(workloads_tag()) or not (build_dir("mosalloc") / "libmosalloc.so").exists():
        pytest.skip("./run tessera build, ./run tessera build --workloads-image")
    small = replace(GRIDS["tiny"], factors=("0.02",), categories=(1000,))
    asked = xml_grid.Study(small, ["broadwell-sim"], tmp_path / "kept", random_count=1)
    first = xml_grid.xml_grid(asked, tmp_path / "grid.csv")
    assert first["status"].tolist() == ["ok", "ok"], first["message"].tolist()
    assert first["begin"].tolist() == ["tree", "output"]
    assert first["accesses"].tolist() == pytest.approx([small.max_accesses] * 2, rel=0.001)
    # When the first line is written, the tree is there and the keys besides.
    assert first["allocated_bytes"][1] > first["allocated_bytes"][0] > 0
    monkeypatch.setattr(xml_grid, "_record", lambda *_: pytest.fail("recorded again"))
    second = xml_grid.xml_grid(asked, tmp_path / "again.csv")
    pd.testing.assert_frame_equal(first, second)
