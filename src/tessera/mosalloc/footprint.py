"""How much memory a program needs: one run under libmosalloc with 4KB pages, on this machine."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera import mosalloc
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import with_names
from tessera.core.units import GB, MB, format_bytes
from tessera.layouts.model import Layout, write_layout
from tessera.layouts.names import ALL_4KB
from tessera.mosalloc import runner

#: Address space only: pages that the program doesn't touch cost nothing.
ROOM_BYTES = 64 * GB


@dataclass(frozen=True)
class Memory:
    """High-water marks of the two pools (bytes)."""

    heap: int
    anon: int

    @property
    def footprint(self) -> int:
        """The program's largest memory use, without its files, stacks and code."""
        return self.heap + self.anon

    def pools(self) -> tuple[int, int]:
        """Sizes of heap and anonymous pool for it: an eighth more, in whole GB so that a 1GB page fits."""
        return _whole_gb(self.heap), _whole_gb(self.anon)


def measure_footprint(
    argv: Sequence[str], *, cwd: Path, target: str | None = None, env: Mapping[str, str] | None = None
) -> Memory:
    """Run ``argv`` once; ``target`` is the executable to look at when ``argv`` is a script that starts it.

    Raises:
        TesseraError: libmosalloc can't work in the program, the program failed, or it used no pool memory.
    """
    said = f"'{' '.join(argv)}'"
    with tempfile.TemporaryDirectory(prefix="tessera-measure-") as name:
        layout, report = Path(name) / "growing-0.csv", Path(name) / "report.json"
        write_layout(Layout(ALL_4KB, {"brk": ROOM_BYTES, "mmap": ROOM_BYTES}), layout)
        whole = os.environ | dict(env or {})
        done = runner.run_under_layout(
            argv, layout, env=whole, capture=True, cwd=cwd, report=report, target=target
        )
        if done.returncode != 0:
            message = with_names(done.stderr or done.stdout, {layout: "the layout of 4KB pages"})
            tail = "\n".join(message.strip().splitlines()[-5:])
            raise TesseraError(
                f"measuring {said}",
                f"the program exited with status {done.returncode}" + (f":\n{tail}" if tail else ""),
                "run it by hand until it succeeds, then add it as a workload",
                exit_code=EXIT_FAILED,
            )
        used = mosalloc.read_report(report).used_bytes
    found = Memory(used.get("brk", 0), used.get("mmap", 0))
    if found.footprint == 0:
        of = f" of {target}" if target else ""
        raise TesseraError(
            f"measuring {said}",
            f"the program used no memory{of} in libmosalloc's pools",
            "give the executable itself; for a script, give the program that it starts with --target",
            exit_code=EXIT_FAILED,
        )
    if max(found.pools()) > ROOM_BYTES:
        raise TesseraError(
            f"measuring {said}",
            f"the program used {format_bytes(found.footprint)}; pools of traced programs have at most 64GB",
            "give the program a smaller input",
        )
    return found


def _whole_gb(used: int) -> int:
    return max(1, -(-(used + used // 8 + 16 * MB) // GB)) * GB
