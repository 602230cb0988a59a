"""The study of designs: changes, energy, refusals and the command, on a simulator made of formulas."""

import json
from pathlib import Path

import pandas as pd
import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.mapping.contiguity import MappingSummary
from tessera.core.mapping.kinds import KINDS
from tessera.core.mapping.page_mapping import MappingRows
from tessera.core.platforms import set_values
from tessera.core.results import study_tables as schema
from tessera.core.results.table_io import read_file
from tessera.lab.studies import design_catalogue, placements, sentences
from tessera.lab.studies import designs as cells

from .builders import inputs, lab_run

#: design -> misses under each mapping
MISSES = {"baseline": 1000, "thp": 400, "anchor": 100, "rmm": 0}
FREQUENCY = 3_400_000_000  #: of park-haswell


def simulator(trace, platform, files, *, workload, structures, **options):
    """Misses by design; `hvc-many-segment` ends the process if one mapping is `low`."""
    design = platform.values["mmu.design"].value
    if design == "hvc-many-segment" and any(file.stem == "low" for file in files):
        raise TesseraError("mmu.design", "the mapping has 9999 chunks", "another mapping", exit_code=2)
    if design == "dies":
        raise TesseraError("tessera-sim", "it ended with status -9", "see above", exit_code=1)
    rows = []
    for file in files:
        if design == "rejects":
            rows.append({"layout": file.stem, "status": "failed", "message": "no segments left"})
            continue
        if design == "anchor":
            counts = {"accesses": 700, "hits": 1, "lookup_cycles": 2, "background_cycles": None}
            head = {"platform": platform.name, "layout": file.stem}
            structures += [head | counts | {"structure": name} for name in ("regular", "anchor")]
        rows.append(
            {
                "layout": file.stem, "status": "ok", "message": "", "runtime_cycles": FREQUENCY,
                "stlb_hits": 500, "stlb_misses": MISSES.get(design, 1), "walk_cycles": 7,
                "instructions": 9000, "accesses": 3000,
            }
        )  # fmt: skip
    return rows


@pytest.fixture
def request_of(monkeypatch):
    monkeypatch.setattr(cells, "simulate_platform", simulator)

    def make(*mappings):
        return inputs(platforms.load_platform("park-haswell"), [Path(f"{name}.csv") for name in mappings])

    return make


def simulated(request, designs):
    """The tables of designs, each under every mapping of the request."""
    return cells.cells_and_structures(request, {one: [f.stem for f in request.files] for one in designs})


def test_changes_are_to_baseline_and_thp_under_the_same_mapping(request_of):
    found, _ = simulated(request_of("low", "max"), ["baseline", "thp", "anchor"])
    row = found.set_index(["design", "mapping"]).loc[("anchor", "low")]
    assert row["misses_to_baseline_percent"] == pytest.approx(-90)
    assert row["misses_to_thp_percent"] == pytest.approx(-75)
    assert row["runtime_to_thp_percent"] == 0
    assert set(found["provenance"]) == {"simulated"} and len(found) == 6


def test_without_the_base_or_with_a_base_of_0_there_is_no_change(request_of):
    found, _ = simulated(request_of("low"), ["anchor", "rmm"])
    assert found["misses_to_baseline_percent"].isna().all()
    found = cells.with_changes(found.assign(design=["thp", "baseline"]))
    assert found["misses_to_baseline_percent"].isna().all()  # baseline has 0 misses now
    assert found["misses_to_thp_percent"].tolist() == [0, -100]


def test_a_rejected_mapping_is_a_row_and_the_others_go_on(request_of):
    found, _ = simulated(request_of("low", "max"), ["baseline", "hvc-many-segment", "dies"])
    status = found.set_index(["design", "mapping"])["status"].to_dict()
    assert status == {
        ("baseline", "low"): "ok", ("baseline", "max"): "ok",
        ("hvc-many-segment", "low"): "refused", ("hvc-many-segment", "max"): "ok",
        ("dies", "low"): "failed", ("dies", "max"): "failed",
    }  # fmt: skip
    assert "9999 chunks" in found[found["status"] == "refused"]["message"].iloc[0]


