"""docs/explain/numa.md and the page of its results: commands run, tables are complete and computed."""

from __future__ import annotations

import re

import pytest

from tessera.lab.numa.arithmetic import PARTS
from tessera.lab.numa.defects import RULES
from tessera.lab.numa.map_rules import POLICIES
from tessera.lab.numa.placement_costs import LoadCosts, placements
from tests.docs import pages

RESULTS = "remote-page-tables.md"


@pytest.fixture(scope="module")
def page():
    return pages.text("numa.md")


def test_its_commands_run(folder):
    places = {"/tmp/mitosis": folder(), "notebooks/": f"{pages.ROOT}/notebooks/"}
    assert pages.invoke_all("numa.md", places=places) >= 3
    assert pages.invoke_all(RESULTS, places=places) >= 3


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


def test_parts_and_rules_are_listed():
    listed = re.findall(r"^\| `(\w+)` \|", pages.text(RESULTS, "The archive"), re.MULTILINE)
    assert listed == [*PARTS, *(rule.__name__ for rule in RULES)]
