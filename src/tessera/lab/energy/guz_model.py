"""The model of Guz et al. for n threads that share a cache (equations E1 to E7 of docs/explain/energy.md).

Its machines (``config/machines/*.yaml``), the equations, closed forms of what they imply, and its table
``threads.csv``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.configuration_files import fault_of
from tessera.core.errors import TesseraError, unknown_name
from tessera.core.files import repo_root, write_csv
from tessera.lab.energy import sourced_values
from tessera.lab.energy.sourced_values import ASSUMED, COUNT, NOT_NEGATIVE, POSITIVE, Leaf

# Machines with threads: inputs of the model, each with its source.
#
# A file also has a program: without one, the model gives no number. Command lines replace its values.

MACHINE_RULES = {
    "cores": COUNT,  #: N
    "threads": COUNT,  #: hardware threads, the end of the range of n
    "frequency_hz": POSITIVE,  #: f
    "cache_bytes": POSITIVE,  #: S: the last-level cache that the threads share
    "cache_cycles": NOT_NEGATIVE,  #: t_c
    "memory_cycles": NOT_NEGATIVE,  #: t_m
    "bytes_per_miss": POSITIVE,  #: b
    "bandwidth_bytes_per_s": POSITIVE,  #: B
    "static_w": NOT_NEGATIVE,  #: L
    "instruction_j": NOT_NEGATIVE,  #: e_x
    "cache_j": NOT_NEGATIVE,  #: e_c
    "memory_j": NOT_NEGATIVE,  #: e_m
    "cycles_per_instruction": POSITIVE,  #: c, of a program with perfect memory
    "memory_per_instruction": NOT_NEGATIVE,  #: m
    "locality_exponent": {"type": "number", "exclusiveMinimum": 1},  #: a
    "locality_bytes": POSITIVE,  #: w
}
MACHINE_FILE = sourced_values.leaves_file("machine", MACHINE_RULES)


@dataclass(frozen=True)
class ModelledMachine:
    """A machine and a program; ``shared``: all threads use the same data, so E2 has n = 1."""

    name: str
    description: str
    values: Mapping[str, Leaf]
    shared: bool = False

    def __getattr__(self, key: str) -> float:
        if key in MACHINE_RULES:
            return self.__dict__["values"][key].value
        raise AttributeError(key)

    def changed(self, why: str, **changes: float) -> ModelledMachine:
        """The same with other values.

        Raises:
            TesseraError: a value that breaks the rule of its key.
        """
        for key, value in changes.items():
            if key not in MACHINE_RULES:
                raise unknown_name(f"value of machine {self.name}", key, list(MACHINE_RULES))
            if fault := fault_of(value, MACHINE_RULES[key]):
                raise TesseraError(f"machine {self.name}, key '{key}'", fault, "correct the value")
        return replace(self, values={**self.values, **{k: Leaf(v, why) for k, v in changes.items()}})


def machines_folder() -> Path:
    return repo_root() / "config" / "machines"


def machine_names() -> list[str]:
    """Names of the committed machines, sorted."""
    return sorted(path.stem for path in machines_folder().glob("*.yaml"))


def load_machine(name: str) -> ModelledMachine:
    """A committed machine by name, or a file by its path.

    Raises:
        TesseraError: no such machine; or as :func:`tessera.lab.energy.sourced_values.read_leaves`.
    """
    path = Path(name) if "/" in name or name.endswith(".yaml") else machines_folder() / f"{name}.yaml"
    if path.parent == machines_folder() and not path.is_file():
        raise unknown_name("machine", name, machine_names())
    texts, values = sourced_values.read_leaves(path, MACHINE_FILE)
    if values["memory_cycles"].value < values["cache_cycles"].value:
        found = f"memory_cycles {values['memory_cycles'].value:g} is below cache_cycles"
        raise TesseraError(f"machine {path}", found, "memory is not faster than the cache")
    return ModelledMachine(texts["name"], texts["description"], values)


# The equations E1 to E7.
#
# Source: from memory of *Many-Core vs. Many-Thread Machines: Stay Away From the Valley* (IEEE CAL 2009) and
# *Threads vs. Caches: Modeling the Behavior of Parallel Workloads* (ICCD 2010); no text of either was at
# hand, only the abstract of the second. So the equations are ``assumed``. Not modelled: out-of-order cores,
# cache levels above the shared one, hardware threads of a core, NUMA. All functions take n as a number or an
# array, n > 0, also fractions.


def miss_rate(machine: ModelledMachine, n):
    """1 - P of E2: misses per memory instruction of a program whose n threads share the cache evenly."""
    share = machine.cache_bytes / (1.0 if machine.shared else np.asarray(n, dtype=float))
    found = (share / machine.locality_bytes + 1) ** -(machine.locality_exponent - 1)
    return np.broadcast_to(found, np.shape(n))


def access_cycles(machine: ModelledMachine, n):
    """E1: T, mean cycles of a memory instruction."""
    return machine.cache_cycles + miss_rate(machine, n) * (machine.memory_cycles - machine.cache_cycles)


def stall_factor(machine: ModelledMachine, n):
    """1 + m T / c: cycles of an instruction over those with perfect memory."""
    per_instruction = machine.memory_per_instruction * access_cycles(machine, n)
    return 1 + per_instruction / machine.cycles_per_instruction


def utilization(machine: ModelledMachine, n):
    """E3: u, the share of the cores' time with an instruction to execute."""
    return np.minimum(1.0, np.asarray(n, dtype=float) / (machine.cores * stall_factor(machine, n)))


