"""Root file systems with other C libraries, and the symbols that a file needs of them."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container.engine import docker, docker_client
from tessera.machine.container.images import ensure_libc_image, image_exists

# Root file systems with other C libraries: Debian's is built, others are given by the user.
#
# ``TESSERA_LIBC_BASES=2.35=/srv/jammy,2.39=image:ubuntu:24.04`` names a folder or a tar file with a root
# file system, or an image that the container engine has, for each version of glibc.

BASES_VARIABLE = "TESSERA_LIBC_BASES"
IMAGE_PREFIX = "image:"

#: What a log says where the archive does not answer, or what it serves is out of date.
_UNREACHABLE = re.compile(
    r"Could not resolve|Temporary failure|Could not connect|Unable to connect|Failed to fetch|timed out"
    r"|is expired|is not valid yet|mmdebstrap is not installed"
)


class BaseMissing(Exception):
    """A base that this machine can't have; the text is the reason, with the remedy."""


@dataclass(frozen=True)
class Base:
    """A version of glibc, a system that has it, and where its files are (empty: nowhere)."""

    version: str
    system: str
    source: str = ""


BUILT = "built"

#: Releases after the oldest glibc that the library promises. Only Debian's archive needs no registry.
KNOWN_BASES = (Base("2.35", "Ubuntu 22.04"), Base("2.39", "Ubuntu 24.04"), Base("2.41", "Debian 13", BUILT))


def bases(environ: Mapping[str, str] = os.environ) -> list[Base]:
    """The known bases and those of the environment, lowest version first; given ones replace known ones."""
    found = {base.version: base for base in KNOWN_BASES}
    for entry in filter(None, environ.get(BASES_VARIABLE, "").split(",")):
        version, equals, source = entry.partition("=")
        if not equals or not re.fullmatch(r"2\.\d+", version) or not source.removeprefix(IMAGE_PREFIX):
            raise TesseraError(
                f"{BASES_VARIABLE}: '{entry}'",
                "an entry is VERSION=FOLDER, VERSION=FILE.tar or VERSION=image:NAME",
                f"for example {BASES_VARIABLE}=2.35=/srv/jammy,2.39=image:ubuntu:24.04",
            )
        found[version] = Base(version, source, source)
    return sorted(found.values(), key=lambda base: int(base.version.partition(".")[2]))


@contextmanager
def image_of(base: Base, say: Callable[[str], None]) -> Iterator[str]:
    """Tag of an image with the base's files, during the block.

    Raises:
        BaseMissing: this machine can't have the base.
        TesseraError: the base that the user gave is not usable.
    """
    if not base.source:
        raise BaseMissing(
            f"{base.system} is not in Debian's archive;"
            f" give its files: {BASES_VARIABLE}={base.version}=FOLDER"
        )
    if base.source == BUILT:
        yield _built_image(say)
    elif base.source.startswith(IMAGE_PREFIX):
        tag = base.source.removeprefix(IMAGE_PREFIX)
        if not image_exists(tag):
            raise TesseraError(
                f"{BASES_VARIABLE}: image {tag}",
                "the container engine does not have it",
                f"docker pull {tag}",
            )
        yield tag
    else:
        tag = f"tessera-libc-given:{base.version}"
        _import_image(Path(base.source), tag)
        try:
            yield tag
        finally:
            docker("image", "rm", tag)


def _built_image(say: Callable[[str], None]) -> str:
    try:
        return ensure_libc_image(say)
    except TesseraError as error:
        if _UNREACHABLE.search(error.found):
            raise BaseMissing(f"{error.asked}: {error.found.splitlines()[-1]}; {error.remedy}") from None
        raise


def _import_image(path: Path, tag: str) -> None:
    """The folder or tar file as an image."""
    if path.is_file():
        done = docker("import", str(path), tag)
    elif path.is_dir():
        without = [f"--exclude=./{name}/*" for name in ("proc", "sys", "dev", "run")]
        with subprocess.Popen(["tar", "-C", path, *without, "-c", "."], stdout=subprocess.PIPE) as tar:
            done = subprocess.run(
                [docker_client(), "import", "-", tag], stdin=tar.stdout, capture_output=True, text=True
            )
    else:
        raise TesseraError(f"{BASES_VARIABLE}: {path}", "no such folder or tar file", "correct the path")
    if done.returncode != 0:
        raise TesseraError(
            f"{BASES_VARIABLE}: {path}",
            f"docker import: {done.stderr.strip()}",
            "give a folder or a tar file with a root file system",
            exit_code=EXIT_FAILED,
        )


# What a file needs of shared libraries: their names, and the versions of their symbols.
#
# The dynamic linker rejects a file that needs a version which its glibc does not have.
# This also holds for symbols that no code uses.

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
