"""``tessera study transfer``: is a runtime model of P right for a new design?"""

from __future__ import annotations

from pathlib import Path

import click

from tessera.cli.study_output import Log, close, names_of, say_trace_notes
from tessera.results.status import is_ok

_PATH = click.Path(path_type=Path)


@click.command()
@click.option(
    "--info", "infos", type=_PATH, multiple=True, help="info.json of a trace or window; repeatable."
)
@click.option("--manifest", "manifests", type=_PATH, multiple=True,
              help="manifest.csv of the layouts of each --info, in the same order.")  # fmt: skip
@click.option("--collect", "parts", type=_PATH, multiple=True,
              help="Folder of tables of a workload: judge these, simulate nothing; repeatable.")  # fmt: skip
@click.option("--platform", help="Platform name or YAML file: P.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE",
              help="Change a value of P; may be repeated, for example core.mshrs=5.")  # fmt: skip
@click.option("--out", type=_PATH, required=True, help="Folder for the tables.")
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
@click.option("--cache", type=_PATH, help="Folder of finished simulations.  [default: .cache in --out]")
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
    from tessera.fit.models.registry import select
    from tessera.judge.studies.transfer import classes as registry
    from tessera.judge.studies.transfer.step import Job, collect, transfer_study
    from tessera.platforms.change import parse

    if bool(parts) == bool(infos):
        raise TesseraError(
            "tessera study transfer", "it needs either --info or --collect", "give one of them"
        )
    if parts:
        _report(collect(parts, out), out)
        return
    if platform is None or len(manifests) != len(infos) or (parts_only and len(infos) != 1):
        raise TesseraError(
            f"tessera study transfer of {len(infos)} traces",
            f"{len(manifests)} manifests, platform {platform}",
            "give --platform, and one --manifest for each --info (one of each with --parts-only)",
        )
    changes = parse(settings, "--set")
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
        _report(collect(folders, out), out)


def _report(verdicts, out: Path) -> None:
    """The verdicts by `counted`: models by classes."""
    from tessera.core.tables import print_table

    rows = verdicts[verdicts["inputs"] == "counted"]
    groups = list(dict.fromkeys(rows["group"]))
    lines = []
    for (platform, model), part in rows.groupby(["platform", "model"], sort=False):
        by_group = part.set_index("group")
        lines.append((platform, model, *(_short(by_group.loc[group]) for group in groups)))
    if lines:
        print_table(["platform", "model", *groups], lines)
    click.echo(f"{len(verdicts)} verdicts -> {out}")


def _short(row) -> str:
    return row["verdict"] if row["judged"] == 0 else f"{row['verdict']} {row['passing']}/{row['judged']}"
