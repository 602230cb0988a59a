"""A platform file: nested YAML with leaves ``{value, source}``, flattened to ``key = value``.

A file can omit a key that has a default in the simulator's table: the platform then has the default, with its
source. Keys below a component's section (``design.<name>.<key>``) are not checked here: only the simulator
that has the component knows them (`tessera platform check` runs it).
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.paths import repo_root
from tessera.platforms import strict_yaml
from tessera.platforms.keys import all_keys, own_key, shown

HEAD = ("name", "description", "hardware_class")
TEMPLATE = "host-template"  #: the host's assumed values; `tessera platform detect` completes it
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  #: names become file names and table cells
HELP = "see docs/add-a-platform.md"


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


def folder() -> Path:
    """Where the named platforms are."""
    return repo_root() / "config" / "platforms"


def names() -> list[str]:
    """Names of the platforms that come with Tessera."""
    return sorted(p.stem for p in folder().glob("*.yaml") if p.stem != TEMPLATE)


def load(name_or_path: str | Path) -> Platform:
    """The platform of this name, or of this YAML file: every key once, in bounds, with its source.

    Keys are in the order of the simulator's table; components' own keys follow. Only the simulator checks
    rules between keys (``tessera platform check``).

    Raises:
        TesseraError: unknown name, or a file that is not a platform (names file, key, value and rule).
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        path = folder() / f"{name_or_path}.yaml"
        if not path.exists():
            raise unknown_name("platform", str(name_or_path), names())
    return from_tree(strict_yaml.read(path, "platform file"), path)


def from_tree(tree: object, path: Path) -> Platform:
    """As load(), from what the YAML file ``path`` holds."""
    if not isinstance(tree, dict):
        raise TesseraError(f"platform file {path}", "not a mapping", HELP)
    missing = [key for key in HEAD if not isinstance(tree.get(key), str) or not tree[key].strip()]
    if missing:
        raise TesseraError(f"platform file {path}", f"these keys need a text: {', '.join(missing)}", HELP)
    for key in ("name", "hardware_class"):
        if not NAME.fullmatch(tree[key]):
            raise _bad(path, key, f"{shown(tree[key])} is not a plain name (letters, digits, . - _)")
    values = leaves({k: v for k, v in tree.items() if k not in HEAD}, path)
    return Platform(tree["name"], tree["description"], tree["hardware_class"], _complete(path, values))


def leaves(tree: dict, path: Path, prefix: str = "") -> dict[str, Value]:
    """Dotted key -> value of each ``{value, source}``; raises for any other node that is not a mapping."""
    values: dict[str, Value] = {}
    for key, node in tree.items():
        dotted = f"{prefix}{key}"
        if not isinstance(node, dict):
            raise _bad(path, dotted, f"{shown(node)} is not {{value, source}}")
        if not node:
            raise _bad(path, dotted, "empty")
        if "value" not in node and "source" not in node:
            values |= leaves(node, path, f"{dotted}.")
            continue
        if set(node) != {"value", "source"}:
            raise _bad(path, dotted, f"needs value and source, has {', '.join(node)}")
        if fault := _fault_of_source(node["source"]):
            raise _bad(path, dotted, fault)
        if type(node["value"]) not in (int, str):
            raise _bad(path, dotted, f"{shown(node['value'])} is neither a whole number nor a name")
        values[dotted] = Value(node["value"], node["source"])
    return values


def _fault_of_source(source: object) -> str | None:
    if not isinstance(source, str) or not source.strip():
        return "source is empty; cite a document or write 'assumed: why'"
    if source.startswith("assumed") and not re.match(r"assumed: \S", source):
        return f"source {shown(source)} gives no reason; write 'assumed: why'"
    return None


def _complete(path: Path, given: dict[str, Value]) -> dict[str, Value]:
    """Every key of the table, from the file or by default, then the components' own keys."""
    known, own = all_keys(), {}
    for key in given:
        if key not in known:
            own[key] = own_key(key)
            if own[key] is None:
                raise _unknown(path, key)
    missing = [key for key, row in known.items() if key not in given and row.default is None]
    if missing:
        remedy = "add these keys, which have no default (`tessera-sim keys` describes every key)"
        raise TesseraError(f"platform file {path}", f"keys missing: {', '.join(missing)}", remedy)
    for key, row in (known | own).items():
        if key in given and (fault := row.rule_broken_by(given[key].value)):
            raise _bad(path, key, fault)
    return {
        key: given[key] if key in given else Value(row.default, row.source, defaulted=True)
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