def test_a_row_that_the_simulator_rejects_is_not_tried_again(request_of):
    found, parts = simulated(request_of("low"), ["baseline", "rejects"])
    row = found.set_index("design").loc["rejects"]
    assert (row["status"], row["message"]) == ("refused", "no segments left")
    assert pd.isna(row["stlb_misses"]) and set(parts["design"]) == {"baseline"}


def test_if_everything_is_rejected_the_next_run_tries_again(request_of):
    found, _ = simulated(request_of("low"), ["hvc-many-segment"])
    assert found["status"].tolist() == ["failed"]


def test_structures_and_energy_by_hand(request_of):
    found, parts = simulated(request_of("low"), ["baseline", "anchor", "rmm"])
    by_design = found.set_index("design")["energy_nj"]
    # 1024 x 8: 6.85 pJ a read, 8.96 mW for one second; baseline reads H + M = 1500, anchor 700 twice
    # L1, 64 x 4: 2.52 pJ for each of 3,000 accesses, 0.66 mW; anchor has a second one for 2MB pages
    assert by_design["baseline"] == pytest.approx((8.96 + 0.66) * 1e6 + 1500 * 6.85e-3 + 3000 * 2.52e-3)
    assert by_design["anchor"] == pytest.approx((8.96 + 2 * 0.66) * 1e6 + 1400 * 6.85e-3 + 6000 * 2.52e-3)
    assert pd.isna(by_design["rmm"])  # its ranges have no energy
    rows = parts.set_index(["design", "structure"])
    assert rows.loc[("baseline", "second-level"), ["accesses", "hits"]].tolist() == [1500, 500]
    assert rows.loc[("anchor", "regular"), "read_energy_nj"] == pytest.approx(700 * 6.85e-3)
    assert rows.loc[("baseline", "first-level"), "read_energy_nj"] == pytest.approx(3000 * 2.52e-3)
    assert rows.loc[("anchor", "first-level"), "read_energy_nj"] == pytest.approx(6000 * 2.52e-3)
    assert (
        rows.xs("first-level", level="structure")["hits"].isna().all()
        and ("rmm", "first-level") not in rows.index
    )


def test_energy_of_virtual_caches_has_two_filters_with_two_reads_each():
    park = platforms.load_platform("park-haswell")
    accesses = {"synonym-filter": 1000, "synonym-tlb": 10, "segment-cache": 100, "index-cache": 5,
                "segment-table": 2}  # fmt: skip
    found = design_catalogue.energy_nj("hvc-many-segment", accesses, FREQUENCY, park)
    reads_pj = 4 * 1000 * 0.136 + 10 * 2.52 + 100 * 2.52 + 5 * 123 + 2 * 19.8
    leakage_mw = 2 * 0.116 + 0.66 + 1.32 + 21.4 + 0.014
    assert found == pytest.approx(reads_pj / 1000 + leakage_mw * 1e6)
    larger = set_values(park, {"design.hvc-delayed-tlb.entries": 4096})
    assert design_catalogue.leakage_nj("hvc-delayed-tlb", FREQUENCY, larger) == pytest.approx(
        (2 * 0.116 + 0.66 + 31.8) * 1e6
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"tlb.stlb.entries": 1536}, {"tlb.stlb.ways": 16}, {"tlb.stlb.ways": 4},
        {"tlb.l1d.4kb.entries": 96}, {"tlb.l1d.4kb.ways": 8},
    ],
)  # fmt: skip
def test_an_array_of_another_size_has_no_energy(changes):
    other = set_values(platforms.load_platform("park-haswell"), changes)
    assert design_catalogue.energy_nj("thp", {"second-level": 1}, 1.0, other) is None


def test_every_energy_is_marked_as_assumed_and_every_array_is_in_the_file():
    assert all(
        ",assumed: " in line.replace('"', "")
        for line in design_catalogue.ENERGY_FILE.read_text().splitlines()[1:]
    )
    park = platforms.load_platform("park-haswell")
    for one in design_catalogue.DESIGNS:
        assert all(design_catalogue.array_energy(array, park) for array in one.arrays), one.name


