"""The calls of ptrace that a capture needs, on x86-64, and breakpoints in a traced process."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import struct
from pathlib import Path

# The calls.
#
# Python has no ptrace, and this needs ten requests of it. All calls must come from the thread that attached.

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.restype = ctypes.c_long
_LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

_CONT, _SINGLESTEP, _GETREGS, _SETREGS = 7, 9, 12, 13
_GETEVENTMSG, _SEIZE, _INTERRUPT, _LISTEN = 0x4201, 0x4206, 0x4207, 0x4208
_DETACH = 17
EVENT_EXEC, EVENT_EXIT, EVENT_STOP = 4, 6, 128
#: Follow forks, threads and exec; stop at exit; end the program if this process is killed.
_OPTIONS = 0x2 | 0x8 | 0x10 | 0x40 | 0x100000
_RAX, _RDX, _RSI, _RDI, _ORIG_RAX, _RIP = 10, 12, 13, 14, 15, 16
_Registers = ctypes.c_uint64 * 27
_KCMP, _KCMP_VM = 312, 1
_PR_SET_THP_DISABLE = 41
_SYSCALL = b"\x0f\x05"


def _request(number: int, tid: int, address: int = 0, data: object = None) -> None:
    if _LIBC.ptrace(number, tid, address, data) == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def attach(pid: int) -> None:
    """Trace a process without stopping it."""
    _request(_SEIZE, pid, 0, _OPTIONS)


def go_on(tid: int, with_signal: int = 0) -> None:
    """Continue a stopped task."""
    _request(_CONT, tid, 0, with_signal)


def stay_stopped(tid: int) -> None:
    """Leave a task stopped by job control until SIGCONT."""
    _request(_LISTEN, tid)


def interrupt(tid: int) -> None:
    """Stop a running task soon."""
    _request(_INTERRUPT, tid)


def leave(tid: int) -> None:
    """Continue a stopped task and trace it no more."""
    _request(_DETACH, tid)


def event_message(tid: int) -> int:
    """The number that comes with an event: for an exit, the status as of waitpid."""
    value = ctypes.c_ulong()
    _request(_GETEVENTMSG, tid, 0, ctypes.addressof(value))
    return value.value


def instruction_pointer(tid: int) -> int:
    """Address of the next instruction of a stopped task."""
    return _registers(tid)[_RIP]


def set_instruction_pointer(tid: int, address: int) -> None:
    """Where a stopped task continues."""
    registers = _registers(tid)
    registers[_RIP] = address
    _request(_SETREGS, tid, 0, ctypes.addressof(registers))


def system_call(tid: int, number: int, *arguments: int) -> int:
    """Let a stopped task execute one system call of up to three arguments; returns its result.

    The task then is as before. Signals that arrive meanwhile are sent again.
    """
    before = _registers(tid)
    code = read_memory(tid, before[_RIP], len(_SYSCALL))
    asked = _Registers(*before)
    asked[_RAX], asked[_ORIG_RAX] = number, (1 << 64) - 1
    for register, value in zip((_RDI, _RSI, _RDX), arguments, strict=False):
        asked[register] = value
    write_memory(tid, before[_RIP], _SYSCALL)
    _request(_SETREGS, tid, 0, ctypes.addressof(asked))
    again = []
    while True:
        _request(_SINGLESTEP, tid)
        _, status = os.waitpid(tid, 0x40000000)
        if not os.WIFSTOPPED(status):
            raise OSError("the program ended")
        if os.WSTOPSIG(status) == signal.SIGTRAP and status >> 16 == 0:
            break
        if status >> 16 == 0:
            again.append(os.WSTOPSIG(status))
    result = ctypes.c_int64(_registers(tid)[_RAX]).value
    write_memory(tid, before[_RIP], code)
    _request(_SETREGS, tid, 0, ctypes.addressof(before))
    for number in again:
        os.kill(tid, number)
    return result


def read_memory(pid: int, address: int, count: int) -> bytes:
    """Bytes of a process."""
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        return os.pread(memory.fileno(), count, address)


def write_memory(pid: int, address: int, data: bytes) -> None:
    """Replace bytes of a process, also those that it may not write itself."""
    with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory:
        os.pwrite(memory.fileno(), data, address)


def share_memory(one: int, other: int) -> bool:
    """Whether two processes have the same address space."""
    return _LIBC.syscall(_KCMP, one, other, _KCMP_VM, 0, 0) == 0


def disable_large_pages(disabled: bool) -> None:
    """Whether this process, and every program that it executes, gets no transparent huge pages."""
    if _LIBC.prctl(_PR_SET_THP_DISABLE, int(disabled), 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def _registers(tid: int):
    found = _Registers()
    _request(_GETREGS, tid, 0, ctypes.addressof(found))
    return found


# Breakpoints in the executable of a traced process: at markers of the region of interest, and at its entry.
#
# Addresses are virtual, in bytes. A breakpoint replaces the first byte of an instruction. The places of
# removed ones are remembered: a thread that met one before has its stop handled later.

#: nopl with a displacement that spells TSRB or TSRE.
MARKERS = {"begin": b"\x0f\x1f\x80TSRB", "end": b"\x0f\x1f\x80TSRE"}
_BREAKPOINT = b"\xcc"
_AT_ENTRY = 9


class Breakpoints:
    """Of one program that was just executed by process ``pid``.

    Attributes:
        markers: kind of marker -> its addresses in the code of the executable.
    """

    def __init__(self, pid: int):
        self._pid = pid
        self._patched: dict[int, bytes] = {}
        self._removed: set[int] = set()
        self._entry = 0
        self.markers = {kind: self._places(marker) for kind, marker in MARKERS.items()}

    def set_at_markers(self, kind: str) -> None:
        """Set one at each marker of a kind; none if the kind is no marker's."""
        for place in self.markers.get(kind, ()):
            self._patch(place)

    def set_at_entry(self) -> None:
        """Set one where the program begins, after the libraries are loaded and initialised."""
        auxiliary = Path(f"/proc/{self._pid}/auxv").read_bytes()
        self._entry = dict(struct.iter_unpack("<QQ", auxiliary))[_AT_ENTRY]
        self._patch(self._entry)

    def is_known(self, place: int) -> bool:
        """Whether a breakpoint is or was here."""
        return place in self._patched or place in self._removed

    def is_set(self, place: int) -> bool:
        return place in self._patched

    def is_entry(self, place: int) -> bool:
        return place == self._entry

    def remove(self, place: int) -> None:
        """Write the replaced byte back."""
        write_memory(self._pid, place, self._patched.pop(place))
        self._removed.add(place)

    def remove_all(self) -> None:
        """The same for each; those whose memory is gone are forgotten."""
        for place in list(self._patched):
            try:
                self.remove(place)
            except OSError:  # its memory is gone
                self._patched.pop(place, None)

    def restore_in(self, tid: int) -> None:
        """Write the replaced bytes into the memory of a forked child."""
        for place, byte in self._patched.items():
            write_memory(tid, place, byte)

    def _places(self, marker: bytes) -> list[int]:
        executable, found = os.path.realpath(f"/proc/{self._pid}/exe"), []
        for line in Path(f"/proc/{self._pid}/maps").read_text().splitlines():
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and fields[5] == executable and "x" in fields[1]:
                low, high = (int(word, 16) for word in fields[0].split("-"))
                code = read_memory(self._pid, low, high - low)
                found += [low + match.start() for match in re.finditer(re.escape(marker), code)]
        return found

    def _patch(self, place: int) -> None:
        self._patched[place] = read_memory(self._pid, place, 1)
        write_memory(self._pid, place, _BREAKPOINT)
