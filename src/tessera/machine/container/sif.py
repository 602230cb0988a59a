"""Images of engine apptainer: SIF files, which ``tessera dev build --sif`` makes from docker's images.

A file has the name of the image: ``toolchain-<hash>.sif``. It lies in ``build/images``, or in the folder
of ``$TESSERA_SIF_FOLDER``. ``build/images/<name>.sif.json`` keeps its SHA-256 and its packages.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import (
    build_dir,
    file_stamp,
    making,
    repo_root,
    scratch_folder,
    settled_stamp,
    sha256_of,
    write_text,
)
from tessera.machine.container.command import apptainer_exec, clean_environment
from tessera.machine.container.engine import apptainer_client, require_apptainer
from tessera.machine.container.image_inputs import build_command, name_of, stem
from tessera.machine.container.image_packages import differences, packaged
from tessera.machine.container.watchdog import run_to_end

FOLDER = "TESSERA_SIF_FOLDER"

Say = Callable[[str], None]


def sif_folder() -> Path:
    """The folder of the SIF files: ``$TESSERA_SIF_FOLDER``, or ``build/images``."""
    named = os.environ.get(FOLDER)
    return Path(named).absolute() if named else build_dir("images")


def sif_path(tag: str) -> Path:
    """The SIF file of an image."""
    return sif_folder() / f"{stem(tag)}.sif"


def tar_path(tag: str) -> Path:
    """The image as ``docker save`` writes it, for a machine that has Apptainer and no Docker."""
    return sif_folder() / f"{stem(tag)}.tar"


def archive_of(tag: str) -> Path | None:
    """The archive that this machine has of the image: its tar, or that of the unpacked package."""
    if tar_path(tag).is_file():
        return tar_path(tag)
    return repo_root() / "offline" / "images.tar.gz" if tag in packaged() else None


def require_sif(tag: str) -> str:
    """The tag; raises an error if Apptainer or the SIF file is missing."""
    require_apptainer()
    if not sif_path(tag).is_file():
        name = name_of(tag)
        raise TesseraError(
            f"image {tag} for engine 'apptainer'",
            f"the file {sif_path(tag)} does not exist",
            f"on a machine with Docker: {build_command(tag)}, then ./run tessera dev build --sif {name}; "
            f"copy its file to {sif_folder()}. If it is a .tar file, then run here: ./run --engine apptainer "
            f"tessera dev build --sif {name}. For files in another folder, set {FOLDER}",
            code="no-sif",
        )
    return tag


def ensure_sif(tag: str, say: Say) -> str:
    """The tag; converts the archive that this machine has of the image if there is no SIF file yet.

    Raises:
        TesseraError: there is neither, or Apptainer cannot convert or start it.
    """
    require_apptainer()
    archive = archive_of(tag)
    if archive is not None and not sif_path(tag).is_file():
        convert_to_sif(tag, archive, say)
    require_sif(tag)
    sif_record(tag)
    return tag


def convert_to_sif(tag: str, archive: Path, say: Say) -> Path:
    """Make the SIF file of ``tag`` from an archive that ``docker save`` wrote."""
    require_apptainer()
    target = sif_path(tag)
    say(f"converting {tag} to a SIF file (1 to 3 min)")
    with (
        scratch_folder(target) as folder,
        single_image(archive, tag, folder) as alone,
        making(target) as unfinished,
    ):
        words = [apptainer_client(), "build", "--force", "--disable-cache", str(unfinished)]
        done = run_to_end(
            [*words, f"docker-archive:{alone}"],
            f"SIF file of image {tag} from {archive}",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=clean_environment(),
        )
        if done.returncode != 0:
            tail = "\n".join(done.stdout.strip().splitlines()[-15:])
            raise TesseraError(
                f"SIF file of image {tag} from {archive}",
                f"'apptainer build' exited with status {done.returncode}:\n{tail}",
                "read its messages; it unpacks the image, 3 GB at most, in $APPTAINER_TMPDIR or in /tmp",
                exit_code=EXIT_FAILED,
                code="sif-conversion",
            )
    return target


def sif_record(tag: str) -> dict:
    """SHA-256 and packages of the SIF file; read once and kept until the file changes.

    Raises:
        TesseraError: the file does not exist, or Apptainer cannot start a program in it.
    """
    path = sif_path(require_sif(tag))
    kept = build_dir("images") / f"{stem(tag)}.sif.json"
    before = file_stamp(path)
    with suppress(FileNotFoundError, ValueError):  # absent or damaged: it is made again
        known = json.loads(kept.read_text())
        if isinstance(known, dict) and known.get("checked") == before:
            return known
    packages = _packages(tag)
    found = {
        "image": tag,
        "sif_sha256": sha256_of(path),
        "packages": packages,
        "differs": differences(name_of(tag), packages),
    }
    found |= {"checked": settled_stamp(path, before)}
    write_text(kept, json.dumps(found, indent=2) + "\n")
    return found


def _packages(tag: str) -> dict[str, str]:
    """Debian's packages in the SIF file with their versions; also the test that Apptainer can start it."""
    query = ["dpkg-query", "-W", "-f", "${binary:Package}=${Version}\n"]
    with tempfile.TemporaryDirectory(prefix="tessera-apptainer-") as folder:
        command = apptainer_exec(sif_path(tag), query, workdir=Path(folder))
        done = run_to_end(
            command,
            f"a program in {sif_path(tag)}",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )
    if done.returncode != 0:
        raise TesseraError(
            f"a program in {sif_path(tag)}",
            f"apptainer exited with status {done.returncode}: {done.stderr.strip()[-500:]}",
            "an ordinary user needs user namespaces and squashfuse, or the package apptainer-suid; "
            "docs/results/cluster-tests.md has what was tested",
            exit_code=EXIT_FAILED,
            code="sif-does-not-start",
        )
    return dict(line.split("=", 1) for line in done.stdout.split())


