"""Write a package: code and results in one zip with ``manifest.csv``, ``SHA256SUMS`` and ``package.json``.

The order of entries, their times (the time of the commit), modes and compression are fixed, so the same
commit and results give the same bytes. The zip gets its name only when it is complete. An unpacked package is
a checkout with results.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import time
import zipfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from tessera import __version__
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import writing
from tessera.core.units import MB
from tessera.package import contents, offline, provenance
from tessera.package.names import TEXT_SUFFIXES, Watch, machine_names, scrub, words_in
from tessera.results.tree import Tree

MANIFEST, SUMS, ABOUT = "manifest.csv", "SHA256SUMS", "package.json"
MANIFEST_COLUMNS = ("path", "bytes", "sha256", "provenance", "scrubbed")
_LEVEL = 6
THIRD_PARTY = "third party"  #: provenance of wheels, images, and the kernel's source


@dataclass(frozen=True)
class Package:
    """The written package; ``scrubbed`` counts the names of this machine that were removed from results.

    ``left_in``: host or user names that the code uses as words, too; results keep them.
    ``offline_bytes``: size of each part for machines without a network.
    """

    path: Path
    size_bytes: int
    sha256: str
    files: int
    scrubbed: int
    traces_bytes: int
    about: dict
    left_in: tuple[str, ...]
    offline_bytes: dict[str, int]


def make(
    results: Path,
    out: Path,
    *,
    traces: bool = False,
    allow_dirty: bool = False,
    without: Collection[str] | None = None,
) -> Package:
    """Pack the committed code and ``results``, a folder like ``results/default``.

    With ``without`` also pack what ``./run --offline`` needs, except for these parts of it.

    Raises:
        TesseraError: the checkout has uncommitted changes (if allowed, they are left out and ``package.json``
            records this), ``results`` is missing, ``out`` is inside it, or a file that can't be scrubbed
            contains a name of this machine.
    """
    found = contents.commit()
    if found.dirty and not allow_dirty:
        raise TesseraError(
            "package of a clean checkout",
            f"the checkout has changes that are not in commit {found.hash[:12]}",
            "commit them; or leave them out: --allow-dirty (package.json records this)",
            code="package-dirty",
        )
    if out.suffix != ".zip" or out.resolve().is_relative_to(results.resolve()):
        raise TesseraError(
            f"package {out}",
            "the name must end in .zip, in a folder outside the results",
            "--out tessera.zip",
        )
    files = contents.data(results, traces)
    extra = [] if without is None else offline.parts(without)
    about = _about(found, results, traces)
    if extra:
        about["offline"] = [part for part in offline.PARTS if part not in without]
    try:
        with (
            writing(out, "wb") as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive,
        ):
            writer = _Writer(archive, about["name"], found.seconds, *machine_names(results))
            for name, body, executable in contents.code(found):
                writer.add_code(name, body, executable)
            for part in extra:
                writer.add_third_party(part.name, part.path)
            origins = provenance.Origins(results)
            for path in files:
                name = f"results/{results.name}/{path.relative_to(results).as_posix()}"
                sealed = provenance.is_of_bundle(path, results)
                writer.add_result(name, path, origins.of(path), sealed=sealed)
            writer.close(about)
    except OSError as error:
        raise TesseraError(
            f"package {out}",
            error.strerror or str(error),
            "free space on that disk, or choose another folder",
            exit_code=1,
        ) from error
    with out.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Package(
        path=out,
        size_bytes=out.stat().st_size,
        sha256=sha256,
        files=len(writer.rows),
        scrubbed=sum(row["scrubbed"] for row in writer.rows),
        traces_bytes=contents.traces_bytes(results),
        about=about,
        left_in=tuple(sorted(writer.left_in)),
        offline_bytes=_sizes(extra),
    )


class _Writer:
    """Adds entries under the top folder of the package and collects the rows of the manifest."""

    def __init__(self, archive: zipfile.ZipFile, top: str, seconds: int, sure: list[str], plain: list[str]):
        self.rows: list[dict] = []
        self.left_in: set[str] = set()
        self._archive, self._top, self._sure, self._plain = archive, top, sure, plain
        self._time = time.gmtime(seconds)[:6]

    def add_code(self, name: str, body: bytes, executable: bool) -> None:
        """Add a committed file; all of them come before the first result."""
        self.left_in |= words_in(body, self._plain)
        self.add(name, [body], provenance.of_code(name), executable=executable)

    def add_third_party(self, name: str, path: Path) -> None:
        """Add a file that others published, as it is; it is compressed already."""
        with path.open("rb") as file:
            self.add(name, iter(lambda: file.read(MB), b""), THIRD_PARTY, watched=False)

    def add_result(self, name: str, path: Path, source: str, *, sealed: bool = False) -> None:
        """Add a file of the results: scrub text; reject other files that name this machine.

        A ``sealed`` file keeps its bytes, too: the sums of its bundle hold for them.
        """
        if path.suffix in TEXT_SUFFIXES and not sealed:
            names = [*self._sure, *(word for word in self._plain if word not in self.left_in)]
            try:
                text, count = scrub(path.read_bytes().decode(), names)
            except UnicodeDecodeError as error:
                raise TesseraError(
                    f"package of {path}", f"its text is not UTF-8: {error}", "correct the file", exit_code=1
                ) from None
            return self.add(name, [text.encode()], source, scrubbed=count)
        with path.open("rb") as file:
            self.add(name, iter(lambda: file.read(MB), b""), source)

    def add(
        self,
        name: str,
        chunks: Iterable[bytes],
        source: str,
        *,
        executable: bool = False,
        scrubbed: int = 0,
        watched: bool = True,
    ) -> None:
        """Add an entry, with its row for the manifest."""
        total, size = hashlib.sha256(), 0
        watch = Watch(name, self._sure if watched else [])
        with self._open(name, executable, zipfile.ZIP_DEFLATED if watched else zipfile.ZIP_STORED) as entry:
            for chunk in chunks:
                entry.write(watch.pass_by(chunk))
                total.update(chunk)
                size += len(chunk)
        row = [name, size, total.hexdigest(), source, scrubbed]
        self.rows.append(dict(zip(MANIFEST_COLUMNS, row, strict=True)))

    def close(self, about: dict) -> None:
        """``package.json``, then the manifest of all files before it, then checksums of all of these."""
        self.add(ABOUT, [(json.dumps(about, indent=1, sort_keys=True) + "\n").encode()], "code")
        text = io.StringIO()
        table = csv.DictWriter(text, MANIFEST_COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(self.rows)
        self.add(MANIFEST, [text.getvalue().encode()], "code")
        sums = "".join(f"{row['sha256']}  {row['path']}\n" for row in self.rows)
        with self._open(SUMS, executable=False) as entry:
            entry.write(sums.encode())

    def _open(self, name: str, executable: bool, compression: int = zipfile.ZIP_DEFLATED):
        if not name.isprintable() or "\\" in name:
            raise TesseraError(
                f"package of {name!r}",
                "sha256sum can't handle this name",
                "rename the file",
                exit_code=EXIT_FAILED,
            )
        info = zipfile.ZipInfo(f"{self._top}/{name}", date_time=self._time)
        info.compress_type, info.create_system = compression, 3
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        return self._archive.open(info, "w", force_zip64=True)


def _sizes(files: Iterable[offline.OfflineFile]) -> dict[str, int]:
    """Bytes by part, or by file for those that are alone."""
    sizes: dict[str, int] = {}
    for one in files:
        part = one.name.split("/")[1]
        sizes[part] = sizes.get(part, 0) + one.path.stat().st_size
    return sizes


def _about(found: contents.Commit, results: Path, traces: bool) -> dict:
    """The content of ``package.json``: commits of the code and of the results, bundles that took part."""
    try:
        made_by = json.loads((Tree(results).all_provenance / "git.json").read_text())
    except (OSError, ValueError):
        made_by = {}
    return {
        "name": f"tessera-{__version__}",
        "version": __version__,
        "commit": found.hash,
        "uncommitted_changes_left_out": found.dirty,
        "results": results.name,
        "results_commit": made_by.get("commit"),
        "results_from_a_dirty_tree": made_by.get("dirty"),
        "traces": traces,
        "bundles": [folder.name for folder in Tree(results).machines.bundles()],
        "verify": f"sha256sum -c {SUMS} in the unpacked folder, or: tessera package verify FILE",
    }
