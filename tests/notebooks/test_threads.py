"""Notebook 08: sliders change machine and drawing; energy and time of threads and mosaics together."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.energy import guz_model
from tessera.report.explore import open_results, threads


@pytest.fixture(scope="module")
def pair():
    return open_results("notebooks/data").pair("gups-8gb", "haswell-sim")


def test_a_slider_changes_the_drawing():
    sliders = threads.Sliders("guz-4mb")
    before = sliders.view().axes[0].lines[0].get_ydata().copy()
    sliders.changed("locality_exponent", 1.5)
    after = sliders.view().axes[0].lines[0].get_ydata()
    assert (after >= before - 1e-9).sum() < len(after) or (after != before).any()
    assert sliders.machine.locality_exponent == 1.5
    with pytest.raises(TesseraError, match="locality_exponent"):
        sliders.changed("locality_exponent", 1.0)


def test_every_slider_covers_its_machine():
    for key, (_, least, greatest) in threads.RANGES.items():
        assert least <= getattr(guz_model.load_machine("guz-4mb"), key) <= greatest


def test_savings_of_a_pair(pair):
    table = threads.savings(pair).set_index("constants")
    assert table.loc["static only", "ratio_2mb"] == pytest.approx(1)
    assert 0 < table.loc["no static", "ratio_2mb"] < table.loc["as given", "ratio_2mb"] < 1
    assert any("2MB" in line for line in threads.sentences_of(table.reset_index()))


def test_threads_and_mosaics_together(pair):
    model = guz_model.load_machine("opera-e7-4830v3")
    rows = threads.joint(pair, model.name, [1, 24]).set_index(["threads", "layout"])
    assert rows.loc[(1, "growing-0")].tolist() == pytest.approx([1, 1])
    speedup = float(guz_model.ips(model, 24.0) / guz_model.ips(model, 1.0))
    assert rows.loc[(24, "growing-0"), "time"] == pytest.approx(1 / speedup)
    assert rows.loc[(24, "growing-0"), "energy"] == pytest.approx(
        float(guz_model.ipj(model, 1.0) / guz_model.ipj(model, 24.0))
    )
    fastest = pair.samples.set_index("layout")["runtime_cycles"].drop("1gb")
    assert rows.loc[(1, fastest.idxmin()), "time"] == pytest.approx(fastest.min() / fastest["growing-0"])


def test_drawings(pair):
    assert len(threads.draw_energy(pair).axes[0].lines) == 2
    assert threads.table("guz-4mb", [1, 10])["threads"].tolist() == [1, 10]


def test_runs(tmp_path):
    assert "tessera lab threads measure" in threads.measured("")
    assert str(tmp_path / "absent.csv") in threads.measured(str(tmp_path / "absent.csv"))
