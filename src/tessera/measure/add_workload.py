"""Scaffold a workload file for a program of the user's, or for the scripts of a Mosmodel benchmark."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.units import GB, MB, format_bytes
from tessera.measure.mosalloc.memory_needs import PoolPeaks, measure_footprint
from tessera.record.workloads import definition
from tessera.record.workloads.kinds import program, scripts

OWN = "the user's own"  #: ``source`` of the workload files that are written here
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def add_program(name: str, argv: Sequence[str], size: str, *, threads: bool, force: bool) -> Path:
    """Write the file for ``argv``, run as it is. Words that name existing files become absolute paths."""
    executable = program.program_path(argv[0])
    args = [str(Path(word).absolute()) if Path(word).exists() else word for word in argv[1:]]
    path = _free(name, size, force)
    with tempfile.TemporaryDirectory(prefix="tessera-add-") as folder:
        memory = measure_footprint([str(executable), *args], cwd=Path(folder))
    head = {"kind": "program", "description": f"{executable.name}, added by its user"}
    return _write(path, name, str(executable), head, args, size, memory, threads)


def add_scripts(
    name: str, folder: Path, target: str | None, size: str, *, threads: bool, force: bool
) -> Path:
    """Write the file for a benchmark's folder. ``target`` is the program that its run.sh starts."""
    source = scripts.benchmark(folder)
    target = target or _only_program(source)
    path = _free(name, size, force)
    draft = definition.Workload(name, target, "", "", {}, kind="scripts")
    with tempfile.TemporaryDirectory(prefix="tessera-add-") as copy:
        run = scripts.prepare(draft, definition.Size(size, (str(source),), 0, GB, GB), Path(copy))
        memory = measure_footprint(run.argv, cwd=Path(copy), target=run.target, env=run.environment)
    head = {"kind": "scripts", "description": f"Mosmodel benchmark in {source.name}"}
    return _write(path, name, target, head, [str(source)], size, memory, threads)


def _only_program(source: Path) -> str:
    """The one executable of the folder that is not a script; an error if there are none or several."""
    found = [p.name for p in sorted(source.iterdir()) if p.is_file() and p.open("rb").read(4) == b"\x7fELF"]
    if len(found) != 1:
        raise TesseraError(
            f"the program that {source}/{scripts.RUN} starts",
            f"the folder has {len(found)} executables" + (f": {', '.join(found)}" if found else ""),
            "give the program with --target PATH",
        )
    return found[0]


def _free(name: str, size: str, force: bool) -> Path:
    """Where the file goes; names that can't be used are errors."""
    for what, text in (("workload name", name), ("size", size)):
        if not _NAME.fullmatch(text):
            raise TesseraError(
                f"{what} '{text}'", "use lower-case words joined by -", "choose a name such as my-program"
            )
    path = definition.workloads_folder() / f"{name}.yaml"
    if not path.exists():
        return path
    known = definition.read_workload(path)
    if known.kind not in ("program", "scripts"):
        raise TesseraError(
            f"workload name '{name}'",
            f"a workload of Tessera (kind {known.kind}) has this name",
            "choose another name",
            code="workload-is-ours",
        )
    if size in known.sizes and not force:
        raise TesseraError(
            f"workload '{name}', size {size}",
            f"{path} already has this size",
            "give --force to replace it, or --size to add another",
        )
    return path


def _write(
    path: Path,
    name: str,
    executable: str,
    head: dict,
    args: list[str],
    size: str,
    memory: PoolPeaks,
    threads: bool,
) -> Path:
    """A new file, or an old one with this size in it."""
    heap, anon = memory.pools()
    entry = {
        "args": args,
        "footprint": _whole_mb(memory.footprint),
        "heap_pool": format_bytes(heap),
        "anon_pool": format_bytes(anon),
    }
    tree = definition.WORKLOAD_FILE.read(path) if path.exists() else {"name": name, "sizes": {}}
    if tree.get("executable", executable) != executable:
        tree["sizes"] = {}  # another program: its other sizes mean nothing any more
    tree |= {"executable": executable, "source": OWN, **head}
    tree |= {"threads": "the program's own; one of them is recorded"} if threads else {}
    tree["sizes"][size] = entry
    write_text(path, yaml.safe_dump(tree, sort_keys=False, width=1000))
    definition.read_workload(path)
    return path


def _whole_mb(used: int) -> str:
    return f"{max(1, -(-used // MB))}MB"
