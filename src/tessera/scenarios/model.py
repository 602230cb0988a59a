"""A scenario file: nested YAML whose leaves are the keys of :mod:`tessera.scenarios.keys`.

The name of a scenario is the stem of its file. It stands in the column ``layout`` of cells, so it is never
the name of a layout or of a kind of mapping.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.paths import repo_root
from tessera.layouts.model import ALIASES
from tessera.layouts.names import PAGE_SIZE_OF
from tessera.mapping.kinds import ALL_KINDS
from tessera.platforms import strict_yaml
from tessera.scenarios.keys import BY_NAME, KEYS, NOT_MODELLED, Key

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
HELP = "docs/os.md lists the keys; tessera os list shows the scenarios"
#: Names that heuristics give their layouts (tessera.layouts.heuristics).
LAYOUT_NAME = re.compile(r"(growing|random)-\d+|sliding-\d+-\d+")


@dataclass(frozen=True)
class Scenario:
    """One scenario; ``values`` has every key, those that the file leaves out with their defaults."""

    name: str
    description: str
    values: dict[str, int | str | bool]

    def flat(self) -> str:
        """The ``key = value`` text that tessera-os reads."""
        lines = [f"{name} = {BY_NAME[name].text(value)}" for name, value in sorted(self.values.items())]
        return "\n".join([f"name = {self.name}", *lines]) + "\n"


def folder() -> Path:
    """Where the named scenarios are."""
    return repo_root() / "config" / "scenarios"


def names() -> list[str]:
    """Names of the scenarios that come with Tessera."""
    return sorted(path.stem for path in folder().glob("*.yaml"))


def load(name_or_path: str | Path) -> Scenario:
    """The scenario of this name, or of this YAML file.

    Raises:
        TesseraError: an unknown name, or a file that is not a scenario (names file, key, value and rule).
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        path = folder() / f"{name_or_path}.yaml"
        if not path.exists():
            raise unknown_name("scenario", str(name_or_path), names())
    check_name(path.stem)
    return from_tree(strict_yaml.read(path, "scenario file"), path)


def from_tree(tree: object, path: Path) -> Scenario:
    """The scenario in what a YAML file contains; ``path`` gives the name."""
    if not isinstance(tree, dict):
        raise TesseraError(f"scenario file {path}", "it is not a table of keys", HELP)
    description = tree.pop("description", None)
    if not isinstance(description, str) or not description.strip():
        raise TesseraError(f"scenario file {path}: description", "a sentence is missing", HELP)
    values: dict[str, int | str | bool] = {}
    for name, value in _leaves(tree):
        values[name] = _checked(name, value, path)
    for key in KEYS:
        if key.default is None and key.name not in values:
            raise TesseraError(f"scenario file {path}: {key.name}", "the key is missing", HELP)
    complete = {key.name: values.get(key.name, key.default) for key in KEYS}
    return Scenario(path.stem, description.strip(), complete)


def check_name(name: str) -> None:
    """Refuse a name that a layout or a mapping may have in the same column of a table.

    Raises:
        TesseraError: code ``scenario-name``.
    """
    found = ""
    if not NAME.fullmatch(name):
        found = "a name has lower-case letters, digits, dots, hyphens and underscores, at most 64"
    elif LAYOUT_NAME.fullmatch(name) or name in {*PAGE_SIZE_OF, *ALIASES}:
        found = "this is the name of a layout"
    elif all(part in ALL_KINDS for part in name.split("-over-")):
        found = "this is the name of a kind of mapping"
    if found:
        raise TesseraError(f"scenario '{name}'", found, "give the file another name", code="scenario-name")


def _leaves(tree: dict, above: str = ""):
    for word, value in tree.items():
        name = f"{above}{word}"
        if isinstance(value, dict) and name not in BY_NAME and not _unmodelled(name):
            yield from _leaves(value, f"{name}.")
        else:
            yield name, value


def _unmodelled(name: str) -> bool:
    return name.split(".")[0] in NOT_MODELLED


def _checked(name: str, value: object, path: Path) -> int | str | bool:
    asked = f"scenario file {path}: {name}"
    key: Key | None = BY_NAME.get(name)
    if key is None and _unmodelled(name):
        found = f"tessera os does not model {', '.join(NOT_MODELLED)}"
        raise TesseraError(asked, found, "remove the key", code="scenario-not-modelled")
    if key is None:
        raise TesseraError(asked, f"no such key; keys are {', '.join(BY_NAME)}", HELP, code="scenario-key")
    if not key.accepts(value):
        raise TesseraError(f"{asked} = {value}", f"{key.rule()}", HELP, code="scenario-value")
    return value  # type: ignore[return-value]  # accepts() has checked the type