def unlimited_ips(machine: ModelledMachine, n):
    """E4: instructions per second with any bandwidth."""
    peak = machine.cores * machine.frequency_hz / machine.cycles_per_instruction
    return peak * utilization(machine, n)


def bandwidth_ips(machine: ModelledMachine, n):
    """E5: instructions per second that the bandwidth allows; infinite without memory instructions."""
    per_instruction = machine.memory_per_instruction * machine.bytes_per_miss * miss_rate(machine, n)
    with np.errstate(divide="ignore"):
        return np.where(per_instruction > 0, machine.bandwidth_bytes_per_s / per_instruction, np.inf)


def ips(machine: ModelledMachine, n, bandwidth: bool = True):
    """E4, and E5 if ``bandwidth``: instructions per second."""
    found = unlimited_ips(machine, n)
    return np.minimum(found, bandwidth_ips(machine, n)) if bandwidth else found


def joules_per_instruction(machine: ModelledMachine, n):
    """J of E6: dynamic energy of an instruction. A miss pays e_c and e_m, as in `power`."""
    memory = machine.cache_j + miss_rate(machine, n) * machine.memory_j
    return machine.instruction_j + machine.memory_per_instruction * memory


def power_w(machine: ModelledMachine, n, bandwidth: bool = True):
    """E6: watts."""
    return machine.static_w + ips(machine, n, bandwidth) * joules_per_instruction(machine, n)


def ipj(machine: ModelledMachine, n, bandwidth: bool = True):
    """E7: instructions per joule; infinite if nothing needs power."""
    with np.errstate(divide="ignore"):
        return ips(machine, n, bandwidth) / power_w(machine, n, bandwidth)


# What the equations imply for the statements of OPERA D5.10 chapter 3 (claims tessera-threads-*).
#
# Each function gives the number that a claim compares, over parameter sets drawn with a fixed seed
# (:func:`random_machines`), so that a claim about *all* parameters has many chances to fail.

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


def random_machines(count: int, seed: int, **fixed: tuple[float, float]) -> list[ModelledMachine]:
    """``count`` machines; ``fixed`` replaces ranges of keys."""
    draw = np.random.default_rng(seed)
    ranges = {**_RANGES, **fixed}
    found = []
    for number in range(count):
        values = {key: float(np.exp(draw.uniform(*np.log(bounds)))) for key, bounds in ranges.items()}
        values = {
            key: round(value) if MACHINE_RULES[key] is COUNT else value for key, value in values.items()
        }
        leaves = {key: Leaf(value, "assumed: drawn") for key, value in values.items()}
        found.append(ModelledMachine(f"drawn-{number}", "drawn", leaves))
    return found


