"""``tessera dev reference``: the papers' archived data, compared with the numbers printed in the papers."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import click

from tessera.core.progress import download_progress


@click.group()
def reference() -> None:
    """Download the papers' archived data, verify them, and compare them with the printed numbers.

    Example: ./run tessera dev reference verify
    """


@reference.command()
@click.argument("names", nargs=-1)
@click.option("--offline", is_flag=True, help="Make no connection; print which data are used instead.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help="Results folder: write <results>/reference/ afterwards.",
)
def fetch(names: tuple[str, ...], offline: bool, results: Path | None) -> None:
    """Download records, verify them, and unpack their data; continue interrupted downloads.

    Example: ./run tessera dev reference fetch --offline
    """
    from tessera.core.reference import records
    from tessera.core.reference.fetch import fetch_and_extract

    known = {name: records.load_record(name) for name in records.record_names()}
    chosen = [records.load_record(name) for name in names] or [r for r in known.values() if r.by_default]
    for record in chosen:
        if offline:
            _say_offline(record)
            continue
        with download_progress() as progress, _interruptible(record):
            kept = fetch_and_extract(record, progress)
        for name, entry in kept["files"].items():
            click.echo(f"{record.name}: {name}, {entry['bytes']} bytes, MD5 as archived")
            click.echo(f"  SHA-256 {entry['sha256']} {_SAID[entry['verdict']]}")
    if results is not None:
        _publish(results, None)


@reference.command()
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """List the archived records that the papers name; compare MD5 and SHA-256 of those on this machine.

    NAMES: only these records, which must be on this machine.

    Example: ./run tessera dev reference verify
    """
    from tessera.core.errors import EXIT_FAILED, TesseraError
    from tessera.core.reference import records
    from tessera.core.reference.records import record_state, verify_record

    failed = False
    for record in (records.load_record(name) for name in names or records.record_names()):
        kind = "fetched by default" if record.by_default else "fetched by name only"
        click.echo(f"{record.name} ({record.doi}): {record_state(record)}, {kind}")
        click.echo(f"  {record.holds}; named in {record.paper}, {record.named_in}")
        if record_state(record) == "missing" and not names:
            continue
        try:
            for name, verdict in verify_record(record).items():
                click.echo(f"{record.name}: {name}: {verdict}")
        except TesseraError as error:
            failed = True
            click.echo(f"tessera: {error}", err=True)
    sys.exit(EXIT_FAILED if failed else 0)


@reference.command()
@click.option(
    "--results", required=True, type=click.Path(path_type=Path), help="Results folder, e.g. results/default."
)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    help="Folder of unpacked reference data.  [default: the downloaded records]",
)
def compare(results: Path, source: Path | None) -> None:
    """Compare archived with printed numbers; write the tables to <results>/reference/.

    Also lists the archived numbers that a rule excludes, with the reason.

    Example: ./run tessera dev reference compare --results results/default
    """
    _publish(results, source)


#: Message on the SHA-256 of a file, by verdict.
_SAID = {
    "verified": "as in reference-results/records.yaml",
    "recorded": "recorded: it was not known before; later downloads must have the same",
}


def _publish(results: Path, source: Path | None) -> None:
    from tessera.core.reference.comparison import write_reference

    done = write_reference(results, source)
    for note in done.notes:
        click.echo(f"note: {note}")
    for _, rule in done.rules.iterrows():
        click.echo(f"{rule['rule']}: {rule['findings']} findings, {rule['numbers']} numbers set aside")
    agrees = done.comparison["agrees"].dropna()
    click.echo(
        f"{len(done.archived)} archived numbers used, {_distinct(done.quarantine)} set aside "
        f"(some by several rules); {len(done.comparison)} printed numbers, "
        f"{len(agrees)} of them compared with the archive, {int(agrees.sum())} agree; in {results}/reference/"
    )


def _distinct(quarantine) -> int:
    """Numbers in the quarantine, each counted once."""
    numbers = quarantine.dropna(subset=["value"])
    return len(numbers.drop_duplicates(["file", "line", "quantity"]))


def _say_offline(record) -> None:
    from tessera.core.reference.comparison import OFFLINE_NOTE
    from tessera.core.reference.records import record_state

    if record_state(record) == "present":
        click.echo(f"note: offline: {record.name} ({record.doi}) was downloaded before and is used")
    else:
        click.echo(f"note: offline: {record.name} ({record.doi}) was not fetched; {OFFLINE_NOTE}")


@contextmanager
def _interruptible(record):
    """On Ctrl-C, SIGTERM and SIGHUP, keep the bytes that have arrived, and print where they are."""
    from tessera.core.processes import signals_raise

    try:
        with signals_raise():
            yield
    except (KeyboardInterrupt, SystemExit):
        click.echo(
            f"{record.name}: interrupted; {record.folder} keeps complete and partial files; "
            "the same command continues the download",
            err=True,
        )
        raise
