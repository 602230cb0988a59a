"""A workload that is ready to run in the guest: its files, the kernel and the tools, for several runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tessera.kernel import image
from tessera.kernel.guest import GuestProgram
from tessera.machine.container.toolchain import Toolchain, toolchain
from tessera.numa.guest_map import Mapped, capture, staged
from tessera.record import workloads
from tessera.record.workloads.model import Size
from tessera.record.workloads.run import Run


@dataclass(frozen=True)
class Guest:
    """What a run in the guest needs.

    Attributes:
        workload, label: its name and size.
        run, size: how the workload starts, and what it needs.
        files: of the guest, with the program and its libraries.
        tools, program: the emulator, and the kernel with its first file system.
        timeout_seconds: of one run.
    """

    workload: str
    label: str
    run: Run
    size: Size
    files: dict[str, bytes]
    tools: Toolchain
    program: GuestProgram
    timeout_seconds: float = 900

    def map(self, rule: str, out: Path, **options) -> Mapped:
        """The map under a rule; ``options`` are those of :func:`tessera.numa.guest_map.capture`."""
        return capture(
            self.tools, self.program, self.run, rule, self.files, out,
            timeout_seconds=self.timeout_seconds, **options,
        )  # fmt: skip


def ready(
    workload: str,
    label: str,
    inputs: Path,
    say: Callable[[str], None],
    *,
    accept_series: bool = False,
    timeout_seconds: float = 900,
) -> Guest:
    """Build the kernel if need be; ``inputs`` is a folder for files that the workload reads.

    Raises:
        TesseraError: an unknown workload, one that the guest cannot run, or a component that is not built.
    """
    one = workloads.load(workload)
    run, size = workloads.prepare(one, label, inputs), one.size(label)
    files = staged(run, size, toolchain())
    program = image.program("checked", say, accept_series=accept_series)
    return Guest(workload, label, run, size, files, image.ready(say), program, timeout_seconds)
