"""Packages of the images: their recorded versions and checksums, and origins beside Debian's archive."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import repo_root, write_text
from tessera.machine.container.command import RunOptions, docker_run
from tessera.machine.container.engine import docker
from tessera.machine.container.image_inputs import (
    base_tag,
    kernel_tag,
    name_of,
    programs_tag,
    toolchain_tag,
    vips_tag,
    workloads_tag,
)
from tessera.machine.container.watchdog import run_to_end

# The record, ``docker/packages.csv``: packages of the images, versions, and checksums of Debian's files.
#
# Images are built from whatever the archive holds. The record says what it held when this version was made.
# A later build is compared with it, and the snapshot service has these files at the time of
# ``docker/SNAPSHOT``.

COLUMNS = ("package", "version", "architecture", "sha256", "images")
#: Prints a stanza of Debian's index for each installed package; the lists are the archive's of now.
_ASK = """set -e
set -- -o Dir::State::lists=/tmp/lists -o Dir::Cache=/tmp/cache -o APT::Sandbox::User=root
mkdir -p /tmp/lists/partial /tmp/cache/archives/partial
apt-get "$@" update -qq >&2
dpkg-query -W -f '${Package}:${Architecture}=${Version}\\n' | sed 's/:all=/=/' | xargs apt-cache "$@" show
"""


@dataclass(frozen=True)
class DebianPackage:
    """A file of Debian's archive, and the images that have it installed."""

    package: str
    version: str
    architecture: str
    sha256: str
    images: tuple[str, ...]


def recorded_packages(image: str) -> dict[str, str]:
    """Package -> recorded version, of one image (``toolchain``, ``kernel``, ...); empty without a record."""
    path = repo_root() / "docker" / "packages.csv"
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if image in row["images"].split()]
    return {row["package"]: row["version"] for row in rows}


def differences(image: str, found: Mapping[str, str]) -> dict[str, str]:
    """Package -> ``recorded version -> version found``, of packages that differ; ``none`` is an absent one.

    ``found`` names packages as dpkg does, for some with ``:architecture``.
    """
    before = recorded_packages(image)
    now = {name.partition(":")[0]: version for name, version in found.items()}
    return {
        name: f"{before.get(name, 'none')} -> {now.get(name, 'none')}"
        for name in sorted({*before, *now})
        if before and before.get(name) != now.get(name)
    }


def package_stanzas(text: str) -> Iterable[dict[str, str]]:
    """Fields of each paragraph of ``apt-cache show``; continued lines are left out."""
    for paragraph in text.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line and not line.startswith(" ")]
        if lines:
            yield dict(line.split(": ", 1) if ": " in line else (line.rstrip(":"), "") for line in lines)


