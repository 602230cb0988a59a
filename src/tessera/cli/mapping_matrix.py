"""``tessera mapping capture-matrix``: captures under large pages, fragmented memory and co-runners."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command(
    "capture-matrix", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder for mappings, matrix.csv and picture.",
)
@click.option(
    "--thp", default="never,always", show_default=True, help="Values of `capture --thp`, comma-separated."
)
@click.option(
    "--unusable-index",
    "indices",
    default="as-is,0.9",
    show_default=True,
    help="Unusable indices of free memory (0 to 1; as-is: unchanged), comma-separated.",
)
@click.option(
    "--co-runners", default="0,1", show_default=True, help="Numbers of co-runners, comma-separated."
)
@click.option(
    "--co-runner",
    "partners",
    multiple=True,
    metavar="COMMAND",
    help="Program of co-runners, quoted; repeatable.  [default: copies of PROGRAM]",
)
@click.option(
    "--warm-seconds",
    type=click.FloatRange(min=0),
    default=2.0,
    show_default=True,
    help="Seconds from the start of the co-runners to that of PROGRAM.",
)
@click.option("--at", type=click.Choice(("begin", "end")), help="As of `tessera mapping capture`.")
@click.option(
    "--after-seconds", type=click.FloatRange(min=0, min_open=True), help="As of `tessera mapping capture`."
)
@click.option("--pool-size", default="64GB", show_default=True, help="As of `tessera mapping capture`.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def capture_matrix(
    out, thp, indices, co_runners, partners, warm_seconds, at, after_seconds, pool_size, program
) -> None:
    """Capture the mappings of PROGRAM under large pages, fragmented memory and co-runners. Needs root.

    Makes free memory unusable for 2MB pages up to each index, starts the co-runners, and captures PROGRAM.
    Changes settings of this machine, so it needs ./run --reserve. At the end, settings and memory are as
    before. After kill -9, the next ./run restores the settings. docs/mappings.md describes the table.

    \b
    Example (as root, after: tessera build mosalloc workloads):
      ./run --reserve tessera mapping capture-matrix --out /tmp/live-matrix --unusable-index as-is,0.5,0.9 \\
          -- build/workloads/gups --size 64MB --reads 1000000
    """
    import shlex

    from tessera.core.tables import print_table
    from tessera.mapping.capture import check_allowed
    from tessera.mosalloc.large_pages import MODES
    from tessera.mosalloc.matrix import FAILED, TABLE, Asked
    from tessera.mosalloc.matrix import capture_matrix as captured

    if at and after_seconds:
        raise click.UsageError("give either --at or --after-seconds")
    options = ["--pool-size", pool_size]
    options += ["--at", at] if at else []
    options += ["--after-seconds", str(after_seconds)] if after_seconds else []
    asked = Asked(
        program,
        out,
        _listed("--thp", thp, lambda word: word if word in MODES else None, f"one of {', '.join(MODES)}"),
        _listed("--unusable-index", indices, _index, "as-is, or a number from 0 to 1"),
        _listed(
            "--co-runners", co_runners, lambda w: int(w) if w.isascii() and w.isdigit() else None, "a number"
        ),
        [shlex.split(text) for text in partners],
        options,
        warm_seconds,
        progress=lambda line: click.echo(line, err=True),
    )
    check_allowed()
    out.mkdir(parents=True, exist_ok=True)
    rows = captured(asked)
    shown = ("case", "status", "index_at_start", "median_chunk_pages", "share_2mb", "distance_count")
    print_table(shown, [[str(row[name]) for name in shown] for row in rows], right=range(2, len(shown)))
    click.echo(f"{len(rows)} cases -> {out / TABLE}")
    sys.exit(any(row["status"] == FAILED for row in rows))


_AS_IS = "as-is"


def _index(word: str):
    if word == _AS_IS:
        return _AS_IS
    try:
        value = float(word)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _listed(option: str, text: str, read, rule: str) -> list:
    """The values of a list; ``as-is`` becomes None."""
    from tessera.core.errors import TesseraError

    found = []
    for word in dict.fromkeys(part.strip() for part in text.split(",")):
        value = read(word)
        if value is None:
            raise TesseraError(f"{option} {text}", f"'{word}' must be {rule}", f"see {option} in --help")
        found.append(None if value == _AS_IS and option == "--unusable-index" else value)
    return found
