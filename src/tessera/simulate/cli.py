"""``tessera simulate``: H, M, C (and R) of a trace under every layout of a folder."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from tessera.errors import EXIT_FAILED, TesseraError, unknown_name


class Ticker:
    """Progress on stderr: rewritten in place on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, label: str):
        self.label = label
        self.tty = sys.stderr.isatty()
        self.last = 0.0

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if now - self.last < (0.2 if self.tty else 10):
            return
        self.last = now
        done, _, rest = line.partition(" ")
        total = rest.split(" ")[0]
        if done.isdigit() and total.isdigit() and int(total):
            line = f"{100 * int(done) // int(total)}%"
        end = "\r" if self.tty else "\n"
        click.echo(f"{self.label}: {line}{end}", nl=False, err=True)


@click.command()
@click.option("--trace", type=click.Path(path_type=Path), help="Recorded trace.")
@click.option("--platform", help="Platform name or YAML file (see --list).")
@click.option("--layouts", "folder", type=click.Path(path_type=Path), help="Folder of layout CSVs.")
@click.option("--out", type=click.Path(path_type=Path), help="Cells file to write.")
@click.option("--engine", default="timing", show_default=True, help="partial: H, M, C; timing: R too.")
@click.option(
    "--sampling",
    default="units=20,warmup_accesses=2500000,timed_instructions=1000000",
    show_default=True,
    help="Samples for C and R, or `full`; H and M are always exact.",
)
@click.option("--workload", help="Name in the cells file [default: the trace's file or folder name].")
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help="Cache of finished cells [default: .cache beside --out].",
)
@click.option("--list", "listing", is_flag=True, help="List engines and platforms and exit.")
def simulate(trace, platform, folder, out, engine, sampling, workload, cache, listing) -> None:
    """Simulate a trace under many layouts on one platform.

    Cells that are finished are kept in the cache, so a killed run goes on where it was. A layout
    that is refused becomes a `failed` row with the reason; the others go on (exit status 1).

    \b
    Example:
      tessera simulate --trace gups.tst --platform haswell-sim --layouts L/ --out cells.csv
    """
    from tessera import cells, platforms
    from tessera.layouts.folder import layout_files
    from tessera.simulate.cache import CellCache
    from tessera.simulate.plan import ENGINES, parse_sampling
    from tessera.simulate.runner import simulate as run

    if listing:
        click.echo(f"engines: {', '.join(ENGINES)}\nplatforms: {', '.join(platforms.names())}")
        return
    needed = {"--trace": trace, "--platform": platform, "--layouts": folder, "--out": out}
    if missing := [name for name, value in needed.items() if value is None]:
        raise click.UsageError(f"missing {', '.join(missing)}")
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    if not trace.is_file():
        raise TesseraError(f"trace {trace}", "no such file", "tessera trace record --out T -- prog")
    label = workload or (trace.parent.name if trace.stem == "trace" else trace.stem)
    found = platforms.load(platform)
    rows = run(
        trace,
        found,
        layout_files(folder),
        workload=label,
        engine=engine,
        sampling=parse_sampling(sampling),
        cache=CellCache(cache or out.parent / ".cache"),
        progress=Ticker(f"{label} on {found.name}"),
    )
    cells.write_cells(rows, out)
    failed = [row for row in rows if row["status"] != "ok"]
    click.echo(f"{len(rows) - len(failed)} cells ok, {len(failed)} failed -> {out}")
    for row in failed:
        click.echo(f"failed: {row['layout']}: {row['message']}", err=True)
    if failed:
        sys.exit(EXIT_FAILED)
