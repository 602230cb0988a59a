"""``tessera study designs``, ``probes`` and ``transfer``: new translation designs, and models for them."""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.output import Log, close, names_of, say_trace_notes
from tessera.core.results.outcomes import is_ok

# ``tessera study designs``: translation designs under mappings of pages to frames.

PATH = click.Path(path_type=Path)


@click.command()
@click.option("--trace", type=PATH, required=True, help="Trace (.tst), or info.json of a recording.")
@click.option("--platform", default="park-haswell", show_default=True, help="Platform name or YAML file.")
@click.option("--out", type=PATH, required=True, help="Folder for cells.csv, structures.csv, mappings.csv.")
@click.option("--designs", "names", help="Designs, comma-separated (tessera simulate --list).  "
              "[default: all of Park, KAIST 2019, that one process can have]")  # fmt: skip
@click.option(
    "--mappings",
    "kinds",
    default="demand,eager,low,medium,high,max",
    show_default=True,
    help="Kinds of mappings, comma-separated (tessera mapping generate --help).",
)
@click.option(
    "--also",
    multiple=True,
    metavar="DESIGNS:MAPPINGS",
    help="Further designs under mappings of their own, both comma-separated; may be repeated.",
)
@click.option(
    "--window-accesses",
    type=click.IntRange(min=1),
    metavar="N",
    help="Simulate N accesses from the middle of the trace.  [default: the whole trace]",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the mappings."
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Threads of the simulator: mappings in parallel; they don't change results.",
)
@click.option("--cache", type=PATH, help="Folder of finished simulations.  [default: .cache in --out]")
def designs(trace, platform, out, names, kinds, also, window_accesses, seed, threads, cache) -> None:
    """Compare translation designs under mappings of pages to frames.

    Generates the mappings for the pools of the trace, and simulates each design under each of them, in full.
    A design that the simulator rejects for a mapping is a row with the reason. Prints the misses of each
    design relative to the design `baseline`. docs/studies.md describes the tables.

    \b
    Example, after ./run smoke:
      ./run tessera study designs --trace results/smoke/traces/gups/info.json --window-accesses 200000 \\
          --designs baseline,thp,anchor --mappings demand,medium --also anchor:high-over-low,pages-64 \\
          --out /tmp/designs-study
    """
    from tessera.lab.studies.design_catalogue import DESIGN_NAMES
    from tessera.lab.studies.designs import Job, designs_study

    job = Job(
        trace, platform, names_of(names) if names else DESIGN_NAMES, names_of(kinds), cache or out / ".cache",
        out, window_accesses, [_parse_also(text) for text in also], seed, threads,
        Log(f"designs on {Path(platform).stem}"),
    )  # fmt: skip
    table = designs_study(job)
    for row in table.itertuples():
        if not is_ok(row.status):
            click.echo(f"{row.status}: {row.design} under {row.mapping}: {row.message}", err=True)
    _print_designs(table)
    close(table, out)
    say_trace_notes(trace)


def _parse_also(text: str) -> tuple[list[str], list[str]]:
    """Designs and mappings of one --also."""
    from tessera.core.errors import TesseraError

    designs, colon, mappings = text.partition(":")
    if not (names_of(designs) and colon and names_of(mappings)):
        raise TesseraError(
            f"--also {text}", "this is not DESIGNS:MAPPINGS", "write for example --also anchor:high-over-low"
        )
    return names_of(designs), names_of(mappings)


def _print_designs(table) -> None:
    """Misses relative to those of the baseline, designs by mappings."""
    from tessera.core.tables import print_table

    if not table["misses_to_baseline_percent"].notna().any():
        return
    mappings = list(dict.fromkeys(table["mapping"]))
    rows = []
    for design, part in table.groupby("design", sort=False):
        change = part.set_index("mapping")["misses_to_baseline_percent"]
        left = [100 + change.get(mapping, float("nan")) for mapping in mappings]
        rows.append((str(design), *("" if value != value else f"{value:.1f}%" for value in left)))
    print_table(["misses of baseline's", *mappings], rows, right=range(1, len(mappings) + 1))


# ``tessera study probes``: single structures of Park's designs under accesses from a formula.


