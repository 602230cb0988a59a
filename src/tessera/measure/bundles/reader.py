"""Read a bundle: every file, strictly, and whether the files refer to each other correctly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import Layout, Window, canonical_name, layout_text
from tessera.core.layouts.layout_format import LayoutRefused, Parser
from tessera.measure.bundles import csv_files, file_format, json_files
from tessera.measure.bundles.archive import contents, unpacked_pieces
from tessera.measure.bundles.bundle import REGION, Bundle, BundleCounts, MeasuredRun
from tessera.measure.bundles.file_format import shown, wrong

# The files.

_LAYOUT = re.compile(
    rf"{file_format.LAYOUTS_FOLDER}/({file_format.NAME_PATTERN})/({file_format.NAME_PATTERN})\.csv", re.ASCII
)
_HEAD = re.compile(rb"[ -~\n]*")


def read_bundle(path: Path | str) -> Bundle:
    """Read a folder or a zip file, sealed or not; sums and cells are not checked (``verify`` does).

    Raises:
        TesseraError: a file is missing, unknown or damaged; it has an unknown or missing field, or a value
            that is not of its kind; or it refers to something that the bundle does not have. ``code`` begins
            with ``bundle-``.
    """
    return parse_bundle(str(path), contents(Path(path)))


def parse_bundle(name: str, files: Mapping[str, bytes]) -> Bundle:
    """A bundle from the bytes of its files; raises as :func:`read_bundle`; messages begin with ``name``."""
    try:
        return _parsed(name, files)
    except TesseraError as error:
        raise TesseraError(
            f"{name}: {error.asked}", error.found, error.remedy, exit_code=error.exit_code, code=error.code
        ) from None


def _parsed(name: str, files: Mapping[str, bytes]) -> Bundle:
    sealed = file_format.SUMS_FILE in files
    _check_names(files, file_format.SEALED_FILES if sealed else file_format.OPEN_FILES)
    counts = unpacked_pieces(files[file_format.PACKED_FILE]) if sealed else [files[file_format.COUNTS_FILE]]
    bundle = Bundle(
        name=name,
        about=json_files.read_about(files[file_format.ABOUT_FILE]),
        machine=json_files.read_machine(files[file_format.MACHINE_FILE]),
        environment=tuple(
            csv_files.parse_csv(csv_files.ENVIRONMENT_SHAPE, files[file_format.ENVIRONMENT_FILE])
        ),
        events=tuple(csv_files.parse_csv(csv_files.EVENTS_SHAPE, files[file_format.EVENTS_FILE])),
        runs=tuple(csv_files.parse_csv(csv_files.RUNS_SHAPE, files[file_format.RUNS_FILE])),
        counts=BundleCounts(csv_files.csv_columns(csv_files.COUNTS_SHAPE, counts)),
        workloads=json_files.read_workloads(files[file_format.WORKLOADS_FILE]),
        layouts=_layouts(files),
        cells=_text(file_format.CELLS_FILE, files[file_format.CELLS_FILE]) if sealed else None,
        sums=_text(file_format.SUMS_FILE, files[file_format.SUMS_FILE]) if sealed else "",
    )
    check_links(bundle)
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


# References between the files of a bundle: runs to passes, layouts and workloads, counts to runs.


def check_links(bundle: Bundle) -> None:
    """Raises TesseraError (``bundle-link`` or ``bundle-twice``) at the first wrong reference."""
    _once(file_format.ENVIRONMENT_FILE, [answer.check for answer in bundle.environment])
    if len(bundle.passes_by_name) > file_format.MOST_PASSES:
        raise file_format.too_large(file_format.EVENTS_FILE, f"more than {file_format.MOST_PASSES} passes")
    for name, events in bundle.passes().items():
        _once(f"{file_format.EVENTS_FILE}, pass {name}", [event.name for event in events])
        _once(f"{file_format.EVENTS_FILE}, pass {name}", [event.role for event in events])
        if any(event.name == REGION for event in events):
            raise wrong(f"{file_format.EVENTS_FILE}, pass {name}", f"no event has the name {REGION}", "link")
    _once(file_format.RUNS_FILE, (run.run for run in bundle.runs))
    _check_rounds(bundle)
    if len({run.message for run in bundle.runs}) > file_format.MOST_MESSAGES:
        found = f"more than {file_format.MOST_MESSAGES} different messages"
        raise file_format.too_large(file_format.RUNS_FILE, found)
    for run in bundle.runs:
        _check_run(bundle, run)
    known = {run.run: run for run in bundle.runs}
    for number in bundle.counts:
        if number not in known:
            raise wrong(
                f"{file_format.COUNTS_FILE}, run {number}", f"{file_format.RUNS_FILE} has no such run", "link"
            )
        if not known[number].good:
            raise wrong(
                f"{file_format.COUNTS_FILE}, run {number}", f"this run is {known[number].status}", "link"
            )
    _check_used(bundle)


def _check_run(bundle: Bundle, run: MeasuredRun) -> None:
    place = f"{file_format.RUNS_FILE}, run {run.run}"
    if run.workload not in bundle.workloads:
        raise wrong(place, f"workload {run.workload} is not in {file_format.WORKLOADS_FILE}", "link")
    if (run.workload, run.layout) not in bundle.layouts:
        raise wrong(place, f"{file_format.layout_file(run.workload, run.layout)} is missing", "link")
    numbers = (run.roi_ns, run.pages_4kb, run.pages_2mb, run.pages_1gb)
    if run.good != all(number is not None for number in numbers) or (
        not run.good and any(number is not None for number in numbers)
    ):
        raise wrong(place, "roi_ns and pages have values if the status is ok, and only then", "link")
    if run.good == bool(run.message):
        raise wrong(place, "a message stands in runs that are not ok, and only there", "link")
    events = bundle.passes_by_name.get(run.pass_name)
    if events is None:
        raise wrong(place, f"pass {run.pass_name} is not in {file_format.EVENTS_FILE}", "link")
    if run.good:
        found = bundle.counts.events_of(run.run, len(events) + 2)  # one too many is enough
        if found not in (events, [*events, REGION]):
            raise wrong(
                f"{file_format.COUNTS_FILE}, run {run.run}",
                f"it counts {shown(', '.join(found))}; pass {run.pass_name} has {shown(', '.join(events))}",
                "link",
            )


def _check_rounds(bundle: Bundle) -> None:
    """The n rounds of a layout are 0 to n - 1, so nothing that comes later counts to a number of the file."""
    for (workload, layout), by_round in bundle.rounds.items():
        for wanted, (number, runs) in enumerate(by_round.items()):
            _once(
                f"{file_format.RUNS_FILE}, {workload}, {layout}, round {number}",
                [run.pass_name for run in runs],
            )
            if number != wanted:
                found = f"round {number} of {workload}, {layout}, which has no run of round {wanted}"
                raise wrong(f"{file_format.RUNS_FILE}, run {runs[0].run}", found, "value")


def _check_used(bundle: Bundle) -> None:
    """Layouts, workloads and passes that no run has would be of another bundle."""
    if not bundle.runs:
        if bundle.sealed:
            raise wrong(file_format.RUNS_FILE, "it has no run", "link")
        return
    for place, here, used in (
        (
            file_format.LAYOUTS_FOLDER,
            set(bundle.layouts),
            {(run.workload, run.layout) for run in bundle.runs},
        ),
        (file_format.WORKLOADS_FILE, set(bundle.workloads), {run.workload for run in bundle.runs}),
        (file_format.EVENTS_FILE, set(bundle.passes_by_name), {run.pass_name for run in bundle.runs}),
    ):
        if bundle.sealed and here - used:
            raise wrong(place, f"no run uses {shown(sorted(here - used)[0])}", "link")


def _once(place: str, values: Iterable) -> None:
    seen = set()
    for value in values:
        if value in seen:
            raise wrong(place, f"{shown(value)} stands twice", "twice")
        seen.add(value)
