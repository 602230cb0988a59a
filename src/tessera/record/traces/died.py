"""Why a recorded program failed: its signal, an instruction that the emulated processor lacks, or full pools.

QEMU's processor (``-cpu max`` of QEMU 7.2) has what x86-64-v3 has, and ADX, AES and VAES. An instruction of
:data:`LACKING` ends the program with SIGILL, also if this machine executes it. Libraries that choose their
code by CPUID (glibc, OpenBLAS, OpenSSL) leave these instructions out by themselves.
"""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import HostToolchain
from tessera.record.traces.guest import Guest
from tessera.record.traces.place import Place
from tessera.record.traces.poolmap import full_pools, pool_usage

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
_ANY = re.compile("|".join(f"(?P<i{number}>{pattern})" for number, pattern in enumerate(LACKING.values())))

#: Seconds after which the search for such an instruction ends without a result.
SEARCH_SECONDS = 30

#: What glibc prints for a file that is marked with a level of x86-64 which the processor does not have.
NEWER_LEVEL = "CPU ISA level is lower than required"

_OLDER = "compile it with -march=x86-64-v3 instead of -march=native, or add -mno-avx512f"
_NATIVE = "run it without tracing; if it fails there, too, mend the program"
_REMEDIES = {
    signal.SIGKILL: "free memory, raise the limit of the job or container, or record a smaller size: the "
    "kernel kills programs when memory is full (see dmesg)",
    signal.SIGXCPU: "raise the limit of processor time: ulimit -t unlimited",
    signal.SIGXFSZ: "raise the limit of the size of files: ulimit -f unlimited",
}


def why(place: Place, guest: Guest, status: int, stderr: str) -> tuple[str, str]:
    """What was found and the remedy, for a program that ended with another status than 0."""
    if NEWER_LEVEL in stderr:
        level = "a newer level of x86-64 than the emulated processor has (x86-64-v3, without AVX-512)"
        return f"the program did not start: it, or a library, is built for {level}", _OLDER
    number = signal_of(status, stderr)
    found = f"was ended by {named(number)}" if number else f"exited with status {status}{_as_after(status)}"
    found = f"the program {found}{pool_usage(guest.pool_map)}"
    if number == signal.SIGILL:
        lacks = f"the processor that QEMU emulates has no {', '.join(LACKING)}"
        if seen := lacking_instruction(place, guest.program):
            return f"{found}: {lacks}, but the program has {seen}", _OLDER
        other = "such an instruction may be in a library, or the program trapped itself (ud2)"
        return f"{found}: {lacks}; {other}", f"{_OLDER}, and its libraries; or {_NATIVE}"
    remedy = _REMEDIES.get(number, _NATIVE)
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


def named(number: int) -> str:
    """``signal 4 (SIGILL, illegal instruction)``."""
    known = number in set(signal.Signals)
    name = signal.Signals(number).name if known else f"SIGRTMIN+{number - signal.SIGRTMIN}"
    text = signal.strsignal(number)
    return f"signal {number} ({name}{', ' + text.lower() if known and text else ''})"


def _as_after(status: int) -> str:
    """Of a status that the program or the container may have: `` (as after signal 15 (SIGTERM, ...))``."""
    return f" (as after {named(status - 128)})" if status - 128 in set(signal.Signals) else ""


def lacking_instruction(place: Place, program: Path) -> str | None:
    """The first instruction of an executable that QEMU lacks: ``AVX-512 (in main: vaddps ...)``.

    None if there is none, the program is in an image, objdump is missing, or the search takes too long.
    """
    if place.where is not None and not isinstance(place.engine, HostToolchain):
        return None
    argv, output = ["objdump", "-dw", str(program)], {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = place.engine.popen(argv, [program.parent], text=True, errors="replace", **output)
    with stopped_at_exit(process):
        return _first(process.stdout, time.monotonic() + SEARCH_SECONDS)


def _first(lines: Iterable[str], deadline: float) -> str | None:
    """The first match in lines of ``objdump -dw``."""
    function = ""
    for count, line in enumerate(lines):
        if line.endswith(">:\n"):
            function = f"in {line[line.index('<') + 1 : -3]}: "
        elif found := _ANY.search(line):
            name = list(LACKING)[int(found.lastgroup[1:])]
            return f"{name} ({function}{' '.join(line.split(chr(9))[-1].split())})"
        if count % 10_000 == 0 and time.monotonic() > deadline:
            return None
    return None