def test_a_mapping_is_described_by_both_readings():
    # one chunk of 62 pages: count chooses 8 (7 anchors and 6 pages), printed 4 (15/4 + 2)
    found = placements.described(MappingSummary.of(MappingRows.of([("mmap", 0, 0, 62, "4KB")])))
    assert (found["distance_count"], found["cost_count"]) == (8, 13)
    assert (found["distance_printed"], found["cost_printed"]) == (4, 5.75)
    assert (found["chunks"], found["pages_per_chunk"], found["share_2mb"]) == (1, 62, 0)


def test_variants_are_designs_with_other_keys_and_their_own_names(request_of, monkeypatch):
    seen = []

    def record(trace, platform, files, **options):
        keys = ("mmu.design", "design.hvc-many-segment.sc_entries", "design.hvc-delayed-tlb.entries")
        seen.append([platform.values[key].value if key in platform.values else None for key in keys])
        return simulator(trace, platform, files, **options)

    monkeypatch.setattr(cells, "simulate_platform", record)
    names = ["baseline", "hvc-many-segment-no-sc", "hvc-delayed-tlb-32k"]
    found, _ = simulated(request_of("max"), names)
    assert found["design"].tolist() == names and set(found["status"]) == {"ok"}
    assert seen == [
        ["baseline", None, None], ["hvc-many-segment", 0, None], ["hvc-delayed-tlb", None, 32768],
    ]  # fmt: skip
    behind = {one.name for one in design_catalogue.DESIGN_VARIANTS if design_catalogue.behind_l3(one.name)}
    assert behind == {name for name in design_catalogue.VARIANT_NAMES if name.startswith("hvc-")}
    assert not design_catalogue.behind_l3("anchor") and not design_catalogue.behind_l3("own-design")
    # without its segment cache, a design has the energy of the other arrays
    park = platforms.load_platform("park-haswell")
    with_it, without = (
        design_catalogue.leakage_nj(name, FREQUENCY, park)
        for name in ("hvc-many-segment", "hvc-many-segment-no-sc")
    )
    assert with_it - without == pytest.approx(1.32e6)


def test_a_number_of_walkers_changes_that_key_only(request_of):
    park = platforms.load_platform("park-haswell")
    for words, count in (("2-walkers", 2), ("any-walkers", 0)):
        names = {name.removesuffix(f"-{words}") for name in design_catalogue.VARIANT_NAMES if words in name}
        assert names == {
            "baseline", "hvc-delayed-tlb", "hvc-many-segment", "hvc-many-segment-no-sc",
            "hvc-many-segment-virtualized", "nested-4kb",
        }  # fmt: skip
        for name in names:
            own = design_catalogue.named_design(f"{name}-{words}").values
            assert own == design_catalogue.named_design(name).values | {"walker.count": count}
            same = (design_catalogue.leakage_nj(one, 1000.0, park) for one in (name, f"{name}-{words}"))
            assert len(set(same)) == 1
    said = design_catalogue.named_design("baseline-any-walkers").sentence
    assert said == "baseline with any number of walkers"
    # its second level is in no list of structures, as that of baseline
    _, parts = simulated(request_of("low"), ["baseline-2-walkers"])
    assert parts["structure"].tolist() == ["first-level", "second-level"]


def test_a_virtual_machine_has_keys_of_its_own():
    values = {name: design_catalogue.named_design(name).values for name in design_catalogue.VARIANT_NAMES}
    assert values["nested-4kb"] == {"mmu.design": "nested", "design.nested.only_4kb": 1}
    assert values["hvc-many-segment-virtualized"] == {
        "mmu.design": "hvc-many-segment", "design.hvc-many-segment.dimensions": 2,
    }  # fmt: skip


def test_a_plus_is_each_design_under_each_mapping():
    assert cells.pairs_of("anchor:low") == [("anchor", "low")]
    assert cells.pairs_of("anchor+rmm:low+max") == [
        ("anchor", "low"), ("anchor", "max"), ("rmm", "low"), ("rmm", "max"),
    ]  # fmt: skip
    short = cells.wanted_mappings(["thp"], ["low"], ["thp+anchor:low+max", "anchor:high"])
    assert short == {"thp": ["low", "max"], "anchor": ["low", "max", "high"]}


