"""Power constants of equations E6 and E8: static watts, and joules of each event.

An energy is what an access adds at its level: a load that misses L1d pays ``l1d_j`` and ``l2_j``. So a miss
pays for the cache too, as in the reading e_c + (1-P) e_m of E6. With e_m - e_c in place of e_m, the other
reading P e_c + (1-P) e_m is the same model; no conclusion depends on which one Guz et al. print.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root
from tessera.energy import leaves
from tessera.energy.leaves import Bound, Leaf

WHAT = "power file"
STATIC = "static_w"
INSTRUCTION = "instruction_j"
LEVELS = ("l1d", "l2", "l3", "dram")  #: of the columns ``program_<level>_loads`` and ``walker_<level>_loads``
KEYS = (STATIC, INSTRUCTION, *(f"{level}_j" for level in LEVELS))
BOUNDS = {key: Bound(or_equal=True) for key in KEYS}
#: Sources of a constant differ by such factors; a value is divided and multiplied by it.
FACTOR = 4.0
BASELINE = "as given"


@dataclass(frozen=True)
class Power:
    """Constants of one core or one package; watts and joules."""

    name: str
    description: str
    values: Mapping[str, Leaf]

    def of(self, key: str) -> float:
        return self.values[key].value

    def vector(self) -> np.ndarray:
        """All values, in the order of :data:`KEYS`."""
        return np.array([self.of(key) for key in KEYS])

    def changed(self, name: str, **changes: float) -> Power:
        """The same with other values; their source says that they are varied."""
        new = {key: Leaf(value, f"assumed: varied, {name}") for key, value in changes.items()}
        return replace(self, name=name, values={**self.values, **new})


def default() -> Path:
    """The constants of one core, all assumed."""
    return repo_root() / "config" / "machines" / "power" / "one-core.yaml"


def read(path: Path) -> Power:
    """A power file.

    Raises:
        TesseraError: as :func:`tessera.energy.leaves.read`; or all constants are zero.
    """
    texts, values = leaves.read(path, WHAT, BOUNDS)
    if not any(leaf.value for leaf in values.values()):
        raise TesseraError(f"{WHAT} {path}", "all constants are zero", "give at least one of them")
    return Power(texts["name"], texts["description"], values)


def swept(power: Power) -> list[Power]:
    """The constants as given, each nonzero one divided and multiplied by :data:`FACTOR`, and both limits.

    The limits: ``static only`` (every energy 0, where E9 is exact), and ``no static`` (0 W).
    """
    found = [replace(power, name=BASELINE)]
    for key in KEYS:
        value = power.of(key)
        if value:
            found += [
                power.changed(f"{key} / {FACTOR:g}", **{key: value / FACTOR}),
                power.changed(f"{key} x {FACTOR:g}", **{key: value * FACTOR}),
            ]
    if power.of(STATIC):
        found.append(power.changed("static only", **{key: 0.0 for key in KEYS if key != STATIC}))
    if any(power.of(key) for key in KEYS if key != STATIC):
        found.append(power.changed("no static", **{STATIC: 0.0}))
    return found
