"""Protocols: how the runs of a bundle were made. A file for each, and its SHA-256 in the bundle.

Bundles of different protocols are never judged together. So a change of the rules is a new file with a new
name, and the old file stays: a bundle of an older protocol can still be read and is named as such.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tessera.core.files import sha256_of

FOLDER = Path(__file__).with_name("protocols")
CURRENT = "rounds-1"


@dataclass(frozen=True)
class Protocol:
    """``rounds``: least and most rounds; ``half_width``: of the difference to 4KB pages, as a fraction.

    Spreads are (largest - smallest) / largest of instructions between runs of a workload, and of R between
    layouts with equal windows.
    """

    name: str
    about: str
    region: str
    rounds: tuple[int, int]
    half_width: float
    largest_instructions_spread: float
    largest_runtime_spread: float
    sha256: str

    @property
    def current(self) -> bool:
        return self.name == CURRENT


@cache
def protocols(folder: Path = FOLDER) -> dict[str, Protocol]:
    """Every protocol by name."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        values = json.loads(path.read_text())
        values["rounds"] = tuple(values["rounds"])
        found[path.stem] = Protocol(**values, sha256=sha256_of(path))
    return found


def current() -> Protocol:
    """The protocol of new bundles."""
    return protocols()[CURRENT]