def test_a_design_has_each_mapping_once():
    also = ["anchor:high-over-low", "anchor:low", "nested:high-over-low", "nested:low", "nested:max"]
    found = cells.wanted_mappings(["thp", "anchor"], ["low", "low"], also)
    assert found == {
        "thp": ["low"], "anchor": ["low", "high-over-low"], "nested": ["high-over-low", "low", "max"],
    }  # fmt: skip
    assert list(found) == ["thp", "anchor", "nested"]
    assert cells.wanted_mappings([], ["low"], ["anchor:max"]) == {"anchor": ["max"]}


def test_a_mapping_without_a_file_has_no_cells(request_of):
    found, _ = cells.cells_and_structures(request_of("low"), {"baseline": ["low", "gone"], "thp": ["gone"]})
    assert found[["design", "mapping"]].values.tolist() == [["baseline", "low"]]


@pytest.mark.parametrize(
    "text",
    ["anchor", "anchor:", ":low", "anchor:low,:", "anchor+:low", "anchor:low+", "+anchor:low", "a:low:max"],
)
def test_a_pair_of_another_form_is_refused(tmp_path, text):
    with pytest.raises(TesseraError) as refused:
        lab_run("designs", f"also={text}", out=tmp_path)
    assert f"also={text}" in refused.value.asked
    for word in ("also=anchor:hihg", "also=thp+anchor:low+hihg", "mappings=low,hihg"):
        with pytest.raises(TesseraError, match="hihg"):
            lab_run("designs", word, out=tmp_path)


def test_the_kinds_are_those_of_the_generator():
    assert set(placements.KINDS) == {name for name in KINDS if not name.endswith("-adjacent")}
    placements.check_kinds([*KINDS, "high-over-low", "pages-64", "pages-64-4kb"])
    for wrong in ("hihg", "high-over-hihg", "pages-65"):
        with pytest.raises(TesseraError, match=wrong.rpartition("-over-")[2]):
            placements.check_kinds(["low", wrong])


def test_sentences_leave_out_variants_designs_behind_l3_and_those_without_all_workloads(request_of):
    wanted = ["baseline", "thp", "anchor", "rmm", "hvc-delayed-tlb", "baseline-2-walkers"]
    found, _ = simulated(request_of("max"), wanted)
    other = found.assign(workload="other")
    both = pd.concat([found, other[other["design"] != "rmm"]], ignore_index=True)
    said = sentences.design_sentences(both)
    assert len(said) == 1
    assert said[0].startswith("Mapping max: anchor leaves the fewest misses, 10.0%")
    assert said[0].endswith("then thp with 40.0%.") and "2 workloads" in said[0]


def test_a_failed_recording_is_a_failed_row_and_the_command_succeeds(tmp_path):
    info = {"workload": "made", "size": "tiny", "status": "failed", "message": "QEMU-7"}
    (tmp_path / "info.json").write_text(json.dumps(info))
    shown = lab_run("designs", f"trace={tmp_path / 'info.json'}", "platform=park-haswell", out=tmp_path / "o")
    assert shown.exit_code == 0
    table = read_file(schema.DESIGN_CELLS, tmp_path / "o" / "cells.csv")
    assert table[["workload", "platform", "status"]].values.tolist() == [["made", "park-haswell", "failed"]]
    assert "QEMU-7" in table["message"].iloc[0]
    for one in (schema.DESIGN_STRUCTURES, schema.DESIGN_MAPPINGS):
        assert len(read_file(one, tmp_path / "o" / one.file)) == 0


