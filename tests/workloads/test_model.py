"""Workload files: the committed ones keep the contract, broken ones are refused by name."""

from __future__ import annotations

import pytest
import yaml

from tessera import workloads
from tessera.errors import TesseraError
from tessera.units import GB, PAGE_2MB
from tessera.workloads.model import read

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


def test_the_three_workloads_with_their_sizes():
    assert workloads.names() == ["graph500", "gups", "pr"]
    for name in workloads.names():
        assert {"tiny", "default", "paper"} <= set(workloads.load(name).sizes)


@pytest.mark.parametrize("name", ["graph500", "gups", "pr"])
def test_pools_fit_their_pages(name):
    for label, size in workloads.load(name).sizes.items():
        unit = PAGE_2MB if label == "tiny" else GB
        assert size.heap_pool % unit == 0 and size.anon_pool % unit == 0, label
        assert size.footprint <= size.anon_pool
        if label in ("tiny", "default"):
            assert size.anon_pool + size.heap_pool <= 16 * GB


def test_unknown_names_and_sizes_list_the_valid_ones():
    with pytest.raises(TesseraError, match="workload 'gusp'.*\n.*graph500, gups, pr"):
        workloads.load("gusp")
    with pytest.raises(TesseraError, match="size of gups 'huge'.*\n.*default, paper"):
        workloads.load("gups").size("huge")


def test_a_name_is_not_a_path():
    with pytest.raises(TesseraError, match="no such workload"):
        workloads.load("../workloads/gups")


def test_command_of_a_built_program(tmp_path, monkeypatch):
    program = tmp_path / "build" / "workloads" / "gups"
    found = workloads.load("gups")
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    with pytest.raises(TesseraError, match="build workloads"):
        found.command("tiny")
    program.parent.mkdir(parents=True)
    program.touch()
    assert found.command("tiny") == [str(program), *found.size("tiny").args]


def test_read_takes_a_valid_file(tmp_path):
    assert read(written(tmp_path, VALID)).size("tiny").args == ("--n", "1")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "other"}, "is not the file's name"),
        ({"extra": 1}, "unknown extra"),
        ({"sizes": {}}, "at least one size"),
    ],
)
def test_read_names_a_broken_file(tmp_path, change, said):
    with pytest.raises(TesseraError, match=said):
        read(written(tmp_path, VALID | change))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"args": ["--n", 1]}, "list of texts"),
        ({"heap_pool": "3MB"}, "not a multiple of 2MB"),
        ({"footprint": "7MB"}, "does not fit the pools"),
        ({"anon_pool": "many"}, "not a size"),
        ({"speed": 1}, "unknown speed"),
    ],
)
def test_read_names_a_broken_size(tmp_path, change, said):
    size = VALID["sizes"]["tiny"] | change
    with pytest.raises(TesseraError, match=said):
        read(written(tmp_path, VALID | {"sizes": {"tiny": size}}))
