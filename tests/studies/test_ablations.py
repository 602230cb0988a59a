"""Ablations on simulators made of formulas: slopes, bends and what they say of the paper's explanations."""

from pathlib import Path

import pandas as pd
import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.lab.studies import ablations, sentences, variations

from .builders import inputs, platform, rows

#: every key that an ablation changes, with another value
SWITCHES = {
    key: "tage" if key == "branch.predictor" else 2
    for variant in variations.ABLATIONS
    for key in variant.changes
}
#: variant -> runtime over walk cycles, and the program's extra L3 loads with 4KB pages
FORMS = {
    "baseline": (lambda C: 1e10 + 1.5 * C + 5e-10 * C * C, 1000),
    "no-pollution": (lambda C: 1e10 + 0.9 * C + 1e-10 * C * C, 0),
    "infinite-walkers": (lambda C: 1e10 + 1.4 * C + 4.9e-10 * C * C, 1000),
    "no-overlap": (lambda C: 3e10 + 1.6 * C, 1000),
    "no-mispredictions": (lambda C: 1e10 + 0.5 * C, 1000),
}


def of(values: dict) -> str:
    """Which variant a platform is."""
    for variant in variations.ABLATIONS[1:]:
        if all(values[key].value == value for key, value in variant.changes.items()):
            return variant.name
    return "baseline"


@pytest.fixture
def cells(monkeypatch) -> pd.DataFrame:
    def fake(trace, platforms, layouts, **options):
        forms = [FORMS.get(of(changed.values), FORMS["baseline"]) for changed in platforms]
        return [rows(runtime, extra=extra) for runtime, extra in forms]

    monkeypatch.setattr(ablations, "simulate_each", fake)
    made = platform(**{k.replace(".", "__"): (v, "a document") for k, v in SWITCHES.items()})
    layouts = [Path(f"growing-{i}.csv") for i in range(9)]
    return ablations.simulate_variants(inputs(made, layouts))


def test_each_variant_gets_its_shape(cells):
    found = ablations.shapes(cells).set_index("variant")
    assert set(found["status"]) == {"ok"} and set(found["provenance"]) == {"simulated"}
    assert found.loc["no-overlap", "slope"] == pytest.approx(1.6)
    # a + b x^2 over 0..1: the regression line's slope is b, as for the line through the ends
    assert found.loc["baseline", "slope"] == pytest.approx(2.0)
    assert found.loc["baseline", "slope_two_point"] == pytest.approx(2.0)
    assert found.loc["baseline", "curvature"] == pytest.approx(0.25)  # 0.5 of the range of 2
    assert found.loc["baseline", "extra_l3_loads"] == 1000


def test_hypotheses_are_judged_by_what_the_ablation_takes_away(cells):
    rows_ = {
        (h["section"], h["variant"], h["test"]): h
        for h in ablations.judged_hypotheses(ablations.shapes(cells))
    }
    found = {f"{section} {variant} {test[:14]}": (h["supported"], h["cases"])
             for (section, variant, test), h in rows_.items()}  # fmt: skip
    assert found["MICRO'20 VII-A no-pollution the program's "] == (1, 1)  # 1000 extra loads become 0
    assert found["MICRO'20 VII-A no-pollution a slope above "] == (1, 1)  # 2.0 becomes 1.0, exactly
    assert found["MICRO'20 VII-B no-overlap a significant "] == (1, 1)  # straight without overlap
    assert found["MICRO'20 VII-B no-pollution a significant "] == (1, 1)  # 0.25 becomes 0.1
    assert found["ours infinite-walkers a significant "] == (0, 1)  # 0.25 becomes 0.26


def test_without_the_effect_there_is_no_case(cells):
    flat = ablations.shapes(cells.assign(**{"runtime_cycles": 1e10 + 0.5 * cells["walk_cycles"]}))
    assert [h["cases"] for h in ablations.judged_hypotheses(flat)] == [
        1,
        0,
        0,
        0,
        0,
    ]  # only the extra loads are left


