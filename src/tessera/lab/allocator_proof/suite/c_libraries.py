"""Root file systems with other C libraries."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container.engine import docker, docker_client
from tessera.machine.container.images import engine_id, ensure_libc_image, require_image

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
class CLibrary:
    """A version of glibc, a system that has it, and where its files are (empty: nowhere)."""

    version: str
    system: str
    source: str = ""


BUILT = "built"

#: Releases after the oldest glibc that the library promises. Only Debian's archive needs no registry.
KNOWN_BASES = (
    CLibrary("2.35", "Ubuntu 22.04"),
    CLibrary("2.39", "Ubuntu 24.04"),
    CLibrary("2.41", "Debian 13", BUILT),
)


def bases(environ: Mapping[str, str] = os.environ) -> list[CLibrary]:
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
        found[version] = CLibrary(version, source, source)
    return sorted(found.values(), key=lambda base: int(base.version.partition(".")[2]))


@contextmanager
def image_of(base: CLibrary, say: Callable[[str], None]) -> Iterator[str]:
    """Tag or id of an image with the base's files, during the block.

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
        if not engine_id(tag):
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
        return require_image(ensure_libc_image(say))
    except TesseraError as error:
        if _UNREACHABLE.search(error.found):
            raise BaseMissing(f"{error.asked}: {error.found.splitlines()[-1]}; {error.remedy}") from None
        raise


def _import_image(path: Path, tag: str) -> None:
    """The folder or tar file as an image."""
    if path.is_file():
        done = docker("import", str(path), tag, timeout=None)
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
