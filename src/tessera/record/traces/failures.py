"""Why a recorded program failed: a signal, an instruction that the emulated processor lacks, or full pools.

QEMU's processor (``-cpu max`` of QEMU 7.2) has what x86-64-v3 has, and ADX, AES and VAES. An instruction
of :data:`LACKING` ends the program with SIGILL, also if this machine executes it. Libraries that choose
their code by CPUID (glibc, OpenBLAS, OpenSSL) leave these instructions out by themselves.
"""

from __future__ import annotations

import contextlib
import re
import signal
import struct
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from tessera.core.units import MB, format_bytes
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import HostToolchain
from tessera.machine.container.watchdog import ProgramHangs, watchdog
from tessera.record.traces.guest import Place, TracedProgram

#: Instruction sets that QEMU lacks, and what shows them in ``objdump -dw``: the bytes of an instruction begin
#: with AVX-512's prefix 62, or the text has one of its mask registers; the names of the others.
LACKING = {
    "AVX-512": r"\t62 [0-9a-f ]+\t(?!\(bad)|\t.*%k[0-7]",
    "AMX": r"\t(?:(?:ld|st)tilecfg|tile|tdp)",
    "AVX-VNNI": r"\t\{vex\} vpdp",
    "GFNI": r"\tv?gf2p8",
    "SHA": r"\tsha(?:1|256)(?:rnds|msg|nexte)",
    "VPCLMULQDQ": r"\tvpclmul.*%[yz]mm",
}
_LACKING_PATTERN = re.compile(
    "|".join(f"(?P<i{number}>{pattern})" for number, pattern in enumerate(LACKING.values()))
)

#: Seconds after which the search for such an instruction ends without a result.
SEARCH_SECONDS = 30

#: What glibc prints for a file that is marked with a level of x86-64 which the processor does not have.
NEWER_LEVEL = "CPU ISA level is lower than required"

_OLDER = "compile it with -march=x86-64-v3 instead of -march=native, or add -mno-avx512f"
_NATIVE = "run it without tracing; if it fails there, too, mend the program"
_CONTAINED = "if not, record it in the folder of the files that it opens: its container has few others"
_REMEDIES = {
    signal.SIGKILL: "free memory, raise the limit of the job or container, or record a smaller size: the "
    "kernel kills programs when memory is full (see dmesg)",
    signal.SIGXCPU: "raise the limit of processor time: ulimit -t unlimited",
    signal.SIGXFSZ: "raise the limit of the size of files: ulimit -f unlimited",
}


def why_it_failed(place: Place, guest: TracedProgram, status: int, stderr: str) -> tuple[str, str]:
    """What was found and the remedy, for a program that ended with another status than 0."""
    if NEWER_LEVEL in stderr:
        level = "a newer level of x86-64 than the emulated processor has (x86-64-v3, without AVX-512)"
        return f"the program did not start: it, or a library, is built for {level}", _OLDER
    number = signal_of(status, stderr)
    found = (
        f"was ended by {signal_name(number)}" if number else f"exited with status {status}{_as_after(status)}"
    )
    found = f"the program {found}{pool_usage(guest.pool_map)}"
    if number == signal.SIGILL:
        lacks = f"the processor that QEMU emulates has no {', '.join(LACKING)}"
        if seen := lacking_instruction(place, guest.program):
            return f"{found}: {lacks}, but the program has {seen}", _OLDER
        other = "such an instruction may be in a library, or the program trapped itself (ud2)"
        return f"{found}: {lacks}; {other}", f"{_OLDER}, and its libraries; or {_NATIVE}"
    contained = not number and place.where is None and not isinstance(place.engine, HostToolchain)
    remedy = _REMEDIES.get(number, f"{_NATIVE}; {_CONTAINED}" if contained else _NATIVE)
    if full := full_pools(guest.pool_map):
        remedy = f"a pool was full: give {' and '.join(full)}; if the program then fails again: {remedy}"
    return found, remedy


def signal_of(status: int, stderr: str) -> int | None:
    """The signal that ended the program; None if it exited.

    ``status`` is Popen's (-n), or that of a shell or container (128 + n). A program can also exit with the
    latter: QEMU's own line decides, except for SIGKILL, after which nobody can print one.
    """
    said = re.findall(r"^qemu: uncaught target signal (\d+) ", stderr, re.MULTILINE)
    if said:
        return int(said[-1])
    if status < 0:
        return -status
    return int(signal.SIGKILL) if status == 128 + signal.SIGKILL else None


