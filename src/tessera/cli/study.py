"""``tessera study``: what sampling costs, what a mechanism does, what the assumed values decide."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.results.status import FAILED, is_ok

PATH = click.Path(path_type=Path)
PLAN = "units=20,warmup_accesses=2500000,timed_instructions=1000000"
CHEAP_PLAN = "units=10,warmup_accesses=500000,timed_instructions=500000"


def _common(command):
    """Options of every study."""
    options = (
        click.option("--info", type=PATH, required=True, help="info.json of a recording or window."),
        click.option("--manifest", type=PATH, required=True, help="manifest.csv of its layouts."),
        click.option("--platform", required=True, help="Platform name or YAML file."),
        click.option("--cache", type=PATH, help="Cache of finished simulations [.cache beside --out]."),
        click.option("--out", type=PATH, required=True, help="CSV file to write."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


class Log:
    """Progress on stderr: a study's own lines as they are, the simulator's through the ticker."""

    def __init__(self, label: str):
        from tessera.simulate.progress import Ticker

        self.ticker = Ticker(label)

    def __call__(self, line: str) -> None:
        from tessera.simulate.progress import parse

        if parse(line):
            self.ticker(line)
            return
        self.ticker.close()
        click.echo(line, err=True)


def _job(info: Path, manifest: Path, platform: str, names: str, cache: Path | None, out: Path):
    from tessera.judge.studies.steps import Job

    return Job(
        info,
        manifest,
        platform,
        _names(names),
        cache or out.parent / ".cache",
        out,
        Log(f"{info.parent.name} on {Path(platform).stem}"),
    )


def _close(table, out: Path) -> None:
    for message in table[table["status"] == FAILED]["message"].drop_duplicates():
        click.echo(f"failed: {message}", err=True)
    click.echo(f"{len(table)} rows -> {out}")


@click.group()
def study() -> None:
    """Studies of the simulator: sampling, ablations, and a sweep over assumed values.

    \b
    Each simulates a window: a part of a trace that is a trace of its own.
      tessera study window --info results/default/traces/gups/info.json --accesses 20000000 --out W/info.json
    A killed study goes on where it was: finished simulations are in the cache. See docs/studies.md.
    """


@study.command()
@click.option("--info", type=PATH, required=True, help="info.json of a recording.")
@click.option("--accesses", type=click.IntRange(min=1), required=True, help="Length of the window.")
@click.option("--out", type=PATH, required=True, help="info.json to write; trace.tst lies beside it.")
def window(info: Path, accesses: int, out: Path) -> None:
    """Cut a window out of the middle of a recorded trace.

    A trace that is no longer than --accesses is its own window.
    """
    from tessera.judge.studies.window import make_window

    made = make_window(info, accesses, out)
    if not is_ok(made):
        click.echo(f"failed: {made['message']}", err=True)
    else:
        click.echo(f"{made['workload']}: {made['accesses']} accesses from {made['window_start_access']} on")


@study.command()
@_common
@click.option("--layouts", "names", default="growing-0,growing-4,growing-8,sliding-40-4", show_default=True)
@click.option("--plan", "plans", multiple=True, default=(PLAN,), show_default=True, help="May be repeated.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of projection and clustering.")
def sampling(info, manifest, platform, cache, out, names, plans, seed) -> None:
    """Full simulation of a window against systematic, blind and clustered samples of it.

    The first plan sets the cost that every method may spend: its units of its timed instructions. Errors are
    those of differences between layouts, relative to the full gain from 4KB to 2MB pages, beside errors of
    totals. intervals.csv beside --out has every interval of the full simulation.

    \b
    Example (W as in `tessera study --help`):
      tessera study sampling --info W/info.json --platform haswell-sim \\
        --manifest results/default/layouts/gups/haswell-sim/manifest.csv --out errors.csv
    """
    from tessera.judge.studies.steps import sampling_study

    job = _job(info, manifest, platform, names, cache, out)
    _close(sampling_study(job, plans, seed), out)


@study.command()
@_common
@click.option("--layouts", "names", default="", help="Comma-separated [all but 1gb].")
@click.option("--sampling", "plan", default=CHEAP_PLAN, show_default=True)
def ablations(info, manifest, platform, cache, out, names, plan) -> None:
    """Slope and curvature of runtime over walk cycles with one mechanism switched off at a time.

    baseline; no-pollution (walker loads enter no cache of the program); infinite-walkers; no-overlap.
    cells.csv beside --out has every cell.

    \b
    Example:
      tessera study ablations --info W/info.json --platform broadwell-sim \\
        --manifest results/default/layouts/gups/broadwell-sim/manifest.csv --out shapes.csv
    """
    from tessera.judge.studies.steps import ablation_study

    _close(ablation_study(_job(info, manifest, platform, names, cache, out), plan), out)


@study.command()
@_common
@click.option("--layouts", "names", default="", help="Comma-separated [all but 1gb].")
@click.option("--sampling", "plan", default=CHEAP_PLAN, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Points at a time.")
@click.option("--only", multiple=True, help="Beginning of keys to vary; may be repeated [all assumed].")
def sweep(info, manifest, platform, cache, out, names, plan, jobs, only) -> None:
    """Vary every assumed value of a platform, one at a time, and see which conclusions survive.

    Numbers are halved and doubled, switches flipped, policies exchanged. Points that the simulator refuses
    are listed with the reason.

    \b
    Example:
      tessera study sweep --info W/info.json --platform sandybridge-sim --jobs 2 \\
        --manifest results/default/layouts/gups/sandybridge-sim/manifest.csv --out sweep.csv
    """
    from tessera.judge.studies.steps import sweep_study

    job = _job(info, manifest, platform, names, cache, out)
    _close(sweep_study(job, plan, jobs, only), out)
