"""Drives ``tessera-sim``: hands it what the cache lacks and keeps each row as it comes."""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from tessera import cells
from tessera.container import toolchain
from tessera.errors import EXIT_FAILED, TesseraError
from tessera.layouts.model import canonical_name
from tessera.paths import built
from tessera.platforms import Platform
from tessera.simulate.cache import CellCache, content_key, file_sha256
from tessera.simulate.plan import Sampling

Progress = Callable[[str], None]
TEXT = ("layout", "status", "message")


def simulate(
    trace: Path,
    platform: Platform,
    layouts: list[Path],
    *,
    workload: str,
    engine: str,
    sampling: Sampling,
    cache: CellCache,
    progress: Progress = lambda line: None,
) -> list[dict]:
    """Rows of the cells table, one per layout, in the order of ``layouts``.

    Finished cells of ``cache`` are not simulated again; new ones are put there one by one as their
    group of layouts ends. A layout that the simulator refuses is a ``failed`` row.

    Raises:
        TesseraError: the trace or the platform is refused, or the simulator died (what it had
            finished is in the cache).
    """
    simulator = built("simulator", "tessera-sim")
    base = [
        trace_identity(trace),
        platform.flat(),
        engine,
        sampling.argument(),
        file_sha256(simulator),
    ]
    keys = {path: content_key(*base, path.read_text()) for path in layouts}
    rows = {key: row for key in set(keys.values()) if (row := cache.get(key)) is not None}
    todo = {keys[path]: path for path in layouts if keys[path] not in rows}
    if rows:
        progress(f"{len(layouts) - len(todo)} of {len(layouts)} layouts are in the cache")
    if todo:
        path_keys = {path: key for key, path in todo.items()}
        for path, row in _run(simulator, trace, platform, list(path_keys), engine, sampling, progress):
            key = path_keys[path]
            rows[key] = row
            if row["status"] == "ok":
                cache.put(key, row)
    return [
        _cell(rows[keys[path]], workload, platform.name, canonical_name(path.stem), engine)
        for path in layouts
    ]


def miss_profile(trace: Path, platform: Platform, out: Path) -> Path:
    """STLB misses under 4KB pages per 2MB region: CSV ``pool,offset_bytes,stlb_misses``."""
    simulator = built("simulator", "tessera-sim")
    flat = out.with_suffix(".platform")
    flat.write_text(platform.flat())
    argv = [simulator, "profile", "--trace", trace.resolve(), "--platform", flat, "--out", out]
    paths = [trace.resolve(), out.parent]
    done = toolchain().run([str(a) for a in argv], paths=paths, capture=True, check=False)
    if done.returncode:
        raise _died(done.returncode, done.stderr)
    return out


def trace_identity(trace: Path) -> str:
    """What a trace's numbers depend on: its content checksum (name and compression don't matter)."""
    from tessera import traces

    info = traces.info(trace)
    return json.dumps([info["checksum"], info["pools"]], sort_keys=True)


def _run(
    simulator: Path,
    trace: Path,
    platform: Platform,
    layouts: list[Path],
    engine: str,
    sampling: Sampling,
    progress: Progress,
) -> Iterator[tuple[Path, dict]]:
    with tempfile.TemporaryDirectory(prefix="tessera-simulate-") as name:
        folder = Path(name)
        flat, listing = folder / "platform.txt", folder / "layouts.txt"
        flat.write_text(platform.flat())
        # The simulator names a row by its file's stem, so each file gets a unique short name.
        copies = {f"layout-{i}": path for i, path in enumerate(layouts)}
        for stem, path in copies.items():
            (folder / f"{stem}.csv").write_text(path.read_text())
        listing.write_text("".join(f"{folder / stem}.csv\n" for stem in copies))
        argv = [simulator, "run", "--trace", trace.resolve(), "--platform", flat]
        argv += ["--layouts", listing, "--engine", engine, "--sampling", sampling.argument()]
        process = toolchain().popen(
            [str(a) for a in argv],
            paths=[trace.resolve(), folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        errors: list[str] = []
        reader = threading.Thread(target=_drain, args=(process.stderr, errors, progress))
        reader.start()
        seen = 0
        try:
            lines = (line.decode() if isinstance(line, bytes) else line for line in process.stdout)
            for row in csv.DictReader(lines):
                path = copies[row.pop("layout")]
                row["message"] = (
                    row["message"]
                    .replace(str(folder) + "/", "")
                    .replace(f"{_stem(copies, path)}.csv", str(path))
                )
                seen += 1
                yield path, {key: _number(key, value) for key, value in row.items()}
        finally:
            if process.poll() is None and seen < len(layouts):
                process.terminate()
            process.wait()
            reader.join()
        if process.returncode or seen < len(layouts):
            raise _died(process.returncode, "\n".join(errors))


def _stem(copies: dict[str, Path], path: Path) -> str:
    return next(stem for stem, original in copies.items() if original == path)


def _drain(stream, errors: list[str], progress: Progress) -> None:
    for raw in stream:
        line = (raw.decode() if isinstance(raw, bytes) else raw).rstrip()
        if line.startswith("progress "):
            progress(line.removeprefix("progress "))
        elif line:
            errors.append(line)


def _number(key: str, value: str) -> str | int | float | None:
    if key in TEXT:
        return value
    if value == "":
        return None
    return int(value) if value.lstrip("-").isdigit() else float(value)


def _cell(row: dict, workload: str, platform: str, layout: str, engine: str) -> dict:
    ok = row["status"] == "ok"
    timed = ok and row.get("runtime_cycles") is not None
    cell = dict.fromkeys(cells.COLUMNS)
    cell.update(row)
    cell.update(workload=workload, platform=platform, layout=layout, repeat=0, engine=engine)
    cell["tlb_provenance"] = "simulated" if ok else ""
    cell["runtime_provenance"] = "simulated" if timed else ""
    return cell


def _died(status: int, errors: str) -> TesseraError:
    text = errors.strip().removeprefix("tessera-sim: ")
    asked, found, remedy = "tessera-sim", text or f"it ended with status {status}", "see above"
    if "\n  what to do: " in text:
        found, _, remedy = text.partition("\n  what to do: ")
        asked, _, found = found.partition(": ")
    return TesseraError(asked, found, remedy, exit_code=2 if status == 2 else EXIT_FAILED)
