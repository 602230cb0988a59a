"""``tessera measure run`` (``./run measure``): workloads under layouts, counted, as a bundle."""

from __future__ import annotations

from pathlib import Path

import click

PATH = click.Path(path_type=Path)


@click.command("run")
@click.option("--out", type=PATH, required=True, help="Folder of the bundle; repeat the command to go on.")
@click.option(
    "--workloads", metavar="W,...", default="", help="Workloads.  [default: all that can be counted]"
)
@click.option("--size", default="default", show_default=True, help="Size, as in: tessera workload show NAME.")
@click.option("--layouts", type=click.Choice(("full", "core")), default="full", show_default=True,
              help="full: 54 layouts and 1gb (MICRO'20); core: growing and 1gb.")  # fmt: skip
@click.option("--mode", type=click.Choice(("u", "uk")), default="u", show_default=True,
              help="Count user mode, or user mode and kernel.")  # fmt: skip
@click.option("--minutes", type=float, metavar="N",
              help="Choose workloads and layouts that fit into N minutes.  [default: all]")  # fmt: skip
@click.option("--rounds", type=int, metavar="N",
              help="Most rounds; a bundle of others fails `bundle verify`.  [default: 20]")  # fmt: skip
@click.option("--counter", type=click.Choice(("launcher", "perf")), default="launcher", show_default=True,
              help="What opens the events; perf where only perf may.")  # fmt: skip
@click.option("--region", type=click.Choice(("roi", "program", "whole")),
              help="What is counted; a bundle of another region than roi fails `bundle verify`.  "
              "[default: roi; with perf: whole]")  # fmt: skip
@click.option("--also", metavar="PASS,...", default="", help="Optional passes: by-size, caches, code.")
@click.option("--class", "class_name", metavar="NAME", default="",
              help="Class of the cores, on a processor with two types.")  # fmt: skip
@click.option("--results", type=PATH, metavar="DIR",
              help="Results with simulated misses.  [default: results/default]")  # fmt: skip
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Seed of the order and of random layouts."
)
@click.option("--fix", is_flag=True, help="Set what disturbs, and restore it at the end, also after kill -9.")
def run(
    out,
    workloads,
    size,
    layouts,
    mode,
    minutes,
    rounds,
    counter,
    region,
    also,
    class_name,
    results,
    seed,
    fix,
) -> None:
    """Measure workloads under mosaics of pages with this machine's counters, and write a bundle.

    First each workload runs once, for the time that everything takes, and the output names the findings that
    the planned runs can decide. Then rounds follow: in each one, every
    layout runs once for each pass of events, in a random order. They end when the 95% half-width of each
    difference to 4KB pages is 0.5%, after 5 to 20 rounds. Huge pages must be free; with ./run --reserve
    measure they are reserved and released.

    Sliding windows follow TLB misses that are sampled on this processor, else simulated ones. The bundle can
    be checked by anyone: tessera bundle verify. With other rounds or another region than the protocol's, it
    fails the check `protocol`, so it can't be added, merged or judged. Exit status: 1 if this machine can't
    count, or if a layout has no numbers.

    \b
    Example:
      ./run --reserve measure --workloads gups --size tiny --layouts core --out /tmp/bundle
    """
    from tessera.bundles.protocol import current
    from tessera.cli.measure_foretold import foretell
    from tessera.core.paths import repo_root
    from tessera.core.tables import print_table
    from tessera.machine.environment import barring
    from tessera.measure.counted.campaign import measure
    from tessera.measure.counted.request import Request
    from tessera.measure.counted.summary import HEADS, rows
    from tessera.measure.rounds import Rule

    known = current()
    least, most = known.rounds
    most = most if rounds is None else rounds
    request = Request(
        out=out,
        workloads=_names(workloads),
        size=size,
        layouts=layouts,
        mode=mode,
        region=region or ("roi" if counter == "launcher" else "whole"),
        minutes=minutes,
        rule=Rule(known.half_width, min(least, most), most),
        seed=seed,
        also=_names(also),
        results=results or repo_root() / "results" / "default",
        class_name=class_name,
        counter=counter,
    )

    def say(text: str) -> None:
        click.echo(text, err=True)

    bundle = measure(request, fix=fix, say=say, foretell=foretell(request, say))
    print_table(HEADS, list(rows(bundle)), whole=(0, 1, 2, 4, 5, 6))
    for one in barring(bundle.environment):
        click.echo(
            f"bars claims: {one.check}: wanted {one.wanted}, found {one.found}; {one.remedy}", err=True
        )
    if bundle.about.rehearsal:
        click.echo("a rehearsal: these numbers are simulated, and the bundle says so", err=True)
    if bundle.about.protocol == known.name:
        next_step = f"check it: tessera bundle verify {out}"
    else:
        next_step = (
            f"its rounds or region are not those of protocol {known.name}: it fails the check `protocol` of "
            "bundle verify, and can't be added, merged or judged"
        )
    click.echo(f"{len(bundle.runs)} runs -> {out}; {next_step}")
    if not all(one.good for one in bundle.runs):
        raise SystemExit(1)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
