"""Every committed platform file: complete, sourced, and accepted by the simulator."""

from __future__ import annotations

import re

import pytest

from tessera.core import platforms
from tessera.core.platforms import TEMPLATE, all_keys, platforms_folder

EXPECTED = {
    "sandybridge-sim", "ivybridge-sim", "haswell-sim", "broadwell-sim", "skylake-sim", "haswell-4s-sim",
    "park-haswell", "virtuoso-baseline", "zen-sim",
}  # fmt: skip
FILES = [*sorted(EXPECTED), TEMPLATE]
#: A citation names a document; what only describes the model says so in one of these ways.
CITED = re.compile(
    r"MICRO'20|Mitosis \(ASPLOS'20\)|Park \(KAIST 2019\)|Virtuoso \(ASPLOS'25\)|Intel (SDM|64)"
    r"|Intel, Disclosure|AMD|WikiChip|every processor|as it was sold|layouts differ|published tables"
    r"|four-level"
)


def load(name):
    return platforms.load_platform(platforms_folder() / f"{name}.yaml")


def test_the_platforms_of_the_papers_are_there():
    assert set(platforms.platform_names()) >= EXPECTED


@pytest.mark.parametrize("name", FILES)
def test_each_file_has_its_name_all_keys_and_a_source_for_each(name):
    found = load(name)
    assert found.name == name
    predictor = found.values["branch.predictor"].value
    own = {key for key in found.values if key.startswith(f"branch_predictor.{predictor}.")}
    assert set(found.values) - own == set(all_keys())
    assert len(own) == {"tage": 6, "gshare": 2}.get(predictor, 0)
    for key, value in found.values.items():
        assert re.match(r"assumed: \S", value.source) or CITED.search(value.source), f"{key}: {value.source}"


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_prefetchers_and_memory_rows_are_on_where_the_machine_has_them(name):
    values = {key: v.value for key, v in load(name).values.items()}
    if name != "park-haswell":  # its table lists no prefetchers
        assert (values["prefetch.l1d.kind"], values["prefetch.l2.kind"]) == ("stride", "stream")
    assert values["dram.channels"] > 0 and values["tlb.l1i.entries"] >= 64
    # A row conflict, a closed row, an open row: in this order, and the open one still leaves L3 behind.
    assert values["memory.load_cycles"] - values["dram.row_hit_saves_cycles"] > values["cache.l3.load_cycles"]


@pytest.mark.toolchain
@pytest.mark.parametrize("name", FILES)
def test_simulator_accepts_it(root, name):
    from tessera.simulate.platform_files import check_platform

    if not (root / "build/simulator/tessera-sim").exists():
        pytest.skip("build/simulator/tessera-sim is missing: ./run tessera dev build")
    found, remarks = check_platform(platforms_folder() / f"{name}.yaml")
    assert found.name == name and remarks == ()
