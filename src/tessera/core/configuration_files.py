"""Configuration files: a strict subset of YAML, and the library jsonschema without its slow part."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import yaml

from tessera.core.errors import TesseraError

# A strict subset of YAML for configuration files: plain trees, without silent conversions.
#
# PyYAML keeps the last of two equal keys, expands aliases (a few lines can grow to gigabytes), merges
# ``<<``, reads ``010`` as 8, ``1:30`` as 90 and ``yes`` as True. Each of these is an error here, with its
# line.

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,18})")
REMEDY = "correct the file; docs/howto/add-a-platform.md shows its form"


class _StrictLoader(yaml.SafeLoader):
    depth = 0

    def compose_node(self, parent, index):
        event = self.peek_event()
        if isinstance(event, yaml.events.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _yaml_fault("an anchor or alias; write the value where it is used", event.start_mark)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _yaml_fault(f"nested deeper than {MAX_DEPTH} levels", event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def flatten_mapping(self, node):
        """PyYAML would merge ``<<`` here; there are no aliases to merge."""

    def construct_mapping(self, node, deep=False):
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:int"):
                raise _yaml_fault(f"key '{_node_text(key)}' is not a word", key.start_mark)
            if key.value in seen:
                raise _yaml_fault(f"key '{_node_text(key)}' is given twice", key.start_mark)
            seen.add(key.value)
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}

    def construct_whole_number(self, node):
        if not isinstance(node, yaml.ScalarNode) or not DECIMAL.fullmatch(node.value):
            raise _yaml_fault(
                f"'{_node_text(node)}' is not a whole number in plain decimal digits", node.start_mark
            )
        return int(node.value)


# A mapping is built at once, not by PyYAML's generator, so that construct_mapping sees every one.
_StrictLoader.add_constructor("tag:yaml.org,2002:map", _StrictLoader.construct_mapping)
_StrictLoader.add_constructor("tag:yaml.org,2002:int", _StrictLoader.construct_whole_number)


def read_yaml(path: Path, what: str) -> object:
    """The tree in a YAML file: dicts with string keys, lists, strings, whole numbers, floats, booleans, None.

    Raises:
        TesseraError: unreadable, longer than MAX_BYTES, not UTF-8, not YAML, or something that the
            comment above refuses; names the file and the line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TesseraError(f"{what} {path}", str(error.strerror), "check the path") from None
    if len(data) > MAX_BYTES:
        raise TesseraError(f"{what} {path}", f"the file has more than {MAX_BYTES} bytes", REMEDY)
    try:
        return parse_yaml(data.decode())
    except UnicodeDecodeError as error:
        found = f"byte {error.start} is not UTF-8"
        raise TesseraError(f"{what} {path}", found, "save the file as UTF-8") from None
    except yaml.YAMLError as error:
        raise TesseraError(f"{what} {path}", f"not YAML: {error}", REMEDY) from None


def parse_yaml(text: str) -> object:
    """As :func:`read_yaml`, from text. Raises yaml.YAMLError."""
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 (a SafeLoader)
    except (ValueError, OverflowError) as error:  # timestamps and floats that Python refuses
        raise yaml.YAMLError(str(error)) from None


def _node_text(node: yaml.Node) -> str:
    return str(node.value)[:80] if isinstance(node, yaml.ScalarNode) else f"a {node.id}"


def _yaml_fault(problem: str, mark: yaml.Mark) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, mark)


# The library jsonschema, without the part that takes longest to import.
#
# jsonschema imports ``rfc3987_syntax`` if it is installed, and that compiles 38 grammars of URIs: about one
# second of processor time in every start of Snakemake. No schema of Tessera has URIs.

_GRAMMARS = "rfc3987_syntax"


def jsonschema() -> ModuleType:
    """The library; whoever imports it later, for example ``snakemake.utils.validate``, gets the same module.

    The formats ``iri`` and ``iri-reference`` are unknown to it, as without ``rfc3987_syntax``.
    """
    absent = "jsonschema" not in sys.modules and _GRAMMARS not in sys.modules
    if absent:
        # Its import fails, and jsonschema goes on without it.
        sys.modules[_GRAMMARS] = None  # type: ignore[assignment]
    try:
        import jsonschema as library
    finally:
        if absent:
            del sys.modules[_GRAMMARS]
    return library
