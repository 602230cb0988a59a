"""The inputs of the images, and their tags.

The tag of an image is a hash of its inputs: the files of its folder in ``docker/``, its arguments, and the
tag of the image below. So an image is built again exactly when its inputs change.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tessera.core.files import repo_root
from tessera.core.private_texts import Scrubber

DEBIAN_SUITE = "bookworm"

#: The release whose C library is newer than the toolchain's; mosalloc is tested under both.
NEWER_SUITE = "trixie"


@dataclass(frozen=True)
class BaseArguments:
    """Arguments of ``docker/base/build.sh``.

    ``mirror`` empty means the suite's own default archive. ``snapshot`` (``YYYYMMDDThhmmssZ``) is a
    date in a snapshot archive, whose address ``mirror`` must then give.
    """

    suite: str = DEBIAN_SUITE
    mirror: str = ""
    snapshot: str = ""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> BaseArguments:
        """Arguments from ``$TESSERA_DEBIAN_MIRROR`` and ``$TESSERA_DEBIAN_SNAPSHOT``."""
        return cls(
            mirror=environ.get("TESSERA_DEBIAN_MIRROR", ""),
            snapshot=environ.get("TESSERA_DEBIAN_SNAPSHOT", ""),
        )

    def as_environment(self) -> dict[str, str]:
        """The variables that ``build.sh`` reads."""
        return {
            "DEBIAN_SUITE": self.suite,
            "DEBIAN_MIRROR": self.mirror,
            "DEBIAN_SNAPSHOT": self.snapshot,
        }

    def as_published(self) -> dict[str, str]:
        """The same for a manifest: without a user and a password of the mirror."""
        return {name: Scrubber().clean(value) for name, value in self.as_environment().items()}


def docker_folder(image: str) -> Path:
    """Folder of an image: ``base``, ``libc``, ``toolchain``, ``programs``, ``workloads``, ..."""
    return repo_root() / "docker" / image


def inputs_digest(folder: Path, arguments: Mapping[str, str]) -> str:
    """SHA-256 (hex) of a folder's files (path, executable bit, content) and of the arguments."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        executable = bool(path.stat().st_mode & 0o100)
        digest.update(f"{path.relative_to(folder)}\0{executable}\0{content}\n".encode())
    for name, value in sorted(arguments.items()):
        digest.update(f"{name}={value}\n".encode())
    return digest.hexdigest()


def base_tag(arguments: BaseArguments | None = None) -> str:
    """Tag of the base image for the files of the checkout and the arguments."""
    arguments = arguments or BaseArguments.from_environment()
    digest = inputs_digest(docker_folder("base"), arguments.as_environment())
    return f"tessera-base:{digest[:12]}"


def libc_tag(arguments: BaseArguments | None = None) -> str:
    """Tag of the image with the C library of :data:`NEWER_SUITE` (whatever suite ``arguments`` names)."""
    arguments = replace(arguments or BaseArguments.from_environment(), suite=NEWER_SUITE)
    digest = inputs_digest(docker_folder("libc"), arguments.as_environment())
    return f"tessera-libc:{digest[:12]}"


def toolchain_tag(arguments: BaseArguments | None = None) -> str:
    """Tag of the toolchain image for the files of the checkout and the arguments."""
    digest = inputs_digest(docker_folder("toolchain"), {"BASE": base_tag(arguments)})
    return f"tessera-toolchain:{digest[:12]}"


def _tag_on_toolchain(image: str, arguments: BaseArguments | None) -> str:
    digest = inputs_digest(docker_folder(image), {"BASE": toolchain_tag(arguments)})
    return f"tessera-{image}:{digest[:12]}"


def programs_tag(arguments: BaseArguments | None = None) -> str:
    """Tag of the image of the well-known programs that test mosalloc."""
    return _tag_on_toolchain("programs", arguments)


def workloads_tag(arguments: BaseArguments | None = None) -> str:
    """Tag of the image of the workloads that are programs of Debian."""
    return _tag_on_toolchain("workloads", arguments)


def vips_tag(arguments: BaseArguments | None = None) -> str:
    """Tag of the image of the workload ``vips``: one of its own, so that other recordings keep theirs."""
    return _tag_on_toolchain("vips", arguments)


def kernel_tag(arguments: BaseArguments | None = None) -> str:
    """Tag of the image that builds and boots the kernel."""
    return _tag_on_toolchain("kernel", arguments)


#: Images that components and programs run in, by name. The others are below them, or tests alone use them.
IMAGES: dict[str, Callable[[], str]] = {
    "toolchain": toolchain_tag,
    "workloads": workloads_tag,
    "vips": vips_tag,
    "programs": programs_tag,
    "kernel": kernel_tag,
}

_BUILD_COMMANDS = {
    "programs": "./run tessera lab allocator programs",
    "workloads": "./run tessera dev build --workloads-image",
    "vips": "./run tessera dev build --vips-image",
    "kernel": "./run tessera lab kernel build",
}


def name_of(tag: str) -> str:
    """The image's name, which is that of its folder in ``docker/``: ``toolchain``, ``kernel``, ..."""
    return tag.removeprefix("tessera-").partition(":")[0]


def stem(tag: str) -> str:
    """The beginning of the names of an image's files: ``toolchain-<hash>``."""
    return tag.removeprefix("tessera-").replace(":", "-")


def build_command(tag: str) -> str:
    """The command that builds the image on a machine with Docker."""
    return _BUILD_COMMANDS.get(name_of(tag), "./run tessera dev build --image")
