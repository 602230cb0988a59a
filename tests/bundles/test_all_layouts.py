"""A measurement with the 54 layouts of MICRO'20, from its runs to claims about models: one known program.

The fake Broadwell counts a program whose R is a parabola in C, so it is known which models fit it and how far
a straight line misses it. With s, the share of walks that a layout leaves: C = 600 s, R = 190 + 270 s^2
million cycles. s falls from 1 to 0.02 with the memory on 2MB pages, and is 0 on 1GB pages.
"""

from __future__ import annotations

import csv
import random
from types import SimpleNamespace

import numpy as np
import pytest

from tessera.cli.pipeline.bundles import take_part
from tessera.core.errors import TesseraError
from tessera.core.layouts import generation
from tessera.core.layouts.generation import Space
from tessera.core.results.cell_tables import MODELS_OF_RUN, PROFILE
from tessera.core.results.table_io import read_file, read_tree_table, write_cells
from tessera.core.results.tree import MODEL_TABLES, ResultsTree
from tessera.measure.bundles.verify import verify_bundle
from tessera.measure.counted.campaign import measure_bundle
from tessera.measure.rounds import StoppingRule
from tessera.report.machines import judge_results
from tests.measure.counted.world import LAYOUTS
from tests.notebooks.fake_machine import even_profile, large_world

WORKLOAD, MACHINE = "gups-8gb", "broadwell-01234567"
SMALL, LARGE, LARGEST = "growing-0", "growing-8", "1gb"
USED = {"brk": 2 << 20, "mmap": 1 << 30}  #: bytes that the fake program uses, whole 2MB pages
NINE = {"basu", "pham", "gandhi", "alam", "yaniv", "poly1", "poly2", "poly3", "mosmodel"}


def share(layout) -> float:
    """The walks that a layout leaves, of those of 4KB pages."""
    covered = sum(one.end - one.start for one in layout.windows) / sum(USED.values())
    return 0.0 if layout.name == LARGEST else 1 - 0.98 * covered


def engine(profile: ResultsTree) -> dict[str, dict[str, int]]:
    """Layout -> R, H, M, C and instructions of the program, under the layouts that will be measured."""
    misses = read_file(PROFILE, profile.profile(WORKLOAD, "broadwell-sim"))
    space = generation.on_touched(Space(USED, dict.fromkeys(USED, 1 << 30)), misses)
    rng, found = random.Random(54), {}
    for layout in generation.generate_layouts(space, misses, seed=1):
        s = share(layout)
        found[layout.name] = {
            "runtime_cycles": round(190e6 + 270e6 * s**2), "stlb_hits": rng.randrange(1_000_000, 2_000_000),
            "stlb_misses": round(20e6 * s) + 5, "walk_cycles": round(600e6 * s) + 4,
            "instructions": 700_000_000,
        }  # fmt: skip
    return found


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The bundle, and the results of a run in which it took part."""
    folder = tmp_path_factory.mktemp("all")
    world = large_world(folder, WORKLOAD)
    profile = even_profile(folder / "profile", WORKLOAD, "broadwell-sim")
    cells = engine(ResultsTree(profile))
    with (folder / "engine.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["workload", "layout", *cells[SMALL]])
        writer.writeheader()
        writer.writerows({"workload": WORKLOAD, "layout": name, **cell} for name, cell in cells.items())
    with pytest.MonkeyPatch.context() as of_machine:
        for name, value in world.environment.items():
            of_machine.setenv(name, value)
        request = world.request(
            workloads=(WORKLOAD,), layouts="full", rule=StoppingRule(), mode="uk", results=profile
        )
        measure_bundle(request)
    results = ResultsTree(folder / "run")
    simulated = [
        {"workload": WORKLOAD, "platform": "broadwell-sim", "layout": name, "repeat": 0, "status": "ok",
         "runtime_cycles": r, "stlb_hits": 1, "stlb_misses": 1, "walk_cycles": 1, "instructions": 1,
         "runtime_provenance": "simulated", "tlb_provenance": "simulated", "engine": "timing"}
        for name, r in ((SMALL, 1000), (LARGE, 900), (LARGEST, 900))
    ]  # fmt: skip
    write_cells(simulated, results.cells)
    out, said = ResultsTree(results.root).machines.bundles_list, []
    with pytest.raises(TesseraError) as refused:  # without the switch of the tests
        take_part([request.out], out, seed=1, orders=2)
    take_part([request.out], out, seed=1, orders=2, rehearsals=True, say=said.append)
    judged = judge_results(results.root)
    return SimpleNamespace(
        bundle=request.out, cells=cells, refused=refused.value, said=said,
        tree=ResultsTree(results.root).machines,
        judged=judged, claims=judged.claims.set_index("id"),
    )  # fmt: skip


def line_errors(cells) -> dict[str, float]:
    """Layout -> relative error of Yaniv's line, by hand: in C, through the runs of 4KB and 2MB pages."""
    (c4, r4), (c2, r2) = (
        (cells[name]["walk_cycles"], cells[name]["runtime_cycles"]) for name in (SMALL, LARGE)
    )
    slope = (r4 - r2) / (c4 - c2)
    return {
        name: abs(r2 + slope * (cell["walk_cycles"] - c2) - cell["runtime_cycles"]) / cell["runtime_cycles"]
        for name, cell in cells.items()
    }


