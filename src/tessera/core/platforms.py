"""Simulated platforms: YAML files in ``config/platforms`` whose every value carries its source.

First the simulator's keys, then a platform file (:func:`load_platform` reads one), then a platform with some
values changed.
"""

from __future__ import annotations

import csv
import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tessera.core.configuration_files import Document
from tessera.core.errors import TesseraError, unknown_name
from tessera.core.files import repo_root

# The simulator's parameters in Python: key, unit, bounds, default and description of each.
#
# They are read from the simulator's own table (`artifacts/simulator/src/base/platform_keys.def`), so that a
# platform can be checked without a built simulator. Rules between keys, and the keys that components declare
# for themselves (`design.<name>.<key>`), live in the simulator only (`tessera-sim check`).

WORD = re.compile(r"[A-Za-z0-9_-]{1,64}")  #: as in the simulator's base/platform_rules.cpp
KEY_TABLE = Path("artifacts/simulator/src/base/platform_keys.def")
NUMBER_COLUMNS, NAME_COLUMNS = 8, 6  #: columns of the table's two kinds of rows
KEY_ROW = re.compile(r"(NUMBER|NAME)(?:_OF_PART)?\((.*)\)")
LARGEST = 2**64 - 1  #: of a number that only a component knows


@dataclass(frozen=True)
class PlatformKey:
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
            return f"{shown_value(value)} is not a name of 1 to 64 letters, digits, - and _"
        rule = f"a whole number of {self.unit} from {self.least} to {self.most}"
        if type(value) is not int:  # bool is an int to isinstance
            return f"{shown_value(value)} is {_kind_of_value(value)}, not {rule}"
        if not self.least <= value <= self.most:
            return f"{value} is not {rule}"
        return None


@functools.cache
def all_keys() -> dict[str, PlatformKey]:
    """Every key of the table by its dotted name, in the simulator's order."""
    return read_key_table(repo_root() / KEY_TABLE)


def read_key_table(path: Path) -> dict[str, PlatformKey]:
    """The keys in a table of the form of :data:`KEY_TABLE`.

    Raises:
        TesseraError: a line that is neither blank, nor a comment, nor a row; or a key given twice.
    """
    keys: dict[str, PlatformKey] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("//"):
            continue
        row = _key_of_line(line)
        if row is None or row.key in keys:
            found, code = "the line is not a row of the table", "key-row"
            if row is not None:
                found, code = f"the key {row.key} is in the table twice", "key-twice"
            remedy = "see the comment at the top of this file"
            raise TesseraError(f"table of keys {path}, line {number}", found, remedy, code=code)
        keys[row.key] = row
    return keys


def own_key(key: str) -> PlatformKey | None:
    """A component's own key, `<section>.<component>.<key>`; None if the name does not have this form.

    Only the simulator that has the component knows which keys exist, their bounds and their defaults.
    """
    section, _, rest = key.partition(".")
    if section not in {row.section for row in all_keys().values() if row.section}:
        return None
    if not all(WORD.fullmatch(part) for part in rest.split(".")) or rest.count(".") != 1:
        return None
    return PlatformKey(
        key, "the component's unit", 0, LARGEST, None, "", "a component's own key (tessera-sim keys)"
    )


def shown_value(value: object) -> str:
    """A value in a message: quoted, and never longer than a line."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _key_of_line(line: str) -> PlatformKey | None:
    match = KEY_ROW.fullmatch(line.strip())
    if match is None:
        return None
    cells = next(csv.reader([match[2]], skipinitialspace=True))
    if match[1] == "NAME" and len(cells) == NAME_COLUMNS:
        _, key, section, default, source, text = cells
        return PlatformKey(key, "name", 0, 0, default or None, source, text, section)
    if match[1] == "NUMBER" and len(cells) == NUMBER_COLUMNS and cells[3].isdigit() and cells[4].isdigit():
        _, key, unit, least, most, default, source, text = cells
        value = int(default) if default else None
        return PlatformKey(key, unit, int(least), int(most), value, source, text)
    return None


def _kind_of_value(value: object) -> str:
    names = {bool: "a boolean", str: "text", float: "a fraction", type(None): "nothing", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")


# A platform file: nested YAML with leaves ``{value, source}``, flattened to ``key = value``.
#
# A file can omit a key that has a default in the simulator's table: the platform then has the default, with
# its source. Keys below a component's section (``design.<name>.<key>``) are not checked here: only the
# simulator that has the component knows them (`tessera platform check` runs it).

HEAD = ("name", "description", "hardware_class")
TEMPLATE = "host-template"  #: the host's assumed values; `tessera platform detect` completes it
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  #: names become file names and table cells
HELP = "see docs/howto/add-a-platform.md"
#: without a schema: the simulator describes the keys
PLATFORM_FILE = Document(
    "platform file", None, "correct the file; docs/howto/add-a-platform.md shows its form"
)


@dataclass(frozen=True)
class Value:
    """One parameter: a whole number (base units of its key) or a component's name, and its source."""

    value: int | str
    source: str
    defaulted: bool = False  #: the file leaves the key out; value and source are the table's

    @property
    def assumed(self) -> bool:
        """True when the value is not taken from a cited document or from the machine itself."""
        return self.source.startswith("assumed")


