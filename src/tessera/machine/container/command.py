"""The argument lists of every ``docker run`` and ``apptainer exec`` of Tessera.

The checkout is mounted at its own path, so paths are the same inside and outside. New files belong to the
caller. The container has no network unless an option allows it, can write only the folders that an option
names, and has no privileges but those that an option names.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.processes import work_mark
from tessera.machine.container.engine import MARK_LABEL, apptainer_client, docker_client

# What the containers of all engines have in common, and ``docker run``.

#: Folders of the image that a mount would hide.
_IMAGE_FOLDERS = {
    Path(p) for p in ("/", "/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr")
} | {Path(p) for p in ("/usr/bin", "/usr/lib", "/usr/local", "/usr/sbin", "/usr/share", "/var", "/run")}

#: Where hugetlbfs is mounted.
HUGE_PAGES = Path("/dev/hugepages")

#: Processes and threads of a container. The largest are builds, with about four for each processor.
MOST_PROCESSES = 16384


@dataclass(frozen=True)
class RunOptions:
    """Permissions of a run besides reading files.

    Attributes:
        writes: folders that the program writes. It reads the others only, also those of the checkout.
        network: docker's network name; ``none`` by default.
        capabilities: Linux capabilities, as ``SYS_ADMIN``; without them, root has none.
        huge_pages: the program uses reserved huge pages; adds IPC_LOCK and hugetlbfs's mount.
        unconfined: no system call filter, for programs that switch address randomisation off.
        also: second mounts, as pairs of a path and its other name in the container.
        hostname: the container's name for itself; docker's own is random.
    """

    writes: tuple[Path, ...] = ()
    network: str = "none"
    capabilities: tuple[str, ...] = ()
    huge_pages: bool = False
    unconfined: bool = False
    also: tuple[tuple[Path, str], ...] = ()
    hostname: str = ""

    def all_capabilities(self) -> list[str]:
        """The capabilities, with that of huge pages, and that of root in somebody else's checkout.

        Root without DAC_OVERRIDE is refused what another user may not do with the owner's files.
        """
        more = ["IPC_LOCK"] if self.huge_pages else []
        more += ["DAC_OVERRIDE"] if os.geteuid() == 0 and repo_root().stat().st_uid != 0 else []
        return list(dict.fromkeys([*self.capabilities, *more]))

    def arguments(self) -> list[str]:
        """The options as docker spells them, without the mounts."""
        arguments = ["--network", self.network, "--cap-drop", "ALL"]
        for capability in self.all_capabilities():
            arguments += ["--cap-add", capability]
        arguments += ["--security-opt", "no-new-privileges", "--pids-limit", str(MOST_PROCESSES)]
        if self.unconfined:
            arguments += ["--security-opt", "seccomp=unconfined"]
        if self.hostname:
            arguments += ["--hostname", self.hostname]
        return arguments


@dataclass(frozen=True)
class Mount:
    """A file or folder of this machine, its name in the container, and whether it can be written there."""

    path: Path
    name: str
    writable: bool


def all_mounts(paths: Sequence[Path], options: RunOptions) -> list[Mount]:
    """What the container sees, folders before what is in them.

    A folder that can be written is a mount of its own inside the one that can only be read, under each name
    of that.

    Raises:
        TesseraError: as :func:`mounts`.
    """
    writes = [Path(os.path.abspath(path)) for path in options.writes]
    named = [(path, str(path)) for path in mounts([*paths, *writes])]
    named += [(Path(os.path.abspath(path)), name) for path, name in options.also]
    # Docker's `ro` does not reach a file system that is mounted in the checkout, so it gets its own.
    own = _mounted_below(repo_root())
    named += [
        (p, str(Path(name, p.relative_to(path)))) for path, name in named for p in own if path in p.parents
    ]
    inside = [folder for folder in writes if _is_in(folder, [repo_root()])]
    found = {}
    for path, name in named:  # a folder around the checkout gives no right in it
        found[name] = Mount(path, name, _is_in(path, inside if _is_in(path, [repo_root()]) else writes))
    for path, name in named:
        for folder in writes:
            if path in folder.parents:
                inner = str(Path(name, folder.relative_to(path)))
                found[inner] = Mount(folder, inner, True)
    if options.huge_pages and HUGE_PAGES.is_dir():
        found[str(HUGE_PAGES)] = Mount(HUGE_PAGES, str(HUGE_PAGES), True)
    return sorted(found.values(), key=lambda mount: len(Path(mount.name).parts))


def _mounted_below(folder: Path) -> list[Path]:
    """Where file systems are mounted in a folder of this machine."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    # The kernel writes a space in a name as \040.
    points = [
        Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), line.split()[4])) for line in lines
    ]
    return [point for point in points if folder in point.parents]


