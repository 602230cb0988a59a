"""Many traces and simulations in one start of the toolchain, which costs more than a small trace.

Commands run in order by one shell script; each one's output goes to a file of its own, and one that fails
leaves its status there and stops nothing.
"""

from __future__ import annotations

import csv
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import built
from tessera.judge.validation.synthetic.stream import ANON_BASE, HEAP_BASE, Stream
from tessera.layouts.model import Layout, write_layout
from tessera.machine.container import toolchain
from tessera.mapping.file import write_mapping
from tessera.mapping.states import Mapping as FrameMapping
from tessera.results.status import is_ok


@dataclass(frozen=True)
class Rows:
    """What a simulation printed: rows by layout name, or why there are none."""

    by_layout: dict[str, dict[str, str]]
    error: str = ""


@dataclass
class Batch:
    """Traces in a scratch folder, and simulations of them. Use :func:`batch`."""

    folder: Path
    _script: list[str] = field(default_factory=list)
    _count: int = 0

    def add_trace(self, stream: Stream) -> Path:
        """A trace file of this stream (it exists after :meth:`run`)."""
        records, trace = self._new("records"), self._new("tst")
        stream.records().tofile(records)
        argv = [built("tracer", "tessera-trace"), "import-champsim", records, trace, "--program", "synthetic"]
        for option, base, size in (
            ("--brk-pool", HEAP_BASE, stream.heap_bytes),
            ("--mmap-pool", ANON_BASE, stream.anon_bytes),
        ):
            if size:
                argv += [option, f"{base:#x}:{base + size:#x}"]
        self._add(argv, trace.with_suffix(".imported"))
        self._script.append(f"rm -f {shlex.quote(str(records))}")
        return trace

    def add_platform(self, flat: str) -> Path:
        """A file with a platform's ``key = value`` lines."""
        path = self._new("platform")
        path.write_text(flat)
        return path

    def add_layouts(self, layouts: list[Layout]) -> Path:
        """A list of layout files."""
        return self._listed("layouts", layouts, write_layout)

    def add_mappings(self, mappings: list[FrameMapping]) -> Path:
        """A list of mapping files."""
        return self._listed("mappings", mappings, write_mapping)

    def _listed(self, kind: str, pages: list, write: Callable) -> Path:
        """Files of layouts or mappings, and the list of them."""
        folder = self._new(kind)
        folder.mkdir()
        for one in pages:
            write(one, folder / f"{one.name}.csv")
        listing = folder / "list"
        listing.write_text("".join(f"{folder / one.name}.csv\n" for one in pages))
        return listing

    def add_run(
        self,
        trace: Path,
        platform: Path,
        layouts: Path,
        engine: str,
        *,
        sampling: str = "full",
        options: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        mappings: bool = False,
    ) -> Path:
        """A simulation; give the returned path to :meth:`rows` after :meth:`run`.

        Args:
            mappings: ``layouts`` is a list of :meth:`add_mappings`.
        """
        argv = [built("simulator", "tessera-sim"), "run", "--trace", trace, "--platform", platform]
        argv += ["--mappings" if mappings else "--layouts", layouts, "--engine", engine]
        if "--interval-file" not in (options or {}):
            argv += ["--sampling", sampling]
        for option, value in (options or {}).items():
            argv += [option, value]
        out = self._new("csv")
        self._add(argv, out, env)
        return out

    def run(self, paths: Sequence[Path] = ()) -> None:
        """Run what was added since the last call. ``paths``: files and folders outside that it reads."""
        script = self._new("sh")
        script.write_text("\n".join(self._script) + "\n")
        self._script.clear()
        toolchain().run(["sh", script], paths=[self.folder, *paths], capture=True)

    def rows(self, out: Path) -> Rows:
        """The rows of a finished simulation."""
        problem = out.with_suffix(".failed")
        if problem.exists():
            said = out.with_suffix(".err").read_text().strip().splitlines()
            said = [line for line in said if not line.startswith("progress ")]
            return Rows({}, f"status {problem.read_text().strip()}: {' '.join(said[:2]) or 'no message'}")
        with out.open() as stream:
            rows = {row["layout"]: row for row in csv.DictReader(stream)}
        failed = next((row for row in rows.values() if not is_ok(row)), None)
        return Rows({} if failed else rows, f"{failed['layout']}: {failed['message']}" if failed else "")

    def row(self, out: Path) -> dict[str, str]:
        """The only row of a simulation of one layout.

        Raises:
            TesseraError: the simulation failed.
        """
        found = self.rows(out)
        if found.error:
            raise TesseraError(
                "simulate a synthetic trace", found.error, "report it as a bug", exit_code=EXIT_FAILED
            )
        return next(iter(found.by_layout.values()))

    def _new(self, suffix: str) -> Path:
        self._count += 1
        return self.folder / f"{self._count:05}.{suffix}"

    def _add(self, argv: list, out: Path, env: Mapping[str, str] | None = None) -> None:
        assignments = [f"{name}={shlex.quote(value)}" for name, value in (env or {}).items()]
        command = shlex.join(str(word) for word in argv)
        errors, failed = out.with_suffix(".err"), out.with_suffix(".failed")
        line = " ".join([*assignments, command, ">", shlex.quote(str(out)), "2>", shlex.quote(str(errors))])
        self._script.append(f"{line} || echo $? > {shlex.quote(str(failed))}")


@contextmanager
def batch() -> Iterator[Batch]:
    """A batch in a folder that goes away with it."""
    with tempfile.TemporaryDirectory(prefix="tessera-validation-") as name:
        yield Batch(Path(name))
