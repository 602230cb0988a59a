"""The simulator's table of keys as Python reads it: as the simulator prints it; what a new line does."""

from __future__ import annotations

import csv
import io

import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.platforms import KEY_TABLE, PlatformKey, all_keys, read_key_table

ROW = 'NUMBER(ports, "core.l1_ports", "ports", 1, 8, "2", "assumed: a test", "Loads in a cycle, or so")\n'


def test_rows_are_read_with_their_defaults():
    found = all_keys()
    assert found["core.mshrs"] == PlatformKey(
        "core.mshrs", "lines", 1, 64, None, "", "L1D misses outstanding at once (line fill buffers)"
    )
    assert (found["walker.pollutes"].default, found["pwc.kind"].default) == (1, "paging-structure")
    assert {row.section for row in found.values() if row.unit == "name"} == {
        "design", "tlb_organisation", "replacement", "walk_cache", "page_table_format", "prefetcher",
        "allocator", "branch_predictor",
    }  # fmt: skip
    for row in found.values():
        assert (row.default is None) == (row.source == ""), row.key
        assert row.default is None or row.rule_broken_by(row.default) is None, row.key


def test_a_key_is_one_line_and_no_platform_file_breaks(root, tmp_path, monkeypatch):
    path = tmp_path / "platform_keys.def"
    path.write_text((root / KEY_TABLE).read_text() + ROW)
    grown = read_key_table(path)
    assert len(grown) == len(all_keys()) + 1
    assert grown["core.l1_ports"].description == "Loads in a cycle, or so"
    before = platforms.load_platform("haswell-sim").flat()
    monkeypatch.setattr(platforms, "all_keys", lambda: grown)
    monkeypatch.setattr(platforms, "all_keys", lambda: grown)
    found = platforms.load_platform("haswell-sim")
    assert found.values["core.l1_ports"] == platforms.Value(2, "assumed: a test", defaulted=True)
    assert sorted(found.flat().splitlines()) == sorted([*before.splitlines(), "core.l1_ports = 2"])


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (ROW + ROW, "key-twice"),
        (ROW.replace("NUMBER", "NUMBERS"), "key-row"),
        (ROW.replace("1, 8", "1, 1 << 3"), "key-row"),
        (ROW.replace(', "2"', ""), "key-row"),
    ],
    ids=["given twice", "unknown kind of row", "expression", "cell missing"],
)
def test_a_wrong_line_is_named(line, code, tmp_path):
    path = tmp_path / "platform_keys.def"
    path.write_text("// head\n\n" + line)
    with pytest.raises(TesseraError) as error:
        read_key_table(path)
    assert error.value.code == code
    assert code == "key-row" or "core.l1_ports" in error.value.found
    assert f"line {2 + len(line.splitlines())}" in str(error.value)


@pytest.mark.toolchain
def test_the_table_is_what_the_built_simulator_prints(root):
    from tessera.machine.container import toolchain

    simulator = root / "build/simulator/tessera-sim"
    if not simulator.exists():
        pytest.skip("build/simulator/tessera-sim is missing: ./run tessera dev build")
    text = toolchain().run([str(simulator), "keys"], capture=True).stdout
    printed = {row["key"]: row for row in csv.DictReader(io.StringIO(text))}
    # Behind the platform's keys come those of components, which only the simulator knows.
    known = len(all_keys())
    assert list(printed)[:known] == list(all_keys())
    assert {key.split(".")[0] for key in list(printed)[known:]} == {"branch_predictor", "design"}
    for key, row in all_keys().items():
        expected = [
            row.unit,
            row.least,
            row.most,
            "" if row.default is None else row.default,
            row.source,
            row.description,
        ]
        assert list(printed[key].values())[1:] == [str(cell) for cell in expected]
