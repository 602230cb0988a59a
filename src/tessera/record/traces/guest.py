"""The recorded program under QEMU: the command line, the copy of its libraries, and where it is started."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built, repo_root
from tessera.core.layouts.layout import ALL_4KB, Layout, write_layout
from tessera.core.units import MB
from tessera.machine.container import toolchain
from tessera.machine.container.command import STACK_BYTES
from tessera.machine.container.toolchain import HostToolchain, Toolchain
from tessera.machine.program_paths import preloadable

# QEMU's command line for one recording.
#
# The program inherits QEMU's environment, except LD_PRELOAD, which would put libmosalloc into QEMU and so
# goes through ``-E``. (QEMU splits the values of ``-E`` and ``-plugin`` at commas: nothing else goes there.)
# Addresses depend on the stack's content, so the random seed is fixed.

QEMU = "qemu-x86_64"

#: QEMU pays for each reserved page, and mappings of files that don't fit go to the kernel as ever.
FILE_POOL_BYTES = 64 * MB

#: ``max`` has AVX2 (the workloads are built for x86-64-v3); QEMU 7.2 emulates nothing newer.
CPU = "max"

#: What ``uname`` says; the C library reads it, and without the option it is this machine's kernel.
KERNEL_RELEASE = "6.1.0"

#: QEMU has no AVX-512, so a real run must not pick glibc's AVX-512 routines if it is to run the same code.
PINNED_TUNABLES = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD"


@dataclass(frozen=True)
class TracedProgram:
    """A program under QEMU with the tracing plugin and libmosalloc.

    Attributes:
        program: path of the executable that QEMU loads.
        arguments: ``argv`` of the program, ``argv[0]`` included.
        folder: for settings, layout and pool map; it must be visible to QEMU.
        sysroot: prefix of the program's libraries, None to use those beside QEMU.
        variables: further environment of the program.
        events: preload the libmosalloc that tells the plugin of the program's calls.
        preload: gives the path of a library that LD_PRELOAD can hold where QEMU runs.
    """

    program: Path
    arguments: list[str]
    folder: Path
    heap_pool_bytes: int
    anon_pool_bytes: int
    sysroot: Path | None = None
    variables: dict[str, str] = field(default_factory=dict)
    events: bool = False
    preload: Callable[[Path], Path | str] = preloadable

    @property
    def pool_map(self) -> Path:
        """The file in which libmosalloc writes the use of its pools."""
        return self.folder / "pool-map"

    @property
    def settings(self) -> Path:
        """The plugin's settings file."""
        return self.folder / "settings"

    def write_files(self, settings: dict[str, object]) -> None:
        """Write the plugin's settings and a layout with 4KB pages only."""
        lines = {"pool_map": self.pool_map, **settings}
        self.settings.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        pools = {"brk": self.heap_pool_bytes, "mmap": self.anon_pool_bytes, "file": FILE_POOL_BYTES}
        write_layout(Layout(ALL_4KB, pools), self.folder / "growing-0.csv")

    def environment(self) -> dict[str, str]:
        """Environment of QEMU and the program: its size places the stack, so a new variable moves addresses.

        With a pool map, without MOSALLOC_RESERVATIONS, the library refuses reservations that no pool holds.
        """
        ours = {
            "MOSALLOC_LAYOUT": self.folder / "growing-0.csv",
            "MOSALLOC_TARGET": self.program,
            "MOSALLOC_POOL_MAP": self.pool_map,
            "GLIBC_TUNABLES": PINNED_TUNABLES,
        }
        return self.variables | {name: str(value) for name, value in ours.items()}

    def qemu_words(self) -> list[str]:
        """The argument list up to the program's own ``argv[0]``, path and arguments.

        ``prlimit`` becomes QEMU, so the process keeps its number.
        """
        plugin = built("tracer", "libtessera-trace.so")
        library = built("mosalloc", "libmosalloc-events.so" if self.events else "libmosalloc.so")
        for path in (plugin, library, self.settings):
            if "," in str(path):
                raise TesseraError(
                    f"path {path}", "QEMU splits its options at commas", "use a path without one"
                )
        command = ["prlimit", f"--stack={STACK_BYTES}:{STACK_BYTES}"]
        command += [QEMU, "-cpu", CPU, "-seed", "1", "-r", KERNEL_RELEASE]
        command += ["-plugin", f"{plugin},settings={self.settings}"]
        if self.sysroot:
            command += ["-L", str(self.sysroot)]
        return [*command, "-E", f"LD_PRELOAD={self.preload(library)}", "-0"]

    def command(self) -> list[str]:
        """The whole argument list."""
        return [*self.qemu_words(), self.arguments[0], str(self.program), *self.arguments[1:]]


# A program of this machine, and its shared libraries, where QEMU in the image can load them.
#
# The image's libraries may be older than this machine's, so the program takes its own along. Not
# supported: libraries and data that the program opens while it runs (dlopen, /etc, /usr/share) and that
# the image lacks; scripts; other architectures.


LDD_SECONDS = 60


def libraries_of(program: Path) -> list[Path]:
    """Shared libraries and the dynamic linker of ``program``, as this machine's linker finds them."""
    try:
        answer = subprocess.run(["ldd", program], capture_output=True, text=True, timeout=LDD_SECONDS)
    except subprocess.TimeoutExpired:  # the program's own loader runs
        raise TesseraError(
            f"record {program}",
            f"ldd gave no answer within {LDD_SECONDS} s",
            f"run it by hand: ldd {shlex.quote(str(program))}",
            exit_code=EXIT_FAILED,
        ) from None
    if answer.returncode != 0:
        raise TesseraError(
            f"record {program}",
            f"ldd says: {(answer.stderr or answer.stdout).strip()}",
            "give a dynamically linked x86-64 program, so that libmosalloc can be preloaded",
            code="not-dynamic",
        )
    return [Path(name) for name in dict.fromkeys(ldd_paths(answer.stdout))]


def ldd_paths(said: str) -> list[str]:
    """Files that ldd names: ``name => /path (0x...)``, or ``/path (0x...)`` for the linker itself."""
    return re.findall(r"(?:^\s+|=> )(/.+?)(?= \(0x[0-9a-f]+\)$)", said, re.MULTILINE)


def stage_program(program: Path, folder: Path) -> Path:
    """Copy ``program`` and its libraries below ``folder``; returns the program's copy."""
    for original in [program, *libraries_of(program)]:
        copy = folder / original.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(original.resolve(), copy)
    return folder / program.relative_to("/")


# Find a recorded program and start it: directly, in an image, or from a script.


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

    def guest(self, argv: list[str], folder: Path, pools: dict[str, int]) -> TracedProgram:
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
            return TracedProgram(self._in_image(name), argv, folder, **pools)
        program = _executable(name)
        _refuse_sanitizers(program)
        if on_host or program.resolve().is_relative_to(repo_root()):
            return TracedProgram(program.resolve(), argv, folder, **pools)
        sysroot = folder / "sysroot"
        return TracedProgram(stage_program(program, sysroot), argv, folder, **pools, sysroot=sysroot)

    def command(self, guest: TracedProgram, argv: list[str]) -> list[str]:
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
            ["sh", "-c", 'command -v -- "$1"', "sh", name], capture=True, check=False
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
            "build the launcher again: ./run tessera dev build mosalloc",
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
