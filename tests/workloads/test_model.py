"""Workload files: the committed ones keep the contract, broken ones are refused by name."""

from __future__ import annotations

import csv

import pytest
import yaml

from tessera.cli.pipeline import needs
from tessera.core.errors import TesseraError
from tessera.core.units import GB, PAGE_2MB
from tessera.record import workloads
from tessera.record.workloads.definition import read_workload

VALID = {
    "name": "w",
    "executable": "w",
    "description": "d",
    "source": "s",
    "sizes": {"tiny": {"args": ["--n", "1"], "footprint": "1MB", "heap_pool": "2MB", "anon_pool": "4MB"}},
}


def written(folder, tree):
    path = folder / "w.yaml"
    path.write_text(yaml.safe_dump(tree))
    return path


#: Tessera's own rows; a user's additions have the kinds program and scripts.
OURS = [
    name
    for name in workloads.workload_names()
    if workloads.load_workload(name).kind not in ("program", "scripts")
]


@pytest.mark.parametrize("name", OURS)
def test_every_row_has_the_three_sizes(name):
    """Rows of MICRO'20 and OPERA have the published size; those of SPEC and Mitosis do not."""
    found = workloads.load_workload(name)
    ours = set(found.rows) & {"micro20", "opera"} and found.kind != "spec"
    assert {"tiny", "published" if ours else "default", "paper"} <= set(found.sizes)


@pytest.mark.parametrize("name", OURS)
def test_pools_fit_their_pages(name):
    for label, size in workloads.load_workload(name).sizes.items():
        unit = PAGE_2MB if label in ("tiny", "guest") else GB  # a guest has few gigabytes
        assert size.heap_pool % unit == 0 and size.anon_pool % unit == 0, label
        assert size.footprint <= size.anon_pool + size.heap_pool
        if label in ("tiny", "default", "published"):
            assert needs.memory_bytes(size) <= 17 * GB
            assert needs.preparing_bytes(size) <= 16 * GB


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ({"windows": 0, "region_accesses": 5}, "sizes/tiny/windows: 0; .* at least 1"),
        ({"windows": "4", "region_accesses": 5}, "sizes/tiny/windows: '4'; .* whole number"),
        ({"windows": 4}, "sizes/tiny: windows 4 needs region_accesses"),
        ({"region_accesses": True}, "sizes/tiny/region_accesses: true; .* whole number"),
        ({"region_accesses": -5}, "sizes/tiny/region_accesses: -5; .* at least 1"),
    ],
)
def test_windows_that_cannot_work_are_refused(tmp_path, keys, found):
    sizes = {"tiny": VALID["sizes"]["tiny"] | keys}
    with pytest.raises(TesseraError, match=found):
        read_workload(written(tmp_path, VALID | {"sizes": sizes}))


def test_windows_and_accesses_of_the_region_are_optional(tmp_path):
    plain = read_workload(written(tmp_path, VALID)).size("tiny")
    assert (plain.windows, plain.region_accesses) == (1, None)
    sizes = {"tiny": VALID["sizes"]["tiny"] | {"windows": 4, "region_accesses": 10**11}}
    windowed = read_workload(written(tmp_path, VALID | {"sizes": sizes})).size("tiny")
    assert (windowed.windows, windowed.region_accesses) == (4, 10**11)


def test_each_row_of_table_5_has_an_open_workload_and_spec_its_own_too(root):
    """Every row of MICRO'20 Table 5 once without a licence; the licensed ones twice, one a named stand-in."""
    with (root / "reference-results" / "table5_workloads.csv").open() as table:
        published = {row["workload"]: row["suite"] for row in csv.DictReader(table)}
    assert len(published) == 19
    mine = [workloads.load_workload(name) for name in OURS]
    for row, suite in published.items():
        of_row = [found for found in mine if found.rows.get("micro20") == row]
        assert len([found for found in of_row if found.kind != "spec"]) == 1, row
        licensed = suite.startswith("SPEC")
        assert len([found for found in of_row if found.kind == "spec"]) == licensed, row
        for found in of_row:
            stands_in = licensed and found.kind != "spec"
            assert found.stand_in_for.startswith("SPEC CPU20") == stands_in, found.name
    assert {found.rows["micro20"] for found in mine if "micro20" in found.rows} == set(published)


def test_each_row_of_operas_table_4_has_a_workload(root):
    with (root / "reference-results" / "opera_table4_overheads.csv").open() as table:
        published = {row["workload"] for row in csv.DictReader(table)}
    assert {workloads.load_workload(name).rows.get("opera") for name in OURS} - {None} == published