# Archives of ``docker save`` for Apptainer, which reads only those of one image, without compression.
#
# The archive of an unpacked package has several images, and gzip around them. ``manifest.json`` in an
# archive lists its images: tags, file of the configuration, files of the layers. A layer that two images
# share is a file of one of them; the other one has a link to it.

_MANIFEST = "manifest.json"


@contextmanager
def single_image(archive: Path, tag: str, folder: Path) -> Iterator[Path]:
    """An archive with this image alone: ``archive`` itself if it is one, or a file in ``folder``.

    Raises:
        TesseraError: the archive does not have the image, or is no archive of images.
    """
    out = folder / "image.tar"
    try:
        with tarfile.open(archive) as images:
            listed = json.load(_opened(images, _MANIFEST))
            found = next((image for image in listed if tag in (image["RepoTags"] or ())), None)
            if found is None:
                tags = [name for image in listed for name in image["RepoTags"] or ()]
                raise _not_in_archive(archive, tag, f"it has {', '.join(tags) or 'images without tags'}")
            alone = len(listed) == 1 and _is_plain(archive)
            if not alone:
                _copy_image(images, found, out)
    except (tarfile.TarError, EOFError, LookupError, ValueError, TypeError, RecursionError) as error:
        raise _not_in_archive(archive, tag, f"it is no archive of docker save: {error}") from error
    try:
        yield archive if alone else out
    finally:
        out.unlink(missing_ok=True)


def _copy_image(images: tarfile.TarFile, image: dict, out: Path) -> None:
    with tarfile.open(out, "w") as alone:
        # In the order of the archive: going back in a compressed file starts from its beginning.
        files = {name: _followed(images, name) for name in (image["Config"], *image["Layers"])}
        for name, member in sorted(files.items(), key=lambda pair: pair[1].offset):
            _add_file(alone, name, _stream_of(images, member), member.size)
        content = json.dumps([image]).encode()
        _add_file(alone, _MANIFEST, io.BytesIO(content), len(content))


def _add_file(alone: tarfile.TarFile, name: str, stream, size: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = size
    alone.addfile(entry, stream)


def _followed(images: tarfile.TarFile, name: str) -> tarfile.TarInfo:
    """The file of this name, links followed."""
    member, seen = images.getmember(name), {name}
    while member.issym():
        parts: list[str] = []
        for part in Path(member.name).parent.joinpath(member.linkname).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        member = images.getmember("/".join(parts))
        if member.name in seen:
            raise KeyError(f"the links of {name} never end")
        seen.add(member.name)
    return member


def _opened(images: tarfile.TarFile, name: str) -> IO[bytes]:
    return _stream_of(images, _followed(images, name))


def _stream_of(images: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    stream = images.extractfile(member)
    if stream is None:
        raise KeyError(f"{member.name} is no file")
    return stream


def _is_plain(archive: Path) -> bool:
    """Whether the archive is not compressed."""
    with archive.open("rb") as stream:
        return stream.read(2) != b"\x1f\x8b"


def _not_in_archive(archive: Path, tag: str, found: str) -> TesseraError:
    return TesseraError(
        f"image {tag} in {archive}",
        found,
        "write it again on a machine with Docker: ./run tessera dev build --sif",
        code="no-image-in-archive",
    )
