"""Basic-block vectors: intervals of a trace and what they execute, by ``tessera-sim blocks``."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.files import with_names
from tessera.core.paths import built
from tessera.machine.container import toolchain
from tessera.simulate.process import died


@dataclass(frozen=True)
class BlockVectors:
    """n intervals that abut and cover a trace: ``start_access``, ``instructions``, ``accesses`` (n,).

    ``vectors`` (n, blocks): instructions that each static block executed in each interval.
    """

    start_access: np.ndarray
    instructions: np.ndarray
    accesses: np.ndarray
    vectors: np.ndarray

    def __len__(self) -> int:
        return len(self.start_access)


def parse(table: pd.DataFrame) -> BlockVectors:
    """The long table that ``tessera-sim blocks`` writes."""
    wide = table.pivot(index="interval", columns="block", values="executed_instructions").fillna(0)
    heads = table.drop_duplicates("interval").set_index("interval").loc[wide.index]
    return BlockVectors(
        heads["start_access"].to_numpy(),
        heads["instructions"].to_numpy(),
        heads["accesses"].to_numpy(),
        wide.to_numpy(dtype=float),
    )


def block_vectors(trace: Path, instructions: int) -> BlockVectors:
    """Vectors of ``trace`` by intervals of ``instructions``; the last interval is what is left."""
    with tempfile.TemporaryDirectory(prefix="tessera-blocks-") as name:
        out = Path(name) / "blocks.csv"
        argv = [built("simulator", "tessera-sim"), "blocks", "--trace", trace.resolve()]
        argv += ["--instructions", instructions, "--out", out]
        done = toolchain().run(
            [str(a) for a in argv], paths=[trace.resolve(), out.parent], capture=True, check=False
        )
        if done.returncode:
            raise died(done.returncode, with_names(done.stderr, {f"{out.parent}/": ""}))
        return parse(pd.read_csv(out))
