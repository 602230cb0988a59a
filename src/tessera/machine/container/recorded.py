"""The recorded packages of the images: versions, and checksums of Debian's files (``docker/packages.csv``).

Images are built from whatever the archive holds. The record says what it held when this version was made. A
later build is compared with it, and the snapshot service has these files at the time of ``docker/SNAPSHOT``.
"""

from __future__ import annotations

import csv
import io
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import write_text
from tessera.core.paths import repo_root
from tessera.machine.container.command import RunOptions, docker_run
from tessera.machine.container.engine import docker
from tessera.machine.container.image_inputs import (
    base_tag,
    kernel_tag,
    programs_tag,
    toolchain_tag,
    vips_tag,
    workloads_tag,
)

COLUMNS = ("package", "version", "architecture", "sha256", "images")
#: Prints a stanza of Debian's index for each installed package; the lists are the archive's of now.
_ASK = """set -e
set -- -o Dir::State::lists=/tmp/lists -o Dir::Cache=/tmp/cache -o APT::Sandbox::User=root
mkdir -p /tmp/lists/partial /tmp/cache/archives/partial
apt-get "$@" update -qq >&2
dpkg-query -W -f '${Package}:${Architecture}=${Version}\\n' | sed 's/:all=/=/' | xargs apt-cache "$@" show
"""


@dataclass(frozen=True)
class Package:
    """A file of Debian's archive, and the images that have it installed."""

    package: str
    version: str
    architecture: str
    sha256: str
    images: tuple[str, ...]


def recorded(image: str) -> dict[str, str]:
    """Package -> recorded version, of one image (``toolchain``, ``kernel``, ...); empty without a record."""
    path = repo_root() / "docker" / "packages.csv"
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if image in row["images"].split()]
    return {row["package"]: row["version"] for row in rows}


def differences(image: str, found: Mapping[str, str]) -> dict[str, str]:
    """Package -> ``recorded version -> version found``, of packages that differ; ``none`` is an absent one.

    ``found`` names packages as dpkg does, for some with ``:architecture``.
    """
    before = recorded(image)
    now = {name.partition(":")[0]: version for name, version in found.items()}
    return {
        name: f"{before.get(name, 'none')} -> {now.get(name, 'none')}"
        for name in sorted({*before, *now})
        if before and before.get(name) != now.get(name)
    }


def stanzas(text: str) -> Iterable[dict[str, str]]:
    """Fields of each paragraph of ``apt-cache show``; continued lines are left out."""
    for paragraph in text.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line and not line.startswith(" ")]
        if lines:
            yield dict(line.split(": ", 1) if ": " in line else (line.rstrip(":"), "") for line in lines)


def collect(tags: Iterable[str]) -> list[Package]:
    """Packages of these images with their checksums, from the archive's index. Needs a network.

    Raises:
        TesseraError: the archive does not answer, or no longer has a package of an image.
    """
    files: dict[tuple[str, str, str], str] = {}
    users: dict[tuple[str, str, str], list[str]] = {}
    for tag in tags:
        command = docker_run(tag, ["sh", "-c", _ASK], options=RunOptions(network="bridge"))
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise TesseraError(
                f"packages of image {tag}",
                done.stderr.strip()[-400:],
                "the archive must answer and still have these versions: build the image again",
                exit_code=EXIT_FAILED,
                code="image-packages",
            )
        image = tag.removeprefix("tessera-").partition(":")[0]
        for one in stanzas(done.stdout):
            key = (one["Package"], one["Version"], one["Architecture"])
            files[key] = one["SHA256"]
            if image not in users.setdefault(key, []):
                users[key].append(image)
    return [Package(*key, sha256, tuple(users[key])) for key, sha256 in sorted(files.items())]


def write(say: Callable[[str], None]) -> Path:
    """Write the record anew from the images of this checkout; all of them must be here.

    Raises:
        TesseraError: an image is missing, or the causes of :func:`collect`.
    """
    tags = [make() for make in (base_tag, toolchain_tag, workloads_tag, vips_tag, programs_tag, kernel_tag)]
    for tag in tags:
        if docker("image", "inspect", "--format", "{{.Id}}", tag).returncode != 0:
            raise TesseraError(
                f"packages of image {tag}",
                "the engine does not have this image",
                "build it: ./run tessera build --image, --workloads-image, --vips-image; mosalloc programs; "
                "kernel build",
            )
    say(f"asking Debian's archive for the packages of {len(tags)} images")
    path = repo_root() / "docker" / "packages.csv"
    write_text(path, table(collect(tags)))
    return path


def table(packages: Iterable[Package]) -> str:
    """The record as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in packages:
        writer.writerow([one.package, one.version, one.architecture, one.sha256, " ".join(one.images)])
    return text.getvalue()
