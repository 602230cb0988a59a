"""Archives of ``docker save`` for Apptainer, which reads only those of one image, without compression.

The archive of an unpacked package has several images, and gzip around them. ``manifest.json`` in an archive
lists its images: tags, file of the configuration, files of the layers. A layer that two images share is a
file of one of them; the other one has a link to it.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tessera.core.errors import TesseraError

_MANIFEST = "manifest.json"


@contextmanager
def single_image(archive: Path, tag: str, folder: Path) -> Iterator[Path]:
    """An archive with this image alone: ``archive`` itself if it is one, or a file in ``folder``.

    Raises:
        TesseraError: the archive does not have the image, or is no archive of images.
    """
    try:
        with tarfile.open(archive) as images:
            listed = json.load(_opened(images, _MANIFEST))
            found = next((image for image in listed if tag in (image["RepoTags"] or ())), None)
            if found is None:
                tags = [name for image in listed for name in image["RepoTags"] or ()]
                raise _failed(archive, tag, f"it has {', '.join(tags) or 'images without tags'}")
            if len(listed) == 1 and _is_plain(archive):
                yield archive
                return
            out = folder / "image.tar"
            _copy(images, found, out)
    except (tarfile.TarError, EOFError, KeyError, IndexError, ValueError) as error:
        raise _failed(archive, tag, f"it is no archive of docker save: {error}") from error
    try:
        yield out
    finally:
        out.unlink()


def _copy(images: tarfile.TarFile, image: dict, out: Path) -> None:
    with tarfile.open(out, "w") as alone:
        # In the order of the archive: going back in a compressed file starts from its beginning.
        files = {name: _followed(images, name) for name in (image["Config"], *image["Layers"])}
        for name, member in sorted(files.items(), key=lambda pair: pair[1].offset):
            _add(alone, name, images.extractfile(member), member.size)
        content = json.dumps([image]).encode()
        _add(alone, _MANIFEST, io.BytesIO(content), len(content))


def _add(alone: tarfile.TarFile, name: str, stream, size: int) -> None:
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


def _opened(images: tarfile.TarFile, name: str):
    return images.extractfile(_followed(images, name))


def _is_plain(archive: Path) -> bool:
    """Whether the archive is not compressed."""
    with archive.open("rb") as stream:
        return stream.read(2) != b"\x1f\x8b"


def _failed(archive: Path, tag: str, found: str) -> TesseraError:
    return TesseraError(
        f"image {tag} in {archive}",
        found,
        "write it again on a machine with Docker: ./run tessera build --sif",
        code="no-image-in-archive",
    )