def static_share(machine: ModelledMachine, n, bandwidth: bool = True):
    """L / Power: the elasticity of IPJ by IPS at constant J (form 1). OPERA's "same rate" needs 1."""
    return machine.static_w / power_w(machine, n, bandwidth)


def elasticity_error(machine: ModelledMachine, n: float, step: float = 1e-4) -> float:
    """|numeric d ln IPJ / d ln IPS at constant J - L/Power|; the difference quotient is central."""
    joules, now = float(joules_per_instruction(machine, n)), float(ips(machine, n))
    fast, slow = now * np.exp(step), now * np.exp(-step)

    def efficiency(rate: float) -> float:
        return np.log(rate / (machine.static_w + rate * joules))

    numeric = (efficiency(fast) - efficiency(slow)) / (2 * step)
    return abs(float(numeric) - float(static_share(machine, n)))


def deepest_fall(machine: ModelledMachine, n, bandwidth: bool = False) -> float:
    """The valley's depth: the largest 1 - IPS(n2)/IPS(n1) with n1 < n2 of the ascending array ``n``."""
    rates = ips(machine, np.asarray(n, dtype=float), bandwidth)
    return float(np.max(1 - rates / np.maximum.accumulate(rates)))


def most_speedup_per_thread(machine: ModelledMachine, n, bandwidth: bool = False) -> float:
    """Largest IPS(n) / (n IPS(1)): above 1 would be faster than linear (form 6)."""
    n = np.asarray(n, dtype=float)
    one = float(ips(machine, 1.0, bandwidth))
    return float(np.max(ips(machine, n, bandwidth) / (n * one)))


def smallest_rise_of_misses(machine: ModelledMachine, n) -> float:
    """Smallest relative change of the miss rate from one n to the next; below 0 if it falls (form 5)."""
    rates = miss_rate(machine, np.asarray(n, dtype=float))
    return float(np.min(rates[1:] / rates[:-1] - 1))


def equivalent_threads(threads: float, cache_bytes: float, other_bytes: float) -> float:
    """Threads on ``other_bytes`` with the same cache per thread, so the same P (form 3)."""
    return threads * other_bytes / cache_bytes


def scaled_cache(machine: ModelledMachine, factor: float) -> ModelledMachine:
    """The machine with a cache ``factor`` times as large."""
    return machine.changed("assumed: scaled", cache_bytes=machine.cache_bytes * factor)


# The table ``threads.csv``: a row per number of threads, of the model (assumed) or of runs (measured).

THREADS_COLUMNS = ("workload", "machine", "threads", "ips", "ipj", "power_w", "llc_miss_rate", "provenance")
MEASURED = "measured"


def threads_curve(
    machine: ModelledMachine,
    threads: Sequence[int],
    workload: str,
    *,
    shared: bool = False,
    bandwidth: bool = True,
) -> pd.DataFrame:
    """E1 to E7 for each number of threads; all values are ``assumed``.

    Units: instructions per second, instructions per joule, W, misses per memory instruction.
    """
    machine = replace(machine, shared=shared)
    n = np.asarray(threads, dtype=float)
    table = pd.DataFrame(
        {
            "workload": workload,
            "machine": machine.name,
            "threads": list(threads),
            "ips": ips(machine, n, bandwidth),
            "ipj": ipj(machine, n, bandwidth),
            "power_w": power_w(machine, n, bandwidth),
            "llc_miss_rate": miss_rate(machine, n),
            "provenance": ASSUMED,
        }
    )
    return table[list(THREADS_COLUMNS)]


def write_curve(table: pd.DataFrame, path: Path) -> None:
    """Write the table, with its columns in order."""
    write_csv(table[list(THREADS_COLUMNS)], path)
