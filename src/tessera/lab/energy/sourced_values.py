"""YAML files whose leaves are ``{value, source}``: machines with threads, and power constants.

Every number has a source; a source that begins with ``assumed`` marks a guess. Unknown keys are rejected.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core import configuration_files
from tessera.core.errors import TesseraError

ASSUMED = "assumed"
HEAD = ("name", "description")  #: texts at the top of every file


@dataclass(frozen=True)
class Bound:
    """Rule of a leaf: a number above ``least``, or equal to it if ``or_equal``; whole if ``whole``."""

    least: float = 0.0
    or_equal: bool = False
    whole: bool = False

    def fault(self, value: object) -> str:
        """Why ``value`` breaks the rule; empty if it does not."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return f"'{value}' is not a number"
        if self.whole and value != int(value):
            return f"{value} is not a whole number"
        if value < self.least or (value == self.least and not self.or_equal):
            return f"{value} must be {'at least' if self.or_equal else 'above'} {self.least:g}"
        return ""


@dataclass(frozen=True)
class Leaf:
    """A number and where it comes from."""

    value: float
    source: str

    @property
    def assumed(self) -> bool:
        return self.source.startswith(ASSUMED)


def read_leaves(path: Path, what: str, bounds: Mapping[str, Bound]) -> tuple[dict[str, str], dict[str, Leaf]]:
    """(texts of :data:`HEAD`, leaves) of a file that has exactly the leaves of ``bounds``.

    Raises:
        TesseraError: unreadable, or a key is unknown, missing, without a source, or breaks its rule.
    """
    tree = configuration_files.read_yaml(path, what)
    if not isinstance(tree, dict):
        raise TesseraError(f"{what} {path}", "the file has no keys", _form(bounds))
    wanted = [*HEAD, *bounds]
    if wrong := sorted(set(tree) - set(wanted)):
        raise TesseraError(
            f"{what} {path}, key '{wrong[0]}'", "no such key", f"keys are: {', '.join(wanted)}"
        )
    if missing := [key for key in wanted if key not in tree]:
        raise TesseraError(f"{what} {path}", f"keys missing: {', '.join(missing)}", _form(bounds))
    texts = {key: str(tree[key]) for key in HEAD}
    return texts, {
        key: _leaf(f"{what} {path}, key '{key}'", tree[key], bound) for key, bound in bounds.items()
    }


def _leaf(owner: str, found: object, bound: Bound) -> Leaf:
    remedy = 'write for example: {value: 1, source: "where it is printed, or assumed: why"}'
    if not isinstance(found, dict) or set(found) != {"value", "source"}:
        raise TesseraError(owner, "a leaf has exactly a value and a source", remedy)
    if not isinstance(found["source"], str) or not found["source"].strip():
        raise TesseraError(owner, "the source is empty", remedy)
    if fault := bound.fault(found["value"]):
        raise TesseraError(owner, fault, "correct the value")
    return Leaf(found["value"], found["source"])


def _form(bounds: Mapping[str, Bound]) -> str:
    return f"the file has the texts {', '.join(HEAD)}, and leaves {', '.join(bounds)}"


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
