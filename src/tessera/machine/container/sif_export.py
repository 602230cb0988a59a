"""Write docker's images as files for engine apptainer: SIF files, or tar files where Apptainer is missing."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.files import making
from tessera.machine.container.engine import docker_client, server_version
from tessera.machine.container.image_inputs import IMAGES, build_command
from tessera.machine.container.images import image_exists
from tessera.machine.container.sif import archive_of, convert, sif_folder, sif_path, tar_path

Say = Callable[[str], None]


def export(names: Sequence[str], say: Say) -> list[Path]:
    """SIF files of the images named, or of all images that this machine has; tar files without Apptainer.

    Files that exist are kept: their names have the hash of the image's inputs.

    Raises:
        TesseraError: an unknown name, an image that this machine does not have, or a failed conversion.
    """
    for name in names:
        if name not in IMAGES:
            raise unknown_name("image", name, tuple(IMAGES))
    tags = [IMAGES[name]() for name in names or IMAGES]
    has_docker = shutil.which("docker") is not None and server_version() is not None

    def here(tag: str) -> bool:
        return sif_path(tag).is_file() or archive_of(tag) is not None or (has_docker and image_exists(tag))

    missing = [tag for tag in tags if not here(tag)]
    if names and missing or len(missing) == len(tags):
        raise TesseraError(
            f"SIF file of image {missing[0]}",
            "no Docker engine of this machine has this image, and there is no archive of it: "
            f"neither {tar_path(missing[0])} nor offline/images.tar.gz of an unpacked package",
            f"on a machine with Docker: {build_command(missing[0])}",
            code="no-image-to-export",
        )
    return [_export(tag, say) for tag in tags if tag not in missing]


def _export(tag: str, say: Say) -> Path:
    if sif_path(tag).is_file():
        say(f"{tag}: the SIF file is here already")
        return sif_path(tag)
    archive = archive_of(tag)
    saved = archive is None
    if archive is None:
        archive = _save(tag, say)
    if shutil.which("apptainer") is None:
        say(
            f"{tag}: apptainer is not installed here. On a machine that has it: copy {archive.name} to its "
            f"folder of SIF files, then ./run --engine apptainer tessera build --sif; or: apptainer build "
            f"{sif_path(tag).name} docker-archive:{archive.name}"
        )
        return archive
    made = convert(tag, archive, say)
    if saved:
        archive.unlink()
    return made


def _save(tag: str, say: Say) -> Path:
    """The image as ``docker save`` writes it."""
    target = tar_path(tag)
    say(f"docker save {tag}")
    sif_folder().mkdir(parents=True, exist_ok=True)
    with making(target) as unfinished, unfinished.open("wb") as stream:
        done = subprocess.run(
            [docker_client(), "save", tag], stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.PIPE
        )
        if done.returncode != 0:
            raise TesseraError(
                f"docker save {tag}",
                done.stderr.decode(errors="replace").strip()[-300:],
                f"free space for {target}",
                exit_code=EXIT_FAILED,
            )
    return target
