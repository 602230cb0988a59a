"""Platform files: every value has a source, and what is not a platform is refused by key and rule."""

import pytest

from tessera import platforms
from tessera.errors import TesseraError
from tessera.platforms.detect import write_platform

HEAD = "name: x\ndescription: d\nhardware_class: h\n"
REFUSED = {
    "no head": ("tlb: {}\n", "no text for name, description, hardware_class"),
    "not YAML": ("name: [", "not YAML"),
    "not a mapping": ("- 1\n", "not a mapping"),
    "bare number": (HEAD + "tlb: {ways: 4}\n", "key tlb.ways"),
    "no source": (HEAD + "tlb: {ways: {value: 4}}\n", "needs value and source"),
    "empty source": (HEAD + "tlb: {ways: {value: 4, source: ' '}}\n", "source is empty"),
    "extra word": (HEAD + "tlb: {ways: {value: 4, source: s, unit: ways}}\n", "needs value and source"),
    "value is a list": (HEAD + "tlb: {ways: {value: [4], source: s}}\n", "neither a number nor a word"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(tmp_path, case):
    text, words = REFUSED[case]
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(TesseraError) as error:
        platforms.load(path)
    assert words in str(error.value) and "p.yaml" in str(error.value)


def test_flattens_by_dots_and_tells_assumed_from_sourced(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(
        HEAD + "tlb: {stlb: {entries: {value: 512, source: T4}, ways: {value: 4, source: 'assumed: x'}}}\n"
    )
    found = platforms.load(path)
    assert found.flat() == "tlb.stlb.entries = 512\ntlb.stlb.ways = 4\n"
    assert [v.assumed for v in found.values.values()] == [False, True]


def test_unknown_platform_lists_the_known(tmp_path):
    with pytest.raises(TesseraError, match="haswell-sim"):
        platforms.load("pentium")


#: MICRO'20 Table 4 and Table 3, typed here once more on purpose: the files must agree with the paper.
TABLE_4 = {
    "sandybridge-sim": (64, 32, 4, 512, 0, 0, 1, 15 << 20),
    "haswell-sim": (64, 32, 4, 1024, 1, 0, 1, 30 << 20),
    "broadwell-sim": (64, 32, 4, 1536, 1, 16, 2, 60 << 20),
}
KEYS = (
    "tlb.l1d.4kb.entries", "tlb.l1d.2mb.entries", "tlb.l1d.1gb.entries", "tlb.stlb.entries",
    "tlb.stlb.holds_2mb", "tlb.stlb_1gb.entries", "walker.count", "cache.l3.bytes",
)  # fmt: skip


@pytest.mark.parametrize("name", TABLE_4)
def test_committed_platforms_agree_with_the_paper(name):
    values = platforms.load(name).values
    assert tuple(values[key].value for key in KEYS) == TABLE_4[name]
    assert not any(values[key].assumed for key in KEYS)


def test_detection_overlays_what_cpuid_reports_and_keeps_the_rest_assumed(tmp_path):
    count = write_platform({"tlb.stlb.entries": 2048, "no.such.key": 1}, tmp_path / "host-sim.yaml")
    found = platforms.load(tmp_path / "host-sim.yaml")
    assert count == 1 and found.name == "host-sim"
    assert found.values["tlb.stlb.entries"].value == 2048
    assert not found.values["tlb.stlb.entries"].assumed
    assert found.values["memory.load_cycles"].assumed
