"""Run programs of the toolchain: in its image, or on this machine.

:mod:`interface` has the contract. Engine apptainer is in :mod:`apptainer_toolchain`.
"""

from __future__ import annotations

import functools
import os
import subprocess
import uuid
from collections.abc import Callable

from tessera.machine.container import engine
from tessera.machine.container.apptainer_toolchain import ApptainerToolchain
from tessera.machine.container.command import docker_run, mounts, working_folder
from tessera.machine.container.image_inputs import (
    kernel_tag,
    programs_tag,
    toolchain_tag,
    vips_tag,
    workloads_tag,
)
from tessera.machine.container.images import require_image
from tessera.machine.container.interface import Toolchain
from tessera.machine.container.process import ContainerProcess, HostProcess
from tessera.machine.container.sif import require_sif


class DockerToolchain(Toolchain):
    """The toolchain image ``tag``."""

    def __init__(self, tag: str):
        self.tag = tag

    def popen(self, argv, paths=(), env=None, *, options=None, **keywords):
        name = f"tessera-{uuid.uuid4().hex[:12]}"
        command = docker_run(self.tag, argv, paths=paths, env=env, options=options, name=name)
        keywords.setdefault("stdin", subprocess.DEVNULL)
        return ContainerProcess(command, name=name, **keywords)

    def describe(self) -> dict[str, str]:
        return {
            "engine": engine.DOCKER,
            "image": self.tag,
            "engine_version": engine.require_docker(),
        }


class HostToolchain(Toolchain):
    """The compilers and QEMU of this machine."""

    def popen(self, argv, paths=(), env=None, *, options=None, **keywords):
        keywords.setdefault("stdin", subprocess.DEVNULL)
        keywords.setdefault("cwd", working_folder(mounts(paths)))
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
    chosen = engine.engine_name()
    if chosen == engine.NONE:
        return HostToolchain()
    if chosen == engine.APPTAINER:
        return ApptainerToolchain(require_sif(tag()))
    return DockerToolchain(require_image(tag()))


def _first_line(argv: list[str]) -> str:
    """First line of a version message; ``not installed`` if there is no such program."""
    try:
        answer = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        return "not installed"
    return (answer.stdout or answer.stderr).splitlines()[0]
