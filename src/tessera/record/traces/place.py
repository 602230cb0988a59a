"""Find a recorded program and start it: directly, in an image, or from a script."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import built, repo_root
from tessera.machine.container import toolchain
from tessera.machine.container.toolchain import HostToolchain, Toolchain
from tessera.record.traces.guest import QEMU, Guest
from tessera.record.traces.sysroot import stage


@dataclass(frozen=True)
class Place:
    """Where and how ``argv`` runs.

    Attributes:
        where: image that has the program under its own path; None for this machine's programs, which go
            into the toolchain with their libraries.
        folder: the program's working folder; None for the caller's.
        target: the executable to record when ``argv`` starts a script; None for ``argv[0]``.
    """

    where: Toolchain | None = None
    folder: Path | None = None
    target: str | None = None

    @property
    def engine(self) -> Toolchain:
        """The engine that runs the program."""
        return self.where or toolchain()

    def guest(self, argv: list[str], folder: Path, pools: dict[str, int]) -> Guest:
        """The program that QEMU loads, staged below ``folder`` if it must be.

        Raises:
            TesseraError: there is no such program, it has a sanitizer, or there is no QEMU.
        """
        on_host = isinstance(self.engine, HostToolchain)
        if on_host and shutil.which(QEMU) is None:
            raise TesseraError(
                f"record {argv[0]}", f"{QEMU} is not installed", "install the package qemu-user"
            )
        name = self.target or argv[0]
        if self.where is not None and not on_host and self.target is None:
            return Guest(self._in_image(name), argv, folder, **pools)
        program = _executable(name)
        _refuse_sanitizers(program)
        if on_host or program.resolve().is_relative_to(repo_root()):
            return Guest(program.resolve(), argv, folder, **pools)
        sysroot = folder / "sysroot"
        return Guest(stage(program, sysroot), argv, folder, **pools, sysroot=sysroot)

    def command(self, guest: Guest, argv: list[str]) -> list[str]:
        """The whole argument list: QEMU, or the script with the library that starts QEMU for the target."""
        command = guest.command()
        if self.target is not None:
            library, launch = built("tracer", "libtessera-trace-launch.so"), guest.folder / "launch"
            words = [str(_executable(self.target)), str(guest.program), *guest.qemu_words()]
            launch.write_text("".join(f"{word}\n" for word in words))
            command = ["env", f"LD_PRELOAD={guest.preload(library)}", f"TESSERA_LAUNCH={launch}", *argv]
        if self.folder is None:
            return command
        return ["env", "-C", str(self.folder), *command]

    def _in_image(self, name: str) -> Path:
        found = self.engine.run(
            ["sh", "-c", f"command -v {name!r}"], capture=True, check=False
        ).stdout.strip()
        if not found.startswith("/"):
            raise TesseraError(
                f"record '{name}'",
                f"the image {self.engine.describe().get('image', '')} does not contain this program",
                "add its package to the Dockerfile of this image in docker/, then build the image again",
                code="program-not-in-image",
            )
        return Path(found)


def _refuse_sanitizers(program: Path) -> None:
    """Raise if a sanitizer replaces malloc: it ends or hangs the program, or leaves the pools empty."""
    argv = [built("mosalloc", "mosalloc-run"), "--sanitizer", program]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        raise TesseraError(
            f"check of '{program}' by {argv[0]}",
            f"status {done.returncode}: {done.stderr.strip()}",
            "build the launcher again: ./run tessera build mosalloc",
            exit_code=EXIT_FAILED,
        )
    if found := done.stdout.strip():
        raise TesseraError(
            f"record '{program}'",
            f"it is built with {found}, whose allocator replaces malloc, so its memory would lie in no pool",
            "build it without this -fsanitize; -fsanitize=undefined alone can be recorded",
            code="sanitizer",
        )


def _executable(name: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise TesseraError(
            f"record '{name}'",
            "this program was not found",
            "give the path of the program, or a name that is on $PATH",
            code="program-not-found",
        )
    return Path(found).absolute()
