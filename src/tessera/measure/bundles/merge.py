"""``tessera measure bundle merge``: two parts, measured by one machine under the same rules, become one.

Parts have different workloads, or further rounds of the same layouts of a workload.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import making_folder
from tessera.machine.environment.condition import worse_of
from tessera.measure.bundles import archive, csv_files, file_format, writer
from tessera.measure.bundles.bundle import Bundle, EventCount, MeasuredRun
from tessera.measure.bundles.head_checks import conditions_with_runs
from tessera.measure.bundles.reader import parse_bundle
from tessera.measure.bundles.writer import sealed_files

#: Fields of bundle.json and machine.json that parts of one machine share; the later day is kept.
_SAME_ABOUT = ("schema", "protocol", "protocol_sha256", "region", "mode", "counter", "rehearsal",
               "class_name", "platform")  # fmt: skip


def merged(first: Bundle, second: Bundle) -> dict[str, bytes]:
    """The files of the sealed bundle with the runs of both; rounds and runs of the second come later.

    Raises:
        TesseraError: the parts are not of one machine and one kind (``bundle-merge``); the message names each
            difference.
    """
    found = [*_differences(first, second), *_conflicts(first, second)]
    if found:
        raise TesseraError(
            f"merge {first.name} and {second.name}",
            "; ".join(found),
            "merge parts of one machine, kernel, protocol and mode; keep other bundles apart",
            code="bundle-merge",
        )
    runs = list(first.runs)
    start = max((run.run for run in runs), default=-1) + 1
    after, numbers = _rounds(first), {}
    for number, run in enumerate(sorted(second.runs, key=lambda run: run.run), start=start):
        runs.append(replace(run, run=number, round=run.round + after.get(run.workload, 0)))
        numbers[run.run] = number
    about = replace(first.about, created=max(first.about.created, second.about.created))
    worse = worse_of(first.environment, second.environment)
    texts = writer.head_files(
        about, first.machine, worse, first.events, first.workloads | second.workloads,
        first.layouts | second.layouts,
    )  # fmt: skip
    texts[file_format.RUNS_FILE] = csv_files.csv_text(csv_files.RUNS_SHAPE, runs)
    texts[file_format.COUNTS_FILE] = csv_files.csv_text(
        csv_files.COUNTS_SHAPE, _joined(first, second, numbers)
    )
    files = {name: text.encode() for name, text in texts.items()}
    both = parse_bundle(f"{first.name} + {second.name}", files)
    files[file_format.ENVIRONMENT_FILE] = writer.environment_text(conditions_with_runs(both, worse)).encode()
    return sealed_files(both.name, files)


def _joined(first: Bundle, second: Bundle, numbers: dict[int, int]) -> Iterator[EventCount]:
    """The counts of both; ``numbers``: of the second's runs, in their order."""
    for rows in first.counts.values():
        yield from rows
    for run, number in numbers.items():
        yield from (replace(count, run=number) for count in second.counts.get(run, ()))


def write(files: dict[str, bytes], folder: Path) -> None:
    """Write a bundle's files, read them back, and give their folder its name.

    Raises:
        TesseraError: the folder has files already, can't be written, or does not have these files afterwards
            (``bundle-not-kept``). There is no such folder then.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TesseraError(f"write {folder}", "it exists and is not empty", "name a new folder")
    if problems := archive.sums_problems(files):
        raise TesseraError(f"write {folder}", "; ".join(problems), "verify the bundle")
    with making_folder(folder) as made:
        for name, data in files.items():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_bytes(data)
        if archive.contents(made) != files:
            found = "what was read back is not what was written"
            raise file_format.wrong(str(folder), found, "not-kept", "write it to another file system")


def _differences(first: Bundle, second: Bundle) -> list[str]:
    found = []
    for name in _SAME_ABOUT:
        here, there = getattr(first.about, name), getattr(second.about, name)
        if here != there:
            found.append(f"{name}: {here} and {there}")
    for one in fields(first.machine):
        here, there = getattr(first.machine, one.name), getattr(second.machine, one.name)
        if here != there:
            short = f": {here} and {there}" if isinstance(here, str | int) else " differ"
            found.append(f"{one.name}{short}")
    if set(first.events) != set(second.events):
        found.append("events.csv differ: the parts counted other passes")
    return found


def _conflicts(first: Bundle, second: Bundle) -> list[str]:
    found = []
    for name in sorted(set(first.workloads) & set(second.workloads)):
        if first.workloads[name] != second.workloads[name]:
            found.append(f"{name}: size, arguments or program differ")
        if first.layouts_by_workload[name] != second.layouts_by_workload[name]:
            found.append(f"{name}: layouts differ, so their rounds can't be joined")
        if _runs(first, name) == _runs(second, name):
            found.append(f"{name}: both parts have the same runs")
    for bundle in (first, second):
        ended = sorted({run.workload for run in bundle.runs if not run.good})
        both = set(ended) & set(first.workloads) & set(second.workloads)
        found += [f"{name}: a layout failed in {bundle.name}" for name in sorted(both)]
    return found


def _runs(bundle: Bundle, workload: str) -> set[tuple]:
    """The runs of a workload without their numbers."""

    def one(run: MeasuredRun) -> tuple:
        counts = tuple((c.event, c.value, c.enabled_ns, c.running_ns) for c in bundle.counts.get(run.run, ()))
        return run.layout, run.pass_name, run.roi_ns, counts

    rounds = (by_round.values() for by_round in bundle.by_workload[workload].values())
    return {one(run) for each in rounds for runs in each for run in runs}


def _rounds(bundle: Bundle) -> dict[str, int]:
    """Workload -> number of its rounds."""
    found: dict[str, int] = {}
    for run in bundle.runs:
        found[run.workload] = max(found.get(run.workload, 0), run.round + 1)
    return found