def _is_in(path: Path, folders: Sequence[Path]) -> bool:
    return any(path == folder or folder in path.parents for folder in folders)


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
        if not _is_in(absolute, found):
            found.append(absolute)
    return found


def caller_folder() -> list[Path]:
    """The current folder, for programs with relative paths; none if it can't be mounted."""
    here = Path.cwd()
    return [] if here in _IMAGE_FOLDERS or ":" in str(here) else [here]


def writable_of_caller(paths: Sequence[Path]) -> list[Path]:
    """Those of the caller's paths that his own program may write: not the checkout, nor what is around it."""
    root = repo_root()
    absolute = [Path(os.path.abspath(path)) for path in paths]
    return [path for path in absolute if not _is_in(path, [root]) and not _is_in(root, [path])]


def container_folder(mounted: Sequence[Path]) -> Path:
    """The current folder if the container can see it, else the checkout."""
    here = Path.cwd()
    return here if _is_in(here, mounted) else repo_root()


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

    Without ``paths`` only the checkout is visible. ``name`` is the name for ``docker kill``. The label says
    whose work it is, so that a later run can end what a killed one left. Docker keeps no log of what ``argv``
    prints: it would be written to disk as JSON, and deleted with the container. It asks no registry for an
    image.
    """
    options = options or RunOptions()
    command = [docker_client(), "run", "--rm", "--init", "--log-driver", "none", "--pull", "never"]
    command += ["--label", f"{MARK_LABEL}={work_mark(repo_root())}"]
    if name:
        command += ["--name", name]
    command += ["--user", f"{os.getuid()}:{os.getgid()}"]
    for mount in all_mounts(paths, options):
        command += ["--volume", f"{mount.path}:{mount.name}{'' if mount.writable else ':ro'}"]
    command += ["--workdir", str(container_folder(mounts([*paths, *options.writes])))]
    for key, value in (env or {}).items():
        command += ["--env", f"{key}={value}"]
    command += options.arguments()
    return [*command, image, *[os.fspath(argument) for argument in argv]]


# ``apptainer exec``: what ``docker run`` gives, where Apptainer can.
#
# The same: mounts at the same paths and nothing else of this machine, written only where an option allows
# it, the variables of the image and those given, a /tmp of its own, no network unless an option allows it, an
# init process that ends all programs. The same capabilities, too: root gets those that are asked for, an
# ordinary user none and no new privileges.
# Other than in docker: the rest of the image is read-only, there is no filter of system calls, no limit of
# processes (it needs a cgroup, which clusters give no user), no label (its programs are processes of the
# run), and limits but that of the stack are the caller's.
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

#: The stack of a recorded program. Its limit places the areas of memory; machines and shells have others.
STACK_BYTES = 8 << 20

#: Sets the soft limit that programs of docker have. QEMU's stack for the program follows the limit, so that
#: another one would change the addresses in a recording; clusters often set another one.
_STACK_LIMIT = ("prlimit", f"--stack={STACK_BYTES}:")

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
    bound = all_mounts(paths, options)
    _make_mount_points(workdir, bound)
    command = [*_STACK_LIMIT, apptainer_client(), "--quiet", "exec", *_CLOSED, "--workdir", str(workdir)]
    for mount in bound:
        command += ["--mount", _spelled(mount)]
    command += _permissions(options)
    variables = VARIABLES | dict(env or {})
    # Without --pwd Apptainer tries the home folder, which is not there. Newer versions call it --cwd, too.
    folder = container_folder(mounts([*paths, *options.writes]))
    command += ["--pwd", str(folder), str(image), "env", "-i"]
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
        words.append("--no-privs")
        if wanted := options.all_capabilities():
            words += ["--add-caps", ",".join(f"CAP_{name}" for name in sorted(wanted))]
    if options.hostname:
        words += ["--hostname", options.hostname]
    return words


def _spelled(mount: Mount) -> str:
    """A mount's fields as CSV: those with commas are quoted."""
    text = io.StringIO()
    fields = ["type=bind", f"source={mount.path}", f"destination={mount.name}"]
    csv.writer(text, lineterminator="").writerow(fields + ([] if mount.writable else ["ro"]))
    return text.getvalue()


def _make_mount_points(workdir: Path, bound: Sequence[Mount]) -> None:
    """Create what is mounted below /tmp: Apptainer makes no mount point in a folder of this machine."""
    for folder in _IN_WORKDIR.values():
        (workdir / folder).mkdir()
    for mount in bound:
        for parent, folder in _IN_WORKDIR.items():
            if parent in Path(mount.name).parents:
                point = workdir / folder / Path(mount.name).relative_to(parent)
                if mount.path.is_dir():
                    point.mkdir(parents=True, exist_ok=True)
                else:
                    point.parent.mkdir(parents=True, exist_ok=True)
                    point.touch()
