"""`tessera.simulate` and `tessera.predict_design`: what the commands do, as data frames."""

from __future__ import annotations

import pandas as pd
import pytest

import tessera
from tessera.core.errors import TesseraError
from tessera.fit.predict.design import DesignCounts
from tessera.judge.studies.transfer import answer, from_python
from tessera.judge.studies.transfer.answer import Answers
from tessera.judge.studies.transfer.own_design import OwnDesign
from tessera.simulate import frames
from tessera.simulate.inputs import LAYOUT, MAPPING
from tessera.simulate.plan import FULL


@pytest.fixture
def called(monkeypatch):
    """Arguments of the simulator, which answers with one row per file."""
    found = {}

    def simulate(trace, platform, files, **options):
        found.update(options, trace=trace, platform=platform, files=files)
        return [{"layout": file.stem, "status": "ok", "stlb_misses": 7} for file in files]

    monkeypatch.setattr(frames, "simulate", simulate)
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


def test_predict_design_takes_a_mapping_a_file_or_counts(monkeypatch, tmp_path):
    asked = []
    done = Answers(pd.DataFrame({"source": ["poly1"]}), pd.DataFrame({"model": ["basu"]}))
    for name in ("answer_design", "answer_counts"):
        monkeypatch.setattr(
            from_python, name, lambda *of, name=name: asked.append((name, of[1], *of[2:])) or done
        )
    file = tmp_path / "mine.yaml"
    file.write_text("changes: {walker.count: 2}\n")
    found = tessera.predict_design({"changes": {"walker.count": 2}}, "w", "p", tmp_path)
    assert found["source"].tolist() == ["poly1"] and found.attrs["models"]["model"].tolist() == ["basu"]
    tessera.predict_design(file, "w", "p", tmp_path)
    counts = pd.DataFrame({"stlb_hits": [1], "stlb_misses": [2], "walk_cycles": [3]})
    tessera.predict_design(counts, "w", "p", tmp_path, group="K1")
    assert [one[0] for one in asked] == ["answer_design", "answer_design", "answer_counts"]
    assert asked[0][1] == OwnDesign("design", {"walker.count": 2})
    assert asked[1][1] == OwnDesign("mine", {"walker.count": 2})
    assert isinstance(asked[2][1], DesignCounts) and asked[2][2:] == ("w", "p", "K1", "counted")
    with pytest.raises(TesseraError) as refused:
        tessera.predict_design(counts, "w", "p", tmp_path)
    assert refused.value.code == "counts-without-class"


def test_other_names_are_no_attributes():
    assert tessera.predict_design is from_python.predict_design and answer.ENGINE
    with pytest.raises(AttributeError, match="tessera"):
        _ = tessera.predict_nothing