def test_a_refused_variant_fails_alone(monkeypatch):
    died = TesseraError("tessera-sim", "ended with status -11", "see above")

    def fake(trace, platforms, layouts, **options):
        dies = [of(changed.values) == "infinite-walkers" for changed in platforms]
        return [died if it else rows(FORMS["baseline"][0]) for it in dies]

    monkeypatch.setattr(ablations, "simulate_each", fake)
    made = platform(**{k.replace(".", "__"): (v, "a document") for k, v in SWITCHES.items()})
    table = ablations.simulate_variants(inputs(made, [Path("growing-0.csv")]))
    found = ablations.shapes(table).set_index("variant")
    assert found.pop("status").to_dict() == {
        variant.name: "failed" if variant.name == "infinite-walkers" else "ok"
        for variant in variations.ABLATIONS
    }
    assert "status -11" in found.loc["infinite-walkers", "message"]


def test_every_platform_has_the_switches():
    for name in platforms.platform_names():
        for variant in variations.ABLATIONS:
            changed = variations.varied(platforms.load_platform(name), variant.changes, "ablation: a test")
            assert all(changed.values[key].value == value for key, value in variant.changes.items())


def test_an_unknown_key_names_the_valid_ones():
    with pytest.raises(TesseraError, match="walker.count"):
        variations.varied(platform(walker__count=(1, "x")), {"walker.cuont": 0}, "ablation: a test")


def test_an_ablation_that_changes_walk_cycles_is_no_ablation(cells):
    row = (cells["variant"] == "no-overlap") & (cells["layout"] == "growing-3")
    changed = cells.assign(walk_cycles=cells["walk_cycles"].where(~row, cells["walk_cycles"] + 1))
    found = ablations.shapes(changed).set_index("variant")
    assert found.loc["no-overlap", "message"] == "H, M or C differ from the baseline's in 1 of 9 layouts"
    assert set(found.drop("no-overlap")["status"]) == {"ok"}


@pytest.mark.parametrize(
    ("column", "status"), [("walk_cycles", "ok"), ("stlb_misses", "failed"), ("stlb_hits", "failed")]
)
def test_slices_change_where_walks_find_their_entries_and_nothing_else(cells, column, status):
    row = cells["variant"] == "no-slices"
    changed = cells.assign(**{column: cells[column].where(~row, cells[column] * 1.01 + 1)})
    found = ablations.shapes(changed).set_index("variant")
    assert found.loc["no-slices", "status"] == status
    assert status == "ok" or found.loc["no-slices", "message"].startswith("H or M differ")


def test_some_ablations_are_simulated_with_the_baseline_and_unknown_ones_are_refused(monkeypatch):
    seen = []

    def fake(trace, platforms, layouts, **options):
        seen.extend(of(changed.values) for changed in platforms)
        return [rows(FORMS["baseline"][0]) for _ in platforms]

    monkeypatch.setattr(ablations, "simulate_each", fake)
    made = platform(**{k.replace(".", "__"): (v, "a document") for k, v in SWITCHES.items()})
    ablations.simulate_variants(inputs(made, [Path("growing-0.csv")]), ["no-mispredictions"])
    assert seen == ["baseline", "no-mispredictions"]
    with pytest.raises(TesseraError, match="no-mispredictions"):
        variations.named_ablation(["no-mispredictoins"])


def test_the_slopes_with_and_without_mispredictions_and_their_sentence(cells):
    both = pd.concat([cells, cells[cells["variant"] != "no-mispredictions"].assign(workload="other")])
    found = sentences.slopes(ablations.shapes(both))
    assert found["workload"].tolist() == ["made"]  # the other has no such ablation
    assert found[["with_them", "without"]].iloc[0].tolist() == pytest.approx([2.0, 0.5])
    said = sentences.mispredictions_sentence(found)
    assert "exceeds 1 in 1 of 1 pairs; without them, in 0." in said and "from 0.50 to 2.00" in said
    assert len(sentences.slopes(ablations.shapes(cells[cells["variant"] == "baseline"]))) == 0


def test_explanations_are_the_variants_of_the_hypotheses_and_mispredictions():
    tested = {one.variant for one in ablations.HYPOTHESES}
    assert tested | {variations.NO_MISPREDICTIONS} == set(variations.EXPLANATIONS)
    assert {v.name for v in variations.named_ablation(variations.EXPLANATIONS)} == {
        "baseline",
        *variations.EXPLANATIONS,
    }
