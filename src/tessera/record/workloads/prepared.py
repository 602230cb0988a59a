"""Prepared files: flat arrays that are built once, natively and in parallel, and loaded by recorded programs.

Under emulation a program takes minutes to build a graph of gigabytes, and seconds to load it. The file lies
in the results folder of a run; beside it ``<file>.json`` says what it was built from and its SHA-256. A file
that is absent, was built from something else, or is damaged is built again. The run drops it when its rows
are recorded.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built, file_stamp, locked_file, settled_stamp, sha256_of, sync_file, write_text
from tessera.core.units import format_bytes
from tessera.machine.container import RunOptions, toolchain
from tessera.machine.limits import available_memory, memory_ran_out, readable
from tessera.record.workloads.definition import Prepared, Size
from tessera.record.workloads.program_run import Finished, last_line_json

#: Bytes of a prepared file are known to the header's size; a YAML file states them rounded.
ROUNDING = 0.02


def note(path: Path) -> Path:
    """The file that says what ``path`` was built from."""
    return path.with_name(f"{path.name}.json")


def of(sizes: Iterable[Size]) -> dict[str, Prepared]:
    """The prepared files of these sizes by name, in their order.

    Raises:
        TesseraError: two sizes give one name to different files.
    """
    found: dict[str, Prepared] = {}
    for size in sizes:
        asked = size.prepared
        if asked is not None and found.setdefault(asked.file, asked) != asked:
            raise TesseraError(
                f"prepared file '{asked.file}'",
                f"two sizes build it differently: {found[asked.file]} and {asked}",
                "give one of them another name in config/workloads",
                code="prepared-twice",
            )
    return found


def ensure(asked: Prepared, path: Path) -> dict:
    """Build ``path`` unless it is there, whole, and built from the same; return its note.

    Its bytes are read only if its inode, size or times differ from those of the last check: files have 13 GB.
    One process at a time; another one waits and finds the finished file.

    Raises:
        TesseraError: too little disk, or the program failed. No file is left then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path):
        reason, known = _objection(asked, path)
        if reason:
            if known:
                click.echo(f"prepared file {path.name}: {reason}; building it again", err=True)
            known = _build(asked, path)
        return known


def drop_prepared(path: Path) -> int:
    """Remove the data and keep its note; returns the bytes that are free now."""
    with _alone(path):
        size = path.stat().st_size if path.exists() else 0
        path.unlink(missing_ok=True)
    return size


def recipe(asked: Prepared) -> dict:
    """What decides the bytes of a prepared file: program and arguments."""
    program = built("workloads", asked.program)
    return {"program": asked.program, "program_sha256": sha256_of(program), "args": list(asked.args)}


def _objection(asked: Prepared, path: Path) -> tuple[str, dict]:
    """Why the file can't be used (empty if it can), and its note (empty if there is none)."""
    try:
        known = json.loads(note(path).read_text())
    except (FileNotFoundError, ValueError):
        known = {}
    if not path.exists():
        return "it is not there", {}
    if not known:
        return "there is no note beside it", {}
    if known.get("recipe") != recipe(asked):
        return "it was built from other arguments or by another program", known
    if (size := path.stat().st_size) != known["bytes"]:
        return f"it has {size} bytes instead of {known['bytes']}", known
    if known.get("checked") == file_stamp(path):
        return "", known
    before = file_stamp(path)
    if sha256_of(path) != known["sha256"]:
        return "its SHA-256 is not the one of the file that was built", known
    return "", _write_note(path, known, before)


def _write_note(path: Path, known: dict, before: list[int]) -> dict:
    """Note that the file has its SHA-256; ``before`` is its stamp when reading began."""
    known = known | {"checked": settled_stamp(path, before)}
    write_text(note(path), json.dumps(known, indent=1, sort_keys=True) + "\n")
    return known


def _build(asked: Prepared, path: Path) -> dict:
    path.unlink(missing_ok=True)
    note(path).unlink(missing_ok=True)
    free = shutil.disk_usage(path.parent).free
    if asked.bytes > free:
        raise TesseraError(
            f"disk for the prepared file {path.name}",
            f"it needs {format_bytes(asked.bytes)}, {format_bytes(free)} are free at {path.parent}",
            "free some; the rows that load it are left out until then",
            exit_code=EXIT_FAILED,
        )
    memory = available_memory()
    if asked.memory > memory.bytes:
        raise TesseraError(
            f"memory for the prepared file {path.name}",
            f"it needs {readable(asked.memory)}, {readable(memory.bytes)} are free{memory.because}",
            f"{memory.remedy(asked.memory)}; the rows that load it are left out until then",
            exit_code=EXIT_FAILED,
        )
    began = time.monotonic()
    argv = [str(built("workloads", asked.program)), *asked.args, "--prepare", str(path)]
    options = RunOptions(writes=(path.parent,))
    done = toolchain().run(argv, capture=True, check=False, options=options)
    if done.returncode != 0:
        path.unlink(missing_ok=True)
        tail = "\n".join((done.stderr or "").strip().splitlines()[-4:])
        raise TesseraError(
            f"prepared file {path.name}",
            f"'{' '.join(argv)}' exited with status {done.returncode}:\n{tail}",
            f"status 137 often means that {memory_ran_out()}; the next run tries it again",
            exit_code=EXIT_FAILED,
        )
    last_line_json(Finished(done.returncode, done.stdout, done.stderr or "", path.parent))
    size = path.stat().st_size
    if abs(size - asked.bytes) > ROUNDING * asked.bytes:
        raise TesseraError(
            f"prepared file {path.name}",
            f"it has {format_bytes(size)}, its workload file states {format_bytes(asked.bytes)}",
            "correct prepared.bytes in config/workloads",
            exit_code=EXIT_FAILED,
        )
    sync_file(path)  # not by the program: what is linked into workloads moves the code that is recorded
    before = file_stamp(path)
    known = {
        "recipe": recipe(asked),
        "bytes": size,
        "sha256": sha256_of(path),
        "seconds": round(time.monotonic() - began, 1),
    }
    return _write_note(path, known, before)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with locked_file(path.with_name(f".{path.name}.lock")):
        yield
