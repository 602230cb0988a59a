"""A trace file of :class:`tessera.numa.gups.Gups`, and the layouts of its pool.

The records go through a pipe to ``tessera-trace import-champsim``, which writes the trace. On disk they would
take 768 bytes an update. The file depends on size, updates and seed only.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import check_target
from tessera.core.paths import built
from tessera.layouts.model import Layout, Window, write_layout
from tessera.machine.container import toolchain
from tessera.numa.gups import BASE, GB, Gups

POOL = "mmap"
LAYOUTS = {"4kb": 4096, "2mb": 2 << 20}  #: name -> page size, bytes


def write_trace(gups: Gups, out: Path) -> Path:
    """Write the trace to ``out``; returns its absolute path.

    Raises:
        TesseraError: ``out`` cannot be written, or the importer failed.
    """
    tool, target = built("tracer", "tessera-trace"), check_target(out).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".gups-", dir=target.parent) as name:
        pipe, made = Path(name) / "records", Path(name) / "trace.tst"
        os.mkfifo(pipe)
        feeder = threading.Thread(target=_feed, args=(gups, pipe), daemon=True)
        feeder.start()
        argv = [tool, "import-champsim", pipe, made, "--mmap-pool", f"{BASE:#x}:{BASE + gups.table_bytes:#x}"]
        argv += ["--program", f"synthetic gups --mode update --size {gups.gb}GB --reads {gups.updates} "
                 f"--seed {gups.seed}"]  # fmt: skip
        done = toolchain().run([str(word) for word in argv], paths=[target.parent], capture=True, check=False)
        with contextlib.suppress(OSError):  # if the importer failed before it opened the pipe
            os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        feeder.join(timeout=60)
        if done.returncode:
            raise TesseraError(
                f"write the trace {target}",
                (done.stderr or f"status {done.returncode}").strip(),
                "free disk space, or build the tracer again: ./run tessera build tracer",
                exit_code=EXIT_FAILED,
            )
        made.replace(target)
    return target


def _feed(gups: Gups, pipe: Path) -> None:
    with contextlib.suppress(BrokenPipeError), pipe.open("wb") as sink:  # the importer says why it stopped
        for block in gups.records():
            sink.write(block.tobytes())


def write_layouts(gups: Gups, folder: Path) -> list[Path]:
    """Write ``4kb.csv`` and ``2mb.csv``: the whole table in pages of one size."""
    made = []
    for name, page_bytes in LAYOUTS.items():
        whole = (Window(POOL, 0, gups.table_bytes, page_bytes),) if page_bytes > 4096 else ()
        made.append(folder / f"{name}.csv")
        write_layout(Layout(name, {POOL: gups.gb * GB}, whole), made[-1])
    return made
