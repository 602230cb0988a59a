"""Good bundles pass, and their cells are the numbers that the processor counted, computed here by hand."""

import random
from fractions import Fraction

import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.table_io import read_cells, write_cells
from tessera.measure import bundles
from tessera.measure.bundles import cell_arithmetic, file_format
from tessera.measure.bundles.reader import parse_bundle
from tessera.measure.bundles.verify import verify_bundle, verify_files
from tessera.measure.bundles.writer import sealed_files
from tests.bundles.processor import Plan, draw, made, opened, put

SIDES = {"broadwell": ("loads", "stores"), "zen3": ("any",), "icelake": ("loads", "stores")}


@pytest.mark.parametrize("block", range(10))
def test_two_hundred_good_bundles_pass(block):
    for seed in range(20 * block, 20 * block + 20):
        plan = draw(random.Random(seed))
        done = verify_files("made", made(plan, seed).files)
        failed = [(check.name, check.reasons) for check in done.checks if not check.passed]
        assert not failed, (seed, plan.class_name)
        assert any("rehearsal" in reason for reason in done.bars) == plan.rehearsal


def test_a_whole_bundle_decides():
    done = verify_files("made", made().files)
    assert done.passed and done.decides and done.bars == ()


def rounded(values):
    """The mean, half to even."""
    return round(Fraction(sum(values), len(values)))


@pytest.mark.parametrize("class_name", SIDES)
def test_cells_are_means_over_passes_and_rounds(class_name):
    bundle = made(Plan(class_name, rounds=3, optional=("code",)), seed=3)
    frame = cell_arithmetic.compute_cells(parse_bundle("made", bundle.files)).set_index("layout")
    assert sorted(frame.index) == sorted(bundle.plan.layouts)
    for layout in bundle.plan.layouts:
        rounds = [[r for r in bundle.runs if r.layout == layout and r.round == n] for n in range(3)]
        row = frame.loc[layout]

        def mean(quantity, rounds=rounds):
            """Of the rounds, whose value is the mean of the passes that count the quantity."""
            found = [[bundle.truth[r.run, quantity] for r in runs if (r.run, quantity) in bundle.truth]
                     for runs in rounds]  # fmt: skip
            return [Fraction(sum(values), len(values)) for values in found]

        def both(symbol, mean=mean):
            return [sum(values) for values in zip(*[mean(f"{symbol} {s}") for s in SIDES[class_name]],
                                                  strict=True)]  # fmt: skip

        assert row.runtime_cycles == rounded(mean("R cycles"))
        assert row.instructions == rounded(mean("instructions"))
        assert row.stlb_hits == rounded(both("H"))
        assert row.stlb_misses == rounded(both("M"))
        assert row.instruction_stlb_misses == rounded(mean("instruction M"))
        assert row.runtime_ns == float(sum(Fraction(sum(r.roi_ns for r in runs), len(runs))
                                           for runs in rounds) / 3)  # fmt: skip
        if class_name == "zen3":
            assert str(row.walk_cycles) in ("nan", "<NA>") and "zen3" in row.message
        else:
            assert row.walk_cycles == rounded(both("C"))
        assert (row.status, row.engine, row.tlb_provenance) == ("ok", "launcher", "measured")


def test_the_interval_is_that_of_student():
    """Three rounds: half-width = 4.302653 s / sqrt(3), rounded up."""
    bundle = made(Plan(rounds=3), seed=3)
    row = (
        cell_arithmetic.compute_cells(parse_bundle("made", bundle.files)).set_index("layout").loc["growing-0"]
    )
    runs = [r for r in bundle.runs if r.layout == "growing-0"]
    values = [bundle.truth[r.run, "R cycles"] for r in runs]
    mean = sum(values) / 3
    sd = (sum((value - mean) ** 2 for value in values) / 2) ** 0.5
    half = 4.302652729911275 * sd / 3**0.5
    assert half <= row.runtime_cycles_ci95 <= half + 1.001
    assert row.runtime_ns_ci95 == int(row.runtime_ns_ci95)


def test_a_rehearsal_is_simulated_and_a_failed_layout_has_no_numbers():
    bundle = made(Plan(rehearsal=True, failing=("random-1",)))
    frame = cell_arithmetic.compute_cells(parse_bundle("made", bundle.files)).set_index("layout")
    assert set(frame.loc[frame.status == "ok", "runtime_provenance"]) == {"simulated"}
    row = frame.loc["random-1"]
    assert row.status == "failed" and row.message == "status 1: it did not end"
    assert str(row.runtime_cycles) in ("nan", "<NA>")


def test_the_file_of_cells_is_the_one_that_other_writers_write(tmp_path):
    bundle = parse_bundle("made", made(Plan(failing=("random-1",), optional=("code",))).files)
    write_cells(cell_arithmetic.compute_cells(bundle), tmp_path / "written.csv")
    assert (tmp_path / "written.csv").read_text() == bundle.cells
    assert len(read_cells(tmp_path / "written.csv")) == 7


def test_seal_and_read_a_folder(tmp_path):
    bundle = opened(Plan())
    put(bundle.files, tmp_path)
    assert bundles.read_bundle(tmp_path).cells is None
    done = bundles.seal(tmp_path)
    assert done.sealed and bundles.read_bundle(tmp_path).cells == done.cells
    assert {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()} == {
        *file_format.SEALED_FILES,
        *(file_format.layout_file("gups-16gb", name) for name in bundle.plan.layouts),
    }
    assert verify_bundle(tmp_path).decides
    with pytest.raises(TesseraError) as error:
        bundles.seal(tmp_path)
    assert error.value.code == "bundle-sealed"


@pytest.mark.parametrize(
    "left",
    [
        (file_format.COUNTS_FILE, file_format.PACKED_FILE),
        (file_format.PACKED_FILE,),
        (file_format.COUNTS_FILE,),
    ],
)
def test_sealing_that_was_killed_is_sealed_again(tmp_path, left):
    """Killed before, between and after its files; the sums are the last."""
    whole = made(Plan())
    files = {name: data for name, data in whole.files.items() if name != file_format.SUMS_FILE}
    if file_format.COUNTS_FILE in left:
        files[file_format.COUNTS_FILE] = opened(Plan()).files[file_format.COUNTS_FILE]
    if file_format.PACKED_FILE not in left:
        del files[file_format.PACKED_FILE], files[file_format.CELLS_FILE]
    put(files, tmp_path)
    bundles.seal(tmp_path)
    assert (tmp_path / file_format.SUMS_FILE).read_bytes() == whole.files[file_format.SUMS_FILE]
    assert not (tmp_path / file_format.COUNTS_FILE).exists()


def test_the_same_runs_have_the_same_bytes():
    bundle = opened(Plan())
    assert sealed_files("a", bundle.files) == sealed_files("b", bundle.files)
