"""The sweep on simulators made of formulas: what each variation overturns is known beforehand."""

from pathlib import Path

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.lab.studies import sweep
from tessera.lab.studies.sweep import CONCLUSIONS, fitted, judged_conclusions
from tessera.lab.studies.variations import Variation

from .builders import inputs, platform, rows

KEY = "memory.load_cycles"


@pytest.fixture
def simulated(monkeypatch):
    """R = 1e9 + slope x C with slope = load time / 100; a load time of 50 is refused."""

    def cells(load: int) -> list[dict]:
        found = rows(lambda C: 1e9 + C * load / 100)
        failed = {"status": "failed", "message": f"platform key {KEY}: 50 is below cache.l3.load_cycles"}
        return [row | failed for row in found] if load == 50 else found

    def fake(trace, platforms, layouts, **options):
        return [cells(changed.values[KEY].value) for changed in platforms]

    monkeypatch.setattr(sweep, "simulate_each", fake)


def swept(*arguments) -> pd.DataFrame:
    made = platform(memory__load_cycles=(90, "assumed: for a test"))
    return sweep.simulated_variations(inputs(made, [Path("growing-0.csv")], jobs=2), *arguments)


def test_a_variation_overturns_what_it_should(simulated):
    points = [
        Variation(KEY, "x2", {KEY: 180}),
        Variation(KEY, "x0.9", {KEY: 81}),
        Variation(KEY, "x0.5", {KEY: 50}),
    ]
    table = swept(points, {"pwc.kind": "no alternative is known"})
    slope = table[table["conclusion"] == "slope-above-1"].set_index("alternative")
    assert slope.loc["", "number"] == pytest.approx(0.9) and not slope.loc["", "holds"]
    assert slope.loc["x2", "number"] == pytest.approx(1.8)
    assert slope.loc["x2", "survives"] is False and slope.loc["x0.9", "survives"] is True
    assert table[table["status"] == "refused"]["message"].tolist() == [
        f"all 9 layouts: platform key {KEY}: 50 is below cache.l3.load_cycles"
    ]
    assert table[table["status"] == "skipped"]["key"].tolist() == ["pwc.kind"]
    found = sweep.survival(table).set_index("conclusion")
    assert found.loc["slope-above-1", ["points", "survives"]].tolist() == [2, 1]  # refused counts for nothing
    assert found.loc["slope-above-1", "overturned_by"] == f"{KEY} x2"
    assert found.loc["slope-above-1", ["least", "greatest"]].tolist() == pytest.approx([0.81, 1.8])


def test_a_baseline_that_cannot_be_simulated_is_an_error(monkeypatch):
    refused = TesseraError("platform", "impossible", "mend it")
    monkeypatch.setattr(sweep, "simulate_each", lambda *_, **__: [refused])
    with pytest.raises(TesseraError, match="impossible"):
        swept([], {})


def test_a_failed_layout_is_a_refusal_with_its_message(monkeypatch):
    bad = rows(lambda C: 1e9 + C)
    bad[3] |= {"status": "failed", "message": "pool-7"}
    monkeypatch.setattr(sweep, "simulate_each", lambda *_, **__: [bad])
    with pytest.raises(TesseraError, match=": pool-7"):
        swept([], {})


def test_a_point_whose_simulator_dies_is_refused(monkeypatch):
    good, dead = rows(lambda C: 1e9 + C), TesseraError("tessera-sim", "ended with status -11", "see above")
    monkeypatch.setattr(sweep, "simulate_each", lambda *_, **__: [good, dead])
    table = swept([Variation(KEY, "x2", {KEY: 180})], {})
    assert table[table["status"] == "refused"]["message"].tolist() == ["tessera-sim: ended with status -11"]


def verdicts(runtime) -> dict[str, tuple[float, bool | None]]:
    found = judged_conclusions(fitted(pd.DataFrame(rows(runtime))))
    return {row["conclusion"]: (row["number"], row["holds"]) for row in found}


def test_conclusions_of_a_parabola():
    # R = 4e9 + 4e9 (C/1e9)^2: 2MB pages save half, slope 4 between the ends, an exact quadratic.
    found = verdicts(lambda C: 4e9 + 4e9 * (C / 1e9) ** 2)
    assert found["sensitive"] == (pytest.approx(0.5), True)
    assert found["slope-above-1"] == (pytest.approx(4), True)
    assert found["convex"] == (pytest.approx(1), True)
    assert found["cubic-beats-line"][1] and found["mosmodel-beats-line"][1] and found["mosmodel-beats-old"][1]
    # Yaniv's line is 4 + 4x: (x - x^2) / (1 + x^2) is greatest at x = 3/8 of the nine layouts
    assert found["yaniv-10"] == (pytest.approx(15 / 73), True)
    assert found["mosmodel-3"][1]
    # Pham's line through the 4KB run is 7 + x; x = 1/8 of the nine is worst: (57/8) / (65/16) - 1
    assert found["pham-optimistic"] == (pytest.approx(49 / 65), False)


def test_conclusions_of_a_flat_program():
    found = verdicts(lambda C: 1e9)
    assert found["sensitive"] == (0.0, False)
    assert found["slope-above-1"] == (pytest.approx(0, abs=1e-9), False)
    assert found["convex"][1] is None  # nothing bends where nothing changes
    assert found["pham-optimistic"] == (
        pytest.approx(0, abs=1e-9),
        True,
    )  # it expects a gain that is not there


def test_names_of_conclusions_are_unique():
    assert len({conclusion.name for conclusion in CONCLUSIONS}) == len(CONCLUSIONS)
