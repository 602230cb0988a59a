"""The argument lists of every ``docker run`` and ``apptainer exec`` of Tessera.

The checkout is mounted at its own path, so paths are the same inside and outside. New files belong to the
caller. The container has no network unless an option allows it.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.machine.container.engine import apptainer_client, docker_client

# What the containers of all engines have in common, and ``docker run``.

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


def container_folder(mounted: Sequence[Path]) -> Path:
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

    Without ``paths`` only the checkout is visible. ``name`` is the name for ``docker kill``. Docker keeps no
    log of what ``argv`` prints: it would be written to disk as JSON, and deleted with the container.
    """
    mounted = mounts(paths)
    command = [docker_client(), "run", "--rm", "--init", "--log-driver", "none"]
    if name:
        command += ["--name", name]
    command += ["--user", f"{os.getuid()}:{os.getgid()}"]
    for path in mounted:
        command += ["--volume", f"{path}:{path}"]
    command += ["--workdir", str(container_folder(mounted))]
    for key, value in (env or {}).items():
        command += ["--env", f"{key}={value}"]
    command += (options or RunOptions()).arguments()
    return [*command, image, *[os.fspath(argument) for argument in argv]]


# ``apptainer exec``: what ``docker run`` gives, where Apptainer can.
#
# The same: mounts at the same paths and nothing else of this machine, the variables of the image and those
# given, a /tmp of its own, no network unless an option allows it, an init process that ends all programs.
# The same capabilities, too: root gets docker's and those that are asked for, an ordinary user has none.
# Other than in docker: the rest of the image is read-only, there is no filter of system calls, and limits
# but that of the stack are the caller's.
#
# Apptainer splits ``--env`` and ``--bind`` at commas, which values and paths may contain. So variables are
# set inside by ``env``, and mounts are spelled as ``--mount``, whose fields can be quoted.

#: Variables of the images: of ``ENV`` in docker/toolchain/Dockerfile, and docker's own PATH.
VARIABLES = {
    "DEBIAN_FRONTEND": "noninteractive",
    "HOME": "/tmp",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}

#: Sets the soft limit that programs of docker have. QEMU's stack for the program follows the limit, so that
#: another one would change the addresses in a recording; clusters often set another one.
_STACK_LIMIT = ("prlimit", "--stack=8388608:")

#: Capabilities of root in a container of docker that asks for no others.
_OF_ROOT = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
    *("NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
)

#: Own namespaces of processes and IPC, empty /dev, /tmp and /var/tmp, no mounts of the site's configuration.
_CLOSED = ("--containall", "--no-home", "--no-mount", "bind-paths", "--no-eval")

#: Folders of the container that ``--workdir`` holds, by their names in it.
_IN_WORKDIR = {Path("/tmp"): "tmp", Path("/var/tmp"): "var_tmp"}

#: Variables of the user that say where Apptainer keeps its own files. The others would change the container.
_KEPT = ("APPTAINER_CACHEDIR", "APPTAINER_CONFIGDIR", "APPTAINER_TMPDIR")


def apptainer_exec(
    image: Path,
    argv: Sequence[str | os.PathLike[str]],
    *,
    workdir: Path,
    paths: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
    options: RunOptions | None = None,
) -> list[str]:
    """The ``apptainer exec`` that runs ``argv`` in the SIF file ``image``.

    Args:
        workdir: an empty folder for the container's /tmp and /var/tmp; the caller removes it afterwards.

    Raises:
        TesseraError: as :func:`mounts`, or the options ask for a network that Apptainer does not have.
    """
    options = options or RunOptions()
    mounted = mounts(paths)
    pairs = [(path, str(path)) for path in mounted] + list(options.also)
    if options.huge_pages and HUGE_PAGES.is_dir():
        pairs.append((HUGE_PAGES, str(HUGE_PAGES)))
    _make_mount_points(workdir, pairs)
    command = [*_STACK_LIMIT, apptainer_client(), "--quiet", "exec", *_CLOSED, "--workdir", str(workdir)]
    for path, name in pairs:
        command += ["--mount", _mount(path, name)]
    command += _permissions(options)
    variables = VARIABLES | dict(env or {})
    # Without --pwd Apptainer tries the home folder, which is not there. Newer versions call it --cwd, too.
    command += ["--pwd", str(container_folder(mounted)), str(image), "env", "-i"]
    command += [f"{key}={value}" for key, value in variables.items()]
    return [*command, *[os.fspath(argument) for argument in argv]]


def clean_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variables of Apptainer itself: without those that add mounts or options to every container."""
    return {
        name: value
        for name, value in environ.items()
        if name in _KEPT or not name.startswith(("APPTAINER", "SINGULARITY"))
    }


def _permissions(options: RunOptions) -> list[str]:
    if options.network not in ("none", "host"):
        raise TesseraError(
            f"network '{options.network}' for a program with engine 'apptainer'",
            "Apptainer gives a program no network, or this machine's",
            "use the engine docker for this command: ./run --engine docker ...",
        )
    words = ["--net", "--network", "none"] if options.network == "none" else []
    if os.geteuid() == 0:
        wanted = sorted({*_OF_ROOT, *options.all_capabilities()})
        words += ["--no-privs", "--add-caps", ",".join(f"CAP_{name}" for name in wanted)]
    if options.hostname:
        words += ["--hostname", options.hostname]
    return words


def _mount(path: Path, name: str) -> str:
    """A mount's fields as CSV: those with commas are quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(["type=bind", f"source={path}", f"destination={name}"])
    return text.getvalue()


def _make_mount_points(workdir: Path, pairs: Sequence[tuple[Path, str]]) -> None:
    """Create what is mounted below /tmp: Apptainer makes no mount point in a folder of this machine."""
    for folder in _IN_WORKDIR.values():
        (workdir / folder).mkdir()
    for path, name in pairs:
        for parent, folder in _IN_WORKDIR.items():
            if parent in Path(name).parents:
                point = workdir / folder / Path(name).relative_to(parent)
                if path.is_dir():
                    point.mkdir(parents=True, exist_ok=True)
                else:
                    point.parent.mkdir(parents=True, exist_ok=True)
                    point.touch()