def test_unknown_names_and_sizes_list_the_valid_ones():
    with pytest.raises(TesseraError, match=r"workload 'gusp'.*\n.*graph500, .*gups, .*pr, "):
        workloads.load_workload("gusp")
    with pytest.raises(TesseraError, match="gups 'huge'.*\n.*default, paper"):
        workloads.load_workload("gups").size("huge")


def test_a_name_is_not_a_path():
    with pytest.raises(TesseraError, match=r"workload '\.\./workloads/gups'.*\n.* gups, "):
        workloads.load_workload("../workloads/gups")


def test_command_of_a_built_program(tmp_path, monkeypatch):
    program = tmp_path / "build" / "workloads" / "gups"
    found = workloads.load_workload("gups")
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    with pytest.raises(TesseraError, match="build workloads"):
        found.command("tiny")
    program.parent.mkdir(parents=True)
    program.touch()
    assert found.command("tiny") == [str(program), *found.size("tiny").args]


def test_read_takes_a_valid_file(tmp_path):
    assert read_workload(written(tmp_path, VALID)).size("tiny").args == ("--n", "1")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "other"}, "name 'other'"),
        ({"extra": 1}, "extra: unknown key.*\n.*keys here are: name, executable"),
        ({"sizes": {}}, "sizes: .* at least 1 keys"),
    ],
    ids=["change0-is not the file's name", "change1-unknown extra", "change2-at least one size"],
)
def test_read_names_a_broken_file(tmp_path, change, said):
    with pytest.raises(TesseraError, match=said):
        read_workload(written(tmp_path, VALID | change))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"args": ["--n", 1]}, 'sizes/tiny/args/1: 1; it must be a printable word\n.*quotes: "1"'),
        ({"heap_pool": "3MB"}, "sizes/tiny/heap_pool: 3MB .*2MB"),
        ({"footprint": "7MB"}, "sizes/tiny: footprint 7MB "),
        ({"anon_pool": "many"}, "anon_pool.*many"),
        ({"speed": 1}, "sizes/tiny/speed: unknown key"),
    ],
    ids=[
        "change0-list of texts",
        "change1-not a multiple of 2MB",
        "change2-does not fit the pools",
        "change3-not a size",
        "change4-unknown speed",
    ],
)
def test_read_names_a_broken_size(tmp_path, change, said):
    size = VALID["sizes"]["tiny"] | change
    with pytest.raises(TesseraError, match=said):
        read_workload(written(tmp_path, VALID | {"sizes": {"tiny": size}}))


PREPARED = {"file": "graph-1", "program": "pr", "args": ["--scale", "4"], "bytes": "1MB", "memory": "2MB"}


def loading(folder, prepared, args=("--prepared", "{prepared}"), **more):
    size = VALID["sizes"]["tiny"] | {"args": list(args), "prepared": prepared} | more
    return read_workload(written(folder, VALID | {"sizes": {"published": size}})).size("published")


def test_a_size_states_what_it_loads_and_touches(tmp_path):
    size = loading(tmp_path, PREPARED, touched="3MB", share=0.5)
    assert (size.prepared.file, size.prepared.program, size.prepared.args) == (
        "graph-1",
        "pr",
        ("--scale", "4"),
    )
    assert (size.prepared.bytes, size.prepared.memory, size.touched) == (1 << 20, 2 << 20, 3 << 20)
    assert size.share == 0.5


@pytest.mark.parametrize(
    ("prepared", "more", "said"),
    [
        ({"file": "graph-1"}, {}, "sizes/published/prepared: keys missing: program, args, bytes, memory"),
        (PREPARED | {"file": "../graph"}, {}, "small letters"),
        (
            PREPARED | {"args": ["--scale", 4]},
            {},
            'sizes/published/prepared/args/1: 4; it must be a printable word\n.*quotes: "4"',
        ),
        (PREPARED, {"args": ["--n", "1"]}, "need each other"),
        (PREPARED, {"share": 1.5}, "between 0 and 1"),
        (PREPARED, {"share": "half"}, "between 0 and 1"),
        (PREPARED, {"touched": "many"}, "many"),
    ],
)
def test_wrong_statements_about_a_prepared_file_are_refused(tmp_path, prepared, more, said):
    with pytest.raises(TesseraError, match=said):
        loading(tmp_path, prepared, **more)
