"""Write and check a package: one zip with ``manifest.csv``, ``SHA256SUMS`` and ``package.json``.

The order of entries, their times (the time of the commit), modes and compression are fixed, so the same
commit and results give the same bytes. The zip gets its name only when it is complete. An unpacked package
is a checkout with results.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import posixpath
import stat
import time
import zipfile
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from tessera import __version__
from tessera.core import archives
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import writing
from tessera.core.private_texts import Scrubber
from tessera.core.results.tree import ResultsTree
from tessera.core.units import GB, MB
from tessera.report.package import contents, offline
from tessera.report.package.contents import TEXT_SUFFIXES, NameWatch, identifying_texts, scrubber_of, words_in

MANIFEST, SUMS, ABOUT = "manifest.csv", "SHA256SUMS", "package.json"
MANIFEST_COLUMNS = ("path", "bytes", "sha256", "provenance", "scrubbed")
_LEVEL = 6
THIRD_PARTY = "third party"  #: provenance of wheels, images, and the kernel's source


@dataclass(frozen=True)
class WrittenPackage:
    """The written package; ``scrubbed`` counts the private texts that were removed from results.

    ``left_in``: host or user names that the code uses as words, too; results keep them.
    ``offline_bytes``: size of each part for machines without a network. ``report``: the zip of the rendered
    report alone, beside the package; None if the results have no report.
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
    report: Path | None


def make(
    results: Path,
    out: Path,
    *,
    traces: bool = False,
    allow_dirty: bool = False,
    without: Collection[str] | None = None,
) -> WrittenPackage:
    """Pack the committed code and ``results``, a folder like ``results/default``; beside it the report alone.

    With ``without`` also pack what ``./run --offline`` needs, except for these parts of it.

    Raises:
        TesseraError: the checkout has uncommitted changes (if allowed, they are left out and ``package.json``
            records this), ``results`` is missing, ``out`` is inside it, or a file that can't be scrubbed
            contains a name of this machine.
    """
    found = contents.head_commit()
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
    files = contents.data_files(results, traces)
    extra = [] if without is None else offline.parts(without)
    about = _about(found, results, traces)
    if extra:
        about["offline"] = [part for part in offline.PARTS if part not in without]
    try:
        with (
            writing(out, "wb") as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive,
        ):
            writer = _Writer(archive, about["name"], found.seconds, scrubber_of(results))
            for name, body, executable in contents.code_files(found):
                writer.add_code(name, body, executable)
            for part in extra:
                writer.add_third_party(part.name, part.path)
            origins = contents.Origins(results)
            for path in files:
                name = f"results/{results.name}/{path.relative_to(results).as_posix()}"
                sealed = contents.is_of_bundle(path, results)
                writer.add_result(name, path, origins.of(path), sealed=sealed)
            writer.close(about)
        report = _pack_report(results, out, files, writer)
    except OSError as error:
        raise TesseraError(
            f"package {out}",
            error.strerror or str(error),
            "free space on that disk, or choose another folder",
            exit_code=1,
        ) from error
    with out.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return WrittenPackage(
        path=out,
        size_bytes=out.stat().st_size,
        sha256=sha256,
        files=len(writer.rows),
        scrubbed=sum(row["scrubbed"] for row in writer.rows),
        traces_bytes=contents.traces_bytes(results),
        about=about,
        left_in=tuple(sorted(writer.left_in)),
        offline_bytes=_sizes(extra),
        report=report,
    )


def _pack_report(results: Path, out: Path, files: Iterable[Path], package: _Writer) -> Path | None:
    """Write the rendered report as ``<out>-report.zip``, for readers who want to see it and nothing else.

    Its pages need no server, no network and no file outside. The same names as in ``package`` are removed.
    """
    folder = ResultsTree(results).report_folder
    pages = [path for path in files if path.is_relative_to(folder)]
    if not pages:
        return None
    place = out.with_name(f"{out.stem}-report.zip")
    with (
        writing(place, "wb") as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive,
    ):
        writer = package.like_this(archive, f"tessera-{__version__}-report-{results.name}")
        for path in pages:
            writer.add_result(path.relative_to(folder).as_posix(), path, "")
    return place