@dataclass(frozen=True)
class Platform:
    """A simulated platform; ``values`` maps dotted keys (``tlb.stlb.entries``) to values."""

    name: str
    description: str
    hardware_class: str
    values: dict[str, Value]

    def flat(self) -> str:
        """The ``key = value`` text that the simulator reads, sorted by key."""
        return "".join(f"{key} = {v.value}\n" for key, v in sorted(self.values.items()))


def platforms_folder() -> Path:
    """Where the named platforms are."""
    return repo_root() / "config" / "platforms"


def platform_names() -> list[str]:
    """Names of the platforms that come with Tessera."""
    return sorted(p.stem for p in platforms_folder().glob("*.yaml") if p.stem != TEMPLATE)


def load_platform(name_or_path: str | Path) -> Platform:
    """The platform of this name, or of this YAML file: every key once, in bounds, with its source.

    Keys are in the order of the simulator's table; components' own keys follow. Only the simulator checks
    rules between keys (``tessera platform check``).

    Raises:
        TesseraError: unknown name, or a file that is not a platform (names file, key, value and rule).
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        path = platforms_folder() / f"{name_or_path}.yaml"
        if not path.exists():
            raise unknown_name("platform", str(name_or_path), platform_names())
    return platform_of_tree(PLATFORM_FILE.read(path), path)


def platform_of_tree(tree: object, path: Path) -> Platform:
    """As :func:`load_platform`, from what the YAML file ``path`` holds."""
    if not isinstance(tree, dict):
        raise TesseraError(f"platform file {path}", "not a mapping", HELP)
    missing = [key for key in HEAD if not isinstance(tree.get(key), str) or not tree[key].strip()]
    if missing:
        raise TesseraError(f"platform file {path}", f"these keys need a text: {', '.join(missing)}", HELP)
    for key in ("name", "hardware_class"):
        if not NAME.fullmatch(tree[key]):
            raise _bad(path, key, f"{shown_value(tree[key])} is not a plain name (letters, digits, . - _)")
    values = leaves({k: v for k, v in tree.items() if k not in HEAD}, path)
    return Platform(tree["name"], tree["description"], tree["hardware_class"], _complete(path, values))


def leaves(tree: dict, path: Path, prefix: str = "") -> dict[str, Value]:
    """Dotted key -> value of each ``{value, source}``; raises for any other node that is not a mapping."""
    values: dict[str, Value] = {}
    for key, node in tree.items():
        dotted = f"{prefix}{key}"
        if dotted in values:
            raise _bad(path, dotted, "given twice")
        if not isinstance(node, dict):
            raise _bad(path, dotted, f"{shown_value(node)} is not {{value, source}}")
        if not node:
            raise _bad(path, dotted, "empty")
        if "value" not in node and "source" not in node:
            below = leaves(node, path, f"{dotted}.")
            if twice := values.keys() & below.keys():
                raise _bad(path, min(twice), "given twice")
            values |= below
            continue
        if set(node) != {"value", "source"}:
            raise _bad(path, dotted, f"needs value and source, has {', '.join(node)}")
        if fault := _fault_of_source(node["source"]):
            raise _bad(path, dotted, fault)
        if type(node["value"]) not in (int, str):
            raise _bad(path, dotted, f"{shown_value(node['value'])} is neither a whole number nor a name")
        values[dotted] = Value(node["value"], node["source"])
    return values


def _fault_of_source(source: object) -> str | None:
    if not isinstance(source, str) or not source.strip():
        return "source is empty; cite a document or write 'assumed: why'"
    if source.startswith("assumed") and not re.match(r"assumed: \S", source):
        return f"source {shown_value(source)} gives no reason; write 'assumed: why'"
    return None


def _complete(path: Path, given: dict[str, Value]) -> dict[str, Value]:
    """Every key of the table, from the file or by default, then the components' own keys."""
    known = all_keys()
    own: dict[str, PlatformKey] = {}
    for key in given:
        if key not in known:
            found = own_key(key)
            if found is None:
                raise _unknown(path, key)
            own[key] = found
    missing = [key for key, row in known.items() if key not in given and row.default is None]
    if missing:
        remedy = "add these keys, which have no default (`tessera-sim keys` describes every key)"
        raise TesseraError(f"platform file {path}", f"keys missing: {', '.join(missing)}", remedy)
    for key, row in (known | own).items():
        if key in given and (fault := row.rule_broken_by(given[key].value)):
            raise _bad(path, key, fault)
    return {
        key: given[key]
        if key in given or row.default is None
        else Value(row.default, row.source, defaulted=True)
        for key, row in (known | own).items()
    }


