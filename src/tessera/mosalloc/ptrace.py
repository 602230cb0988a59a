"""The calls of ptrace that a capture needs, on x86-64.

Python has no ptrace, and this needs ten requests of it. All calls must come from the thread that attached.
"""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

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