class _Writer:
    """Adds entries under the top folder of the package and collects the rows of the manifest."""

    def __init__(self, archive: zipfile.ZipFile, top: str, seconds: int, scrubber: Scrubber):
        self.rows: list[dict] = []
        self.left_in: set[str] = set()
        self._archive, self._top, self._scrubber = archive, top, scrubber
        self._sure, self._plain = identifying_texts(scrubber)
        self._seconds, self._time = seconds, time.gmtime(seconds)[:6]

    def like_this(self, archive: zipfile.ZipFile, top: str) -> _Writer:
        """A writer of another zip, with the same time, that removes the same names."""
        other = _Writer(archive, top, self._seconds, self._scrubber)
        other.left_in = self.left_in
        return other

    def add_code(self, name: str, body: bytes, executable: bool) -> None:
        """Add a committed file; all of them come before the first result."""
        self.left_in |= words_in(body, self._plain)
        self.add(name, [body], contents.provenance_of_code(name), executable=executable)

    def add_third_party(self, name: str, path: Path) -> None:
        """Add a file that others published, as it is; it is compressed already."""
        with path.open("rb") as file:
            self.add(name, iter(lambda: file.read(MB), b""), THIRD_PARTY, watched=False)

    def add_result(self, name: str, path: Path, source: str, *, sealed: bool = False) -> None:
        """Add a file of the results: scrub text; reject other files that name this machine.

        A ``sealed`` file keeps its bytes, too: the sums of its bundle hold for them.
        """
        if path.suffix in TEXT_SUFFIXES and not sealed:
            try:
                text, found = self._scrubber.without(self.left_in).scrub(path.read_bytes().decode())
            except UnicodeDecodeError as error:
                raise TesseraError(
                    f"package of {path}", f"its text is not UTF-8: {error}", "correct the file", exit_code=1
                ) from None
            return self.add(name, [text.encode()], source, scrubbed=len(found))
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
        watch = NameWatch(name, self._sure if watched else [])
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
        made_by = json.loads((ResultsTree(results).all_provenance / "git.json").read_text())
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
        "bundles": [folder.name for folder in ResultsTree(results).machines.bundles()],
        "verify": f"sha256sum -c {SUMS} in the unpacked folder, or: tessera dev package verify FILE",
    }


# Check a package: every file is listed, and every listed file exists and has its checksum.

MOST_ENTRIES = 200_000  #: a package of the paper's configuration has some thousand files
MOST_BYTES = 1024 * GB  #: unpacked; with recordings it has some 100GB
MOST_TABLE_BYTES = 64 * MB  #: of the lists of files: about 300 bytes a file
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1  #: bit of the flags


def verify_package(path: Path) -> dict[str, int]:
    """``{"files": ..., "bytes": ...}`` of a correct package; sizes are unpacked.

    Raises:
        TesseraError: the file is not a package, is damaged or incomplete, or has files that it does not list.
    """
    try:
        with path.open("rb") as stream:
            if found := archives.directory_too_large(stream, MOST_ENTRIES):
                raise _wrong_package(path, found, "package-too-large")
            with zipfile.ZipFile(stream) as archive:
                return _check_entries(path, archive)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, csv.Error) as error:
        raise _wrong_package(path, f"the file can't be read: {error}", "package-unreadable") from None


