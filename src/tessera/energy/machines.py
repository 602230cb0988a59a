"""Machines with threads (``config/machines/*.yaml``): inputs of the model of Guz et al., each with its
source.

A file also has a program: without one, the model gives no number. Command lines replace its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.paths import repo_root
from tessera.energy import leaves
from tessera.energy.leaves import Bound, Leaf

WHAT = "machine"
BOUNDS = {
    "cores": Bound(whole=True),  #: N
    "threads": Bound(whole=True),  #: hardware threads, the end of the range of n
    "frequency_hz": Bound(),  #: f
    "cache_bytes": Bound(),  #: S: the last-level cache that the threads share
    "cache_cycles": Bound(or_equal=True),  #: t_c
    "memory_cycles": Bound(or_equal=True),  #: t_m
    "bytes_per_miss": Bound(),  #: b
    "bandwidth_bytes_per_s": Bound(),  #: B
    "static_w": Bound(or_equal=True),  #: L
    "instruction_j": Bound(or_equal=True),  #: e_x
    "cache_j": Bound(or_equal=True),  #: e_c
    "memory_j": Bound(or_equal=True),  #: e_m
    "cycles_per_instruction": Bound(),  #: c, of a program with perfect memory
    "memory_per_instruction": Bound(or_equal=True),  #: m
    "locality_exponent": Bound(least=1.0),  #: a
    "locality_bytes": Bound(),  #: w
}


@dataclass(frozen=True)
class Machine:
    """A machine and a program; ``shared``: all threads use the same data, so E2 has n = 1."""

    name: str
    description: str
    values: Mapping[str, Leaf]
    shared: bool = False

    def __getattr__(self, key: str) -> float:
        if key in BOUNDS:
            return self.__dict__["values"][key].value
        raise AttributeError(key)

    def changed(self, why: str, **changes: float) -> Machine:
        """The same with other values.

        Raises:
            TesseraError: a value that breaks the rule of its key.
        """
        for key, value in changes.items():
            if key not in BOUNDS:
                raise unknown_name(f"value of machine {self.name}", key, list(BOUNDS))
            if fault := BOUNDS[key].fault(value):
                raise TesseraError(f"machine {self.name}, key '{key}'", fault, "correct the value")
        return replace(self, values={**self.values, **{k: Leaf(v, why) for k, v in changes.items()}})


def folder() -> Path:
    return repo_root() / "config" / "machines"


def names() -> list[str]:
    """Names of the committed machines, sorted."""
    return sorted(path.stem for path in folder().glob("*.yaml"))


def load(name: str) -> Machine:
    """A committed machine by name, or a file by its path.

    Raises:
        TesseraError: no such machine; or as :func:`tessera.energy.leaves.read`.
    """
    path = Path(name) if "/" in name or name.endswith(".yaml") else folder() / f"{name}.yaml"
    if path.parent == folder() and not path.is_file():
        raise unknown_name("machine", name, names())
    texts, values = leaves.read(path, WHAT, BOUNDS)
    if values["memory_cycles"].value < values["cache_cycles"].value:
        found = f"memory_cycles {values['memory_cycles'].value:g} is below cache_cycles"
        raise TesseraError(f"{WHAT} {path}", found, "memory is not faster than the cache")
    return Machine(texts["name"], texts["description"], values)
