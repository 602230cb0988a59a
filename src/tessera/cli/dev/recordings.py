"""``tessera dev recordings``: the table of known recordings, from a run."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--results", type=click.Path(path_type=Path), required=True, help="Results folder, e.g. results/default."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="The table.  [default: config/known-recordings.csv]"
)
def recordings(results: Path, out: Path | None) -> None:
    """Write the recordings of a run to the table of known recordings.

    They replace the rows of the same workloads and sizes; other rows stay. Recordings that need not repeat
    are left out. `tessera lab run known-recordings` compares a run with the table.

    Example: ./run tessera dev recordings --results results/smoke --out /tmp/known-recordings.csv
    """
    from tessera.record import known_recordings

    target = out or known_recordings.known_file()
    rows = known_recordings.read_known(target) if target.exists() else {}
    found = [known_recordings.recording_of(info) for info in known_recordings.recordings_of(results)]
    new = {row.place: row for row in found if row}
    known_recordings.write_known(target, (rows | new).values())
    changed = sum(rows.get(place) != row for place, row in new.items())
    click.echo(
        f"{len(new)} recordings, {changed} new or changed, {len(found) - len(new)} left out -> {target}"
    )