def _check_entries(path: Path, archive: zipfile.ZipFile) -> dict[str, int]:
    entries = [info for info in archive.infolist() if not info.is_dir()]
    names = [info.filename for info in entries]
    for info in entries:
        name = info.orig_filename  # zipfile itself cuts names at a zero byte
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise _wrong_package(path, f"{name!r} is a link or a device", "package-file-kind")
        if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
            raise _wrong_package(path, f"{name!r} is encrypted, or not stored or deflated", "package-method")
        if name.startswith(("/", "../")) or posixpath.normpath(name) != name or not name.isprintable():
            found = f"{name!r} would be unpacked outside of the package's folder, or under another name"
            raise _wrong_package(path, found, "package-file-name")
    if (unpacked := sum(info.file_size for info in entries)) > MOST_BYTES:
        raise _wrong_package(
            path, f"{unpacked} bytes when unpacked; at most {MOST_BYTES}", "package-too-large"
        )
    tops = {name.split("/")[0] for name in names}
    if len(tops) != 1 or len(set(names)) != len(names):
        some = ", ".join(sorted(tops)[:5]) or "none"
        raise _wrong_package(path, f"entries must be unique and in one folder, but are in: {some}")
    top = tops.pop()
    inside = {name.removeprefix(f"{top}/"): name for name in names}
    for needed in (SUMS, MANIFEST, ABOUT):
        if needed not in inside:
            raise _wrong_package(path, f"{needed} is missing")
    lines = _entry_text(path, archive, inside[SUMS]).splitlines()
    sums = {line[66:]: line[:64] for line in lines if line[64:66] == "  "}
    if len(sums) != len(lines):
        raise _wrong_package(path, f"{SUMS} has lines without a checksum")
    if extra := sorted(set(inside) - set(sums) - {SUMS}):
        raise _wrong_package(path, f"not in {SUMS}: {', '.join(extra[:5])}")
    if missing := sorted(set(sums) - set(inside)):
        raise _wrong_package(path, f"{SUMS} lists files that are missing: {', '.join(missing[:5])}")
    sizes = {name: _entry_size(path, archive, inside[name], sums[name]) for name in sorted(sums)}
    _check_manifest(path, _entry_text(path, archive, inside[MANIFEST]), sums, sizes)
    return {"files": len(sizes), "bytes": sum(sizes.values())}


def _entry_text(path: Path, archive: zipfile.ZipFile, name: str) -> str:
    if (size := archive.getinfo(name).file_size) > MOST_TABLE_BYTES:
        raise _wrong_package(
            path, f"{name} has {size} bytes; at most {MOST_TABLE_BYTES}", "package-too-large"
        )
    return archive.read(name).decode()


def _entry_size(path: Path, archive: zipfile.ZipFile, name: str, wanted: str) -> int:
    total, size = hashlib.sha256(), 0
    with archive.open(name) as file:
        while chunk := file.read(MB):
            total.update(chunk)
            size += len(chunk)
    if total.hexdigest() != wanted:
        raise _wrong_package(path, f"{name} has SHA-256 {total.hexdigest()}, but {SUMS} has {wanted}")
    return size


def _check_manifest(path: Path, text: str, sums: dict[str, str], sizes: dict[str, int]) -> None:
    table = csv.DictReader(io.StringIO(text))
    if tuple(table.fieldnames or ()) != MANIFEST_COLUMNS:
        raise _wrong_package(
            path, f"{MANIFEST} has columns {table.fieldnames}, not {', '.join(MANIFEST_COLUMNS)}"
        )
    listed = {row["path"]: (row["sha256"], row["bytes"]) for row in table}
    wanted = {name: (sums[name], str(sizes[name])) for name in sums if name != MANIFEST}
    if listed != wanted:
        different = sorted(name for name in listed | wanted if listed.get(name) != wanted.get(name))
        raise _wrong_package(
            path, f"{MANIFEST} and {SUMS} differ in: {', '.join(different[:5])}", "package-tables-differ"
        )


def _wrong_package(path: Path, found: str, code: str = "") -> TesseraError:
    return TesseraError(
        f"package {path}",
        found,
        "download the package again, or make it again: tessera dev package --help",
        exit_code=EXIT_FAILED,
        code=code,
    )
