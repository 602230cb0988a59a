"""Run ``tessera-faults``, the program that touches memory with the clock around."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tessera.core.paths import built
from tessera.faults.kinds import Kind
from tessera.faults.series import Series, judged, read_cycles
from tessera.machine.container.build import Say, build
from tessera.machine.container.toolchain import Toolchain, toolchain

COMPONENT = "faults"


@dataclass(frozen=True)
class Plan:
    """How a kind is measured.

    Attributes:
        bytes_: memory of a pass, a multiple of 2MB.
        passes: all passes; the first ``warmup`` do not count.
        processor: where the program runs.
    """

    bytes_: int
    passes: int
    warmup: int
    processor: int


def ready(say: Say) -> Toolchain:
    """The tools, with the program built."""
    build(COMPONENT, say)
    return toolchain()


def measured(tools: Toolchain, kind: Kind, plan: Plan, keep: Path | None = None) -> Series:
    """The passes of a kind.

    Args:
        keep: folder for ``<kind>.csv``, the latency of every touch.

    Raises:
        TesseraError: the program failed; its message says why.
    """
    with tempfile.TemporaryDirectory(prefix="tessera-faults-") as temporary:
        out = Path(temporary) / f"{kind.name}.csv"
        command = [built(COMPONENT, "tessera-faults"), "--kind", kind.name, "--out", out]
        command += ["--size", str(plan.bytes_), "--passes", str(plan.passes)]
        command += ["--processor", str(plan.processor), "--folder", temporary]
        said = json.loads(tools.run(command, [Path(temporary)], capture=True).stdout)
        cycles = read_cycles(out, plan.passes, said["touches"])
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(out, keep / out.name)
    return judged(kind, cycles, said["passes"], said["tsc_hertz"], said["clock_cycles"], plan.warmup)
