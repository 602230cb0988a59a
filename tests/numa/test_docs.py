"""docs/numa.md: its commands run, its tables are complete and computed."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.lab.numa.arithmetic import PARTS
from tessera.lab.numa.defects import RULES
from tessera.lab.numa.map_rules import POLICIES
from tessera.lab.numa.placement_costs import LoadCosts, placements


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "numa.md").read_text()


def test_its_commands_run(page, root, folder):
    place = folder()
    blocks = "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).replace("\\\n", " ")
    lines = blocks.splitlines()
    assert len(lines) >= 5
    for line in lines:
        line = line.replace("/tmp/mitosis", str(place)).replace("notebooks/", f"{root}/notebooks/")
        words = shlex.split(line)
        assert words[:2] == ["./run", "tessera"]
        done = CliRunner().invoke(cli, words[2:])
        assert done.exit_code == 0, f"{line}\n{done.output}\n{done.exception}"


def test_the_table_of_configurations_is_the_model(page):
    rows = re.findall(r"^\| ([LR]P\S*) \|.*\| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    costs = LoadCosts(280, 580, 700)
    known = placements()
    assert {(name, int(walker), int(data)) for name, walker, data in rows} == {
        (name, costs.walker_load_cycles(where), costs.data_load_cycles(where))
        for name, where in known.items()
    }


def test_policies_are_listed(page):
    listed = re.findall(r"^\| `([a-z-]+)` \| (?:on|where)", page, re.MULTILINE)
    assert listed == list(POLICIES)


def test_parts_and_rules_are_listed(page):
    archive = page[page.index("## The archive") :]
    listed = re.findall(r"^\| `(\w+)` \|", archive, re.MULTILINE)
    assert listed == [*PARTS, *(rule.__name__ for rule in RULES)]