def collect_packages(images: Mapping[str, str]) -> list[DebianPackage]:
    """Packages of these images (tag -> id) with their checksums, from the archive's index. Needs a network.

    Raises:
        TesseraError: the archive does not answer, or no longer has a package of an image.
    """
    files: dict[tuple[str, str, str], str] = {}
    users: dict[tuple[str, str, str], list[str]] = {}
    for tag, identity in images.items():
        command = docker_run(identity, ["sh", "-c", _ASK], options=RunOptions(network="bridge"))
        pipe, asked = subprocess.PIPE, f"packages of image {tag}"
        done = run_to_end(command, asked, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
        if done.returncode != 0:
            raise TesseraError(
                asked,
                done.stderr.strip()[-400:],
                "the archive must answer and still have these versions: build the image again",
                exit_code=EXIT_FAILED,
                code="image-packages",
            )
        image = name_of(tag)
        for one in package_stanzas(done.stdout):
            key = (one["Package"], one["Version"], one["Architecture"])
            files[key] = one["SHA256"]
            if image not in users.setdefault(key, []):
                users[key].append(image)
    return [DebianPackage(*key, sha256, tuple(users[key])) for key, sha256 in sorted(files.items())]


def write_packages(require_image: Callable[[str], str], say: Callable[[str], None]) -> Path:
    """Write the record anew from the images of this checkout; all of them must be here.

    Args:
        require_image: id of the image of a tag (:func:`tessera.machine.container.images.require_image`).

    Raises:
        TesseraError: an image is missing, or the causes of :func:`collect_packages`.
    """
    tags = [make() for make in (base_tag, toolchain_tag, workloads_tag, vips_tag, programs_tag, kernel_tag)]
    images = {tag: require_image(tag) for tag in tags}
    say(f"asking Debian's archive for the packages of {len(tags)} images")
    path = repo_root() / "docker" / "packages.csv"
    write_text(path, packages_csv(collect_packages(images)))
    return path


def packages_csv(packages: Iterable[DebianPackage]) -> str:
    """The record as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in packages:
        writer.writerow([one.package, one.version, one.architecture, one.sha256, " ".join(one.images)])
    return text.getvalue()


# Where the packages of images come from, if Debian's archive does not give them any more.
#
# 1. ``live``: Debian's archive as it is. Within a suite, versions change only by security and point updates.
#    The manifest lists what differs from the recorded versions (:func:`differences`).
# 2. ``snapshot``: Debian's snapshot service at the time of ``docker/SNAPSHOT``: exactly the recorded
#    versions.
# 3. ``package``: the images of the unpacked package, ``offline/images.tar.gz``.
#
# The tag names the recipe, so it is the same for all three; the manifest names the origin and the id.

LIVE, SNAPSHOT, PACKAGE = "live", "snapshot", "package"
SNAPSHOT_ARCHIVE = "http://snapshot.debian.org/archive"
_ARCHIVES = (("debian", ""), ("debian", "-updates"), ("debian-security", "-security"))


def snapshot_time() -> str:
    """The recorded time, ``YYYYMMDDThhmmssZ`` (UTC).

    Raises:
        TesseraError: ``docker/SNAPSHOT`` has something else.
    """
    text = (repo_root() / "docker" / "SNAPSHOT").read_text().strip()
    if not re.fullmatch(r"\d{8}T\d{6}Z", text):
        raise TesseraError(
            "docker/SNAPSHOT", f"{text!r} is not a time like 20250520T000000Z", "git checkout docker/SNAPSHOT"
        )
    return text


def snapshot_sources(suite: str, path: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Write the sources.list of the suite at the recorded time; mmdebstrap and apt in the image read it.

    Release files of a snapshot are older than the validity that they state, so apt must not check it.
    """
    base = environ.get("TESSERA_SNAPSHOT_ARCHIVE", SNAPSHOT_ARCHIVE).rstrip("/")
    time = snapshot_time()
    lines = [
        f"deb [check-valid-until=no] {base}/{archive}/{time} {suite}{pocket} main\n"
        for archive, pocket in _ARCHIVES
    ]
    write_text(path, "".join(lines))
    return path


def packaged() -> list[str]:
    """Tags of the images in the unpacked package; none in a checkout."""
    return list(_packaged_images())


def packaged_id(tag: str) -> str:
    """Id of an image of the unpacked package; empty if it has none of this tag."""
    return _packaged_images().get(tag, {}).get("id", "")


def _packaged_images() -> dict[str, dict]:
    index = repo_root() / "offline" / "index.json"
    if not index.is_file():
        return {}
    try:
        return dict(json.loads(index.read_text())["images"])
    except (ValueError, KeyError, TypeError) as error:
        raise TesseraError(
            f"images of the unpacked package: {index}",
            f"it is empty or damaged ({type(error).__name__})",
            "copy the package again, and unpack it into an empty folder",
            exit_code=EXIT_FAILED,
        ) from error


def load_packaged(tag: str) -> None:
    """Give the engine all images of the unpacked package.

    Raises:
        TesseraError: the package has no image of this tag, or the engine cannot load it.
    """
    if tag not in packaged():
        raise _not_packaged(tag, "offline/index.json does not exist or names no such image")
    done = docker("load", "--quiet", "--input", str(repo_root() / "offline" / "images.tar.gz"), timeout=None)
    if done.returncode != 0:
        raise _not_packaged(tag, (done.stderr or done.stdout).strip()[-300:])


def first_origin(tag: str, makers: Mapping[str, Callable[[], None]], say: Callable[[str], None]) -> str:
    """Name of the first origin whose maker succeeds.

    Raises:
        TesseraError: all of them failed (``image-origins``); names each one with its reason.
    """
    reasons = []
    for origin, make in makers.items():
        try:
            make()
            return origin
        except TesseraError as error:
            reasons.append(f"{origin}: {error.found}")
            say(f"{tag} from {origin}: {error.found.splitlines()[0]}")
    raise TesseraError(
        f"image {tag}",
        "no source gives it:" + "".join(f"\n  {reason}" for reason in reasons),
        "connect to Debian's archive (for a mirror, set TESSERA_DEBIAN_MIRROR) and read the logs in "
        "build/images; or use a package with images: ./run tessera dev package --offline",
        exit_code=EXIT_FAILED,
        code="image-origins",
    )


def other_image(tag: str, found: str) -> TesseraError:
    """The archive of the unpacked package has not the image that its index names."""
    named = packaged_id(tag) or "no id"
    return _not_packaged(tag, f"offline/images.tar.gz has {found or 'none'}, offline/index.json {named}")


def other_snapshot(tag: str, other: Mapping[str, str]) -> TesseraError:
    """The snapshot service gave other packages than the recorded ones."""
    first = ", ".join(f"{name} {versions}" for name, versions in list(other.items())[:5])
    return TesseraError(
        f"image {tag} from Debian's snapshot service",
        f"{len(other)} packages have other versions than docker/packages.csv (recorded -> found): {first}",
        "check the address in TESSERA_SNAPSHOT_ARCHIVE, and that docker/SNAPSHOT and docker/packages.csv are "
        "of one commit: git checkout docker/SNAPSHOT docker/packages.csv",
        exit_code=EXIT_FAILED,
        code="image-snapshot",
    )


def _not_packaged(tag: str, found: str) -> TesseraError:
    return TesseraError(
        f"image {tag} of the unpacked package",
        found,
        "copy and unpack a package with images again: ./run tessera dev package --offline",
        exit_code=EXIT_FAILED,
        code="image-package",
    )
