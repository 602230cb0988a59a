"""Values of a platform that a configuration changes: parsed, in bounds, part of a cell's key."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.platforms import changed_platform, parse_changes, set_values

KEY = "walker.begin_cycles"
SAME = (
    "seed", "max_accesses", "workloads", "platforms", "engine", "sampling", "random_count", "layout_windows",
    "models", "host", "explore",
)  # fmt: skip


def config(name: str) -> dict:
    return yaml.safe_load((repo_root() / "config" / f"{name}.yaml").read_text())


def test_digits_are_a_number_and_other_values_a_name():
    assert parse_changes([f"{KEY}=22", "branch.predictor=perfect"]) == {
        KEY: 22,
        "branch.predictor": "perfect",
    }


@pytest.mark.parametrize("text", ["", "=", "key", "key=", "=22"])
def test_what_is_no_change_is_refused(text):
    with pytest.raises(TesseraError, match=f"'{text}'"):
        parse_changes([text])


def test_a_key_is_changed_once():
    with pytest.raises(TesseraError, match=KEY):
        parse_changes([f"{KEY}=1", f"{KEY}=1"])


def test_only_the_named_value_changes_and_it_is_marked_as_assumed():
    before = platforms.load_platform("haswell-sim")
    after = changed_platform(before, {KEY: 22})
    assert {key for key in before.values if before.values[key] != after.values[key]} == {KEY}
    assert after.values[KEY].value == 22 and after.values[KEY].assumed
    # The text that the simulator reads is part of a cell's key in the cache.
    old, new = before.flat().splitlines(), after.flat().splitlines()
    assert set(new) - set(old) == {f"{KEY} = 22"} and len(old) == len(new)
    assert changed_platform(before, {}) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"walker.begin_cycle": 22}, "walker.begin_cycle"),
        ({KEY: -1}, "-1"),
        ({KEY: 10**12}, "1000000000000"),
        ({KEY: "many"}, "many"),
        ({KEY: True}, "a boolean"),
    ],
)
def test_an_unknown_key_or_a_value_out_of_bounds_is_refused(change, message):
    with pytest.raises(TesseraError, match=message):
        changed_platform(platforms.load_platform("haswell-sim"), change)


def test_the_command_line_sets_keys_of_components_too():
    before = platforms.load_platform("haswell-sim")
    after = set_values(
        before, parse_changes(["mmu.design=anchor", "design.anchor.distance_pages=16"], "--set")
    )
    old, new = set(before.flat().splitlines()), set(after.flat().splitlines())
    assert new - old == {"mmu.design = anchor", "design.anchor.distance_pages = 16"}
    assert old - new == {"mmu.design = conventional"}
    for key in ("mmu.design", "design.anchor.distance_pages"):
        assert after.values[key].assumed and "--set" in after.values[key].source
    assert set_values(before, {}) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("mmu.desing=anchor", "mmu.desing"),
        ("design.anchor=16", "design.anchor"),
        ("design.anchor.distance_pages=many", "distance_pages=many .*'many'"),
        ("mmu.design=no design", "mmu.design=no design"),
        (f"{KEY}=1000000000000", f"{KEY}=1000000000000"),
        ("=16", "--set walker"),
        ("mmu.design", "--set walker"),
    ],
)
def test_the_command_line_sets_no_other_key_and_no_value_out_of_bounds(change, message):
    with pytest.raises(TesseraError, match=message):
        set_values(platforms.load_platform("haswell-sim"), parse_changes([change], "--set"))


def test_the_upper_end_has_the_cells_of_the_default_run():
    lower, upper = config("default"), config("walk-cost")
    assert {key: lower.get(key) for key in SAME} == {key: upper.get(key) for key in SAME}
    assert set(lower) - set(upper) == {"studies", "kernel"}
    assert set(upper) - set(lower) == {"changes", "validation"}


@pytest.mark.parametrize(
    "change",
    [
        {"changes": {"tlb.stlb.entries": 64}},  # the report reads sizes from the platforms' files
        {"changes": {}},
        {"changes": {KEY: 1.5}},
        {"studies": {}},
    ],
)
def test_the_schema_refuses(change):
    schema = json.loads((repo_root() / "workflow" / "schemas" / "config.schema.json").read_text())
    tree = config("walk-cost")
    jsonschema.validate(tree, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tree | change, schema)


@pytest.mark.parametrize("rule", ["layouts", "cells", "host"])
def test_the_steps_that_simulate_pass_the_changes_on(rule):
    text = Path(repo_root() / "workflow" / "rules" / f"{rule}.smk").read_text()
    given = {
        "layouts": "changes=CHANGES",
        "cells": "words=cell_words(CHANGES)",
        "host": "words=cell_words(CHANGES)",
    }
    assert given[rule] in text and "{params.words}" in text
