"""A stream of instructions with data accesses, as arrays; one register dependence structure per instruction.

A stream is what a trace holds, reduced to what a validation needs: each element is one instruction with at
most one load and one store. Registers are numbers from 0 (:data:`REGISTERS` of them), -1 is none.
Instructions with the same ``pc`` are one static instruction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

HEAP_BASE = 16 << 30  #: virtual address of the heap pool of all synthetic traces
ANON_BASE = 64 << 30  #: and of the anonymous pool
#: ChampSim's register numbers for ours: 64 + b is bit b of a trace (artifacts/tracer/README.md); the bits of
#: the stack pointer (4) and of the flags (16) have a meaning of their own and are left out
_NUMBERS = np.array([64 + bit for bit in range(33) if bit not in (4, 16)], dtype=np.uint8)
REGISTERS = len(_NUMBERS)
NONE = -1

RECORD = np.dtype(
    [
        ("ip", "<u8"),
        ("is_branch", "u1"),
        ("branch_taken", "u1"),
        ("destination_registers", "u1", 2),
        ("source_registers", "u1", 4),
        ("destination_memory", "<u8", 2),
        ("source_memory", "<u8", 4),
    ]
)  #: ChampSim's record of one instruction, 64 bytes


@dataclass(frozen=True)
class Stream:
    """Arrays of one length: ``pc``, ``load`` and ``store`` addresses (0: none), register numbers (-1: none).

    ``heap_bytes`` and ``anon_bytes`` are the pools' sizes (multiples of 1GB; 0: no such pool).
    """

    pc: np.ndarray
    load: np.ndarray
    store: np.ndarray
    source: np.ndarray
    destination: np.ndarray
    heap_bytes: int = 0
    anon_bytes: int = 1 << 30

    @property
    def accesses(self) -> int:
        """Data accesses: loads and stores."""
        return int(np.count_nonzero(self.load) + np.count_nonzero(self.store))

    def addresses(self) -> np.ndarray:
        """Virtual addresses in program order; an instruction's load comes before its store."""
        pairs = np.stack([self.load, self.store], axis=1).ravel()
        return pairs[pairs != 0]

    def records(self) -> np.ndarray:
        """The stream as ChampSim records."""
        made = np.zeros(len(self.pc), RECORD)
        made["ip"] = self.pc
        made["source_memory"][:, 0] = self.load
        made["destination_memory"][:, 0] = self.store
        made["source_registers"][:, 0] = _number(self.source)
        made["destination_registers"][:, 0] = _number(self.destination)
        return made


def loads(
    addresses: np.ndarray,
    *,
    chains: int = 1,
    dependent: bool = True,
    heap_bytes: int = 0,
    anon_bytes: int = 1 << 30,
) -> Stream:
    """One load per address, of ``chains`` chases in turn; not ``dependent``: loads wait for nothing."""
    count = len(addresses)
    chain = np.arange(count) % chains
    source = chain if dependent else np.full(count, NONE)
    pc = np.uint64(0x400000) + np.uint64(16) * chain.astype(np.uint64)
    none = np.zeros(count, np.uint64)
    return Stream(
        pc, addresses.astype(np.uint64), none, source, chain, heap_bytes=heap_bytes, anon_bytes=anon_bytes
    )


def arithmetic(count: int, dependent: bool) -> Stream:
    """``count`` one-cycle operations (and one load before them, as a trace holds at least one access)."""
    pc = np.full(count + 1, 0x500000, np.uint64)
    pc[0] = 0x400000
    load = np.zeros(count + 1, np.uint64)
    load[0] = ANON_BASE
    register = np.full(count + 1, 1 if dependent else NONE)
    return Stream(pc, load, np.zeros(count + 1, np.uint64), register, register)


def _number(registers: np.ndarray) -> np.ndarray:
    if registers.max(initial=NONE) >= REGISTERS:
        raise ValueError(f"registers are numbers below {REGISTERS}")
    return np.where(registers >= 0, _NUMBERS[np.maximum(registers, 0)], 0)
