"""The argument list of every ``docker run`` of Tessera, and what all engines' containers have in common.

The checkout is mounted at its own path, so paths are the same inside and outside. New files belong to the
caller. The container has no network unless an option allows it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root
from tessera.machine.container.engine import docker_client

#: Folders of the image that a mount would hide.
_IMAGE_FOLDERS = {
    Path(p) for p in ("/", "/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr")
} | {Path(p) for p in ("/usr/bin", "/usr/lib", "/usr/local", "/usr/sbin", "/usr/share", "/var", "/run")}


#: Where hugetlbfs is mounted.
HUGE_PAGES = Path("/dev/hugepages")


@dataclass(frozen=True)
class RunOptions:
    """Permissions of a run besides reading and writing files.

    Attributes:
        network: docker's network name; ``none`` by default.
        capabilities: Linux capabilities added, as ``SYS_ADMIN``.
        huge_pages: the program uses reserved huge pages; adds IPC_LOCK and hugetlbfs's mount.
        unconfined: no system call filter, for programs that switch address randomisation off.
        also: second mounts, as pairs of a path and its other name in the container.
        hostname: the container's name for itself; docker's own is random.
    """

    network: str = "none"
    capabilities: tuple[str, ...] = ()
    huge_pages: bool = False
    unconfined: bool = False
    also: tuple[tuple[Path, str], ...] = ()
    hostname: str = ""

    def all_capabilities(self) -> list[str]:
        """The capabilities, with that of huge pages."""
        more = ["IPC_LOCK"] if self.huge_pages and "IPC_LOCK" not in self.capabilities else []
        return [*self.capabilities, *more]

    def arguments(self) -> list[str]:
        """The options as docker spells them."""
        arguments = ["--network", self.network]
        for capability in self.all_capabilities():
            arguments += ["--cap-add", capability]
        if self.huge_pages and HUGE_PAGES.is_dir():
            arguments += ["--volume", f"{HUGE_PAGES}:{HUGE_PAGES}"]
        if self.unconfined:
            arguments += ["--security-opt", "seccomp=unconfined"]
        for path, name in self.also:
            arguments += ["--volume", f"{path}:{name}"]
        if self.hostname:
            arguments += ["--hostname", self.hostname]
        return arguments


def mounts(paths: Sequence[Path]) -> list[Path]:
    """Mounts: the checkout, and those of ``paths`` outside it; absolute, in order.

    Raises:
        TesseraError: a path is missing, or mounting it would hide a folder of the image.
    """
    found = [repo_root()]
    for path in paths:
        absolute = Path(os.path.abspath(path))
        if not absolute.exists():
            raise TesseraError(
                f"path {path} for the container", "it does not exist", "create it or correct the name"
            )
        if absolute in _IMAGE_FOLDERS:
            raise TesseraError(
                f"path {path} for the container",
                f"mounting {absolute} would hide the image's own folder",
                "name the single file that is needed",
            )
        if ":" in str(absolute):
            raise TesseraError(
                f"path {path} for the container",
                "containers can't have a path that contains a colon",
                "rename it",
            )
        if not any(absolute == mount or mount in absolute.parents for mount in found):
            found.append(absolute)
    return found


def caller_folder() -> list[Path]:
    """The current folder, for programs with relative paths; none if it can't be mounted."""
    here = Path.cwd()
    return [] if here in _IMAGE_FOLDERS or ":" in str(here) else [here]


def working_folder(mounted: Sequence[Path]) -> Path:
    """The current folder if the container can see it, else the checkout."""
    here = Path.cwd()
    visible = any(here == mount or mount in here.parents for mount in mounted)
    return here if visible else repo_root()


def docker_run(
    image: str,
    argv: Sequence[str | os.PathLike[str]],
    *,
    paths: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
    options: RunOptions | None = None,
    name: str | None = None,
) -> list[str]:
    """The ``docker run`` that executes ``argv`` in ``image``; the container is deleted when ``argv`` ends.

    Without ``paths`` only the checkout is visible. ``name`` is the name for ``docker kill``.
    """
    mounted = mounts(paths)
    command = [docker_client(), "run", "--rm", "--init"]
    if name:
        command += ["--name", name]
    command += ["--user", f"{os.getuid()}:{os.getgid()}"]
    for path in mounted:
        command += ["--volume", f"{path}:{path}"]
    command += ["--workdir", str(working_folder(mounted))]
    for key, value in (env or {}).items():
        command += ["--env", f"{key}={value}"]
    command += (options or RunOptions()).arguments()
    return [*command, image, *[os.fspath(argument) for argument in argv]]
