"""A platform file: nested YAML with leaves ``{value, source}``, flattened to ``key = value``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from tessera.errors import TesseraError, unknown_name
from tessera.paths import repo_root

HEAD = ("name", "description", "hardware_class")
TEMPLATE = "host-template"  #: the host's assumed values; `tessera platform detect` completes it


@dataclass(frozen=True)
class Value:
    """One parameter: a number (base units of its key) or word, and where it comes from."""

    value: int | float | str
    source: str

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
        return "".join(f"{key} = {_plain(v.value)}\n" for key, v in sorted(self.values.items()))


def folder() -> Path:
    """Where the named platforms are."""
    return repo_root() / "config" / "platforms"


def names() -> list[str]:
    """Names of the platforms that come with Tessera."""
    return sorted(p.stem for p in folder().glob("*.yaml") if p.stem != TEMPLATE)


def load(name_or_path: str | Path) -> Platform:
    """The platform of this name, or of this YAML file.

    Raises:
        TesseraError: unknown name, or a file that is not a platform (names file, key and rule).
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        path = folder() / f"{name_or_path}.yaml"
        if not path.exists():
            raise unknown_name("platform", str(name_or_path), names())
    try:
        tree = yaml.safe_load(path.read_text())
    except OSError as error:
        raise TesseraError(f"platform file {path}", str(error.strerror), "check the path") from None
    except yaml.YAMLError as error:
        raise TesseraError(f"platform file {path}", f"not YAML: {error}", "correct the file") from None
    if not isinstance(tree, dict):
        raise TesseraError(f"platform file {path}", "not a mapping", "see docs/add-a-platform.md")
    missing = [key for key in HEAD if not isinstance(tree.get(key), str)]
    if missing:
        raise TesseraError(
            f"platform file {path}",
            f"no text for {', '.join(missing)}",
            "see docs/add-a-platform.md",
        )
    values: dict[str, Value] = {}
    _flatten(path, {k: v for k, v in tree.items() if k not in HEAD}, "", values)
    return Platform(tree["name"], tree["description"], tree["hardware_class"], values)


def _flatten(path: Path, tree: dict, prefix: str, values: dict[str, Value]) -> None:
    for key, node in tree.items():
        dotted = f"{prefix}{key}"
        if not isinstance(node, dict):
            raise _bad(path, dotted, f"'{node}' is not {{value, source}}")
        if "value" not in node and "source" not in node:
            _flatten(path, node, f"{dotted}.", values)
            continue
        value, source = node.get("value"), node.get("source")
        if set(node) != {"value", "source"}:
            raise _bad(path, dotted, f"needs value and source, has {', '.join(map(str, node))}")
        if not isinstance(source, str) or not source.strip():
            raise _bad(path, dotted, "source is empty; cite a document or write 'assumed: why'")
        if not isinstance(value, int | float | str) or value == "":
            raise _bad(path, dotted, f"value '{value}' is neither a number nor a word")
        values[dotted] = Value(value, source)


def _bad(path: Path, key: str, rule: str) -> TesseraError:
    return TesseraError(f"platform file {path}, key {key}", rule, "see docs/add-a-platform.md")


def _plain(value: int | float | str) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
