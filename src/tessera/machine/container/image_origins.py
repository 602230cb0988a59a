"""Where the packages of images come from, if Debian's archive does not give them any more.

1. ``live``: Debian's archive as it is. Within a suite, versions change only by security and point updates.
   The manifest lists what differs from the recorded versions (:mod:`.recorded`).
2. ``snapshot``: Debian's snapshot service at the time of ``docker/SNAPSHOT``: exactly the recorded versions.
3. ``package``: the images of the unpacked package, ``offline/images.tar.gz``.

The tag names the recipe, so it is the same for all three; the manifest names the origin.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import write_text
from tessera.core.paths import repo_root
from tessera.machine.container.engine import docker

SNAPSHOT = "http://snapshot.debian.org/archive"
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
    base = environ.get("TESSERA_SNAPSHOT_ARCHIVE", SNAPSHOT).rstrip("/")
    time = snapshot_time()
    lines = [
        f"deb [check-valid-until=no] {base}/{archive}/{time} {suite}{pocket} main\n"
        for archive, pocket in _ARCHIVES
    ]
    write_text(path, "".join(lines))
    return path


def packaged() -> list[str]:
    """Tags of the images in the unpacked package; none in a checkout."""
    index = repo_root() / "offline" / "index.json"
    return list(json.loads(index.read_text())["images"]) if index.is_file() else []


def load_packaged(tag: str) -> None:
    """Give the engine all images of the unpacked package.

    Raises:
        TesseraError: the package has no image of this tag, or the engine cannot load it.
    """
    if tag not in packaged():
        raise _failed(tag, "offline/index.json does not exist or names no such image")
    done = docker("load", "--quiet", "--input", str(repo_root() / "offline" / "images.tar.gz"))
    if done.returncode != 0:
        raise _failed(tag, (done.stderr or done.stdout).strip()[-300:])


def first(tag: str, makers: Mapping[str, Callable[[], None]], say: Callable[[str], None]) -> str:
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
        "build/images; or use a package with images: ./run tessera package --offline",
        exit_code=EXIT_FAILED,
        code="image-origins",
    )


def _failed(tag: str, found: str) -> TesseraError:
    return TesseraError(
        f"image {tag} of the unpacked package", found, "use a package with images", exit_code=EXIT_FAILED
    )
