"""``tessera-os``: a trace under a scenario, and what its log says."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.files import check_target, with_names
from tessera.core.paths import built
from tessera.machine.container import toolchain
from tessera.scenarios.model import Scenario

#: Tables of ``tessera os show --csv`` (docs/os.md).
TABLES = ("records", "faults", "kinds", "sizes", "areas", "chunks")


def run(trace: Path, scenario: Scenario, out: Path) -> str:
    """Write the log of a trace under a scenario; returns the summary that tessera-os prints.

    The log is complete or absent: it is written beside ``out`` and renamed at the end.

    Raises:
        TesseraError: no events in the trace, out of memory, a call that is not modelled (docs/os.md).
    """
    target = check_target(out)
    if target == trace.resolve():
        raise TesseraError(f"--out {out}", "this is the trace", "name another file")
    target.parent.mkdir(parents=True, exist_ok=True)  # a container sees only folders that exist
    with tempfile.TemporaryDirectory(prefix="tessera-os-") as name:
        flat = Path(name) / "scenario.txt"
        flat.write_text(scenario.flat())
        words = ["run", "--trace", trace.resolve(), "--scenario", flat, "--out", target]
        names = {flat: scenario.name, target: out, trace.resolve(): trace}
        return _tessera_os(words, [trace.resolve(), flat.parent, target.parent], names)


def show(log: Path, table: str | None = None) -> str:
    """The summary of a log, or one of :data:`TABLES` as CSV.

    Raises:
        TesseraError: an unknown table, or a file that is no complete log.
    """
    if table is not None and table not in TABLES:
        raise unknown_name("table", table, TABLES)
    words = ["show", log.resolve(), *([] if table is None else ["--csv", table])]
    return _tessera_os(words, [log.resolve()], {log.resolve(): log})


def _tessera_os(words: list, paths: list[Path], names: dict) -> str:
    program = built("imitation", "tessera-os")
    argv = [str(word) for word in (program, *words)]
    done = toolchain().run(argv, paths=paths, capture=True, check=False)
    if done.returncode:
        raise _failure(done.returncode, with_names(done.stderr, names))
    return done.stdout


def _failure(status: int, errors: str) -> TesseraError:
    lines = [line for line in errors.splitlines() if not line.startswith("progress ")]
    text = "\n".join(lines).strip().removeprefix("tessera-os: ")
    asked, found, remedy = "tessera-os", text or f"it ended with status {status}", "see above"
    if "\n  what to do: " in text:
        found, _, remedy = text.rpartition("\n  what to do: ")
        head, _, tail = found.rpartition(": ")
        asked, found = (head, tail) if head else (asked, found)
    code = found[found.rfind("[") + 1 : -1] if found.endswith("]") else ""
    exit_code = 2 if status == 2 else EXIT_FAILED
    return TesseraError(asked, found, remedy, exit_code=exit_code, code=code)
