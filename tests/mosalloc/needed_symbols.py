"""What a file needs of shared libraries: their names, and the versions of their symbols.

The dynamic linker rejects a file that needs a version which its glibc does not have. This also holds for
symbols that no code uses.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError

#: The oldest glibc that the library promises to run on.
OLDEST_GLIBC = (2, 34)

_LOAD, _DYNAMIC = 1, 2
_NEEDED, _STRINGS, _VERSIONS, _VERSION_COUNT = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF


@dataclass(frozen=True)
class NeededSymbols:
    """Names of libraries, and pairs of a library and a version of its symbols."""

    libraries: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]

    def glibc(self) -> list[tuple[int, ...]]:
        """The versions of glibc, lowest first; ``GLIBC_PRIVATE`` and the like count as newer than any."""
        found = {version for _, version in self.versions if version.startswith("GLIBC_")}
        return sorted(glibc_version(version) for version in found)


def glibc_version(version: str) -> tuple[int, ...]:
    """``GLIBC_2.34`` as (2, 34); a version without numbers is newer than any."""
    numbers = version.removeprefix("GLIBC_").split(".")
    return tuple(int(n) for n in numbers) if all(n.isdigit() for n in numbers) else (1 << 30,)


def needed_symbols(path: Path) -> NeededSymbols:
    """What the 64-bit ELF file needs."""
    data = path.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        raise TesseraError(f"symbols of {path}", "it is not a 64-bit ELF file", "name a program or a library")
    parts = list(_program_headers(data))
    entries = [entry for kind, offset, _, size in parts if kind == _DYNAMIC
               for entry in struct.iter_unpack("<QQ", data[offset : offset + size])]  # fmt: skip
    last = dict(entries)

    def offset_of(address: int) -> int:
        return next(o + address - a for k, o, a, size in parts if k == _LOAD and a <= address < a + size)

    if _STRINGS not in last:
        return NeededSymbols((), ())
    strings = offset_of(last[_STRINGS])

    def text(at: int) -> str:
        return data[strings + at : data.index(b"\0", strings + at)].decode()

    libraries = tuple(text(value) for tag, value in entries if tag == _NEEDED)
    versions: list[tuple[str, str]] = []
    at = offset_of(last[_VERSIONS]) if _VERSIONS in last else 0
    for _ in range(last.get(_VERSION_COUNT, 0)):
        _, count, library, auxiliary, following = struct.unpack_from("<HHIII", data, at)
        one = at + auxiliary
        for _ in range(count):
            _, _, _, name, step = struct.unpack_from("<IHHII", data, one)
            versions.append((text(library), text(name)))
            one += step
        at += following
    return NeededSymbols(libraries, tuple(versions))


def _program_headers(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Kind, offset in the file, address and size in the file of each part."""
    table, size, count = (*struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54))
    for i in range(count):
        kind, _, offset, address, _, in_file, _, _ = struct.unpack_from("<IIQQQQQQ", data, table + i * size)
        yield kind, offset, address, in_file
