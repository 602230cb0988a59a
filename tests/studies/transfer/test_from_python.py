"""`tessera.simulate` and `tessera.predict`: what the commands do, as data frames."""

from __future__ import annotations

import pandas as pd
import pytest

import tessera
from tessera.core.errors import TesseraError
from tessera.lab.transfer import from_python
from tessera.simulate import outputs
from tessera.simulate.inputs import LAYOUT, MAPPING
from tessera.simulate.sampling import FULL
from tests.predict.builders import samples


@pytest.fixture
def called(monkeypatch):
    """Arguments of the simulator, which answers with one row per file."""
    found = {}

    def simulate(trace, platform, files, **options):
        found.update(options, trace=trace, platform=platform, files=files)
        return [{"layout": file.stem, "status": "ok", "stlb_misses": 7} for file in files]

    monkeypatch.setattr(outputs, "simulate_platform", simulate)
    return found


def test_simulate_is_the_package_and_gives_cells(called, tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x\n")
    found = tessera.simulate("t.tst", "haswell-sim", layouts=tmp_path, changes={"walker.count": 2})
    assert found["layout"].tolist() == ["a", "b"] and found["stlb_misses"].tolist() == [7, 7]
    assert called["platform"].values["walker.count"].value == 2
    assert (called["sampling"], called["kind"], called["engine"]) == (FULL, LAYOUT, "timing")
    assert called["cache"].folder is None
    tessera.simulate("t.tst", "haswell-sim", mappings=[tmp_path / "a.csv"], engine="partial")
    assert (called["kind"], called["engine"]) == (MAPPING, "partial")


def test_simulate_needs_layouts_or_mappings():
    for options in ({}, {"layouts": "a", "mappings": "b"}):
        with pytest.raises(TesseraError) as refused:
            tessera.simulate("t.tst", "haswell-sim", **options)
        assert refused.value.code == "layouts-or-mappings"


def test_predict_is_a_function_and_the_old_name_says_so():
    assert tessera.predict is from_python.predict
    with pytest.raises(TesseraError) as refused:
        _ = tessera.predict_design
    assert refused.value.code == "renamed" and "tessera.predict" in refused.value.remedy
    with pytest.raises(AttributeError, match="tessera"):
        _ = tessera.predict_nothing


def test_predict_takes_counts_as_a_data_frame():
    """A line: R = 5e9 + 0.5 C. Half of the walk cycles save a quarter of 4e9 cycles."""
    asked = pd.DataFrame({"design": ["mine"], "stlb_hits": 1e7, "stlb_misses": 5e7, "walk_cycles": 2e9})
    stated = {"hits_are": "latency", "walk_cycles_are": "busy", "classes": "reach", "platform": "haswell-sim"}
    found = tessera.predict(counts=asked, samples=samples(noise=0.0), **stated)
    (decision,) = found.attrs["decisions"]
    assert decision.source == "bracket" and decision.base_runtime == pytest.approx(7e9)
    assert found["low_cycles"][0] <= 6e9 <= found["high_cycles"][0]
    assert found["change"][0] == pytest.approx(6 / 7 - 1, abs=0.01)
    (refused,) = tessera.predict(counts=asked, samples=samples(), platform="haswell-sim").attrs["decisions"]
    assert refused.codes == ("hits-unstated", "walk-cycles-unstated", "class-absent")
