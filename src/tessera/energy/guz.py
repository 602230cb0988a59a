"""The model of Guz et al. for n threads that share a cache: equations E1 to E7 of docs/energy.md.

Source: from memory of *Many-Core vs. Many-Thread Machines: Stay Away From the Valley* (IEEE CAL 2009) and
*Threads vs. Caches: Modeling the Behavior of Parallel Workloads* (ICCD 2010); no text of either was at
hand, only the abstract of the second. So the equations are ``assumed``. Not modelled: out-of-order cores,
cache levels above the shared one, hardware threads of a core, NUMA. All functions take n as a number or an
array, n > 0, also fractions.
"""

from __future__ import annotations

import numpy as np

from tessera.energy.machines import Machine


def hit_rate(machine: Machine, n):
    """E2: P, of the memory instructions of a program whose n threads share the cache evenly."""
    share = machine.cache_bytes / (1.0 if machine.shared else np.asarray(n, dtype=float))
    exponent = -(machine.locality_exponent - 1)
    return np.broadcast_to(1 - (share / machine.locality_bytes + 1) ** exponent, np.shape(n))


def miss_rate(machine: Machine, n):
    """1 - P: misses per memory instruction. As E2, without the rounding of a difference."""
    share = machine.cache_bytes / (1.0 if machine.shared else np.asarray(n, dtype=float))
    found = (share / machine.locality_bytes + 1) ** -(machine.locality_exponent - 1)
    return np.broadcast_to(found, np.shape(n))


def access_cycles(machine: Machine, n):
    """E1: T, mean cycles of a memory instruction."""
    return machine.cache_cycles + miss_rate(machine, n) * (machine.memory_cycles - machine.cache_cycles)


def stall_factor(machine: Machine, n):
    """1 + m T / c: cycles of an instruction over those with perfect memory."""
    per_instruction = machine.memory_per_instruction * access_cycles(machine, n)
    return 1 + per_instruction / machine.cycles_per_instruction


def utilization(machine: Machine, n):
    """E3: u, the share of the cores' time with an instruction to execute."""
    return np.minimum(1.0, np.asarray(n, dtype=float) / (machine.cores * stall_factor(machine, n)))


def unlimited_ips(machine: Machine, n):
    """E4: instructions per second with any bandwidth."""
    peak = machine.cores * machine.frequency_hz / machine.cycles_per_instruction
    return peak * utilization(machine, n)


def bandwidth_ips(machine: Machine, n):
    """E5: instructions per second that the bandwidth allows; infinite without memory instructions."""
    per_instruction = machine.memory_per_instruction * machine.bytes_per_miss * miss_rate(machine, n)
    with np.errstate(divide="ignore"):
        return np.where(per_instruction > 0, machine.bandwidth_bytes_per_s / per_instruction, np.inf)


def ips(machine: Machine, n, bandwidth: bool = True):
    """E4, and E5 if ``bandwidth``: instructions per second."""
    found = unlimited_ips(machine, n)
    return np.minimum(found, bandwidth_ips(machine, n)) if bandwidth else found


def joules_per_instruction(machine: Machine, n):
    """J of E6: dynamic energy of an instruction. A miss pays e_c and e_m (tessera.energy.power)."""
    memory = machine.cache_j + miss_rate(machine, n) * machine.memory_j
    return machine.instruction_j + machine.memory_per_instruction * memory


def power_w(machine: Machine, n, bandwidth: bool = True):
    """E6: watts."""
    return machine.static_w + ips(machine, n, bandwidth) * joules_per_instruction(machine, n)


def ipj(machine: Machine, n, bandwidth: bool = True):
    """E7: instructions per joule; infinite if nothing needs power."""
    with np.errstate(divide="ignore"):
        return ips(machine, n, bandwidth) / power_w(machine, n, bandwidth)
