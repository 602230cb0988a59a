"""What commands share: progress, and the last lines."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.core.results.outcomes import FAILED, note_of, note_sentence


class Log:
    """Progress on stderr: prints lines of the study, and passes lines of the simulator to the ticker."""

    def __init__(self, label: str):
        from tessera.simulate.progress import Ticker

        self.ticker = Ticker(label)

    def __call__(self, line: str) -> None:
        from tessera.simulate.progress import parse_progress

        if parse_progress(line):
            self.ticker(line)
            return
        self.ticker.close()
        click.echo(line, err=True)


def say_trace_notes(trace: Path | None) -> None:
    """A line on stderr if the trace (or that of an info.json) lacks a part of its program."""
    from tessera.core.results.outcomes import read_recording
    from tessera.record import traces

    if trace is None:
        return
    found = read_recording(trace)[0] if trace.suffix == ".json" else traces.trace_info(trace)
    if note := note_sentence(note_of(found)):
        click.echo(f"note: {note}", err=True)


def close(table, out: Path) -> None:
    for message in table[table["status"] == FAILED]["message"].drop_duplicates():
        click.echo(f"failed: {message}", err=True)
    click.echo(f"{len(table)} rows -> {out}")
