"""Scenario files: every key, every rule, and names that nothing else has."""

from __future__ import annotations

import re

import pytest

from tessera.core import scenarios
from tessera.core.errors import TesseraError
from tessera.core.mapping.kinds import ALL_KINDS
from tessera.core.scenarios import BY_NAME, KEYS, NOT_MODELLED

LEAST = "description: a machine\nmemory_bytes: 1073741824\n"


@pytest.fixture
def load(tmp_path):
    """Loads a scenario file with this text below the two keys that every file has."""

    def of(text="", name="mine", head=LEAST):
        path = tmp_path / f"{name}.yaml"
        path.write_text(head + text)
        return scenarios.load_scenario(path)

    return of


def refused(load, text, **options) -> TesseraError:
    with pytest.raises(TesseraError) as caught:
        load(text, **options)
    return caught.value


def test_committed_scenarios_load():
    names = scenarios.scenario_names()
    assert len(names) >= 6
    assert {
        "thp-always",
        "thp-never",
        "thp-madvise",
        "fragmented-50",
        "fragmented-90",
        "small-memory",
    } <= set(names)
    for name in names:
        scenario = scenarios.load_scenario(name)
        assert scenario.name == name
        assert set(scenario.values) == set(BY_NAME)
        assert f"name = {name}\n" in scenario.flat()


def test_committed_scenarios_differ():
    texts = [scenarios.load_scenario(name).flat().split("\n", 1)[1] for name in scenarios.scenario_names()]
    assert len(set(texts)) == len(texts)


def test_defaults_and_text(load):
    flat = load().flat().splitlines()
    assert flat[0] == "name = mine"
    assert flat[1:] == sorted(flat[1:])
    assert "memory_bytes = 1073741824" in flat
    assert "thp.enabled = always" in flat
    assert "thp.use_zero_page = 1" in flat
    assert "thp.khugepaged.max_ptes_none = 511" in flat
    assert {"swap.bytes = 0", "page_cache.at_start = none", "hugetlb.pages_2mb = 0", "slab.areas = 0"} <= set(
        flat
    )
    assert len(flat) == 1 + len(KEYS)
    assert "thp.use_zero_page = 0" in load("thp: {use_zero_page: false}").flat()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("thp: {enabled: often}", ["thp.enabled", "often", "always, madvise, never"]),
        ("fragmentation: {index: fmfi}", ["fragmentation.index", "fmfi", "extfrag-index", "unusable-index"]),
        ("policy: eager", ["policy", "eager", "linux-6.12"]),
        ("fragmentation: {order: 11}", ["fragmentation.order", "11", "from 1 to 10"]),
        ("fragmentation: {target_thousandths: 0.5}", ["fragmentation.target_thousandths", "0.5"]),
        ("thp: {khugepaged: {max_ptes_none: 512}}", ["thp.khugepaged.max_ptes_none", "512"]),
        ("thp: {use_zero_page: 1}", ["thp.use_zero_page", "true or false"]),
        ("thp: {enabled: true}", ["thp.enabled"]),
        ("swap: {bytes: 1000}", ["swap.bytes", "1000", "a multiple of 1048576"]),
        ("swap: {page_cluster: 6}", ["swap.page_cluster", "6", "from 0 to 5"]),
        ("reclaim: {swappiness: 201}", ["reclaim.swappiness", "201", "from 0 to 200"]),
        ("page_cache: {at_start: all}", ["page_cache.at_start", "all", "none, files"]),
        ("hugetlb: {pages_2mb: -1}", ["hugetlb.pages_2mb", "-1"]),
        ("disk: {model: tape}", ["disk.model", "tape", "constant, flash"]),
    ],
)
def test_a_wrong_value_is_named(load, text, values):
    error = refused(load, text)
    assert error.code == "scenario-value"
    assert error.exit_code == 2
    for value in values:
        assert value in str(error)


@pytest.mark.parametrize(("size", "valid"), [(1 << 30, True), ((1 << 30) + 1, False), (15 << 20, False)])
def test_memory_is_a_multiple_of_1mb_from_16mb_on(load, size, valid):
    head = f"description: a machine\nmemory_bytes: {size}\n"
    if valid:
        assert load(head=head).values["memory_bytes"] == size
        return
    text = str(refused(load, "", head=head))
    assert str(size) in text and "16777216" in text and "1048576" in text


def test_an_unknown_key_is_named(load):
    for text in ("thp: {speed: 1}", "colour: red", "thp: always", "memory_byte: 1"):
        error = refused(load, text)
        assert error.code == "scenario-key"
        assert "fragmentation.index" in error.remedy


def test_a_key_with_dots_is_the_same_key(load):
    error = refused(load, "thp: {enabled: never}\nthp.enabled: always")
    assert error.code == "scenario-key" and "thp.enabled: the key is given twice" in str(error)


@pytest.mark.parametrize("key", NOT_MODELLED)
def test_what_is_not_modelled_is_named(load, key):
    for text in (f"{key}: 1", f"{key}: {{bytes: 4096}}"):
        error = refused(load, text)
        assert error.code == "scenario-not-modelled"
        assert key in error.asked


def test_missing_keys_are_named(load):
    assert "memory_bytes" in str(refused(load, "description: x\n", head=""))
    assert "description" in str(refused(load, "memory_bytes: 1073741824\n", head=""))
    assert "mine.yaml" in str(refused(load, "- 1\n", head=""))


def test_an_unknown_scenario_lists_the_names():
    with pytest.raises(TesseraError) as caught:
        scenarios.load_scenario("thp-sometimes")
    assert "thp-always" in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "growing-8",
        "random-3",
        "sliding-20-4",
        "1gb",
        "4kb",
        "2mb",
        "demand",
        "pages-64",
        "high-over-low",
        "Upper",
        "-x",
    ],
)
def test_names_of_layouts_and_mappings_are_refused(load, name):
    error = refused(load, "", name=name)
    assert error.code == "scenario-name"
    assert name in error.asked


def test_committed_names_are_nobody_elses(root):
    for name in scenarios.scenario_names():
        scenarios.check_name(name)
        assert name not in ALL_KINDS
    platforms = {path.stem for path in (root / "config" / "platforms").glob("*.yaml")}
    assert not platforms & set(scenarios.scenario_names())


def test_the_page_has_every_key(root):
    page = (root / "docs" / "reference" / "codes.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z_.0-9]+)` \| ([^|]+) \|", page, re.M))
    assert {name for name in rows if name in BY_NAME} == set(BY_NAME)
    for key in KEYS:
        text = "required" if key.default is None else str(key.default).lower()
        assert rows[key.name].strip("` ") == text, key.name


def test_the_example_of_the_page_is_a_scenario(root, tmp_path):
    page = (root / "docs" / "reference" / "scenarios.md").read_text()
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.S)
    (tmp_path / "example.yaml").write_text(example)
    assert (
        scenarios.load_scenario(tmp_path / "example.yaml").values["fragmentation.target_thousandths"] == 900
    )
