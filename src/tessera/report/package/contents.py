"""The contents of a package: committed code, results without cache, logs and traces, no private names.

Also the provenance of the numbers in every packed file, for the manifest.
"""

from __future__ import annotations

import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import SUFFIX, repo_root
from tessera.core.private_texts import Scrubber, whole_word
from tessera.core.results.loader import Loader
from tessera.core.results.table_io import UnreadableTable, read_texts
from tessera.core.results.tree import ResultsTree
from tessera.measure.bundles import file_format
from tessera.measure.bundles.json_files import read_about

# Which files: the committed code, and those of a results folder.

#: Folders of a results tree that are not packed.
LEFT_OUT_OF_RESULTS = frozenset({"cache", "logs"})
TRACE_SUFFIX = ".tst"


@dataclass(frozen=True)
class Commit:
    """The committed state: its hash, its time (seconds since 1970), and whether the tree differs from it."""

    hash: str
    seconds: int
    dirty: bool


def head_commit() -> Commit:
    """The last commit of the checkout.

    Raises:
        TesseraError: not a git checkout.
    """
    found, seconds = _git("rev-parse", "HEAD").strip(), _git("show", "-s", "--format=%ct", "HEAD").strip()
    return Commit(found, int(seconds), bool(_git("status", "--porcelain").strip()))


def code_files(found: Commit) -> Iterator[tuple[str, bytes, bool]]:
    """Path, content and executable bit of every committed file, in the order of their paths.

    Raises:
        TesseraError: an entry is not a regular file (a symbolic link could point anywhere after unpacking).
    """
    with tempfile.TemporaryFile() as spool:
        _run(["git", "archive", "--format=tar", found.hash], stdout=spool)
        spool.seek(0)
        with tarfile.open(fileobj=spool) as archive:
            for info in sorted(archive.getmembers(), key=lambda info: info.name):
                if info.isdir():
                    continue
                if not info.isreg():
                    raise TesseraError(
                        f"package of {info.name}",
                        "git has a link or a device under this name, but packages hold only files",
                        "replace it with a file, or add it to .gitattributes with export-ignore",
                        code="package-not-a-file",
                        exit_code=EXIT_FAILED,
                    )
                yield info.name, archive.extractfile(info).read(), bool(info.mode & 0o100)


def data_files(results: Path, traces: bool) -> list[Path]:
    """Files of a results folder that are packed, sorted.

    Raises:
        TesseraError: the folder is missing, has no ``cells.csv``, or has a symbolic link.
    """
    if not (ResultsTree(results).cells).is_file():
        raise TesseraError(
            f"results {results}",
            "this folder has no cells.csv" if results.is_dir() else "no such folder",
            "name the results folder of a finished run, e.g. results/default",
        )
    found = []
    for path in sorted(results.rglob("*")):
        parts = path.relative_to(results).parts
        if parts[0] in LEFT_OUT_OF_RESULTS or any(part.endswith(SUFFIX) for part in parts):
            continue
        if path.is_symlink():
            raise TesseraError(
                f"package of {path}",
                "this is a symbolic link, but packages hold only files",
                "replace the link with its target",
                exit_code=EXIT_FAILED,
            )
        if path.is_file() and (traces or path.suffix != TRACE_SUFFIX):
            found.append(path)
    return found


def traces_bytes(results: Path) -> int:
    """Bytes of all traces, packed or not."""
    return sum(path.stat().st_size for path in results.rglob(f"*{TRACE_SUFFIX}"))


def _git(*words: str) -> str:
    return _run(["git", *words], stdout=subprocess.PIPE).stdout.decode()


