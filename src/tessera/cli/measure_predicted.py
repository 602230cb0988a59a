"""``tessera measure --try LAYOUTS --predict LAYOUT``: a model of a program, and what it says of a layout."""

from __future__ import annotations

import math
from pathlib import Path

import click


def predicted(program, names, asked: Path, model: str, *, server, mode: str, rounds: int, say) -> None:
    """Count the program under the layouts, fit the model to all but ``asked``, and print its prediction.

    Raises:
        TesseraError: fewer than 6 layouts, another word than a layout file, a server, no counters; as
            :func:`tessera.measure.program.mosaics.samples`.
    """
    from tessera.core.errors import EXIT_FAILED, TesseraError
    from tessera.counters.classes import of_cpu
    from tessera.fit.models.intervals import LEVEL
    from tessera.fit.predict import formula
    from tessera.fit.predict.decision import EXIT_NO_ANSWER, cycles
    from tessera.fit.predict.design import read_design
    from tessera.measure.counted import facts
    from tessera.measure.counted.here import here
    from tessera.measure.program import counts, mosaics

    where, files = here(), [Path(name) for name in names]
    if wrong := [name for name in names if not Path(name).is_file()]:
        raise TesseraError(
            f"--predict with --try {wrong[0]}", "it is no layout file", "a model is fitted to mosaics only"
        )
    if len(set(files)) < mosaics.LEAST:
        raise TesseraError(
            f"--predict {asked}",
            f"--try has {len(set(files))} layouts; a model needs {mosaics.LEAST} and the anchors",
            "add layouts to --try; tessera layouts generate makes some",
        )
    if asked.resolve() in {path.resolve() for path in files}:
        raise TesseraError(f"--predict {asked}", "it is in --try, too", "leave it out there")
    reason = "a server is not counted" if server else counts.unusable(where.root)
    if reason:
        raise TesseraError(
            f"--predict {asked}",
            f"models need H, M and C: {reason}",
            "use --try alone",
            exit_code=EXIT_FAILED,
        )
    found = of_cpu(facts.cpu(where.root))[0]
    table = mosaics.samples(program, [*files, asked], found, where, mode=mode, rounds=rounds, say=say)
    own = table.iloc[[-1]]
    fitted = formula.fit_to(table.iloc[:-1], model)
    tested = len(fitted.calibration.residuals)
    level = min(LEVEL, tested / (tested + 1))  # the highest that so many layouts allow
    (row,) = formula.values_of(fitted, read_design(own), level).itertuples()
    if where.rehearsal:
        click.echo("a rehearsal: these numbers are not of this machine", err=True)
    click.echo(f"{formula.sentence(row)}, from {len(fitted.table.fitted)} layouts")
    counted = float(own.runtime_cycles.iloc[0])
    click.echo(f"{row.design}: counted {cycles(counted)} cycles, which the model has not seen")
    if row.message:
        click.echo(row.message)
    if math.isnan(row.predicted_runtime_cycles):
        raise SystemExit(EXIT_NO_ANSWER)
