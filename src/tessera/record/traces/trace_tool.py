"""What ``tessera-trace`` does with a trace: check, convert, cut, list its events and first touches."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, EXIT_USAGE, TesseraError
from tessera.core.files import built, check_target, publish, scratch_folder, with_names
from tessera.machine.container import RunOptions, toolchain
from tessera.record.traces.packed import DAMAGED, packing_of, unpacked


def verify_trace(trace: Path | str) -> str:
    """Check every frame and the checksum of a trace; returns the tool's output."""
    path = _existing(trace)
    return _tool(["verify", path], [path.parent])


def describe(trace: Path | str) -> str:
    """The whole description, checked, as text."""
    path = _existing(trace)
    return _tool(["info", path], [path.parent])


def cut(trace: Path | str, out: Path | str, *, start_access: int, accesses: int) -> None:
    """Write ``accesses`` accesses from ``start_access`` on to ``out``; both ends move to block boundaries.

    Raises:
        TesseraError: the part does not lie inside the trace, or the trace is damaged.
    """
    path, target = _existing(trace), _writable(out)
    span = ["--start", str(start_access), "--accesses", str(accesses)]
    _tool(["cut", path, target, *span], [path.parent], writes=(target.parent,))


def trace_events(trace: Path | str, *, csv: bool = False) -> str:
    """The events of ``trace`` in their order, as text for readers or as CSV.

    Raises:
        TesseraError: the trace is missing or damaged, or it was recorded without events.
    """
    path = _existing(trace)
    return _tool(["events", path, *(["--csv"] if csv else [])], [path.parent])


def write_touches(trace: Path | str, out: Path | str) -> None:
    """Write ``pool,page,access`` of the first touch of each 4KB page of the pools, in order, to ``out``.

    Raises:
        TesseraError: the trace is missing or damaged, or ``out`` can't be written.
    """
    path, target = _existing(trace), _writable(out)
    _tool(["touches", path, target], [path.parent], writes=(target.parent,))


def import_champsim(
    source: Path | str,
    out: Path | str,
    *,
    mmap_pool: str | None = None,
    brk_pool: str | None = None,
    max_accesses: int | None = None,
) -> str:
    """Convert a ChampSim trace (xz, gzip, bzip2, lzma or plain, by its content) to ``out``.

    Returns the shares of accesses and pages outside the pools, and where the pages lie, as text.

    Args:
        mmap_pool, brk_pool: ``START:END`` addresses of the pools; by default the span with most pages is
            the mmap pool and the next lower one the brk pool.
        max_accesses: read no further than this many accesses.

    Raises:
        TesseraError: an archive or an unknown compressor (``trace-packed``), a damaged stream
            (``trace-stream``), damaged or foreign records, or a wrong option.
    """
    path, target = _existing(source), _writable(out)
    options = {"--mmap-pool": mmap_pool, "--brk-pool": brk_pool, "--max-accesses": max_accesses}
    options["--program"] = path.name
    extra = [str(word) for pair in options.items() if pair[1] is not None for word in pair]
    with scratch_folder(target) as folder:
        # The tool cannot tell a damaged archive from a short trace, so the result is renamed only at the end.
        made = folder / "trace.tst"
        with _decompressed(path, folder) as plain:
            names = {made: target, plain: path}
            words = ["import-champsim", plain, made, *extra]
            said = _tool(words, [plain.parent], names, writes=(folder,))
        publish(made, target)
    return said


def export_champsim(trace: Path | str, out: Path | str) -> None:
    """Convert a trace to plain ChampSim records."""
    path, target = _existing(trace), _writable(out)
    _tool(["export-champsim", path, target], [path.parent], writes=(target.parent,))


@contextlib.contextmanager
def _decompressed(path: Path, scratch: Path) -> Iterator[Path]:
    """A path to read the plain trace from: a pipe for compressed files, which can unpack to terabytes."""
    packing = packing_of(path)
    if packing is None:
        yield path
        return
    pipe = scratch / "records"
    os.mkfifo(pipe)
    failure: list[Exception] = []

    def feed() -> None:
        try:
            with pipe.open("wb") as sink:
                for chunk in unpacked(path, packing):
                    sink.write(chunk)
        except BrokenPipeError:
            pass  # the importer has read enough
        except DAMAGED as error:
            failure.append(error)

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    try:
        yield pipe
    finally:
        # If the importer failed before it opened the pipe, the feeder still waits for a reader: open it once.
        with contextlib.suppress(OSError):
            os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        feeder.join(timeout=60)
        if failure:  # in place of the importer's error: a damaged archive also looks like a short trace
            found = f"{failure[0]} ({packing.name} data: damaged or cut)"
            raise TesseraError(
                f"decompress {path}",
                found,
                "copy the file from its source again",
                exit_code=EXIT_FAILED,
                code="trace-stream",
            ) from None


def _tool(
    arguments: list[str | Path],
    paths: list[Path],
    names: dict[Path, Path] | None = None,
    writes: tuple[Path, ...] = (),
) -> str:
    """Run ``tessera-trace`` and return its output; its error message is raised as a TesseraError."""
    argv = [str(built("tracer", "tessera-trace")), *(str(a) for a in arguments)]
    options = RunOptions(writes=writes)
    done = toolchain().run(argv, paths=paths, capture=True, check=False, options=options)
    if done.returncode != 0:
        message = with_names(done.stderr or "", names or {}).strip().removeprefix("tessera-trace: ")
        head, _, remedy = message.partition("\n  what to do: ")
        asked, _, found = head.rpartition(": ")
        raise TesseraError(
            asked or "tessera-trace " + str(arguments[0]),
            found or f"status {done.returncode}",
            remedy or "run it again with the same arguments and read its output",
            exit_code=EXIT_USAGE if done.returncode == EXIT_USAGE else EXIT_FAILED,
        )
    return done.stdout


def _existing(path: Path | str) -> Path:
    path = Path(path).absolute()
    if not path.is_file():
        found = "this is not a regular file" if path.exists() else "the file does not exist"
        raise TesseraError(f"trace {path}", found, "give the path of a trace file", code="trace-missing")
    return path


def _writable(path: Path | str) -> Path:
    """The file to write, whose folder exists."""
    target = check_target(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target
