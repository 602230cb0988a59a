"""Record one workload's trace; a failure becomes part of info.json."""

from __future__ import annotations

import json
from pathlib import Path

from tessera import traces, workloads
from tessera.errors import TesseraError

TRACE_NAME = "trace.tst"


def record_workload(name: str, size: str, max_accesses: int | None, out: Path) -> dict:
    """Record ``trace.tst`` beside ``out`` and write ``out`` (info.json).

    The file holds ``tessera.traces.info`` plus ``workload, size, status`` (``ok`` or ``failed``),
    ``message`` and ``result``, the workload's own JSON line. A recording that failed leaves no trace.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    trace = out.with_name(TRACE_NAME)
    info: dict = {"workload": name, "size": size, "status": "ok", "message": ""}
    try:
        workload = workloads.load(name)
        chosen = workload.size(size)
        done = traces.record(
            workload.command(size),
            out=trace,
            heap_pool=chosen.heap_pool,
            anon_pool=chosen.anon_pool,
            max_accesses=max_accesses,
        )
        info["result"] = json.loads(done.stdout.strip().splitlines()[-1])
        info |= traces.info(trace)
    except TesseraError as error:
        trace.unlink(missing_ok=True)
        info |= {"status": "failed", "message": f"{error.asked}: {error.found}; {error.remedy}"}
    out.write_text(json.dumps(info, indent=1, sort_keys=True) + "\n")
    return info


def recorded(info_path: Path) -> tuple[dict, Path]:
    """The info of a recording and the path of its trace."""
    return json.loads(info_path.read_text()), info_path.with_name(TRACE_NAME)
