"""Read a bundle: every file, strictly, and whether the files refer to each other correctly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from tessera.bundles import documents, links, names, shapes
from tessera.bundles.contents import contents
from tessera.bundles.model import Bundle, Counts
from tessera.bundles.packed import unpacked
from tessera.bundles.wrong import shown, wrong
from tessera.core.errors import TesseraError
from tessera.layouts.grammar import Parser
from tessera.layouts.model import Layout, Window, canonical_name, layout_text
from tessera.layouts.rules import LayoutRefused

_LAYOUT = re.compile(rf"{names.LAYOUTS}/([A-Za-z0-9_.:-]+)/([A-Za-z0-9_.:-]+)\.csv", re.ASCII)
_HEAD = re.compile(rb"[ -~\n]*")


def read(path: Path | str) -> Bundle:
    """Read a folder or a zip file, sealed or not; sums and cells are not checked (``verify`` does).

    Raises:
        TesseraError: a file is missing, unknown or damaged; it has an unknown or missing field, or a value
            that is not of its kind; or it refers to something that the bundle does not have. ``code`` begins
            with ``bundle-``.
    """
    return parse(str(path), contents(Path(path)))


def parse(name: str, files: Mapping[str, bytes]) -> Bundle:
    """A bundle from the bytes of its files; raises as :func:`read`, and the message begins with ``name``."""
    try:
        return _parsed(name, files)
    except TesseraError as error:
        raise TesseraError(
            f"{name}: {error.asked}", error.found, error.remedy, exit_code=error.exit_code, code=error.code
        ) from None


def _parsed(name: str, files: Mapping[str, bytes]) -> Bundle:
    sealed = names.SUMS in files
    _check_names(files, names.SEALED if sealed else names.OPEN)
    counts = unpacked(files[names.PACKED]) if sealed else [files[names.COUNTS]]
    bundle = Bundle(
        name=name,
        about=documents.read_about(files[names.ABOUT]),
        machine=documents.read_machine(files[names.MACHINE]),
        environment=tuple(shapes.parse(shapes.ENVIRONMENT, files[names.ENVIRONMENT])),
        events=tuple(shapes.parse(shapes.EVENTS, files[names.EVENTS])),
        runs=tuple(shapes.parse(shapes.RUNS, files[names.RUNS])),
        counts=Counts(shapes.columns(shapes.COUNTS, counts)),
        workloads=documents.read_workloads(files[names.WORKLOADS]),
        layouts=_layouts(files),
        cells=_text(names.CELLS, files[names.CELLS]) if sealed else None,
        sums=_text(names.SUMS, files[names.SUMS]) if sealed else "",
    )
    links.check(bundle)
    return bundle


def _check_names(files: Mapping[str, bytes], wanted: tuple[str, ...]) -> None:
    for name in files:
        if name not in wanted and not _LAYOUT.fullmatch(name):
            raise wrong(shown(name), "a bundle has no such file", "file-unknown", "remove it from the folder")
    for name in wanted:
        if name not in files:
            raise wrong(name, "the file is missing", "file-missing")


def _layouts(files: Mapping[str, bytes]) -> dict[tuple[str, str], Layout]:
    found = {}
    for name, data in files.items():
        if match := _LAYOUT.fullmatch(name):
            if canonical_name(match[2]) != match[2]:
                raise wrong(name, f"this layout is called {canonical_name(match[2])} in a bundle", "layout")
            found[match[1], match[2]] = _layout(name, data)
    return found


def _layout(name: str, data: bytes) -> Layout:
    try:
        parser = Parser(PurePosixPath(name), data)
    except LayoutRefused as error:
        raise wrong(error.asked, error.found, "layout", error.remedy) from None
    layout = Layout(PurePosixPath(name).stem, parser.pools, tuple(Window(*row[:4]) for row in parser.windows))
    if layout_text(layout).encode() != data:
        raise wrong(name, "it is not in the form in which Tessera writes layouts", "layout")
    return layout


def _text(name: str, data: bytes) -> str:
    if not _HEAD.fullmatch(data):
        raise wrong(name, "it has bytes that are not printable ASCII", "text")
    return data.decode("ascii")