def _unknown(path: Path, key: str) -> TesseraError:
    known = all_keys()
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    sections = sorted({row.section for row in known.values() if row.section})
    own = f"and <section>.<component>.<key> with a section of {', '.join(sections)}"
    remedy = f"{hint}valid keys: {', '.join(known)}; {own}"
    return TesseraError(f"platform file {path}, key {key}", "no such key", remedy)


def _bad(path: Path, key: str, rule: str) -> TesseraError:
    return TesseraError(f"platform file {path}, key {key}", rule, HELP)


# A platform with some values changed: by a configuration (key ``changes``), by ``--set``, or for a study.

#: source of a value that a configuration sets
BY_CONFIGURATION = "assumed: set by the key `changes` of the configuration"
#: source of a value that ``tessera simulate --set`` sets
BY_COMMAND = "assumed: set by --set on the command line"


def parse_changes(texts: Iterable[str], option: str = "--change") -> dict[str, int | str]:
    """``key=value`` of each text that ``option`` gave; digits are a number.

    Raises:
        TesseraError: no ``=``, an empty key or value, or a key given twice.
    """
    found: dict[str, int | str] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not (key and separator and value):
            raise TesseraError(
                f"change '{text}'",
                "this is not key=value",
                f"write, for example: {option} walker.begin_cycles=22",
            )
        if key in found:
            raise TesseraError(f"change '{text}'", f"{key} is changed twice", "keep one of them")
        found[key] = int(value) if value.isascii() and value.isdigit() else value
    return found


def changed_platform(platform: Platform, changes: Mapping[str, int | str]) -> Platform:
    """``platform`` with the ``changes`` of a configuration; each value obeys the bounds of its key.

    Raises:
        TesseraError: a key that the platform does not have, or a value that breaks the rule of its key.
    """
    known = all_keys()
    for key, value in changes.items():
        fault = known[key].rule_broken_by(value) if key in known else None
        if fault:
            asked = f"change of platform {platform.name}, key {key}"
            raise TesseraError(asked, fault, "correct the key `changes` of the configuration")
    return with_values(platform, changes, BY_CONFIGURATION)


def set_values(platform: Platform, changes: Mapping[str, int | str], option: str = "--set") -> Platform:
    """``platform`` with the ``changes`` of ``option``; each value obeys the bounds of its key.

    Unlike :func:`changed_platform`, a change may name a key of a component that the platform's file does not
    have.

    Raises:
        TesseraError: no such key, or a value that breaks its rule.
    """
    known = all_keys()
    for key, value in changes.items():
        row = known.get(key) or own_key(key)
        if row is None:
            raise unknown_name(f"parameter of {platform.name}", key, list({**platform.values, **known}))
        if fault := row.rule_broken_by(value):
            asked = f"{option} {key}={value} on platform {platform.name}"
            raise TesseraError(asked, fault, "give another value; tessera-sim keys lists the bounds")
    new = {key: Value(value, BY_COMMAND) for key, value in changes.items()}
    return replace(platform, values=platform.values | new)


def with_values(platform: Platform, changes: Mapping[str, int | str], why: str) -> Platform:
    """``platform`` with ``changes``; each new value's source is ``why``.

    Raises:
        TesseraError: a key that the platform does not have.
    """
    if absent := sorted(set(changes) - set(platform.values)):
        raise unknown_name(f"parameter of {platform.name}", absent[0], list(platform.values))
    return replace(
        platform, values=platform.values | {key: Value(value, why) for key, value in changes.items()}
    )
