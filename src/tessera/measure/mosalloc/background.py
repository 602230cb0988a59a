"""What else runs while a mapping is captured: a fragmenter, and co-runners. Both end with their owner.

``python -m tessera.measure.mosalloc.background INDEX`` is a process that keeps free memory fragmented until
it ends.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import shlex
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.mapping.free_blocks import machine_free_blocks, unusable_index
from tessera.core.processes import module_command
from tessera.core.units import MB, PAGE_2MB, PAGE_4KB, format_bytes
from tessera.machine.limits import available_memory_bytes

# The fragmenter, a process of its own.
#
# It takes free blocks of 2MB one after the other (transparent huge pages), splits each into 4KB pages, keeps
# the first page and frees the other 511. A block whose first page is in use cannot hold a 2MB page, so a
# step moves 511 free frames below order 9, and costs 4KB. The kept pages are locked. With
# ``vm.compact_unevictable_allowed`` = 0, which the parent sets, compaction does not move them.
#
# It stops when the unusable index of free memory (:mod:`tessera.core.mapping.free_blocks`) has reached INDEX,
# prints one line and waits for the end of its standard input, or for the end of its parent. Then the kernel
# frees all.
#
# Lines: ``ready INDEX BLOCKS``, or ``failed CODE INDEX`` with a code of docs/reference/mappings.md and the
# index that it reached.

#: Memory that must stay available for the rest of the machine.
LEAST_AVAILABLE = 512 * MB
REGION_BLOCKS = 512  #: blocks of one mapping: 1GB of addresses
#: So far above the target memory may be already. Pages that a program freed wait in lists of each processor,
#: where their blocks do not merge, and no request of a user empties these lists.
ABOVE_TARGET = 0.05
CHECK_EVERY = 8  #: blocks between two readings of the index
_MADV_DONTNEED, _MADV_HUGEPAGE, _MADV_NOHUGEPAGE, _MADV_COLD = 4, 14, 15, 20
_SYS_MLOCK2, _ONFAULT = 325, 1
_PR_SET_PDEATHSIG = 1
_PRESENT, _FRAME = 1 << 63, (1 << 55) - 1


class Unreachable(Exception):
    """Why the target cannot be reached: a code of docs/reference/mappings.md without ``mapping/``."""


@dataclass(frozen=True)
class FreeMemory:
    """What the loop needs of the machine; tests put another one in its place.

    ``take`` breaks one more free block of 2MB, ``keep`` locks those that were taken since the last call.
    """

    index: Callable[[], float]
    available: Callable[[], int]
    take: Callable[[], None]
    keep: Callable[[], None]


def fragment(target: float, memory: FreeMemory) -> int:
    """Break blocks until the index has reached ``target``; returns their number.

    Raises:
        Unreachable: the index is above ``target`` by more than :data:`ABOVE_TARGET` already
            (``above-target``), the kernel has no free block of 2MB (``no-blocks``), or too little memory is
            available (``no-memory``).
    """
    if memory.index() > target + ABOVE_TARGET:
        raise Unreachable("above-target")
    blocks = 0
    while memory.index() < target:
        for _ in range(CHECK_EVERY):
            if memory.available() < LEAST_AVAILABLE:
                raise Unreachable("no-memory")
            memory.take()
            blocks += 1
    memory.keep()
    return blocks


class Blocks:
    """Blocks of 2MB of this process, in regions of 1GB of addresses."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        self._base, self._used = 0, REGION_BLOCKS
        self._pagemap = os.open("/proc/self/pagemap", os.O_RDONLY)

    def take(self) -> None:
        """Break one free block of 2MB."""
        if self._used == REGION_BLOCKS:
            self.keep()
            self._base, self._used = self._new_region(), 0
        place = self._base + self._used * PAGE_2MB
        self._used += 1
        ctypes.c_char.from_address(place).value = b"x"
        if not self._is_one_block(place):
            raise Unreachable("no-blocks")
        self._advise(place, PAGE_4KB, _MADV_COLD)  # of a part of a 2MB page: splits it
        self._advise(place + PAGE_4KB, PAGE_2MB - PAGE_4KB, _MADV_DONTNEED)

    def keep(self) -> None:
        """Lock the pages that are left of the region, and keep khugepaged away from it."""
        if self._base:
            size = REGION_BLOCKS * PAGE_2MB
            self._advise(self._base, size, _MADV_NOHUGEPAGE)
            arguments = (ctypes.c_long(_SYS_MLOCK2), ctypes.c_void_p(self._base), ctypes.c_size_t(size))
            if self._libc.syscall(*arguments, ctypes.c_int(_ONFAULT)) != 0:
                raise Unreachable("no-memory")

    def resident(self, number: int) -> list[bool]:
        """Which of the 512 pages of a block of the last region have a frame."""
        first = (self._base + number * PAGE_2MB) // PAGE_4KB
        return [bool(word & _PRESENT) for word in self._words(first, PAGE_2MB // PAGE_4KB)]

    def frame(self, number: int) -> int:
        """The frame of the page that a block of the last region keeps."""
        return self._words((self._base + number * PAGE_2MB) // PAGE_4KB, 1)[0] & _FRAME

    def _words(self, page: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}Q", os.pread(self._pagemap, 8 * count, 8 * page))

    def _new_region(self) -> int:
        size = (REGION_BLOCKS + 1) * PAGE_2MB
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
        found = self._libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        if found in (None, ctypes.c_void_p(-1).value):
            raise Unreachable("no-memory")
        base = -(-found // PAGE_2MB) * PAGE_2MB
        self._advise(base, REGION_BLOCKS * PAGE_2MB, _MADV_HUGEPAGE)
        return base

    def _is_one_block(self, place: int) -> bool:
        """Whether the kernel gave one aligned block: first and last page have its frames."""
        words = self._words(place // PAGE_4KB, PAGE_2MB // PAGE_4KB)
        first, last = words[0] & _FRAME, words[-1] & _FRAME
        return words[-1] & _PRESENT != 0 and first % 512 == 0 and last == first + 511

    def _advise(self, place: int, size: int, advice: int) -> None:
        arguments = (ctypes.c_void_p(place), ctypes.c_size_t(size), ctypes.c_int(advice))
        if self._libc.madvise(*arguments) != 0:
            raise Unreachable("no-blocks")


def end_with_parent() -> None:
    """The kernel kills this process when its parent ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main(target: float) -> int:
    """Fragment, tell, wait."""
    end_with_parent()
    blocks = Blocks()

    def index() -> float:
        return unusable_index(machine_free_blocks())

    try:
        number = fragment(target, FreeMemory(index, available_memory_bytes, blocks.take, blocks.keep))
    except Unreachable as error:
        print(f"failed {error} {index():.4f}", flush=True)
        return 1
    print(f"ready {index():.4f} {number}", flush=True)
    sys.stdin.read()
    return 0


# Starting and ending the fragmenter and the co-runners.

#: code -> why the index cannot be reached, and the remedy
UNREACHABLE: dict[str, tuple[str, str]] = {
    "above-target": (
        "free memory is more fragmented already",
        "choose a larger index, or compact memory: echo 1 > /proc/sys/vm/compact_memory",
    ),
    "no-blocks": (
        "the kernel gave no further block of 2MB",
        "free memory (drop caches, end programs), or choose a smaller index",
    ),
    "no-memory": (
        f"less than {format_bytes(LEAST_AVAILABLE)} of memory are available",
        "end other programs, or choose a smaller index",
    ),
}
_ENDING_SECONDS = 10


@contextmanager
def fragmented_memory(index: float | None) -> Iterator[int]:
    """Inside, the unusable index of free memory is at least ``index``; gives the number of broken blocks.

    Args:
        index: 0 to 1; None: memory as it is.

    Raises:
        TesseraError: the index cannot be reached (``mapping/above-target``, ``mapping/no-blocks``,
            ``mapping/no-memory``).
    """
    if index is None:
        yield 0
        return
    argv = module_command("tessera.measure.mosalloc.background", str(index))
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            words = process.stdout.readline().split()
            if words[:1] != ["ready"]:
                raise _refused(index, words)
            yield int(words[2])
        finally:
            process.stdin.close()
            _end_process(process)


@contextmanager
def co_running(programs: Sequence[Sequence[str]], copies: int, seconds: float) -> Iterator[Callable[[], int]]:
    """Inside, ``copies`` processes run the programs in turn; they started ``seconds`` before.

    Gives a function that counts those that still run.

    Raises:
        TesseraError: one cannot be started, or ends within that time (``mapping/co-runner``).
    """
    started: list[subprocess.Popen] = []
    try:
        for number in range(copies):
            argv = list(programs[number % len(programs)])
            try:
                started.append(
                    subprocess.Popen(
                        argv,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        preexec_fn=end_with_parent,
                    )
                )
            except OSError as error:
                raise _co_runner_failed(argv, error.strerror or str(error)) from None
        if started:
            time.sleep(seconds)
        for process in started:
            if process.poll() is not None:
                raise _co_runner_failed(
                    process.args, f"it ended with status {process.returncode} before the capture"
                )
        yield lambda: sum(process.poll() is None for process in started)
    finally:
        for process in started:
            _end_process(process)


def _end_process(process: subprocess.Popen) -> None:
    """SIGTERM, and SIGKILL if that does not suffice."""
    process.terminate()
    try:
        process.wait(_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _refused(index: float, words: list[str]) -> TesseraError:
    code = words[1] if words[:1] == ["failed"] else ""
    reached = f" (index {words[2]})" if len(words) > 2 else ""
    found, remedy = UNREACHABLE.get(code, ("the fragmenter ended", "see its message above"))
    return TesseraError(
        f"free memory with the unusable index {index:g}",
        found + reached,
        remedy,
        exit_code=EXIT_FAILED,
        code=f"mapping/{code or 'fragmenter'}",
    )


def _co_runner_failed(argv: Sequence[str], found: str) -> TesseraError:
    return TesseraError(
        f"co-runner '{shlex.join(argv)}'", found, "give one that runs longer, or a smaller --warm-seconds",
        exit_code=EXIT_FAILED,
        code="mapping/co-runner",
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
