"""A platform file that names a translation design and gives keys of the design."""

from __future__ import annotations

import pytest
import yaml

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.simulate.platform_files import check_platform

pytestmark = pytest.mark.toolchain
SOURCE = "assumed: test"


@pytest.fixture
def checked(tree, tmp_path):
    """Checks haswell-sim with a design and its keys, as a file."""
    if not (build_dir("simulator") / "tessera-sim").exists():
        pytest.skip("build/simulator/tessera-sim is missing: ./run tessera dev build simulator")

    def check(design, section, **keys):
        tree["mmu"] = {"design": {"value": design, "source": SOURCE}}
        values = {key: {"value": value, "source": SOURCE} for key, value in keys.items()}
        tree["design"] = {section: values}
        path = tmp_path / "p.yaml"
        path.write_text(yaml.safe_dump(tree, sort_keys=False))
        assert platforms.load_platform(path).values["mmu.design"].value == design
        return check_platform(path)

    return check


def test_the_design_and_its_keys_are_accepted_and_the_others_take_defaults(checked):
    found, remarks = checked("anchor", "anchor", distance_pages=16)
    assert found.values["design.anchor.distance_pages"].value == 16
    defaults = {remark.split(" = ")[0] for remark in remarks if remark.startswith("default: ")}
    assert "default: design.anchor.anchor_cycles" in defaults
    assert "default: design.anchor.distance_pages" not in defaults


def test_a_section_of_another_design_is_not_in_use(checked):
    _, remarks = checked("anchor", "rmm", entries=8)
    assert any(remark.startswith("not in use: design.rmm") for remark in remarks)


@pytest.mark.parametrize(
    ("design", "section", "keys", "named"),
    [
        ("anchor", "anchor", {"distance": 16}, "design.anchor.distance"),
        ("anchor", "anchor", {"distance_pages": 131072}, "131072"),
        ("anchor", "anchor", {"distance_pages": 3}, "3"),
        ("anker", "anchor", {"distance_pages": 16}, "anker"),
    ],
    ids=["unknown key", "out of bounds", "no power of two", "unknown design"],
)
def test_the_simulator_refuses(checked, design, section, keys, named):
    with pytest.raises(TesseraError, match=named):
        checked(design, section, **keys)
