"""Run programs of the toolchain: in its Docker image, in its SIF file, or on this machine.

Contract of :class:`Toolchain`: ``argv`` names the same files on all engines; new files belong to the
caller, and in a container, ``RunOptions.writes`` names the folders for them; a program never outlives the
caller; ``describe()`` identifies the compilers and libraries for the provenance of results.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
import uuid
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container import engine
from tessera.machine.container.command import (
    RunOptions,
    apptainer_exec,
    clean_environment,
    container_folder,
    docker_run,
    mounts,
)
from tessera.machine.container.image_inputs import (
    kernel_tag,
    programs_tag,
    toolchain_tag,
    vips_tag,
    workloads_tag,
)
from tessera.machine.container.images import require_image
from tessera.machine.container.process import ApptainerProcess, ContainerProcess, HostProcess, stopped_at_exit
from tessera.machine.container.sif import require_sif, sif_path, sif_record
from tessera.machine.container.watchdog import watchdog
from tessera.machine.limits import memory_ran_out

Argv = Sequence[str | os.PathLike[str]]

#: For a tool of this machine to print its version.
VERSION_SECONDS = 60


class Toolchain(ABC):
    """Runs components; the contract is at the top of this file."""

    @abstractmethod
    def popen(
        self,
        argv: Argv,
        paths: Sequence[Path] = (),
        env: Mapping[str, str] | None = None,
        *,
        options: RunOptions | None = None,
        **keywords,
    ) -> subprocess.Popen:
        """Start ``argv``; ``keywords`` (stdout, stderr, text, ...) are ``subprocess.Popen``'s."""

    @abstractmethod
    def describe(self) -> dict[str, str]:
        """Engine and what it runs on: ``{"engine": ..., "image": ...}`` and the like."""

    def run(
        self,
        argv: Argv,
        paths: Sequence[Path] = (),
        env: Mapping[str, str] | None = None,
        capture: bool = False,
        check: bool = True,
        *,
        options: RunOptions | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run ``argv`` until it ends.

        Args:
            paths: files or folders outside the checkout that the program must see.
            env: variables for the program, added to the toolchain's own.
            capture: return standard output and error as text instead of passing them on.
            check: a status other than 0 is a :class:`TesseraError`.
            options: folders that it writes, network, capabilities, huge pages.

        Raises:
            TesseraError: the status, or the program was ended because it used no processor time
                (:mod:`tessera.machine.container.watchdog`; only with ``capture``).
        """
        pipe = subprocess.PIPE if capture else None
        process = self.popen(argv, paths, env, options=options, stdout=pipe, stderr=pipe, text=True)
        watched = watchdog(process, f"'{os.fspath(argv[0])}'") if capture else nullcontext()
        with stopped_at_exit(process), watched:
            out, err = process.communicate()
        if check and process.returncode != 0:
            raise _program_failed(argv, process.returncode, err)
        return subprocess.CompletedProcess(list(argv), process.returncode, out, err)


def _program_failed(argv: Argv, status: int, err: str | None) -> TesseraError:
    command = " ".join(os.fspath(argument) for argument in argv)
    if status == 137 or status == -9:
        found = f"the program was killed (status {status}), often because {memory_ran_out()}"
        remedy = "free memory or use a smaller size (./run doctor shows RAM)"
    elif status == 127:
        found = "the program was not found (status 127)"
        remedy = "build the components: ./run tessera dev build"
    else:
        found = f"the program exited with status {status}"
        remedy = "read its messages above"
    tail = "\n".join((err or "").strip().splitlines()[-10:])
    return TesseraError(f"'{command}'", found + (f":\n{tail}" if tail else ""), remedy, exit_code=EXIT_FAILED)


class DockerToolchain(Toolchain):
    """The toolchain image ``tag``; ``identity`` is its id, if another image may have the tag by now."""

    def __init__(self, tag: str, identity: str = ""):
        self.tag = tag
        self.image = identity or tag

    def popen(self, argv, paths=(), env=None, *, options=None, **keywords):
        name = f"tessera-{uuid.uuid4().hex[:12]}"
        command = docker_run(self.image, argv, paths=paths, env=env, options=options, name=name)
        keywords.setdefault("stdin", subprocess.DEVNULL)
        return ContainerProcess(command, name=name, **keywords)

    def describe(self) -> dict[str, str]:
        return {
            "engine": engine.DOCKER,
            "image": self.tag,
            "engine_version": engine.require_docker(),
        }


class ApptainerToolchain(Toolchain):
    """The image ``tag`` as a SIF file, without a daemon and without root."""

    def __init__(self, tag: str):
        self.tag = tag

    def popen(self, argv, paths=(), env=None, *, options=None, **keywords):
        workdir = Path(tempfile.mkdtemp(prefix="tessera-apptainer-"))
        try:
            command = apptainer_exec(
                sif_path(self.tag), argv, workdir=workdir, paths=paths, env=env, options=options
            )
            keywords.setdefault("stdin", subprocess.DEVNULL)
            process = ApptainerProcess(command, env=clean_environment(), **keywords)
        except BaseException:
            shutil.rmtree(workdir, ignore_errors=True)
            raise
        # When nobody needs the process any more, or this program ends.
        weakref.finalize(process, shutil.rmtree, workdir, ignore_errors=True)
        return process

    def describe(self) -> dict[str, str]:
        return {
            "engine": engine.APPTAINER,
            "image": self.tag,
            "sif_sha256": sif_record(self.tag)["sif_sha256"],
            "engine_version": engine.require_apptainer(),
        }


class HostToolchain(Toolchain):
    """The compilers and QEMU of this machine."""

    def popen(self, argv, paths=(), env=None, *, options=None, **keywords):
        keywords.setdefault("stdin", subprocess.DEVNULL)
        writes = options.writes if options else ()
        keywords.setdefault("cwd", container_folder(mounts([*paths, *writes])))
        return HostProcess(
            [os.fspath(argument) for argument in argv],
            env=os.environ | dict(env or {}),
            **keywords,
        )

    def describe(self) -> dict[str, str]:
        return {
            "engine": engine.NONE,
            "compiler": _first_line(["g++", "--version"]),
            "qemu": _first_line(["qemu-x86_64", "--version"]),
            "libc": _first_line(["ldd", "--version"]),
        }


@functools.cache
def toolchain() -> Toolchain:
    """The toolchain of ``$TESSERA_ENGINE``; raises an error if it is not usable."""
    return _in_image(toolchain_tag)


def programs_toolchain() -> Toolchain:
    """Where the well-known programs are: their own image, or this machine."""
    return _in_image(programs_tag)


def workloads_toolchain() -> Toolchain:
    """Where Debian's own programs that serve as workloads are: their image, or this machine."""
    return _in_image(workloads_tag)


def vips_toolchain() -> Toolchain:
    """Where Debian's vips is: its own image, or this machine."""
    return _in_image(vips_tag)


def kernel_toolchain() -> Toolchain:
    """Where the kernel is built and booted: its own image, or this machine."""
    return _in_image(kernel_tag)


def _in_image(tag: Callable[[], str]) -> Toolchain:
    """The image with this tag, or this machine with engine none, which needs no tag."""
    chosen = engine.container_engine_name()
    if chosen == engine.NONE:
        return HostToolchain()
    if chosen == engine.APPTAINER:
        return ApptainerToolchain(require_sif(tag()))
    return DockerToolchain(tag(), require_image(tag()))


def _first_line(argv: list[str]) -> str:
    """First line of a version message; ``not installed`` if there is no such program."""
    try:
        answer = subprocess.run(
            argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=VERSION_SECONDS
        )
    except FileNotFoundError:
        return "not installed"
    except subprocess.TimeoutExpired:
        raise TesseraError(
            f"'{' '.join(argv)}'",
            f"it gave no answer within {VERSION_SECONDS} s",
            "run it by hand; results record the versions of this machine's tools",
            exit_code=EXIT_FAILED,
        ) from None
    return (answer.stdout or answer.stderr).splitlines()[0]
