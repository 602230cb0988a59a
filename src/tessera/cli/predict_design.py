"""``tessera predict-design``: the runtime of a new design, and why the answer can be trusted."""

from __future__ import annotations

from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command("predict-design")
@click.option("--design", type=_PATH, help="YAML file: name, changes of the platform, mapping or layout.")
@click.option(
    "--counts", type=_PATH, help="CSV of another simulator: design,stlb_hits,stlb_misses,walk_cycles."
)
@click.option("--class", "group", help="Class of the designs of --counts: K0 to K5 (docs/transfer.md).")
@click.option("--inputs", default="counted", show_default=True,
              type=click.Choice(["counted", "latency", "busy"]),
              help="What H and C of --counts count (docs/transfer.md).")  # fmt: skip
@click.option("--workload", required=True, help="Workload of the study.")
@click.option("--platform", required=True, help="Platform of the study: P.")
@click.option("--results", type=_PATH, default=Path("results/default"), show_default=True,
              help="Results folder with studies/transfer.")  # fmt: skip
@click.option("--cache", type=_PATH, help="Folder of finished simulations.  [default: cache of the results]")
@click.option("--out", type=_PATH, help="CSV file for the answer.")
@click.option("--models-out", type=_PATH, help="CSV file for what each model says.")
def predict_design(
    design, counts, group, inputs, workload, platform, results, cache, out, models_out
) -> None:
    """Predict the runtime of a new design in cycles, with the source of the answer.

    Simulates H, M and C of the design on the window of the study of transfer. A model answers if it survived
    the classes of the design, with an interval that covers 90% of their points when the workload is left
    out. Else the timing engine answers. For --counts there is no engine: without such a model, the answer is
    a bound on every model's error, and no runtime.

    \b
    Example, after ./run reproduce (design.yaml: "changes: {tlb.stlb.entries: 2048}"):
      ./run tessera predict-design --design design.yaml --workload gups-8gb --platform haswell-sim
    """
    from tessera.core.errors import TesseraError
    from tessera.fit.predict.design import read_design
    from tessera.judge.studies.transfer.answer import answer_counts, answer_design
    from tessera.judge.studies.transfer.own_design import read_own
    from tessera.results.schema.transfer import ANSWERS, ASKED
    from tessera.results.tree import Tree
    from tessera.results.write import write
    from tessera.simulate.progress import Ticker, parse

    if (design is None) == (counts is None) or (counts is None) != (group is None):
        raise TesseraError(
            "tessera predict-design", "it needs --design, or --counts with --class",
            "give, for example: --counts counts.csv --class K1",
            code="design-or-counts",
        )  # fmt: skip
    if counts is not None:
        points = read_design(counts)
        for note in points.notes:
            click.echo(f"tessera predict-design: {note}", err=True)
        found = answer_counts(results, points, workload, platform, group, inputs)
    else:
        ticker = Ticker(f"{design.stem} on {platform}")
        found = answer_design(
            results, read_own(design), workload, platform, cache or Tree(results).cache,
            lambda line: ticker(line) if parse(line) else None,
        )  # fmt: skip
        ticker.close()
    for row in found.answers.itertuples():
        click.echo(_sentence(row))
        for line in _reasons(row):
            click.echo(f"  {line}")
    _print(found.asked)
    for table, frame, path in ((ANSWERS, found.answers, out), (ASKED, found.asked, models_out)):
        if path is not None:
            write(table, frame, path)


def _sentence(row) -> str:
    if row.runtime_cycles != row.runtime_cycles:
        return f"{row.design}: no runtime (source: {row.source})"
    ends = ""
    if row.low_cycles == row.low_cycles:
        ends = f", interval {row.low_cycles:.6g} to {row.high_cycles:.6g}"
    change = ""
    if row.base_runtime_cycles == row.base_runtime_cycles:
        change = f", {row.runtime_cycles / row.base_runtime_cycles - 1:+.1%} against {row.platform} itself"
    return f"{row.design}: {row.runtime_cycles:.6g} cycles{ends}{change} (source: {row.source})"


def _reasons(row):
    yield f"class {row.groups or 'none'}: {row.message}"
    if row.coverage == row.coverage:
        yield (
            f"interval from {row.points:.0f} points of other workloads; "
            f"with each workload left out, such intervals cover {row.coverage:.0%}"
        )
    if row.least_error == row.least_error:
        yield (
            "twins: P and a design of this class have the same H, M and C, and "
            f"no function of them is nearer than {row.least_error:.1%} to both runtimes"
        )


def _print(asked) -> None:
    from tessera.core.tables import print_table

    lines = [
        (r.design, r.inputs, r.model, f"{r.predicted_cycles:.6g}", f"{r.hull_distance:.2%}", r.verdicts,
         f"{r.passing}/{r.judged}")
        for r in asked.itertuples()
    ]  # fmt: skip
    heads = ["design", "inputs", "model", "cycles", "outside", "verdicts", "passing"]
    print_table(heads, lines, right=(3, 4, 6))
