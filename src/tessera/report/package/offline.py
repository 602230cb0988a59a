"""What a package needs so that ``./run --offline`` works on a machine without a network.

Parts, in the folder ``offline/`` of the package: the Python packages of :data:`LOCKS`; the container images,
as ``docker save`` writes them, in one archive because they share layers; the kernel's source as Debian packs
it. ``index.json`` names the images with their ids, and each image's packages with versions. Parts are made in
``build/offline/`` first, and found there by the next package of the same inputs.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.files import build_dir, making, making_folder, repo_root, write_text
from tessera.core.processes import module_command
from tessera.core.units import MB
from tessera.lab.kernel.source import find_source, recorded_source
from tessera.machine.container.command import RunOptions, docker_run
from tessera.machine.container.engine import docker_client, require_docker
from tessera.machine.container.image_inputs import BaseArguments, kernel_tag, toolchain_tag, workloads_tag
from tessera.machine.container.images import require_image
from tessera.machine.container.toolchain import kernel_toolchain
from tessera.machine.container.watchdog import run_to_end, watchdog

FOLDER = "offline"
WHEELS, IMAGES, KERNEL = "wheels", "images", "kernel"
PARTS = (WHEELS, IMAGES, KERNEL)
#: Packages, and what builds those of them that have no wheel.
LOCKS = ("requirements.lock", "requirements-build.lock")
_COMPRESSION = 2  # of 1.3 GB in a third of the time of 6, for a tenth more bytes
#: Where Debian's package has the kernel's source, as one compressed archive.
_SOURCES = "/usr/src/linux-source-*.tar.xz"


@dataclass(frozen=True)
class OfflineFile:
    """A file of the package: its name there, and the file that has its bytes now."""

    name: str
    path: Path


def parts(without: Collection[str] = ()) -> list[OfflineFile]:
    """Make the parts that are not left out; their files in the order of the package.

    ``without`` the kernel, its image is left out, too.

    Raises:
        TesseraError: an unknown part, no engine, a missing image, images that hold the password of a mirror,
            or pip could not fetch a wheel.
    """
    for name in without:
        if name not in PARTS:
            raise unknown_name("part of an offline package", name, PARTS)
    asked = [name for name in PARTS if name not in without]
    arguments = BaseArguments.from_environment()
    if IMAGES in asked and arguments.as_published() != arguments.as_environment():
        raise TesseraError(
            "images of the offline package",
            "their sources.list has TESSERA_DEBIAN_MIRROR, whose private parts have [marks] here:"
            f" {arguments.as_published()['DEBIAN_MIRROR']}",
            "build the images from a mirror without such a part, or leave them out: --without images",
            code="package-private-mirror",
        )
    found: list[OfflineFile] = []
    index: dict[str, object] = {"parts": asked, "images": {}}
    if WHEELS in asked:
        found += [OfflineFile(f"{FOLDER}/wheels/{path.name}", path) for path in wheels()]
    if IMAGES in asked:
        tags = [toolchain_tag(), workloads_tag(), *([kernel_tag()] if KERNEL in asked else [])]
        found.append(OfflineFile(f"{FOLDER}/images.tar.gz", saved(tags)))
        index["images"] = {tag: contents_of(tag) for tag in tags}
    if KERNEL in asked:
        path = kernel_source()
        found.append(OfflineFile(f"{FOLDER}/kernel/{path.name}", path))
        index["kernel"] = {"version": recorded_source().version, "sha256": recorded_source().tree_sha256}
    path = _made("index.json")
    write_text(path, json.dumps(index, indent=1, sort_keys=True) + "\n")
    return [*sorted(found, key=lambda one: one.name), OfflineFile(f"{FOLDER}/index.json", path)]


def wheels() -> list[Path]:
    """Packages of :data:`LOCKS` as pip downloads them, each with the hash of its lock."""
    locks = [repo_root() / name for name in LOCKS]
    folder = _made(f"wheels-{hashlib.sha256(b''.join(lock.read_bytes() for lock in locks)).hexdigest()[:12]}")
    if not folder.is_dir():
        words = module_command("pip", "download", "--quiet", "--no-deps", "--require-hashes")
        asked = [word for lock in locks for word in ("--requirement", str(lock))]
        with making_folder(folder) as half:
            _ran([*words, "--disable-pip-version-check", *asked, "--dest", str(half)])
    return sorted(folder.iterdir())


def saved(tags: list[str]) -> Path:
    """An archive of these images that ``docker load`` reads."""
    require_docker()
    names = " ".join(f"{tag}={require_image(tag)}" for tag in tags)
    path = _made(f"images-{hashlib.sha256(names.encode()).hexdigest()[:12]}.tar.gz")
    if not path.is_file():
        with making(path) as unfinished, unfinished.open("wb") as raw:
            with gzip.GzipFile("", "wb", _COMPRESSION, raw, mtime=0) as stream:
                command = [docker_client(), "save", *tags]
                with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
                    with watchdog(process, f"docker save {' '.join(tags)}"):
                        shutil.copyfileobj(process.stdout, stream, MB)
            if process.returncode != 0:
                raise _failed(command, f"exit status {process.returncode}")
    return path


def contents_of(tag: str) -> dict[str, object]:
    """Id of an image and version of each of its Debian packages."""
    query = ["dpkg-query", "-W", "-f", "${binary:Package}=${Version}\n"]
    identity = require_image(tag)
    lines = _ran(docker_run(identity, query)).split()
    return {"id": identity, "packages": dict(line.split("=", 1) for line in lines)}


def kernel_source() -> Path:
    """The kernel's source in the recorded version: from its image, or fetched if that has another one."""
    tag, identity = kernel_tag(), require_image(kernel_tag())
    fetched = find_source(kernel_toolchain(), False, lambda line: None).archive
    if fetched is not None:
        return fetched
    folder = _made(f"kernel-{tag.rpartition(':')[2]}")
    if not folder.is_dir():
        with making_folder(folder) as half:
            argv = ["sh", "-c", f'cp {_SOURCES} "$1"', "sh", str(half)]
            _ran(docker_run(identity, argv, options=RunOptions(writes=(half,))))
    return next(iter(sorted(folder.iterdir())))


def _made(name: str) -> Path:
    folder = build_dir("offline")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def _ran(words: list[str]) -> str:
    pipe, asked = subprocess.PIPE, f"a part of the offline package: {' '.join(words[:4])} ..."
    done = run_to_end(words, asked, stdout=pipe, stderr=pipe, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise _failed(words, (done.stderr or done.stdout).strip()[-500:])
    return done.stdout


def _failed(words: list[str], found: str) -> TesseraError:
    asked = f"a part of the offline package: {' '.join(words[:4])} ..."
    if os.strerror(errno.ENOSPC) in found:
        remedy = f"free space for {build_dir('offline')} and in /tmp, then run the same command again"
        return TesseraError(asked, found, remedy, exit_code=EXIT_FAILED)
    return TesseraError(
        asked,
        found,
        "make the package on a machine with a network and a Docker engine, or leave the part out: --without",
        code="package-offline-part",
        exit_code=EXIT_FAILED,
    )
