"""YAML files whose leaves are ``{value, source}``: machines with threads, and power constants.

Every number has a source; a source that begins with ``assumed`` marks a guess. Unknown keys are rejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.configuration_files import Document

ASSUMED = "assumed"
HEAD = ("name", "description")  #: texts at the top of every file


#: Rules of a leaf's value, as schemas.
POSITIVE = {"type": "number", "exclusiveMinimum": 0}
NOT_NEGATIVE = {"type": "number", "minimum": 0}
COUNT = {**POSITIVE, "multipleOf": 1, "title": "a whole number above 0"}


@dataclass(frozen=True)
class Leaf:
    """A number and where it comes from."""

    value: float
    source: str

    @property
    def assumed(self) -> bool:
        return self.source.startswith(ASSUMED)


def leaves_file(what: str, rules: Mapping[str, Mapping]) -> Document:
    """A kind of file that has the texts of :data:`HEAD` and exactly the leaves of ``rules``."""
    text = {"type": "string", "minLength": 1}
    source = {"title": "where it is printed, or assumed: why", "type": "string", "pattern": r"\S"}
    leaves = {
        key: {
            "title": "{value: NUMBER, source: TEXT}",
            "type": "object",
            "additionalProperties": False,
            "required": ["value", "source"],
            "properties": {"value": rule, "source": source},
        }
        for key, rule in rules.items()
    }
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": [*HEAD, *rules],
        "properties": dict.fromkeys(HEAD, text) | leaves,
    }
    return Document(what, schema, 'a leaf is, for example: {value: 1, source: "assumed: why"}')


def read_leaves(path: Path, kind: Document) -> tuple[dict[str, str], dict[str, Leaf]]:
    """(texts of :data:`HEAD`, leaves) of a file.

    Raises:
        TesseraError: unreadable, or a key is unknown, missing, without a source, or breaks its rule.
    """
    tree = kind.read(path)
    return {key: tree.pop(key) for key in HEAD}, {key: Leaf(**leaf) for key, leaf in tree.items()}


def leaves_text(name: str, description: str, leaves: Mapping[str, Leaf], remarks: Sequence[str] = ()) -> str:
    """The file's text; ``remarks`` become comments at its top. Any name, also ``a: b``, is read back."""
    lines = [*(f"# {line}" for line in remarks), f"name: {_quoted(name)}"]
    lines += [f"description: {_quoted(description)}"]
    lines += [
        f"{key}: {{value: {_number(leaf.value)}, source: {_quoted(leaf.source)}}}"
        for key, leaf in leaves.items()
    ]
    return "\n".join(lines) + "\n"


def _quoted(words: str) -> str:
    """A string of JSON, which is one of YAML, too."""
    return json.dumps(words, ensure_ascii=False)


def _number(value: float) -> str:
    """As YAML 1.1 reads it: ``1e-09`` would be a word there, ``1.0e-09`` is a number."""
    return re.sub(r"^(-?\d+)e", r"\1.0e", repr(value))