def test_the_bundle_has_every_layout_and_passes_every_check(done):
    found = verify_bundle(done.bundle)
    assert found.passed and sorted(name for _, name in found.bundle.layouts) == sorted(LAYOUTS)
    for (_, name), layout in found.bundle.layouts.items():
        assert done.cells[name]["walk_cycles"] == round(600e6 * share(layout)) + 4, name
    assert done.refused.code == "bundle-rehearsal"


def test_all_tables_of_models_are_there_and_nothing_was_left_out(done):
    assert done.said == []
    for name in MODEL_TABLES:
        assert len(read_tree_table(MODELS_OF_RUN[name], done.tree)), name
    assert not list(done.tree.all_models.rglob("not_*.txt"))
    errors = read_tree_table(MODELS_OF_RUN["errors"], done.tree)
    assert set(errors["platform"]) == {MACHINE} and set(errors["model"]) >= NINE


def test_models_err_as_the_program_says(done):
    """A parabola has no error; the straight line misses it where it is farthest from its two runs."""
    table = read_tree_table(MODELS_OF_RUN["errors"], done.tree)
    errors, of_1gb = (table[table["protocol"] == p].set_index("model")["max_error"] for p in ("all", "1gb"))
    of_line = line_errors(done.cells)
    worst = max(error for name, error in of_line.items() if name != LARGEST)
    assert errors["yaniv"] == pytest.approx(worst, rel=1e-6) and worst > 0.25
    assert errors["poly2"] < 1e-6 < errors["poly1"]
    assert of_1gb["yaniv"] == pytest.approx(of_line[LARGEST], rel=1e-6) and of_1gb["poly2"] < 1e-6


def test_claims_about_models_are_decided_by_the_machine(done):
    yaniv = done.claims.loc["micro20-max-error-yaniv"]
    assert (yaniv.verdict, yaniv.provenance) == ("REPRODUCED", "measured")
    worst = max(error for name, error in line_errors(done.cells).items() if name != LARGEST)
    assert float(yaniv.obtained) == pytest.approx(100 * worst, rel=1e-3) and "1 of 57 pairs" in yaniv.reason


def test_claims_about_cells_are_decided_in_their_one_way(done):
    walks = done.claims.loc["micro20-broadwell-walks-exceed-runtime"]
    assert walks.verdict == "REPRODUCED" and float(walks.obtained) == pytest.approx(600 / 460, rel=1e-3)
    share = done.claims.loc["opera-tlb-share"]  # at most 50%; 1GB pages save 270 of 460
    assert share.verdict == "DEVIATES" and float(share.obtained) == pytest.approx(2700 / 46, rel=1e-3)


def test_a_claim_about_this_pair_alone_is_decided_whole(done):
    """R squared of C: the part of R's variance that a straight line explains, by numpy; H is unrelated."""
    cells = [cell for name, cell in done.cells.items() if name != LARGEST]
    r, h = ([cell[column] for cell in cells] for column in ("runtime_cycles", "stlb_hits"))
    assert np.corrcoef(r, h)[0, 1] ** 2 < 0.72 - 0.15
    row = done.claims.loc["micro20-table8-gups-broadwell"]
    assert row.verdict == "DEVIATES" and "pairs" not in row.reason


def test_what_one_pair_cannot_decide_is_not_decided(done):
    """Errors of at most N% over all pairs: a pair with less refutes nothing."""
    for name in ("micro20-poly2-up-to-6", "opera-cubic-is-enough", "micro20-max-error-mosmodel"):
        row = done.claims.loc[name]
        assert row.verdict == "NOT-MEASURABLE-HERE" and f"{MACHINE}: " in row.reason, name
    for groups in done.judged.measured.values():
        for one in groups:
            assert one.group.machines == (MACHINE,) and one.outcome.provenance == "measured"
