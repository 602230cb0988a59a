"""Traces that no program made: streams from formulas, turned into trace files and simulated in batches."""

from __future__ import annotations

import csv
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built
from tessera.core.layouts.layout import Layout, write_layout
from tessera.core.mapping.mapping_file import write_mapping
from tessera.core.mapping.page_mapping import PageMapping
from tessera.core.results.outcomes import is_ok
from tessera.machine.container import RunOptions, toolchain

# A stream of instructions with data accesses, as arrays; one register dependence structure per instruction.
#
# A stream is what a trace holds, reduced to what a validation needs: each element is one instruction with at
# most one load and one store. Registers are numbers from 0 (:data:`REGISTERS` of them), -1 is none.
# Instructions with the same ``pc`` are one static instruction.

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


def one_cycle_operations(count: int, dependent: bool) -> Stream:
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


# Many traces and simulations in one start of the toolchain, which costs more than a small trace.
#
# Commands run in order by one shell script; each one's output goes to a file of its own, and one that fails
# leaves its status there and stops nothing.


@dataclass(frozen=True)
class Rows:
    """What a simulation printed: rows by layout name, or why there are none."""

    by_layout: dict[str, dict[str, str]]
    error: str = ""


@dataclass
class Batch:
    """Traces in a scratch folder, and simulations of them. Use :func:`batch`."""

    folder: Path
    _script: list[str] = field(default_factory=list)
    _count: int = 0

    def add_trace(self, stream: Stream) -> Path:
        """A trace file of this stream (it exists after :meth:`run`)."""
        records, trace = self._new("records"), self._new("tst")
        stream.records().tofile(records)
        argv = [built("tracer", "tessera-trace"), "import-champsim", records, trace, "--program", "synthetic"]
        for option, base, size in (
            ("--brk-pool", HEAP_BASE, stream.heap_bytes),
            ("--mmap-pool", ANON_BASE, stream.anon_bytes),
        ):
            if size:
                argv += [option, f"{base:#x}:{base + size:#x}"]
        self._add(argv, trace.with_suffix(".imported"))
        self._script.append(f"rm -f {shlex.quote(str(records))}")
        return trace

    def add_platform(self, flat: str) -> Path:
        """A file with a platform's ``key = value`` lines."""
        path = self._new("platform")
        path.write_text(flat)
        return path

    def add_layouts(self, layouts: list[Layout]) -> Path:
        """A list of layout files."""
        return self._listed("layouts", layouts, write_layout)

    def add_mappings(self, mappings: list[PageMapping]) -> Path:
        """A list of mapping files."""
        return self._listed("mappings", mappings, write_mapping)

    def _listed(self, kind: str, pages: list, write: Callable) -> Path:
        """Files of layouts or mappings, and the list of them."""
        folder = self._new(kind)
        folder.mkdir()
        for one in pages:
            write(one, folder / f"{one.name}.csv")
        listing = folder / "list"
        listing.write_text("".join(f"{folder / one.name}.csv\n" for one in pages))
        return listing

    def add_run(
        self,
        trace: Path,
        platform: Path,
        layouts: Path,
        engine: str,
        *,
        sampling: str = "full",
        options: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        mappings: bool = False,
    ) -> Path:
        """A simulation; give the returned path to :meth:`rows` after :meth:`run`.

        Args:
            mappings: ``layouts`` is a list of :meth:`add_mappings`.
        """
        argv = [built("simulator", "tessera-sim"), "run", "--trace", trace, "--platform", platform]
        argv += ["--mappings" if mappings else "--layouts", layouts, "--engine", engine]
        if "--interval-file" not in (options or {}):
            argv += ["--sampling", sampling]
        for option, value in (options or {}).items():
            argv += [option, value]
        out = self._new("csv")
        self._add(argv, out, env)
        return out

    def run(self, paths: Sequence[Path] = ()) -> None:
        """Run what was added since the last call. ``paths``: files and folders outside that it reads."""
        script = self._new("sh")
        script.write_text("\n".join(self._script) + "\n")
        self._script.clear()
        toolchain().run(["sh", script], paths, capture=True, options=RunOptions(writes=(self.folder,)))

    def rows(self, out: Path) -> Rows:
        """The rows of a finished simulation."""
        problem = out.with_suffix(".failed")
        if problem.exists():
            said = out.with_suffix(".err").read_text().strip().splitlines()
            said = [line for line in said if not line.startswith("progress ")]
            return Rows({}, f"status {problem.read_text().strip()}: {' '.join(said[:2]) or 'no message'}")
        with out.open() as stream:
            rows = {row["layout"]: row for row in csv.DictReader(stream)}
        failed = next((row for row in rows.values() if not is_ok(row)), None)
        return Rows({} if failed else rows, f"{failed['layout']}: {failed['message']}" if failed else "")

    def row(self, out: Path) -> dict[str, str]:
        """The only row of a simulation of one layout.

        Raises:
            TesseraError: the simulation failed.
        """
        found = self.rows(out)
        if found.error:
            raise TesseraError(
                "simulate a synthetic trace", found.error, "report it as a bug", exit_code=EXIT_FAILED
            )
        return next(iter(found.by_layout.values()))

    def _new(self, suffix: str) -> Path:
        self._count += 1
        return self.folder / f"{self._count:05}.{suffix}"

    def _add(self, argv: list, out: Path, env: Mapping[str, str] | None = None) -> None:
        assignments = [f"{name}={shlex.quote(value)}" for name, value in (env or {}).items()]
        command = shlex.join(str(word) for word in argv)
        errors, failed = out.with_suffix(".err"), out.with_suffix(".failed")
        line = " ".join([*assignments, command, ">", shlex.quote(str(out)), "2>", shlex.quote(str(errors))])
        self._script.append(f"{line} || echo $? > {shlex.quote(str(failed))}")


@contextmanager
def batch() -> Iterator[Batch]:
    """A batch in a folder that goes away with it."""
    with tempfile.TemporaryDirectory(prefix="tessera-validation-") as name:
        yield Batch(Path(name))
