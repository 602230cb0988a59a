"""Recordings must repeat: the same program on the same inputs in the same image gives the same trace.

``build/recordings/<key>.json`` keeps the SHA-256 of a trace for each key. The key is the hash of program,
libraries of the recording, image, arguments as the program sees them, variables, inputs and limits.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import sha256_of, write_text
from tessera.core.paths import built, repo_root
from tessera.machine.container import engine
from tessera.machine.container.image_inputs import toolchain_tag, vips_tag, workloads_tag
from tessera.machine.fixed_names import FixedNames
from tessera.record.workloads import Size, prepared
from tessera.record.workloads.run import HOST, VIPS, WORKLOADS, Run

#: Why two recordings may differ; such rows are not compared. docs/trace.md has the list for readers.
SERVER, THREADS = "a client's timing decides the order of requests", "threads run at the host's pace"
SCRIPT, NO_CONTAINER = (
    "a script starts the program",
    "the program sees the paths and variables of this machine",
)


def exception(run: Run) -> str:
    """Why this run's recordings need not repeat; empty if they must."""
    if run.companion is not None:
        return SERVER
    if run.threads:
        return THREADS
    if run.target is not None:
        return SCRIPT
    return NO_CONTAINER if engine.engine_name() == engine.NONE or run.image == HOST else ""


def key(run: Run, size: Size, max_accesses: int | None, folder: Path) -> str:
    """Hash of all that decides the trace of ``run``, whose inputs are in ``folder`` and ``run.paths``."""
    names = FixedNames.of(repo_root(), folder.parent / "no-scratch", run.folder, [folder, *run.paths])
    parts = {
        "program": sha256_of(Path(run.argv[0])) if Path(run.argv[0]).is_file() else run.argv[0],
        "libraries": [
            sha256_of(built("tracer", "libtessera-trace.so")),
            sha256_of(built("mosalloc", "libmosalloc.so")),
        ],
        "image": {WORKLOADS: workloads_tag, VIPS: vips_tag}.get(run.image, toolchain_tag)(),
        "arguments": names.words(list(run.argv)),
        "variables": sorted((name, names.text(value)) for name, value in run.environment.items()),
        "region": [
            run.roi,
            max_accesses,
            size.heap_pool,
            size.anon_pool,
            size.windows,
            size.region_accesses,
            size.window_span,
        ],
        "made": [(p.name, sha256_of(p)) for p in sorted(folder.glob("*")) if p.is_file()],
        "given": [(p.name, _given(p)) for p in run.paths if p.is_file()],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _given(path: Path) -> str | int:
    """What is known of an input of the user's or a prepared one without reading gigabytes again."""
    beside = prepared.note(path)
    return json.loads(beside.read_text())["sha256"] if beside.exists() else path.stat().st_size


def compare(name: str, key: str, trace: str, known: Path | None = None) -> str:
    """``first`` if no recording has this key (kept from now on), or ``same``.

    Args:
        name: the workload's.
        trace: SHA-256 of its trace.
        known: folder of the table; ``build/recordings`` by default.

    Raises:
        TesseraError: a recording with this key had another trace; ``code`` is ``trace-differs``.
    """
    file = (known or repo_root() / "build" / "recordings") / f"{key}.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps({"workload": name, "trace": trace}) + "\n")
        return "first"
    before = json.loads(file.read_text())["trace"]
    if before == trace:
        return "same"
    raise TesseraError(
        f"recording {name}",
        f"its trace has SHA-256 {trace[:16]}..., the same program, image and inputs gave {before[:16]}...",
        "record it again; if it differs again, the program reads a clock or random bytes: docs/trace.md, "
        f"'Recordings that repeat'; to accept the new trace, delete {file}",
        exit_code=EXIT_FAILED,
        code="trace-differs",
    )
