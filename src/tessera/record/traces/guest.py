"""QEMU's command line for one recording.

The program inherits QEMU's environment, except LD_PRELOAD, which would put libmosalloc into QEMU and so
goes through ``-E``. (QEMU splits the values of ``-E`` and ``-plugin`` at commas: nothing else goes there.)
Addresses depend on the stack's content, so the random seed is fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.paths import built
from tessera.core.units import MB
from tessera.layouts.model import Layout, write_layout
from tessera.layouts.names import ALL_4KB
from tessera.machine.preload import preloadable

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
class Guest:
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
        """The argument list up to the program's own ``argv[0]``, path and arguments."""
        plugin = built("tracer", "libtessera-trace.so")
        library = built("mosalloc", "libmosalloc-events.so" if self.events else "libmosalloc.so")
        for path in (plugin, library, self.settings):
            if "," in str(path):
                raise TesseraError(
                    f"path {path}", "QEMU splits its options at commas", "use a path without one"
                )
        command = [QEMU, "-cpu", CPU, "-seed", "1", "-r", KERNEL_RELEASE]
        command += ["-plugin", f"{plugin},settings={self.settings}"]
        if self.sysroot:
            command += ["-L", str(self.sysroot)]
        return [*command, "-E", f"LD_PRELOAD={self.preload(library)}", "-0"]

    def command(self) -> list[str]:
        """The whole argument list."""
        return [*self.qemu_words(), self.arguments[0], str(self.program), *self.arguments[1:]]