@click.command()
@click.option("--platform", default="park-haswell", show_default=True, help="Platform name or YAML file.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="CSV file to write.")
@click.option(
    "--accesses",
    type=click.IntRange(min=1000),
    default=1_000_000,
    show_default=True,
    help="Random accesses of each case.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the accesses."
)
def probes(platform, out, accesses, seed) -> None:
    """Probe the index cache and the synonym filter of Park, KAIST 2019, with random accesses.

    index-cache: 2^40 bytes in 1,024 or 2,048 equal segments (Figure 2.7b). Prints hits of a node and of a
    whole walk, with full and with half-full nodes. synonym-filter: shares of shared memory as in Table 2.1.
    Prints the accesses that need no TLB. docs/studies.md describes both.

    \b
    Example (after: tessera build simulator tracer):
      ./run tessera study probes --accesses 100000 --out /tmp/probes.csv
    """
    from tessera.core.tables import print_table
    from tessera.lab.studies.probes import probes_study

    table = probes_study(platform, out, accesses=accesses, seed=seed, progress=Log("probes"))
    rows = [
        (row.probe, row.case, row.quantity, f"{row.value:.3f}%")
        for row in table.itertuples()
        if is_ok(row.status)
    ]
    print_table(["probe", "case", "quantity", "value"], rows, right=(3,))
    close(table, out)


# ``tessera study transfer``: is a runtime model of P right for a new design?


@click.command()
@click.option("--info", "infos", type=PATH, multiple=True, help="info.json of a trace or window; repeatable.")
@click.option("--manifest", "manifests", type=PATH, multiple=True,
              help="manifest.csv of the layouts of each --info, in the same order.")  # fmt: skip
@click.option("--collect", "parts", type=PATH, multiple=True,
              help="Folder of tables of a workload: judge these, simulate nothing; repeatable.")  # fmt: skip
@click.option("--platform", help="Platform name or YAML file: P.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE",
              help="Change a value of P; may be repeated, for example core.mshrs=5.")  # fmt: skip
@click.option("--out", type=PATH, required=True, help="Folder for the tables.")
@click.option("--classes", default="", help="Classes, comma-separated: K0 to K5, ideal.  [default: all]")
@click.option(
    "--variants", "names", default="", help="Variants, comma-separated (docs/transfer.md).  [default: all]"
)
@click.option("--mappings", "kinds", default="demand,medium,high", show_default=True,
              help="Kinds of mappings, comma-separated (tessera mapping generate --help).")  # fmt: skip
@click.option("--layouts", default="", help="Layouts, comma-separated.  [default: all but 1gb]")
@click.option("--models", default="", help="Models, comma-separated.  [default: the nine, minimax, monotone]")
@click.option("--units", type=click.IntRange(min=2), default=20, show_default=True,
              help="Intervals that C and R come from.")  # fmt: skip
@click.option("--warm-units", type=click.IntRange(min=0), default=2, show_default=True,
              help="Intervals before them that only warm TLBs and caches.")  # fmt: skip
@click.option("--twins", "mosaics", type=click.IntRange(min=0), default=200, show_default=True,
              help="Random layouts in which twins are looked for.")  # fmt: skip
@click.option("--ladders/--no-ladders", default=True, show_default=True, help="Simulate the ladders.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed of mappings and random layouts.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True,
              help="Simulations at the same time.")  # fmt: skip
@click.option("--parts-only", is_flag=True, help="Write the tables of the only --info; no verdicts.")
@click.option("--cache", type=PATH, help="Folder of finished simulations.  [default: .cache in --out]")
def transfer(infos, manifests, parts, platform, settings, out, classes, names, kinds, layouts, models, units,
             warm_units, mosaics, ladders, seed, jobs, parts_only, cache) -> None:  # fmt: skip
    """Ask models of a processor P for the runtime of new designs, and compare with the timing engine.

    Fits the models to the layouts on P, simulates variants of P in six classes on the same window, and judges
    each model in each class. --out gets points.csv, predictions.csv, twins.csv, ladder.csv, verdicts.csv and
    more. docs/transfer.md describes them.

    \b
    Example, after ./run smoke:
      ./run tessera study transfer --platform sandybridge-sim --out /tmp/transfer \\
          --info results/smoke/traces/gups/info.json \\
          --manifest results/smoke/layouts/gups/sandybridge-sim/manifest.csv \\
          --classes K0,K3 --mappings medium --twins 20 --no-ladders
    """
    from tessera.core.errors import TesseraError
    from tessera.core.platforms import parse_changes
    from tessera.fit.models.registry import select
    from tessera.lab.transfer import classes as registry
    from tessera.lab.transfer.study import Job, collect, transfer_study

    if bool(parts) == bool(infos):
        raise TesseraError(
            "tessera study transfer", "it needs either --info or --collect", "give one of them"
        )
    if parts:
        _print_verdicts(collect(parts, out), out)
        return
    if platform is None or len(manifests) != len(infos) or (parts_only and len(infos) != 1):
        raise TesseraError(
            f"tessera study transfer of {len(infos)} traces",
            f"{len(manifests)} manifests, platform {platform}",
            "give --platform, and one --manifest for each --info (one of each with --parts-only)",
        )
    changes = parse_changes(settings, "--set")
    chosen = registry.chosen(names_of(classes), names_of(names))
    folders = []
    for info, manifest in zip(infos, manifests, strict=True):
        folder = out if parts_only else out / info.absolute().parent.name / Path(platform).stem
        job = Job(
            info, manifest, platform, cache or out / ".cache", folder, chosen, names_of(kinds),
            names_of(layouts), select(names_of(models)) if models else (), ladders, units, warm_units,
            mosaics, seed, jobs, Log(f"{info.absolute().parent.name} on {Path(platform).stem}"), changes,
        )  # fmt: skip
        points = transfer_study(job)
        for row in points.itertuples():
            if not is_ok(row.status) and row.variant:
                click.echo(f"{row.status}: {row.variant} under {row.layout}: {row.message}", err=True)
        close(points, folder)
        say_trace_notes(info)
        folders.append(folder)
    if not parts_only:
        _print_verdicts(collect(folders, out), out)


def _print_verdicts(verdicts, out: Path) -> None:
    """The verdicts by `counted`: models by classes."""
    from tessera.core.tables import print_table

    rows = verdicts[verdicts["inputs"] == "counted"]
    groups = list(dict.fromkeys(rows["group"]))
    lines = []
    for (platform, model), part in rows.groupby(["platform", "model"], sort=False):
        by_group = part.set_index("group")
        lines.append((platform, model, *(_short_verdict(by_group.loc[group]) for group in groups)))
    if lines:
        print_table(["platform", "model", *groups], lines)
    click.echo(f"{len(verdicts)} verdicts -> {out}")


def _short_verdict(row) -> str:
    return row["verdict"] if row["judged"] == 0 else f"{row['verdict']} {row['passing']}/{row['judged']}"