@pytest.mark.toolchain
def test_walkers_change_r_of_each_design_that_walks_and_not_of_ideal(root, tmp_path, monkeypatch):
    """Many segments walk, too: for code and for data outside the pools."""
    variants = [name for name in design_catalogue.VARIANT_NAMES if name.endswith("-walkers")]
    walking = [name.removesuffix("-2-walkers") for name in variants if name.endswith("-2-walkers")]
    ideal = [
        design_catalogue.CataloguedDesign(f"ideal-{count}", "", (), "ideal", {"walker.count": count})
        for count in (2, 0)
    ]
    every = (*design_catalogue.DESIGN_VARIANTS, *ideal)
    monkeypatch.setattr(design_catalogue, "DESIGN_VARIANTS", every)
    names = ",".join([*walking, *variants, "ideal", "ideal-2", "ideal-0"])
    trace = root / "tests" / "traces" / "examples" / "phases.tst"
    words = [f"trace={trace}", "platform=park-haswell", "mappings=max", f"designs={names}"]
    shown = lab_run("designs", *words, out=tmp_path)
    assert shown.exit_code == 0, shown.output
    found = read_file(schema.DESIGN_CELLS, tmp_path / "cells.csv").set_index("design")["runtime_cycles"]
    for name in walking:
        assert found[name] > found[f"{name}-2-walkers"] > found[f"{name}-any-walkers"], name
    assert found["ideal"] == found["ideal-2"] == found["ideal-0"]


@pytest.mark.toolchain
def test_designs_of_a_small_trace(two_phases, tmp_path):
    """Two phases of 30,000 loads: 64 pages in a loop, then random ones of 64MB (16,384 pages)."""
    words = [f"trace={two_phases}", "platform=park-haswell", "mappings=demand,low,max", "accesses=40000"]
    also = ",".join(f"{design}:max-over-pages-1" for design in ("baseline", "anchor", "nested"))
    some = "designs=baseline,thp,anchor,ideal,hvc-many-segment,nonsense"
    shown = lab_run("designs", *words, some, f"also={also}", out=tmp_path)
    assert shown.exit_code == 0 and "misses of baseline's" in shown.output
    found = read_file(schema.DESIGN_CELLS, tmp_path / "cells.csv").set_index(["design", "mapping"])
    assert set(found.loc["nonsense", "status"]) == {"refused"}
    good = found.drop(index="nonsense", level="design")
    assert set(good["status"]) == {"ok"}
    over = good.xs("max-over-pages-1", level="mapping")["stlb_misses"]
    assert over["anchor"] == over["baseline"] == over["nested"]  # a host in single pages: no anchor has two
    good = good.drop(index="max-over-pages-1", level="mapping")
    assert found["accesses"].dropna().between(39_990, 40_010).all()
    misses = good["stlb_misses"]
    # 4KB pages: 20,000 loads of 16,384 pages, of which a second level of 1,024 holds at most a sixteenth
    assert misses["baseline"].nunique() == 1 and misses["baseline", "low"] > 15_000
    assert misses["thp", "low"] == misses["baseline", "low"]  # chunks of at most 16 pages: no 2MB page
    assert misses["thp", "max"] <= 32 + 2  # 32 pages of 2MB, and pages outside the pools
    assert set(misses["ideal"]) == {0}
    assert misses["anchor", "low"] < misses["thp", "low"]
    assert good.loc[("ideal", "max"), "runtime_cycles"] <= good["runtime_cycles"].min()
    mappings = read_file(schema.DESIGN_MAPPINGS, tmp_path / "mappings.csv").set_index("mapping")
    assert mappings.loc["max", ["chunks", "share_2mb", "distance_count"]].tolist() == [1, 1, 16384]
    assert mappings.loc["low", "distance_count"] == 4
    assert mappings.loc["low", "mapped_pages"] == 16_384
    assert set(read_file(schema.DESIGN_STRUCTURES, tmp_path / "structures.csv")["structure"]) >= {
        "second-level", "regular", "anchor", "segment-cache",
    }  # fmt: skip
    kept = sorted((tmp_path / ".cache").rglob("*.json"))
    words += ["designs=baseline,thp", "also=baseline:max-over-pages-1", f"cache={tmp_path / '.cache'}"]
    again = lab_run("designs", *words, out=tmp_path / "b")
    assert again.exit_code == 0 and sorted((tmp_path / ".cache").rglob("*.json")) == kept
    assert (tmp_path / "b" / "mappings.csv").read_bytes() == (tmp_path / "mappings.csv").read_bytes()
