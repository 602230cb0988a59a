"""Merged parts are one bundle that passes; parts that do not belong together are named."""

from dataclasses import fields, replace

import pytest

from tessera.core.errors import TesseraError
from tessera.measure.bundles import cell_arithmetic, file_format, json_files, merge
from tessera.measure.bundles.reader import parse_bundle
from tessera.measure.bundles.verify import verify_bundle, verify_files
from tessera.measure.bundles.writer import sealed_files
from tests.bundles.processor import Plan, made, opened

PLAN = Plan(rounds=2, layouts=("growing-0", "growing-8"))


def part(seed=1, **changes):
    return parse_bundle(f"part {seed}", made(replace(PLAN, **changes), seed).files)


def edited(file, read, text, **changes):
    files = dict(opened(PLAN, 2).files)
    files[file] = text(replace(read(files[file]), **changes)).encode()
    return parse_bundle("edited", sealed_files("edited", files))


def same_machine(seed, **changes):
    """A part of the machine of ``part(1)``: its model is drawn from the seed, so it is set."""
    files = dict(opened(replace(PLAN, **changes), seed).files)
    files[file_format.MACHINE_FILE] = made(PLAN, 1).files[file_format.MACHINE_FILE]
    return parse_bundle(f"part {seed}", sealed_files("part", files))


def test_two_workloads():
    both = merge.merged(part(1), same_machine(2, workloads=("chase",)))
    done = verify_files("both", both)
    assert done.passed
    found = done.bundle
    assert set(found.workloads) == {"gups-16gb", "chase"}
    assert [run.run for run in found.runs] == list(range(8))
    by_workload = cell_arithmetic.compute_cells(found).groupby("workload")
    assert {name: list(rows.runtime_cycles) for name, rows in by_workload} == {
        "gups-16gb": list(cell_arithmetic.compute_cells(part(1)).runtime_cycles),
        "chase": list(cell_arithmetic.compute_cells(same_machine(2, workloads=("chase",))).runtime_cycles),
    }


def test_further_rounds():
    """Cells of the whole are means of four rounds, two of each part."""
    first, second = part(1), same_machine(2)
    found = verify_files("both", merge.merged(first, second))
    assert found.passed
    assert {run.round for run in found.bundle.runs} == {0, 1, 2, 3}
    for layout in PLAN.layouts:
        values = [
            next(c.value for c in b.counts[run.run] if c.event == "R_cycles_uk")
            for b in (first, second)
            for run in b.runs
            if run.layout == layout
        ]
        frame = cell_arithmetic.compute_cells(found.bundle).set_index("layout")
        assert frame.loc[layout, "runtime_cycles"] == round(sum(values) / 4)


def test_a_condition_is_the_worse_of_both():
    files = dict(opened(replace(PLAN, workloads=("chase",)), 1).files)
    text = files[file_format.ENVIRONMENT_FILE].decode()
    old = next(line for line in text.splitlines() if line.startswith("smt,"))
    files[file_format.ENVIRONMENT_FILE] = text.replace(old, "smt,bars,off,1,differs,turn it off").encode()
    other = parse_bundle("smt", sealed_files("smt", files))
    for pair in ((part(1), other), (other, part(1))):
        done = verify_files("both", merge.merged(*pair))
        assert done.passed
        assert any(reason.startswith("smt differs") for reason in done.bars)


@pytest.mark.parametrize("changes, name", [
    ({"mode": "u"}, "mode"),
    ({"rehearsal": True}, "rehearsal"),
    ({"class_name": "haswell"}, "class_name"),
    ({"machine_id": "f" * 32}, "machine_id"),
    ({"layouts": ("growing-0", "growing-4")}, "layouts"),
    ({"optional": ("code",)}, "events.csv"),
    ({"failing": ("growing-8",)}, "gups-16gb"),
])  # fmt: skip
def test_parts_of_other_kinds(changes, name):
    with pytest.raises(TesseraError) as error:
        merge.merged(part(1), part(1, **changes))
    assert error.value.code == "bundle-merge" and name in error.value.found


@pytest.mark.parametrize("name, value", [("microcode", "0xb000041"), ("kernel", "6.1.0-19-amd64")])
def test_another_state_of_the_machine(name, value):
    other = edited(
        file_format.MACHINE_FILE, json_files.read_machine, json_files.machine_text, **{name: value}
    )
    with pytest.raises(TesseraError) as error:
        merge.merged(part(1), other)
    assert f"{name}: " in error.value.found and value in error.value.found


def test_the_same_part_twice():
    with pytest.raises(TesseraError) as error:
        merge.merged(part(1), part(1))
    assert "gups-16gb" in error.value.found


def test_every_field_of_the_head_is_compared_or_chosen():
    chosen = {"created"}
    assert set(merge._SAME_ABOUT) | chosen == {one.name for one in fields(part(1).about)}


def test_write(tmp_path):
    files = merge.merged(part(1), same_machine(2))
    merge.write(files, tmp_path / "c")
    assert verify_bundle(tmp_path / "c").passed
    with pytest.raises(TesseraError):
        merge.write(files, tmp_path / "c")
