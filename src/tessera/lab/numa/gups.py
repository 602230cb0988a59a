"""GUPS without its memory: its updates for tables of any size, its trace file and its layouts."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built, check_target, publish, scratch_folder
from tessera.core.layouts.layout import Layout, Window, write_layout
from tessera.core.units import GB, PAGE_2MB, PAGE_4KB
from tessera.lab.study import Run, study
from tessera.machine.container import RunOptions, toolchain

# HPCC's stream of updates as instructions and addresses.
#
# RandomAccess of the HPC Challenge suite (Koester and Lucas, HPCC 1.5): ``table[a mod elements] ^= a`` for
# successive powers a of x modulo x^64 + x^2 + x + 1 over GF(2). Addresses depend on no data, so a trace of a
# 64GB table needs no 64GB. The loop is that of our gups in mode ``update`` (``artifacts/workloads``), as GCC
# compiles it for x86-64: 12 instructions, one of which loads and stores the element.
#
# Only the updates are made: no initialisation, no check of the table.

BASE = 64 * GB  #: virtual address of the table: the begin of the pool ``mmap``
ELEMENT_BYTES = 8
MOST_GB = 16384  #: the pool then ends far below 2^47
POLYNOMIAL = 7  #: x^2 + x + 1: what x^64 leaves
PERIOD = 1317624576693539401  #: of the powers of x (HPCC)
_WORD = (1 << 64) - 1
_LANES, _STEPS = 1024, 64  #: numbers of one block: 1024 streams beside each other, 64 steps of each

#: ChampSim's record of one instruction, 64 bytes.
RECORD = np.dtype(
    [
        ("ip", "<u8"), ("is_branch", "u1"), ("branch_taken", "u1"), ("writes", "u1", 2), ("reads", "u1", 4),
        ("stores", "<u8", 2), ("loads", "<u8", 4),
    ]
)  # fmt: skip
#: numbers that ChampSim gives a meaning; 64 + b is register b (artifacts/tracer/README.md)
_FLAGS, _IP = 25, 26
_RAX, _RCX, _RDX, _RBX, _R8, _R10, _R11 = (64 + bit for bit in (0, 1, 2, 3, 8, 10, 11))
#: the loop: registers read, registers written, bytes
LOOP = (
    ((_R8,), (_RDX,), 4),  # lea rdx, [r8 + r8]
    ((_RDX,), (_RCX,), 3),  # mov rcx, rdx
    ((_RCX,), (_RCX, _FLAGS), 4),  # xor rcx, 7
    ((_R8,), (_FLAGS,), 3),  # test r8, r8
    ((_RCX, _RDX, _FLAGS), (_RDX,), 4),  # cmovs rdx, rcx
    ((_RAX,), (_RAX, _FLAGS), 4),  # add rax, 1
    ((_RDX,), (_R8,), 3),  # mov r8, rdx: the number
    ((_R11,), (_RDX,), 3),  # mov rdx, r11: elements - 1
    ((_R8, _RDX), (_RDX, _FLAGS), 3),  # and rdx, r8
    ((_R8, _R10, _RDX), (_FLAGS,), 4),  # xor [r10 + 8 rdx], r8
    ((_RAX, _RBX), (_FLAGS,), 3),  # cmp rbx, rax
    ((_IP, _FLAGS), (_IP,), 2),  # jne
)
UPDATE = 9  #: the instruction of the loop that loads and stores
START = 0x401000  #: address of the loop


def times_x(number: int) -> int:
    """The next power of x."""
    return ((number << 1) & _WORD) ^ (POLYNOMIAL if number >> 63 else 0)


def product(a: int, b: int) -> int:
    """Product of two polynomials, reduced."""
    total = 0
    while b:
        if b & 1:
            total ^= a
        a, b = times_x(a), b >> 1
    return total


def power(exponent: int) -> int:
    """x^exponent, by squaring."""
    result, square = 1, 2
    while exponent:
        if exponent & 1:
            result = product(result, square)
        square, exponent = product(square, square), exponent >> 1
    return result


def position(seed: int) -> int:
    """Where the stream of a seed begins, as in gups: SplitMix64 (Steele et al. 2014) below the period."""
    z = (seed + 1) * 0x9E3779B97F4A7C15 & _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
    return ((z ^ z >> 31) * PERIOD) >> 64


def random_blocks(begin: int, count: int) -> Iterator[np.ndarray]:
    """x^(begin + 1), x^(begin + 2), ... in blocks of uint64; ``count`` in all.

    1024 streams advance beside each other, 64 steps apart, so numpy does the work.
    """
    one, top, polynomial = np.uint64(1), np.uint64(63), np.uint64(POLYNOMIAL)
    far, start = power(_STEPS), power(begin + 1)
    while count > 0:
        lanes = np.empty(_LANES, np.uint64)
        for lane in range(_LANES):
            lanes[lane] = start
            start = product(start, far)
        block = np.empty((_LANES, _STEPS), np.uint64)
        for step in range(_STEPS):
            block[:, step] = lanes
            lanes = (lanes << one) ^ (lanes >> top) * polynomial
        yield block.ravel()[:count]
        count -= block.size


@dataclass(frozen=True)
class Gups:
    """``updates`` of a table of ``gb`` GB; ``seed`` chooses the begin of the stream.

    Raises:
        TesseraError: a size that is no power of two, or no update.
    """

    gb: int = 64
    updates: int = 2_000_000
    seed: int = 1

    def __post_init__(self) -> None:
        if not (0 < self.gb <= MOST_GB and self.gb & (self.gb - 1) == 0):
            raise TesseraError(
                f"a table of {self.gb} GB",
                f"the size must be a power of two from 1 to {MOST_GB}, because HPCC masks its numbers",
                "give another size, for example gb=64",
                code="numa-gups-size",
            )
        if self.updates < 1 or self.seed < 0:
            raise TesseraError(
                f"{self.updates} updates, seed {self.seed}",
                "there must be at least one update, and the seed must be 0 or more",
                "correct updates= or seed=",
                code="numa-gups-updates",
            )

    @property
    def table_bytes(self) -> int:
        """Bytes of the table."""
        return self.gb * GB

    def addresses(self) -> Iterator[np.ndarray]:
        """Virtual addresses of the updated elements, uint64, in blocks."""
        mask = np.uint64(self.table_bytes // ELEMENT_BYTES - 1)
        for block in random_blocks(position(self.seed), self.updates):
            yield np.uint64(BASE) + (block & mask) * np.uint64(ELEMENT_BYTES)

    def records(self) -> Iterator[np.ndarray]:
        """The instructions as ChampSim records, in blocks."""
        left = self.updates
        for addresses in self.addresses():
            made = np.tile(_loop(), (len(addresses), 1))
            made["loads"][:, UPDATE, 0] = made["stores"][:, UPDATE, 0] = addresses
            left -= len(addresses)
            if left == 0:
                made["branch_taken"][-1, -1] = 0
            yield made.ravel()


def _loop() -> np.ndarray:
    """Records of one update, without its address."""
    made = np.zeros(len(LOOP), RECORD)
    at = START
    for record, (reads, writes, length) in zip(made, LOOP, strict=True):
        record["ip"], at = at, at + length
        record["reads"][: len(reads)], record["writes"][: len(writes)] = reads, writes
    made["is_branch"][-1] = made["branch_taken"][-1] = 1
    return made


# The trace file, and the layouts of its pool.
#
# The records go through a pipe to ``tessera-trace import-champsim``, which writes the trace. On disk they
# would take 768 bytes an update. The file depends on size, updates and seed only.

POOL = "mmap"
LAYOUTS = {"4kb": PAGE_4KB, "2mb": PAGE_2MB}  #: name -> page size, bytes


def write_trace(gups: Gups, out: Path) -> Path:
    """Write the trace to ``out``; returns its absolute path.

    Raises:
        TesseraError: ``out`` cannot be written, or the importer failed.
    """
    tool, target = built("tracer", "tessera-trace"), check_target(out).absolute()
    with scratch_folder(target) as folder:
        pipe, made = folder / "records", folder / "trace.tst"
        os.mkfifo(pipe)
        feeder = threading.Thread(target=_feed, args=(gups, pipe), daemon=True)
        feeder.start()
        argv = [tool, "import-champsim", pipe, made, "--mmap-pool", f"{BASE:#x}:{BASE + gups.table_bytes:#x}"]
        argv += ["--program", f"synthetic gups --mode update --size {gups.gb}GB --reads {gups.updates} "
                 f"--seed {gups.seed}"]  # fmt: skip
        options = RunOptions(writes=(folder,))
        done = toolchain().run([str(word) for word in argv], capture=True, check=False, options=options)
        with contextlib.suppress(OSError):  # if the importer failed before it opened the pipe
            os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        feeder.join(timeout=60)
        if done.returncode:
            raise TesseraError(
                f"write the trace {target}",
                (done.stderr or f"status {done.returncode}").strip(),
                "free disk space, or build the tracer again: ./run tessera dev build tracer",
                exit_code=EXIT_FAILED,
            )
        publish(made, target)
    return target


def _feed(gups: Gups, pipe: Path) -> None:
    with contextlib.suppress(BrokenPipeError), pipe.open("wb") as sink:  # the importer says why it stopped
        for block in gups.records():
            sink.write(block.tobytes())


def write_gups_layouts(gups: Gups, folder: Path) -> list[Path]:
    """Write ``4kb.csv`` and ``2mb.csv``: the whole table in pages of one size."""
    made = []
    for name, page_bytes in LAYOUTS.items():
        whole = (Window(POOL, 0, gups.table_bytes, page_bytes),) if page_bytes > PAGE_4KB else ()
        made.append(folder / f"{name}.csv")
        write_layout(Layout(name, {POOL: gups.gb * GB}, whole), made[-1])
    return made


@study()
def gups(run: Run, gb: int = 64, updates: int = 2_000_000, seed: int = 1) -> None:
    """Write a trace of HPCC's random updates of a table that this machine has no memory for, and its layouts.

    The stream is computed, so a table of 64 GB takes no memory. The trace has the updates only. The same
    keys give the same trace. It is gups.tst in the folder, or has the name that --out gives; layouts of the
    whole table in 4KB and in 2MB pages are beside it, 4kb.csv and 2mb.csv.

    Example (after: tessera dev build tracer):
      ./run tessera lab run numa-gups gb=1 updates=100000 --out /tmp/updates

    Args:
        gb: size of the table, GB; a power of two.
        updates: a load and a store each.
        seed: begin of HPCC's stream, as of gups.

    Raises:
        TesseraError: as :func:`write_trace`.
    """
    asked = Gups(gb, updates, seed)
    trace = write_trace(asked, run.file("gups.tst"))
    run.say(f"{updates} updates of {gb} GB, {2 * updates} accesses -> {trace}")
    for path in write_gups_layouts(asked, run.folder):
        run.say(f"layout {path}")
