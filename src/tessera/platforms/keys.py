"""The simulator's parameters in Python: key, unit, bounds, default and description of each.

They are read from the simulator's own table (`artifacts/simulator/src/base/platform_keys.def`), so that a
platform can be checked without a built simulator. Rules between keys, and the keys that components declare
for themselves (`design.<name>.<key>`), live in the simulator only (`tessera-sim check`).
"""

from __future__ import annotations

import csv
import functools
import re
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root

WORD = re.compile(r"[A-Za-z0-9_-]{1,64}")  #: as in the simulator's base/platform_rules.cpp
TABLE = Path("artifacts/simulator/src/base/platform_keys.def")
NUMBER, NAME = 8, 6  #: columns of the table's two kinds of rows
ROW = re.compile(r"(NUMBER|NAME)(?:_OF_PART)?\((.*)\)")
LARGEST = 2**64 - 1  #: of a number that only a component knows


@dataclass(frozen=True)
class Key:
    """One row of `tessera-sim keys`; ``unit`` "name" means that the value is a component's name."""

    key: str
    unit: str
    least: int
    most: int
    default: int | str | None  #: None: every platform file must give the key
    source: str  #: of the default, as in a platform file
    description: str
    section: str = ""  #: of a name: where components of this kind have keys of their own

    def rule_broken_by(self, value: object) -> str | None:
        """The rule that ``value`` breaks, or None."""
        if self.unit == "name":
            if isinstance(value, str) and WORD.fullmatch(value):
                return None
            return f"{shown(value)} is not a name of 1 to 64 letters, digits, - and _"
        rule = f"a whole number of {self.unit} from {self.least} to {self.most}"
        if type(value) is not int:  # bool is an int to isinstance
            return f"{shown(value)} is {_kind(value)}, not {rule}"
        if not self.least <= value <= self.most:
            return f"{value} is not {rule}"
        return None


@functools.cache
def all_keys() -> dict[str, Key]:
    """Every key of the table by its dotted name, in the simulator's order."""
    return table(repo_root() / TABLE)


def table(path: Path) -> dict[str, Key]:
    """The keys in a table of the form of :data:`TABLE`.

    Raises:
        TesseraError: a line that is neither blank, nor a comment, nor a row; or a key given twice.
    """
    keys: dict[str, Key] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("//"):
            continue
        row = _row(line)
        if row is None or row.key in keys:
            found, code = "the line is not a row of the table", "key-row"
            if row is not None:
                found, code = f"the key {row.key} is in the table twice", "key-twice"
            remedy = "see the comment at the top of this file"
            raise TesseraError(f"table of keys {path}, line {number}", found, remedy, code=code)
        keys[row.key] = row
    return keys


def own_key(key: str) -> Key | None:
    """A component's own key, `<section>.<component>.<key>`; None if the name does not have this form.

    Only the simulator that has the component knows which keys exist, their bounds and their defaults.
    """
    section, _, rest = key.partition(".")
    if section not in {row.section for row in all_keys().values() if row.section}:
        return None
    if not all(WORD.fullmatch(part) for part in rest.split(".")) or rest.count(".") != 1:
        return None
    return Key(key, "the component's unit", 0, LARGEST, None, "", "a component's own key (tessera-sim keys)")


def shown(value: object) -> str:
    """A value in a message: quoted, and never longer than a line."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _row(line: str) -> Key | None:
    match = ROW.fullmatch(line.strip())
    if match is None:
        return None
    cells = next(csv.reader([match[2]], skipinitialspace=True))
    if match[1] == "NAME" and len(cells) == NAME:
        _, key, section, default, source, text = cells
        return Key(key, "name", 0, 0, default or None, source, text, section)
    if match[1] == "NUMBER" and len(cells) == NUMBER and cells[3].isdigit() and cells[4].isdigit():
        _, key, unit, least, most, default, source, text = cells
        value = int(default) if default else None
        return Key(key, unit, int(least), int(most), value, source, text)
    return None


def _kind(value: object) -> str:
    names = {bool: "a boolean", str: "text", float: "a fraction", type(None): "nothing", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")