def _run(words: list[str], stdout) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(words, cwd=repo_root(), stdout=stdout, stderr=subprocess.PIPE, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", b"") or str(error).encode()
        raise TesseraError(
            f"code of {repo_root()} ({' '.join(words[:2])})",
            said.decode(errors="replace").strip(),
            "make packages in a git checkout with at least one commit",
        ) from None


# Names of this machine and its user, which no file may contain.
#
# Texts of the results are cleaned by :mod:`tessera.core.private_texts`; other files are refused if they have
# such a name. So are scripts and style sheets: they are code, where a slash begins more than a path.

TEXT_SUFFIXES = frozenset({".csv", ".tsv", ".json", ".yaml", ".txt", ".html", ".svg", ".md", ".ipynb"})


def scrubber_of(results: Path) -> Scrubber:
    """Removes what is private from files of this results folder."""
    return Scrubber.of_this_machine(repo_root(), results.resolve().parent)


def identifying_texts(scrubber: Scrubber) -> tuple[list[str], list[str]]:
    """Texts that identify this machine or its user.

    Returns:
        Texts with no other meaning (paths; host and user names with a digit, dot or hyphen), and plain words,
        which the code may use, too.
    """
    sure = {path for path in (*scrubber.folders, scrubber.home) if path.count("/") > 1}
    plain = set()
    for word in scrubber.names:
        (sure if re.search(r"[0-9.-]", word) else plain).add(word)
    return sorted(sure, key=len, reverse=True), sorted(plain)


def words_in(body: bytes, words: list[str]) -> set[str]:
    """The words among ``words`` that a file contains as whole words."""
    return {word for word in words if re.search(whole_word(word).encode(), body)}


class NameWatch:
    """Searches chunks of bytes for names of this machine; for files that can't be scrubbed."""

    def __init__(self, where: str, names: list[str]):
        joined = "|".join(map(whole_word, names)).encode()
        self._where, self._pattern, self._tail = where, re.compile(joined) if joined else None, b""
        self._keep = max((len(name.encode()) for name in names), default=0) + 1

    def pass_by(self, chunk: bytes) -> bytes:
        """The chunk itself.

        Raises:
            TesseraError: the chunk, with the end of the previous one, contains a name.
        """
        if self._pattern and (found := self._pattern.search(self._tail + chunk)):
            raise TesseraError(
                f"package of {self._where}",
                f"it contains a name of this machine or its user: '{found.group().decode(errors='replace')}'",
                "remove the name from the file, then pack again; no package was written",
                code="package-names-machine",
                exit_code=EXIT_FAILED,
            )
        self._tail = (self._tail + chunk)[-self._keep :]
        return chunk


# The provenance of the numbers in a packed file, for the manifest.
#
# ``code``, ``published``, ``measured``, ``simulated`` (joined by ``+`` if a table has several), ``derived
# from ...`` for files computed from cells, ``input`` for inputs of runs (layouts, platforms, configuration),
# and ``stated with each number`` for pages.
#
# ``machines/`` is a results tree of its own: its files are derived from its own cells. Bundles are what real
# machines measured, also those in the code.

KNOWN_PROVENANCES = ("measured", "simulated", "published")
INPUT = "input"
_INPUTS = frozenset({"layouts", "platforms", "provenance"})
_PAGES = frozenset({"report", "notebooks"})
_BUNDLES_OF_CODE = "bundles"  #: folder of a checkout
#: Files of a bundle that decide what runs, and hold no number of a run.
_INPUTS_OF_BUNDLES = frozenset({file_format.EVENTS_FILE, file_format.WORKLOADS_FILE, file_format.ABOUT_FILE})


def provenance_of_code(path: str) -> str:
    """Provenance of a committed file."""
    parts = PurePosixPath(path).parts
    if parts[0] == _BUNDLES_OF_CODE and len(parts) > 2:
        return provenance_of_bundle(PurePosixPath(*parts[2:]), rehearsal=False)
    published = path.startswith("reference-results/") and path.endswith(".csv")
    return "published" if published else "code"


def provenance_of_bundle(inside: PurePosixPath, rehearsal: bool) -> str:
    """Provenance of a file of a bundle; ``inside`` is its path in the bundle."""
    if inside.parts[0] == file_format.LAYOUTS_FOLDER or inside.name in _INPUTS_OF_BUNDLES:
        return INPUT
    return "simulated" if rehearsal else "measured"


class Origins:
    """Provenance of the files of one results folder."""

    def __init__(self, results: Path):
        self.results = results

    @cached_property
    def cells(self) -> str:
        """Of the cells that models and claims use: cells with a runtime in cycles."""
        try:
            cells = Loader(self.results).cells
        except UnreadableTable:
            return "unknown"
        fitted = cells[cells["runtime_cycles"].notna()]
        return _joined(set(fitted["runtime_provenance"]) | set(fitted["tlb_provenance"])) or "unknown"

    @cached_property
    def machines(self) -> Origins:
        """Those of the measured cells."""
        return Origins(ResultsTree(self.results).machines.root)

    def of(self, path: Path) -> str:
        """Provenance of a file of this folder."""
        inside = PurePosixPath(path.relative_to(self.results).as_posix())
        if path.is_relative_to(ResultsTree(self.results).machines.root):
            return self.machines._of_machines(path)
        if stated := _stated(path):
            return stated
        if path.suffix == ".svg" and (stated := _stated(path.with_suffix(".csv"))):
            return stated
        if path == ResultsTree(self.results).claims_elsewhere:
            return f"derived from {self.machines.cells}"
        if inside.parts[0] == "benchmarks" or inside.parts[:2] == ("host", "runs.csv"):
            return "measured"
        if inside.parts[0] in _INPUTS or path.suffix == ".yaml":
            return INPUT
        if inside.parts[0] in _PAGES:
            return "stated with each number"
        return f"derived from {self.cells}"

    def _of_machines(self, path: Path) -> str:
        """The same if this is the tree of measured cells, which has bundles, too."""
        tree = ResultsTree(self.results)
        if not path.is_relative_to(tree.all_bundles):
            return INPUT if path == tree.bundles_list else self.of(path)
        identity, *inside = path.relative_to(tree.all_bundles).parts
        return provenance_of_bundle(PurePosixPath(*inside), _rehearsal(tree.bundle(identity)))


def is_of_bundle(path: Path, results: Path) -> bool:
    """Whether this file is of the copy of a bundle, whose own sums hold for its bytes."""
    return path.is_relative_to(ResultsTree(results).machines.all_bundles)


def _rehearsal(bundle: Path) -> bool:
    return read_about((bundle / file_format.ABOUT_FILE).read_bytes()).rehearsal


def _stated(path: Path) -> str:
    """The values of the provenance columns of a table; empty if it has none, or is not a table."""
    if path.suffix != ".csv" or not path.is_file() or path.stat().st_size == 0:
        return ""
    try:
        frame = read_texts(path)
    except UnreadableTable:
        return ""
    stated = [name for name in frame.columns if name.endswith("provenance")]
    return _joined({word for name in stated for value in frame[name].unique() for word in value.split()})


def _joined(words: set[str]) -> str:
    return "+".join(name for name in KNOWN_PROVENANCES if name in words)
