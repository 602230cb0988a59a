"""``tessera reference``: archived records that the papers name, and how they compare with what is printed."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import click

from tessera.core.progress import download_progress


@click.group()
def reference() -> None:
    """Fetch the papers' archived data, check them, and compare them with what is printed."""


@reference.command("list")
def list_records() -> None:
    """Which records the papers name, where, and what of them is here.

    Example: tessera reference list
    """
    from tessera.reference import records
    from tessera.reference.archive import state

    for record in (records.load(name) for name in records.names()):
        kind = "fetched by default" if record.by_default else "fetched by name only"
        click.echo(f"{record.name} ({record.doi}): {state(record)}, {kind}")
        click.echo(f"  {record.holds}; named in {record.paper}, {record.named_in}")


@reference.command()
@click.argument("names", nargs=-1)
@click.option("--offline", is_flag=True, help="Make no connection; say what is used instead.")
@click.option("--results", type=click.Path(path_type=Path), help="Write its tables afterwards.")
def fetch(names: tuple[str, ...], offline: bool, results: Path | None) -> None:
    """Download records, resuming what was interrupted, check them, and unpack their reference data.

    Example: tessera reference fetch --offline
    """
    from tessera.reference import records
    from tessera.reference.collect import collect

    known = {name: records.load(name) for name in records.names()}
    chosen = [records.load(name) for name in names] or [r for r in known.values() if r.by_default]
    for record in chosen:
        if offline:
            _say_offline(record)
            continue
        with download_progress() as progress, _interruptible(record):
            kept = collect(record, progress)
        for name, entry in kept["files"].items():
            click.echo(f"{record.name}: {name}, {entry['bytes']} bytes, MD5 as archived")
            click.echo(f"  SHA-256 {entry['sha256']} {_SAID[entry['verdict']]}")
    if results is not None:
        _publish(results, None)


@reference.command()
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> None:
    """Read fetched records again and compare MD5 and SHA-256 (default: all that are here).

    Example: tessera reference verify
    """
    from tessera.core.errors import EXIT_FAILED, TesseraError
    from tessera.reference import records
    from tessera.reference.archive import state
    from tessera.reference.archive import verify as check

    known = [records.load(name) for name in names or records.names()]
    chosen = known if names else [record for record in known if state(record) != "missing"]
    if not chosen:
        click.echo("no record is here; tessera reference list")
    failed = False
    for record in chosen:
        try:
            for name, verdict in check(record).items():
                click.echo(f"{record.name}: {name}: {verdict}")
        except TesseraError as error:
            failed = True
            click.echo(f"tessera: {error}", err=True)
    sys.exit(EXIT_FAILED if failed else 0)


@reference.command()
@click.option("--results", required=True, type=click.Path(path_type=Path), help="results/<config>")
@click.option("--from", "source", type=click.Path(path_type=Path), help="Unpacked reference data.")
def compare(results: Path, source: Path | None) -> None:
    """Write <results>/reference/: archived numbers, what was set aside and why, and the comparison.

    Example: tessera reference compare --results results/default
    """
    _publish(results, source)


#: What is said of a file's SHA-256.
_SAID = {
    "verified": "as in reference-results/records.yaml",
    "recorded": "recorded: not known before, every later download is held to it",
}


def _publish(results: Path, source: Path | None) -> None:
    from tessera.reference.publish import publish

    done = publish(results, source)
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
    from tessera.reference.archive import state
    from tessera.reference.publish import OFFLINE_NOTE

    if state(record) == "present":
        click.echo(f"note: offline: {record.name} ({record.doi}) is here already and is used as it is")
    else:
        click.echo(f"note: offline: {record.name} ({record.doi}) was not fetched; {OFFLINE_NOTE}")


@contextmanager
def _interruptible(record):
    """Ctrl-C, SIGTERM and SIGHUP end a download so that what has arrived is on disk, and say that it is."""
    from tessera.core.interrupts import signals_raise

    try:
        with signals_raise():
            yield
    except (KeyboardInterrupt, SystemExit):
        click.echo(
            f"{record.name}: interrupted; complete files and the beginnings of others are kept in "
            f"{record.folder}; the same command goes on there",
            err=True,
        )
        raise
