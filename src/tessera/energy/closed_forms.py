"""What the equations imply for the statements of OPERA D5.10 chapter 3 (docs/energy.md, Closed forms).

Each function gives the number that a claim compares, over parameter sets drawn with a fixed seed
(:func:`random_machines`), so that a claim about *all* parameters has many chances to fail.
"""

from __future__ import annotations

import numpy as np

from tessera.energy import guz
from tessera.energy.leaves import Leaf
from tessera.energy.machines import BOUNDS, Machine

#: key -> (least, greatest), drawn evenly in the logarithm
_RANGES = {
    "cores": (1, 2048),
    "threads": (2, 4096),
    "frequency_hz": (1e9, 4e9),
    "cache_bytes": (2.0**20, 2.0**26),
    "cache_cycles": (1, 60),
    "memory_cycles": (80, 500),
    "bytes_per_miss": (4, 64),
    "bandwidth_bytes_per_s": (1e9, 1e12),
    "static_w": (0.1, 200),
    "instruction_j": (1e-11, 1e-8),
    "cache_j": (1e-11, 1e-8),
    "memory_j": (1e-10, 1e-7),
    "cycles_per_instruction": (0.25, 2),
    "memory_per_instruction": (0.005, 0.5),
    "locality_exponent": (1.05, 8),
    "locality_bytes": (2.0**8, 2.0**22),
}


def random_machines(count: int, seed: int, **fixed: tuple[float, float]) -> list[Machine]:
    """``count`` machines; ``fixed`` replaces ranges of keys."""
    draw = np.random.default_rng(seed)
    ranges = {**_RANGES, **fixed}
    found = []
    for number in range(count):
        values = {key: float(np.exp(draw.uniform(*np.log(bounds)))) for key, bounds in ranges.items()}
        values = {key: round(value) if BOUNDS[key].whole else value for key, value in values.items()}
        leaves = {key: Leaf(value, "assumed: drawn") for key, value in values.items()}
        found.append(Machine(f"drawn-{number}", "drawn", leaves))
    return found


def static_share(machine: Machine, n, bandwidth: bool = True):
    """L / Power: the elasticity of IPJ by IPS at constant J (form 1). OPERA's "same rate" needs 1."""
    return machine.static_w / guz.power_w(machine, n, bandwidth)


def elasticity_error(machine: Machine, n: float, step: float = 1e-4) -> float:
    """|numeric d ln IPJ / d ln IPS at constant J - L/Power|; the difference quotient is central."""
    joules, now = float(guz.joules_per_instruction(machine, n)), float(guz.ips(machine, n))
    fast, slow = now * np.exp(step), now * np.exp(-step)

    def efficiency(rate: float) -> float:
        return np.log(rate / (machine.static_w + rate * joules))

    numeric = (efficiency(fast) - efficiency(slow)) / (2 * step)
    return abs(float(numeric) - float(static_share(machine, n)))


def deepest_fall(machine: Machine, n, bandwidth: bool = False) -> float:
    """The valley's depth: the largest 1 - IPS(n2)/IPS(n1) with n1 < n2 of the ascending array ``n``."""
    rates = guz.ips(machine, np.asarray(n, dtype=float), bandwidth)
    return float(np.max(1 - rates / np.maximum.accumulate(rates)))


def most_speedup_per_thread(machine: Machine, n, bandwidth: bool = False) -> float:
    """Largest IPS(n) / (n IPS(1)): above 1 would be faster than linear (form 6)."""
    n = np.asarray(n, dtype=float)
    one = float(guz.ips(machine, 1.0, bandwidth))
    return float(np.max(guz.ips(machine, n, bandwidth) / (n * one)))


def smallest_rise_of_misses(machine: Machine, n) -> float:
    """Smallest relative change of the miss rate from one n to the next; below 0 if it falls (form 5)."""
    rates = guz.miss_rate(machine, np.asarray(n, dtype=float))
    return float(np.min(rates[1:] / rates[:-1] - 1))


def equivalent_threads(threads: float, cache_bytes: float, other_bytes: float) -> float:
    """Threads on ``other_bytes`` with the same cache per thread, so the same P (form 3)."""
    return threads * other_bytes / cache_bytes


def scaled(machine: Machine, factor: float) -> Machine:
    """The machine with a cache ``factor`` times as large."""
    return machine.changed("assumed: scaled", cache_bytes=machine.cache_bytes * factor)
