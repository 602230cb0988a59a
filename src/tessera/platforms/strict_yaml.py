"""A strict subset of YAML for configuration files: plain trees, without silent conversions.

PyYAML keeps the last of two equal keys, expands aliases (a few lines can grow to gigabytes), merges
``<<``, reads ``010`` as 8, ``1:30`` as 90 and ``yes`` as True. Each of these is an error here, with its line.
"""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tessera.core.errors import TesseraError

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,18})")
REMEDY = "correct the file; docs/add-a-platform.md shows its form"


class _Loader(yaml.SafeLoader):
    depth = 0

    def compose_node(self, parent, index):
        event = self.peek_event()
        if isinstance(event, yaml.events.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _fault("an anchor or alias; write the value where it is used", event.start_mark)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _fault(f"nested deeper than {MAX_DEPTH} levels", event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def flatten_mapping(self, node):
        """PyYAML would merge ``<<`` here; there are no aliases to merge."""

    def construct_mapping(self, node, deep=False):
        seen: set[str] = set()
        for key, _ in node.value:
            if key.tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:int"):
                raise _fault(f"key '{_text(key)}' is not a word", key.start_mark)
            if key.value in seen:
                raise _fault(f"key '{_text(key)}' is given twice", key.start_mark)
            seen.add(key.value)
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}

    def construct_whole_number(self, node):
        if not isinstance(node, yaml.ScalarNode) or not DECIMAL.fullmatch(node.value):
            raise _fault(f"'{_text(node)}' is not a whole number in plain decimal digits", node.start_mark)
        return int(node.value)


# A mapping is built at once, not by PyYAML's generator, so that construct_mapping sees every one.
_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_mapping)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_whole_number)


def read(path: Path, what: str) -> object:
    """The tree in a YAML file: dicts with string keys, lists, strings, whole numbers, floats, booleans, None.

    Raises:
        TesseraError: unreadable, longer than MAX_BYTES, not UTF-8, not YAML, or something that the
            module's head refuses; names the file and the line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TesseraError(f"{what} {path}", str(error.strerror), "check the path") from None
    if len(data) > MAX_BYTES:
        raise TesseraError(f"{what} {path}", f"the file has more than {MAX_BYTES} bytes", REMEDY)
    try:
        return parse(data.decode())
    except UnicodeDecodeError as error:
        found = f"byte {error.start} is not UTF-8"
        raise TesseraError(f"{what} {path}", found, "save the file as UTF-8") from None
    except yaml.YAMLError as error:
        raise TesseraError(f"{what} {path}", f"not YAML: {error}", REMEDY) from None


def parse(text: str) -> object:
    """As read(), from text. Raises yaml.YAMLError."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (a SafeLoader)
    except (ValueError, OverflowError) as error:  # timestamps and floats that Python refuses
        raise yaml.YAMLError(str(error)) from None


def _text(node: yaml.Node) -> str:
    return str(node.value)[:80] if isinstance(node, yaml.ScalarNode) else f"a {node.id}"


def _fault(problem: str, mark: yaml.Mark) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, mark)