def signal_name(number: int) -> str:
    """``signal 4 (SIGILL, illegal instruction)``."""
    known = number in set(signal.Signals)
    name = signal.Signals(number).name if known else f"SIGRTMIN+{number - signal.SIGRTMIN}"
    text = signal.strsignal(number)
    return f"signal {number} ({name}{', ' + text.lower() if known and text else ''})"


def _as_after(status: int) -> str:
    """Of a status that the program or the container may have: `` (as after signal 15 (SIGTERM, ...))``."""
    return f" (as after {signal_name(status - 128)})" if status - 128 in set(signal.Signals) else ""


def lacking_instruction(place: Place, program: Path) -> str | None:
    """The first instruction of an executable that QEMU lacks: ``AVX-512 (in main: vaddps ...)``.

    None if there is none, the program is in an image, objdump is missing, or the search takes too long.
    """
    if place.where is not None and not isinstance(place.engine, HostToolchain):
        return None
    argv, output = ["objdump", "-dw", str(program)], {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = place.engine.popen(argv, [program.parent], text=True, errors="replace", **output)
    with contextlib.suppress(ProgramHangs), stopped_at_exit(process), watchdog(process, "objdump"):
        return _first_lacking(process.stdout, time.monotonic() + SEARCH_SECONDS)
    return None


def _first_lacking(lines: Iterable[str], deadline: float) -> str | None:
    """The first match in lines of ``objdump -dw``."""
    function = ""
    for count, line in enumerate(lines):
        if line.endswith(">:\n"):
            function = f"in {line[line.index('<') + 1 : -3]}: "
        elif found := _LACKING_PATTERN.search(line):
            name = list(LACKING)[int(found.lastgroup[1:])]
            return f"{name} ({function}{' '.join(line.split(chr(9))[-1].split())})"
        if count % 10_000 == 0 and time.monotonic() > deadline:
            return None
    return None


# The use of libmosalloc's pools, for error messages; fields as in mosalloc/pool_map.h.

_MAGIC = b"POOLMAP"  # and a digit: what is read here is at the same place in all versions
_HEAD = struct.Struct("<5Q")
_POOL = struct.Struct("<6Q")
#: Behind the file pool, 14 counts of calls and 16 counters: failed requests of each pool, then the largest.
_FULL, _FULL_OFFSET = struct.Struct("<6Q"), _HEAD.size + 3 * _POOL.size + 8 * (14 * 3 + 16)
_NAMES = {"heap pool": "--heap-pool", "anonymous pool": "--anon-pool"}


def pool_usage(path: Path) -> str:
    """`` (heap pool: x of y used; anonymous pool: ...)``, or nothing when there is no map."""
    parts = [
        f"{name}: {format_bytes(used)} of {format_bytes(size)} used"
        for name, (_, _, size, used, *_) in zip(_NAMES, _pools(path), strict=False)
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def full_pools(path: Path) -> list[str]:
    """For each pool that refused a request: the option with a size that would have been enough."""
    pools = _pools(path)
    if not pools:
        return []
    data = path.read_bytes()
    if len(data) < _FULL_OFFSET + _FULL.size:
        return []
    refused = _FULL.unpack_from(data, _FULL_OFFSET)
    found = []
    for kind, (option, (_, _, size, used, *_)) in enumerate(zip(_NAMES.values(), pools, strict=True)):
        # A request for the heap names the new break; 0: each was larger than this machine's memory.
        calls, largest = refused[kind], refused[3 + kind]
        if calls and largest:
            enough = largest if kind == 0 else used + largest
            found.append(f"{option} {-(-max(enough, size) // MB)}MB")
    return found


def _pools(path: Path) -> list[tuple[int, ...]]:
    """The fields of both pools that have mosaics; none when there is no map."""
    try:
        data = path.read_bytes()
        if not data.startswith(_MAGIC):
            return []
        return [_POOL.unpack_from(data, _HEAD.size + i * _POOL.size) for i in range(len(_NAMES))]
    except (OSError, struct.error):
        return []
