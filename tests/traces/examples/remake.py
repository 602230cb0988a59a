"""Record phases.c again: the example of a trace with events.

    PYTHONPATH=src python tests/traces/examples/remake.py

The program sees fixed names, so the trace does not depend on this folder. It does depend on the C library and
the compiler of the toolchain image; the events in the pools do not.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tessera.machine.container import RunOptions, toolchain
from tessera.record import traces

HERE = Path(__file__).resolve().parent
TRACE = HERE / "phases.tst"
#: Size and content of the file that the program maps.
FILE_BYTES, FILE_BYTE = 256 << 10, b"x"


def record(folder: Path, out: Path) -> traces.Recorded:
    """Compile phases.c in ``folder`` and record it to ``out``."""
    program, data = folder / "phases", folder / "phases.bin"
    data.write_bytes(FILE_BYTE * FILE_BYTES)
    source = HERE / "phases.c"
    argv = ["gcc", "-O1", str(source), "-o", str(program)]
    toolchain().run(argv, paths=[HERE], options=RunOptions(writes=(folder,)))
    return traces.record_program(
        [program, data],
        out,
        roi="whole",
        kernel_accesses=True,
        events=True,
        fixed_names=True,
        paths=[folder],
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        record(Path(name), TRACE)
    print(traces.trace_info(TRACE))
