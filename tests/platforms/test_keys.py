"""keys.csv is the simulator's table of keys, to the letter."""

from __future__ import annotations

import csv
import io
import re

import pytest

from tessera.platforms.keys import Key, all_keys

NUMBER = re.compile(
    r'KEY\("(?P<key>[^"]+)", "(?P<unit>[^"]+)", (?P<least>[^,]+), (?P<most>[^,]+), [\w.]+,'
    r'\s*"(?P<text>[^"]+)"\)'
)
WORD = re.compile(r'WORD\("(?P<key>[^"]+)", [\w.]+,\s*"(?P<text>[^"]+)"\)')


def number(text: str) -> int:
    """A C++ constant of platform_keys.cpp: digits with separators, or a shift of 1."""
    shift = re.fullmatch(r"1ull << (\d+)", text)
    return 1 << int(shift[1]) if shift else int(text.replace("'", ""))


def test_the_csv_is_the_table_of_the_source(root):
    source = (root / "artifacts/simulator/src/base/platform_keys.cpp").read_text()
    rows = [
        (m.start(), Key(m["key"], m["unit"], number(m["least"]), number(m["most"]), m["text"]))
        for m in NUMBER.finditer(source)
    ]
    rows += [(m.start(), Key(m["key"], "name", 0, 0, m["text"])) for m in WORD.finditer(source)]
    table = [key for _, key in sorted(rows, key=lambda row: row[0])]
    assert len(table) == len(re.findall(r"^\s+(?:KEY|WORD)\(", source, re.M))
    assert list(all_keys().values()) == table


@pytest.mark.toolchain
def test_the_csv_is_what_the_built_simulator_prints(root):
    from tessera.machine.container import toolchain

    simulator = root / "build/simulator/tessera-sim"
    if not simulator.exists():
        pytest.skip("build/simulator/tessera-sim is missing: ./run tessera build")
    text = toolchain().run([str(simulator), "keys"], capture=True).stdout
    printed = list(csv.DictReader(io.StringIO(text)))
    with (root / "src/tessera/platforms/keys.csv").open(newline="") as file:
        assert printed == list(csv.DictReader(file))
