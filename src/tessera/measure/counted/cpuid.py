"""CPUID leaves of TLBs and caches, read by this process.

Source: Intel SDM volume 2, CPUID (leaves 2, 4, 18h); AMD APM volume 3 (80000005h, 80000006h, 80000019h,
8000001Dh). The kernel's file ``/dev/cpu/0/cpuid`` has the same, and needs root and a module.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable

#: void read(uint32_t leaf, uint32_t subleaf, uint32_t out[4]), System V calling convention.
_CODE = bytes.fromhex(
    "53"  # push rbx
    "4989d0"  # mov r8, rdx
    "89f8"  # mov eax, edi
    "89f1"  # mov ecx, esi
    "0fa2"  # cpuid
    "418900"  # mov [r8], eax
    "41895804"  # mov [r8+4], ebx
    "41894808"  # mov [r8+8], ecx
    "4189500c"  # mov [r8+12], edx
    "5bc3"  # pop rbx; ret
)
_MOST_SUBLEAVES = 64
Registers = tuple[int, int, int, int]
Read = Callable[[int, int], Registers]


def leaves(vendor: str, read: Read | None = None) -> tuple[tuple[int, ...], ...]:
    """Rows (leaf, subleaf, eax, ebx, ecx, edx) of the leaves that the processor has."""
    read = read or _reader()
    rows = []
    if vendor == "GenuineIntel":
        highest = read(0, 0)[0]
        wanted = [(2, lambda at: 0), (4, _last_cache(read, 4)), (0x18, lambda at: read(0x18, 0)[0])]
    else:
        highest = read(0x8000_0000, 0)[0]
        flat = [(leaf, lambda at: 0) for leaf in (0x8000_0005, 0x8000_0006, 0x8000_0019)]
        wanted = [*flat, (0x8000_001D, _last_cache(read, 0x8000_001D))]
    for leaf, last in wanted:
        if leaf <= highest:
            rows += [(leaf, sub, *read(leaf, sub)) for sub in range(min(last(leaf), _MOST_SUBLEAVES) + 1)]
    return tuple(rows)


def _last_cache(read: Read, leaf: int) -> Callable[[int], int]:
    """The subleaf that ends the list of caches: its type (bits 4:0 of eax) is 0."""

    def last(_: int) -> int:
        return next((n for n in range(_MOST_SUBLEAVES) if not read(leaf, n)[0] & 0x1F), _MOST_SUBLEAVES)

    return last


def _reader() -> Read:
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(_CODE)
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    call = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(place)

    def read(leaf: int, subleaf: int, keep=page) -> Registers:
        out = (ctypes.c_uint32 * 4)()
        call(leaf, subleaf, out)
        return tuple(out)

    return read
